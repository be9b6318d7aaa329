import { chmodSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
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
  /** Keeps what a check of all pages has told; null when they are well. */
  noteDamage(words: string | null): void;
  /** To be called before the database is closed: saves what has come since, and throws when it cannot. */
  close(): Promise<void>;
}

const files = ['', '-wal', '-shm'] as const;

export function watchFile(file: string, connection: Database.Database, openedAt: number): FileWatch {
  const opened = files.map((rest) => identityOf(`${file}${rest}`));
  const copy = `${file}.saved-${stampOf(openedAt)}`;
  let size = sizeOf(file);
  let isCut = false;
  let damage: string | null = null;
  let saving: Promise<string> | null = null;

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
    const what = isCut ? 'What can still be read of it' : 'All of it until now';
    return `${what} is saved as ${copy}, and once more when the server stops. Stop it, then run: cronogram restore ${copy}`;
  };
  /** Nothing ever shortens the file of an open database but somebody else. */
  const lost = (): string | null => {
    const gone = files.find((rest, index) => identityOf(`${file}${rest}`) !== opened[index]);
    if (gone !== undefined) return `The database file ${file}${gone} was deleted or replaced under the server.`;
    const now = sizeOf(file);
    isCut ||= now < size;
    size = now;
    return isCut ? `The database file ${file} was cut short under the server.` : null;
  };
  return {
    require: async () => {
      const words = lost();
      if (words === null) saving = null;
      else {
        const told = await (saving ??= save()).catch(errorText);
        throw new AppError('store_unavailable', `${words} ${told}`);
      }
      if (damage !== null) throw new AppError('store_unavailable', damage);
    },
    noteDamage: (words) => {
      damage = words;
    },
    close: async () => {
      if (lost() !== null) await save();
    },
  };
}

function identityOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? 'gone' : `${stat.dev}:${stat.ino}`;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
