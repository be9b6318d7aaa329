import * as core from 'drizzle-orm/sqlite-core';
import { defineTables, type Dialect } from './tables.ts';

const dialect: Dialect = {
  table: core.sqliteTable,
  text: (name) => core.text(name),
  int: (name) => core.integer(name),
  serial: (name) => core.integer(name),
  check: core.check,
  index: core.index,
  uniqueIndex: core.uniqueIndex,
  unique: core.unique,
  primaryKey: core.primaryKey,
  foreignKey: core.foreignKey,
};

export const sqliteTables = defineTables(dialect);
