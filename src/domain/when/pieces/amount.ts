import { refusal } from '../faults.ts';
import { any, compiled, placeOf, valueOf, words } from '../languages/compiled.ts';
import type { Cursor } from './cursor.ts';

export type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

/** `1 hour 30 minutes` as it was written, the largest unit first. */
export type Amount = ReadonlyArray<{ readonly value: number; readonly unit: Unit }>;

export const UNITS: readonly Unit[] = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'];
const SECONDS = { second: 1, minute: 60, hour: 3_600 };

const patterns = compiled(({ numbers, units, words: w }) => {
  const unit = any(UNITS.map((name) => units[name]));
  const number = any(Object.keys(numbers));
  return {
    // "In 1 hour's time" goes on behind the apostrophe.
    quantity: new RegExp(
      String.raw`\s*(?:,\s*|(?:${w.and})\s+)?(?:(?<number>\d{1,9}(?:[.,]\d{1,3})?)\s*-?|(?<word>${number})[\s-]+)(?<unit>${unit})(?![\p{L}\p{N}_]|'(?!s?\s+time|\s*$))`,
      'yu',
    ),
    minutesBehind: /(?<=\dh)(?<minutes>[0-5]\d)(?![\p{L}\p{N}:]|[.,]\d)/uy,
    half: words(String.raw`(?:an?\s+)?(?:${w.half})(?:\s+an?|\s+of\s+an)?[\s-]+(?:${units.hour})`),
    halfDay: words(w.halfDay),
    halfYear: words(String.raw`half\s+an?\s+(?:${units.year})|half\s+(?:${units.year})`),
    quarter: words(String.raw`(?:a\s+)?(?:${w.quarter})(?:[\s-]+|\s+of\s+an\s+)(?:${units.hour})`),
    threeQuarters: words(String.raw`(?:three|3)\s+quarters\s+of\s+an\s+(?:${units.hour})`),
    oneAndHalf: words(String.raw`(?:an?\s+)?(?:${units.hour})\s+and\s+(?:a\s+)?(?:${w.half})`),
    andHalf: words(String.raw`(?<count>\d{1,3}|${number})\s+and\s+a\s+(?:${w.half})\s+(?<unit>${units.hour})`),
    countAndHalf: words(String.raw`(?<count>\d{1,3}|${number})\s+(?:${units.hour})\s+and\s+a\s+(?:${w.half})`),
    fortnight: words(String.raw`(?:(?<count>\d{1,3}|${number})\s+)?(?:${w.fortnight})s?`),
    fraction: words(String.raw`\d+\.\d+\s*(?:${any([units.day, units.week, units.month, units.year])})`),
    number: words(String.raw`(?:\d+|${number})`),
  };
});

export const unitWords = compiled(({ units }) => UNITS.map((name) => units[name]));

function unitOf(cursor: Cursor, text: string): Unit {
  return UNITS[placeOf(unitWords(cursor.language), text)] ?? 'second';
}

export function isClock(unit: Unit): unit is keyof typeof SECONDS {
  return unit === 'second' || unit === 'minute' || unit === 'hour';
}

function checked(value: number, unit: Unit): number {
  if (value === 0) throw refusal('rhythm', 'zero', (say) => say.zero(unit));
  const isWhole = isClock(unit) ? Number.isInteger(value * SECONDS[unit]) : Number.isInteger(value);
  if (!isWhole) throw refusal('rhythm', 'fraction', (say) => say.notWhole(value, unit));
  if (value > 1_000_000) throw refusal('wait', 'too_far', (say) => say.tooLong(value, unit));
  return value;
}

function special(cursor: Cursor): Amount | null {
  const p = patterns(cursor.language);
  const { numbers } = cursor.language;
  if (cursor.take(p.oneAndHalf) !== null) return [{ value: 90, unit: 'minute' }];
  const count = (cursor.take(p.andHalf) ?? cursor.take(p.countAndHalf))?.groups?.['count'];
  if (count !== undefined) return [{ value: valueOf(numbers, count) * 60 + 30, unit: 'minute' }];
  if (cursor.take(p.halfYear) !== null) return [{ value: 6, unit: 'month' }];
  if (cursor.take(p.halfDay) !== null) return [{ value: 12, unit: 'hour' }];
  if (cursor.take(p.threeQuarters) !== null) return [{ value: 45, unit: 'minute' }];
  if (cursor.take(p.quarter) !== null) return [{ value: 15, unit: 'minute' }];
  if (cursor.take(p.half) !== null) return [{ value: 30, unit: 'minute' }];
  const weeks = cursor.take(p.fortnight)?.groups;
  return weeks === undefined ? null : [{ value: 2 * valueOf(numbers, weeks['count'] ?? '1'), unit: 'week' }];
}

interface Quantity {
  readonly value: number;
  readonly unit: Unit;
}

/** The next quantity, if its unit is smaller than the one before it, which has this rank. */
function quantity(cursor: Cursor, rank: number): Quantity | null {
  const p = patterns(cursor.language);
  const minutes = rank === UNITS.indexOf('hour') ? cursor.take(p.minutesBehind)?.groups?.['minutes'] : undefined;
  if (minutes !== undefined) return { value: Number(minutes), unit: 'minute' };
  const isFirst = rank === UNITS.length;
  const before = cursor.at;
  const groups = (cursor.take(p.quantity) ?? (isFirst ? hourFigure(cursor) : null))?.groups;
  if (groups === undefined) return null;
  const unit = unitOf(cursor, groups['unit'] ?? '');
  const isJoined = /^\s*(?:,|and|&|\+)/.test(cursor.text.slice(before, cursor.at));
  if (UNITS.indexOf(unit) >= rank || (isFirst && isJoined)) return null;
  return { value: checked(countOf(cursor, groups), unit), unit };
}

function countOf(cursor: Cursor, { number, word = '' }: Readonly<Record<string, string | undefined>>): number {
  return number === undefined ? valueOf(cursor.language.numbers, word) : Number(number.replace(',', '.'));
}

/** `in 2:30`, `in 17.30` and `in 0900` are how long, as 2h30 is; 2027 is a year. */
const CLOCK_LIKE =
  /\s*(?!20[2-5]\d(?![\p{N}:.]))(?<hours>\d{1,2}(?=[:.])|[01]\d|2[0-3])[:.]?(?<minutes>[0-5]\d)(?![\p{L}\p{N}:%°]|[.,]\d|\s*[ap]\.?m(?![\p{L}])|\s*[\p{Sc}])/uy;

export function clockAmount(cursor: Cursor): Amount | null {
  const { hours, minutes } = cursor.take(CLOCK_LIKE)?.groups ?? {};
  if (hours === undefined) return null;
  return [{ value: Number(hours) * 60 + Number(minutes), unit: 'minute' }];
}

/** The hours of `1h30`, behind which no word ends. */
const HOURS_AND = /\s*(?<number>\d{1,3})(?<unit>h)(?=[0-5]?\d(?:m(?:ins?)?)?(?![\p{L}\p{N}:]))/uy;

function hourFigure(cursor: Cursor): RegExpExecArray | null {
  return cursor.take(HOURS_AND);
}

/** Quantities of ever smaller units: in "10 minutes 5 min plank" the second one belongs to the text. */
export function amountAt(cursor: Cursor): Amount | null {
  const found = cursor.attempt(special);
  if (found !== null) return found;
  if (cursor.has(patterns(cursor.language).fraction)) {
    throw refusal('rhythm', 'fraction', (say) => say.wholeDays);
  }
  const parts: Quantity[] = [];
  let rank = UNITS.length;
  for (;;) {
    const from = rank;
    const next = cursor.attempt((at) => quantity(at, from));
    if (next === null) break;
    rank = UNITS.indexOf(next.unit);
    parts.push(next);
  }
  return parts.length === 0 ? null : parts;
}

interface Span {
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
