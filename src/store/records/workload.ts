import type { QuotaCounts, UsageQuery, UsageStore } from '../../app/operations/status.ts';
import type { ServerFacts, ChatUsage } from '../../app/ports/chat-facts.ts';
import type { LiveRun, OpenDelivery, Pile, TaskTally, Workload, WorkloadStore } from '../../app/ports/metering.ts';
import { usageCountedMax } from '../../domain/limits.ts';
import { row, rows, type Engine, type Script, type Value } from '../engine/engine.ts';

/** How much there is to do, for whoever watches. Every count reads a partial index of what is open, and stops at its limit. */
export function workloadStore(engine: Engine): WorkloadStore {
  return {
    workload: (now, countedMax) => engine.transact(() => workload(engine.dialect, now, countedMax)),
    taskTally: (after, limit) => engine.transact(() => taskTally(after, limit)),
  };
}

function* workload(dialect: Engine['dialect'], now: number, max: number): Script<Workload> {
  const runs = yield* liveRuns(max);
  const parts = yield* openParts(now, max);
  return {
    due: yield* pile(
      `select next_at as at from tasks where next_at is not null and next_at <= ?i order by next_at limit ?i`,
      now,
      max,
    ),
    pending: (yield* pile(`select slot_at as at from occurrences where status = 'pending' limit ?i`, max)).count,
    runs: {
      queued: inState(runs, 'queued'),
      running: inState(runs, 'running'),
      backoff: inState(runs, 'backoff'),
      waiting: inState(runs, 'waiting'),
    },
    deliveries: {
      pending: inState(parts, 'pending'),
      sending: inState(parts, 'sending'),
      unknown: inState(parts, 'unknown'),
      blocked: inState(parts, 'blocked'),
    },
    inbox: yield* pile(
      `select received_at as at from inbox where status = 'received' order by update_id limit ?i`,
      max,
    ),
    oldestWorkAt: earliest([...runs, ...parts].map(({ made }) => made)),
    databaseBytes: yield* databaseBytes(dialect),
  };
}

function* pile(text: string, ...values: Value[]): Script<Pile> {
  const found = yield* row<{ count: number; since: number | null }>(
    `select count(*) as count, min(at) as since from (${text}) as open_rows`,
    ...values,
  );
  return { count: Number(found?.count ?? 0), since: found?.since ?? null };
}

interface Tallied<S extends string> {
  readonly status: S;
  readonly count: number;
  readonly since: number | null;
  /** When the oldest of them was made. */
  readonly made: number | null;
}

/** A run is exclusive or not, and each kind has an index of its live ones. */
function* liveRuns(max: number): Script<Tallied<LiveRun>[]> {
  const live = (exclusive: number) => `select status, created_at from (
      select status, created_at from runs
      where exclusive = ${exclusive} and status in ('queued', 'running', 'backoff', 'waiting') limit ?i
    ) as live_${exclusive}`;
  return yield* rows<Tallied<LiveRun>>(
    `select status, count(*) as count, min(created_at) as since, min(created_at) as made
     from (${live(1)} union all ${live(0)}) as live_runs group by status`,
    max,
    max,
  );
}

/** What waits for quiet hours, or for the end of a pause, does not wait for us. */
function* openParts(now: number, max: number): Script<Tallied<OpenDelivery>[]> {
  return yield* rows<Tallied<OpenDelivery>>(
    `select status, count(*) as count, min(made_at) as made,
       min(case when status <> 'pending' then made_at when ready_at <= ?i then ready_at end) as since
     from (
       select status, created_at as made_at, ready_at from deliveries
       where status in ('pending', 'blocked', 'sending', 'unknown') limit ?i
     ) as open_parts group by status`,
    now,
    max,
  );
}

function inState<S extends string>(tallied: readonly Tallied<S>[], status: S): Pile {
  const found = tallied.find((one) => one.status === status);
  return { count: Number(found?.count ?? 0), since: found?.since ?? null };
}

function earliest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((at): at is number => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function* taskTally(after: string, limit: number): Script<TaskTally> {
  const found = yield* rows<{ state: string; schedule: string; count: number; last: string }>(
    `select state, schedule_kind as schedule, count(*) as count, max(id) as last
     from (select id, state, schedule_kind from tasks where id > ?t order by id limit ?i) as page
     group by state, schedule_kind`,
    after,
    limit,
  );
  const counts = found.map(({ state, schedule, count }) => ({ state, schedule, count: Number(count) }));
  const seen = counts.reduce((sum, { count }) => sum + count, 0);
  const last = found.map((one) => one.last).reduce((one, other) => (other > one ? other : one), '');
  return { counts, last: seen < limit ? null : last };
}

/** How the whole server stands. */
export function* serverFacts(dialect: Engine['dialect'], now: number): Script<ServerFacts> {
  const states = yield* rows<{ state: string; count: number }>(
    `select state, count(*) as count from tasks where state <> 'deleted' group by state`,
  );
  const due = yield* row<{ count: number; since: number | null }>(
    `select count(*) as count, min(next_at) as since from tasks where next_at is not null and next_at <= ?i`,
    now,
  );
  const next = yield* row<{ at: number | null }>(`select min(next_at) as at from tasks where next_at is not null`);
  const oldest = yield* row<{ created_at: number }>(`select created_at from runs order by id limit 1`);
  const queued = yield* counted(`select count(*) as count from runs where status in ('queued', 'backoff')`);
  const running = yield* counted(`select count(*) as count from runs where status = 'running'`);
  const open = yield* rows<{ status: string; count: number }>(
    `select status, count(*) as count from deliveries where status in ('pending', 'blocked') group by status`,
  );
  const unknown = yield* counted(`select count(*) as count from deliveries where status = 'unknown'`);
  const chats = yield* counted(
    `select count(*) as count from chats where provider = 'telegram' and state = 'approved'`,
  );
  const inStatus = (status: string) => Number(open.find((one) => one.status === status)?.count ?? 0);
  const inState = (state: string) => Number(states.find((one) => one.state === state)?.count ?? 0);
  return {
    tasks: states.reduce((sum, { count }) => sum + Number(count), 0),
    active: inState('active'),
    paused: inState('paused'),
    completed: inState('completed'),
    due: Number(due?.count ?? 0),
    dueSince: due?.since ?? null,
    nextDueAt: next?.at ?? null,
    running,
    queued,
    pending: inStatus('pending'),
    blocked: inStatus('blocked'),
    unknown,
    chats,
    databaseBytes: yield* databaseBytes(dialect),
    oldestRunAt: oldest?.created_at ?? null,
  };
}

function* counted(text: string): Script<number> {
  return Number((yield* row<{ count: number }>(text))?.count ?? 0);
}

function* databaseBytes(dialect: Engine['dialect']): Script<number> {
  const size = yield* row<{ bytes: number }>(
    dialect === 'sqlite'
      ? `select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
      : `select pg_database_size(current_database()) as bytes`,
  );
  return Number(size?.bytes ?? 0);
}

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
        : yield* countedUse(`select count(*) as count from tasks t where ${inChat} and ${canRun}`, [
            thread.provider,
            thread.address,
          ]),
    // For what they made themselves; what a token makes for them has none.
    user:
      ownerId === null
        ? null
        : yield* countedUse(
            `select count(*) as count from tasks t where t.owner_id = ?t and t.created_by = ?t and ${canRun}`,
            [ownerId, ownerId],
          ),
  };
}

function* countedUse(text: string, values: readonly Value[]): Script<number> {
  return Number((yield* row<{ count: number }>(text, ...values))?.count ?? 0);
}
