import type { AuditQuery, Deed, DeedPage, EventPage, EventQuery, EventRow } from '../../app/ports/why.ts';
import { AppError } from '../../domain/errors.ts';
import { isOfKind } from '../../domain/event.ts';
import type { TaskState } from '../../domain/task.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { pairOf, positionOf, writeCursor } from '../engine/queries.ts';
import { readFacts } from '../tasks/codec.ts';

interface EventColumns {
  readonly id: number;
  readonly tx: number;
  readonly at: number;
  readonly kind: string;
  readonly task_id: string | null;
  readonly ref: string | null;
  readonly data: string | null;
}

/** Events looked at for one page when only some of them are wanted; the cursor goes on where the look ended. */
const lookMax = 5000;

/**
 * On Postgres the order is (tx, id), and nothing is read that a transaction still open could put an event in front of: an
 * event that commits late has the number of a transaction that no reader has gone past.
 */
const settled = {
  sqlite: { where: 'id > ?i', order: 'id', newest: 'id desc' },
  postgres: {
    where: '(tx, id) > (?i, ?i) and tx < txid_snapshot_xmin(txid_current_snapshot())',
    order: 'tx, id',
    newest: 'tx desc, id desc',
  },
} as const;

export function* readEvents(dialect: Engine['dialect'], query: EventQuery): Script<EventPage> {
  if (query.after === 'latest') return { events: [], next: yield* newest(dialect) };
  const [tx, id] = query.after === null ? [-1, 0] : yield* placeOf(dialect, pairOf('event', query.after));
  const { where, order } = settled[dialect];
  const { taskId, kind = null } = query;
  const look = taskId === null && kind === null ? query.limit : lookMax;
  const seen = yield* rows<EventColumns>(
    `select id, tx, at, kind, task_id, ref, data from events where ${where} order by ${order} limit ?i`,
    ...(dialect === 'sqlite' ? [id] : [tx, id]),
    look,
  );
  const found = seen.filter((one) => (taskId === null || one.task_id === taskId) && isOfKind(one.kind, kind));
  const page = found.slice(0, query.limit);
  const last = found.length > query.limit ? page.at(-1) : seen.at(-1);
  return {
    events: page.map(readEvent),
    next: last === undefined ? (query.after ?? writeCursor('event', '-1:0')) : cursorOf(last),
  };
}

/**
 * A cursor names an event by its transaction and its id. In another cluster the same event has another transaction, and in
 * an older copy it does not exist: whoever went on behind it would wait for ever, or pass over what is new.
 */
function* placeOf(dialect: Engine['dialect'], [tx, id]: readonly [number, number]): Script<readonly [number, number]> {
  if (id === 0) return [-1, 0];
  const known = yield* row<{ tx: number }>(`select tx from events where id = ?i`, id);
  if (known !== undefined) return [known.tx, id];
  // The newest event is never removed, so nothing that is kept has so high an id.
  const newest = yield* row<{ id: number | null }>(`select max(id) as id from events`);
  if (id > (newest?.id ?? 0)) throw lostCursor();
  if (dialect === 'sqlite') return [tx, id];
  const foreign = yield* row(`select 1 as is_foreign where ?i >= txid_snapshot_xmin(txid_current_snapshot())`, tx);
  return [foreign === undefined ? tx : 0, id];
}

function lostCursor(): AppError {
  return new AppError(
    'invalid_cursor',
    'This cursor lies behind the newest event, as the database is an older copy; start again without one, or with latest.',
  );
}

/** Whatever commits after this moment comes after this cursor. */
function* newest(dialect: Engine['dialect']): Script<string> {
  const { where, newest: order } = settled[dialect];
  const last = yield* row<Pick<EventColumns, 'id' | 'tx'>>(
    `select id, tx from events where ${where} order by ${order} limit 1`,
    ...(dialect === 'sqlite' ? [0] : [-1, 0]),
  );
  return last === undefined ? writeCursor('event', '-1:0') : cursorOf(last);
}

function cursorOf({ tx, id }: Pick<EventColumns, 'id' | 'tx'>): string {
  return writeCursor('event', `${tx}:${id}`);
}

function readEvent(one: EventColumns): EventRow {
  return {
    cursor: cursorOf(one),
    at: one.at,
    kind: one.kind,
    taskId: one.task_id,
    ref: one.ref,
    data: readFacts(one.data),
  };
}

/** Newest first: of one task by the index of its rows, of all tasks by the key. */
export function* readAuditPage({ taskId, limit, cursor }: AuditQuery): Script<DeedPage> {
  const found = taskId === null ? yield* auditOfAll(cursor, limit + 1) : yield* auditOf(taskId, cursor, limit + 1);
  const items = found.slice(0, limit).map(readDeed);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  const position = taskId === null ? last?.id : `${last?.at ?? 0}:${last?.id ?? 0}`;
  return { items, next: more ? writeCursor('audit', position ?? '') : null };
}

function* auditOfAll(cursor: string | null, limit: number): Script<DeedColumns[]> {
  const below = cursor === null ? Number.MAX_SAFE_INTEGER : Number(wholeOf(cursor));
  return yield* rows<DeedColumns>(
    `select ${deedColumns} from audit where id < ?i order by id desc limit ?i`,
    below,
    limit,
  );
}

/** A cursor of one task's list has two numbers and belongs to no other list. */
function wholeOf(cursor: string): string {
  const position = positionOf('audit', cursor);
  return /^\d{1,16}$/.test(position) ? position : String(pairOf('audit', cursor)[1]);
}

function* auditOf(taskId: string, cursor: string | null, limit: number): Script<DeedColumns[]> {
  const [at, id] = cursor === null ? [Number.MAX_SAFE_INTEGER, 0] : pairOf('audit', cursor);
  return yield* rows<DeedColumns>(
    `select ${deedColumns} from audit where task_id = ?t and at <= ?i and (at < ?i or id < ?i)
     order by at desc, id desc limit ?i`,
    taskId,
    at,
    at,
    id,
    limit,
  );
}

export interface DeedColumns {
  readonly id: number;
  readonly at: number;
  readonly actor: string;
  readonly verb: string;
  readonly task_id: string | null;
  readonly state_before: string | null;
  readonly state_after: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly trace_id: string | null;
}

export const deedColumns = 'id, at, actor, verb, task_id, state_before, state_after, before, after, trace_id';

export function readDeed(one: DeedColumns): Deed {
  return {
    id: String(one.id),
    at: one.at,
    actor: one.actor,
    verb: one.verb,
    taskId: one.task_id,
    stateBefore: one.state_before as TaskState | null,
    stateAfter: one.state_after as TaskState | null,
    before: readFacts(one.before),
    after: readFacts(one.after),
    traceId: one.trace_id,
  };
}
