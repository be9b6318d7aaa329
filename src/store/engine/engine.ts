import { list, shapeOf, type Dialect, type Shape, type Sql, type Tuple, type Value } from './sql.ts';

export type { Tuple, Value } from './sql.ts';

/** What a transaction asks of its engine; the functions that make it are in `statements.ts`. */
export type Ask =
  | { readonly does: 'rows'; readonly sql: Sql }
  /** Row locks and nothing else; the engine without row locks leaves the whole statement out. */
  | { readonly does: 'hold'; readonly sql: Sql }
  /** Whether each of the tuples took effect, in their order. No two of them may name the same row. */
  | { readonly does: 'insert'; readonly into: Insertion; readonly tuples: readonly Tuple[] }
  | { readonly does: 'update'; readonly change: Change; readonly tuples: readonly Tuple[] };

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

/* ---- statements as texts, with `?t` and `?i` for what is bound and `[for update]` for a lock ---- */

const textShapes = new Map<string, Shape>();

function sqlOf(text: string, values: Tuple): Sql {
  const shape = textShapes.get(text) ?? shapeOf(text.split(/(\?[ti]\b|\[for [^\]]*\]|\blimit (?=\?))/).map(pieceOf));
  textShapes.set(text, shape);
  return { shape, values };
}

function pieceOf(part: string): Shape['pieces'][number] {
  if (part === '?t') return { holds: 'text' };
  if (part === '?i') return { holds: 'int' };
  if (part === 'limit ') return { sqlite: 'limit +', postgres: 'limit ' };
  return part.startsWith('[for ') ? { sqlite: '', postgres: part.slice(1, -1) } : part;
}

export function* rows<R extends object>(text: string, ...values: Value[]): Script<R[]> {
  return yield { does: 'rows', sql: sqlOf(text, values) };
}

export function* lock(text: string, ...values: Value[]): Script<void> {
  yield { does: 'hold', sql: sqlOf(text, values) };
}

export function* row<R extends object>(text: string, ...values: Value[]): Script<R | undefined> {
  return (yield* rows<R>(text, ...values))[0];
}

const textChanges = new Map<string, Change>();

/** Runs one update for each tuple and answers, in the order of the tuples, whether it took effect. */
export function* each(text: string, tuples: readonly Tuple[]): Script<boolean[]> {
  if (tuples.length === 0) return [];
  const [, table = '', set = '', where = ''] = /^\s*update (\w+) set ([^]*?) where ([^]*)$/.exec(text) ?? [];
  const change = textChanges.get(text) ?? { table, set: sqlOf(set, []).shape, where: sqlOf(where, []).shape };
  textChanges.set(text, change);
  return yield { does: 'update', change, tuples };
}

export function* write(text: string, ...values: Value[]): Script<boolean> {
  return (yield* each(text, [values]))[0] === true;
}

export function listOf(values: readonly string[]): { readonly marks: string; readonly values: readonly Value[] } {
  const filled = list(values).values;
  return { marks: filled.map(() => '?t').join(', '), values: filled };
}
