import { type CronFields, EVERY_WEEK } from './cron-fields.ts';
import {
  civilFromDays,
  DAY_MS,
  daysFromCivil,
  leastGap,
  MINUTE_MS,
  monthBits,
  monthLength,
  weekdayBits,
  weekdayOf,
} from './time/calendar.ts';
import { nextElapsed, nextOnClock, type WallTimes } from './time/wall-search.ts';

const DAY_MINUTES = 1_440;
const HORIZON_MONTHS = 4_801;
/** In 28 years every kind of year meets every kind of neighbour, so a shorter distance than these show exists nowhere. */
const CYCLE_MONTHS = 28 * 12;
const CYCLE_START = { year: 2000, month: 1 };

interface Month {
  readonly year: number;
  readonly month: number;
  readonly firstDay: number;
}

function lastWeekdayBit(length: number, firstWeekday: number): number {
  const weekday = (firstWeekday + length - 1) % 7;
  if (weekday === 0) return 1 << (length - 3);
  return 1 << (weekday === 6 ? length - 2 : length - 1);
}

/** The working day nearest to each named day, never in another month. */
function nearestWeekdayBits(days: number, length: number, firstWeekday: number): number {
  let bits = 0;
  for (let day = 1; day <= length; day += 1) {
    if ((days & (1 << (day - 1))) === 0) continue;
    const weekday = (firstWeekday + day - 1) % 7;
    let moved = day;
    if (weekday === 0) moved = day === length ? day - 2 : day + 1;
    else if (weekday === 6) moved = day === 1 ? 3 : day - 1;
    bits |= 1 << (moved - 1);
  }
  return bits;
}

function weekBits(cron: CronFields, length: number, firstWeekday: number): number {
  let bits = 0;
  for (let weekday = 0; weekday < 7; weekday += 1) {
    const weeks = cron.weekdays[weekday] ?? 0;
    if (weeks === 0) continue;
    const all = weekdayBits(weekday, firstWeekday) & monthBits(length);
    if (weeks === EVERY_WEEK) {
      bits |= all;
      continue;
    }
    const first = (weekday - firstWeekday + 7) % 7;
    for (let nth = 0; nth < 5; nth += 1) {
      if ((weeks & (1 << nth)) !== 0) bits |= all & (1 << (first + nth * 7));
    }
    if ((weeks & 32) !== 0) bits |= 1 << (31 - Math.clz32(all));
  }
  return bits;
}

/** The days of one month on which the expression runs, as bits. */
function daysOfMonth(cron: CronFields, { year, month, firstDay }: Month): number {
  if ((cron.months & (1 << (month - 1))) === 0) return 0;
  const length = monthLength(year, month);
  const firstWeekday = weekdayOf(firstDay);
  let days = cron.days & monthBits(length);
  if (cron.lastDay) days |= 1 << (length - 1);
  if (cron.lastWeekday) days |= lastWeekdayBit(length, firstWeekday);
  if (cron.nearestWeekdays !== 0) days |= nearestWeekdayBits(cron.nearestWeekdays, length, firstWeekday);
  if (cron.anyWeekday) return days;
  const weekdays = weekBits(cron, length, firstWeekday);
  return cron.bothDays || cron.anyDay ? days & weekdays : days | weekdays;
}

function following({ year, month, firstDay }: Month): Month {
  const next = firstDay + monthLength(year, month);
  return month === 12 ? { year: year + 1, month: 1, firstDay: next } : { year, month: month + 1, firstDay: next };
}

function firstTime(cron: CronFields): number {
  return (cron.hours[0] ?? 0) * 60 + (cron.minutes[0] ?? 0);
}

function lastTime(cron: CronFields): number {
  return (cron.hours.at(-1) ?? 0) * 60 + (cron.minutes.at(-1) ?? 0);
}

/** The first minute of the day at or after `from`, or -1. */
function timeFrom(cron: CronFields, from: number): number {
  const fromHour = Math.floor(from / 60);
  for (const hour of cron.hours) {
    if (hour < fromHour) continue;
    if (hour > fromHour) return hour * 60 + (cron.minutes[0] ?? 0);
    for (const minute of cron.minutes) if (hour * 60 + minute >= from) return hour * 60 + minute;
  }
  return -1;
}

export function nextCronWall(cron: CronFields, from: number): number | null {
  const fromMinute = Math.ceil(from / MINUTE_MS);
  const today = Math.floor(fromMinute / DAY_MINUTES);
  const date = civilFromDays(today);
  let month: Month = { year: date.year, month: date.month, firstDay: today - date.day + 1 };
  let days = daysOfMonth(cron, month);
  if ((days & (1 << (date.day - 1))) !== 0) {
    const time = timeFrom(cron, fromMinute - today * DAY_MINUTES);
    if (time >= 0) return today * DAY_MS + time * MINUTE_MS;
  }
  days &= date.day === 31 ? 0 : -1 << date.day;
  for (let searched = 0; searched < HORIZON_MONTHS; searched += 1) {
    if (days !== 0) {
      const day = month.firstDay + 31 - Math.clz32(days & -days);
      return day * DAY_MS + firstTime(cron) * MINUTE_MS;
    }
    month = following(month);
    days = daysOfMonth(cron, month);
  }
  return null;
}

function cronWalls(cron: CronFields): WallTimes {
  return { next: (from) => nextCronWall(cron, from), grain: MINUTE_MS };
}

export function nextCron(cron: CronFields, timezone: string, after: number): number | null {
  return cron.fixedTimes
    ? nextOnClock(cronWalls(cron), timezone, after)
    : nextElapsed(cronWalls(cron), timezone, after);
}

function* daysOver(cron: CronFields, months: number): Generator<number> {
  let month: Month = { ...CYCLE_START, firstDay: daysFromCivil(CYCLE_START.year, CYCLE_START.month, 1) };
  for (let searched = 0; searched < months; searched += 1) {
    for (let days = daysOfMonth(cron, month); days !== 0; days &= days - 1) {
      yield month.firstDay + 31 - Math.clz32(days & -days);
    }
    month = following(month);
  }
}

function timeGap({ minutes, hours }: CronFields): number {
  const roundTheHour = (minutes[0] ?? 0) - (minutes.at(-1) ?? 0);
  return Math.min(leastGap(minutes), leastGap(hours) * 60 + roundTheHour);
}

/** The densest distance on the clock, from the sets alone: inside a day, and over midnight where two days allow it. */
export function cronMinGap(cron: CronFields): number | null {
  const inside = timeGap(cron);
  const overMidnight = DAY_MINUTES + firstTime(cron) - lastTime(cron);
  if (inside <= overMidnight) return inside * MINUTE_MS;
  let days = leastGap(daysOver(cron, CYCLE_MONTHS), 1);
  if (days > 366) days = leastGap(daysOver(cron, 2 * HORIZON_MONTHS), 1);
  const least = Math.min(inside, (days - 1) * DAY_MINUTES + overMidnight);
  return Number.isFinite(least) ? least * MINUTE_MS : null;
}
