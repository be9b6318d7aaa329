import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { KeyRing } from '../app/ports/secrets.ts';
import { AppError, errorText, faultCodeOf } from '../domain/errors.ts';
import { keyBytes } from '../domain/secrets/secret.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** Enough to tell keys apart, and nothing from which a key could be found. */
const keyIdLength = 16;

export interface VaultSource {
  /** Where a key of our own is kept; null where all keys are given. */
  readonly file: string | null;
  /** SECRETS_KEY, and behind it those that it replaces. */
  readonly given: readonly Buffer[];
  /** Keys of our own end with the process, and so does what they seal. */
  readonly isPassing?: boolean;
}

/** For a database that is a file, in memory, or (null) a server that has no folder. */
export function sourceFor(database: string | null, ...keys: readonly (Buffer | undefined)[]): VaultSource {
  const given = keys.filter((key) => key !== undefined);
  if (database === null) return { file: null, given };
  // What is sealed there ends with the process, and so does its key.
  if (database === ':memory:') return { file: null, given, isPassing: true };
  return { file: join(dirname(database), 'secrets-key'), given };
}

interface Key {
  readonly id: string;
  readonly bytes: Buffer;
}

/**
 * AES-256-GCM under the first key of the ring. A key of our own stands in a file, one line for each key, the newest first; it
 * is made when something is sealed for the first time, and a file that is there is only ever written as a whole.
 */
export function openVault({ file, given, isPassing = false }: VaultSource): KeyRing {
  const named = given.map(keyOf);
  let own = file === null ? [] : keysIn(file);
  let mayMakeFirst = false;
  const all = () => [...named, ...own];
  const keep = (keys: readonly Key[]) => {
    if (file !== null) writeKeys(file, keys);
    own = [...keys];
  };
  /** A file may have been put there since, such as that of a copy. */
  const lookAgain = () => {
    if (file !== null) own = keysIn(file);
  };
  const first = (): Key => {
    if (all().length === 0) lookAgain();
    if (all().length === 0 && (file !== null || isPassing) && mayMakeFirst) keep([newKey()]);
    const [key] = all();
    if (key === undefined) throw unavailable(lostWords(file));
    return key;
  };
  return {
    ids: () => all().map(({ id }) => id),
    allowFirst: () => {
      mayMakeFirst = true;
    },
    seal: (rowId, plain) => {
      const { id, bytes } = first();
      return { keyId: id, box: sealed(bytes, rowId, plain) };
    },
    open: (rowId, { keyId, box }) => {
      const known = () => all().find(({ id }) => id === keyId);
      if (known() === undefined) lookAgain();
      const key = known();
      if (key === undefined) throw unavailable(all().length === 0 ? lostWords(file) : otherKeyWords(keyId, file));
      return opened(key.bytes, rowId, box);
    },
    renew: () => {
      if (named.length === 0 && own.length === 1) keep([newKey(), ...own]);
    },
    forgetOthers: () => {
      if (named.length === 0 && own.length > 1) keep(own.slice(0, 1));
    },
  };
}

function sealed(key: Buffer, rowId: string, plain: string): string {
  const nonce = randomBytes(nonceBytes);
  const made = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(rowId));
  const text = Buffer.concat([made.update(plain, 'utf8'), made.final()]);
  return Buffer.concat([nonce, text, made.getAuthTag()]).toString('base64');
}

function opened(key: Buffer, rowId: string, box: string): string {
  const bytes = Buffer.from(box, 'base64');
  try {
    const made = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(rowId))
      .setAuthTag(bytes.subarray(-tagBytes));
    return Buffer.concat([made.update(bytes.subarray(nonceBytes, -tagBytes)), made.final()]).toString();
  } catch (error) {
    throw unavailable(
      'What was sealed here does not open: its row was changed or damaged. Set the secret again.',
      error,
    );
  }
}

function newKey(): Key {
  return keyOf(randomBytes(32));
}

function keyOf(bytes: Buffer): Key {
  return { bytes, id: hash('sha256', Buffer.concat([Buffer.from('key of secrets: '), bytes])).slice(0, keyIdLength) };
}

/** Ids of the keys that are there, that of the first one first. Nothing is changed, not even a file that others can read. */
export function keyIdsOf({ file, given }: VaultSource): readonly string[] {
  const own = file === null || !existsSync(file) ? [] : readKeys(file);
  return [...given.map(keyOf), ...own].map(({ id }) => id);
}

function keysIn(file: string): Key[] {
  if (!existsSync(file)) return [];
  try {
    chmodSync(file, 0o600);
  } catch (error) {
    throw unread(file, error);
  }
  return readKeys(file);
}

function unread(file: string, error: unknown): AppError {
  return unavailable(`The key of the secrets cannot be read from ${file} (${faultCodeOf(error)}).`, error);
}

function readKeys(file: string): Key[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unread(file, error);
  }
  return text
    .split(/\s+/)
    .filter((line) => line !== '')
    .map((line) => {
      const bytes = keyBytes(line);
      if (bytes !== null) return keyOf(bytes);
      throw unavailable(
        `${file} holds something that is no key. Put back the file that was made here; it is not overwritten.`,
      );
    });
}

/** The new file takes the place of the old one as a whole, when the disk has it: a kill leaves one of the two. */
function writeKeys(file: string, keys: readonly Key[]): void {
  const beside = `${file}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const handle = openSync(beside, 'w', 0o600);
    try {
      writeSync(handle, keys.map(({ bytes }) => `${bytes.toString('hex')}\n`).join(''));
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(beside, file);
    syncFolder(dirname(file));
  } catch (error) {
    throw unavailable(`The key of the secrets cannot be kept in ${file} (${errorText(error)}).`, error);
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function lostWords(file: string | null): string {
  return file === null
    ? 'The key of the secrets is missing. Set SECRETS_KEY to the key with which they were sealed.'
    : `The key of the secrets is missing. Put ${file} back, or set SECRETS_KEY to its first line; if it is lost, delete the secrets and set them again.`;
}

function otherKeyWords(keyId: string, file: string | null): string {
  const where = file === null ? 'SECRETS_KEY' : `SECRETS_KEY or ${file}`;
  return `This was sealed with another key (${keyId}) than ${where} holds. Put that key back, or set the secret again.`;
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('secrets_unavailable', message, { cause });
}
