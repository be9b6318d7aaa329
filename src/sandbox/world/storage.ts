import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../../domain/errors.ts';
import type { FileShown } from './world.ts';

export interface NewFile extends FileShown {
  readonly id: string;
}

export interface Storage {
  /** The rows have the fields that this version reads. */
  isCurrent(): boolean;
  /** Every row, the oldest first. */
  load(each: (kind: string, row: unknown) => void): void;
  /** All or nothing. */
  save(changes: readonly RowChange[], files: readonly NewFile[]): void;
  file(id: string): FileShown | null;
  /** Leaves nothing on the disk of what was deleted or replaced. */
  forget(): void;
  /** Forgets everything, and begins a file of this version. */
  wipe(): void;
  close(): void;
}

/** Bytes of all files together; the oldest give way. A sandbox is no archive. */
const fileBytesMax = 512 * 1024 * 1024;

/** Raised when a row gets a field that rows of earlier versions lack. */
const layout = 2;

const tables = `
  create table if not exists rows (kind text not null, key text not null, body text not null, unique (kind, key));
  create table if not exists files (id text primary key, name text not null, mime text not null, bytes blob not null);
`;

interface FileRecord {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

export function openStorage(file: string): Storage {
  const connection = openAlone(file);
  // A world of play may lose its last moments in a power cut, but is never torn.
  connection.pragma('synchronous = NORMAL');
  connection.exec(tables);
  const put = connection.prepare(
    'insert into rows (kind, key, body) values (?, ?, ?) on conflict (kind, key) do update set body = excluded.body',
  );
  const remove = connection.prepare('delete from rows where kind = ? and key = ?');
  const addFile = connection.prepare('insert into files (id, name, mime, bytes) values (?, ?, ?, ?)');
  const getFile = connection.prepare<[string], FileRecord>('select name, mime, bytes from files where id = ?');
  const rows = connection.prepare<[], { kind: string; body: string }>('select kind, body from rows order by rowid');
  const dropFiles = connection.prepare(`delete from files where rowid in (
    select rowid from (select rowid, sum(length(bytes)) over (order by rowid desc) as total from files)
    where total > ?)`);
  const save = connection.transaction((changes: readonly RowChange[], files: readonly NewFile[]) => {
    for (const { kind, key, after } of lastOfEach(changes)) {
      if (after === null) remove.run(kind, key);
      else put.run(kind, key, JSON.stringify(after));
    }
    for (const { id, name, mimeType, bytes } of files) addFile.run(id, name, mimeType, bytes);
    if (files.length > 0) dropFiles.run(fileBytesMax);
  });
  return {
    isCurrent: () => connection.pragma('user_version', { simple: true }) === layout,
    load: (each) => {
      for (const { kind, body } of rows.iterate()) each(kind, JSON.parse(body));
    },
    save: (changes, files) => save.immediate(changes, files),
    file: (id) => {
      const found = getFile.get(id);
      return found === undefined ? null : { name: found.name, mimeType: found.mime, bytes: found.bytes };
    },
    forget: () => void connection.pragma('wal_checkpoint(TRUNCATE)'),
    wipe: () => connection.exec(`delete from rows; delete from files; pragma user_version = ${layout};`),
    close: () => connection.close(),
  };
}

/** The world lives in the memory of one process, so a second one must not write to its file. */
function openAlone(file: string): Database.Database {
  let connection: Database.Database | null = null;
  try {
    // The database of the tasks may be elsewhere, and then nobody has made the folder.
    if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    connection = new Database(file, { timeout: 0 });
    if (!connection.memory) chmodSync(file, 0o600);
    connection.pragma('locking_mode = EXCLUSIVE');
    connection.pragma('journal_mode = WAL');
    connection.pragma('secure_delete = ON');
    return connection;
  } catch (error) {
    connection?.close();
    throw unusable(file, error);
  }
}

function unusable(file: string, error: unknown): unknown {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return error;
  const words =
    code === 'SQLITE_BUSY'
      ? 'is in use: its sandbox runs in another process. Stop that one first.'
      : `cannot be used (${code}). Give the user of this process the right to write to its folder; if it is damaged, remove it: only chats of the sandbox are in it.`;
  return new AppError('store_unavailable', `${file} ${words}`, { cause: error });
}

/** A row that changed several times is written once. */
function lastOfEach(changes: readonly RowChange[]): Iterable<RowChange> {
  const last = new Map<string, RowChange>();
  for (const change of changes) last.set(`${change.kind} ${change.key}`, change);
  return last.values();
}

/** One change of one row; `after` is null when it was removed. */
export interface RowChange {
  readonly kind: string;
  readonly key: string;
  readonly after: object | null;
}

/** Rows of one kind in memory, in the order in which they came. Every change is noted, so that it can be written. */
export class Table<Row extends object> {
  readonly kind: string;
  readonly #keyOf: (row: Row) => string;
  readonly #note: (change: RowChange) => void;
  readonly #rows = new Map<string, Row>();

  constructor(kind: string, keyOf: (row: Row) => string, note: (change: RowChange) => void) {
    this.kind = kind;
    this.#keyOf = keyOf;
    this.#note = note;
  }

  get(key: string | number): Row | undefined {
    return this.#rows.get(String(key));
  }

  /** A copy, which stays as it is while rows change. */
  all(): Row[] {
    return [...this.#rows.values()];
  }

  isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  put(row: Row): Row {
    const key = this.#keyOf(row);
    this.#rows.set(key, row);
    this.#note({ kind: this.kind, key, after: row });
    return row;
  }

  remove(key: string | number): void {
    if (this.#rows.delete(String(key))) this.#note({ kind: this.kind, key: String(key), after: null });
  }

  /** The oldest rows give way, so that there are at most `most`. */
  keep(most: number): void {
    for (const key of this.#rows.keys()) {
      if (this.#rows.size <= most) return;
      this.remove(key);
    }
  }

  /** Rows of the file were written by this class alone, from rows of the same type. */
  load(row: unknown): void {
    const known = row as Row;
    this.#rows.set(this.#keyOf(known), known);
  }

  clear(): void {
    this.#rows.clear();
  }
}
