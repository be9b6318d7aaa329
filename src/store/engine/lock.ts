import { chmodSync, existsSync, realpathSync } from 'node:fs';
import Database from 'better-sqlite3';
import pg from 'pg';
import { AppError, errorText } from '../../domain/errors.ts';

/** Held for the life of the process. The operating system, or the database server, frees it when the process dies. */
export interface Lock {
  release(): Promise<void>;
}

export interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly since: number;
}

/** The lock of a SQLite database. It lies beside the file itself, so that whoever comes by a link meets it there. */
export function lockNameOf(database: string): string {
  return `${existsSync(database) ? realpathSync(database) : database}.lock`;
}

/** A process that only looks whether the lock is free holds it for less than this, and must not make a start fail. */
const glanceMs = 100;

/**
 * The lock beside a SQLite file is a small database of its own: its write transaction stays open for the life of the
 * process, so even `kill -9` frees it, and the holder's row can be read by whoever is refused.
 */
export function lockFile(file: string, holder: Holder): Lock {
  const connection = new Database(file, { timeout: glanceMs });
  try {
    chmodSync(file, 0o600);
    connection.exec(`begin immediate`);
    connection.exec(`create table if not exists holder (pid integer, host text, since integer)`);
    connection.exec(`delete from holder`);
    connection.prepare(`insert into holder values (?, ?, ?)`).run(holder.pid, holder.host, holder.since);
    connection.exec(`commit`);
    // Between these two a rival may slip in; then it holds the lock and this process is the one that is refused.
    connection.exec(`begin immediate`);
  } catch (error) {
    throw refused(file, connection, error);
  }
  taken.add(connection);
  return {
    release: async () => {
      taken.delete(connection);
      connection.exec('rollback');
      connection.close();
    },
  };
}

/** A connection that nobody refers to is closed when memory is tidied, and the lock would be gone without a word. */
const taken = new Set<Database.Database>();

function refused(file: string, connection: Database.Database, error: unknown): unknown {
  if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') {
    connection.close();
    return error;
  }
  const holder = connection.prepare(`select pid, host, since from holder`).get() as Holder | undefined;
  connection.close();
  const who = holder
    ? `process ${holder.pid} on ${holder.host}, since ${new Date(holder.since).toISOString()}`
    : 'another process';
  return new AppError(
    'store_unavailable',
    `${file} is held by ${who}. Only one process may schedule from a database; stop that one first.`,
  );
}

/** Postgres does not tell since when. */
export type Found = Omit<Holder, 'since'> & { readonly since: number | null };

export type LockState =
  | { readonly is: 'free' }
  | { readonly is: 'held'; readonly by: Found | null }
  /** The lock of another user, or on a disk that cannot be written, tells nobody anything. */
  | { readonly is: 'unknown'; readonly reason: string };

/** Whether a process holds the lock beside a SQLite file, and which. The look itself changes nothing. */
export function lockState(file: string): LockState {
  if (!existsSync(file)) return { is: 'free' };
  let connection: Database.Database | null = null;
  try {
    connection = new Database(file, { timeout: 0, fileMustExist: true });
    connection.exec('begin immediate');
    connection.exec('rollback');
    return { is: 'free' };
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'SQLITE_BUSY' || connection === null)
      return { is: 'unknown', reason: errorText(error) };
    return { is: 'held', by: holderIn(connection) };
  } finally {
    connection?.close();
  }
}

/** A process that takes the lock at this very moment has not written its name yet. */
function holderIn(connection: Database.Database): Holder | null {
  try {
    return (connection.prepare(`select pid, host, since from holder`).get() as Holder | undefined) ?? null;
  } catch {
    return null;
  }
}

/** A server that accepts and does not answer would otherwise be waited for without end. */
const patienceMs = 5000;

export const schedulerLockKey = 7_290_411_002;

/** On Postgres a session lock of a connection of its own. Without that connection nobody may go on scheduling. */
export async function lockPostgres(url: string, holder: Holder, onLost: (error: Error) => void): Promise<Lock> {
  const client = new pg.Client({
    connectionString: url,
    // How the server calls this connection, and so what a rival is told.
    application_name: `process ${holder.pid} on ${holder.host}`.slice(0, applicationNameMax),
    keepAlive: true,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  let held = false;
  const lost = (error: Error) => {
    if (held) onLost(error);
    held = false;
  };
  client.on('error', lost);
  client.on('end', () => lost(new Error('the connection that holds the scheduler lock has ended')));
  await client.connect();
  const { rows } = await client.query<{ held: boolean }>(`select pg_try_advisory_lock($1) as held`, [schedulerLockKey]);
  if (rows[0]?.held !== true) throw await refusedBy(client);
  held = true;
  return {
    release: async () => {
      held = false;
      await client.end();
    },
  };
}

/** The server cuts longer names off. */
const applicationNameMax = 63;

async function refusedBy(client: pg.Client): Promise<AppError> {
  const { rows } = await client.query<{ name: string; since: Date }>(
    `select a.application_name as name, a.backend_start as since
     from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and ((l.classid::bigint << 32) | l.objid::bigint) = $1`,
    [schedulerLockKey],
  );
  await client.end();
  const [holder] = rows;
  const who = holder === undefined ? 'another process' : `${holder.name}, since ${holder.since.toISOString()}`;
  return new AppError(
    'store_unavailable',
    `This Postgres database is held by ${who}. Only one process may schedule from a database; stop that one first.`,
  );
}
