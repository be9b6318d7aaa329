import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type Database from 'better-sqlite3';
import { AppError, faultCodeOf } from '../../domain/errors.ts';
import { secure } from './caller.ts';
import type { Client } from './engine.ts';
import { goHome, homeIn, ownSchema } from './home.ts';

export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/** The folder lies at the same distance from the sources and from what is built of them. */
const root = fileURLToPath(new URL('../../../drizzle/', import.meta.url));

export function readMigrations(dialect: 'sqlite' | 'postgres'): Migration[] {
  const folder = `${root}${dialect}/`;
  const journal = JSON.parse(readFileSync(`${folder}meta/_journal.json`, 'utf8')) as { entries: { tag: string }[] };
  return journal.entries.map(({ tag }) => ({
    name: tag,
    // The schema that the generator calls public is that of the database, whichever it is.
    statements: readFileSync(`${folder}${tag}.sql`, 'utf8')
      .replaceAll('"public".', '')
      .split('--> statement-breakpoint'),
  }));
}

const bookkeeping = `create table if not exists schema_migrations (name text primary key, applied_at bigint not null)`;

export interface Migrated {
  readonly applied: readonly string[];
  readonly backup: string | null;
}

/** The migrations that are missing. A database that knows more than this program must not be touched by it. */
function missing(known: readonly Migration[], applied: readonly string[]): readonly Migration[] {
  const names = new Set(known.map(({ name }) => name));
  const newer = applied.filter((name) => !names.has(name));
  if (newer.length > 0) {
    throw new AppError(
      'store_unavailable',
      `The database was written by a newer version (it has ${newer.join(', ')}). Start that version, or restore a backup made before the upgrade.`,
    );
  }
  return known.slice(applied.length);
}

/**
 * Brings a SQLite file up to date. Before an existing database is changed a copy is put beside it, named after the first
 * step; all steps are one transaction, so a kill in the middle leaves the old database.
 */
export async function migrateSqlite(
  connection: Database.Database,
  now: number,
  known = readMigrations('sqlite'),
): Promise<Migrated> {
  connection.exec(bookkeeping);
  const applied = connection.prepare(`select name from schema_migrations order by name`).pluck().all() as string[];
  const steps = missing(known, applied);
  const first = steps[0];
  if (first === undefined) return { applied: [], backup: null };
  const backup = applied.length === 0 || connection.memory ? null : await backUp(connection, first.name);
  connection
    .transaction(() => {
      const record = connection.prepare(`insert into schema_migrations (name, applied_at) values (?, ?)`);
      for (const { name, statements } of steps) {
        for (const statement of statements) connection.exec(statement);
        record.run(name, now);
      }
    })
    .immediate();
  return { applied: steps.map(({ name }) => name), backup };
}

async function backUp(connection: Database.Database, before: string): Promise<string> {
  const file = `${connection.name}.before-${before}.backup`;
  // A copy from an earlier try of this same step is the older truth, and the one worth keeping.
  if (existsSync(file)) return file;
  // Half a copy must never bear the name of a whole one, and a copy is as private as what was copied.
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  await connection.backup(partial);
  chmodSync(partial, 0o600);
  renameSync(partial, file);
  return file;
}

/** A number of our own, so that processes that start together migrate one after the other. */
const migrationLockKey = 7_290_411_001;

/** While a step waits for its locks, everybody else waits behind it. After this long it steps back and tries again. */
const stepLockMs = 3000;
const stepTriesMax = 20;
/** Locks that a step did not get, and a deadlock with those who work on the same tables. */
const inTheWay = new Set(['55P03', '40P01']);

/**
 * Events are told in the order of their transactions. Those that came out of another cluster bear its numbers: the high ones
 * would stay invisible, and what is new would be told before them. What is there at the start comes before all that follows.
 * A row that this cluster has written is older than what its reader can see at most.
 */
const ofThisCluster = `update events set tx = 0 where tx <> 0
  and (select max(tx) from events) >= txid_snapshot_xmax(txid_current_snapshot())`;

/** The place of the tables, beside what was done to them. */
export interface MigratedServer extends Migrated {
  readonly home: string;
  /** Whether there is the role under which callers are served. */
  readonly hasCallers: boolean;
}

/**
 * Brings a Postgres database up to date, in one transaction. Of several processes that start at once one does it, and the
 * others wait for it. Processes of the version before may be at work on it: a step takes its locks or steps back.
 */
export async function migratePostgres(
  client: Client,
  now: number,
  known = readMigrations('postgres'),
): Promise<MigratedServer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await migrateOnce(client, now, known);
    } catch (error) {
      await client.query('rollback', []).catch(() => undefined);
      if (tries >= stepTriesMax || !inTheWay.has(faultCodeOf(error))) throw error;
    }
  }
}

async function migrateOnce(client: Client, now: number, known: readonly Migration[]): Promise<MigratedServer> {
  await client.query(`begin; select pg_advisory_xact_lock(${migrationLockKey})`, []);
  const found = await homeIn(client);
  const home = found ?? (await newHome(client));
  await client.query(`set local lock_timeout = ${stepLockMs}; ${goHome(home, 'local')}`, []);
  if (found === null) await client.query(bookkeeping, []);
  const { rows } = await client.query(`select name from schema_migrations order by name`, []);
  const steps = missing(
    known,
    rows.map((row) => (row as { name: string }).name),
  );
  for (const { name, statements } of steps) {
    for (const statement of statements) await client.query(statement, []);
    await client.query(`insert into schema_migrations (name, applied_at) values ($1, $2)`, [name, now]);
  }
  if (known.length > 0) await client.query(ofThisCluster, []);
  const hasCallers = known.length > 0 && (await secure(client));
  await client.query('commit', []);
  return { applied: steps.map(({ name }) => name), backup: null, home, hasCallers };
}

/** The schema for a new database; a user who may make none can be given it, empty. */
async function newHome(client: Client): Promise<string> {
  const { rows } = await client.query(
    `select to_regnamespace('${ownSchema}') is null as "isMissing", current_user as me`,
    [],
  );
  const [{ isMissing, me }] = rows as [{ isMissing: boolean; me: string }];
  if (!isMissing) return ownSchema;
  try {
    await client.query(`create schema ${ownSchema}`, []);
  } catch (error) {
    if (faultCodeOf(error) !== mayNot) throw error;
    throw new AppError(
      'store_unavailable',
      `${me} may not make the schema ${ownSchema} in this database. As its owner run: create schema ${ownSchema} authorization "${me}"`,
    );
  }
  return ownSchema;
}

const mayNot = '42501';
