import pg from 'pg';
import type { ConnectionsUsed } from '../../app/operations/gauges.ts';
import { lockWaitMaxMs, openTransactionMaxMs } from '../../domain/processes/limits.ts';
import { asCaller, callerRole } from './caller.ts';
import { createSockets } from './connect.ts';
import type { Ask, Change, Client, Engine, Insertion, Script } from './engine.ts';
import { goHome, ownSchema } from './home.ts';
import { connectionLockKey } from './lock.ts';
import { placesIn, written, type Holds, type Sql, type Tuple, type Value } from './sql.ts';

export interface Connections {
  connect(): Promise<Client>;
  /** Absent where there is no pool. */
  used?: () => ConnectionsUsed;
  end(): Promise<void>;
}

/** A database that answers later than this is as good as away, and whoever waits for it must be told. */
const patienceMs = { connection: 5000, query: 30_000 };

/** A connection that a renewal or a chore has used is there for the next one: to open it costs more than to keep it. */
const idleMs = 120_000;

/** A transaction that lost against another is run again; more often than this is not bad luck but a fault. */
const triesMax = 5;

export interface Pool extends Connections {
  /** Cuts all connections, so that nothing waits for a server that is gone, and nothing more is committed over them. */
  drop(): void;
}

const bounded = (until: '' | 'local' = '') =>
  `set ${until} idle_in_transaction_session_timeout = ${openTransactionMaxMs}; set ${until} lock_timeout = ${lockWaitMaxMs}`;
/** The same while the server waits until a process that stands still takes an answer, which it counts as work of its own. */
const boundedAnswers = `set tcp_user_timeout = ${openTransactionMaxMs}`;

export interface PoolWish {
  readonly patience?: typeof patienceMs;
  /** The schema in which the tables stand; null where a connection is lent for one transaction, which names it by itself. */
  readonly home?: string | null;
  /** No other program has it, so that nobody else is ended whose process has got the number of one of ours. */
  readonly name?: string;
  /** Connections at most. */
  readonly max?: number | undefined;
}

export function postgresPool(
  url: string,
  { patience = patienceMs, home = ownSchema, name = `cronogram ${process.pid}`, max = 10 }: PoolWish = {},
): Pool {
  const int8 = 20;
  const types: pg.CustomTypesConfig = {
    // Every integer of ours is a millisecond, a counter or a platform id, and all of them fit a double exactly.
    getTypeParser: (oid: number) =>
      oid === int8 ? Number : (pg.types.getTypeParser(oid) as (text: string) => unknown),
  };
  const sockets = createSockets();
  const backends = createBackends(name);
  const pool = new pg.Pool({
    connectionString: url,
    max,
    types,
    keepAlive: true,
    connectionTimeoutMillis: patience.connection,
    idleTimeoutMillis: idleMs,
    query_timeout: patience.query,
    stream: sockets.stream,
    verify: (client, done) => {
      if (home === null) return done();
      // Not by an option of the connection, which a pooler for sessions would refuse.
      const opening = `${goHome(home)}; ${bounded()}; ${boundedAnswers}; select pg_advisory_lock_shared(${connectionLockKey})`;
      const { words, ended } = backends.opening();
      client.query(`${opening}; ${words}`, (error: Error | undefined) => {
        if (error === undefined) ended();
        done(error);
      });
    },
  });
  // A connection that breaks fails the statement that is under way, and one that nobody uses is not missed.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    backends.met(client);
  });
  pool.on('remove', backends.left);
  return {
    connect: async () => pool.connect(),
    drop: () => {
      backends.cut();
      sockets.drop();
    },
    used: () => ({ inUse: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    end: () => pool.end(),
  };
}

/**
 * Processes of the server that serve a pool. Those of connections that were cut may know nothing of it, and keep rows from everybody, one
 * after the other where they wait for the same row: so the next connection that leads there ends them.
 */
function createBackends(name: string) {
  const serving = new Set<pg.PoolClient>();
  const cutOff = new Set<number>();
  return {
    met: (client: pg.PoolClient): void => void serving.add(client),
    left: (client: pg.PoolClient): void => void serving.delete(client),
    cut: (): void => {
      for (const client of serving) {
        const { processID: pid } = client as pg.PoolClient & { readonly processID: number | null };
        if (pid !== null) cutOff.add(pid);
      }
    },
    /** Words with which a connection begins, and what to call when they have been heard. */
    opening: () => {
      const gone = [...cutOff];
      const called = `set application_name = '${name}'`;
      const ending = `select pg_terminate_backend(pid) from pg_stat_activity
        where pid in (${gone.join()}) and pid <> pg_backend_pid() and application_name = '${name}'`;
      return {
        words: gone.length === 0 ? called : `${called}; ${ending}`,
        ended: () => {
          for (const pid of gone) cutOff.delete(pid);
        },
      };
    },
  };
}

/** How the database stands to the transactions of this process. */
export interface Setting {
  /** Named at the beginning of each one where a connection is lent for one alone; null where the connection knows it. */
  readonly home: string | null;
  /** Whether there is the role for callers. */
  readonly hasCallers: boolean;
}

export function postgresEngine(connections: Connections, setting: Setting = { home: null, hasCallers: true }): Engine {
  return {
    dialect: 'postgres',
    read: (script) => read(connections, () => begin(script(), setting)),
    transact: (script) => transact(connections, () => begin(script(), setting)),
    transactLightly: (script) => transact(connections, () => begin(script(), setting, lightly)),
    close: () => connections.end(),
  };
}

/** The commit is told before it is on the disk. */
const lightly = 'set local synchronous_commit = off';

/** A script at its first statement. */
interface Begun<T> {
  readonly script: Script<T>;
  readonly first: IteratorResult<Ask, T>;
  /** All that its transaction begins with, in one question to the server. */
  readonly words: readonly string[];
  readonly isConfined: boolean;
}

function begin<T>(script: Script<T>, { home, hasCallers }: Setting, ...more: readonly string[]): Begun<T> {
  const first = script.next();
  const words = home === null ? more : [`${goHome(home, 'local')}; ${bounded('local')}`, ...more];
  if (first.done === true || first.value.does !== 'confine') return { script, first, words, isConfined: false };
  const { chats } = first.value;
  const confined = hasCallers ? [...words, asCaller(chats)] : words;
  return { script, first: script.next(null as never), words: confined, isConfined: hasCallers };
}

async function read<T>(connections: Connections, begun: () => Begun<T>): Promise<T> {
  const client = await connections.connect();
  let broken = true;
  try {
    const one = begun();
    // Settings of a transaction hold in one alone; within it, too, each statement sees what is committed by then.
    if (one.words.length > 0) await client.query(['begin', ...one.words].join('; '), []);
    const found = await played(client, one);
    if (one.words.length > 0) await client.query('commit', []);
    broken = false;
    return found;
  } finally {
    // A connection that may still be waiting for an answer is not lent again.
    client.release(broken);
  }
}

async function played<T>(client: Client, { script, first, isConfined }: Begun<T>): Promise<T> {
  let step = first;
  while (step.done !== true) {
    const ask = step.value;
    const answered =
      ask.does === 'step' ? await stepped(client, isConfined ? ask.to : null) : await answer(client, ask);
    step = script.next(answered as never);
  }
  return step.value;
}

async function stepped(client: Client, to: 'server' | 'caller' | null): Promise<void> {
  if (to !== null) await client.query(`set local role ${to === 'server' ? 'none' : callerRole}`, []);
}

async function transact<T>(connections: Connections, begun: () => Begun<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const client = await connections.connect();
    const outcome = await runOnce(client, begun);
    // A connection whose transaction may still be open would lend it to whoever comes next.
    client.release(outcome.broken);
    if ('value' in outcome) return outcome.value;
    if (tries >= triesMax || !isConflict(outcome.error)) throw outcome.error;
  }
}

type Played<T> = { readonly value: T; readonly broken: false } | { readonly error: unknown; readonly broken: boolean };

async function runOnce<T>(client: Client, begun: () => Begun<T>): Promise<Played<T>> {
  try {
    const one = begun();
    await client.query(['begin', ...one.words].join('; '), []);
    const value = await played(client, one);
    await client.query('commit', []);
    return { value, broken: false };
  } catch (error) {
    return { error, broken: !(await rolledBack(client)) };
  }
}

/** Whether the server says that the transaction is over. A rollback that gets no answer proves nothing. */
function rolledBack(client: Client): Promise<boolean> {
  return client.query('rollback', []).then(
    () => true,
    () => false,
  );
}

async function answer(client: Client, ask: Ask): Promise<unknown> {
  switch (ask.does) {
    case 'rows':
    case 'hold':
      return asked(client, ask.sql);
    case 'reach':
    case 'confine':
    case 'step':
    case 'offer':
      return null;
    case 'insert':
      return inserted(client, ask.into, ask.tuples);
    case 'update':
      return changed(client, ask.change, ask.tuples);
  }
}

async function asked(client: Client, { shape, values }: Sql): Promise<unknown[]> {
  const text = kept(shape, () => written(shape, 'postgres', (holds, number) => `$${number}::${types[holds]}`));
  return (await client.query(text, values.map(storable))).rows;
}

const types = { text: 'text', int: 'bigint', bytes: 'bytea' } as const;

const keptTexts = new WeakMap<object, string>();

function kept(key: object, write: () => string): string {
  const text = keptTexts.get(key) ?? write();
  keptTexts.set(key, text);
  return text;
}

/** All tuples travel in one statement, as a table beside the one that is changed. */
async function changed(client: Client, change: Change, tuples: readonly Tuple[]): Promise<boolean[]> {
  const text = kept(change, () => {
    const { table, set, where } = change;
    const places = [...placesIn(set), ...placesIn(where)];
    const sets = written(set, 'postgres', (_holds, number) => `v.c${number}`);
    const first = placesIn(set).length;
    const guard = written(where, 'postgres', (_holds, number) => `v.c${first + number}`);
    return `update ${table} set ${sets} from ${beside(places)} where ${guard} returning v.ord`;
  });
  const { rows } = await client.query(text, columnsOf(tuples));
  const matched = new Set(rows.map((found) => (found as { ord: number }).ord));
  return tuples.map((_tuple, index) => matched.has(index + 1));
}

/** An insert cannot tell which of its source rows it came from, so the first column, the key, tells. */
async function inserted(client: Client, into: Insertion, tuples: readonly Tuple[]): Promise<boolean[]> {
  const text = kept(into, () => {
    const { table, columns, conflict } = into;
    const names = columns.map(({ name }) => name);
    const values = columns.map((_column, index) => `v.c${index + 1}`).join(', ');
    const source = beside(columns.map(({ holds }) => holds));
    const onConflict = written(conflict, 'postgres', () => '');
    return `insert into ${table} (${names.join(', ')}) select ${values} from ${source} ${onConflict} returning ${names[0]} as key`;
  });
  const { rows } = await client.query(text, columnsOf(tuples));
  const made = new Map<Value, number>();
  for (const found of rows) {
    const { key } = found as { key: Value };
    made.set(key, (made.get(key) ?? 0) + 1);
  }
  return tuples.map((tuple) => {
    const left = made.get(tuple[0] ?? null) ?? 0;
    made.set(tuple[0] ?? null, left - 1);
    return left > 0;
  });
}

function beside(places: readonly Holds[]): string {
  const arrays = places.map((holds, index) => `$${index + 1}::${types[holds]}[]`).join(', ');
  const names = places.map((_holds, index) => `c${index + 1}`).join(', ');
  return `unnest(${arrays}) with ordinality as v(${names}, ord)`;
}

/**
 * Serialisation failure and deadlock, a row that was waited for too long, and the unique live run of a task: a row lock is taken after the statement has
 * looked around, so a run that was committed in between is seen only when the script looks again.
 */
function isConflict(error: unknown): boolean {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return conflicts.has(code) || (code === '23505' && constraint === 'runs_exclusive');
}

const conflicts: ReadonlySet<unknown> = new Set(['40001', '40P01', '55P03']);

function columnsOf(tuples: readonly Tuple[]): Value[][] {
  const width = tuples[0]?.length ?? 0;
  return Array.from({ length: width }, (_column, index) => tuples.map((tuple) => storable(tuple[index] ?? null)));
}

/** The one sign that a text of Postgres cannot hold; what an answer from outside contains must not lose a result. */
function storable(value: Value): Value {
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}
