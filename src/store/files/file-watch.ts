import { chmodSync, closeSync, mkdirSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import type { Timer } from '../../app/ports/outside.ts';
import { AppError, errorText } from '../../domain/errors.ts';
import { stampOf } from './backup.ts';

/**
 * The files of an open database: itself, and the log and its index beside it. An open file goes on being written when its name
 * is deleted or given to another file, and is gone with the process; so each is looked for by its name, and all that was
 * committed is saved out of the open handle. Without its log a database is the one of the last checkpoint.
 */
export interface FileWatch {
  /** Refuses when a file is not there any more, or is damaged. */
  require(): Promise<void>;
  /** Refuses while a file is lost, which it looks for once a second at most: what is written then is gone with the process. */
  refuse(): void;
  /** Keeps what a check of all pages has told; null when they are well. */
  noteDamage(words: string | null): void;
  /** To be called before the database is closed: saves what has come since, and throws when it cannot. */
  close(): Promise<void>;
  /** To be called when it is closed. */
  release(): void;
}

const files = ['', '-wal', '-shm'] as const;

interface Watching {
  readonly openedAt: number;
  readonly timer: Pick<Timer, 'after'>;
}

export function watchFile(file: string, connection: Database.Database, { openedAt, timer }: Watching): FileWatch {
  const copy = `${file}.saved-${stampOf(openedAt)}`;
  const losses = watchLosses(file, connection);
  let damage: string | null = null;
  let saving: Promise<string> | null = null;
  /** Why nothing is written, while a file is lost. */
  let refusal: string | null = null;
  /** Set while the last look is fresh: calls off the wait for its end. */
  let callOff: (() => void) | null = null;

  const save = async (): Promise<string> => {
    const partial = `${copy}.partial`;
    try {
      mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
      rmSync(partial, { force: true });
      await connection.backup(partial);
      chmodSync(partial, 0o600);
      // An earlier copy stays until this one is whole.
      renameSync(partial, copy);
    } catch (error) {
      saving = null;
      rmSync(partial, { force: true });
      const words = `It could not be saved as ${copy} (${errorText(error)}); make room there, and leave the server running until it is.`;
      throw new AppError('store_unavailable', words, { cause: error });
    }
    const what = losses.isWhole() ? 'All of it until now' : 'What can still be read of it';
    return `${what} is saved as ${copy}, and once more when the server stops. Stop it, then run: cronogram restore ${copy}`;
  };
  const look = (): void => {
    callOff ??= timer.after(lookEveryMs, () => {
      callOff = null;
    });
    const words = losses.look();
    if (words === null) [saving, refusal] = [null, null];
    else {
      refusal ??= `${words} It is being saved beside that.`;
      saving ??= save()
        .catch(errorText)
        .then((told) => (refusal = `${words} ${told}`));
    }
  };
  return {
    require: async () => {
      look();
      if (saving !== null) throw new AppError('store_unavailable', await saving);
      if (damage !== null) throw new AppError('store_unavailable', damage);
    },
    refuse: () => {
      if (callOff === null) look();
      if (refusal !== null) throw new AppError('store_unavailable', refusal);
    },
    noteDamage: (words) => {
      damage = words;
    },
    close: async () => {
      if (losses.look() !== null) await save();
    },
    release: () => {
      callOff?.();
      losses.release();
    },
  };
}

/** Finds out that somebody else did something to the files of an open database. */
function watchLosses(file: string, connection: Database.Database) {
  const opened = files.map((rest) => identityOf(`${file}${rest}`));
  const head = openHead(file, connection);
  let size = sizeOf(file);
  let change: string | null = null;
  return {
    look: (): string | null => {
      const gone = files.find((rest, index) => identityOf(`${file}${rest}`) !== opened[index]);
      if (gone !== undefined) return `The database file ${file}${gone} was deleted or replaced under the server.`;
      const now = sizeOf(file);
      // Nothing ever shortens the file of an open database but somebody else.
      if (now < size) change ??= `The database file ${file} was cut short under the server.`;
      size = now;
      if (head.isAnother()) change ??= `Another database was written over ${file} under the server.`;
      return change;
    },
    /** False once something else stands in the file than what was written there. */
    isWhole: () => change === null,
    release: head.close,
  };
}

/** Three looks at the file system cost some microseconds. */
const lookEveryMs = 1000;

/** Part of the first page that nothing changes while the database is open: from the count of its schemas to the number that a program may give it. */
const mark = { from: 40, bytes: 24 };
const numberAt = 20;
const promptLogBytes = 1024 * 1024;

/**
 * The head of an open file, which counts its openings: a database that is written over it is known by its head, be it an older
 * copy of the same. A copy of this very opening has another count of schemas.
 */
function openHead(file: string, connection: Database.Database) {
  const number = (Number(connection.pragma('user_version', { simple: true })) + 1) % 2 ** 31;
  try {
    connection.pragma(`user_version = ${number}`);
    // A long log is worked off beside everything else.
    if (sizeOf(`${file}-wal`) < promptLogBytes) connection.pragma('wal_checkpoint(PASSIVE)');
  } catch {
    // A disk that is full is told by the first write that somebody waits for.
  }
  // Open for as long as the database is: whoever closes a file lets go of all locks that the process has on it.
  const descriptor = openSync(file, 'r');
  const read = () => {
    const bytes = Buffer.alloc(mark.bytes);
    readSync(descriptor, bytes, 0, mark.bytes, mark.from);
    return bytes;
  };
  /** Null until the number has reached the file, past whoever reads there. */
  let own: Buffer | null = null;
  const isAnother = (): boolean => {
    const now = read();
    if (own === null && now.readUInt32BE(numberAt) === number) own = now;
    return own !== null && !now.equals(own);
  };
  isAnother();
  return { isAnother, close: () => closeSync(descriptor) };
}

function identityOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? 'gone' : `${stat.dev}:${stat.ino}`;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
