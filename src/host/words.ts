import { relative } from 'node:path';
import { measureFor, wrapped, type Terminal } from '../cli/layout.ts';
import { iso } from '../domain/schedule/time/calendar.ts';

/** Wider lines are hard to read, also where there is room for them. */
const widthMax = 100;

/** Broken between words, the later lines indented. */
export async function hanging(text: string, indent: number, { columns }: Pick<Terminal, 'columns'>): Promise<string> {
  const width = Math.max(20, Math.min(columns, widthMax) - indent);
  return wrapped(text, width, await measureFor([text])).join(`\n${' '.repeat(indent)}`);
}

/** The path as a person in that folder would type it. */
export function typedPath(path: string, folder: string): string {
  const short = relative(folder, path);
  const typed = short === '' || short.startsWith('..') ? path : short;
  return /^[\p{L}\p{N}_./:@%+,~-]*$/u.test(typed) ? typed : `'${typed.replaceAll("'", String.raw`'\''`)}'`;
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

export function sizeOf(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}

/** To the second, and with its zone, so that nothing has to be guessed when a copy is restored. */
export function instantText(instant: number): string {
  return iso(instant)
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}
