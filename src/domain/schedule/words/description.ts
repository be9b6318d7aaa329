import { clockText, dateText, dayOfWall, secondOfDayOf } from '../time/calendar.ts';
import { type Duration, parseDuration } from '../time/duration.ts';
import { cronOf, recurrenceOf } from '../slots.ts';
import type { IntervalSchedule, OnceSchedule, Schedule } from '../shapes.ts';
import { counted, list } from './words.ts';
import { cronWords } from './cron.ts';
import { type DayWords, rruleWords } from './rrule.ts';
import { toWall } from '../time/zone.ts';

function momentText(instant: number, timezone: string, day: DayWords): string {
  const wall = toWall(timezone, instant);
  return `${day(dayOfWall(wall))} ${clockText(secondOfDayOf(wall))}`;
}

function onceWords({ onceAt, timezone }: OnceSchedule, day: DayWords): string {
  return `once on ${momentText(onceAt, timezone, day).replace(/ (?=\d\d:)/, ' at ')}`;
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

function intervalWords({ interval, startAt, from, timezone }: IntervalSchedule, day: DayWords): string {
  const units = unitsOf(parseDuration(interval)).filter(([value]) => value > 0);
  const [only] = units;
  const moment = momentText(startAt, timezone, day);
  const start = day === dateText ? `from ${moment}` : `starting ${moment}`;
  if (from === 'completion')
    return `${list(units.map(([value, unit]) => counted(value, unit)))} after each run has ended, ${start}`;
  const step =
    units.length === 1 && only?.[0] === 1 ? only[1] : list(units.map(([value, unit]) => counted(value, unit)));
  return `every ${step}${day === dateText ? '' : ','} ${start}`;
}

/**
 * Short English for a schedule. It never leaves a fact out; the zone is for the caller to add. Days are written like
 * `2026-11-24`, and always in the same words, unless the caller has a way to write them that people like better.
 */
export function describe(schedule: Schedule, day: DayWords = dateText): string {
  switch (schedule.kind) {
    case 'once':
      return onceWords(schedule, day);
    case 'cron':
      return cronWords(cronOf(schedule));
    case 'rrule':
      return rruleWords(recurrenceOf(schedule), day);
    case 'interval':
      return intervalWords(schedule, day);
  }
}
