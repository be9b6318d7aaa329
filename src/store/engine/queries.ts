import { AppError } from '../../domain/errors.ts';
import { subjectKey } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Script } from './engine.ts';
import { list, raw, sql, type Sql } from './sql.ts';

/** The lists that are read in pages. */
export type List = 'task' | 'slot' | 'run' | 'event' | 'audit' | 'grant' | 'access' | 'thread' | 'token';

/** A cursor names its list, so that one of another list is refused instead of answering nonsense. */
export function writeCursor(list: List, position: string | number): string {
  return Buffer.from(`${list}:${position}`).toString('base64url');
}

export function positionOf(list: List, cursor: string): string {
  const [of, position = ''] = Buffer.from(cursor, 'base64url').toString().split(/:(.*)/s);
  if (of === list && /^[\w:-]{1,80}$/.test(position) && writeCursor(list, position) === cursor) return position;
  throw foreignCursor();
}

/** The two whole numbers of a position, for lists whose order needs both. */
export function pairOf(list: List, cursor: string): readonly [number, number] {
  const found = /^(-?\d{1,16}):(\d{1,16})$/.exec(positionOf(list, cursor));
  if (found === null) throw foreignCursor();
  return [Number(found[1]), Number(found[2])];
}

export function foreignCursor(): AppError {
  return new AppError('invalid_cursor', 'This cursor was not made by this list; start again without one.');
}

/** A pattern for `like` that finds the text as it stands: the signs that mean something to `like` are taken as themselves. */
function literalLike(text: string): string {
  return `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
}

/** A literal search as people mean it, in whatever case. */
export function contains(column: Sql, text: string): Sql {
  return sql`lower(${column}) like lower(${literalLike(text)}) escape '\\'`;
}

/** Tasks under the alias `t` of one of the subjects. The database lowered those of an older version, and only as far as it knows letters. */
export function ofSubject(subjects: readonly string[], key: Sql = raw('t.subject_key')): Sql {
  const keys = subjects.flatMap((one) => [subjectKey(one), one.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())]);
  return sql`${key} in ${list(keys)}`;
}

/** A task under the alias `t` that bears the tag; no `exists`, for which one of the engines might walk the tags of all tasks. */
export function tagged(tag: string): Sql {
  return sql`(select g.tag from task_tags g where g.task_id = t.id and g.tag = ${tag}) is not null`;
}

/** The chat of a thread, by whatever address it ever had. */
export function chatOfThread({ provider, address }: Pick<Thread, 'provider' | 'address'>): Sql {
  return sql`(select chat_id from chat_aliases where provider = ${provider} and address = ${address})`;
}

/**
 * Chats of Telegram under the alias `c`, spelled so that no index answers it: there are few kinds of chats, and one of the
 * engines would rather begin with them and walk through all of their tasks than with the few rows that are asked for.
 */
export const isOfTelegram = raw(`c.provider || '' = 'telegram'`);

/**
 * An id for a row that the store makes by itself: it sorts among the other ids by its time, so that what was made since an
 * instant is found by its ids, and it is the same when a transaction is run again.
 */
export function idAt(now: number, name: string): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7fff:${name}`;
}

/** A list that is read in pages, downwards along a key that an index holds. */
export interface Look<R, K> {
  readonly limit: number;
  /**
   * The key of the row with which this look ends, however few rows it has found by then; absent where every row is wanted,
   * so that the page itself is the end of the look.
   */
  readonly edge?: K | undefined;
  /** Rows wanted, newest first. */
  readonly found: (limit: number) => Script<R[]>;
  readonly keyOf: (row: R) => K;
}

/**
 * A page may be short, or empty, and have a next one all the same: what no index answers is looked for among some rows at a
 * time, and the next look goes on behind them.
 */
export function* page<R, K>({
  limit,
  edge,
  found,
  keyOf,
}: Look<R, K>): Script<{
  readonly rows: readonly R[];
  readonly next: K | null;
}> {
  const rows = yield* found(limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, next: last === undefined ? (edge ?? null) : keyOf(last) };
}
