import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { homeIn } from '../../src/store/engine/home.ts';
import { migratePostgres, readMigrations } from '../../src/store/engine/migrate.ts';
import { postgresTables } from '../../src/store/tables/postgres.ts';
import { freshPostgres } from '../support/postgres.ts';

describe('a database on Postgres', () => {
  const aDatabase = async () => {
    const { url, drop } = await freshPostgres();
    const clients: pg.Client[] = [];
    onTestFinished(async () => {
      for (const client of clients) await client.end();
      await drop();
    });
    const connected = async (as = url) => {
      const client = new pg.Client({ connectionString: as });
      clients.push(client);
      await client.connect();
      return {
        query: (text: string, values: readonly unknown[]) => client.query(text, [...values]),
        release: () => {},
      };
    };
    const client = await connected();
    const tables = async () => {
      const found = await client.query(
        `select schemaname as home, count(*)::int as tables from pg_tables
         where schemaname not in ('pg_catalog', 'information_schema') group by 1 order by 1`,
        [],
      );
      return Object.fromEntries(
        (found.rows as { home: string; tables: number }[]).map((row) => [row.home, row.tables]),
      );
    };
    return { url, client, connected, tables };
  };
  const migrations = readMigrations('postgres');
  const all = Object.keys(postgresTables).length + 1;

  test('is given a schema of its own, also beside the bookkeeping of another program', async () => {
    const { client, tables } = await aDatabase();
    await client.query('create table schema_migrations (version text primary key)', []);
    expect(await migratePostgres(client, 0)).toMatchObject({ home: 'cronogram' });
    expect(await tables()).toEqual({ public: 1, cronogram: all });
  });

  test('keeps its tables where an earlier version made them', async () => {
    const { client, tables } = await aDatabase();
    // As the versions did that knew of no schema.
    for (const text of [
      'create table schema_migrations (name text primary key, applied_at bigint not null)',
      ...(migrations[0]?.statements ?? []),
      `insert into schema_migrations values ('${migrations[0]?.name}', 0)`,
    ])
      await client.query(text, []);
    expect(await migratePostgres(client, 1)).toEqual({
      home: 'public',
      hasCallers: true,
      applied: migrations.slice(1).map(({ name }) => name),
      backup: null,
    });
    expect(await tables()).toEqual({ public: all });
    expect(await homeIn(client)).toBe('public');
  });

  test('is migrated by one of many processes that start at once, while the others wait', async () => {
    const { connected, tables } = await aDatabase();
    const starting = await Promise.all(Array.from({ length: 6 }, () => connected()));
    const done = await Promise.all(starting.map((client) => migratePostgres(client, 0)));
    expect(done.map(({ applied }) => applied.length).toSorted((a, b) => a - b)).toEqual([
      0,
      0,
      0,
      0,
      0,
      migrations.length,
    ]);
    expect(await tables()).toEqual({ cronogram: all });
  });

  test('is migrated while the version before works on it: a step that gets no lock steps back', async () => {
    const { client, connected } = await aDatabase();
    await migratePostgres(client, 0);
    const before = await connected();
    await before.query("begin; insert into cronogram.kv values ('s', 'k', 'v', null, 0)", []);
    const wider = { name: '9999_wider', statements: ['alter table kv add column more text'] };
    const migrated = migratePostgres(await connected(), 1, [...migrations, wider]);
    const beside = await connected();
    const waiting = async () => (await beside.query('select from pg_locks where not granted', [])).rows.length;
    await expect.poll(waiting, { interval: 10 }).toBe(1);
    // Whoever comes to the table behind the step waits for it no longer than the step itself.
    await beside.query(`select count(*) from cronogram.kv`, []);
    await before.query('commit', []);
    expect((await migrated).applied).toEqual(['9999_wider']);
  });

  test('in which no schema may be made says what its owner is to run', async () => {
    const { url, client, connected } = await aDatabase();
    const role = `poor_${process.pid}`;
    await client.query(`create role ${role} login password 'x'`, []);
    try {
      const as = new URL(url);
      as.username = role;
      as.password = 'x';
      const poor = await connected(as.href);
      const refused = migratePostgres(poor, 0);
      await expect(refused).rejects.toThrow(`create schema cronogram authorization "${role}"`);
      await client.query(`create schema cronogram authorization "${role}"`, []);
      expect((await migratePostgres(poor, 0)).applied.length).toBe(migrations.length);
    } finally {
      await client.query(`drop owned by ${role}; drop role ${role}`, []);
    }
  });
});
