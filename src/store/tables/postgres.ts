import { sql } from 'drizzle-orm';
import * as core from 'drizzle-orm/pg-core';
import { defineTables } from './define.ts';
import type { Dialect } from './dialect.ts';

const dialect = {
  table: core.pgTable,
  text: (name: string) => core.text(name),
  int: (name: string) => core.bigint(name, { mode: 'number' }),
  bytes: core.customType<{ data: Buffer }>({ dataType: () => 'bytea' }),
  serial: (name: string) => core.bigserial(name, { mode: 'number' }),
  transaction: (name: string) => core.bigint(name, { mode: 'number' }).default(sql`txid_current()`),
  onPostgres: <T>(made: () => T) => [made()],
  check: core.check,
  index: core.index,
  uniqueIndex: core.uniqueIndex,
  unique: core.unique,
  primaryKey: core.primaryKey,
  foreignKey: core.foreignKey,
};

/**
 * The builders of the two dialects have the same names and the same shape of use, but unrelated types. The cast is honest
 * because a test compares every column of the two sets, and another builds both schemas from their migrations.
 */
export const postgresTables = defineTables(dialect as unknown as Dialect);
