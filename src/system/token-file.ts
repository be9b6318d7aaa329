import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { newToken } from './ids.ts';

/** The token of the API, made at the first start and kept in a file that only its owner can read. */
export function tokenFrom(file: string): string {
  try {
    const token = readFileSync(file, 'utf8').trim();
    chmodSync(file, 0o600);
    if (token !== '') return token;
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
  }
  const token = newToken();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}
