import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import type { Ask, Engine, Script, Tuple } from './engine.ts';
import { sqliteTables } from './tables/sqlite.ts';

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

export function sqliteEngine(connection: Connection): Engine {
  const statements = new Map<string, Database.Statement<unknown[]>>();
  const prepare = (text: string) => {
    const known = statements.get(text);
    if (known) return known;
    const made = connection.prepare<unknown[]>(sqliteText(text));
    statements.set(text, made);
    return made;
  };
  const answer = (ask: Ask): unknown => {
    const statement = prepare(ask.text);
    if (ask.does === 'each') return ask.tuples.map((tuple: Tuple) => statement.run(tuple).changes > 0);
    if (statement.reader) return statement.all(ask.values);
    statement.run(ask.values);
    return [];
  };
  // A nested call would join the outer transaction as a savepoint; scripts never nest, so every call commits by itself.
  const transaction = connection.transaction((run: () => unknown) => run());
  return {
    dialect: 'sqlite',
    tables: sqliteTables,
    reader: drizzle(connection),
    // The promise form is the port's; the work is done before the caller gets it, so no other writer can come between.
    transact: async <T>(script: () => Script<T>): Promise<T> =>
      transaction.immediate(() => play(script(), answer)) as T,
    close: async () => {
      connection.pragma('wal_checkpoint(TRUNCATE)');
      connection.close();
    },
  };
}

function play<T>(script: Script<T>, answer: (ask: Ask) => unknown): T {
  let step = script.next();
  while (step.done !== true) step = script.next(answer(step.value) as never);
  return step.value;
}

function sqliteText(text: string): string {
  return text.replace(/\[for update[^\]]*\]/g, '').replace(/\?[ti]\b/g, '?');
}
