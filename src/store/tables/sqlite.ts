import * as core from 'drizzle-orm/sqlite-core';
import { defineTables } from './define.ts';
import type { Dialect } from './dialect.ts';

const dialect: Dialect = {
  table: core.sqliteTable,
  text: (name) => core.text(name),
  int: (name) => core.integer(name),
  bytes: (name) => core.blob(name, { mode: 'buffer' }),
  serial: (name) => core.integer(name),
  transaction: <N extends string>(name: N) =>
    core.integer(name).default(0) as unknown as core.SQLiteIntegerBuilderInitial<N>,
  onPostgres: () => [],
  check: core.check,
  index: core.index,
  uniqueIndex: core.uniqueIndex,
  unique: core.unique,
  primaryKey: core.primaryKey,
  // oxlint-disable-next-line typescript/no-deprecated
  foreignKey: core.foreignKey,
};

export const sqliteTables = defineTables(dialect);
