import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { getTableConfig as postgresConfig, type PgTable } from 'drizzle-orm/pg-core';
import { getTableConfig as sqliteConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../src/store/engine/engine.ts';
import { migratePostgres, migrateSqlite, readMigrations, type Migration } from '../../src/store/engine/migrate.ts';
import { postgresPool, type Connections } from '../../src/store/engine/postgres.ts';
import { openSqlite } from '../../src/store/engine/sqlite.ts';
import { postgresTables } from '../../src/store/tables/postgres.ts';
import { sqliteTables } from '../../src/store/tables/sqlite.ts';
import { aFolder } from '../support/place.ts';
import { freshPostgres } from '../support/postgres.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

interface Shape {
  readonly columns: readonly Column[];
  readonly key: readonly string[];
  readonly indexes: readonly {
    readonly name: string;
    readonly unique: boolean;
    readonly columns: readonly string[];
    readonly partial: boolean;
  }[];
  readonly checks: readonly string[];
}

type Shapes = Readonly<Record<string, Shape>>;

const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);

/** The parts of a table's declaration that both dialects have under the same names. */
type Config = Omit<ReturnType<typeof sqliteConfig>, 'columns'> & {
  readonly columns: readonly {
    readonly name: string;
    getSQLType(): string;
    readonly notNull: boolean;
    readonly primary: boolean;
  }[];
};

function declared(config: Config): Shape {
  const unique = config.uniqueConstraints.map((constraint) => ({
    name: constraint.getName() ?? '',
    unique: true,
    columns: constraint.columns.map(({ name }) => name),
    partial: false,
  }));
  const indexes = config.indexes.map(({ config: index }) => ({
    name: index.name,
    unique: index.unique,
    columns: index.columns.map((column) => ('name' in column ? String(column.name) : 'an expression')),
    partial: index.where !== undefined,
  }));
  return {
    columns: config.columns.map((column) => ({
      name: column.name,
      type: column.getSQLType(),
      required: column.notNull,
    })),
    key: [
      ...config.columns.filter(({ primary }) => primary).map(({ name }) => name),
      ...config.primaryKeys.flatMap(({ columns }) => columns.map(({ name }) => name)),
    ],
    indexes: [...indexes, ...unique].sort(byName),
    checks: config.checks.map(({ name }) => name).sort(),
  };
}

function declaredShapes(dialect: 'sqlite' | 'postgres'): Shapes {
  const configs =
    dialect === 'sqlite'
      ? Object.values(sqliteTables).map((table) => sqliteConfig(table as SQLiteTable))
      : Object.values(postgresTables).map((table) => postgresConfig(table as unknown as PgTable) as unknown as Config);
  return Object.fromEntries(configs.map((config) => [config.name, declared(config)]));
}

function sqliteShapes(connection: Database.Database): Shapes {
  const all = <R>(text: string, ...values: unknown[]) => connection.prepare(text).all(...values) as R[];
  const tables = all<{ name: string; sql: string }>(
    `select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%' and name <> 'schema_migrations'`,
  );
  return Object.fromEntries(
    tables.map(({ name, sql }) => {
      const columns = all<{ name: string; type: string; notnull: number; pk: number }>(
        'select * from pragma_table_info(?)',
        name,
      );
      const indexes = all<{ name: string; unique: number; origin: string; partial: number }>(
        'select * from pragma_index_list(?)',
        name,
      );
      const shape: Shape = {
        columns: columns.map((column) => ({ name: column.name, type: column.type, required: column.notnull === 1 })),
        key: columns
          .filter(({ pk }) => pk > 0)
          .sort((a, b) => a.pk - b.pk)
          .map((column) => column.name),
        indexes: indexes
          .filter(({ origin }) => origin !== 'pk')
          .map((index) => ({
            name: index.name,
            unique: index.unique === 1,
            columns: all<{ name: string }>(
              `select coalesce(name, 'an expression') as name from pragma_index_info(?) order by seqno`,
              index.name,
            ).map((one) => one.name),
            partial: index.partial === 1,
          }))
          .sort(byName),
        checks: [...sql.matchAll(/CONSTRAINT "(\w+)" CHECK/g)].map(([, check = '']) => check).sort(),
      };
      return [name, shape];
    }),
  );
}

async function postgresShapes(client: Client): Promise<Shapes> {
  const all = async <R>(text: string) => (await client.query(text, [])).rows as R[];
  const columns = await all<Column & { table: string }>(
    `select table_name as table, column_name as name, data_type as type, is_nullable = 'NO' as required
     from information_schema.columns where table_schema = current_schema() and table_name <> 'schema_migrations' order by ordinal_position`,
  );
  const indexes = await all<Shape['indexes'][number] & { table: string; primary: boolean }>(
    `select t.relname as table, i.relname as name, x.indisunique as unique, x.indisprimary as primary, x.indpred is not null as partial,
       array(select coalesce(a.attname::text, 'an expression') from unnest(x.indkey) with ordinality k(no, ord)
         left join pg_attribute a on a.attrelid = t.oid and a.attnum = k.no order by k.ord) as columns
     from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
     join pg_namespace n on n.oid = t.relnamespace where n.nspname = current_schema()`,
  );
  const checks = await all<{ table: string; name: string }>(
    `select conrelid::regclass::text as table, conname as name from pg_constraint where contype = 'c' order by conname collate "C"`,
  );
  const names = [...new Set(columns.map(({ table }) => table))];
  return Object.fromEntries(
    names.map((table) => {
      const own = indexes.filter((index) => index.table === table);
      const shape: Shape = {
        columns: columns
          .filter((column) => column.table === table)
          .map(({ name, type, required }) => ({ name, type, required })),
        key: own.find(({ primary }) => primary)?.columns ?? [],
        indexes: own
          .filter(({ primary }) => !primary)
          .map(({ name, unique, columns: on, partial }) => ({ name, unique, columns: on, partial }))
          .sort(byName),
        checks: checks.filter((check) => check.table === table).map(({ name }) => name),
      };
      return [table, shape];
    }),
  );
}

/** In SQLite `integer` and in Postgres `bigint` hold the same numbers, and a serial key is one that counts by itself. */
const typeClass = (type: string) =>
  type
    .toLowerCase()
    .replace(/^(bigint|bigserial)$/, 'integer')
    .replace(/^bytea$/, 'blob');

const more: Migration = { name: '0001_more', statements: ['create table more (id text primary key)'] };
const broken: Migration = { name: '0002_broken', statements: ['create table half (id text)', 'create nonsense'] };

describe('a file', () => {
  const migrations = readMigrations('sqlite');
  const aFile = () => {
    const file = join(aFolder(), 'cronogram.db');
    const connection = openSqlite(file);
    onTestFinished(() => void connection.close());
    return { file, folder: join(file, '..'), connection };
  };
  const tablesOf = (connection: Database.Database) => Object.keys(sqliteShapes(connection)).sort();

  test('a new database needs no backup', async () => {
    const { connection, folder } = aFile();
    await migrateSqlite(connection, 0);
    expect(readdirSync(folder).filter((name) => name.endsWith('.backup'))).toEqual([]);
  });

  test('an existing database is copied before it is changed, and the copy is the old one', async () => {
    const { connection, file } = aFile();
    await migrateSqlite(connection, 0);
    connection.exec(`insert into kv (scope, key, value, updated_at) values ('s', 'k', 'old', 0)`);
    const { applied, backup } = await migrateSqlite(connection, 1, [...migrations, more]);

    expect([applied, backup]).toEqual([['0001_more'], `${file}.before-0001_more.backup`]);
    expect(tablesOf(connection)).toContain('more');
    const copy = new Database(backup ?? '', { readonly: true });
    expect(tablesOf(copy)).not.toContain('more');
    expect(copy.prepare('select value from kv').pluck().all()).toEqual(['old']);
    expect(statSync(backup ?? '').mode & 0o077).toBe(0);
    copy.close();
  });

  test('half a copy, left by a process that was killed, is no copy', async () => {
    const { connection, file } = aFile();
    await migrateSqlite(connection, 0);
    writeFileSync(`${file}.before-0001_more.backup.partial`, 'half');
    const { backup } = await migrateSqlite(connection, 1, [...migrations, more]);

    const copy = new Database(backup ?? '', { readonly: true });
    expect(tablesOf(copy)).toContain('tasks');
    expect(existsSync(`${backup}.partial`)).toBe(false);
    copy.close();
  });

  test('a copy from an earlier try is kept, because it is the older truth', async () => {
    const { connection, file } = aFile();
    await migrateSqlite(connection, 0);
    const half = { name: more.name, statements: [...more.statements, 'create nonsense'] };
    await expect(migrateSqlite(connection, 1, [...migrations, half])).rejects.toThrow(/nonsense/);
    connection.exec(`insert into kv (scope, key, value, updated_at) values ('s', 'k', 'later', 0)`);
    await migrateSqlite(connection, 2, [...migrations, more]);

    const copy = new Database(`${file}.before-0001_more.backup`, { readonly: true });
    expect(copy.prepare('select value from kv').pluck().all()).toEqual([]);
    copy.close();
  });

  test('a statement that fails on a new database leaves nothing, and on an old one the copy', async () => {
    const { connection, file } = aFile();
    await expect(migrateSqlite(connection, 0, [...migrations, broken])).rejects.toThrow(/nonsense/);
    expect(tablesOf(connection)).toEqual([]);

    await migrateSqlite(connection, 0);
    await expect(migrateSqlite(connection, 0, [...migrations, more, broken])).rejects.toThrow(/nonsense/);
    expect(existsSync(`${file}.before-0001_more.backup`)).toBe(true);
  });
});

/** Keys of the version before, which kept two ids in one text, and how they read afterwards. */
const keptBefore = [
  ['create', 'task-1', { taskId: 'task-1', created: true, warnings: [] }],
  ['run-now:t', 'run-1 17', { occurrenceId: 'run-1', entryId: '17', told: null }],
  ['pause:t', ' 18', { occurrenceId: null, entryId: '18', told: null }],
  ['skip:t', ' ', { occurrenceId: null, entryId: null, told: { slots: [] } }],
  ['retry:t', 'run-2 19', { occurrenceId: 'run-2', entryId: '19', told: { taskRunId: 'run-2' } }],
] as const;

const keptRows = `insert into idempotency_keys (scope, key, payload_hash, result, created_at, expires_at) values ${keptBefore
  .map(([scope, result]) => `('${scope}', 'k', 'h', '${result}', 0, 1)`)
  .join(', ')}, ('answer:op:t', 'k', 'h', '', 0, 1), ('undo:t', 'k', 'h', ' 20', 0, 1)`;

const kept = `select case target when '' then scope else scope || ':' || target end as scope, result from idempotency_keys
  where scope not like 'answer:%'`;

function expectKept(rows: readonly Readonly<Record<string, unknown>>[]): void {
  const read = rows.map(({ scope, result }) => [scope, JSON.parse(String(result)) as unknown]);
  expect(new Map(read as [string, unknown][])).toEqual(new Map(keptBefore.map(([scope, , after]) => [scope, after])));
}

/** The migrations before the one that rewrites those keys. */
function beforeKeys(all: readonly Migration[]): Migration[] {
  return all.slice(
    0,
    all.findIndex(({ statements }) => statements.some((text) => text.includes('occurrenceId'))),
  );
}

/** A column that a later migration adds stands last in its table, wherever it is declared. */
function lowered(shapes: Shapes): Shapes {
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [
      name,
      {
        ...shape,
        columns: shape.columns.map((column) => ({ ...column, type: typeClass(column.type) })).toSorted(byName),
      },
    ]),
  );
}

/** A new database, and what both engines are asked about it. */
interface Place {
  readonly migrate: (now: number, migrations?: Migration[]) => ReturnType<typeof migrateSqlite>;
  readonly rows: (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly does: (text: string) => Promise<unknown>;
  readonly shapes: () => Promise<Shapes>;
}

async function onSqlite(): Promise<Place> {
  const connection = openSqlite(join(aFolder(), 'cronogram.db'));
  onTestFinished(() => void connection.close());
  return {
    migrate: (now, migrations) => migrateSqlite(connection, now, migrations),
    rows: async (text) => connection.prepare<[], Record<string, unknown>>(text).all(),
    does: async (text) => connection.exec(text),
    shapes: async () => sqliteShapes(connection),
  };
}

let connections: Connections | undefined;
afterAll(() => connections?.end());

async function onPostgres(): Promise<Place> {
  connections ??= postgresPool((await freshPostgres()).url);
  const client = await connections.connect();
  onTestFinished(() => client.release());
  const ask = (text: string) => client.query(text, []);
  await ask('drop schema if exists cronogram cascade');
  return {
    migrate: (now, migrations) => migratePostgres(client, now, migrations),
    rows: async (text) => (await ask(text)).rows as Record<string, unknown>[],
    does: ask,
    shapes: () => postgresShapes(client),
  };
}

describe.each([
  ['sqlite', onSqlite],
  ['postgres', onPostgres],
] as const)('on %s', (dialect, open) => {
  const migrations = readMigrations(dialect);
  const names = migrations.map(({ name }) => name);

  test('the migrations build exactly the declared tables', async () => {
    const { migrate, shapes } = await open();
    await migrate(0);
    expect(lowered(await shapes())).toEqual(lowered(declaredShapes(dialect)));
  });

  test('a second time there is nothing to do', async () => {
    const { migrate } = await open();
    expect(await migrate(0)).toMatchObject({ applied: names, backup: null });
    expect(await migrate(1)).toMatchObject({ applied: [], backup: null });
  });

  test('a database that was written by a newer version is refused with what to do, and is not touched', async () => {
    const { migrate, does, shapes } = await open();
    await migrate(0);
    await does(`insert into schema_migrations values ('9999_future', 1)`);
    await does('create table future (id text)');
    const before = await shapes();
    await expect(migrate(2, [...migrations, more])).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/newer version.*9999_future.*[Rr]estore a backup/s) as string,
    });
    expect(await shapes()).toEqual(before);
  });

  test('what was kept under keys is still told after the upgrade', async () => {
    const { migrate, does, rows } = await open();
    await migrate(0, beforeKeys(migrations));
    await does(keptRows);
    await migrate(1);
    expectKept(await rows(kept));
  });

  test('a statement that fails leaves the old schema, whole', async () => {
    const { migrate, rows, shapes } = await open();
    await migrate(0);
    const before = await shapes();
    await expect(migrate(1, [...migrations, more, broken])).rejects.toThrow(/nonsense/);
    expect(await shapes()).toEqual(before);
    expect(await rows('select name from schema_migrations order by name')).toEqual(names.map((name) => ({ name })));
  });
});

test('the two sets of tables are equal in name, type and nullability', () => {
  const [sqlite, postgres] = [declaredShapes('sqlite'), declaredShapes('postgres')];

  expect(Object.keys(sqlite).length).toBeGreaterThan(12);
  expect(Object.values(sqlite).flatMap(({ columns }) => columns).length).toBeGreaterThan(120);
  // Where many write at a time, the order of the events needs an index of its own, and so does what others have in hand.
  const shared = ({ indexes, ...shape }: Shape) => ({
    ...shape,
    indexes: indexes.filter(({ name }) => name !== 'events_order' && name !== 'deliveries_in_hand'),
  });
  const comparable = (shapes: Shapes) =>
    Object.fromEntries(Object.entries(lowered(shapes)).map(([name, shape]) => [name, shared(shape)]));
  expect(comparable(sqlite)).toEqual(comparable(postgres));
});
