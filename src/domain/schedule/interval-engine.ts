import { addMonths, civilFromDays, DAY_MS, dayOfWall, daysFromCivil } from './time/calendar.ts';
import { type Duration, parseDuration } from './time/duration.ts';
import type { IntervalSchedule } from './shapes.ts';
import { resolveShifted, toWall } from './time/zone.ts';

const MEAN_MONTH_MS = 30.436875 * DAY_MS;

/** A wall time moved on by whole months, clamped to the month's end, and then by whole days. */
function addCalendar(wall: number, months: number, days: number): number {
  const day = dayOfWall(wall);
  if (months === 0) return wall + days * DAY_MS;
  const date = addMonths(civilFromDays(day), months);
  return (daysFromCivil(date.year, date.month, date.day) + days - day) * DAY_MS + wall;
}

/** The wall time of slot n before its clock part is added. Always from the anchor, so that nothing drifts. */
export function intervalWall(schedule: IntervalSchedule, duration: Duration, n: number): number {
  return addCalendar(toWall(schedule.timezone, schedule.startAt), n * duration.months, n * duration.days);
}

/** The anchor itself never comes from here, because resolving its wall time would lose the second pass of an overlap. */
function slotAt(schedule: IntervalSchedule, duration: Duration, n: number): number {
  if (duration.months === 0 && duration.days === 0) return schedule.startAt + n * duration.clockMs;
  return resolveShifted(schedule.timezone, intervalWall(schedule, duration, n)) + n * duration.clockMs;
}

function meanStep(duration: Duration): number {
  return duration.months * MEAN_MONTH_MS + duration.days * DAY_MS + duration.clockMs;
}

/** A number not above that of the first slot after `after`, off by a few at most. */
export function estimate(schedule: IntervalSchedule, duration: Duration, after: number): number {
  return Math.max(0, Math.floor((after - schedule.startAt) / meanStep(duration)) - 1);
}

function nextAnchored(schedule: IntervalSchedule, duration: Duration, after: number): number {
  let n = estimate(schedule, duration, after);
  while (n > 0 && slotAt(schedule, duration, n) > after) n -= 1;
  while (slotAt(schedule, duration, n) <= after) n += 1;
  return slotAt(schedule, duration, n);
}

/** A delay after `after`, which is when the last run ended. */
function nextAfterCompletion(schedule: IntervalSchedule, duration: Duration, after: number): number {
  const { months, days, clockMs } = duration;
  if (months === 0 && days === 0) return after + clockMs;
  const moved = resolveShifted(schedule.timezone, addCalendar(toWall(schedule.timezone, after), months, days));
  return Math.max(moved + clockMs, after + 1);
}

export function nextInterval(schedule: IntervalSchedule, after: number): number {
  if (schedule.startAt > after) return schedule.startAt;
  const duration = parseDuration(schedule.interval);
  return schedule.from === 'completion'
    ? nextAfterCompletion(schedule, duration, after)
    : nextAnchored(schedule, duration, after);
}

/** The fewest days that so many months can span, counted from one first of a month to another. */
function leastDaysOf(months: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let start = 0; start < 48; start += 1) {
    const from = addMonths({ year: 2001, month: 1, day: 1 }, start);
    const to = addMonths(from, months);
    least = Math.min(least, daysFromCivil(to.year, to.month, to.day) - daysFromCivil(from.year, from.month, from.day));
  }
  return least;
}

export function intervalMinGap(schedule: IntervalSchedule): number {
  const duration = parseDuration(schedule.interval);
  const months = duration.months === 0 ? 0 : leastDaysOf(duration.months);
  return (months + duration.days) * DAY_MS + duration.clockMs;
}
