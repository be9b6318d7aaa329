import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { faultCodeOf } from '../../domain/errors.ts';
import type { Ask, Change, Engine, Insertion, Script } from './engine.ts';
import { createSharedCommits } from './shared-commits.ts';
import { nothing, raw, written, type Shape, type Tuple, type Value } from './sql.ts';

type Connection = Database.Database;

/** A hint for the page cache in KiB: enough for the hot ends of the indexes of a million tasks. */
const cacheKiB = 65_536;

export function openSqlite(file: string): Connection {
  const connection = new Database(file);
  connection.pragma('journal_mode = WAL');
  // A commit that was told is on the disk: a slot must survive a power cut, and batches make it cheap.
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('busy_timeout = 5000');
  connection.pragma(`cache_size = -${cacheKiB}`);
  // A long statement needs no file of its own, which a process that is out of them could not open.
  connection.pragma('temp_store = MEMORY');
  // The built-in one knows ASCII alone, and people search for words of every language.
  connection.function('lower', { deterministic: true }, (text: unknown) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  );
  return connection;
}

/** Rows that travel in one insert: enough to spare most of the way in and out of the database, few enough to keep the text short. */
const rowsPerInsert = 20;

/**
 * With a `turn`, which resolves when everybody who is ready in this turn of the process has had a chance to ask, transactions
 * share their commits; without it each commits at once.
 */
export function sqliteEngine(connection: Connection, turn?: () => Promise<void>): Engine {
  const checkpointer = checkpointerOf(connection);
  let rowsWritten = 0;
  const wrote = (count: number) => {
    rowsWritten += count;
    checkpointer?.wrote(count);
  };
  const answer = answering(preparer(connection), wrote);
  const playOne = <T>(script: () => Script<T>): T => play(script(), answer);
  // A nested call would join the outer transaction as a savepoint; scripts never nest, so every call commits by itself.
  const transaction = connection.transaction((run: () => unknown) => run());
  const transact = <T>(script: () => Script<T>): T => transaction.immediate(() => playOne(script)) as T;
  const shared =
    turn === undefined ? null : createSharedCommits({ connection, play: playOne, turn, written: () => rowsWritten });
  return {
    dialect: 'sqlite',
    file: connection.name,
    read: async (script) => playOne(script),
    // The promise form is the port's; the work is done before the caller gets it, so no other writer can come between.
    transact: async (script) => (shared === null ? transact(script) : shared.run(script)),
    transactLightly: async (script) => {
      // The next durable commit brings this one to the disk as well, so the order of commits is kept.
      connection.pragma('synchronous = NORMAL');
      try {
        return transact(script);
      } finally {
        connection.pragma('synchronous = FULL');
      }
    },
    close: async () => {
      shared?.drain();
      await checkpointer?.stop();
      try {
        connection.pragma('wal_checkpoint(TRUNCATE)');
      } catch (error) {
        // The log is committed, and the next start reads it: neither a full disk nor a damaged file keeps a process from its end.
        if (!['SQLITE_FULL', 'SQLITE_CORRUPT'].includes(faultCodeOf(error))) throw error;
      } finally {
        connection.close();
      }
    },
  };
}

/** Pages of the log: with a thread that works it off, the database steps in only when that thread cannot keep up. */
const logPages = { alone: 1000, beside: 16_384 };

function checkpointerOf(connection: Connection): Checkpointer | null {
  if (connection.memory) return null;
  connection.pragma(`wal_autocheckpoint = ${logPages.beside}`);
  return createCheckpointer(connection.name, () => {
    if (connection.open) connection.pragma(`wal_autocheckpoint = ${logPages.alone}`);
  });
}

type Statement = Database.Statement<unknown[]>;

/** Statements by what they are made of: each is written and planned once. */
interface Prepared {
  of(shape: Shape): Statement;
  changing(change: Change): Statement;
  inserting(into: Insertion, rows: number): Statement;
}

function preparer(connection: Connection): Prepared {
  const kept = (by: Map<object, Statement>, key: object, text: () => string) => {
    const statement = by.get(key) ?? connection.prepare<unknown[]>(text());
    by.set(key, statement);
    return statement;
  };
  const [single, many] = [new Map<object, Statement>(), new Map<object, Statement>()];
  return {
    of: (shape) => kept(single, shape, () => textOf(shape)),
    changing: (change) => kept(single, change, () => changeText(change)),
    inserting: (into, rows) => kept(rows === 1 ? single : many, into, () => insertionText(into, rows)),
  };
}

/**
 * The plan of a statement may hang on what is bound to a bare `?`, and the driver takes every value back after a call, so that
 * SQLite would plan most joins anew each time: many times the work of the statement itself. To what is computed it pays no regard.
 */
function textOf(shape: Shape): string {
  return written(shape, 'sqlite', () => '+?');
}

function changeText({ table, set, where }: Change): string {
  return `update ${table} set ${textOf(set)} where ${textOf(where)}`;
}

function insertionText({ table, columns, conflict }: Insertion, rows: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`;
  const names = columns.map(({ name }) => name).join(', ');
  return `insert into ${table} (${names}) values ${Array.from({ length: rows }, () => row).join(', ')} ${textOf(conflict)}`;
}

function answering(prepared: Prepared, wrote: (rows: number) => void): (ask: Ask) => unknown {
  return (ask) => {
    switch (ask.does) {
      case 'rows': {
        const statement = prepared.of(ask.sql.shape);
        if (!statement.reader) {
          wrote(statement.run(ask.sql.values).changes);
          return [];
        }
        const found = statement.all(ask.sql.values);
        if (!statement.readonly) wrote(found.length);
        return found;
      }
      case 'hold':
        return undefined;
      case 'reach':
      case 'confine':
      case 'step':
      case 'offer':
        return null;
      case 'insert':
        wrote(weightOf(ask.into, ask.tuples));
        return insertInto(prepared, ask.into, ask.tuples);
      case 'update':
        wrote(ask.tuples.length);
        return ask.tuples.map(runsOn(prepared.changing(ask.change)));
    }
  };
}

/** Bytes that weigh as much as a row where the log of the database is counted in rows. */
const bytesPerRow = 2048;

function weightOf({ columns }: Insertion, tuples: readonly Tuple[]): number {
  if (!columns.some(({ holds }) => holds === 'bytes')) return tuples.length;
  let bytes = 0;
  for (const tuple of tuples) for (const value of tuple) if (value instanceof Uint8Array) bytes += value.length;
  return tuples.length + Math.floor(bytes / bytesPerRow);
}

function runsOn(statement: Statement): (tuple: Tuple) => boolean {
  return (tuple) => statement.run(tuple).changes > 0;
}

/**
 * Inserts many rows by few statements. When a statement took fewer rows than it was given, because some of them stood there
 * already, its rows are taken back and inserted one by one, which tells the ones from the others.
 */
function insertInto(prepared: Prepared, into: Insertion, tuples: readonly Tuple[]): boolean[] {
  const one = runsOn(prepared.inserting(into, 1));
  const answers: boolean[] = [];
  for (let from = 0; from < tuples.length; from += rowsPerInsert) {
    const chunk = tuples.slice(from, from + rowsPerInsert);
    const isTaken = chunk.length === rowsPerInsert && chunkTaken(prepared, into, chunk);
    answers.push(...(isTaken ? chunk.map(() => true) : chunk.map(one)));
  }
  return answers;
}

const savepoint = { begin: raw('savepoint chunk'), back: raw('rollback to chunk'), end: raw('release chunk') };

function chunkTaken(prepared: Prepared, into: Insertion, chunk: readonly Tuple[]): boolean {
  const insert = prepared.inserting(into, rowsPerInsert);
  // A tenth of what `flat` takes.
  const values = ([] as Value[]).concat(...chunk);
  // Where nothing may stand there already, a statement takes all of its rows or fails as a whole.
  if (into.conflict === nothing.shape) return insert.run(values).changes === chunk.length;
  prepared.of(savepoint.begin.shape).run();
  const { changes } = insert.run(values);
  if (changes < chunk.length) prepared.of(savepoint.back.shape).run();
  prepared.of(savepoint.end.shape).run();
  return changes === chunk.length;
}

function play<T>(script: Script<T>, answer: (ask: Ask) => unknown): T {
  let step = script.next();
  while (step.done !== true) step = script.next(answer(step.value) as never);
  return step.value;
}

/**
 * Moves what was committed from the write-ahead log into the database file, in a thread of its own: the copying and the
 * wait for the disk would otherwise stop everything else of the process for a while, again and again under load. A passive
 * checkpoint never holds up a writer or a reader, and a commit is durable before it, so nothing depends on it in time.
 */
interface Checkpointer {
  /** Counts what was written; now and then the thread is asked to work it off. */
  wrote(rows: number): void;
  stop(): Promise<void>;
}

/** About a thousand pages of the log, which is when the database itself would start to copy. */
const rowsPerCheckpoint = 2000;

/**
 * Writes during a checkpoint stay in the log, and only a log of which nothing is left begins anew; one that grows on and
 * on would be worked off by the next writer, all at once. So the thread looks again until nothing was added since its
 * last look, which is short work, and gives up while somebody writes without a pause.
 */
const chase = { tries: 12, gapMs: 50 };

/**
 * The thread is a text, because a file would have another name in the sources than in what is built of them, and five lines
 * are easier to keep than that.
 */
const thread = `
  const { parentPort, workerData } = require('node:worker_threads');
  const connection = new (require(workerData.driver))(workerData.file);
  const gap = new Int32Array(new SharedArrayBuffer(4));
  parentPort.on('message', () => {
    let before = -1;
    for (let tries = 0; tries < workerData.tries; tries += 1) {
      const [{ log, checkpointed }] = connection.pragma('wal_checkpoint(PASSIVE)');
      if (log === before && log === checkpointed) break;
      before = log;
      Atomics.wait(gap, 0, 0, workerData.gapMs);
    }
    parentPort.postMessage('done');
  });
`;

/** `onFailure` is called once when the thread cannot work; the database must then see to its log by itself. */
export function createCheckpointer(file: string, onFailure: () => void): Checkpointer {
  let worker: Worker | null = null;
  let rows = 0;
  let busy = false;

  let failed = false;

  const fail = () => {
    if (failed) return;
    failed = true;
    onFailure();
  };

  const start = (): Worker | null => {
    try {
      const driver = fileURLToPath(import.meta.resolve('better-sqlite3'));
      const started = new Worker(thread, { eval: true, workerData: { file, driver, ...chase }, execArgv: [] });
      started.on('message', () => {
        busy = false;
      });
      started.once('error', fail);
      started.once('exit', fail);
      // A process that has nothing else to do may end; the log is worked off at the next start.
      started.unref();
      return started;
    } catch {
      // The log is a matter of comfort; a write must not fail for want of a thread.
      fail();
      return null;
    }
  };

  return {
    wrote: (more) => {
      rows += more;
      if (failed || busy || rows < rowsPerCheckpoint) return;
      worker ??= start();
      rows = 0;
      busy = true;
      worker?.postMessage('checkpoint');
    },
    stop: async () => {
      // From here on its end is no failure.
      failed = true;
      await worker?.terminate();
    },
  };
}
