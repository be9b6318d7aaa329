import type { AppError } from '../errors.ts';
import { type Cursor, MENDED_LENGTH_MAX, mendedRefusal } from './cursor.ts';

/** Words with which a when begins, and those that follow an "every" or an "on". Short ones are too near to other words. */
const WEEK = 'monday tuesday wednesday thursday friday saturday sunday weekday weekend'.split(' ');
const DAYS = WEEK.flatMap((day) => [day, `${day}s`]);
const FIRST: readonly string[] = ['every', 'everyday', 'tomorrow', 'today', 'tonight', ...DAYS];
const SECOND: readonly string[] = [...DAYS, ...'morning evening month minute hour second other tomorrow'.split(' ')];
const LEADING: ReadonlySet<string> = new Set(['every', 'each', 'on', 'this', 'next']);

/** Words of their own that stand one letter away from one of those. */
const OTHER_WORDS: ReadonlySet<string> = new Set(['ever', 'sundry', 'toady', 'mother', 'moth', 'mouth', 'others']);

const WORD = /\s*(?<word>[a-z]{4,12})(?![\p{L}\p{N}_'])/uy;

/** So many letters may be wrong; what is longer is still clear with two. */
function slipsMax(word: string): number {
  return word.length >= 8 ? 2 : 1;
}

/** The word itself where it is known, the only one that is near it, or null. */
function nearest(written: string, known: readonly string[]): string | null {
  if (known.includes(written)) return written;
  if (OTHER_WORDS.has(written)) return null;
  const near = known.filter(
    (word) =>
      word.startsWith(written[0] ?? '') &&
      Math.abs(word.length - written.length) <= slipsMax(word) &&
      editDistance(written, word) <= slipsMax(word),
  );
  const [first] = near.sort((a, b) => editDistance(written, a) - editDistance(written, b));
  return first ?? null;
}

interface Slip {
  readonly at: number;
  readonly written: string;
  readonly meant: string;
}

/** Looks at the first word, and at the second one behind words such as "every". */
function slipsIn(cursor: Cursor): readonly Slip[] {
  const found: Slip[] = [];
  const next = (known: readonly string[]): string | null => {
    const written = cursor.take(WORD)?.groups?.['word'];
    const meant = written === undefined ? null : nearest(written, known);
    if (written !== undefined && meant !== null && meant !== written)
      found.push({ at: cursor.at - written.length, written, meant });
    return meant ?? written ?? null;
  };
  const begin = cursor.at;
  const lead = /\s*(?:each|on|this|next)(?=\s)/y;
  const first = cursor.take(lead)?.[0].trim() ?? next(FIRST);
  if (first !== null && LEADING.has(first)) next(SECOND);
  cursor.at = begin;
  return found;
}

/**
 * A beginning that would be a when if a word were spelled right is refused by that word, because "evry day at 9" would else
 * be a text that comes once at 9. `reads` says whether a line can be read.
 */
export function misspelt(cursor: Cursor, reads: (line: string) => string | null): AppError | null {
  const found = slipsIn(cursor);
  const [first] = found;
  if (first === undefined) return null;
  const line = cursor.written;
  const mended = found
    .toReversed()
    .reduce((text, { at, written, meant }) => text.slice(0, at) + meant + text.slice(at + written.length), line);
  const words = reads(mended);
  if (words === null) return null;
  const wrong = line.slice(first.at, first.at + first.written.length);
  return mendedRefusal(
    mended.length <= MENDED_LENGTH_MAX ? mended.trim() : words.trim(),
    'misspelt',
    `I do not know “${wrong}”. Did you mean “${first.meant}”?`,
  );
}

/** How many letters are missing, too many, wrong or in the place of their neighbours. */
export function editDistance(written: string, meant: string): number {
  const rows: number[][] = [Array.from({ length: meant.length + 1 }, (_none, index) => index)];
  const cost = (at: number, to: number) => rows[at]?.[to] ?? 0;
  for (let at = 1; at <= written.length; at += 1) {
    rows.push([at]);
    for (let to = 1; to <= meant.length; to += 1) {
      const changed = cost(at - 1, to - 1) + (written[at - 1] === meant[to - 1] ? 0 : 1);
      const isSwapped = at > 1 && to > 1 && written.slice(at - 2, at) === swapped(meant.slice(to - 2, to));
      const others = [cost(at - 1, to) + 1, cost(at, to - 1) + 1, ...(isSwapped ? [cost(at - 2, to - 2) + 1] : [])];
      rows[at]?.push(Math.min(changed, ...others));
    }
  }
  return cost(written.length, meant.length);
}

function swapped(pair: string): string {
  return `${pair.charAt(1)}${pair.charAt(0)}`;
}

/** The words of the grammar as parts of patterns, and what they stand for. */

export const WEEKDAY =
  '(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)';
export const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
export const WORKDAYS = String.raw`(?:weekday|work(?:ing)?[\s-]*day|business[\s-]*day)`;

const WEEKDAY_STARTS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MONTH_STARTS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** 0 is Sunday. */
export function weekdayOf(word: string): number {
  return WEEKDAY_STARTS.indexOf(word.slice(0, 3));
}

/** 1 is January. */
export function monthOf(word: string): number {
  return MONTH_STARTS.indexOf(word.slice(0, 3)) + 1;
}

const NUMBERS = new Map([
  ['a', 1],
  ['an', 1],
  ['one', 1],
  ['two', 2],
  ['three', 3],
  ['four', 4],
  ['five', 5],
  ['six', 6],
  ['seven', 7],
  ['eight', 8],
  ['nine', 9],
  ['ten', 10],
  ['eleven', 11],
  ['twelve', 12],
  ['fifteen', 15],
  ['twenty', 20],
  ['thirty', 30],
  ['forty', 40],
  ['fifty', 50],
  ['sixty', 60],
  ['ninety', 90],
]);
export const NUMBER_WORD = [...NUMBERS.keys()].filter((word) => word.length > 2).join('|');
export const HOUR_WORD = [...NUMBERS]
  .filter(([word, value]) => word.length > 2 && value <= 12)
  .map(([word]) => word)
  .join('|');

export function numberOf(word: string): number {
  return NUMBERS.get(word) ?? Number(word);
}

const ORDINALS = new Map([
  ['first', 1],
  ['second', 2],
  ['third', 3],
  ['fourth', 4],
  ['fifth', 5],
  ['sixth', 6],
  ['last', -1],
]);
export const ORDINAL_WORD = [...ORDINALS.keys()].join('|');
export const ORDINAL_NUMBER = String.raw`\d{1,2}(?:st|nd|rd|th)`;

/** `third`, `3rd` or `last`, which is -1. */
export function ordinalOf(word: string): number {
  return ORDINALS.get(word) ?? Number.parseInt(word, 10);
}
