import { scheduleLimits } from '../schedule/limits.ts';
import {
  addMonths,
  civilFromDays,
  clockText,
  DAY_MS,
  dateText,
  dayOfWall,
  daysFromCivil,
  MINUTE_MS,
  monthLength,
} from '../schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../schedule/time/zone.ts';
import { type Amount, spanOf } from './amount.ts';
import { type ClockTime, inDayPart } from './clock-time.ts';
import { refusal } from './cursor.ts';
import type { Days } from './days.ts';
import { type Draft, checkWeekday, dayOfDate, nextWeekday, type Setting, today } from './draft.ts';

function clockMinute({ times, part, days }: Draft): number {
  const [time] = times ?? [];
  if (time === undefined) {
    throw refusal('moment', 'no_time', 'The day is clear, but not the time of day; add it, as in "at 9".');
  }
  if (times !== null && times.length > 1) {
    throw refusal('moment', 'several_times', 'One moment has one time; begin with "every" for a series.');
  }
  refuseMidnight(time, days);
  const named = part ?? (days?.kind === 'ahead' && days.night ? 'night' : null);
  return named === null || time.midnight ? time.minute : inDayPart(time, named);
}

/** "Tonight at midnight" is the end of today; every other day has two of them. */
function refuseMidnight({ midnight }: ClockTime, days: Days | null): void {
  if (!midnight || days === null) return;
  if (days.kind === 'ahead' && days.night && days.days === 0) return;
  throw refusal(
    'moment',
    'ambiguous_midnight',
    'A day has a midnight at its start and one at its end; write 00:00 or 23:59.',
  );
}

function addedDays(day: number, amount: Amount): number {
  const { months, days } = spanOf(amount);
  const { year, month, day: date } = addMonths(civilFromDays(day), months);
  return daysFromCivil(year, month, date) + days;
}

/** Days and longer keep the clock of the zone; hours and minutes are elapsed time. */
function afterWait(draft: Draft, amount: Amount, setting: Setting): number {
  const { timezone, now } = setting;
  const { months, days, seconds } = spanOf(amount);
  const isCalendar = months > 0 || days > 0;
  if (draft.times !== null || draft.part !== null) {
    if (!isCalendar || seconds > 0) {
      throw refusal(
        'wait',
        'contradiction',
        'A wait of minutes or hours leads to its own time; leave the other one out.',
      );
    }
    return resolveShifted(timezone, addedDays(today(setting), amount) * DAY_MS + clockMinute(draft) * MINUTE_MS);
  }
  if (!isCalendar) return now + seconds * 1_000;
  const wall = toWall(timezone, now);
  const day = dayOfWall(wall);
  return resolveShifted(timezone, addedDays(day, amount) * DAY_MS + (wall - day * DAY_MS)) + seconds * 1_000;
}

function nextMonthDay(day: number, from: number, isPast: (day: number) => boolean): number {
  const { year, month } = civilFromDays(from);
  for (let ahead = 0; ; ahead += 1) {
    const first = addMonths({ year, month, day: 1 }, ahead);
    const length = monthLength(first.year, first.month);
    const candidate = daysFromCivil(first.year, first.month, day === -1 ? length : day);
    if (day <= length && !isPast(candidate)) return candidate;
  }
}

function dayOf(days: Days, from: number, isPast: (day: number) => boolean): number {
  const first = isPast(from) ? from + 1 : from;
  switch (days.kind) {
    case 'ahead':
      return from + days.days;
    case 'date': {
      const day = dayOfDate(days.date, first);
      checkWeekday(days.weekday, day);
      return day;
    }
    case 'weekdays':
      if (days.weekdays.length > 1) {
        throw refusal('week', 'several_days', 'One moment has one day; begin with "every" for a series.');
      }
      return nextWeekday(days, days.which === 'any' ? first : from);
    case 'monthDays': {
      const [day] = days.days;
      if (day !== undefined && days.days.length === 1 && day !== -1) return nextMonthDay(day, from, isPast);
      throw refusal(
        'month',
        'which_month',
        'It is not clear whether this is meant once or for every month; say "every month" or name the month.',
      );
    }
    case 'nth':
      throw refusal(
        'month',
        'which_month',
        'It is not clear whether this is meant once or for a series; add "of the month" or "every", or write the date.',
      );
  }
}

function pastTime(minute: number, instant: number, setting: Setting): Error {
  const day = dayOfWall(toWall(setting.timezone, instant));
  const clock = clockText(minute * 60);
  if (day === today(setting)) {
    return refusal(
      'later',
      'past',
      `${clock} has already passed today in ${setting.timezone}; write "tomorrow at ${clock}" or a later time.`,
    );
  }
  return refusal(
    'later',
    'past',
    `${dateText(day)} ${clock} in ${setting.timezone} is in the past; write a moment to come.`,
  );
}

/** The one moment that a draft without a series names. */
export function onceOf(draft: Draft, setting: Setting): number {
  const { timezone, now } = setting;
  if (draft.wait !== null) return checkedInstant(afterWait(draft, draft.wait, setting));
  const minute = clockMinute(draft);
  const instantOn = (day: number) => resolveShifted(timezone, day * DAY_MS + minute * MINUTE_MS);
  const isPast = (day: number) => instantOn(day) <= now;
  const from = today(setting);
  const isMidnight = draft.times?.[0]?.midnight === true;
  // Midnight stands at the end of the evening in which somebody says it.
  const day = isMidnight ? from + 1 : draft.days === null ? from : dayOf(draft.days, from, isPast);
  const instant = instantOn(day);
  if (instant <= now) throw pastTime(minute, instant, setting);
  return checkedInstant(instant);
}

function checkedInstant(instant: number): number {
  if (instant <= scheduleLimits.lastInstant) return instant;
  throw refusal('wait', 'too_far', 'That is later than the calendar goes here.');
}
