import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { AppError, errorText } from '../../domain/errors.ts';
import { stampOf } from './backup.ts';

/**
 * The file under an open database. An open file goes on being written when its name is deleted or given to another file, and
 * is gone with the process; so it is looked for by its name, and saved out of the open handle.
 */
export interface FileWatch {
  /** Refuses when the file is not there any more, or is damaged. */
  require(): Promise<void>;
  /** Keeps what a check of all pages has told; null when they are well. */
  noteDamage(words: string | null): void;
  /** To be called before the database is closed: saves what has come since. */
  close(): Promise<void>;
}

export function watchFile(file: string, connection: Database.Database, openedAt: number): FileWatch {
  const opened = identityOf(file);
  const copy = `${file}.saved-${stampOf(openedAt)}`;
  let damage: string | null = null;
  let saving: Promise<string> | null = null;

  const save = async (): Promise<string> => {
    try {
      mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
      rmSync(copy, { force: true });
      await connection.backup(copy);
      chmodSync(copy, 0o600);
      return `All of it is saved as ${copy}, and once more when the server stops. Stop it, then run: cronogram restore ${copy}`;
    } catch (error) {
      saving = null;
      return `It could not be saved as ${copy} (${errorText(error)}); make room there, and leave the server running until it is.`;
    }
  };
  const isGone = () => identityOf(file) !== opened;
  return {
    require: async () => {
      if (isGone()) {
        const told = await (saving ??= save());
        throw new AppError('store_unavailable', `The database file was deleted or replaced under the server. ${told}`);
      }
      if (damage !== null) throw new AppError('store_unavailable', damage);
    },
    noteDamage: (words) => {
      damage = words;
    },
    close: async () => {
      if (isGone()) await save();
    },
  };
}

function identityOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? 'gone' : `${stat.dev}:${stat.ino}`;
}
