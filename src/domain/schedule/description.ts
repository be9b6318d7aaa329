import { clockText, dateText, dayOfWall, secondOfDayOf } from './calendar.ts';
import { type Duration, parseDuration } from './duration.ts';
import { cronOf, recurrenceOf } from './slots.ts';
import type { IntervalSchedule, OnceSchedule, Schedule } from './shapes.ts';
import { counted, list } from './words.ts';
import { cronWords } from './words-cron.ts';
import { rruleWords } from './words-rrule.ts';
import { toWall } from './zone.ts';

function momentText(instant: number, timezone: string): string {
  const wall = toWall(timezone, instant);
  return `${dateText(dayOfWall(wall))} ${clockText(secondOfDayOf(wall))}`;
}

function onceWords({ onceAt, timezone }: OnceSchedule): string {
  return `once on ${momentText(onceAt, timezone).replace(' ', ' at ')}`;
}

function unitsOf({ months, days, clockMs }: Duration): Array<[number, string]> {
  const weeks = days % 7 === 0 ? days / 7 : 0;
  const seconds = clockMs / 1_000;
  return [
    [Math.floor(months / 12), 'year'],
    [months % 12, 'month'],
    [weeks, 'week'],
    [weeks > 0 ? 0 : days, 'day'],
    [Math.floor(seconds / 3_600), 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ];
}

function intervalWords({ interval, startAt, from, timezone }: IntervalSchedule): string {
  const units = unitsOf(parseDuration(interval)).filter(([value]) => value > 0);
  const [only] = units;
  const start = momentText(startAt, timezone);
  if (from === 'completion')
    return `${list(units.map(([value, unit]) => counted(value, unit)))} after each run has ended, from ${start}`;
  const step =
    units.length === 1 && only?.[0] === 1 ? only[1] : list(units.map(([value, unit]) => counted(value, unit)));
  return `every ${step} from ${start}`;
}

/** Short English for a schedule. It never leaves a fact out; the zone is for the caller to add. */
export function describe(schedule: Schedule): string {
  switch (schedule.kind) {
    case 'once':
      return onceWords(schedule);
    case 'cron':
      return cronWords(cronOf(schedule));
    case 'rrule':
      return rruleWords(recurrenceOf(schedule));
    case 'interval':
      return intervalWords(schedule);
  }
}
