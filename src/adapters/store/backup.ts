import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Backups } from '../../app/ports.ts';
import { AppError } from '../../domain/errors.ts';

/**
 * Copies of a SQLite file, in a folder beside it. The copy is made, checked and brought to the disk in a thread of its own,
 * out of one state of the database, while everybody else goes on writing. Only a whole copy ever bears the name of one.
 */
export function fileBackups(file: string): Backups {
  const folder = join(dirname(file), 'backups');
  // The whole name: app.db and app.sqlite may stand in one folder, and so do their copies.
  const stem = basename(file);
  let made: string | null = null;
  // Nobody else's file may ever match, because what matches is removed when it is old.
  const ours = new RegExp(`^${stem.replace(/[^\w-]/g, '\\$&')}-\\d{8}-\\d{6}\\.db$`);
  return {
    make: async (now) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const name = `${stem}-${stampOf(now)}.db`;
      const partial = join(folder, `${name}.partial`);
      removePartials(folder, ours);
      requireRoom(file, folder);
      // Made beforehand, so that what is copied into it is never readable by others.
      closeSync(openSync(partial, 'w', 0o600));
      try {
        await inThread({ file, partial, target: join(folder, name), folder });
      } catch (error) {
        for (const rest of besides) rmSync(`${partial}${rest}`, { force: true });
        throw error;
      }
      made = name;
      return { file: join(folder, name), bytes: statSync(join(folder, name)).size };
    },
    prune: async (keep) => {
      const copies = readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && ours.test(entry.name))
        .map(({ name }) => ({ name, at: statSync(join(folder, name)).mtimeMs }));
      const old = byAge(copies, made).slice(keep);
      for (const { name } of old) rmSync(join(folder, name), { force: true });
      return old.length;
    },
  };
}

/** 20270131-030500: sorts by time, and every file system takes it. */
function stampOf(now: number): string {
  const text = new Date(now).toISOString().replace(/[-:]|\..*$/g, '');
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

/** What SQLite writes beside a file while it works on it. */
const besides = ['', '-journal', '-wal', '-shm'];

/** What a process left behind that ended in the middle of a copy. */
function removePartials(folder: string, ours: RegExp): void {
  for (const name of readdirSync(folder)) {
    const rest = besides.find((ending) => name.endsWith(`.partial${ending}`));
    if (rest !== undefined && ours.test(name.slice(0, -`.partial${rest}`.length))) rmSync(join(folder, name));
  }
}

/** Room that is left to the product when the copy is made; a backup must never be what fills the disk. */
const sparedBytes = 64 * 1024 * 1024;

function requireRoom(file: string, folder: string): void {
  const size = statSync(file).size;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= size + sparedBytes) return;
  const [need, have] = [size + sparedBytes, bavail * bsize].map((bytes) => Math.round(bytes / 1_048_576));
  throw new AppError(
    'store_unavailable',
    `A backup needs ${need} MB of free space in ${folder}; there are ${have} MB.`,
  );
}

interface Copy {
  readonly file: string;
  readonly partial: string;
  readonly target: string;
  readonly folder: string;
}

/** A text, for the same reason as the one of the checkpointer: a file has another name in the sources than when built. */
const thread = `
  const { closeSync, fsyncSync, openSync, renameSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  const { driver, file, partial, target, folder } = workerData;
  const flush = (path) => {
    const handle = openSync(path, 'r');
    fsyncSync(handle);
    closeSync(handle);
  };
  const make = (Database) => {
    const source = new Database(file, { readonly: true, fileMustExist: true });
    source.prepare('vacuum into ?').run(partial);
    source.close();
    const copy = new Database(partial, { readonly: true, fileMustExist: true });
    const verdict = copy.pragma('quick_check', { simple: true });
    copy.close();
    if (verdict !== 'ok') throw new Error('the copy is damaged: ' + verdict);
    flush(partial);
    renameSync(partial, target);
    flush(folder);
  };
  try {
    make(require(driver));
    parentPort.postMessage('');
  } catch (error) {
    // What the driver throws loses its words on the way between two threads.
    parentPort.postMessage(String(error && error.message) || 'unknown');
  }
`;

function inThread(copy: Copy): Promise<void> {
  return new Promise((resolve, reject) => {
    const driver = fileURLToPath(import.meta.resolve('better-sqlite3'));
    const worker = new Worker(thread, { eval: true, workerData: { ...copy, driver }, execArgv: [] });
    worker.once('message', (failure: string) => (failure === '' ? resolve() : reject(new Error(failure))));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread of the backup ended with ${code}`)));
    // A process that stops does not wait for it; half a copy is removed by the next one.
    worker.unref();
  });
}
