import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
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
  const stem = basename(file, extname(file));
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
        rmSync(partial, { force: true });
        throw error;
      }
      return { file: join(folder, name), bytes: statSync(join(folder, name)).size };
    },
    prune: async (keep) => {
      const old = readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && ours.test(entry.name))
        .map(({ name }) => name)
        .sort()
        .slice(0, -keep);
      for (const name of old) rmSync(join(folder, name), { force: true });
      return old.length;
    },
  };
}

/** 20270131-030500: sorts by time, and every file system takes it. */
function stampOf(now: number): string {
  const text = new Date(now).toISOString().replace(/[-:]|\..*$/g, '');
  return text.replace('T', '-');
}

/** What a process left behind that ended in the middle of a copy. */
function removePartials(folder: string, ours: RegExp): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.partial') && ours.test(name.slice(0, -'.partial'.length))) rmSync(join(folder, name));
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
