import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  chownSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Backups } from '../../app/ports/outside.ts';
import { AppError, errorText } from '../../domain/errors.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';

/**
 * Copies of a SQLite file, in a folder beside it. The copy is made, checked and brought to the disk in a thread of its own,
 * out of one state of the database, while everybody else goes on writing. Only a whole copy ever bears the name of one.
 */
export function fileBackups(file: string, { isWaitedFor = false }: Pick<Copying, 'isWaitedFor'> = {}): Backups {
  const [folder, ours] = [backupFolder(file), namesOf(file)];
  let made: string | null = null;
  return {
    make: async (now) => {
      makeFolder(folder, file);
      const name = copyName(file, now);
      const tidy = (partial: string) => removePartials(folder, ours, partial);
      const bytes = await copyDatabase({ file, target: join(folder, name), tidy, isWaitedFor });
      made = name;
      return { file: join(folder, name), bytes };
    },
    prune: async (keep) => {
      const old = byAge(copiesIn(folder, ours), made).slice(keep);
      for (const { name } of old) rmSync(join(folder, name), { force: true });
      return old.length;
    },
    check: () =>
      inThread({ does: 'check', file }).then(
        () => null,
        (error: unknown) => errorText(error),
      ),
  };
}

function backupFolder(file: string): string {
  return join(dirname(file), 'backups');
}

function makeFolder(folder: string, file: string): void {
  if (existsSync(folder)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  giveToOwnerOf(dirname(file), folder);
}

export function copyName(file: string, now: number): string {
  return `${basename(file)}-${stampOf(now)}.db`;
}

/**
 * Names of our copies and of no other files, because a file that matches is removed when it is old. The whole name of the
 * database counts: app.db and app.sqlite may stand in one folder, and so do their copies.
 */
function namesOf(file: string): RegExp {
  return new RegExp(`^${basename(file).replace(/[^\w-]/g, '\\$&')}-\\d{8}-\\d{6}\\.db$`);
}

interface Copying {
  readonly file: string;
  /** Where nothing stands yet. */
  readonly target: string;
  /** Called before the copy begins, with what must stay. */
  readonly tidy?: (partial: string) => void;
  /** The process lives at least until the copy is made. A server that stops does not wait for it. */
  readonly isWaitedFor?: boolean;
}

/** Copies a database and proves that the copy can be read; when it fails nothing of it is left. Answers its size. */
export async function copyDatabase({ file, target, tidy, isWaitedFor = false }: Copying): Promise<number> {
  const folder = dirname(target);
  // A server and a person at a terminal may make a copy at the same time.
  const partial = `${target}.${process.pid}.partial`;
  // Made beforehand, so that what is copied into it is never readable by others.
  closeSync(openSync(partial, 'w', 0o600));
  try {
    tidy?.(partial);
    requireRoom(file, folder);
    await inThread({ does: 'copy', file, partial, target, folder }, isWaitedFor);
  } catch (error) {
    for (const rest of besides) rmSync(`${partial}${rest}`, { force: true });
    throw error;
  }
  giveToOwnerOf(folder, target);
  return statSync(target).size;
}

export interface Copy {
  readonly file: string;
  readonly bytes: number;
  /** When it was written to the disk. */
  readonly at: number;
}

/** The copies in the folder beside the database, the newest first. */
export function listCopies(file: string): readonly Copy[] {
  const folder = backupFolder(file);
  if (!existsSync(folder)) return [];
  return byAge(copiesIn(folder, namesOf(file)), null).map(({ name, at }) => {
    const copy = join(folder, name);
    return { file: copy, bytes: statSync(copy).size, at };
  });
}

/** Files that were kept aside beside the database: before an upgrade or a restore, or when its file was lost. The newest first. */
export function keptAside(file: string): readonly Copy[] {
  const [folder, name] = [dirname(file), basename(file)];
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((one) => one.startsWith(`${name}.`) && aside.test(one.slice(name.length + 1)))
    .map((one) => {
      const { size, mtimeMs } = statSync(join(folder, one));
      return { file: join(folder, one), bytes: size, at: mtimeMs };
    })
    .toSorted((a, b) => b.at - a.at);
}

const aside = /^(?:before-\w+\.backup|before-restore-\d{8}-\d{6}(?:-\d+)?|saved-\d{8}-\d{6})$/;

/** The newest file out of which the database could be had again; null when it has none. */
export function newestCopy(file: string): string | null {
  const [newest] = [...listCopies(file), ...keptAside(file)].toSorted((a, b) => b.at - a.at);
  return newest?.file ?? null;
}

function copiesIn(folder: string, ours: RegExp): Kept[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && ours.test(entry.name))
    .map(({ name }) => ({ name, at: statSync(join(folder, name)).mtimeMs }));
}

/** 20270131-030500: sorts by time, and every file system takes it. */
export function stampOf(now: number): string {
  const text = iso(now).replace(/[-:]|\..*$/g, '');
  return text.replace('T', '-');
}

interface Kept {
  readonly name: string;
  /** When the file was written; its name tells only what the clock said. */
  readonly at: number;
}

/**
 * The newest first, and that is the one just made, whatever a clock says. Those that seem to be made after it were made by
 * a clock that was wrong: nobody knows how old they are, so they are the first to go.
 */
function byAge(copies: readonly Kept[], made: string | null): Kept[] {
  const newest = copies.find(({ name }) => name === made)?.at ?? Number.POSITIVE_INFINITY;
  const rank = ({ name, at }: Kept) => (name === made ? 0 : at <= newest ? 1 : 2);
  return copies.toSorted((a, b) => rank(a) - rank(b) || b.at - a.at || (a.name < b.name ? 1 : -1));
}

/** Suffixes of a file and of what SQLite writes beside it. */
const besides = ['', '-journal', '-wal', '-shm'];

/** A copy on which nothing was written for so long is not being made any more. */
const abandonedMs = 3_600_000;

/**
 * Leftovers of a process that ended in the middle of a copy; one that another process is making stays. The disk tells the
 * age by its own clock, so that no wrong one of ours counts.
 */
function removePartials(folder: string, ours: RegExp, partial: string): void {
  const { mtimeMs: now } = statSync(partial);
  for (const name of readdirSync(folder)) {
    const [, copy, pid] = /^(.+?)(?:\.(\d+))?\.partial(?:-journal|-wal|-shm)?$/.exec(name) ?? [];
    if (copy === undefined || !ours.test(copy) || join(folder, name) === partial) continue;
    const at = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? now;
    const isMadeByOther = pid !== undefined && Number(pid) !== process.pid;
    if (!isMadeByOther || now - at > abandonedMs) rmSync(join(folder, name), { force: true });
  }
}

/** Room that is left to the product when the copy is made; a backup must never be what fills the disk. */
const sparedBytes = 64 * 1024 * 1024;

export function requireRoom(file: string, folder: string): void {
  const size = statSync(file).size;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= size + sparedBytes) return;
  const [need, have] = [size + sparedBytes, bavail * bsize].map((bytes) => Math.round(bytes / 1_048_576));
  throw new AppError('store_unavailable', `This needs ${need} MB of free space in ${folder}; there are ${have} MB.`);
}

type Making =
  | {
      readonly does: 'copy';
      readonly file: string;
      readonly partial: string;
      readonly target: string;
      readonly folder: string;
    }
  | { readonly does: 'check'; readonly file: string };

/** A text, for the same reason as the one of the checkpointer: a file has another name in the sources than when built. */
const thread = `
  const { closeSync, fsyncSync, openSync, renameSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  const { does, driver, file, partial, target, folder } = workerData;
  const flush = (path) => {
    const handle = openSync(path, 'r');
    fsyncSync(handle);
    closeSync(handle);
  };
  const check = (Database, path) => {
    const copy = new Database(path, { readonly: true, fileMustExist: true });
    const verdict = copy.pragma('quick_check(1)', { simple: true });
    copy.close();
    if (verdict !== 'ok') throw new Error(verdict);
  };
  const make = (Database) => {
    const source = new Database(file, { readonly: true, fileMustExist: true });
    source.prepare('vacuum into ?').run(partial);
    source.close();
    check(Database, partial);
    flush(partial);
    renameSync(partial, target);
    flush(folder);
  };
  try {
    (does === 'copy' ? make(require(driver)) : check(require(driver), file));
    parentPort.postMessage('');
  } catch (error) {
    // An error of the driver loses its words on the way between two threads, so the words alone are sent.
    parentPort.postMessage(String(error && error.message) || 'unknown');
  }
`;

function inThread(work: Making, isWaitedFor = false): Promise<void> {
  return new Promise((resolve, reject) => {
    const driver = fileURLToPath(import.meta.resolve('better-sqlite3'));
    const worker = new Worker(thread, { eval: true, workerData: { ...work, driver }, execArgv: [] });
    worker.once('message', (failure: string) => (failure === '' ? resolve() : reject(new Error(failure))));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread of the backup ended with ${code}`)));
    // Half a copy is removed by the next one.
    if (!isWaitedFor) worker.unref();
  });
}

/** Files that root makes for another user's server belong to that user, or the server could not use them. */
export function giveToOwnerOf(like: string, ...paths: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(like);
  if (uid === 0) return;
  for (const path of paths) chownSync(path, uid, gid);
}
