import type * as sqlite from 'drizzle-orm/sqlite-core';

/**
 * The tables, written once. Every column is a text, an integer or bytes in both dialects, so that a row read on one engine
 * looks the same on the other; times are integer milliseconds UTC, JSON is text that the rows' codec reads. The names in
 * TypeScript, and the types of what stands in a column, are those of the domain; a row that lies is met by whoever reads it.
 * The dialects differ in the column builders alone, and a parity test compares them.
 */
export interface Dialect {
  readonly table: typeof sqlite.sqliteTable;
  readonly text: <N extends string>(name: N) => sqlite.SQLiteTextBuilderInitial<N, [string, ...string[]], undefined>;
  readonly int: <N extends string>(name: N) => sqlite.SQLiteIntegerBuilderInitial<N>;
  readonly bytes: <N extends string>(name: N) => sqlite.SQLiteBlobBufferBuilderInitial<N>;
  /** A primary key that counts up by itself. */
  readonly serial: <N extends string>(name: N) => sqlite.SQLiteIntegerBuilderInitial<N>;
  /** The number of the transaction that wrote the row, where several may write at a time; else always the same. */
  readonly transaction: <N extends string>(name: N) => sqlite.SQLiteIntegerBuilderInitial<N>;
  /** Parts for one dialect alone. */
  readonly onPostgres: <T>(made: () => T) => T[];
  readonly check: typeof sqlite.check;
  readonly index: typeof sqlite.index;
  readonly uniqueIndex: typeof sqlite.uniqueIndex;
  readonly unique: typeof sqlite.unique;
  readonly primaryKey: typeof sqlite.primaryKey;
  // Only the overload with a callback is deprecated, and nobody uses it here.
  // oxlint-disable-next-line typescript/no-deprecated
  readonly foreignKey: typeof sqlite.foreignKey;
}
