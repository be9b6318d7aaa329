import { DateTime, Duration, IANAZone } from 'luxon';
import type { SlotQuestion } from '../../app/housekeeping/second-opinion.ts';
import type { IntervalSchedule } from '../../domain/schedule/shapes.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** A wall time is written as the instant at which the clocks of UTC show it. */
export function toWall(timezone: string, instant: number): number {
  return instant + IANAZone.create(timezone).offset(instant) * minuteMs;
}

/** Where the clocks skip a wall time, or show it twice, luxon guesses; so the answer counts only away from their changes. */
export function toInstant(timezone: string, wall: number): number {
  return DateTime.fromMillis(wall, { zone: 'utc' }).setZone(timezone, { keepLocalTime: true }).toMillis();
}

/** The widest change that is known left out a whole day. */
const nearMs = 27 * hourMs;

export function isNearChange(timezone: string, instant: number): boolean {
  const zone = IANAZone.create(timezone);
  const offset = zone.offset(instant);
  return zone.offset(instant - nearMs) !== offset || zone.offset(instant + nearMs) !== offset;
}

/** Turns the wall time that we show back into an instant. */
export function onceSlots({ schedule, after, upTo, shown }: SlotQuestion): readonly number[] {
  const instant = shown === null ? Number.NaN : toInstant(schedule.timezone, shown);
  return instant > after && instant <= upTo ? [instant] : [];
}

interface Step {
  readonly months: number;
  readonly days: number;
  readonly clockMs: number;
}

function stepOf({ interval }: IntervalSchedule): Step {
  const parts = Duration.fromISO(interval);
  const clock = { hours: parts.hours, minutes: parts.minutes, seconds: parts.seconds };
  return {
    months: parts.years * 12 + parts.months,
    days: parts.weeks * 7 + parts.days,
    clockMs: Duration.fromObject(clock).toMillis(),
  };
}

/** Adds n times the calendar part on the clocks of the zone, and then n times the clock part. */
function moved({ timezone, startAt }: Pick<IntervalSchedule, 'timezone' | 'startAt'>, step: Step, n: number): number {
  const { months, days, clockMs } = step;
  if (months === 0 && days === 0) return startAt + n * clockMs;
  const there = DateTime.fromMillis(startAt, { zone: timezone }).plus({ months: n * months, days: n * days });
  return there.toMillis() + n * clockMs;
}

const longestMonthMs = 31 * dayMs;

export function intervalSlots(schedule: IntervalSchedule, question: SlotQuestion): readonly number[] {
  const { after, upTo, count } = question;
  const { timezone, startAt } = schedule;
  const step = stepOf(schedule);
  if (schedule.from === 'completion') return [after < startAt ? startAt : moved({ timezone, startAt: after }, step, 1)];
  // No step is longer, so the walk begins before the first slot that is asked for.
  const longest = step.months * longestMonthMs + step.days * dayMs + step.clockMs;
  const slots: number[] = [];
  for (let n = Math.max(0, Math.floor((after - startAt) / longest) - 1); slots.length < count; n += 1) {
    const slot = moved(schedule, step, n);
    if (slot > upTo) break;
    if (slot > after) slots.push(slot);
  }
  return slots;
}
