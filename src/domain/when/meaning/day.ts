import { addMonths, civilFromDays, daysFromCivil, monthLength, weekdayOf } from '../../schedule/time/calendar.ts';
import { told } from '../english.ts';
import { Question, refusal, type Way } from '../faults.ts';
import { type Amount, spanOf } from '../pieces/amount.ts';
import type { CalendarDate } from '../pieces/dates.ts';
import type { Days } from '../pieces/days.ts';
import { dayEdit, dayLabel, type Reading, today } from './reading.ts';

/** The one day that words name, counted since 1970. */

/** Where the words of a day stand, so that a question can put another day there. */
export type Span = { readonly begin: number; readonly end: number } | null;

export function addedDays(day: number, amount: Amount): number {
  const { months, days } = spanOf(amount);
  const { year, month, day: date } = addMonths(civilFromDays(day), months);
  return daysFromCivil(year, month, date) + days;
}

/** The first day from `from` on that has this date; a 29 February waits for its year, and -1 is the last of the month. */
export function dayOfDate({ year, month, day }: CalendarDate, from: number): number {
  const inYear = (of: number) => daysFromCivil(of, month, day === -1 ? monthLength(of, month) : day);
  if (year !== null) return inYear(year);
  for (let candidate = civilFromDays(from).year; ; candidate += 1) {
    const found = inYear(candidate);
    if (found >= from && day <= monthLength(candidate, month)) return found;
  }
}

function dayWays(span: Span, days: readonly number[], { setting }: Reading): readonly Way[] {
  return days.map((day) => ({ text: dayLabel(day, setting), edits: span === null ? [] : [dayEdit(span, day)] }));
}

/** "Friday the 28th" whose 28th is a Saturday: one of the two is wrong. */
function checkWeekday(weekday: number | null, day: number, span: Span, reading: Reading): void {
  if (weekday === null || weekdayOf(day) === weekday) return;
  const apart = (weekday - weekdayOf(day) + 7) % 7;
  const nearest = apart > 3 ? day + apart - 7 : day + apart;
  throw new Question((say) => say.otherWeekday(day, weekdayOf(day), weekday), dayWays(span, [day, nearest], reading));
}

/** "Tomorrow wednesday" on a Wednesday: tomorrow, or the coming one. */
function checkAhead(
  { days, night, weekday = null }: Extract<Days, { kind: 'ahead' }>,
  now: number,
  span: Span,
  reading: Reading,
): void {
  const day = now + days;
  if (weekday === null || weekdayOf(day) === weekday) return;
  const coming = now + ((weekday - weekdayOf(now) + 7) % 7 || 7);
  const ways = dayWays(span, [day, coming], reading).map(({ text, edits }) => ({
    text,
    edits: edits.map((edit) => ({ ...edit, text: `${edit.text}${night ? ' at night' : ''}` })),
  }));
  throw new Question((say) => say.otherWeekday(day, weekdayOf(day), weekday), ways);
}

/** The date, in the order of its figures that is known. */
export function ordered({ date, other }: Extract<Days, { kind: 'date' }>, span: Span, reading: Reading): CalendarDate {
  const { slashes } = reading.setting;
  if (other === null || slashes === 'dmy') return date;
  if (slashes === 'mdy') return other;
  const from = today(reading.setting);
  const days = [date, other].map((each) => dayOfDate(each, from));
  throw new Question((say) => say.whichDate, dayWays(span, days, reading));
}

type Weekdays = Extract<Days, { kind: 'weekdays' }>;

/**
 * "Next friday", said on a Wednesday, is the coming one to some and the one after it to others. It is taken only where
 * both are the same day: when the weekday lies in the week after this one anyway.
 */
function weekdayFrom(days: Weekdays, from: number, span: Span, reading: Reading): number {
  const { weekdays, which, weeks = 0, isCounted = false } = days;
  const [weekday = 0] = weekdays;
  const coming = from + ((weekday - weekdayOf(from) + 7) % 7 || (isCounted ? 7 : 0));
  const found = coming + 7 * weeks;
  const monday = from + ((8 - weekdayOf(from)) % 7 || 7);
  if (which === 'after') return monday + ((weekday + 6) % 7);
  // "The following monday" may follow the coming one.
  const isNext = which === 'next' && coming < monday;
  if (!isNext && which !== 'following') return found;
  if (isNext && coming === from) return found + 7;
  throw new Question((say) => say.whichWeekday(weekday), dayWays(span, [found, found + 7], reading));
}

function nextMonthDay(day: number, from: number): number {
  const { year, month } = civilFromDays(from);
  for (let ahead = 0; ; ahead += 1) {
    const first = addMonths({ year, month, day: 1 }, ahead);
    const length = monthLength(first.year, first.month);
    const candidate = daysFromCivil(first.year, first.month, day === -1 ? length : day);
    if (day <= length && candidate >= from) return candidate;
  }
}

/** It is a day of its own, and hardly a slip. */
function isFridayThe13th(
  { weekday, days: [day] }: Extract<Days, { kind: 'monthDays' }>,
  span: Span,
  { whole }: Reading,
) {
  return weekday === 5 && day === 13 && span !== null && /\bthe\b/i.test(whole.slice(span.begin, span.end));
}

function fridayThe13th(from: number, { setting, notes }: Reading): number {
  let day = nextMonthDay(13, from);
  while (weekdayOf(day) !== 5) day = nextMonthDay(13, day + 1);
  notes.push({ what: 'date', text: dayLabel(day, setting), other: null });
  return day;
}

/** A day of the month that is `ahead` months from now. */
function inMonth(day: number, ahead: number, from: number): number {
  const first = addMonths({ ...civilFromDays(from), day: 1 }, ahead);
  const length = monthLength(first.year, first.month);
  if (day > length) throw refusal('date', 'no_such_date', (say) => say.noSuchDay(day));
  return daysFromCivil(first.year, first.month, day === -1 ? length : day);
}

function nthOfMonth(year: number, month: number, { ordinals, weekday }: Extract<Days, { kind: 'nth' }>): number | null {
  const [ordinal = 1] = ordinals;
  const first = daysFromCivil(year, month, 1);
  const all = Array.from({ length: monthLength(year, month) }, (_none, index) => first + index).filter((day) =>
    weekday === 'work' ? weekdayOf(day) % 6 !== 0 : weekdayOf(day) === weekday,
  );
  return all.at(ordinal > 0 ? ordinal - 1 : ordinal) ?? null;
}

function nthDay(days: Extract<Days, { kind: 'nth' }>, from: number, span: Span, reading: Reading): number {
  const { year, month } = civilFromDays(from);
  if (days.of === 'this month' || days.of === 'next month') {
    const at = addMonths({ year, month, day: 1 }, days.of === 'this month' ? 0 : 1);
    return nthOfMonth(at.year, at.month, days) ?? from - 1;
  }
  const step = days.month === null ? 1 : 12;
  for (let ahead = 0; ; ahead += 1) {
    const at = addMonths({ year, month: days.month ?? month, day: 1 }, ahead * step);
    const found = nthOfMonth(at.year, at.month, days);
    if (found === null || found < from) continue;
    if (days.month !== null) return found;
    throw new Question(
      (say) => say.monthlyOrOnce,
      [
        {
          text: (say) => say.offers.everyMonth,
          edits: span === null ? [] : [{ begin: span.end, end: span.end, text: ' of every month' }],
        },
        ...dayWays(span, [found], reading).map((way): Way => ({
          ...way,
          text: (say) => say.offers.once(told(way.text, say)),
        })),
      ],
    );
  }
}

/** The first day from `from` on that is meant. */
export function dayOf(days: Days, from: number, span: Span, reading: Reading): number {
  const now = today(reading.setting);
  switch (days.kind) {
    case 'ahead':
      checkAhead(days, now, span, reading);
      return addedDays(now + days.days, [{ value: days.months ?? 0, unit: 'month' }]);
    case 'date': {
      const date = ordered(days, span, reading);
      const day = dayOfDate(date, from + days.early);
      checkWeekday(days.weekday, day, span, reading);
      return day - days.early;
    }
    case 'weekdays':
      return weekdayFrom(days, days.which === 'any' && days.weeks === undefined ? from : now, span, reading);
    case 'monthDays': {
      const [day = 1] = days.days;
      if (isFridayThe13th(days, span, reading)) return fridayThe13th(from, reading);
      const ahead = { 'this month': 0, 'next month': 1, month: null, quarter: null }[days.of ?? 'month'];
      const found = ahead === null ? nextMonthDay(day, from + days.early) : inMonth(day, ahead, now);
      checkWeekday(days.weekday, found, span, reading);
      return found - days.early;
    }
    case 'nth':
      return nthDay(days, from, span, reading);
  }
}
