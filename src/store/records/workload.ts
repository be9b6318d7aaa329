import type { QuotaCounts, UsageQuery } from '../../app/operations/status.ts';
import type { ServerFacts, ChatUsage, TaskCounts } from '../../app/ports/chat-facts.ts';
import type { KindPile, Pile, TaskTally, Workload } from '../../app/ports/metering.ts';
import { isPerson } from '../../domain/access.ts';
import { usageCountedMax } from '../../domain/limits.ts';
import type { Script } from '../engine/engine.ts';
import { columns, count, least, like, number, numberOrNull, pick, type Answer } from '../engine/fields.ts';
import { chatOfThread } from '../engine/queries.ts';
import { seen } from '../engine/reach.ts';
import { allOf, differing, limit, nothing, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { spentOf } from '../spending/usage.ts';

/** How much there is to do, for whoever watches. Every count reads a partial index of what is open, and stops at its limit. */
export const workloadStore = { workload, taskTally };

const { tasks, runs, deliveries } = columns;

function* workload(now: number, max: number): Script<Workload> {
  const live = yield* liveRuns(max);
  const parts = yield* openParts(now, max);
  return {
    due: yield* pile(
      sql`select next_at as at from tasks where next_at is not null and next_at <= ${now} order by next_at ${limit(max)}`,
    ),
    pending: (yield* pile(sql`select slot_at as at from occurrences where status = 'pending' ${limit(max)}`)).count,
    runs: {
      queued: inState(live, 'queued'),
      running: inState(live, 'running'),
      backoff: inState(live, 'backoff'),
    },
    deliveries: {
      pending: inState(parts, 'pending'),
      sending: inState(parts, 'sending'),
      unknown: inState(parts, 'unknown'),
      blocked: inState(parts, 'blocked'),
    },
    byKind: yield* byKind(now, max),
    inbox: yield* pile(
      sql`select received_at as at from inbox where status = 'received' order by update_id ${limit(max)}`,
    ),
    oldestWorkAt: earliest([...live, ...parts].map(({ made }) => made)),
    databaseBytes: yield* databaseBytes(),
  };
}

const kindFields = {
  state: like(tasks.actionKind, raw('state')),
  kind: like(tasks.actionKind, raw('kind')),
  count,
};

function* byKind(now: number, max: number): Script<KindPile[]> {
  const found = yield* all(
    select(kindFields)`from (
        select * from (select 'due' as state, action_kind as kind from tasks
          where next_at is not null and next_at <= ${now} ${limit(max)}) as due
        union all
        select * from (select 'pending' as state, t.action_kind as kind from occurrences o join tasks t on t.id = o.task_id
          where o.status = 'pending' ${limit(max)}) as pending
        union all ${liveOf(1, max)} union all ${liveOf(0, max)}
      ) as work group by state, kind`,
  );
  return found.filter((one): one is KindPile => workStates.has(one.state));
}

const workStates: ReadonlySet<string> = new Set(['due', 'pending', 'queued', 'running', 'backoff']);

/** A run is exclusive or not, and each kind has an index of its live ones. */
function liveOf(exclusive: 0 | 1, max: number): Sql {
  return sql`select * from (select status as state, coalesce(action_kind, 'message') as kind from runs
    where exclusive = ${raw(String(exclusive))} and status in ('queued', 'running', 'backoff', 'waiting') ${limit(max)}
  ) as live_${raw(String(exclusive))}`;
}

const pileFields = { count, since: numberOrNull(raw('min(at)')) };

function* pile(found: Sql): Script<Pile> {
  return (yield* one(select(pileFields)`from (${found}) as open_rows`)) ?? { count: 0, since: null };
}

/** When the oldest of them was made, and since when they wait. */
interface Tallied {
  readonly status: string;
  readonly count: number;
  readonly since: number | null;
  readonly made: number | null;
}

const liveFields = { status: runs.status, count, since: least(runs.createdAt), made: least(runs.createdAt) };

/** A run is exclusive or not, and each kind has an index of its live ones. */
function* liveRuns(max: number): Script<Tallied[]> {
  const live = (exclusive: 0 | 1) => sql`select status, created_at from (
      select status, created_at from runs where exclusive = ${raw(String(exclusive))}
        and status in ('queued', 'running', 'backoff', 'waiting') ${limit(max)}) as live_${raw(String(exclusive))}`;
  return yield* all(select(liveFields)`from (${live(1)} union all ${live(0)}) as live_runs group by status`);
}

const partFields = {
  status: deliveries.status,
  count,
  made: least(deliveries.createdAt),
  since: numberOrNull(raw('min(since)')),
};

/** Parts that wait for quiet hours, or for the end of a pause, do not wait for us; and for a pin or a card nobody waits. */
function* openParts(now: number, max: number): Script<Tallied[]> {
  return yield* all(
    select(partFields)`from (
        select status, created_at,
          case when kind not in ('result', 'notice', 'answer') then null
            when status <> 'pending' then created_at when ready_at <= ${now} then ready_at end as since
        from deliveries where status in ('pending', 'blocked', 'sending', 'unknown') ${limit(max)}
      ) as open_parts group by status`,
  );
}

function inState(tallied: readonly Tallied[], status: string): Pile {
  const found = tallied.find((one) => one.status === status);
  return { count: found?.count ?? 0, since: found?.since ?? null };
}

function earliest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((at): at is number => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

const tallyFields = {
  ...pick(tasks, 'state'),
  schedule: tasks.scheduleKind,
  action: tasks.actionKind,
  count,
  last: like(tasks.id, raw('max(id)')),
};

function* taskTally(after: string, size: number): Script<TaskTally> {
  const from = allOf(sql`id > ${after}`, yield* seen(tasks.chatId.sql));
  const found = yield* all(
    select(tallyFields)`from (
        select id, state, schedule_kind, action_kind from tasks where ${from} order by id ${limit(size)}
      ) as page group by state, schedule_kind, action_kind`,
  );
  const passed = found.reduce((sum, { count }) => sum + count, 0);
  const last = found.reduce((latest, one) => (one.last > latest ? one.last : latest), '');
  return { counts: found.map(({ last: _last, ...tally }) => tally), last: passed < size ? null : last };
}

const dueFields = { count, since: least(tasks.nextAt) };
const openFields = { status: deliveries.status, count };

/** How the whole server stands, but for the sums over all tasks. */
export function* serverFacts(now: number): Script<Omit<ServerFacts, keyof TaskCounts>> {
  const seenHere = yield* seen(raw('chat_id'));
  const mine = seenHere === undefined ? nothing : sql`and ${seenHere}`;
  const seenChats = yield* seen(raw('id'));
  const among = seenChats === undefined ? nothing : sql`and ${seenChats}`;
  const due = yield* one(select(dueFields)`from tasks where next_at is not null and next_at <= ${now} ${mine}`);
  const next = yield* one(select({ at: least(tasks.nextAt) })`from tasks where next_at is not null ${mine}`);
  const oldest = yield* one(select(pick(runs, 'createdAt'))`from runs where id > '' ${mine} order by id limit 1`);
  const open = yield* all(
    select(openFields)`from deliveries where status in ('pending', 'blocked') ${mine} group by status`,
  );
  const inStatus = (status: string) => open.find((one) => one.status === status)?.count ?? 0;
  return {
    due: due?.count ?? 0,
    dueSince: due?.since ?? null,
    nextDueAt: next?.at ?? null,
    running: yield* counted(sql`runs where status = 'running' ${mine}`),
    queued: yield* counted(sql`runs where status in ('queued', 'backoff') ${mine}`),
    pending: inStatus('pending'),
    blocked: inStatus('blocked'),
    unknown: yield* counted(sql`deliveries where status = 'unknown' ${mine}`),
    chats: yield* counted(sql`chats where provider = 'telegram' and state = 'approved' ${among}`),
    databaseBytes: seenHere === undefined ? yield* databaseBytes() : null,
    oldestRunAt: oldest?.createdAt ?? null,
  };
}

function* counted(source: Sql): Script<number> {
  return (yield* one(select({ count })`from ${source}`))?.count ?? 0;
}

const bytes = differing({
  sqlite: '(select page_count * page_size from pragma_page_count(), pragma_page_size())',
  postgres: 'pg_database_size(current_database())',
});
const bytesFields = { bytes: number(bytes) };

function* databaseBytes(): Script<number> {
  return (yield* one(select(bytesFields)``))?.bytes ?? 0;
}

/** Usage within a stretch. Counts go only as far as a person needs to know, so that no look takes long. */
export const usageStore = { usageOf, countQuota };

const foundFields = {
  passed: count,
  runs: number(raw('sum(counts)')),
  failures: number(raw(`sum(case when counts = 1 and status = 'failed' then 1 else 0 end)`)),
};

function* usageOf(query: UsageQuery): Script<ChatUsage> {
  const found = runsOf(query, yield* seen(raw('t.chat_id')));
  const counts = yield* one(select(foundFields)`from (${found}) as found`);
  const sent = yield* messagesOf(query);
  return {
    runs: counts?.runs ?? 0,
    failures: counts?.failures ?? 0,
    messages: sent?.mine ?? 0,
    isCapped: Math.max(counts?.passed ?? 0, sent?.passed ?? 0) >= usageCountedMax,
    spent: yield* spentOf({ taskId: null, ...query }),
  };
}

/** Runs by the tasks of a chat or a person, each of which knows its slots; all runs by their ids, the newest first. */
function runsOf({ from, to, ...whose }: UsageQuery, mine: Sql | undefined): Sql {
  const conditions = [...whoseTasks(whose), ...(mine === undefined ? [] : [mine])];
  if (conditions.length === 0) {
    return sql`select id as run_id, status, case when created_at >= ${from} and created_at < ${to} then 1 else 0 end as counts
      from runs order by id desc ${limit(usageCountedMax)}`;
  }
  return sql`select o.run_id, o.status, 1 as counts from tasks t join occurrences o on o.task_id = t.id
    where ${allOf(...conditions)} and o.slot_at >= ${from} and o.slot_at < ${to} and o.run_id is not null
    ${limit(usageCountedMax)}`;
}

type Whose = Pick<UsageQuery, 'thread' | 'ownerId' | 'taskId'>;

function whoseTasks({ thread, ownerId, taskId = null }: Whose, chat = raw('t.chat_id')): readonly Sql[] {
  const topic = thread?.topic ?? null;
  return [
    ...(thread === null ? [] : [sql`${chat} in ${chatOfThread(thread)}`]),
    ...(topic === null ? [] : [sql`t.home_topic = ${topic}`]),
    ...(ownerId === null ? [] : [sql`t.owner_id = ${ownerId}`]),
    ...(taskId === null ? [] : [sql`t.id = ${taskId}`]),
  ];
}

const sentFields = { passed: count, mine: number(raw('sum(mine)')) };
const chatOfPart = raw('d.chat_id');

/** Messages that people saw; one without a task counts only for its chat. */
function* messagesOf({ from, to, ...whose }: UsageQuery): Script<Answer<typeof sentFields> | undefined> {
  const isMine = allOf(
    raw(`d.status = 'delivered' and d.kind in ('answer', 'result', 'notice')`),
    ...whoseTasks(whose, chatOfPart),
    yield* seen(chatOfPart),
  );
  return yield* one(
    select(sentFields)`from (
        select case when ${isMine} then 1 else 0 end as mine
        from (select chat_id, task_id, status, kind from deliveries
          where sent_at is not null and sent_at >= ${from} and sent_at < ${to}
          order by sent_at desc ${limit(usageCountedMax)}) as d
        left join tasks t on t.id = d.task_id) as sent`,
  );
}

const canRun = raw(`t.state in ('active', 'paused')`);

function* countQuota({ thread, ownerId }: Whose): Script<QuotaCounts> {
  const mine = allOf(canRun, yield* seen(raw('t.chat_id')));
  return {
    chat: thread === null ? null : yield* counted(sql`tasks t where t.chat_id in ${chatOfThread(thread)} and ${mine}`),
    // For what they made themselves; what a token makes for them has none.
    user:
      ownerId === null
        ? null
        : !isPerson(ownerId)
          ? 0
          : yield* counted(sql`tasks t where t.owner_id = ${ownerId} and t.created_by = ${ownerId} and ${mine}`),
  };
}
