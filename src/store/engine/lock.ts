import { chmodSync, existsSync, realpathSync } from 'node:fs';
import Database from 'better-sqlite3';
import type pg from 'pg';
import type { Timer } from '../../app/ports/outside.ts';
import { AppError, errorText } from '../../domain/errors.ts';
import { lockAnswerMs, lockProofEveryMs, lockRetryMs, startTriesMax } from '../../domain/limits.ts';
import { sharedLockProofEveryMs } from '../../domain/processes/limits.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { connect, isLent, pooled, type Connected } from './connect.ts';

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
  lockConnections.add(connection);
  return {
    release: async () => {
      lockConnections.delete(connection);
      connection.exec('rollback');
      connection.close();
    },
  };
}

/** A connection that nobody refers to is closed when memory is tidied, and the lock would be gone without a word. */
const lockConnections = new Set<Database.Database>();

function refused(file: string, connection: Database.Database, error: unknown): unknown {
  if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') {
    connection.close();
    return error;
  }
  const holder = connection.prepare(`select pid, host, since from holder`).get() as Holder | undefined;
  connection.close();
  const who = holder ? `process ${holder.pid} on ${holder.host}, since ${iso(holder.since)}` : 'another process';
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

const schedulerLockKey = 7_290_411_002;
/** Held by each connection that works for the holder of the other, so that whoever comes next finds what is left of it. */
export const connectionLockKey = 7_290_411_003;

/** The pace of a shared lock: proofs tell only whether the session is there, because leases decide what others may do meanwhile. */
export const sharedPaceMs = { proof: sharedLockProofEveryMs, answer: lockAnswerMs, retry: lockRetryMs };
export const sessionPaceMs = { proof: lockProofEveryMs, answer: lockAnswerMs, retry: lockRetryMs };

export interface Session {
  readonly url: string;
  readonly holder: Holder;
  readonly timer: Pick<Timer, 'after'>;
  /** Why the session is lost, and null when it is back. In between nothing may be asked of the database. */
  readonly onAway: (error: Error | null) => void;
  /** Another process has the lock by now, or no session can keep it here: this process must end. */
  readonly onLost: (error: Error) => void;
  readonly pace?: typeof sessionPaceMs | undefined;
  /**
   * Absent where the process wants the database for itself. Others share it, and keep out those who want it for themselves;
   * while one of them is there they wait for its end, and say for whom.
   */
  readonly shared?: { readonly onStandby: (holder: string | null) => void } | undefined;
}

export interface SessionLock extends Lock {
  readonly isHeld: () => boolean;
  /** A sign of life of the server over the connection of the lock. */
  answers(): Promise<void>;
}

/** A try that began while the network was cut leads nowhere, and must not hold up the next one for long. */
const lockReconnectMs = 1500;

/** Asks one question after the other. */
function inTurn() {
  let last: Promise<unknown> = Promise.resolve();
  return (question: () => Promise<void>): Promise<void> => {
    const answer = last.then(question);
    last = answer.catch(() => undefined);
    return answer;
  };
}

/** Asks once for all who want to know meanwhile. */
function onceForAll(ask: () => Promise<void>) {
  let answer: Promise<void> | null = null;
  return (): Promise<void> =>
    (answer ??= ask().finally(() => {
      answer = null;
    }));
}

/**
 * On Postgres a session lock of a connection of its own, which is proved again and again. When the connection is lost, the
 * lock is taken again as soon as the server answers, unless another process was faster.
 */
export async function lockPostgres(session: Session): Promise<SessionLock> {
  const { timer, onAway, onLost, shared, pace = shared === undefined ? sessionPaceMs : sharedPaceMs } = session;
  const isWaitedFor = (error: AppError) => shared !== undefined && error instanceof HeldByOther;
  const take = (before: Backend | null) => takeLock({ ...session, pace }, before);
  const asked = inTurn();
  const pause = () => new Promise<void>((resolve) => timer.after(pace.retry, resolve));
  let [taken, isHeld] = [await whileStarting(() => standingBy(session, () => take(null), pause), pause), true];
  let [isReleased, callOff] = [false, () => {}];

  const lose = (from: Taken, error: Error) => {
    if (from !== taken || !isHeld || isReleased) return;
    isHeld = false;
    callOff();
    taken.drop();
    // No other address mends itself.
    if (error instanceof AppError && !isWaitedFor(error)) return onLost(error);
    onAway(error);
    void takeAgain();
  };
  const keep = (): void => {
    const held = taken;
    const end = (error: unknown) => lose(held, error instanceof Error ? error : new Error(String(error)));
    held.client.on('error', end);
    held.client.on('end', () => end('the connection that holds the lock has ended'));
    const proveLater = () => {
      callOff = timer.after(pace.proof, () => void asked(() => prove(held)).then(proveLater, end));
    };
    proveLater();
  };
  const takeAgain = async (): Promise<void> => {
    const before = taken.backend;
    while (!isReleased) {
      try {
        taken = await take(before);
        break;
      } catch (error) {
        // The loss was told, and is told no more for as long as the server stays away.
        if (error instanceof AppError && !isWaitedFor(error)) return onLost(error);
        await pause();
      }
    }
    if (isReleased) return taken.drop();
    isHeld = true;
    keep();
    onAway(null);
  };
  keep();
  // A connection without an answer is lost at once, and not found so when the server is back.
  const answers = onceForAll(() => asked(() => signOf(taken, lose)));
  return {
    isHeld: () => isHeld,
    answers,
    release: async () => {
      isReleased = true;
      callOff();
      // A server that does not answer frees the lock when it sees the end of the connection.
      if (isHeld) await taken.client.query('select pg_advisory_unlock_all()').catch(() => undefined);
      taken.drop();
    },
  };
}

async function signOf(held: Taken, lose: (from: Taken, error: Error) => void): Promise<void> {
  try {
    await held.client.query('select 1');
  } catch (error) {
    lose(held, error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

/** Another process has the database for itself. */
class HeldByOther extends AppError {
  readonly holder: string | null;
  constructor(refusal: AppError, holder: string | null) {
    super(refusal.code, refusal.message);
    this.holder = holder;
  }
}

/** Standby: a process that shares the database waits for the end of one that has it for itself, such as an older release. */
async function standingBy<T>({ shared }: Session, take: () => Promise<T>, pause: () => Promise<void>): Promise<T> {
  for (let holder: string | null = null; ;) {
    try {
      const taken = await take();
      if (holder !== null) shared?.onStandby(null);
      return taken;
    } catch (error) {
      if (shared === undefined || !(error instanceof HeldByOther)) throw error;
      const found = error.holder ?? 'another process';
      if (found !== holder) shared.onStandby(found);
      holder = found;
      await pause();
    }
  }
}

/** A connection with the lock. */
interface Taken extends Connected {
  /** Null where a pooler lends it out, so that nothing is held. */
  readonly backend: Backend | null;
}

/** The process of the server that holds the lock; the time is told to its own role alone. */
interface Backend {
  readonly name: string;
  readonly pid: number;
  readonly since: Date | null;
}

type Taking = Session & { readonly pace: typeof sessionPaceMs };

/** A refusal is an `AppError`; any other error may pass. */
async function takeLock({ url, holder, pace, shared }: Taking, before: Backend | null): Promise<Taken> {
  // How the server calls this connection, and so what a rival is told.
  const name = `process ${holder.pid} on ${holder.host}`.slice(0, applicationNameMax);
  const connectMs = before === null ? pace.answer : Math.min(pace.answer, lockReconnectMs);
  const connected = await connect(url, name, connectMs, pace.answer);
  const { client } = connected;
  try {
    if (await isLent(client, url, connectMs)) {
      if (shared === undefined) throw pooled();
      // No lock stays on a connection that is lent; whoever wants the database for itself is looked for instead.
      await refuseRival(client);
      return { ...connected, backend: null };
    }
    await client.query(keepAlive);
    const take = shared === undefined ? 'pg_try_advisory_lock' : 'pg_try_advisory_lock_shared';
    const { rows } = await client.query<{ held: boolean }>(`select ${take}($1) as held`, [schedulerLockKey]);
    const isTaken = rows[0]?.held === true;
    const backend = await (isTaken ? ownBackend(client) : holderOf(client));
    if (!isTaken && shared !== undefined) throw refusedBy(backend);
    if (!isTaken) await endOwn(client, backend, before);
    // Statements of a connection of the past are committed by now, or never.
    if (shared === undefined)
      await client.query(`select pg_terminate_backend(pid, ${pace.answer}) from (${locked(connectionLockKey)}) as l`);
    if (backend === null) throw pooled();
    return { ...connected, backend };
  } catch (error) {
    connected.drop();
    throw error;
  }
}

/** The server may not have noticed yet that the connection before is gone; any other holder is a rival. */
async function endOwn(client: pg.Client, holder: Backend | null, before: Backend | null): Promise<never> {
  const isOwn = holder?.pid === before?.pid && holder?.since?.getTime() === before?.since?.getTime();
  if (before === null || (holder !== null && !isOwn)) throw refusedBy(holder);
  if (holder !== null) await client.query(`select pg_terminate_backend($1)`, [holder.pid]);
  throw new Error('the connection before still holds the lock');
}

/** A holder whose machine is gone without a word is found out within half a minute; by itself that takes hours. */
const keepAlive = `set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3`;

/** The server cuts longer names off. */
const applicationNameMax = 63;

/** The server says itself that it will answer soon: after a crash, or when it was started together with this process. */
async function whileStarting<T>(work: () => Promise<T>, pause: () => Promise<void>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: unknown };
      // The server starts up, or has all the connections that it may have.
      const isStarting = code === '57P03' || code === '53300';
      if (!isStarting || tries >= startTriesMax) throw error;
      await pause();
    }
  }
}

/** The holders of a lock in this database. */
const locked = (key: number, mode = '%') => `select pid from pg_locks
  where locktype = 'advisory' and granted and ((classid::bigint << 32) | objid::bigint) = ${key}
    and mode like '${mode}' and database = (select oid from pg_database where datname = current_database())`;

/** The connection that holds the lock. */
export const holderText = `select application_name as name, pid, backend_start as since, pg_backend_pid() as mine
  from pg_stat_activity where pid in (${locked(schedulerLockKey)})`;

async function holderOf(client: pg.Client): Promise<(Backend & { readonly mine: number }) | null> {
  return (await client.query<Backend & { mine: number }>(holderText)).rows[0] ?? null;
}

/** This session, if it holds the lock. */
async function ownBackend(client: pg.Client): Promise<(Backend & { readonly mine: number }) | null> {
  const own = `${holderText} and pid = pg_backend_pid()`;
  return (await client.query<Backend & { mine: number }>(own)).rows[0] ?? null;
}

/** A session that is one holds its lock for as long as it lives. */
async function prove({ client, backend }: Taken): Promise<void> {
  if (backend === null) return refuseRival(client);
  const holder = await ownBackend(client);
  if (holder?.pid !== backend.pid || holder.mine !== backend.pid) throw pooled();
}

async function refuseRival(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Backend>(
    `${holderText} and pid in (${locked(schedulerLockKey, 'ExclusiveLock')})`,
  );
  if (rows[0] !== undefined) throw refusedBy(rows[0]);
}

function refusedBy(holder: Backend | null): HeldByOther {
  const since = holder?.since ? `, since ${iso(holder.since.getTime())}` : '';
  const who = holder === null ? 'another process' : `${holder.name}${since}`;
  const left = holder === null ? '' : ` If it is gone: select pg_terminate_backend(${holder.pid}).`;
  const refusal = new AppError(
    'store_unavailable',
    `This Postgres database is held by ${who}. Only one process may schedule from a database; stop that one first.${left}`,
  );
  return new HeldByOther(refusal, holder?.name ?? null);
}
