import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ConnectionsUsed } from '../../app/operations/gauges.ts';
import type { Backups, Log } from '../../app/ports/outside.ts';
import type { Store } from '../../app/ports/store.ts';
import { AppError, errorText, faultCodeOf, isAway } from '../../domain/errors.ts';
import { fileBackups } from '../files/backup.ts';
import { watchFile, type FileWatch } from '../files/file-watch.ts';
import { openSharedWork, type SharedWork } from '../jobs/shared-work.ts';
import { connect, leadsToPooler, pooled, requireSame } from './connect.ts';
import type { Engine, Script } from './engine.ts';
import {
  lockFile,
  lockNameOf,
  lockPostgres,
  sessionPaceMs,
  sharedPaceMs,
  type Holder,
  type Lock,
  type Session,
} from './lock.ts';
import { migratePostgres, migrateSqlite, type Migrated, type MigratedServer } from './migrate.ts';
import { postgresEngine, postgresPool, type Connections, type Pool } from './postgres.ts';
import { createPulse, signOfLife, type pulsePaceMs } from './pulse.ts';
import { openSqlite, sqliteEngine } from './sqlite.ts';
import { createStore, translate } from './store.ts';

export interface Opened {
  readonly store: Store;
  readonly migrated: Migrated;
  /** False where the database does not keep callers of some chats apart by itself. */
  readonly keepsCallers: boolean;
  /** Null where the database is not a file of ours. */
  readonly backups: Backups | null;
  /** How the connections are used; null where there is but one. */
  readonly connections: (() => ConnectionsUsed) | null;
  /** Null where this process has the database for itself. */
  readonly work: SharedWork | null;
  /** Has this called after each commit of this process that has written events. */
  onEvents(call: () => void): void;
  /** Has this called after each transaction without an answer: it may be committed, and nobody rings for what it left. */
  onDoubt(call: () => void): void;
  close(): Promise<void>;
}

export interface Opening {
  readonly url: string;
  readonly holder: Holder;
  /** The right to schedule was lost while running; the process must end. */
  readonly onLost: (error: Error) => void;
  /** The database is away, and why; null when it is back. */
  readonly onAway?: (error: Error | null) => void;
  readonly timer: Session['timer'];
  readonly log?: Log;
  readonly pace?: Session['pace'];
  readonly pulsePace?: typeof pulsePaceMs | undefined;
  /** Absent where this process wants the database for itself. */
  readonly shared?: Session['shared'];
  /** The process serves a sandbox, which no other has: it hands out work as processes do that share a database, and shares it with none. */
  readonly isAlone?: boolean;
  /** Of Postgres: an address that leads to the server itself, where the other is that of a pooler. */
  readonly directUrl?: string | undefined;
  /** Connections to Postgres. */
  readonly poolMax?: number | undefined;
  /** Resolves in the next turn of the process: the transactions of one turn share a commit. Without it each has its own. */
  readonly turn?: () => Promise<void>;
}

/** Takes the lock first, so that a second process changes nothing, not even the schema. */
export async function openStore(opening: Opening): Promise<Opened> {
  try {
    return await (/^postgres(ql)?:/.test(opening.url) ? openPostgres(opening) : openFile(opening));
  } catch (error) {
    throw translate(error, databaseFile(opening.url) ?? undefined);
  }
}

/** The file of a `file:` URL; null for a database that is not a file. */
export function databaseFile(url: string): string | null {
  return url.startsWith('file:') ? resolve(url.slice('file:'.length)) : null;
}

async function openFile({ url, holder, turn, timer }: Opening): Promise<Opened> {
  const file = databaseFile(url);
  if (file === null) throw new AppError('store_unavailable', 'DATABASE_URL is file:<path> or postgres://...');
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = lockFile(lockNameOf(file), holder);
  try {
    const connection = openSqlite(file);
    chmodSync(file, 0o600);
    const migrated = await migrateSqlite(connection, holder.since).catch((error: unknown) => {
      connection.close();
      throw error;
    });
    const watch = watchFile(file, connection, { openedAt: holder.since, timer });
    return watched(opened(heeding(sqliteEngine(connection, turn), watch), migrated, lock), file, watch);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

type OfServer = 'backups' | 'connections' | 'keepsCallers';

/** A file that is gone or damaged is told by the ping, which readiness and the alarm ask, and is not copied over good copies. */
function watched(made: Omit<Opened, OfServer>, file: string, watch: FileWatch): Opened {
  const backups = fileBackups(file);
  const whileWell = async <T>(does: () => Promise<T>): Promise<T> => {
    await watch.require();
    return does();
  };
  return {
    ...made,
    keepsCallers: false,
    connections: null,
    store: { ...made.store, ping: (now) => whileWell(() => made.store.ping(now)) },
    backups: {
      ...backups,
      make: (now) => whileWell(() => backups.make(now)),
      check: async () => {
        const found = await backups.check();
        watch.noteDamage(found === null ? null : damageOf(found));
        return found;
      },
    },
    close: async () => {
      try {
        await watch.close();
      } finally {
        await made.close();
        watch.release();
      }
    },
  };
}

function damageOf(found: string): string {
  return `The database file is damaged (${found.replaceAll(/\s+/g, ' ')}). Stop the server, then run: cronogram restore latest`;
}

/**
 * Nothing is written to a file that is lost. A page that cannot be read is known from the first script that meets it, and not
 * only from the check of the night.
 */
function heeding(engine: Engine, watch: FileWatch): Engine {
  const noting = async <T>(does: () => Promise<T>): Promise<T> => {
    try {
      return await does();
    } catch (error) {
      if (/^SQLITE_(CORRUPT|NOTADB)/.test(faultCodeOf(error))) watch.noteDamage(damageOf(errorText(error)));
      throw error;
    }
  };
  const writing = async <T>(does: () => Promise<T>): Promise<T> => {
    watch.refuse();
    return does();
  };
  return {
    ...engine,
    read: (script) => noting(() => engine.read(script)),
    transact: (script) => noting(() => writing(() => engine.transact(script))),
    transactLightly: (script) => noting(() => writing(() => engine.transactLightly(script))),
  };
}

async function openPostgres(opening: Opening): Promise<Opened> {
  const { url, directUrl = url, holder, onLost, onAway = () => {}, timer, pulsePace, shared, poolMax } = opening;
  const pace = paceOf(opening);
  let pool: Pool | null = null;
  let work: SharedWork | null = null;
  const away = tellingAway(onAway, () => pool?.drop());
  const lock = await lockPostgres({
    url: directUrl,
    holder,
    timer,
    pace,
    ...shareOf(opening),
    onLost: (error) => {
      pool?.drop();
      onLost(error);
    },
    onAway: (error) => away('lock', error),
  });
  try {
    const { answer } = pace;
    if (directUrl !== url) await requireSame(url, directUrl, answer);
    const lends = await leadsToPooler(url, answer);
    if (lends && shared === undefined) throw pooled();
    const { home, hasCallers, ...migrated } = await migrateOver(directUrl, holder.since, pace);
    const name = `cronogram ${holder.pid} ${holder.since}`;
    pool = postgresPool(url, { home: lends ? null : home, name, max: poolMax });
    const ask = (answerMs: number) => either(lock.answers(), signOfLife(url, answerMs));
    const pulse = createPulse({ timer, ask, pace: pulsePace, onSilent: (error) => away('pulse', error) });
    const connections = whileHeld(pulse.over(pool), lock);
    const engine = postgresEngine(connections, { home: lends ? home : null, hasCallers });
    // Nobody listens on a connection that is lent.
    const isDeaf = directUrl === url ? lends : await leadsToPooler(directUrl, answer);
    work = shared === undefined ? null : await openWork(opening, isDeaf);
    const made = opened(work?.over(engine) ?? engine, migrated, lock, work);
    return {
      ...made,
      keepsCallers: hasCallers,
      backups: null,
      connections: connections.used ?? null,
      close: () => {
        pulse.stop();
        return made.close();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A process that shares its work proves its lock as seldom where it is alone. */
function paceOf({ pace, shared }: Opening) {
  return pace ?? (shared === undefined ? sessionPaceMs : sharedPaceMs);
}

function shareOf({ shared, isAlone }: Opening): Pick<Session, 'shared'> {
  return shared === undefined || isAlone === true ? {} : { shared };
}

const silent = () => undefined;
const noLog: Log = { debug: silent, info: silent, warn: silent, error: silent };

function openWork({ url, directUrl = url, holder, timer, log = noLog }: Opening, isDeaf: boolean): Promise<SharedWork> {
  const { host, pid, since } = holder;
  return openSharedWork({ url: directUrl, name: `${host} ${pid} ${since}`, timer, log, isDeaf });
}

/** Waits for the first of two that succeeds, and tells what the second met where neither does. */
async function either(first: Promise<void>, second: Promise<void>): Promise<void> {
  return Promise.any([first, second]).catch(() => second);
}

/** The connection of the lock is lost, or the server is silent: told once, and that it is over when neither is. */
function tellingAway(onAway: (error: Error | null) => void, drop: () => void) {
  const reasons = new Map<'lock' | 'pulse', Error>();
  return (who: 'lock' | 'pulse', error: Error | null): void => {
    const wasAway = reasons.size > 0;
    if (error === null) reasons.delete(who);
    else reasons.set(who, error);
    // Connections from before lead nowhere, and what they were asked must not come about late.
    if (error !== null) drop();
    if (wasAway !== reasons.size > 0) onAway(error);
  };
}

/** The lock goes last: whoever gets it next must find a database that nobody writes to. */
function opened(
  engine: Engine,
  migrated: Migrated,
  lock: Lock,
  work: SharedWork | null = null,
): Omit<Opened, OfServer> {
  let [wroteEvents, doubted] = [() => {}, () => {}];
  const store = createStore(
    tellingOfEvents(
      tellingOfDoubt(engine, () => doubted()),
      () => wroteEvents(),
    ),
  );
  return {
    store,
    migrated,
    work,
    onEvents: (call) => {
      wroteEvents = call;
    },
    onDoubt: (call) => {
      doubted = call;
    },
    close: async () => {
      try {
        await work?.close();
        await store.close();
      } finally {
        await lock.release();
      }
    },
  };
}

/** Without the lock nothing is read and nothing is written, because another process may have it by then. */
function whileHeld(pool: Connections, lock: { readonly isHeld: () => boolean }): Connections {
  const away = () =>
    new AppError(
      'store_unavailable',
      'The database cannot be used right now (its connection is lost, and is being made again).',
    );
  return {
    ...pool,
    connect: async () => {
      if (!lock.isHeld()) throw away();
      const client = await pool.connect();
      if (lock.isHeld()) return client;
      client.release(true);
      throw away();
    },
  };
}

/** A step may take long over large tables, and whoever waits for another process waits as long. */
const migrationMaxMs = 3_600_000;

async function migrateOver(url: string, now: number, pace = sessionPaceMs): Promise<MigratedServer> {
  const { client, drop } = await connect(url, 'cronogram', pace.answer, migrationMaxMs);
  return migratePostgres({ query: (text, values) => client.query(text, [...values]), release: drop }, now).finally(
    drop,
  );
}

function tellingOfDoubt(engine: Engine, doubt: () => void): Engine {
  return {
    ...engine,
    transact: async (script) => {
      try {
        return await engine.transact(script);
      } catch (error) {
        if (isAway(translate(error))) doubt();
        throw error;
      }
    },
  };
}

/** Calls back after each commit that has written events. What another process writes is not told of. */
export function tellingOfEvents(engine: Engine, wrote: () => void): Engine {
  return {
    ...engine,
    transact: async (script) => {
      let hasEvents = false;
      const answer = await engine.transact(() =>
        heard(script(), () => {
          hasEvents = true;
        }),
      );
      if (hasEvents) wrote();
      return answer;
    },
  };
}

function* heard<T>(script: Script<T>, writes: () => void): Script<T> {
  let step = script.next();
  while (step.done !== true) {
    if (step.value.does === 'insert' && step.value.into.table === 'events') writes();
    step = script.next(yield step.value);
  }
  return step.value;
}
