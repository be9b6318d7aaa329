import { type Cursor, words, refusal } from './cursor.ts';
import { NUMBER_WORD, numberOf } from './spelling.ts';

export type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

/** `1 hour 30 minutes` as it was written, the largest unit first. */
export type Amount = ReadonlyArray<{ readonly value: number; readonly unit: Unit }>;

const UNITS: ReadonlyArray<readonly [Unit, string]> = [
  ['second', 's|secs?|seconds?'],
  ['minute', 'm|mins?|minutes?'],
  ['hour', 'h|hrs?|hours?'],
  ['day', 'd|days?'],
  ['week', 'w|wks?|weeks?'],
  ['month', 'months?'],
  ['year', 'y|yrs?|years?'],
];
const UNIT = UNITS.map(([, source]) => source).join('|');
const SECONDS = { second: 1, minute: 60, hour: 3_600 };
const UNIT_PATTERNS = UNITS.map(([unit, source]) => [unit, new RegExp(`^(?:${source})$`)] as const);

const QUANTITY = new RegExp(
  String.raw`\s*(?:,\s*|and\s+)?(?:(?<number>\d{1,9}(?:\.\d{1,3})?)\s*|(?<word>an?|${NUMBER_WORD})\s+)(?<unit>${UNIT})(?![\p{L}_]|'(?!\s+time))`,
  'yu',
);
const HALF_HOUR = words(String.raw`(?:half\s+an?|half)[\s-]+hour`);
const QUARTER_HOUR = words(String.raw`(?:a\s+)?quarter(?:[\s-]+|\s+of\s+an\s+)hour`);
const HOUR_AND_HALF = words(String.raw`(?:an?\s+)?hour\s+and\s+a\s+half`);
const NUMBER_AND_HALF = words(String.raw`(?<count>\d{1,3}|${NUMBER_WORD})\s+and\s+a\s+half\s+hours`);
const FRACTION = words(String.raw`\d+\.\d+\s*(?:d|days?|w|wks?|weeks?|months?|y|yrs?|years?)`);

function unitOf(text: string): Unit {
  return UNIT_PATTERNS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'second';
}

export function isClock(unit: Unit): unit is keyof typeof SECONDS {
  return unit === 'second' || unit === 'minute' || unit === 'hour';
}

function checked(value: number, unit: Unit): number {
  if (value === 0) throw refusal('rhythm', 'zero', `0 ${unit}s is no time at all; write 1 or more.`);
  const isWhole = isClock(unit) ? Number.isInteger(value * SECONDS[unit]) : Number.isInteger(value);
  if (!isWhole) throw refusal('rhythm', 'fraction', `${value} ${unit}s is not a whole number; write a smaller unit.`);
  if (value > 1_000_000) throw refusal('wait', 'too_far', `${value} ${unit}s is too long.`);
  return value;
}

function halves(cursor: Cursor): Amount | null {
  if (cursor.take(HOUR_AND_HALF) !== null) return [{ value: 1.5, unit: 'hour' }];
  const count = cursor.take(NUMBER_AND_HALF)?.groups?.['count'];
  if (count !== undefined) return [{ value: numberOf(count) + 0.5, unit: 'hour' }];
  if (cursor.take(QUARTER_HOUR) !== null) return [{ value: 15, unit: 'minute' }];
  return cursor.take(HALF_HOUR) === null ? null : [{ value: 30, unit: 'minute' }];
}

interface Quantity {
  readonly value: number;
  readonly unit: Unit;
}

/** The next quantity, if its unit is smaller than the one before it, which has this rank. */
function quantity(cursor: Cursor, rank: number): Quantity | null {
  const isFirst = rank === UNITS.length;
  const before = cursor.at;
  const groups = cursor.take(QUANTITY)?.groups;
  if (groups === undefined) return null;
  const unit = unitOf(groups['unit'] ?? '');
  const isJoined = /^\s*(?:,|and)/.test(cursor.text.slice(before, cursor.at));
  if (rankOf(unit) >= rank || (isFirst && isJoined)) return null;
  return { value: checked(numberOf(groups['number'] ?? groups['word'] ?? ''), unit), unit };
}

function rankOf(unit: Unit): number {
  return UNITS.findIndex(([name]) => name === unit);
}

/** Quantities of ever smaller units: in "10 minutes 5 min plank" the second one belongs to the text. */
export function readAmount(cursor: Cursor): Amount | null {
  if (cursor.has(FRACTION)) throw refusal('rhythm', 'fraction', 'Days and longer come in whole numbers here.');
  const half = halves(cursor);
  if (half !== null) return half;
  const parts: Quantity[] = [];
  let rank = UNITS.length;
  for (;;) {
    const from = rank;
    const next = cursor.attempt((at) => quantity(at, from));
    if (next === null) break;
    rank = rankOf(next.unit);
    parts.push(next);
  }
  return parts.length === 0 ? null : parts;
}

export interface Span {
  readonly months: number;
  readonly days: number;
  readonly seconds: number;
}

export function spanOf(amount: Amount): Span {
  const sum = { months: 0, days: 0, seconds: 0 };
  for (const { value, unit } of amount) {
    if (isClock(unit)) sum.seconds += value * SECONDS[unit];
    else if (unit === 'day' || unit === 'week') sum.days += value * (unit === 'week' ? 7 : 1);
    else sum.months += value * (unit === 'year' ? 12 : 1);
  }
  return sum;
}
