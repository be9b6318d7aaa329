import { row, rows, type Engine, type Script, type Value } from '../engine/engine.ts';
import type { LiveRun, OpenDelivery, Pile, TaskTally, Workload, WorkloadStore } from '../../app/ports/metering.ts';
import type { ServerFacts } from '../../app/ports/chat-facts.ts';

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
