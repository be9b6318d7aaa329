import type { AuditQuery, DeedPage, EventPage, EventQuery } from '../../app/ports/why.ts';
import { AppError } from '../../domain/errors.ts';
import { isOfKind } from '../../domain/event.ts';
import type { Engine, Script } from '../engine/engine.ts';
import { columns, greatest, mapped, number, pick, together } from '../engine/fields.ts';
import { pairOf, positionOf, writeCursor } from '../engine/queries.ts';
import { limit as limited, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { readFacts } from '../tasks/codec.ts';

const eventFields = {
  cursor: together(pick(columns.events, 'tx', 'id'), cursorOf),
  ...pick(columns.events, 'at', 'kind', 'taskId', 'ref'),
  data: mapped(columns.events.data, readFacts),
};

/** A row of the audit. */
export const deedFields = {
  id: mapped(columns.audit.id, String),
  ...pick(columns.audit, 'at', 'actor', 'verb', 'taskId', 'stateBefore', 'stateAfter', 'traceId'),
  before: mapped(columns.audit.before, readFacts),
  after: mapped(columns.audit.after, readFacts),
};

/** Events looked at for one page when only some of them are wanted; the cursor goes on where the look ended. */
const lookMax = 5000;

/**
 * On Postgres the order is (tx, id), and nothing is read that a transaction still open could put an event in front of: an
 * event that commits late has the number of a transaction that no reader has gone past.
 */
const settled = {
  sqlite: { behind: (_tx: number, id: number) => sql`id > ${id}`, order: raw('id'), newest: raw('id desc') },
  postgres: {
    behind: (tx: number, id: number) =>
      sql`(tx, id) > (${tx}, ${id}) and tx < txid_snapshot_xmin(txid_current_snapshot())`,
    order: raw('tx, id'),
    newest: raw('tx desc, id desc'),
  },
} as const;

export function* readEvents(dialect: Engine['dialect'], query: EventQuery): Script<EventPage> {
  if (query.after === 'latest') return { events: [], next: yield* newest(dialect) };
  const [tx, id] = query.after === null ? [-1, 0] : yield* placeOf(dialect, pairOf('event', query.after));
  const { behind, order } = settled[dialect];
  const { taskId, kind = null, limit } = query;
  const look = limited(taskId === null && kind === null ? limit : lookMax);
  const seen = yield* all(select(eventFields)`from events where ${behind(tx, id)} order by ${order} ${look}`);
  const found = seen.filter((event) => (taskId === null || event.taskId === taskId) && isOfKind(event.kind, kind));
  const events = found.slice(0, limit);
  const last = found.length > limit ? events.at(-1) : seen.at(-1);
  return { events, next: last?.cursor ?? query.after ?? writeCursor('event', '-1:0') };
}

/**
 * A cursor names an event by its transaction and its id. In another cluster the same event has another transaction, and in
 * an older copy it does not exist: whoever went on behind it would wait for ever, or pass over what is new.
 */
function* placeOf(dialect: Engine['dialect'], [tx, id]: readonly [number, number]): Script<readonly [number, number]> {
  if (id === 0) return [-1, 0];
  const known = yield* one(select(pick(columns.events, 'tx'))`from events where id = ${id}`);
  if (known !== undefined) return [known.tx, id];
  // The newest event is never removed, so nothing that is kept has so high an id.
  const newest = yield* one(select({ id: greatest(columns.events.id) })`from events`);
  if (id > (newest?.id ?? 0)) throw lostCursor();
  if (dialect === 'sqlite') return [tx, id];
  const foreign = yield* all(
    select({ one: number(raw('1')) })`where ${tx} >= txid_snapshot_xmin(txid_current_snapshot())`,
  );
  return [foreign.length === 0 ? tx : 0, id];
}

function lostCursor(): AppError {
  return new AppError(
    'invalid_cursor',
    'This cursor lies behind the newest event, as the database is an older copy; start again without one, or with latest.',
  );
}

/** Whatever commits after this moment comes after this cursor. */
function* newest(dialect: Engine['dialect']): Script<string> {
  const { behind, newest: order } = settled[dialect];
  const last = yield* one(
    select(pick(columns.events, 'tx', 'id'))`from events where ${behind(-1, 0)} order by ${order} limit 1`,
  );
  return last === undefined ? writeCursor('event', '-1:0') : cursorOf(last);
}

function cursorOf({ tx, id }: { readonly tx: number; readonly id: number }): string {
  return writeCursor('event', `${tx}:${id}`);
}

/** Newest first: of one task by the index of its rows, of all tasks by the key. */
export function* readAudit({ taskId, limit, cursor }: AuditQuery): Script<DeedPage> {
  const found = yield* all(
    select(
      deedFields,
    )`from audit where ${taskId === null ? belowInAll(cursor) : belowIn(taskId, cursor)} ${limited(limit + 1)}`,
  );
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  if (last === undefined) return { items, next: null };
  return { items, next: writeCursor('audit', taskId === null ? last.id : `${last.at}:${last.id}`) };
}

function belowInAll(cursor: string | null): Sql {
  const below = cursor === null ? Number.MAX_SAFE_INTEGER : Number(wholeOf(cursor));
  return sql`id < ${below} order by id desc`;
}

/** A cursor of one task's list has two numbers and belongs to no other list. */
function wholeOf(cursor: string): string {
  const position = positionOf('audit', cursor);
  return /^\d{1,16}$/.test(position) ? position : String(pairOf('audit', cursor)[1]);
}

function belowIn(taskId: string, cursor: string | null): Sql {
  const [at, id] = cursor === null ? [Number.MAX_SAFE_INTEGER, 0] : pairOf('audit', cursor);
  return sql`task_id = ${taskId} and at <= ${at} and (at < ${at} or id < ${id}) order by at desc, id desc`;
}
