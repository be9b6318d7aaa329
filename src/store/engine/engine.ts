import type { Offer } from '../../app/ports/hints.ts';
import type { Dialect, Holds, Shape, Sql, Tuple } from './sql.ts';

/** Requests of a transaction to its engine; the functions that make them are in `statements.ts`. */
export type Ask =
  | { readonly does: 'rows'; readonly sql: Sql }
  /** Row locks and nothing else; the engine without row locks leaves the whole statement out. */
  | { readonly does: 'hold'; readonly sql: Sql }
  /** The chats in which anything exists for whoever asked; null for all of them. */
  | { readonly does: 'reach' }
  /** The first of a script whose caller reaches these chats alone. The engine that has no rights for rows lets it pass, and `step` too. */
  | { readonly does: 'confine'; readonly chats: readonly string[] }
  | { readonly does: 'step'; readonly to: 'server' | 'caller' }
  /** Rows that are ready with the commit; an engine that hands out no jobs lets it pass. */
  | { readonly does: 'offer'; readonly offer: Offer }
  /** Whether each of the tuples took effect, in their order. No two of them may name the same row. */
  | { readonly does: 'insert'; readonly into: Insertion; readonly tuples: readonly Tuple[] }
  | { readonly does: 'update'; readonly change: Change; readonly tuples: readonly Tuple[] };

/** An insert of some columns, the first of which tells its rows apart. */
export interface Insertion {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly holds: Holds }[];
  /** The action on a row that is there already; empty where that is a fault. */
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
  /** Where the database is a file. */
  readonly file?: string;
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

/** Parts of a client that the engine needs; node-postgres and the tests' embedded Postgres both have them. */
export interface Client {
  query(text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }>;
  /** With `true` the connection is closed instead of being used again. */
  release(broken?: boolean): void;
}
