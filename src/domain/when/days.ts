import { monthLength } from '../schedule/time/calendar.ts';
import { MONTH_NAMES } from '../schedule/words/words.ts';
import { type Cursor, words, refusal } from './cursor.ts';
import { MONTH, monthOf, ORDINAL_NUMBER, ORDINAL_WORD, ordinalOf, WEEKDAY, weekdayOf, WORKDAYS } from './spelling.ts';

export interface CalendarDate {
  /** Null where it was not said. */
  readonly year: number | null;
  readonly month: number;
  readonly day: number;
}

/** Days, as they were written. */
export type Days =
  | { readonly kind: 'ahead'; readonly days: number; readonly night: boolean }
  | { readonly kind: 'weekdays'; readonly weekdays: readonly number[]; readonly plural: boolean; readonly which: Which }
  | { readonly kind: 'date'; readonly date: CalendarDate; readonly weekday: number | null }
  | { readonly kind: 'monthDays'; readonly days: readonly number[]; readonly ofMonth: boolean }
  | {
      readonly kind: 'nth';
      readonly ordinals: readonly number[];
      readonly weekday: number | 'work';
      readonly month: number | null;
      readonly ofMonth: boolean;
    };
type Which = 'any' | 'this' | 'next';

export const WORK_WEEK: readonly number[] = [1, 2, 3, 4, 5];

/** Only an abbreviation has a dot of its own; the one behind "monday" ends the when. */
const DOT = String.raw`(?:(?<=(?<![a-z])[a-z]{3,5})\.)?`;
const AHEAD = words(
  String.raw`(?<two>(?:the\s+)?day\s+after\s+tomorrow)|(?<one>tomorrow|tmrw|tmr)(?<dark>\s+night)?|(?<night>tonight)|(?<zero>today|this(?=\s+(?:morning|afternoon|evening)))`,
);
const WORK = words(String.raw`(?:mon(?:day)?s?\s*(?:to|-|through|thru)\s*fri(?:day)?s?|${WORKDAYS}(?<plural>s)?)`);
const WEEKEND = words(String.raw`weekend(?:\s+day)?(?<plural>s)?`);
const WEEKDAYS = words(
  String.raw`(?:(?<which>this|next|coming|this\s+coming)\s+)?(?<name>${WEEKDAY})(?<plural>s)?${DOT}`,
);
const NEXT_WEEKDAY = words(String.raw`(?<name>${WEEKDAY})(?<plural>s)?${DOT}`);
const LINK = /\s*(?:,\s*(?:and\s+)?(?:on\s+)?|and\s+(?:on\s+)?|[&/]\s*)/y;
const RANGE = /\s*(?:to|-|through|thru)\s*/y;
const OF_MONTH = words(String.raw`(?:of|in)\s+(?:the|each|every|a)\s+month|of\s+month`);
const OF_NAMED = words(String.raw`(?:of|in)\s+(?:(?:each|every)\s+)?(?<month>${MONTH})`);
const NTH = words(
  String.raw`(?:the\s+)?(?<ordinal>${ORDINAL_WORD}|${ORDINAL_NUMBER})(?:\s*(?:,|and|&)\s*(?:the\s+)?(?<other>${ORDINAL_WORD}|${ORDINAL_NUMBER}))?\s+(?:(?<work>${WORKDAYS})|(?<weekday>${WEEKDAY}))`,
);
const LAST_DAY = words(
  String.raw`(?:the\s+)?(?:last\s+day|end)(?=\s+(?:of|in)\s+(?:the\s+|each\s+|every\s+|a\s+)?month)`,
);
const LAST_DAY_ALONE = words(String.raw`(?:the\s+)?last\s+day`);
const MONTH_DAY = words(
  String.raw`(?:(?:the\s+)?(?<day>${ORDINAL_NUMBER})(?:\s+day)?|the\s+first(?:\s+day)?|first\s+day)`,
);
const NUMBER_DAY = words(String.raw`(?<=\bon\s+)day\s+(?<day>\d{1,2})`);

const YEAR = String.raw`(?:,?\s+(?<year>(?:19|20|21)\d\d)(?!\s*[:.h]\d))?`;
const DAY_FIRST = words(
  String.raw`(?:the\s+)?(?<day>\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+(?<month>${MONTH})${DOT}${YEAR}`,
);
const MONTH_FIRST = words(
  String.raw`(?<month>${MONTH})${DOT}\s+(?:the\s+)?(?<day>\d{1,2})(?:st|nd|rd|th)?(?!\s*(?:[:h]\d|[ap]\.?m\b|o'clock))${YEAR}`,
);
const YEAR_FIRST = words(
  String.raw`(?<year>(?:19|20|21)\d\d)(?:\s+|-)(?<month>${MONTH})${DOT}(?:\s+|-)(?<day>\d{1,2})(?:st|nd|rd|th)?`,
);
const HYPHENED = words(String.raw`(?<day>\d{1,2})-(?<month>${MONTH})-(?<year>(?:19|20|21)\d\d)`);
const ISO = words(String.raw`(?<year>\d{4})([-/])(?<month>\d{1,2})\2(?<day>\d{1,2})`);
const DOTTED = words(String.raw`(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})`);
const SHORT_YEAR = words(String.raw`\d{1,2}\.\d{1,2}\.\d\d`);
const SLASHED = words(String.raw`(?<one>\d{1,2})(?<mark>[/-])(?<two>\d{1,2})(?:\k<mark>(?<year>\d{4}|\d\d))?`);
const BEFORE_DATE = words(
  String.raw`(?<name>${WEEKDAY})${DOT},?(?=\s+(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)?(?:\s+of)?\s+${MONTH}|${MONTH}\.?\s+\d|\d{4}-\d|\d{4}(?:\s+|-)${MONTH}|\d{1,2}-${MONTH}|\d{1,2}\.\d{1,2}\.\d{4}))`,
);

function checkedDate(date: CalendarDate, text: string): CalendarDate {
  // A leap year stands in where none was said, because 29 February comes back.
  const exists = date.month >= 1 && date.month <= 12 && date.day >= 1;
  if (exists && date.day <= monthLength(date.year ?? 2_000, date.month)) return date;
  throw refusal('date', 'no_such_date', `"${text.trim()}" is not a date of any calendar.`);
}

function shortYear(text: string): Error {
  const advice = 'write the month as a word and the year with four digits';
  return refusal('date', 'short_year', `"${text.trim()}" does not say which number is the year; ${advice}.`);
}

function slashed(match: RegExpExecArray): CalendarDate {
  const [text] = match;
  const { one = '', two = '', year } = match.groups ?? {};
  const [first, second] = [Number(one), Number(two)];
  if (year?.length === 2) {
    throw shortYear(text);
  }
  const named = year === undefined ? null : Number(year);
  const dayFirst = first > 12 || first === second;
  if (dayFirst || second > 12) {
    return checkedDate({ year: named, month: dayFirst ? second : first, day: dayFirst ? first : second }, text);
  }
  const reading = (day: number, month: number) => `${day} ${MONTH_NAMES[month - 1] ?? ''}`;
  throw refusal(
    'date',
    'ambiguous_date',
    `"${text.trim()}" is ${reading(first, second)} to some and ${reading(second, first)} to others; write the month as a word.`,
  );
}

function readDate(cursor: Cursor): CalendarDate | null {
  const named = cursor.take(DAY_FIRST) ?? cursor.take(MONTH_FIRST) ?? cursor.take(YEAR_FIRST) ?? cursor.take(HYPHENED);
  if (named !== null) {
    const { day, month = '', year } = named.groups ?? {};
    const date = { year: year === undefined ? null : Number(year), month: monthOf(month), day: Number(day) };
    return checkedDate(date, named[0]);
  }
  const figures = cursor.take(ISO) ?? cursor.take(DOTTED);
  if (figures !== null) {
    const { year, month, day } = figures.groups ?? {};
    return checkedDate({ year: Number(year), month: Number(month), day: Number(day) }, figures[0]);
  }
  const short = cursor.take(SHORT_YEAR);
  if (short !== null) throw shortYear(short[0]);
  const match = cursor.take(SLASHED);
  return match === null ? null : slashed(match);
}

function ahead(cursor: Cursor): Days | null {
  const groups = cursor.take(AHEAD)?.groups;
  if (groups === undefined) return null;
  const days = groups['two'] === undefined ? (groups['one'] === undefined ? 0 : 1) : 2;
  return { kind: 'ahead', days, night: groups['night'] !== undefined || groups['dark'] !== undefined };
}

function range(from: number, to: number): number[] {
  const length = ((to - from + 7) % 7) + 1;
  return Array.from({ length }, (_, index) => (from + index) % 7);
}

interface WeekdayList {
  readonly weekdays: number[];
  plural: boolean;
}

function addWeekday(cursor: Cursor, list: WeekdayList): boolean {
  const before = cursor.at;
  const isRange = cursor.take(RANGE) !== null;
  if (!isRange && cursor.take(LINK) === null) return false;
  const groups = cursor.take(NEXT_WEEKDAY)?.groups;
  if (groups === undefined) {
    cursor.at = before;
    return false;
  }
  const weekday = weekdayOf(groups['name'] ?? '');
  const from = list.weekdays.at(-1) ?? 0;
  list.weekdays.push(...(isRange ? range(from, weekday).slice(1) : [weekday]));
  // A range of days never means one moment.
  list.plural ||= isRange || groups['plural'] !== undefined;
  return true;
}

function weekdays(cursor: Cursor): Days | null {
  const work = cursor.take(WORK);
  if (work !== null) return { kind: 'weekdays', weekdays: WORK_WEEK, plural: true, which: 'any' };
  const weekend = cursor.take(WEEKEND);
  if (weekend !== null) {
    return { kind: 'weekdays', weekdays: [6, 0], plural: weekend.groups?.['plural'] !== undefined, which: 'any' };
  }
  const first = cursor.take(WEEKDAYS)?.groups;
  if (first === undefined) return null;
  const list: WeekdayList = { weekdays: [weekdayOf(first['name'] ?? '')], plural: first['plural'] !== undefined };
  while (list.weekdays.length <= 7 && addWeekday(cursor, list));
  const said = first['which'];
  const which = said === undefined || said.endsWith('coming') ? 'any' : said === 'this' ? 'this' : 'next';
  return { kind: 'weekdays', weekdays: [...new Set(list.weekdays)], plural: list.plural, which };
}

function nth(cursor: Cursor): Days | null {
  const groups = cursor.take(NTH)?.groups;
  if (groups === undefined) return null;
  const ordinals = [groups['ordinal'], groups['other']].filter((text) => text !== undefined).map(ordinalOf);
  const ofMonth = cursor.take(OF_MONTH) !== null;
  const month = ofMonth ? undefined : cursor.take(OF_NAMED)?.groups?.['month'];
  const weekday = groups['weekday'] === undefined ? 'work' : weekdayOf(groups['weekday']);
  return { kind: 'nth', ordinals, weekday, month: month === undefined ? null : monthOf(month), ofMonth };
}

function monthDay(cursor: Cursor): number | null {
  if (cursor.take(LAST_DAY) !== null || cursor.take(LAST_DAY_ALONE) !== null) return -1;
  const groups = (cursor.take(MONTH_DAY) ?? cursor.take(NUMBER_DAY))?.groups;
  if (groups === undefined) return null;
  const day = ordinalOf(groups['day'] ?? 'first');
  if (day > 31 || day === 0) throw refusal('month', 'no_such_date', `No month has a day ${day}.`);
  return day;
}

function monthDays(cursor: Cursor): Days | null {
  const first = monthDay(cursor);
  if (first === null) return null;
  const days = [first];
  for (;;) {
    const next = cursor.attempt((at) => (at.take(LINK) === null ? null : monthDay(at)));
    if (next === null) break;
    days.push(next);
  }
  return { kind: 'monthDays', days: [...new Set(days)], ofMonth: cursor.take(OF_MONTH) !== null };
}

function dated(cursor: Cursor): Days | null {
  const name = cursor.take(BEFORE_DATE)?.groups?.['name'];
  const date = readDate(cursor);
  if (date === null) return null;
  return { kind: 'date', date, weekday: name === undefined ? null : weekdayOf(name) };
}

/** The days that stand at the cursor. */
export function readDays(cursor: Cursor): Days | null {
  return (
    ahead(cursor) ??
    cursor.attempt(dated) ??
    cursor.attempt(nth) ??
    cursor.attempt(weekdays) ??
    cursor.attempt(monthDays)
  );
}
