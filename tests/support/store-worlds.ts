import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import type { Store } from '../../src/app/ports/store.ts';
import type { Engine } from '../../src/store/engine/engine.ts';
import { migratePostgres } from '../../src/store/engine/migrate.ts';
import { postgresEngine, postgresPool, type Connections } from '../../src/store/engine/postgres.ts';
import type { Value } from '../../src/store/engine/sql.ts';
import { openSqlite, sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { buildersOf, type Builders } from './builders.ts';
import { countingIds } from './fakes.ts';
import { freshSqliteFile } from './fresh-sqlite.ts';
import { pgliteConnections, startPglite } from './pglite.ts';
import { aFolder } from './place.ts';
import { freshPostgres } from './postgres.ts';
import { remembering } from './statements.ts';
import { rows } from './texts.ts';

/** `shared` is SQLite as the product runs it, where the transactions of one turn share a commit. */
export type Kind = 'sqlite' | 'shared' | 'pglite' | 'postgres';

/** A migrated, empty database with a store over it. */
export interface World {
  readonly store: Store;
  readonly engine: Engine;
  readonly make: Builders;
  /** One statement past the store, with the placeholders of the engine; nothing it throws is translated. */
  query<R extends object = Record<string, unknown>>(text: string, ...values: Value[]): Promise<R[]>;
  /** A second store over the same database, with connections of its own, as another process would have. */
  another(): Store;
}

export type OpenWorld = () => Promise<World>;

/** Called once at the top of a test file. What it returns gives every test an empty world and takes it down again. */
export function worldsOf(kind: Kind): OpenWorld {
  if (kind === 'sqlite') return sqliteWorlds();
  if (kind === 'shared') return sqliteWorlds(() => new Promise((resolve) => setImmediate(resolve)));
  return postgresWorlds(kind === 'pglite' ? pgliteDatabase : serverDatabase);
}

export function worldOver(over: Engine, beside: () => Engine): World {
  const engine = remembering(over);
  return {
    store: createStore(engine),
    engine,
    make: buildersOf(countingIds()),
    query: <R extends object>(text: string, ...values: Value[]) => engine.transact(() => rows<R>(text, ...values)),
    another: () => createStore(beside()),
  };
}

function sqliteWorlds(turn?: () => Promise<void>): OpenWorld {
  return async () => {
    const file = join(aFolder(), 'cronogram.db');
    const connect = () => {
      const connection = openSqlite(file);
      onTestFinished(() => void connection.close());
      return connection;
    };
    await freshSqliteFile(file);
    const connection = connect();
    return worldOver(sqliteEngine(connection, turn), () => sqliteEngine(connect(), turn));
  };
}

interface Database {
  readonly connections: Connections;
  readonly beside: () => Connections;
  close(): Promise<void>;
}

async function pgliteDatabase(): Promise<Database> {
  const pglite = await startPglite();
  const connections = pgliteConnections(pglite);
  return { connections, beside: () => connections, close: () => pglite.close() };
}

async function serverDatabase(): Promise<Database> {
  const database = await freshPostgres();
  const connections = postgresPool(database.url);
  const pools: Connections[] = [];
  const spare: Connections[] = [];
  const beside = () => {
    const own = spare.pop() ?? postgresPool(database.url);
    if (!pools.includes(own)) pools.push(own);
    // The next test takes the connections over, because opening them costs more than most tests.
    onTestFinished(() => void spare.push(own));
    return { ...own, end: () => Promise.resolve() };
  };
  return {
    connections,
    beside,
    close: async () => {
      for (const pool of [connections, ...pools]) await pool.end();
      await database.drop();
    },
  };
}

/** Making a database takes seconds and emptying it milliseconds, so the tests of a file use one after the other. */
function postgresWorlds(start: () => Promise<Database>): OpenWorld {
  let started: Promise<Database> | undefined;
  afterAll(async () => (await started)?.close());
  return async () => {
    started ??= migrated(start);
    const { connections, beside } = await started;
    const client = await connections.connect();
    await client.query('select empty_world()', []).finally(() => client.release());
    return worldOver(postgresEngine(connections), () => postgresEngine(beside()));
  };
}

async function migrated(start: () => Promise<Database>): Promise<Database> {
  const database = await start();
  const client = await database.connections.connect();
  try {
    await migratePostgres(client, 0);
    // One question to the server for each test, instead of one for each table.
    const deletes = emptied.map((table) => `delete from ${table};`).join(' ');
    await client.query(`create function empty_world() returns void language plpgsql as $$ begin ${deletes} end $$`, []);
  } finally {
    client.release();
  }
  return database;
}

/** Whoever refers comes before what is referred to. */
const emptied =
  `processes paused_kinds attempts deliveries usage acks runs occurrences gaps audit events downtimes set_backs
  pace hosts host_calls budgets task_versions task_tags idempotency_keys inbox drafts kv told standing album_messages blobs blob_chunks blob_refs watches credentials secrets members tasks grants token_chats tokens chat_aliases chats
  users`.split(/\s+/);
