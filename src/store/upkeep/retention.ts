import type { Pruned, PruneRequest, Removed, Shelf } from '../../app/ports/upkeep.ts';
import { keepIn, type Keep } from '../../domain/chat-settings.ts';
import { retentionKeptRuns, taskVersionsKept } from '../../domain/limits.ts';
import { processesKept } from '../../domain/processes/limits.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import { dropExpiredBlobs, dropRefsOf } from '../blobs/refs.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, pick } from '../engine/fields.ts';
import { limit as limited, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, returning, run, select } from '../engine/statements.ts';
import { dropAlbums } from '../outbox/albums.ts';
import { cardLaneOf, taskLaneOf } from '../outbox/lanes.ts';
import { rollUp } from '../spending/usage.ts';
import { changesState } from '../tables/records.ts';
import { readFacts } from '../tasks/codec.ts';
import { noteKept } from './notes.ts';

/**
 * Old rows go, a page at a time, in the order of the primary keys: the ids of hot tables count up with time, so no index is
 * needed to find the oldest rows, and a walk ends at the first row that is too young. Work that is still going on stays
 * whatever its age, and so do the rows to which it refers.
 */
export const retentionStore = { prune, dropExpired };

const ended = raw(`('succeeded', 'failed', 'cancelled')`);
const final = raw(`('succeeded', 'failed', 'cancelled', 'skipped', 'missed')`);
const live = raw(`('queued', 'running', 'backoff', 'waiting')`);
const open = raw(`('pending', 'blocked', 'sending', 'unknown')`);
const stateChanges = raw(changesState);

/** How the table of a shelf is walked, and what of it goes. */
interface Sweep {
  /** The key that orders it, and a value before all of them. */
  readonly key: Sql;
  readonly first: '' | -1;
  /** The instant that tells the age of a row, where the key counts up with it: nothing old stands behind a young row. */
  readonly at: Sql | null;
  /** Rows on which little hangs are cheap, so more of them share a commit. */
  readonly times: number;
  readonly deletable: (before: number) => Sql;
}

const byId = { key: raw('id'), first: '', at: raw('created_at'), times: 1 } as const;
const bySerial = { key: raw('id'), first: -1, at: raw('at'), times: 10 } as const;

/** Neither does the run go on nor is anything of it still on its way to a chat. */
const settled = (run: Sql) => sql`not exists (select 1 from runs r where r.id = ${run} and r.status in ${live})
  and not exists (select 1 from deliveries d where d.run_id = ${run} and d.status in ${open})`;

/** The newest row stays, because SQLite would give its number to another one, and a reader who stands there would miss that. */
const allButNewest = (table: string, before: number) =>
  sql`at < ${before} and id < (select max(id) from ${raw(table)})`;

type Table = Exclude<Shelf, 'history'>;

const shelves: Readonly<Record<Table, Sweep>> = {
  occurrences: {
    ...byId,
    deletable: (before) => sql`status in ${final}
      and created_at < ${before} and updated_at < ${before} and slot_at < ${before} and ${settled(raw('occurrences.run_id'))}
      and (not exists (select 1 from tasks t where t.id = occurrences.task_id and t.state <> 'deleted')
        or slot_at < (select k.slot_at from occurrences k where k.task_id = occurrences.task_id
          order by k.slot_at desc limit 1 offset ${raw(String(retentionKeptRuns - 1))}))`,
  },
  // Runs that no slot asked for, and those whose occurrence is gone.
  runs: {
    ...byId,
    deletable: (
      before,
    ) => sql`status in ${ended} and created_at < ${before} and coalesce(finished_at, created_at) < ${before}
      and not exists (select 1 from occurrences c where c.id = runs.occurrence_id) and ${settled(raw('runs.id'))}`,
  },
  // Deliveries without a run, and those that outlived it; but the card of a living task, which stays in its topic, keeps its row.
  deliveries: {
    ...byId,
    deletable: (
      before,
    ) => sql`created_at < ${before} and coalesce(delivered_at, created_at) < ${before} and status in ('delivered', 'failed')
      and not exists (select 1 from runs r where r.id = deliveries.run_id)
      and not (kind = 'card' and edits is null and exists (select 1 from tasks t where t.id = deliveries.task_id
        and t.state <> 'deleted' and t.card_message_id = deliveries.message_id))`,
  },
  // Some gaps are named after their task, so their ids say nothing about their age.
  gaps: { ...byId, at: null, times: 10, deletable: (before) => sql`created_at < ${before} and to_at < ${before}` },
  // Of a task that is still there the last change of its state before the limit stays, however old: it says where the task
  // stood at the beginning of what is kept, who put it there and when.
  audit: {
    ...bySerial,
    deletable: (before) => sql`${allButNewest('audit', before)} and not (${stateChanges}
      and exists (select 1 from tasks t where t.id = audit.task_id) and not exists (select 1 from audit n
        where n.task_id = audit.task_id and n.id > audit.id and n.at < ${before} and ${stateChanges}))`,
  },
  events: { ...bySerial, deletable: (before) => allButNewest('events', before) },
  downtimes: { ...byId, at: raw('to_at'), deletable: (before) => sql`to_at < ${before} and report is not null` },
  inbox: {
    key: raw('update_id'),
    first: -1,
    at: raw('received_at'),
    times: 4,
    deletable: (before) => sql`received_at < ${before} and status <> 'received'`,
  },
  // A task that was deleted long ago goes when nothing of it is left.
  tasks: {
    ...byId,
    times: 4,
    deletable: (before) => sql`state = 'deleted' and deleted_at < ${before}
      and not exists (select 1 from occurrences o where o.task_id = tasks.id)
      and not exists (select 1 from gaps g where g.task_id = tasks.id)
      and not exists (select 1 from runs r where r.task_id = tasks.id and r.exclusive = 1 and r.status in ${live})
      and not exists (select 1 from runs r where r.task_id = tasks.id and r.exclusive = 0 and r.status in ${live})
      and not exists (select 1 from deliveries d
        where d.lane in (${taskLaneOf('tasks.id')}, ${cardLaneOf('tasks.id')}) and d.status in ${open})`,
  },
  // Of a task that is still there the newest versions stay, of a task that is gone none.
  task_versions: {
    key: raw('task_id'),
    first: '',
    at: null,
    times: 1,
    deletable: () => sql`(not exists (select 1 from tasks t where t.id = task_versions.task_id)
      or version < (select k.version from task_versions k where k.task_id = task_versions.task_id
        order by k.version desc limit 1 offset ${raw(String(taskVersionsKept - 1))}))`,
  },
  // Grants in whose place others were given, and those of tasks that are gone.
  grants: {
    ...byId,
    times: 4,
    deletable: (before) =>
      sql`coalesce(revoked_at, created_at) < ${before} and not exists (select 1 from tasks t where t.grant_id = grants.id)`,
  },
  // Rows of processes that have ended long ago go; of one that is started again and again the newest stay.
  processes: {
    ...byId,
    at: null,
    times: 10,
    deletable: (before) => sql`ended_at is not null and (ended_at < ${before}
      or id < (select k.id from processes k order by k.id desc limit 1 offset ${raw(String(processesKept - 1))}))`,
  },
};

type TableRequest = PruneRequest & { readonly shelf: Table };

interface Page {
  /** The rows stand after the one condition and up to the other. */
  readonly within: Sql;
  readonly next: string | null;
}

const { id: anyId, createdAt } = columns.deliveries;

/** The next page of rows that may be old enough; null when the walk has ended. */
function* pageOf(sweep: Sweep, { shelf, after, before, limit }: TableRequest): Script<Page | null> {
  const { key, at, times } = sweep;
  const place = (value: string) => (sweep.first === '' ? sql`${value}` : sql`${Number(value)}`);
  const from = sql`${key} > ${place(after ?? String(sweep.first))}`;
  const length = limit * times;
  const found = yield* all(
    select({ id: like(anyId, key), at: like(createdAt, at ?? raw('0')) })`from ${raw(shelf)}
      where ${from} order by ${key} ${limited(length)}`,
  );
  const young = at === null ? -1 : found.findIndex((row) => row.at >= before);
  const old = young < 0 ? found : found.slice(0, young);
  const last = old.at(-1);
  if (last === undefined) return null;
  const to = String(last.id);
  return { within: sql`${from} and ${key} <= ${place(to)}`, next: old.length === length ? to : null };
}

function prune({ shelf, ...request }: PruneRequest): Script<Pruned> {
  return shelf === 'history' ? pruneHistories(request) : pruneTable({ shelf, ...request });
}

function* pruneTable(request: TableRequest): Script<Pruned> {
  const { shelf, before } = request;
  const sweep = shelves[shelf];
  const page = yield* pageOf(sweep, request);
  if (page === null) return { removed: {}, next: null };
  const runId = shelf === 'occurrences' ? raw('run_id') : raw('null');
  const gone = yield* all(
    returning(
      { id: like(anyId, sweep.key), runId: like(columns.occurrences.runId, runId) },
      sql`delete from ${raw(shelf)} where ${page.within} and ${sweep.deletable(before)}`,
    ),
  );
  const ids = gone.map(({ id }) => id);
  const removed = { [shelf]: ids.length };
  if (ids.length === 0) return { removed, next: page.next };
  if (shelf === 'tasks') {
    yield* dropIn('watches', 'task_id', ids);
    yield* dropIn('budgets', 'account', ids);
    yield* dropIn('task_tags', 'task_id', ids);
    yield* dropIn('standing', 'task_id', ids);
  }
  if (shelf === 'deliveries') yield* dropIn('album_messages', 'delivery_id', ids);
  if (shelf === 'runs') Object.assign(removed, yield* dropOfRuns(ids, request.now));
  if (shelf === 'occurrences') Object.assign(removed, yield* dropOfOccurrences(gone, request.now));
  return { removed, next: page.next };
}

/* ---- what single tasks keep ---- */

type HistoryRequest = Omit<PruneRequest, 'shelf'>;

const keepFields = {
  ...pick(columnsOf('tasks', 't'), 'id', 'policies', 'lastRunId'),
  settings: columnsOf('chats', 'c').settings,
};

/**
 * Tasks are walked and not their slots, so what they keep costs nothing where nobody has asked for it. A page holds more tasks than one
 * step looks into, as most of them say nothing.
 */
function* pruneHistories(request: HistoryRequest): Script<Pruned> {
  const { after, limit } = request;
  const length = limit * 10;
  const tasks = yield* all(
    select(keepFields)`from tasks t join chats c on c.id = t.chat_id
      where t.id > ${after ?? ''} order by t.id ${limited(length)}`,
  );
  const removed: Record<string, number> = { occurrences: 0 };
  let next = after ?? '';
  let looked = 0;
  for (const task of tasks) {
    const keep = keepIn(readFacts(task.policies)?.['keep']) ?? keepIn(readFacts(task.settings)?.['keep']);
    if (keep !== null) {
      const gone = yield* pruneHistory(task, keep, request);
      for (const [table, count] of Object.entries(gone)) removed[table] = (removed[table] ?? 0) + count;
      looked += 1 + (gone['occurrences'] ?? 0);
      // More of this task may be left.
      if (gone['occurrences'] === limit) return { removed, next };
    }
    next = task.id;
    if (looked >= limit) return { removed, next };
  }
  return { removed, next: tasks.length === length ? next : null };
}

/** Slots that were left out go with the runs around them. */
function* pruneHistory(
  { id, lastRunId }: { readonly id: string; readonly lastRunId: string | null },
  keep: Keep,
  { now, before, limit }: HistoryRequest,
): Script<Removed> {
  const first = yield* one(
    select(
      pick(columns.occurrences, 'slotAt'),
    )`from occurrences where task_id = ${id} and status in ${ended} and run_id is not null
      order by slot_at desc limit 1 offset ${keep.runs - 1}`,
  );
  if (first === undefined) return {};
  const young = Math.max(before, now - keep.days * DAY_MS);
  const gone = yield* all(
    returning(
      pick(columns.occurrences, 'id', 'runId', 'slotAt'),
      sql`delete from occurrences where id in (select id from occurrences
        where task_id = ${id} and slot_at < ${Math.min(first.slotAt, young)} and status in ${final}
          and created_at < ${young} and updated_at < ${young} and (run_id is null or run_id <> ${lastRunId ?? ''})
          and ${settled(raw('occurrences.run_id'))}
          and not exists (select 1 from acks a where a.occurrence_id = occurrences.id and a.status = 'open')
        order by slot_at ${limited(limit)})`,
    ),
  );
  if (gone.length === 0) return {};
  yield* noteKept(id, Math.max(...gone.map(({ slotAt }) => slotAt)), { now, until: now + (now - before) });
  return { occurrences: gone.length, ...(yield* dropOfOccurrences(gone, now)) };
}

interface GoneSlot {
  readonly id: string;
  readonly runId: string | null;
}

function* dropOfOccurrences(gone: readonly GoneSlot[], now: number): Script<Removed> {
  const runs = gone.flatMap(({ runId }) => runId ?? []);
  return {
    acks: yield* dropIn(
      'acks',
      'occurrence_id',
      gone.map(({ id }) => id),
    ),
    runs: yield* dropIn('runs', 'id', runs),
    ...(yield* dropOfRuns(runs, now)),
  };
}

/** An occurrence goes with everything that hangs on it, and so does a run, so that no half of a story is left. */
function* dropOfRuns(runs: readonly string[], now: number): Script<Removed> {
  if (runs.length > 0) yield* dropAlbums(sql`run_id in ${list(runs)}`);
  return {
    attempts: yield* dropIn('attempts', 'run_id', runs),
    deliveries: yield* dropIn('deliveries', 'run_id', runs),
    usage: yield* rollUp(runs),
    blob_refs: yield* dropRefsOf(runs, now),
  };
}

function* dropIn(table: string, key: string, ids: readonly string[]): Script<number> {
  if (ids.length === 0) return 0;
  return yield* dropped(sql`delete from ${raw(table)} where ${raw(key)} in ${list(ids)}`);
}

function* dropped(removal: Sql): Script<number> {
  return (yield* all(returning(counted, removal))).length;
}

const counted = { one: like(createdAt, raw('1')) };

/** Buttons of a draft that has expired still say so for a day, rather than that nobody knows what they are. */
const draftKeptMs = 86_400_000;

/** A word that is over so late is read by nobody any more. */
const standingKeptMs = 30 * DAY_MS;

/** A chat that is gone may come back, and so may its tasks; after so long its keys are of no use but to a thief. */
const secretsOfGoneKeptMs = 30 * DAY_MS;

function* dropExpired(at: {
  readonly now: number;
  readonly limit: number;
}): Script<{ removed: Removed; more: boolean }> {
  const { now } = at;
  const limit = limited(at.limit);
  const removed = {
    idempotency_keys: yield* dropped(
      sql`delete from idempotency_keys where expires_at <= ${now} and (scope, target, key) in (
        select scope, target, key from idempotency_keys where expires_at <= ${now} order by expires_at ${limit})`,
    ),
    drafts: yield* dropped(
      sql`delete from drafts where id in (select id from drafts where expires_at <= ${now - draftKeptMs} order by id ${limit})`,
    ),
    standing: yield* dropped(
      sql`delete from standing where id in (select id from standing
        where kind <> 'card' and created_at <= ${now - standingKeptMs} order by id ${limit})`,
    ),
    secrets: yield* dropped(
      sql`delete from secrets where id in (select s.id from secrets s join chats c on c.id = s.chat_id
        where c.state = 'gone' and c.updated_at <= ${now - secretsOfGoneKeptMs} order by s.id ${limit})`,
    ),
    kv: yield* dropped(
      sql`delete from kv where expires_at <= ${now} and (scope, key) in (
        select scope, key from kv where expires_at is not null and expires_at <= ${now} order by scope, key ${limit})`,
    ),
    credentials: yield* dropped(
      sql`delete from credentials where digest in (
        select digest from credentials where expires_at <= ${now} order by expires_at ${limit})`,
    ),
  };
  // Runs that were called off while they waited for a host have left their rows.
  yield* run(
    sql`delete from host_calls where not exists (select 1 from runs r where r.id = host_calls.run_id and r.status in ${live})`,
  );
  yield* run(sql`delete from hosts where forgettable_from <= ${now}
    and not exists (select 1 from host_calls c where c.host = hosts.host)`);
  const files = yield* dropExpiredBlobs(now);
  return {
    removed: { ...removed, blobs: files.removed },
    more: files.more || Object.values(removed).some((count) => count === at.limit),
  };
}
