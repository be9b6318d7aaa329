import type { ChatUsage } from '../../app/ports/chat-facts.ts';
import { usageCountedMax } from '../../domain/limits.ts';
import { row, rows, type Engine, type Script, type Value } from '../engine/engine.ts';
import type { QuotaCounts, UsageQuery, UsageStore } from '../../app/operations/status.ts';

/** What was used within a stretch. Everything is counted as far as a person needs to know, so that no look takes long. */
export function usageStore(engine: Engine): UsageStore {
  return {
    usageOf: (query) => engine.transact(() => usageOf(query)),
    countQuota: (query) => engine.transact(() => countQuota(query)),
  };
}

interface Part {
  readonly text: string;
  readonly values: readonly Value[];
}

function* usageOf(query: UsageQuery): Script<ChatUsage> {
  const found = runsOf(query);
  const runs = yield* row<{ count: number; passed: number; failures: number }>(
    `select count(*) as passed, coalesce(sum(counts), 0) as count,
       coalesce(sum(case when counts = 1 and status = 'failed' then 1 else 0 end), 0) as failures
     from (${found.text}) as found`,
    ...found.values,
  );
  const spent = yield* rows<{ kind: string; quantity: number }>(
    `select u.kind as kind, sum(u.quantity) as quantity from (${found.text}) as found
     join usage u on u.run_id = found.run_id where found.counts = 1 group by u.kind order by u.kind`,
    ...found.values,
  );
  const sent = yield* messagesOf(query);
  return {
    runs: Number(runs?.count ?? 0),
    failures: Number(runs?.failures ?? 0),
    messages: sent.mine,
    isCapped: Math.max(Number(runs?.passed ?? 0), sent.passed) >= usageCountedMax,
    spent: spent.map(({ kind, quantity }) => ({ kind, quantity: Number(quantity) })),
  };
}

/** Runs by the tasks of a chat or a person, each of which knows its slots; all runs by their ids, the newest first. */
function runsOf(query: UsageQuery): Part {
  const { from, to } = query;
  const whose = whoseTasks(query);
  if (whose === null) {
    return {
      text: `select id as run_id, status, case when created_at >= ?i and created_at < ?i then 1 else 0 end as counts
        from runs order by id desc limit ?i`,
      values: [from, to, usageCountedMax],
    };
  }
  return {
    text: `select o.run_id as run_id, o.status as status, 1 as counts from tasks t join occurrences o on o.task_id = t.id
      where ${whose.text} and o.slot_at >= ?i and o.slot_at < ?i and o.run_id is not null limit ?i`,
    values: [...whose.values, from, to, usageCountedMax],
  };
}

const inChat = `t.chat_id in (select chat_id from chat_aliases where provider = ?t and address = ?t)`;

function whoseTasks({ thread, ownerId }: Pick<UsageQuery, 'thread' | 'ownerId'>): Part | null {
  const parts: Part[] = [];
  if (thread !== null) parts.push({ text: inChat, values: [thread.provider, thread.address] });
  if (thread !== null && thread.topic !== null) parts.push({ text: 't.home_topic = ?i', values: [thread.topic] });
  if (ownerId !== null) parts.push({ text: 't.owner_id = ?t', values: [ownerId] });
  if (parts.length === 0) return null;
  return { text: parts.map(({ text }) => text).join(' and '), values: parts.flatMap(({ values }) => values) };
}

/** What people were shown; without a task it is of nobody, but of its chat. */
function* messagesOf(query: UsageQuery): Script<{ readonly mine: number; readonly passed: number }> {
  const { thread, ownerId, from, to } = query;
  const whose = [
    ...(thread === null ? [] : [inChat.replace('t.', 'd.')]),
    ...(thread === null || thread.topic === null ? [] : ['t.home_topic = ?i']),
    ...(ownerId === null ? [] : ['t.owner_id = ?t']),
  ];
  const values = whoseTasks(query)?.values ?? [];
  const sent = yield* row<{ mine: number; passed: number }>(
    `select count(*) as passed, coalesce(sum(case when d.status = 'delivered'
       and d.kind in ('answer', 'result', 'notice') ${whose.map((one) => `and ${one}`).join(' ')} then 1 else 0 end), 0) as mine
     from (select chat_id, task_id, status, kind from deliveries
       where sent_at is not null and sent_at >= ?i and sent_at < ?i order by sent_at desc limit ?i) as d
     left join tasks t on t.id = d.task_id`,
    ...values,
    from,
    to,
    usageCountedMax,
  );
  return { mine: Number(sent?.mine ?? 0), passed: Number(sent?.passed ?? 0) };
}

const canRun = `t.state in ('active', 'paused')`;

function* countQuota({ thread, ownerId }: Pick<UsageQuery, 'thread' | 'ownerId'>): Script<QuotaCounts> {
  return {
    chat:
      thread === null
        ? null
        : yield* counted(`select count(*) as count from tasks t where ${inChat} and ${canRun}`, [
            thread.provider,
            thread.address,
          ]),
    // For what they made themselves; what a token makes for them has none.
    user:
      ownerId === null
        ? null
        : yield* counted(
            `select count(*) as count from tasks t where t.owner_id = ?t and t.created_by = ?t and ${canRun}`,
            [ownerId, ownerId],
          ),
  };
}

function* counted(text: string, values: readonly Value[]): Script<number> {
  return Number((yield* row<{ count: number }>(text, ...values))?.count ?? 0);
}
