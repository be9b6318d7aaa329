import type { Page } from '../../app/ports/runs.ts';
import type { AuditQuery, Deed, EventPage, EventQuery, EventRow } from '../../app/ports/why.ts';
import { AppError } from '../../domain/errors.ts';
import { isOfKind } from '../../domain/event.ts';
import { beyond } from '../engine/caller.ts';
import type { Script } from '../engine/engine.ts';
import { columns, greatest, mapped, number, pick, type Answer } from '../engine/fields.ts';
import { page, pairOf, positionOf, writeCursor } from '../engine/queries.ts';
import { reach, seen } from '../engine/reach.ts';
import { allOf, limit as limited, raw, sql, type Dialect, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { readFacts } from '../tasks/codec.ts';

const { events, audit } = columns;

const eventFields = {
  ...pick(events, 'id', 'tx', 'at', 'kind', 'taskId', 'ref', 'chatId'),
  data: mapped(events.data, readFacts),
};

/** Events looked at for one page when only some of them are wanted; the cursor goes on where the look ended. */
const lookMax = 5000;

/**
 * On Postgres the order is (tx, id), and nothing is read that a transaction still open could put an event in front of: an
 * event that commits late has the number of a transaction that no reader has gone past.
 */
const settled: Readonly<Record<Dialect, { where: (tx: number, id: number) => Sql; order: Sql; newest: Sql }>> = {
  sqlite: { where: (_tx, id) => sql`id > ${id}`, order: raw('id'), newest: raw('id desc') },
  postgres: {
    where: (tx, id) => sql`(tx, id) > (${tx}, ${id}) and tx < txid_snapshot_xmin(txid_current_snapshot())`,
    order: raw('tx, id'),
    newest: raw('tx desc, id desc'),
  },
};

export function* readEvents(dialect: Dialect, query: EventQuery): Script<EventPage> {
  const chats = yield* reach();
  // The order of the events is one for all chats, and a cursor is a place in it.
  if (query.after === 'latest') return { events: [], next: yield* beyond(newest(dialect)) };
  const [tx, id] = query.after === null ? [-1, 0] : yield* beyond(placeOf(dialect, pairOf('event', query.after)));
  const { where, order } = settled[dialect];
  const { taskId, kind = null } = query;
  const look = taskId === null && kind === null && chats === null ? query.limit : lookMax;
  const passed = yield* all(select(eventFields)`from events where ${where(tx, id)} order by ${order} ${limited(look)}`);
  const mine = chats === null ? passed : passed.filter(({ chatId }) => chatId !== null && chats.includes(chatId));
  const found = mine.filter((event) => (taskId === null || event.taskId === taskId) && isOfKind(event.kind, kind));
  const page = found.slice(0, query.limit);
  const last = found.length > query.limit ? page.at(-1) : passed.at(-1);
  return {
    events: page.map(readEvent),
    next: last === undefined ? (query.after ?? writeCursor('event', '-1:0')) : cursorOf(last),
  };
}

/**
 * A cursor names an event by its transaction and its id. In another cluster the same event has another transaction, and in
 * an older copy it does not exist: whoever went on behind it would wait for ever, or pass over what is new.
 */
function* placeOf(dialect: Dialect, [tx, id]: readonly [number, number]): Script<readonly [number, number]> {
  if (id === 0) return [-1, 0];
  const known = yield* one(select(pick(events, 'tx'))`from events where id = ${id}`);
  if (known !== undefined) return [known.tx, id];
  // The newest event is never removed, so nothing that is kept has so high an id.
  const newest = yield* one(select({ id: greatest(events.id) })`from events`);
  if (id > (newest?.id ?? 0)) throw lostCursor();
  if (dialect === 'sqlite') return [tx, id];
  const foreign = yield* one(select(foreignFields)`where ${tx} >= txid_snapshot_xmin(txid_current_snapshot())`);
  return [foreign === undefined ? tx : 0, id];
}

const foreignFields = { isForeign: number(raw('1')) };

function lostCursor(): AppError {
  return new AppError(
    'invalid_cursor',
    'This cursor lies behind the newest event, as the database is an older copy; start again without one, or with latest.',
  );
}

/** Events that are committed after this moment come after this cursor. */
function* newest(dialect: Dialect): Script<string> {
  const { where, newest: order } = settled[dialect];
  const last = yield* one(
    select(pick(events, 'id', 'tx'))`from events where ${where(-1, 0)} order by ${order} limit 1`,
  );
  return last === undefined ? writeCursor('event', '-1:0') : cursorOf(last);
}

type Event = Answer<typeof eventFields>;

function cursorOf({ tx, id }: Pick<Event, 'id' | 'tx'>): string {
  return writeCursor('event', `${tx}:${id}`);
}

function readEvent({ id, tx, chatId: _chat, ...event }: Event): EventRow {
  return { cursor: cursorOf({ id, tx }), ...event };
}

/** A row of the audit. */
export const deedFields = {
  id: mapped(audit.id, String),
  ...pick(audit, 'at', 'actor', 'verb', 'taskId', 'stateBefore', 'stateAfter'),
  before: mapped(audit.before, readFacts),
  after: mapped(audit.after, readFacts),
  traceId: audit.traceId,
};

/** Newest first: of one task by the index of its rows, of all tasks by the key. */
export function* readAuditPage({ taskId, limit, cursor }: AuditQuery): Script<Page<Deed>> {
  const mine = yield* seen(audit.chatId.sql);
  const rest = taskId === null ? ofAll(mine, cursor) : ofTask(taskId, mine, cursor);
  const { rows, next } = yield* page({
    limit,
    found: (max) => all(select(deedFields)`from audit ${rest} ${limited(max)}`),
    keyOf: ({ id, at }) => (taskId === null ? id : `${at}:${id}`),
  });
  return { items: rows, next: next === null ? null : writeCursor('audit', next) };
}

/** A cursor of one task's list has two numbers and belongs to no other list. */
function wholeOf(cursor: string): string {
  const position = positionOf('audit', cursor);
  return /^\d{1,16}$/.test(position) ? position : String(pairOf('audit', cursor)[1]);
}

function ofAll(mine: Sql | undefined, cursor: string | null): Sql {
  const before = cursor === null ? Number.MAX_SAFE_INTEGER : Number(wholeOf(cursor));
  return sql`where ${allOf(sql`id < ${before}`, mine)} order by id desc`;
}

function ofTask(taskId: string, mine: Sql | undefined, cursor: string | null): Sql {
  const [at, id] = cursor === null ? [Number.MAX_SAFE_INTEGER, 0] : pairOf('audit', cursor);
  const which = sql`task_id = ${taskId} and at <= ${at} and (at < ${at} or id < ${id})`;
  return sql`where ${allOf(which, mine)} order by at desc, id desc`;
}
