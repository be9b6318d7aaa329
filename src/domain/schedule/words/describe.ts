import type { Schedule } from '../shapes.ts';
import { cronOf, recurrenceOf } from '../slots.ts';
import { dateText, dayOfWall } from '../time/calendar.ts';
import { type Duration, parseDuration } from '../time/duration.ts';
import { toWall } from '../time/zone.ts';
import { cronRhythm } from './cron-facts.ts';
import { english } from './english.ts';
import type { DayMoment, DayWords, Exception, ScheduleFacts, ScheduleWords, Step } from './facts.ts';
import { exceptionAt, exceptionsIn, momentOf, momentsOf, rhythmsOf } from './rule-facts.ts';

export interface Telling {
  /** English without them. */
  readonly words?: ScheduleWords | undefined;
  /** How people have days written; without it they are written as programs read them, always in the same words. */
  readonly day?: DayWords | undefined;
  /** Ends and starts that are over by then are not told to people. */
  readonly now?: number | undefined;
}

function stepsOf({ months, days, clockMs }: Duration): Step[] {
  const weeks = days % 7 === 0 ? days / 7 : 0;
  const seconds = clockMs / 1_000;
  const isBare = months + days === 0 && seconds % 60 === 0;
  // People say 90 minutes.
  if (isBare && seconds > 3_600 && seconds < 7_200) return [{ value: seconds / 60, unit: 'minute' }];
  const steps: Step[] = [
    { value: Math.floor(months / 12), unit: 'year' },
    { value: months % 12, unit: 'month' },
    { value: weeks, unit: 'week' },
    { value: weeks > 0 ? 0 : days, unit: 'day' },
    { value: Math.floor(seconds / 3_600), unit: 'hour' },
    { value: Math.floor(seconds / 60) % 60, unit: 'minute' },
    { value: seconds % 60, unit: 'second' },
  ];
  return steps.filter(({ value }) => value > 0);
}

function factsOf(schedule: Schedule, now: number | undefined): ScheduleFacts {
  const { timezone } = schedule;
  switch (schedule.kind) {
    case 'once':
      return { is: 'once', moment: momentOf(schedule.onceAt, timezone) };
    case 'cron':
      return { is: 'rhythms', rhythms: [cronRhythm(cronOf(schedule))], not: [], also: [] };
    case 'interval': {
      const { interval, startAt, from } = schedule;
      const duration = parseDuration(interval);
      // Steps within a day that have begun need no start any more: what is next tells the rest.
      const isOver = now !== undefined && startAt <= now && duration.months + duration.days === 0;
      const start = isOver ? null : momentOf(startAt, timezone);
      return { is: 'interval', steps: stepsOf(duration), afterEnd: from === 'completion', start };
    }
    case 'rrule': {
      const recurrence = recurrenceOf(schedule);
      const nowWall = now === undefined ? null : toWall(timezone, now);
      const isAhead = ({ day }: DayMoment) => nowWall === null || day >= dayOfWall(nowWall);
      const rhythms = rhythmsOf(recurrence, nowWall);
      const also = momentsOf(recurrence)
        .map((at) => momentOf(at, timezone))
        .filter(isAhead);
      return { is: 'rhythms', rhythms, not: exceptionsOf(schedule, now), also };
    }
  }
}

/** The exceptions of a schedule, one by one, without those that are over. */
export function exceptionsOf(schedule: Schedule, now?: number): readonly Exception[] {
  if (schedule.kind !== 'rrule') return [];
  const recurrence = recurrenceOf(schedule);
  const today = now === undefined ? Number.NEGATIVE_INFINITY : dayOfWall(toWall(schedule.timezone, now));
  return exceptionsIn(recurrence).filter((exception) => {
    if (exception.is === 'days') return true;
    return (exception.is === 'range' ? exception.to : exception.moment.day) >= today;
  });
}

/** A schedule in words. To programs it never leaves a fact out; the zone is for the caller to add. */
export function describe(schedule: Schedule, { words = english, day, now }: Telling = {}): string {
  const facts = factsOf(schedule, day === undefined ? undefined : now);
  return words.describe(facts, day ?? dateText, day === undefined ? 'records' : 'people');
}

/** How often and when, as short as a row of a list needs it: `weekdays 09:00`. */
export function cadence(schedule: Schedule, { words = english, day = dateText, now }: Telling = {}): string {
  return words.cadence(factsOf(schedule, now), day);
}

export function exceptionWords(exception: Exception, { words = english, day = dateText }: Telling = {}): string {
  return words.exception(exception, day);
}

/** Why the schedule itself has nothing at an instant; null where no exception takes it. */
export function leftOutAt(
  schedule: Schedule,
  instant: number,
  { words = english, day = dateText }: Telling = {},
): string | null {
  const exception = schedule.kind === 'rrule' ? exceptionAt(recurrenceOf(schedule), instant) : null;
  return exception === null ? null : words.leavesOut(exception, day);
}
