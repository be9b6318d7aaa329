import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../../domain/errors.ts';
import { lockFile, lockNameOf, type Holder } from '../engine/lock.ts';
import { requireRoom, stampOf, giveToOwnerOf } from './backup.ts';
import { inspectFile, looksLikeDatabase, type DatabaseFacts, type Inspection } from './inspection.ts';

/**
 * Puts a copy in the place of a SQLite database, under its lock, so that no server runs or starts meanwhile.
 *
 * staged: the copy lies beside the database, checked, as one file that nobody else can read. folded: what the log of the
 * present database holds is in its file, and the log is gone, because a log that is left would be played into the copy.
 * kept: the present database has a second name, under which it stays. placed: one rename has put the copy in its place.
 * synced: the disk has all of that. Until `placed` the old database is there whole under its name, from then on the new
 * one; a process that is killed in between leaves at most files with other names, and the next try begins anew.
 */
export type RestoreStep = 'staged' | 'folded' | 'kept' | 'placed' | 'synced';

export interface Restoring {
  /** The database. It may be absent. */
  readonly file: string;
  readonly copy: string;
  readonly holder: Holder;
  /** Called after each step. */
  readonly reached?: (step: RestoreStep) => void;
}

export interface RestoreChoice {
  readonly copy: DatabaseFacts;
  readonly present: Inspection;
}

export interface Restored {
  readonly facts: DatabaseFacts;
  /** Where the database of before is; null when there was none. */
  readonly kept: string | null;
}

/** Null when `approve` says no; then nothing was changed. */
export async function restoreDatabase(
  restoring: Restoring,
  approve: (choice: RestoreChoice) => Promise<boolean>,
): Promise<Restored | null> {
  const { copy, holder } = restoring;
  requireOther(restoring.file, copy);
  mkdirSync(dirname(restoring.file), { recursive: true, mode: 0o700 });
  const lockName = lockNameOf(restoring.file);
  const lock = lockFile(lockName, holder);
  // The logs of a database lie beside the file itself, and not beside a link to it.
  const file = existsSync(restoring.file) ? realpathSync(restoring.file) : restoring.file;
  const staged = `${file}.restoring`;
  try {
    giveToOwnerOf(dirname(lockName), lockName);
    const facts = stage(copy, staged);
    restoring.reached?.('staged');
    if (!(await approve({ copy: facts, present: inspectFile(file) }))) return null;
    return { facts, kept: replace({ ...restoring, file }, staged) };
  } finally {
    removeAll(staged);
    await lock.release();
  }
}

const logs = ['-journal', '-wal', '-shm'] as const;

function removeAll(file: string): void {
  for (const rest of ['', ...logs]) rmSync(`${file}${rest}`, { force: true });
}

function requireOther(file: string, copy: string): void {
  if (!existsSync(copy))
    throw new AppError('not_found', `There is no file ${copy}. "restore --list" shows the copies.`);
  // The log of a copy is read like the copy itself, and to open a pipe is to wait for whoever writes into it.
  for (const part of ['', '-journal', '-wal'].map((rest) => `${copy}${rest}`)) {
    if (statSync(part, { throwIfNoEntry: false })?.isFile() === false)
      throw refusal(`${part} is not a regular file. "restore --list" shows the copies.`);
  }
  const isSame = existsSync(file) && realpathSync(file) === realpathSync(copy);
  if (isSame || resolve(file) === resolve(copy))
    throw refusal(`${copy} is the database itself. Name a copy of it; "restore --list" shows them.`);
}

function refusal(message: string, cause?: unknown): AppError {
  return new AppError('store_unavailable', message, { cause });
}

/** The log that lies beside the copy goes in as well; the copy itself is only read. */
function stage(copy: string, staged: string): DatabaseFacts {
  requireRoom(copy, dirname(staged));
  removeAll(staged);
  const before = traceOf(copy);
  for (const rest of ['', '-journal', '-wal'] as const) {
    if (!existsSync(`${copy}${rest}`)) continue;
    closeSync(openSync(`${staged}${rest}`, 'w', 0o600));
    copyFileSync(`${copy}${rest}`, `${staged}${rest}`);
    chmodSync(`${staged}${rest}`, 0o600);
  }
  if (before !== traceOf(copy))
    throw refusal(`${copy} is being written to. Stop what writes to it, or make a copy with "backup".`);
  foldCopy(copy, staged);
  const facts = requireSound(copy, inspectFile(staged));
  giveToOwnerOf(dirname(staged), staged);
  flush(staged);
  return facts;
}

function foldCopy(copy: string, staged: string): void {
  try {
    fold(staged);
  } catch (error) {
    const { code = '', message = String(error) } = error as { code?: string; message?: string };
    if (!code.startsWith('SQLITE_')) throw error;
    throw refusal(`${copy} cannot be restored: ${message}. Choose another copy.`, error);
  }
}

/** Changes with every write. */
function traceOf(copy: string): string {
  const traces = ['', '-journal', '-wal'].map((rest) => statSync(`${copy}${rest}`, { throwIfNoEntry: false }));
  return traces.map((stat) => `${stat?.size ?? '-'}/${stat?.mtimeMs ?? '-'}`).join(' ');
}

function requireSound(copy: string, inspection: Inspection): DatabaseFacts {
  if (inspection.is === 'absent') throw refusal(`${copy} has gone.`);
  if (inspection.is !== 'sound')
    throw refusal(`${copy} cannot be restored: ${inspection.reason}. Choose another copy.`);
  const { newer } = inspection.facts;
  if (newer.length === 0) return inspection.facts;
  throw refusal(
    `${copy} was made by a newer version (it has ${newer.join(', ')}). Install that version, then restore.`,
  );
}

/** How long somebody else who has the database open is waited for. */
const patienceMs = 2000;

/** Brings the log into the file and takes it away. It needs the whole database, so afterwards nobody else has it open. */
function fold(file: string): void {
  const connection = new Database(file, { fileMustExist: true, timeout: patienceMs });
  try {
    const mode = connection.pragma('journal_mode = DELETE', { simple: true });
    if (mode !== 'delete') throw refusal(`The log of ${file} cannot be closed (${String(mode)}).`);
  } finally {
    connection.close();
  }
}

/** Answers where the database of before is. */
function replace({ file, holder, reached }: Restoring, staged: string): string | null {
  const folder = dirname(file);
  const aside = freeName(`${file}.before-restore-${stampOf(holder.since)}`);
  const isThere = existsSync(file);
  const isFolded = isThere && looksLikeDatabase(file) && foldPresent(file);
  reached?.('folded');
  if (isThere) keep(file, aside);
  // Of a database that is too damaged to be opened the log stays with what it belongs to.
  if (!isFolded) for (const rest of logs) setAside(`${file}${rest}`, `${aside}${rest}`);
  flush(folder);
  reached?.('kept');
  renameSync(staged, file);
  reached?.('placed');
  flush(folder);
  requireSound(file, inspectFile(file));
  reached?.('synced');
  return isThere ? aside : null;
}

function freeName(name: string): string {
  let free = name;
  for (let number = 2; existsSync(free); number += 1) free = `${name}-${number}`;
  return free;
}

/** False when the database is so damaged that it cannot be opened. */
function foldPresent(file: string): boolean {
  try {
    fold(file);
    return true;
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (/^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code)) return false;
    if (/^SQLITE_(BUSY|LOCKED)/.test(code))
      throw refusal(`Another program has ${file} open. Close it, then restore again.`, error);
    throw error;
  }
}

/** Gives the database a second name. Where the disk knows no second names, it is copied. */
function keep(file: string, aside: string): void {
  try {
    linkSync(file, aside);
  } catch {
    copyFileSync(file, `${aside}.partial`);
    chmodSync(`${aside}.partial`, 0o600);
    flush(`${aside}.partial`);
    renameSync(`${aside}.partial`, aside);
  }
}

function setAside(file: string, aside: string): void {
  if (existsSync(file)) renameSync(file, aside);
}

function flush(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
