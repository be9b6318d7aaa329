import type { HousekeepingStore, Pruned, PruneRequest, Removed, Shelf } from '../../app/ports/upkeep.ts';
import { retentionKeptRuns, taskVersionsKept } from '../../domain/limits.ts';
import { row, rows, type Engine, type Script, type Value } from '../engine/engine.ts';
import { changesState } from '../tables/records.ts';

/**
 * What is old goes, a page at a time, in the order of the primary keys: the ids of hot tables count up with time, so no
 * index is needed to find the oldest rows, and a walk ends at the first row that is too young. What is still going on, and
 * what something that goes on refers to, stays whatever its age.
 */
export function retentionStore(engine: Engine): Pick<HousekeepingStore, 'prune' | 'dropExpired'> {
  return {
    prune: (request) => engine.transactLightly(() => shelves[request.shelf](request)),
    dropExpired: (at) => engine.transactLightly(() => dropExpired(at)),
  };
}

const ended = `('succeeded', 'failed', 'cancelled')`;
const live = `('queued', 'running', 'backoff', 'waiting')`;
const open = `('pending', 'blocked', 'sending', 'unknown')`;

/** How a shelf is walked: the key that orders it, and the instant that tells the age of a row. */
interface Walk {
  readonly table: string;
  readonly key: string;
  readonly type: 't' | 'i';
  readonly at: string;
  /** The key counts up with time, so nothing old stands behind a young row. */
  readonly ordered: boolean;
  /** Rows that hang on nothing are cheap, so more of them share a commit. */
  readonly times: number;
}

interface Page {
  /** The rows stand after this key and up to that one. */
  readonly from: Value;
  readonly to: Value;
  readonly next: string | null;
}

/** The next page of rows that may be old enough; null when the walk has ended. */
function* pageOf({ table, key, type, at, ordered, times }: Walk, request: PruneRequest): Script<Page | null> {
  const first = type === 't' ? '' : -1;
  const from = request.after === null ? first : type === 't' ? request.after : Number(request.after);
  const limit = request.limit * times;
  const found = yield* rows<{ id: Value; at: number }>(
    `select ${key} as id, ${at} as at from ${table} where ${key} > ?${type} order by ${key} limit ?i`,
    from,
    limit,
  );
  const young = ordered ? found.findIndex((one) => one.at >= request.before) : -1;
  const old = young < 0 ? found : found.slice(0, young);
  const last = old.at(-1);
  if (last === undefined) return null;
  return { from, to: last.id, next: old.length === limit ? String(last.id) : null };
}

const byId = { key: 'id', type: 't', at: 'created_at', ordered: true, times: 1 } as const;
const bySerial = { key: 'id', type: 'i', at: 'at', ordered: true, times: 10 } as const;

const shelves: Readonly<Record<Shelf, (request: PruneRequest) => Script<Pruned>>> = {
  occurrences: pruneOccurrences,
  runs: pruneRuns,
  deliveries: pruneDeliveries,
  // Some gaps are named after their task, so their ids say nothing about their age.
  gaps: (request) =>
    sweep({ ...byId, table: 'gaps', ordered: false, times: 10 }, request, {
      guard: 'created_at < ?i and to_at < ?i',
      values: [request.before, request.before],
    }),
  audit: (request) => sweep({ ...bySerial, table: 'audit' }, request, allButStanding(request.before)),
  events: (request) => sweep({ ...bySerial, table: 'events' }, request, allButNewest('events', request.before)),
  downtimes: (request) =>
    sweep({ ...byId, table: 'downtimes', at: 'to_at' }, request, {
      guard: 'to_at < ?i and report is not null',
      values: [request.before],
    }),
  inbox: (request) =>
    sweep({ table: 'inbox', key: 'update_id', type: 'i', at: 'received_at', ordered: true, times: 4 }, request, {
      guard: `received_at < ?i and status <> 'received'`,
      values: [request.before],
    }),
  versions: pruneVersions,
  tasks: pruneTasks,
  grants: pruneGrants,
};

/** The newest row stays, because SQLite would give its number to another one, and a reader who stands there would miss that. */
function allButNewest(table: string, before: number): Guard {
  return { guard: `at < ?i and id < (select max(id) from ${table})`, values: [before] };
}

/**
 * Of a task that is still there the last change of its state before the limit stays, however old: it says where the task
 * stood at the beginning of what is kept, who put it there and when.
 */
function allButStanding(before: number): Guard {
  const { guard, values } = allButNewest('audit', before);
  return {
    guard: `${guard} and not (${changesState} and exists (select 1 from tasks t where t.id = audit.task_id)
      and not exists (select 1 from audit n
        where n.task_id = audit.task_id and n.id > audit.id and n.at < ?i and ${changesState}))`,
    values: [...values, before],
  };
}

interface Guard {
  readonly guard: string;
  readonly values: readonly Value[];
}

/** For rows on which nothing hangs. */
function* sweep(walk: Walk, request: PruneRequest, { guard, values }: Guard): Script<Pruned> {
  const page = yield* pageOf(walk, request);
  if (page === null) return nothing;
  const { table, key, type } = walk;
  const gone = yield* rows(
    `delete from ${table} where ${key} > ?${type} and ${key} <= ?${type} and ${guard} returning ${key}`,
    page.from,
    page.to,
    ...values,
  );
  return { removed: { [table]: gone.length }, next: page.next };
}

const nothing: Pruned = { removed: {}, next: null };

/** Neither the run of `x` goes on nor is anything of it still on its way to a chat. */
const settled = (run: string) => `not exists (select 1 from runs r where r.id = ${run} and r.status in ${live})
  and not exists (select 1 from deliveries d where d.run_id = ${run} and d.status in ${open})`;

/** An occurrence goes with everything that hangs on it, so that no half of a story is left. */
function* pruneOccurrences(request: PruneRequest): Script<Pruned> {
  const page = yield* pageOf({ ...byId, table: 'occurrences' }, request);
  if (page === null) return nothing;
  const gone = yield* rows<{ id: string; run_id: string | null }>(
    `select o.id, o.run_id from occurrences o
     where o.id > ?t and o.id <= ?t and o.status in ('succeeded', 'failed', 'cancelled', 'skipped', 'missed')
       and o.created_at < ?i and o.updated_at < ?i and o.slot_at < ?i and ${settled('o.run_id')}
       and (not exists (select 1 from tasks t where t.id = o.task_id and t.state <> 'deleted')
         or o.slot_at < (select k.slot_at from occurrences k where k.task_id = o.task_id
           order by k.slot_at desc limit 1 offset ${retentionKeptRuns - 1}))`,
    page.from,
    page.to,
    request.before,
    request.before,
    request.before,
  );
  const removed = yield* dropRuns(
    gone.flatMap(({ run_id }) => (run_id === null ? [] : [run_id])),
    request.limit,
  );
  const ids = gone.map(({ id }) => id);
  return {
    removed: {
      occurrences: yield* dropIn('occurrences', 'id', wide(ids, request.limit)),
      ...(ids.length === 0 ? {} : { acks: yield* dropIn('acks', 'occurrence_id', wide(ids, request.limit)) }),
      ...removed,
    },
    next: page.next,
  };
}

/** Runs that no slot asked for, and those whose occurrence is gone. */
function* pruneRuns(request: PruneRequest): Script<Pruned> {
  const page = yield* pageOf({ ...byId, table: 'runs' }, request);
  if (page === null) return nothing;
  const gone = yield* rows<{ id: string }>(
    `select o.id from runs o
     where o.id > ?t and o.id <= ?t and o.status in ${ended}
       and o.created_at < ?i and coalesce(o.finished_at, o.created_at) < ?i
       and not exists (select 1 from occurrences c where c.id = o.occurrence_id) and ${settled('o.id')}`,
    page.from,
    page.to,
    request.before,
    request.before,
  );
  const removed = yield* dropRuns(
    gone.map(({ id }) => id),
    request.limit,
  );
  return { removed, next: page.next };
}

function* dropRuns(ids: readonly string[], width: number): Script<Removed> {
  if (ids.length === 0) return {};
  const runs = wide(ids, width);
  return {
    attempts: yield* dropIn('attempts', 'run_id', runs),
    deliveries: yield* dropIn('deliveries', 'run_id', runs),
    usage: yield* dropIn('usage', 'run_id', runs),
    runs: yield* dropIn('runs', 'id', runs),
  };
}

/** Always as many values, so that the statement has one text and is prepared once. */
function wide(ids: readonly string[], width: number): readonly (string | null)[] {
  return [...ids, ...Array.from({ length: Math.max(width - ids.length, 0) }, () => null)];
}

function* dropIn(table: string, key: string, ids: readonly Value[]): Script<number> {
  if (ids[0] === null || ids.length === 0) return 0;
  const places = ids.map(() => '?t').join(', ');
  return (yield* rows(`delete from ${table} where ${key} in (${places}) returning ${key}`, ...ids)).length;
}

/** What was shown without a run, or outlived it; but the card of a living task, which stays in its topic, keeps its row. */
function* pruneDeliveries(request: PruneRequest): Script<Pruned> {
  return yield* sweep({ ...byId, table: 'deliveries' }, request, {
    guard: `created_at < ?i and coalesce(delivered_at, created_at) < ?i and status in ('delivered', 'failed')
      and not exists (select 1 from runs r where r.id = deliveries.run_id)
      and not (kind = 'card' and edits is null and exists (select 1 from tasks t where t.id = deliveries.task_id
        and t.state <> 'deleted' and t.card_message_id = deliveries.message_id))`,
    values: [request.before, request.before],
  });
}

/** Of a living task the newest versions stay, of a task that is gone none. */
function* pruneVersions({ after, limit }: PruneRequest): Script<Pruned> {
  const [task, version] = after === null ? ['', -1] : (JSON.parse(after) as [string, number]);
  const found = yield* rows<{ task_id: string; version: number }>(
    `select task_id, version from task_versions where (task_id, version) > (?t, ?i) order by task_id, version limit ?i`,
    task,
    version,
    limit,
  );
  const last = found.at(-1);
  if (last === undefined) return nothing;
  const gone = yield* rows(
    `delete from task_versions where (task_id, version) > (?t, ?i) and (task_id, version) <= (?t, ?i)
       and (not exists (select 1 from tasks t where t.id = task_versions.task_id)
         or version < (select k.version from task_versions k where k.task_id = task_versions.task_id
           order by k.version desc limit 1 offset ${taskVersionsKept - 1}))
     returning version`,
    task,
    version,
    last.task_id,
    last.version,
  );
  const next = found.length === limit ? JSON.stringify([last.task_id, last.version]) : null;
  return { removed: { task_versions: gone.length }, next };
}

/**
 * A task that was deleted long ago goes when nothing of it is left, and its grant with it. The grant costs a look at all
 * tasks of its owner, so one task goes at a time, and its page is looked at again.
 */
function* pruneTasks(request: PruneRequest): Script<Pruned> {
  const page = yield* pageOf({ ...byId, table: 'tasks', times: 4 }, request);
  if (page === null) return nothing;
  const gone = yield* row<{ id: string; grant_id: string }>(
    `select t.id, t.grant_id from tasks t
     where t.id > ?t and t.id <= ?t and t.state = 'deleted' and t.deleted_at < ?i
       and not exists (select 1 from occurrences o where o.task_id = t.id)
       and not exists (select 1 from gaps g where g.task_id = t.id)
       and not exists (select 1 from runs r where r.task_id = t.id and r.exclusive = 1 and r.status in ${live})
       and not exists (select 1 from runs r where r.task_id = t.id and r.exclusive = 0 and r.status in ${live})
       and not exists (select 1 from deliveries d where d.lane in ('task:' || t.id, 'card:' || t.id) and d.status in ${open})
     order by t.id limit 1`,
    page.from,
    page.to,
    request.before,
  );
  if (gone === undefined) return { removed: {}, next: page.next };
  const versions = yield* rows(`delete from task_versions where task_id = ?t returning version`, gone.id);
  yield* rows(`delete from tasks where id = ?t`, gone.id);
  const grants = yield* rows(
    `delete from grants where id = ?t and not exists (select 1 from tasks t
       where t.owner_id = grants.owner_id and t.grant_id = grants.id) returning id`,
    gone.grant_id,
  );
  return { removed: { tasks: 1, task_versions: versions.length, grants: grants.length }, next: gone.id };
}

/** Grants in whose place others were given. Each costs a look at all tasks of its owner, so one of them goes at a time. */
function* pruneGrants(request: PruneRequest): Script<Pruned> {
  const page = yield* pageOf({ ...byId, table: 'grants', times: 4 }, request);
  if (page === null) return nothing;
  const gone = yield* row<{ id: string }>(
    `select g.id from grants g where g.id > ?t and g.id <= ?t and g.revoked_at < ?i
       and not exists (select 1 from tasks t where t.owner_id = g.owner_id and t.grant_id = g.id)
     order by g.id limit 1`,
    page.from,
    page.to,
    request.before,
  );
  if (gone === undefined) return { removed: {}, next: page.next };
  yield* rows(`delete from grants where id = ?t`, gone.id);
  return { removed: { grants: 1 }, next: gone.id };
}

/** Buttons of a draft that has expired still say so for a day, rather than that nobody knows what they are. */
const draftKeptMs = 86_400_000;

function* dropExpired({ now, limit }: { now: number; limit: number }): Script<{ removed: Removed; more: boolean }> {
  const removed = {
    idempotency_keys: (yield* rows(
      `delete from idempotency_keys where expires_at <= ?i and (scope, key) in (
         select scope, key from idempotency_keys where expires_at <= ?i order by expires_at limit ?i) returning key`,
      now,
      now,
      limit,
    )).length,
    drafts: (yield* rows(
      `delete from drafts where id in (select id from drafts where expires_at <= ?i order by id limit ?i) returning id`,
      now - draftKeptMs,
      limit,
    )).length,
    kv: (yield* rows(
      `delete from kv where expires_at <= ?i and (scope, key) in (
         select scope, key from kv where expires_at is not null and expires_at <= ?i order by scope, key limit ?i)
       returning key`,
      now,
      now,
      limit,
    )).length,
  };
  return { removed, more: Object.values(removed).some((count) => count === limit) };
}
