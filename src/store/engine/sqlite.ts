import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { Ask, Change, Engine, Insertion, Script, TextAsk } from './engine.ts';
import { createSharedCommits } from './shared-commits.ts';
import { nothing, raw, written as writtenOut, type Shape, type Tuple } from './sql.ts';

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
  const prepare = preparer(connection);
  const checkpointer = checkpointerOf(connection);
  let written = 0;
  const wrote = (count: number) => {
    written += count;
    checkpointer?.wrote(count);
  };
  const shapes = shapePreparer(connection);
  const answer = (ask: Ask): unknown => {
    switch (ask.does) {
      case 'select': {
        const statement = shapes.of(ask.sql.shape);
        const found = statement.all(ask.sql.values);
        if (!statement.readonly) wrote(found.length);
        return found;
      }
      case 'run':
        wrote(shapes.of(ask.sql.shape).run(ask.sql.values).changes);
        return undefined;
      case 'hold':
        return undefined;
      case 'insert':
        wrote(ask.tuples.length);
        return insertInto(shapes, ask.into, ask.tuples);
      case 'update':
        wrote(ask.tuples.length);
        return ask.tuples.map(runsOn(shapes.changing(ask.change)));
      default:
        return answerText(ask);
    }
  };
  const answerText = (ask: TextAsk): unknown => {
    if (ask.does === 'lock') return [];
    if (ask.does === 'each') {
      wrote(ask.tuples.length);
      return isInsert(ask.text) ? insertEach(prepare, ask) : ask.tuples.map(runsOn(prepare(ask.text)));
    }
    const statement = prepare(ask.text);
    if (statement.reader) {
      const found = statement.all(ask.values);
      if (!statement.readonly) wrote(found.length);
      return found;
    }
    const { changes } = statement.run(ask.values);
    wrote(changes);
    return [];
  };
  const playOne = <T>(script: () => Script<T>): T => play(script(), answer);
  // A nested call would join the outer transaction as a savepoint; scripts never nest, so every call commits by itself.
  const transaction = connection.transaction((run: () => unknown) => run());
  const transact = <T>(script: () => Script<T>): T => transaction.immediate(() => playOne(script)) as T;
  const shared =
    turn === undefined ? null : createSharedCommits({ connection, play: playOne, turn, written: () => written });
  return {
    dialect: 'sqlite',
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
        // What the log holds is committed, and the next start reads it: a full disk must not keep a process from its end.
        if (codeOf(error) !== 'SQLITE_FULL') throw error;
      } finally {
        connection.close();
      }
    },
  };
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
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

type Prepare = (text: string) => Database.Statement<unknown[]>;

function preparer(connection: Connection): Prepare {
  const statements = new Map<string, Database.Statement<unknown[]>>();
  return (text) => {
    const known = statements.get(text);
    if (known) return known;
    const made = connection.prepare<unknown[]>(sqliteText(text));
    statements.set(text, made);
    return made;
  };
}

interface Shapes {
  of(shape: Shape): Database.Statement<unknown[]>;
  changing(change: Change): Database.Statement<unknown[]>;
  inserting(into: Insertion, rows: number): Database.Statement<unknown[]>;
}

/** Statements by the shape that they are made of: each is written and planned once. */
function shapePreparer(connection: Connection): Shapes {
  const statements = new Map<object, Database.Statement<unknown[]>>();
  const many = new Map<object, Database.Statement<unknown[]>>();
  const kept = (by: Map<object, Database.Statement<unknown[]>>, key: object, make: () => string) => {
    const known = by.get(key);
    if (known !== undefined) return known;
    const made = connection.prepare<unknown[]>(make());
    by.set(key, made);
    return made;
  };
  return {
    of: (shape) => kept(statements, shape, () => sqliteWritten(shape)),
    changing: (change) => kept(statements, change, () => changeText(change)),
    inserting: (into, rows) => kept(rows === 1 ? statements : many, into, () => insertionText(into, rows)),
  };
}

function sqliteWritten(shape: Shape): string {
  return writtenOut(shape, 'sqlite', () => '?');
}

function changeText({ table, set, where }: Change): string {
  return `update ${table} set ${sqliteWritten(set)} where ${sqliteWritten(where)}`;
}

function insertionText({ table, columns, conflict }: Insertion, rows: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`;
  const names = columns.map(({ name }) => name).join(', ');
  const values = Array.from({ length: rows }, () => row).join(', ');
  return `insert into ${table} (${names}) values ${values} ${sqliteWritten(conflict)}`;
}

/**
 * Inserts many rows by few statements. When a statement took fewer rows than it was given, because some of them stood there
 * already, its rows are taken back and inserted one by one, which tells the ones from the others.
 */
function insertInto(shapes: Shapes, into: Insertion, tuples: readonly Tuple[]): boolean[] {
  const one = runsOn(shapes.inserting(into, 1));
  const answers: boolean[] = [];
  for (let from = 0; from < tuples.length; from += rowsPerInsert) {
    const chunk = tuples.slice(from, from + rowsPerInsert);
    if (chunk.length < rowsPerInsert) answers.push(...chunk.map(one));
    else answers.push(...(chunkTaken(shapes, into, chunk) ? chunk.map(() => true) : chunk.map(one)));
  }
  return answers;
}

const savepoint = { begin: raw('savepoint chunk'), back: raw('rollback to chunk'), end: raw('release chunk') };

function chunkTaken(shapes: Shapes, into: Insertion, chunk: readonly Tuple[]): boolean {
  const insert = shapes.inserting(into, rowsPerInsert);
  // Where nothing may stand there already, a statement takes all of its rows or fails as a whole.
  if (into.conflict === nothing.shape) return insert.run(chunk.flat()).changes === chunk.length;
  shapes.of(savepoint.begin.shape).run();
  const { changes } = insert.run(chunk.flat());
  if (changes < chunk.length) shapes.of(savepoint.back.shape).run();
  shapes.of(savepoint.end.shape).run();
  return changes === chunk.length;
}

function runsOn(statement: Database.Statement<unknown[]>): (tuple: Tuple) => boolean {
  return (tuple) => statement.run(tuple).changes > 0;
}

type Each = Extract<Ask, { does: 'each' }>;

/**
 * Inserts many rows by few statements. When a statement took fewer rows than it was given, because some of them stood there
 * already, its rows are taken back and inserted one by one, which tells the ones from the others.
 */
function insertEach(prepare: Prepare, { text, tuples }: Each): boolean[] {
  const one = runsOn(prepare(text));
  const answers: boolean[] = [];
  for (let from = 0; from < tuples.length; from += rowsPerInsert) {
    const chunk = tuples.slice(from, from + rowsPerInsert);
    if (chunk.length < rowsPerInsert) answers.push(...chunk.map(one));
    else if (insertChunk(prepare, text, chunk)) answers.push(...chunk.map(() => true));
    else answers.push(...chunk.map(one));
  }
  return answers;
}

function insertChunk(prepare: Prepare, text: string, chunk: readonly Tuple[]): boolean {
  // Where nothing may stand there already, a statement takes all of its rows or fails as a whole.
  if (!/\bon conflict\b/i.test(text)) return prepare(manyRows(text)).run(chunk.flat()).changes === chunk.length;
  prepare('savepoint chunk').run();
  const { changes } = prepare(manyRows(text)).run(chunk.flat());
  if (changes < chunk.length) prepare('rollback to chunk').run();
  prepare('release chunk').run();
  return changes === chunk.length;
}

const manyRowTexts = new Map<string, string>();

function manyRows(text: string): string {
  const known = manyRowTexts.get(text);
  if (known !== undefined) return known;
  const made = text.replace(
    /\bvalues\s*(\([^)]*\))/i,
    (_whole, row: string) => `values ${Array.from({ length: rowsPerInsert }, () => row).join(', ')}`,
  );
  manyRowTexts.set(text, made);
  return made;
}

function isInsert(text: string): boolean {
  return /^\s*insert\b/i.test(text);
}

function play<T>(script: Script<T>, answer: (ask: Ask) => unknown): T {
  let step = script.next();
  while (step.done !== true) step = script.next(answer(step.value) as never);
  return step.value;
}

/** SQLite plans a statement with a bare `limit ?` anew each time a number is bound to it; one with `+?` keeps its plan. */
function sqliteText(text: string): string {
  return text
    .replace(/\[for (?:no key )?update[^\]]*\]/g, '')
    .replace(/\?[ti]\b/g, '?')
    .replace(/\blimit \?/g, 'limit +?');
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
 * What is written during a checkpoint stays in the log, and only a log of which nothing is left begins anew; one that grows
 * on and on would be worked off by whoever writes next, all at once. So the thread looks again until nothing was added
 * since its last look, which is short work, and gives up while somebody writes without a pause.
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
