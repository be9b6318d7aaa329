import { monthLength } from '../../schedule/time/calendar.ts';
import { refusal } from '../faults.ts';
import { placeOf, valueOf } from '../languages/compiled.ts';
import type { Cursor } from './cursor.ts';
import { dayPatterns } from './day-words.ts';

export interface CalendarDate {
  /** Null where it was not said. */
  readonly year: number | null;
  readonly month: number;
  readonly day: number;
}

function checkedDate(date: CalendarDate, text: string): CalendarDate {
  // A leap year stands in where none was said, because 29 February comes back.
  const exists = date.month >= 1 && date.month <= 12 && date.day >= 1;
  if (exists && date.day <= monthLength(date.year ?? 2_000, date.month)) return date;
  throw refusal('date', 'no_such_date', (say) => say.noSuchDate(text.trim()));
}

function yearOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  return text.length === 2 ? 2_000 + Number(text) : Number(text);
}

/** A date as it was written. */
interface Dated {
  readonly date: CalendarDate;
  /** The other order of 3/4/2026. */
  readonly other: CalendarDate | null;
  /** More days of its month: `5, 7 and 9 december`. */
  readonly also?: readonly number[];
  /** It is called by its name, which means every year: `christmas`. */
  readonly isHoliday?: boolean;
  readonly isWeak: boolean;
}

/** `5, 7 and 9 december`, `december 5 and 7`. */
function listed(cursor: Cursor): Dated | null {
  const p = dayPatterns(cursor.language);
  const match = cursor.take(p.listFirst) ?? cursor.take(p.listBehind);
  if (match === null) return null;
  const { list = '', month = '', short, year = short } = match.groups ?? {};
  const dates = [...list.matchAll(/\d+/g)].map(([day]) =>
    checkedDate({ year: yearOf(year), month: placeOf(cursor.language.months, month) + 1, day: Number(day) }, match[0]),
  );
  const [date, ...others] = dates;
  return date === undefined ? null : { date, other: null, also: others.map(({ day }) => day), isWeak: false };
}

function named(cursor: Cursor): Dated | null {
  const p = dayPatterns(cursor.language);
  const match =
    cursor.take(p.dayFirst) ??
    cursor.take(p.monthFirst) ??
    cursor.take(p.yearFirst) ??
    cursor.take(p.hyphened) ??
    cursor.take(p.iso);
  if (match === null) return null;
  const { day = '', month = '', short, year = short } = match.groups ?? {};
  const number = /^\d+$/.test(month) ? Number(month) : placeOf(cursor.language.months, month) + 1;
  const date = { year: yearOf(year), month: number, day: valueOf(cursor.language.ordinals, day) };
  // "Second may" and "may 5 people come" are hardly dates.
  const isWeak = /^\D/.test(day) && !/\b(?:of|the)\b|first|third|fifth|tenth/.test(match[0]);
  return { date: checkedDate(date, match[0]), other: null, isWeak };
}

function figures(cursor: Cursor): Dated | null {
  const p = dayPatterns(cursor.language);
  const dotted = cursor.take(p.dotted);
  if (dotted !== null) {
    const { day, month, year } = dotted.groups ?? {};
    const date = { year: yearOf(year), month: Number(month), day: Number(day) };
    if (date.month > 12 || date.day > 31) return null;
    return { date: checkedDate(date, dotted[0]), other: null, isWeak: false };
  }
  const half = cursor.take(p.halfDotted);
  if (half !== null) {
    const { day, month, on } = half.groups ?? {};
    const [date, isDate] = [
      { year: null, month: Number(month), day: Number(day) },
      month !== '00' && Number(month) <= 12,
    ];
    if (!isDate || date.day < 1 || date.day > monthLength(2_000, date.month)) return null;
    return { date, other: null, isWeak: on === undefined };
  }
  return slashed(cursor);
}

function slashed(cursor: Cursor): Dated | null {
  if (cursor.has(/\s*24\/7/uy)) return null;
  const match = cursor.take(dayPatterns(cursor.language).slashed);
  if (match === null) return null;
  const { one = '', two = '', year, mark, on } = match.groups ?? {};
  // "1-2" is a range of anything.
  if (mark === '-' && year === undefined) return null;
  const isWeak = year === undefined && on === undefined;
  const [date, other] = ordersOf(Number(one), Number(two), yearOf(year));
  if (isWeak && (date.month > 12 || date.day > 31)) return null;
  return { date: checkedDate(date, match[0]), other, isWeak };
}

/** The date with its day first, and the other one where both are real. */
function ordersOf(first: number, second: number, year: number | null): [CalendarDate, CalendarDate | null] {
  const dayFirst = { year, month: second, day: first };
  const monthFirst = { year, month: first, day: second };
  if (first === second || first > 12) return [dayFirst, null];
  return second > 12 ? [monthFirst, null] : [dayFirst, monthFirst];
}

function holiday(cursor: Cursor): Dated | null {
  const match = cursor.take(dayPatterns(cursor.language).holiday);
  const index = cursor.language.holidays.findIndex((_one, at) => match?.groups?.[`h${at}`] !== undefined);
  const found = cursor.language.holidays[index];
  if (match === null || found === undefined) return null;
  const date = { year: null, month: found.month, day: found.day };
  return { date, other: null, isHoliday: true, isWeak: match.groups?.['on'] === undefined };
}

/** `27 november`, `3/4/2026`, `christmas`. */
export function dateAt(cursor: Cursor): Dated | null {
  return cursor.first([listed, named, figures, holiday]);
}
