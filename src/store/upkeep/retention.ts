import type { HousekeepingStore, Pruned, PruneRequest, Removed, Shelf } from '../../app/ports/upkeep.ts';
import { retentionKeptRuns, taskVersionsKept } from '../../domain/limits.ts';
import { rows, type Engine, type Script, type Value } from '../engine/engine.ts';
import { changesState } from '../tables/records.ts';

/**
 * Old rows go, a page at a time, in the order of the primary keys: the ids of hot tables count up with time, so no index is
 * needed to find the oldest rows, and a walk ends at the first row that is too young. Work that is still going on stays
 * whatever its age, and so do the rows to which it refers.
 */
export function retentionStore(engine: Engine): Pick<HousekeepingStore, 'prune' | 'dropExpired'> {
  return {
    prune: (request) => engine.transactLightly(() => prune(request)),
    dropExpired: (at) => engine.transactLightly(() => dropExpired(at)),
  };
}

const ended = `('succeeded', 'failed', 'cancelled')`;
const live = `('queued', 'running', 'backoff', 'waiting')`;
const open = `('pending', 'blocked', 'sending', 'unknown')`;

/** How the table of a shelf is walked, and what of it goes. */
interface Sweep {
  /** The key that orders it, and its kind. */
  readonly key: string;
  readonly type: 't' | 'i';
  /** The instant that tells the age of a row, where the key counts up with it: nothing old stands behind a young row. */
  readonly at: string | null;
  /** Rows on which little hangs are cheap, so more of them share a commit. */
  readonly times: number;
  /** Each value in it is the limit of the retention. */
  readonly deletable: string;
}

const byId = { key: 'id', type: 't', at: 'created_at', times: 1 } as const;
const bySerial = { key: 'id', type: 'i', at: 'at', times: 10 } as const;

/** Neither does the run go on nor is anything of it still on its way to a chat. */
const settled = (run: string) => `not exists (select 1 from runs r where r.id = ${run} and r.status in ${live})
  and not exists (select 1 from deliveries d where d.run_id = ${run} and d.status in ${open})`;

/** The newest row stays, because SQLite would give its number to another one, and a reader who stands there would miss that. */
const allButNewest = (table: string) => `at < ?i and id < (select max(id) from ${table})`;

const shelves: Readonly<Record<Shelf, Sweep>> = {
  occurrences: {
    ...byId,
    deletable: `status in ('succeeded', 'failed', 'cancelled', 'skipped', 'missed')
      and created_at < ?i and updated_at < ?i and slot_at < ?i and ${settled('occurrences.run_id')}
      and (not exists (select 1 from tasks t where t.id = occurrences.task_id and t.state <> 'deleted')
        or slot_at < (select k.slot_at from occurrences k where k.task_id = occurrences.task_id
          order by k.slot_at desc limit 1 offset ${retentionKeptRuns - 1}))`,
  },
  // Runs that no slot asked for, and those whose occurrence is gone.
  runs: {
    ...byId,
    deletable: `status in ${ended} and created_at < ?i and coalesce(finished_at, created_at) < ?i
      and not exists (select 1 from occurrences c where c.id = runs.occurrence_id) and ${settled('runs.id')}`,
  },
  // Deliveries without a run, and those that outlived it; but the card of a living task, which stays in its topic, keeps its row.
  deliveries: {
    ...byId,
    deletable: `created_at < ?i and coalesce(delivered_at, created_at) < ?i and status in ('delivered', 'failed')
      and not exists (select 1 from runs r where r.id = deliveries.run_id)
      and not (kind = 'card' and edits is null and exists (select 1 from tasks t where t.id = deliveries.task_id
        and t.state <> 'deleted' and t.card_message_id = deliveries.message_id))`,
  },
  // Some gaps are named after their task, so their ids say nothing about their age.
  gaps: { ...byId, at: null, times: 10, deletable: `created_at < ?i and to_at < ?i` },
  // Of a task that is still there the last change of its state before the limit stays, however old: it says where the task
  // stood at the beginning of what is kept, who put it there and when.
  audit: {
    ...bySerial,
    deletable: `${allButNewest('audit')} and not (${changesState}
      and exists (select 1 from tasks t where t.id = audit.task_id) and not exists (select 1 from audit n
        where n.task_id = audit.task_id and n.id > audit.id and n.at < ?i and ${changesState}))`,
  },
  events: { ...bySerial, deletable: allButNewest('events') },
  downtimes: { ...byId, at: 'to_at', deletable: `to_at < ?i and report is not null` },
  inbox: {
    key: 'update_id',
    type: 'i',
    at: 'received_at',
    times: 4,
    deletable: `received_at < ?i and status <> 'received'`,
  },
  // A task that was deleted long ago goes when nothing of it is left.
  tasks: {
    ...byId,
    times: 4,
    deletable: `state = 'deleted' and deleted_at < ?i
      and not exists (select 1 from occurrences o where o.task_id = tasks.id)
      and not exists (select 1 from gaps g where g.task_id = tasks.id)
      and not exists (select 1 from runs r where r.task_id = tasks.id and r.exclusive = 1 and r.status in ${live})
      and not exists (select 1 from runs r where r.task_id = tasks.id and r.exclusive = 0 and r.status in ${live})
      and not exists (select 1 from deliveries d
        where d.lane in ('task:' || tasks.id, 'card:' || tasks.id) and d.status in ${open})`,
  },
  // Of a task that is still there the newest versions stay, of a task that is gone none.
  task_versions: {
    key: 'task_id',
    type: 't',
    at: null,
    times: 1,
    deletable: `(not exists (select 1 from tasks t where t.id = task_versions.task_id)
      or version < (select k.version from task_versions k where k.task_id = task_versions.task_id
        order by k.version desc limit 1 offset ${taskVersionsKept - 1}))`,
  },
  // Grants in whose place others were given, and those of tasks that are gone.
  grants: {
    ...byId,
    times: 4,
    deletable: `coalesce(revoked_at, created_at) < ?i and not exists (select 1 from tasks t where t.grant_id = grants.id)`,
  },
};

interface Page {
  /** The rows stand after this key and up to that one. */
  readonly from: Value;
  readonly to: Value;
  readonly next: string | null;
}

/** The next page of rows that may be old enough; null when the walk has ended. */
function* pageOf(table: Shelf, { key, type, at, times }: Sweep, request: PruneRequest): Script<Page | null> {
  const first = type === 't' ? '' : -1;
  const from = request.after === null ? first : type === 't' ? request.after : Number(request.after);
  const limit = request.limit * times;
  const found = yield* rows<{ id: Value; at: number }>(
    `select ${key} as id, ${at ?? 0} as at from ${table} where ${key} > ?${type} order by ${key} limit ?i`,
    from,
    limit,
  );
  const young = at === null ? -1 : found.findIndex((one) => one.at >= request.before);
  const old = young < 0 ? found : found.slice(0, young);
  const last = old.at(-1);
  if (last === undefined) return null;
  return { from, to: last.id, next: old.length === limit ? String(last.id) : null };
}

function* prune(request: PruneRequest): Script<Pruned> {
  const { shelf, before, limit } = request;
  const sweep = shelves[shelf];
  const { key, type, deletable } = sweep;
  const page = yield* pageOf(shelf, sweep, request);
  if (page === null) return { removed: {}, next: null };
  const marks = deletable.split('?i').length - 1;
  const hanging = shelf === 'occurrences' ? ', run_id' : '';
  const gone = yield* rows<{ id: string; run_id?: string | null }>(
    `delete from ${shelf} where ${key} > ?${type} and ${key} <= ?${type} and ${deletable} returning ${key} as id${hanging}`,
    page.from,
    page.to,
    ...Array.from({ length: marks }, () => before),
  );
  const ids = gone.map(({ id }) => id);
  const removed = { [shelf]: ids.length };
  if (ids.length > 0 && shelf === 'runs') Object.assign(removed, yield* dropOfRuns(ids, limit));
  if (ids.length > 0 && shelf === 'occurrences') {
    const runs = gone.flatMap(({ run_id }) => run_id ?? []);
    removed['acks'] = yield* dropIn('acks', 'occurrence_id', ids, limit);
    removed['runs'] = yield* dropIn('runs', 'id', runs, limit);
    Object.assign(removed, yield* dropOfRuns(runs, limit));
  }
  return { removed, next: page.next };
}

/** An occurrence goes with everything that hangs on it, and so does a run, so that no half of a story is left. */
function* dropOfRuns(runs: readonly string[], width: number): Script<Removed> {
  return {
    attempts: yield* dropIn('attempts', 'run_id', runs, width),
    deliveries: yield* dropIn('deliveries', 'run_id', runs, width),
    usage: yield* dropIn('usage', 'run_id', runs, width),
  };
}

/** Always as many values, so that the statement has one text and is prepared once. */
function* dropIn(table: string, key: string, ids: readonly string[], width: number): Script<number> {
  if (ids.length === 0) return 0;
  const values = Array.from({ length: Math.max(width, ids.length) }, (_none, index) => ids[index] ?? null);
  const places = values.map(() => '?t').join(', ');
  return (yield* rows(`delete from ${table} where ${key} in (${places}) returning ${key}`, ...values)).length;
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
