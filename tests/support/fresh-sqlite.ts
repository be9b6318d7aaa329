import { writeFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { migrateSqlite } from '../../src/store/engine/migrate.ts';
import { openSqlite } from '../../src/store/engine/sqlite.ts';

let image: Promise<Buffer> | undefined;

/** The bytes of a database with every table and no row. The migrations run once in each process of tests. */
function migratedImage(): Promise<Buffer> {
  return (image ??= migrateInMemory());
}

async function migrateInMemory(): Promise<Buffer> {
  const database = openSqlite(':memory:');
  await migrateSqlite(database, 0);
  const bytes = database.serialize();
  database.close();
  return bytes;
}

/** A migrated, empty database in memory. */
export async function freshSqlite(): Promise<Database> {
  // The driver takes the bytes of a database in the place of a name; the product itself opens names alone.
  return openSqlite((await migratedImage()) as unknown as string);
}

/** A file with a migrated, empty database, for a program or a store to open. */
export async function freshSqliteFile(file: string): Promise<void> {
  writeFileSync(file, await migratedImage());
}

/** Remembers what a connection is asked from now on, and tells the plan of a statement, step by step. */
export function watched(connection: Database) {
  const statements = new Set<string>();
  const prepare = connection.prepare.bind(connection);
  const recording = (text: string) => {
    statements.add(text);
    return prepare(text);
  };
  connection.prepare = recording as typeof connection.prepare;
  const planOf = (text: string): string[] =>
    prepare<unknown[], { detail: string }>(`explain query plan ${text}`)
      .all(...Array.from({ length: (text.match(/\?/g) ?? []).length }, () => null))
      .map(({ detail }) => detail);
  return { statements, planOf, selects: () => [...statements].filter((text) => /^\s*select\b/i.test(text)) };
}
