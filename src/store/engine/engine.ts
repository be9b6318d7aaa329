import type { Dialect, Shape, Sql, Tuple, Value } from './sql.ts';

export type { Tuple, Value } from './sql.ts';

/** What a transaction asks of its engine; the functions that make it are in `statements.ts`. */
export type Ask =
  | { readonly does: 'select'; readonly sql: Sql }
  | { readonly does: 'run'; readonly sql: Sql }
  /** Row locks and nothing else; the engine without row locks leaves the whole statement out. */
  | { readonly does: 'hold'; readonly sql: Sql }
  /** Whether each of the tuples took effect, in their order. No two of them may name the same row. */
  | { readonly does: 'insert'; readonly into: Insertion; readonly tuples: readonly Tuple[] }
  | { readonly does: 'update'; readonly change: Change; readonly tuples: readonly Tuple[] }
  | TextAsk;

/** An insert of some columns, the first of which tells its rows apart. */
export interface Insertion {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly holds: 'text' | 'int' }[];
  /** What happens to a row that is there already; empty where that is a fault. */
  readonly conflict: Shape;
}

export interface Change {
  readonly table: string;
  readonly set: Shape;
  readonly where: Shape;
}

/**
 * A statement as one text with typed placeholders: `?t` for a text, `?i` for an integer. A part in brackets, `[for update]`, is a row
 * lock: the engine without row locks leaves it out, because its transaction already excludes every other writer.
 */
export type TextAsk =
  | { readonly does: 'rows'; readonly text: string; readonly values: Tuple }
  | { readonly does: 'lock'; readonly text: string; readonly values: Tuple }
  | { readonly does: 'each'; readonly text: string; readonly tuples: readonly Tuple[] };

/**
 * A transaction, written once for both engines: a generator that yields statements and is handed their answers. On SQLite
 * the engine answers at once, so that nothing can slip in between; on Postgres it awaits each answer. A script must be
 * free of outside effects, because an engine may run it again after a conflict.
 */
export type Script<T> = Generator<Ask, T, never>;

export interface Engine {
  readonly dialect: Dialect;
  /** Plays a script that only reads, outside of any transaction: each of its statements sees what is committed by then. */
  read<T>(script: () => Script<T>): Promise<T>;
  /** Runs the script in one durable transaction: all of it or nothing. */
  transact<T>(script: () => Script<T>): Promise<T>;
  /**
   * The same without the wait for the disk: all of it or nothing, but a power cut may take back the last moments. For what
   * can be done again, such as the removal of what is old.
   */
  transactLightly<T>(script: () => Script<T>): Promise<T>;
  close(): Promise<void>;
}

/** Runs one statement and answers its rows. Works for reads, and for writes that end in `returning`. */
export function* rows<R extends object>(text: string, ...values: Value[]): Script<R[]> {
  return yield { does: 'rows', text, values };
}

/**
 * Takes row locks and nothing else, for an order of locks that all transactions keep. The engine without row locks leaves
 * the whole statement out.
 */
export function* lock(text: string, ...values: Value[]): Script<void> {
  yield { does: 'lock', text, values };
}

export function* row<R extends object>(text: string, ...values: Value[]): Script<R | undefined> {
  return (yield* rows<R>(text, ...values))[0];
}

/**
 * Runs one insert or update for each tuple and answers, in the order of the tuples, whether it took effect. On Postgres
 * all tuples travel in one statement, so no two tuples of a call may name the same row.
 */
export function* each(text: string, tuples: readonly Tuple[]): Script<boolean[]> {
  if (tuples.length === 0) return [];
  return yield { does: 'each', text, tuples };
}

/** Like `each` for one tuple. */
export function* write(text: string, ...values: Value[]): Script<boolean> {
  return (yield* each(text, [values]))[0] === true;
}

/** Lists come in few lengths, filled up with what matches nothing, so that few statements have to be prepared. */
const lengths = [2, 16, 64, 256, 1024];

export function listOf(values: readonly string[]): { readonly marks: string; readonly values: readonly Value[] } {
  const distinct = [...new Set(values)];
  const length = lengths.find((size) => size >= distinct.length) ?? distinct.length;
  const filled = [...distinct, ...Array.from({ length: length - distinct.length }, () => '')];
  return { marks: filled.map(() => '?t').join(', '), values: filled };
}
