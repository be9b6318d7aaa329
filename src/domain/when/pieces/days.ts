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
  /** `weekday`: the day as it is called too, in `tomorrow friday`; `months`: of `a month from tomorrow`. */
  | {
      readonly kind: 'ahead';
      readonly days: number;
      readonly months?: number;
      readonly night: boolean;
      readonly weekday?: number | null;
    }
  | {
      readonly kind: 'weekdays';
      readonly weekdays: readonly number[];
      readonly plural: boolean;
      readonly which: Which;
      /** So many weeks after the coming one. */
      readonly weeks?: number;
      /** Today is not the coming one: `two fridays from now`. */
      readonly isCounted?: boolean;
    }
  | {
      readonly kind: 'date';
      readonly date: CalendarDate;
      readonly weekday: number | null;
      /** The other order of 3/4/2026. */
      readonly other: CalendarDate | null;
      /** Days before it; days behind it are less than none. */
      readonly early: number;
      /** More days of its month: `5, 7 and 9 december`. */
      readonly also?: readonly number[];
      /** It is called by its name, which means every year: `christmas`. */
      readonly isHoliday?: boolean;
      /** `the night before christmas`. */
      readonly night?: boolean;
    }
  | {
      readonly kind: 'monthDays';
      /** -1 is the last one. */
      readonly days: readonly number[];
      readonly of: Of;
      readonly weekday: number | null;
      /** Days before it. */
      readonly early: number;
    }
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
  const night = before?.['one']?.includes('night') === true;
  return {
    days: { kind: 'date', ...date, weekday, early, ...(night ? { night } : {}) },
    isWeak: isWeak && name === undefined && early === 0,
  };
}

function earlyOf(
  cursor: Cursor,
  { count = '', weeks, fortnights, one, after, next }: Readonly<Record<string, string | undefined>>,
): number {
  if (one !== undefined || next !== undefined) return one === undefined ? -1 : 1;
  const unit = fortnights === undefined ? (weeks === undefined ? 1 : 7) : 14;
  return valueOf(cursor.language.numbers, count) * unit * (after === undefined ? 1 : -1);
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
  cursor.take(p.theAfterNext);
  const found = daySet(cursor) ?? nameds(cursor);
  if (found === null) return null;
  const { days } = found;
  cursor.take(days.kind === 'weekdays' && days.plural ? p.alone : p.only);
  const moved = weeksBehind(cursor, days);
  if (moved !== null) return { days: moved, isWeak: false };
  const isAfter = isNext || (isOneWeekday(days) && cursor.take(p.afterWeek) !== null);
  if (!isAfter || days.kind !== 'weekdays') return { days, isWeak: found.isWeak && !hasOn };
  return { days: { ...days, which: 'after' }, isWeak: false };
}

/** `tuesday week`, `friday fortnight`, `the weekend after next`. */
function weeksBehind(cursor: Cursor, days: Days): Days | null {
  const p = dayPatterns(cursor.language);
  if (days.kind !== 'weekdays' || days.which !== 'any' || days.plural) return null;
  if (cursor.take(p.afterNext) !== null) return { ...days, which: 'next', weeks: 1 };
  if (!isOneWeekday(days)) return null;
  if (cursor.take(p.fortnight) !== null) return { ...days, weeks: 2 };
  return cursor.take(p.week) === null ? null : { ...days, weeks: 1 };
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
    const which =
      weekend['which'] === undefined ? 'any' : /next|nxt|following/.test(weekend['which']) ? 'next' : 'this';
    return set([6, 0], weekend['plural'] !== undefined, which);
  }
  const match = cursor.take(p.letters);
  const { from, to } = match?.groups ?? {};
  if (match === null) return null;
  if (from === undefined || to === undefined) return set(lettersOf(cursor, match[0].trim()), true);
  const place = (letters: string) => cursor.language.weekdayLetters.indexOf(letters === 'm' ? 'mo' : letters);
  return set(range(place(from), place(to)), true);
}

function lettersOf({ language }: Cursor, text: string): number[] {
  if (/^m[/\s]*w\b|^mwf/.test(text)) return [1, 3, 5];
  if (/^t\/?th/.test(text)) return [2, 4];
  return text
    .split(/[^a-z]+/)
    .flatMap((word) => language.weekdayLetters.flatMap((each, day) => (each === word ? day : [])));
}

function whichOf(said: string | undefined): Which {
  if (said === undefined || /coming/.test(said)) return 'any';
  return /next|nxt/.test(said) ? 'next' : /following/.test(said) ? 'following' : 'this';
}

function nameds(cursor: Cursor): DaysFound | null {
  const p = dayPatterns(cursor.language);
  const match = cursor.take(p.weekdays);
  const first = match?.groups;
  if (first === undefined) return null;
  const said = first['which'];
  const which = whichOf(said);
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
  if (groups['next'] !== undefined || groups['soon'] !== undefined) return 'next month';
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
  /** Its words name the month too: `month end`. */
  readonly of?: 'month';
}

/** Days that are counted from an end of the month. */
function edgeDay(cursor: Cursor): MonthDay | null {
  const p = dayPatterns(cursor.language);
  if (cursor.take(p.lastDay) !== null || cursor.take(p.lastDayAlone) !== null) return { day: -1, isWeak: false };
  if (cursor.take(p.firstDay) !== null) return { day: 1, isWeak: false };
  if (cursor.take(p.monthEnd) !== null) return { day: -1, isWeak: false, of: 'month' };
  const back = cursor.take(p.toLast)?.groups?.['count'];
  return back === undefined ? null : { day: -valueOf(cursor.language.ordinals, back), isWeak: false };
}

function monthDay(cursor: Cursor): MonthDay | null {
  const p = dayPatterns(cursor.language);
  const edge = edgeDay(cursor);
  if (edge !== null) return edge;
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
  const before = cursor.take(p.early)?.groups;
  const early = before === undefined ? 0 : earlyOf(cursor, before);
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
  if (month !== undefined) return early === 0 ? inNamed(cursor, days, month) : null;
  return {
    days: { kind: 'monthDays', days: [...new Set(days)], of: first.of ?? of, weekday: null, early },
    isWeak: first.isWeak && of === null && !hasOn && early === 0,
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
  return { days: { kind: 'monthDays', days: [Number.parseInt(day, 10)], of: null, weekday, early: 0 }, isWeak: false };
}

/** `two fridays from now`. */
function weekdaysFromNow(cursor: Cursor): DaysFound | null {
  const { count = '', name = '' } = cursor.take(dayPatterns(cursor.language).fromNow)?.groups ?? {};
  const weeks = valueOf(cursor.language.numbers, count) - 1;
  if (name === '' || !(weeks >= 0)) return null;
  const weekdays = [weekdayAt(cursor, name)];
  return { days: { kind: 'weekdays', weekdays, plural: false, which: 'any', weeks, isCounted: true }, isWeak: false };
}

/** `next month on the 5th`. */
function ofNextMonth(cursor: Cursor): DaysFound | null {
  if (cursor.take(dayPatterns(cursor.language).nextMonth) === null) return null;
  const found = cursor.first([nth, monthDays]);
  if (found === null || !('of' in found.days) || found.days.of !== null) return null;
  return { days: { ...found.days, of: 'next month' }, isWeak: false };
}

/** `a week from friday`, `three weeks on monday`, `a fortnight today`, `a month from tomorrow`. */
export function weeksLater(cursor: Cursor): DaysFound | null {
  const groups = cursor.take(dayPatterns(cursor.language).later)?.groups;
  if (groups === undefined) return weekdaysFromNow(cursor);
  const days = (ahead(cursor) ?? nameds(cursor))?.days;
  const count = valueOf(cursor.language.numbers, groups['count'] ?? '');
  const step = Object.entries(STEPS).find(([name]) => groups[name] !== undefined)?.[1] ?? 7;
  const [more, months] = step === 0 ? [0, count] : [step * count, 0];
  if (days?.kind === 'ahead') return { days: { ...days, days: days.days + more, months }, isWeak: false };
  if (days === undefined || step < 7 || !isOneWeekday(days)) return null;
  return { days: { ...days, weeks: (step / 7) * count }, isWeak: false };
}

/** Days of each unit but the week; months are counted by themselves. */
const STEPS = { days: 1, months: 0, fortnights: 14 } as const;

/** `the last day of this year`. */
function lastOfYear(cursor: Cursor): DaysFound | null {
  if (cursor.take(dayPatterns(cursor.language).lastOfYear) === null) return null;
  const date = { year: null, month: 12, day: 31 };
  return { days: { kind: 'date', date, other: null, weekday: null, early: 0 }, isWeak: false };
}

/** The days that stand at the cursor. */
export function daysAt(cursor: Cursor): DaysFound | null {
  if (cursor.has(NO_DATE)) return null;
  return cursor.first([ahead, inMonth, ofNextMonth, dated, nth, weekdayWithDay, weekdays, lastOfYear, monthDays]);
}
