import { createHash, hash, randomBytes, randomFillSync, randomInt, timingSafeEqual } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Digest, Ids, Log, Notepad } from '../app/ports/outside.ts';
import type { TokenCraft } from '../app/use-cases/tokens.ts';
import { AppError, errorText } from '../domain/errors.ts';

const poolSize = 4096;
const hex = Array.from({ length: 256 }, (_value, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Version 7 UUIDs: the time in front, then a counter that keeps ids of one millisecond in order, then chance. A clock that
 * goes back does not make them go back.
 */
export function createIds(now: () => number): Ids {
  const pool = Buffer.alloc(poolSize);
  let used = poolSize;
  let lastMs = 0;
  let counter = 0;
  /** Where the next bytes of chance begin; asking the system for each few of them would cost more than all else here. */
  const take = (bytes: number): number => {
    if (used + bytes > poolSize) {
      randomFillSync(pool);
      used = 0;
    }
    used += bytes;
    return used - bytes;
  };
  const byte = (): number => pool[take(1)] ?? 0;
  const tick = () => {
    const ms = now();
    if (ms > lastMs) {
      lastMs = ms;
      counter = byte() & 0x7f;
      return;
    }
    counter += 1;
    if (counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
  };
  return {
    next: () => {
      tick();
      const time = lastMs.toString(16).padStart(12, '0');
      const order = (0x7000 | counter).toString(16);
      let tail = hex[0x80 | (byte() & 0x3f)] ?? '';
      for (let index = 0; index < 7; index += 1) tail += hex[byte()] ?? '';
      return `${time.slice(0, 8)}-${time.slice(8)}-${order}-${tail.slice(0, 4)}-${tail.slice(4)}`;
    },
    chance: () => pool.readUIntBE(take(6), 6) / 2 ** 48,
  };
}

export const sha256: Digest = {
  of: (text) => hash('sha256', text, 'base64url'),
  ofBytes: () => {
    const made = createHash('sha256');
    return { add: (bytes) => void made.update(bytes), hex: () => made.digest('hex') };
  },
};

/** A token for the API: 256 random bits. */
function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Letters and digits that are read out without a doubt; a prefix is found by them and guards nothing. */
const prefixLetters = 'abcdefghjkmnpqrstuvwxyz23456789';

export const tokenCraft: TokenCraft = {
  make: () => {
    const prefix = Array.from({ length: 8 }, () => prefixLetters[randomInt(prefixLetters.length)]).join('');
    return { prefix, text: `cgm_${prefix}_${newToken()}` };
  },
  isSame: (one, other) => {
    const [a, b] = [Buffer.from(one), Buffer.from(other)];
    return a.length === b.length && timingSafeEqual(a, b);
  },
};

/** A code that a person copies once: 128 random bits. */
export function newCode(): string {
  return randomBytes(16).toString('base64url');
}

/** The token of the API, made at the first start and kept in a file that only its owner can read. */
export function tokenFrom(file: string): string {
  try {
    const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    if (kept !== '') {
      chmodSync(file, 0o600);
      return kept;
    }
    const token = newToken();
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    return token;
  } catch (error) {
    const words = `The token of the API cannot be kept in ${file} (${(error as { code?: string }).code ?? 'unknown'}).`;
    const advice = 'Give the user of this process the right to read and write there, or set API_TOKEN.';
    throw new AppError('internal', `${words} ${advice}`, { cause: error });
  }
}

/** Room for whatever is noted: it is taken at the start, because a disk that is full gives none. */
const notepadBytes = 16_384;

/**
 * A small file that is written over in its place, so that it can be written while the disk is full. Where no file can be made,
 * notes stay in memory.
 */
export function openNotepad(file: string, log: Pick<Log, 'warn'>): Notepad {
  let text = textIn(file);
  let isTold = false;
  const put = (): void => {
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, text.padEnd(notepadBytes), { flag: existsSync(file) ? 'r+' : 'w', mode: 0o600 });
    } catch (error) {
      if (!isTold) log.warn('notepad_not_written', { file, error: errorText(error) });
      isTold = true;
    }
  };
  put();
  return {
    read: () => text || null,
    write: (next) => {
      if (next === text) return;
      text = next;
      put();
    },
  };
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
