import { scheduleLimits } from '../../schedule/limits.ts';
import {
  addMonths,
  civilFromDays,
  DAY_MS,
  dayOfWall,
  daysFromCivil,
  MINUTE_MS,
  monthLength,
  weekdayOf,
} from '../../schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../../schedule/time/zone.ts';
import { type ReaderWords, told } from '../english.ts';
import { Question, refusal, type Way } from '../faults.ts';
import { type Amount, spanOf } from '../pieces/amount.ts';
import type { CalendarDate } from '../pieces/dates.ts';
import { type Days, isOneWeekday } from '../pieces/days.ts';
import type { Group } from './plan.ts';
import { clock, dayEdit, dayLabel, noteShift, type Reading, timeEdit, today } from './reading.ts';
import { minutesOf } from './times.ts';

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

function floored(instant: number, step: number): number {
  return Math.floor(instant / step) * step;
}

/** Days and longer keep the clock of the zone; hours and minutes are elapsed time, counted from the running minute. */
function afterWait(group: Group, amount: Amount, reading: Reading): number {
  const { timezone, now } = reading.setting;
  const { months, days, seconds } = spanOf(amount);
  const isCalendar = months > 0 || days > 0;
  if (group.times !== null || group.part !== null) {
    if (!isCalendar || seconds > 0) {
      throw refusal('wait', 'contradiction', (say) => say.waitAndTime);
    }
    const [minute = 0] = minutesOf(group, reading);
    return resolveShifted(timezone, addedDays(today(reading.setting), amount) * DAY_MS + minute * MINUTE_MS);
  }
  const from = floored(now, amount.some(({ unit }) => unit === 'second') ? 1_000 : MINUTE_MS);
  if (!isCalendar) return from + seconds * 1_000;
  const wall = toWall(timezone, from);
  const day = dayOfWall(wall);
  return resolveShifted(timezone, addedDays(day, amount) * DAY_MS + (wall - day * DAY_MS)) + seconds * 1_000;
}

/** "In 17.30" is said as a length, and could be meant as a time. */
function waited(group: Group, amount: Amount, reading: Reading): number {
  const { clockAt, begin } = group;
  const instant = checked(afterWait(group, amount, reading));
  if (clockAt === null) return instant;
  const { seconds } = spanOf(amount);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const figures = reading.whole.slice(clockAt.begin, clockAt.end);
  const at = hours < 24 ? clockOf(hours, minutes) : null;
  reading.notes.push({
    what: 'hour',
    text: (say) => say.waitOf(hours, minutes),
    other:
      at === null
        ? null
        : { text: (say) => say.offers.at(figures), edits: [{ begin, end: clockAt.end, text: `at ${at}` }] },
  });
  return instant;
}

/** `2:30` keeps the half of the day open, as it was written. */
function clockOf(hours: number, minutes: number): string {
  return `${hours}:${String(minutes).padStart(2, '0')}`;
}

interface Moment {
  readonly group: Group;
  readonly minute: number;
  readonly reading: Reading;
  readonly at: (day: number) => number;
}

/** A time without a day is the next one that fits. */
function nextTime({ group, minute, reading, at }: Moment): number {
  const { setting, notes } = reading;
  const from = today(setting);
  const isMidnight = group.times?.[0]?.named === 'midnight';
  if (isMidnight)
    return at(from + (minute === 0 ? 1 : 0)) > setting.now ? at(from + (minute === 0 ? 1 : 0)) : at(from + 1);
  if (at(from) > setting.now) return at(from);
  const [time] = group.times ?? [];
  const later = minute + 720;
  const isLater =
    time?.open === true && group.part === null && minute < 720 && at(from) + 720 * MINUTE_MS > setting.now;
  const other = isLater && time !== undefined ? { text: clock(later), edits: [timeEdit(time, later, reading)] } : null;
  notes.push({ what: 'passed', text: dayLabel(from + 1, setting), other });
  return at(from + 1);
}

/** `today at 9` that has passed: the other half of the day, or tomorrow. */
function askPassed({ group, minute, reading, at }: Moment): never {
  const { setting } = reading;
  const from = today(setting);
  const [time] = group.times ?? [];
  const later = minute + 720;
  const isLater = time?.open === true && minute < 720 && at(from) + 720 * MINUTE_MS > setting.now;
  const { daysAt } = group;
  const isNight = group.days?.kind === 'ahead' && group.days.night;
  const tomorrow = daysAt === null ? [] : [{ ...daysAt, text: isNight ? 'tomorrow night' : 'tomorrow' }];
  throw new Question(
    (say) => say.passedToday(clock(minute)),
    [
      ...(isLater && time !== undefined
        ? [{ text: (say: ReaderWords) => say.offers.today(clock(later)), edits: [timeEdit(time, later, reading)] }]
        : []),
      { text: (say) => say.offers.tomorrow(clock(minute)), edits: tomorrow },
    ],
  );
}

function onDay(moment: Moment, days: Days): number {
  const { group, reading, at } = moment;
  const { setting } = reading;
  const from = today(setting);
  const isPast = at(from) <= setting.now;
  const day = dayOf(days, isPast ? from + 1 : from, group.daysAt, reading);
  if (days.kind === 'ahead') return at(nightDay(moment, day, days.night));
  askDayOrHour(moment, day);
  if (group.part === 'night') return at(nightDay(moment, day, true));
  noteDay(moment, days, day);
  return at(day);
}

/** "Tonight at 1" is after midnight, and "tonight at midnight" the end of today. */
function nightDay({ group, minute, reading }: Moment, day: number, isNight: boolean): number {
  const { setting, notes } = reading;
  const isMidnight = group.times?.[0]?.named === 'midnight';
  if ((isNight || group.part === 'night') && minute < 360) {
    notes.push({ what: 'date', text: dayLabel(day + 1, setting), other: null });
    return day + 1;
  }
  if (isMidnight && day === today(setting)) return day + 1;
  if (isMidnight) noteMidnight({ group, reading }, day);
  return day;
}

/** A day has a midnight at its start and one at its end. */
function noteMidnight({ group, reading }: Pick<Moment, 'group' | 'reading'>, day: number): void {
  if (group.daysAt === null) return;
  const label = (of: number) => (say: ReaderWords) => say.dayAt(dayLabel(of, reading.setting)(say), '00:00');
  const other = { text: label(day + 1), edits: [dayEdit(group.daysAt, day + 1)] };
  reading.notes.push({ what: 'part', text: label(day), other });
}

/** Says which day was taken, where another one could have been meant. */
function noteDay({ group, reading, at }: Moment, days: Days, day: number): void {
  const { setting, notes } = reading;
  const from = today(setting);
  const label = dayLabel(day, setting);
  const insteadOf = (other: number) => ({
    text: dayLabel(other, setting),
    edits: group.daysAt === null ? [] : [dayEdit(group.daysAt, other)],
  });
  const isDate = days.kind === 'date';
  const isPassed = at(from) <= setting.now && dayOf(days, from, group.daysAt, { ...reading, notes: [] }) !== day;
  if (group.times?.[0]?.named === 'midnight') noteMidnight({ group, reading }, day);
  if (isPassed) notes.push({ what: isDate ? 'date' : 'passed', text: label, other: null });
  else if (days.kind === 'weekdays' && days.weekdays.length === 2) {
    notes.push({ what: 'date', text: label, other: insteadOf(day + 1) });
  } else if (isOneWeekday(days) && day === from) notes.push({ what: 'date', text: label, other: insteadOf(day + 7) });
  else if (isDate && days.date.year === null && civilFromDays(day).year !== civilFromDays(from).year) {
    notes.push({ what: 'date', text: label, other: null });
  }
}

/** "Friday 20" is a date and an hour where the next Friday is the 20th. */
function askDayOrHour({ group, reading }: Moment, day: number): void {
  const [time] = group.times ?? [];
  const isHour = time?.assumed === true && group.days?.kind === 'weekdays' && group.daysAt !== null;
  const hour = time === undefined ? 0 : time.minute / 60;
  if (!isHour || time === undefined || civilFromDays(day).day !== hour || hour <= 12) return;
  const label = dayLabel(day, reading.setting);
  throw new Question(
    (say) => say.dayOrHour(hour),
    [
      {
        text: (say) => say.offers.dayAndTime(label(say), clock(time.minute)),
        edits: [timeEdit(time, time.minute, reading)],
      },
      {
        text: (say) => say.offers.dayAndTime(label(say), '09:00'),
        edits: [{ begin: time.begin, end: time.end, text: 'at 09:00' }],
      },
    ],
  );
}

/** "Today" alone says no hour that a default could stand for. */
function askHour({ daysAt, end }: Group, reading: Reading): never {
  const { timezone, now } = reading.setting;
  const left = [10, 12, 15, 18, 20, 22].filter(
    (hour) => resolveShifted(timezone, today(reading.setting) * DAY_MS + hour * 60 * MINUTE_MS) > now,
  );
  const at = daysAt?.end ?? end;
  const ways = left
    .slice(0, 3)
    .map((hour) => ({ text: clock(hour * 60), edits: [{ begin: at, end: at, text: ` at ${clock(hour * 60)}` }] }));
  throw new Question((say) => say.whatTimeToday, ways, ['time']);
}

/** The moments that a group without a rhythm names. */
export function momentsOf(group: Group, reading: Reading): readonly number[] {
  const { setting } = reading;
  if (group.wait !== null) return [waited(group, group.wait, reading)];
  const { days } = group;
  const isToday = days?.kind === 'ahead' && days.days === 0 && (days.months ?? 0) === 0 && !days.night;
  if (isToday && group.times === null && group.part === null) askHour(group, reading);
  return minutesOf(group, reading).map((minute) => {
    const at = (day: number) => resolveShifted(setting.timezone, day * DAY_MS + minute * MINUTE_MS);
    const moment = { group, minute, reading, at };
    const instant = days === null ? nextTime(moment) : onDay(moment, days);
    if (instant > setting.now) return noteShift(checked(instant), minute, reading);
    if (days?.kind === 'ahead') return askPassed(moment);
    const day = dayOfWall(toWall(setting.timezone, instant));
    throw refusal('later', 'past', (say) =>
      say.isPast(say.dayAt(dayLabel(day, setting)(say), clock(minute)), setting.timezone),
    );
  });
}

function checked(instant: number): number {
  if (instant <= scheduleLimits.lastInstant) return instant;
  throw refusal('wait', 'too_far', (say) => say.tooLate);
}
