import { refusal } from '../faults.ts';
import { placeOf, valueOf } from '../languages/compiled.ts';
import type { Cursor } from './cursor.ts';
import { type CalendarDate, dateAt } from './dates.ts';
import { dayPatterns } from './day-words.ts';

/** `next`: the one after this one, or the coming one? `after`: of the week after this one. */
type Which = 'any' | 'this' | 'next' | 'following' | 'after';
/** The month or quarter that comes back, or a month that comes once. */
export type Of = 'month' | 'this month' | 'next month' | 'quarter' | null;

/** Days, as they were written. */
export type Days =
  | { readonly kind: 'ahead'; readonly days: number; readonly night: boolean }
  | {
      readonly kind: 'weekdays';
      readonly weekdays: readonly number[];
      readonly plural: boolean;
      readonly which: Which;
      /** So many weeks after the coming one. */
      readonly weeks?: number;
    }
  | {
      readonly kind: 'date';
      readonly date: CalendarDate;
      readonly weekday: number | null;
      /** The other order of 3/4/2026. */
      readonly other: CalendarDate | null;
      /** Days before it. */
      readonly early: number;
      /** More days of its month: `5, 7 and 9 december`. */
      readonly also?: readonly number[];
      /** It is called by its name, which means every year: `christmas`. */
      readonly isHoliday?: boolean;
    }
  | { readonly kind: 'monthDays'; readonly days: readonly number[]; readonly of: Of; readonly weekday: number | null }
  | {
      readonly kind: 'nth';
      readonly ordinals: readonly number[];
      readonly weekday: number | 'work';
      readonly month: number | null;
      readonly of: Of;
    };

/** Days at a place; weak ones are days only beside more of a time, because such words are written for other things too. */
export interface DaysFound {
  readonly days: Days;
  readonly isWeak: boolean;
}

export const WORK_WEEK: readonly number[] = [1, 2, 3, 4, 5];

export function weekdayAt(cursor: Cursor, name: string): number {
  return placeOf(cursor.language.weekdays, name);
}

/** A fraction, or what is always open. */
const NO_DATE =
  /\s*(?:24\/7|1\/2|1\/4|3\/4|1\/3|2\/3)\s+(?:an?|of|cups?|hours?|day|kg|lb|pounds?|litres?|liters?|price|off|way)\b/uy;

/** `friday 27 november`, `27 november, a friday`, `2 days before 1 march`. */
function dated(cursor: Cursor): DaysFound | null {
  const p = dayPatterns(cursor.language);
  const before = cursor.take(p.early)?.groups;
  const name = cursor.take(p.dateBehind)?.groups?.['name'];
  const found = dateAt(cursor);
  if (found === null) return null;
  const behind = name === undefined ? cursor.attempt((at) => at.take(p.weekdayBehind))?.groups?.['name'] : name;
  const { isWeak, ...date } = found;
  const weekday = behind === undefined ? null : weekdayAt(cursor, behind);
  const early = before === undefined ? 0 : earlyOf(cursor, before);
  return { days: { kind: 'date', ...date, weekday, early }, isWeak: isWeak && name === undefined && early === 0 };
}

function earlyOf(
  cursor: Cursor,
  { count = '', weeks, fortnights, one }: Readonly<Record<string, string | undefined>>,
): number {
  if (one !== undefined) return 1;
  return valueOf(cursor.language.numbers, count) * (fortnights === undefined ? (weeks === undefined ? 1 : 7) : 14);
}

function ahead(cursor: Cursor): DaysFound | null {
  const groups = cursor.take(dayPatterns(cursor.language).ahead)?.groups;
  if (groups === undefined) return null;
  const days = groups['two'] === undefined ? (groups['one'] === undefined ? 0 : 1) : 2;
  const night = groups['night'] !== undefined || groups['dark'] !== undefined;
  const more = night ? undefined : cursor.take(dayPatterns(cursor.language).weekLater)?.groups;
  const weeks = more === undefined ? 0 : more['week'] === undefined ? 2 : 1;
  return { days: { kind: 'ahead', days: days + 7 * weeks, night }, isWeak: false };
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
  return cursor.attempt((at) => weekdayBehind(at, list)) === true;
}

function weekdayBehind(cursor: Cursor, list: WeekdayList): true | null {
  const p = dayPatterns(cursor.language);
  const isRange = cursor.take(p.range) !== null;
  if (!isRange && cursor.take(p.link) === null && cursor.take(p.space) === null) return null;
  if (!isRange && cursor.take(p.weekend) !== null) {
    list.weekdays.push(6, 0);
    list.plural = true;
    return true;
  }
  const groups = cursor.take(p.weekday)?.groups;
  if (groups === undefined) return null;
  const weekday = weekdayAt(cursor, groups['name'] ?? '');
  list.weekdays.push(...(isRange ? range(list.weekdays.at(-1) ?? 0, weekday).slice(1) : [weekday]));
  // A range of days never means one moment.
  list.plural ||= isRange || groups['plural'] !== undefined;
  return true;
}

/** Words such as "sun" and "sat" are no days where they stand alone. */
const SHORT_WORD = /^(?:sun|sat|wed|mon|fri)\.?$/;

function weekdays(cursor: Cursor): DaysFound | null {
  const p = dayPatterns(cursor.language);
  const hasOn = cursor.take(p.on) !== null;
  const isNext = cursor.take(p.nextWeek) !== null;
  if (isNext) cursor.take(p.on);
  const found = daySet(cursor) ?? nameds(cursor);
  if (found === null) return null;
  const { days } = found;
  cursor.take(days.kind === 'weekdays' && days.plural ? p.alone : p.only);
  if (isOneWeekday(days) && cursor.take(p.fortnight) !== null) return { days: { ...days, weeks: 2 }, isWeak: false };
  const isAfter = isNext || (isOneWeekday(days) && cursor.take(p.afterWeek) !== null);
  if (!isAfter || days.kind !== 'weekdays') return { days, isWeak: found.isWeak && !hasOn };
  return { days: { ...days, which: 'after' }, isWeak: false };
}

export function isOneWeekday(days: Days): days is Extract<Days, { kind: 'weekdays' }> {
  return days.kind === 'weekdays' && days.weekdays.length === 1 && !days.plural && days.which === 'any';
}

function daySet(cursor: Cursor): DaysFound | null {
  const p = dayPatterns(cursor.language);
  const set = (days: readonly number[], plural: boolean, which: Which = 'any'): DaysFound => ({
    days: { kind: 'weekdays', weekdays: days, plural, which },
    isWeak: false,
  });
  const work = cursor.take(p.workWeek);
  if (work !== null) return set(WORK_WEEK, true);
  const weekend = cursor.take(p.weekend)?.groups;
  if (weekend !== undefined) {
    const which = weekend['which'] === undefined ? 'any' : /next|following/.test(weekend['which']) ? 'next' : 'this';
    return set([6, 0], weekend['plural'] !== undefined, which);
  }
  const letters = cursor.take(p.letters)?.[0].trim();
  return letters === undefined ? null : set(lettersOf(cursor, letters), true);
}

function lettersOf({ language }: Cursor, text: string): number[] {
  if (/^m[/\s]*w\b|^mwf/.test(text)) return [1, 3, 5];
  if (/^t\/?th/.test(text)) return [2, 4];
  return text
    .split(/[^a-z]+/)
    .flatMap((word) => language.weekdayLetters.flatMap((each, day) => (each === word ? day : [])));
}

function nameds(cursor: Cursor): DaysFound | null {
  const p = dayPatterns(cursor.language);
  const match = cursor.take(p.weekdays);
  const first = match?.groups;
  if (first === undefined) return null;
  const said = first['which'];
  const which =
    said === undefined
      ? 'any'
      : /next/.test(said)
        ? 'next'
        : /following/.test(said)
          ? 'following'
          : /coming/.test(said)
            ? 'any'
            : 'this';
  const name = first['name'] ?? '';
  const list: WeekdayList = { weekdays: [weekdayAt(cursor, name)], plural: first['plural'] !== undefined };
  while (list.weekdays.length <= 7 && addWeekday(cursor, list));
  const unique = [...new Set(list.weekdays)];
  // "Sat, sun" are two days, and "the weekend" is one of them.
  if (unique.length === 2 && unique[0] === 6) unique.reverse();
  const isWeak = unique.length === 1 && !list.plural && said === undefined && SHORT_WORD.test(name);
  return { days: { kind: 'weekdays', weekdays: unique, plural: list.plural, which }, isWeak };
}

function ofAt(cursor: Cursor): Of {
  const p = dayPatterns(cursor.language);
  const groups = cursor.take(p.ofMonth)?.groups;
  if (groups === undefined) return cursor.take(p.everyMonth) === null ? null : 'month';
  if (groups['this'] !== undefined) return 'this month';
  if (groups['next'] !== undefined) return 'next month';
  return groups['quarter'] === undefined ? 'month' : 'quarter';
}

function nth(cursor: Cursor): DaysFound | null {
  const p = dayPatterns(cursor.language);
  const groups = cursor.take(p.nth)?.groups;
  if (groups === undefined) return null;
  const { ordinals: table, months } = cursor.language;
  const ordinals = [groups['ordinal'], groups['other']].flatMap((text) =>
    text === undefined ? [] : valueOf(table, text),
  );
  if (ordinals.some((ordinal) => ordinal > 5)) throw refusal('month', 'out_of_range', (say) => say.fiveAtMost);
  const of = ofAt(cursor);
  const month = of === null ? cursor.take(p.ofNamed)?.groups?.['month'] : undefined;
  const weekday = groups['weekday'] === undefined ? 'work' : weekdayAt(cursor, groups['weekday']);
  const days = {
    kind: 'nth',
    ordinals,
    weekday,
    month: month === undefined ? null : placeOf(months, month) + 1,
    of,
  } as const;
  return { days, isWeak: false };
}

interface MonthDay {
  readonly day: number;
  readonly isWeak: boolean;
}

function monthDay(cursor: Cursor): MonthDay | null {
  const p = dayPatterns(cursor.language);
  if (cursor.take(p.lastDay) !== null || cursor.take(p.lastDayAlone) !== null) return { day: -1, isWeak: false };
  if (cursor.take(p.firstDay) !== null) return { day: 1, isWeak: false };
  const match = cursor.take(p.monthDay) ?? cursor.take(p.numberDay);
  const { day: figure, the } = match?.groups ?? {};
  if (match === null || figure === undefined) return null;
  const day = valueOf(cursor.language.ordinals, figure);
  const isSaid = the !== undefined || /\d|day/.test(match[0]);
  // "Second" and "first" alone are words like others.
  if (day > 31 || day === 0 || !(isSaid || cursor.has(/\s*(?:,|of|in|and|&)\s/uy))) return null;
  return { day, isWeak: the === undefined || !/\d/.test(figure) };
}

/** Days of one named month. */
function inNamed({ language }: Cursor, [day = 1, ...also]: readonly number[], month: string): DaysFound {
  const date = { year: null, month: placeOf(language.months, month) + 1, day };
  const more = also.length === 0 ? {} : { also };
  return { days: { kind: 'date', date, other: null, weekday: null, early: 0, ...more }, isWeak: false };
}

/** `in january on the 5th`, `in may on the first monday`. */
function inMonth(cursor: Cursor): DaysFound | null {
  const month = cursor.take(dayPatterns(cursor.language).inMonth)?.groups?.['month'];
  const days = month === undefined ? undefined : cursor.first([nth, monthDays])?.days;
  if (month === undefined || days === undefined || !('of' in days) || days.of !== null) return null;
  if (days.kind === 'monthDays') return inNamed(cursor, days.days, month);
  return { days: { ...days, month: placeOf(cursor.language.months, month) + 1 }, isWeak: false };
}

function monthDays(cursor: Cursor): DaysFound | null {
  const p = dayPatterns(cursor.language);
  const hasOn = cursor.take(p.on) !== null;
  const first = monthDay(cursor);
  if (first === null) return null;
  const days = [first.day];
  for (;;) {
    const next = cursor.attempt((at) => (at.take(p.link) === null ? null : monthDay(at)));
    if (next === null) break;
    days.push(next.day);
  }
  const of = ofAt(cursor);
  const month = of === null ? cursor.take(p.ofNamed)?.groups?.['month'] : undefined;
  if (month !== undefined) return inNamed(cursor, days, month);
  return {
    days: { kind: 'monthDays', days: [...new Set(days)], of, weekday: null },
    isWeak: first.isWeak && of === null && !hasOn,
  };
}

/** `friday the 28th`. */
function weekdayWithDay(cursor: Cursor): DaysFound | null {
  const p = dayPatterns(cursor.language);
  cursor.take(p.on);
  const name = cursor.take(p.weekdays)?.groups?.['name'];
  const day = name === undefined ? undefined : cursor.take(p.theDay)?.groups?.['day'];
  if (name === undefined || day === undefined) return null;
  const weekday = weekdayAt(cursor, name);
  return { days: { kind: 'monthDays', days: [Number.parseInt(day, 10)], of: null, weekday }, isWeak: false };
}

/** `a week from friday`, `three weeks on monday`, `a fortnight today`. */
export function weeksLater(cursor: Cursor): DaysFound | null {
  const groups = cursor.take(dayPatterns(cursor.language).later)?.groups;
  if (groups === undefined) return null;
  const days = (ahead(cursor) ?? nameds(cursor))?.days;
  const weeks = valueOf(cursor.language.numbers, groups['count'] ?? '') * (groups['fortnights'] === undefined ? 1 : 2);
  if (days?.kind === 'ahead') return { days: { ...days, days: days.days + 7 * weeks }, isWeak: false };
  if (days === undefined || !isOneWeekday(days)) return null;
  return { days: { ...days, weeks }, isWeak: false };
}

/** The days that stand at the cursor. */
export function daysAt(cursor: Cursor): DaysFound | null {
  if (cursor.has(NO_DATE)) return null;
  return cursor.first([ahead, inMonth, dated, nth, weekdayWithDay, weekdays, monthDays]);
}
