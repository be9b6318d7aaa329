import { normalCron, parseCron } from './cron-fields.ts';
import { normalRrule, readRecurrence } from './rrule/recurrence.ts';
import {
  type Schedule,
  type ScheduleInput,
  type Fault,
  quoted,
  unreadable,
  type IntervalSchedule,
  type OnceSchedule,
} from './shapes.ts';
import { cronOf, recurrenceOf } from './slots.ts';
import { clockText, dateText, dayOfWall, secondOfDayOf, iso } from './time/calendar.ts';
import { normalDuration, parseDuration, type Duration } from './time/duration.ts';
import { zoneName } from './time/zone-name.ts';
import { parseInstant, toWall } from './time/zone.ts';
import { cronWords } from './words/cron.ts';
import { type DayWords, rruleWords } from './words/rrule.ts';
import { counted, list } from './words/words.ts';

export { assumptions, type Refusal, refusals, type Warning, warnings } from './advice.ts';
export { anchorOf, isDelay, isSlot, lastSlot, minGapMs, nextSlot, nextSlots, slotsThrough } from './slots.ts';
export type { Bounds, Schedule, ScheduleInput } from './shapes.ts';
export { offsetAt, wallText } from './time/zone.ts';
export { isTimezone } from './time/zone-name.ts';

function required(input: ScheduleInput, field: Fault['field'] & keyof ScheduleInput): string {
  const value = input[field];
  if (value !== undefined && value !== '') return value;
  throw unreadable({ field, reason: 'missing' }, `A schedule of kind "${input.kind}" needs ${field}; add it.`);
}

const FIELDS = {
  once: ['once_at'],
  cron: ['cron'],
  rrule: ['rrule'],
  interval: ['interval', 'start_at', 'from'],
} as const;
const ALL_FIELDS = Object.values(FIELDS).flat();

/** A field of another kind would be dropped in silence, and with it what the client meant. */
function refuseForeignFields(input: ScheduleInput): void {
  const own: readonly string[] = FIELDS[input.kind];
  const foreign = ALL_FIELDS.find((field) => input[field] !== undefined && !own.includes(field));
  if (foreign !== undefined) {
    throw unreadable(
      { field: foreign, reason: 'other_kind' },
      `${foreign} does not belong to a schedule of kind "${input.kind}"; leave it out or change the kind.`,
    );
  }
}

/** Reads what a client sent and gives it the form that is stored. `now` is the anchor of what names no start. */
export function parseSchedule(input: ScheduleInput, now: number): Schedule {
  const timezone = zoneName(input.timezone);
  if (timezone === null) {
    throw unreadable(
      { field: 'timezone', reason: 'unknown' },
      `${quoted(input.timezone)} is not a time zone; write its IANA name, such as Europe/Madrid or UTC.`,
    );
  }
  refuseForeignFields(input);
  switch (input.kind) {
    case 'once':
      return { kind: 'once', onceAt: parseInstant(required(input, 'once_at'), timezone, 'once_at'), timezone };
    case 'cron': {
      const cron = normalCron(required(input, 'cron'));
      parseCron(cron);
      return { kind: 'cron', cron, timezone };
    }
    case 'rrule':
      return { kind: 'rrule', rrule: normalRrule(readRecurrence(required(input, 'rrule'), timezone, now)), timezone };
    case 'interval': {
      const interval = normalDuration(required(input, 'interval'));
      parseDuration(interval);
      const startAt = input.start_at === undefined ? now : parseInstant(input.start_at, timezone, 'start_at');
      return { kind: 'interval', interval, startAt, from: input.from ?? 'start', timezone };
    }
  }
}

/** A schedule as a client would send it. */
export function inputOf(schedule: Schedule): ScheduleInput {
  switch (schedule.kind) {
    case 'once':
      return { kind: 'once', once_at: iso(schedule.onceAt), timezone: schedule.timezone };
    case 'interval':
      return {
        kind: 'interval',
        interval: schedule.interval,
        start_at: iso(schedule.startAt),
        from: schedule.from,
        timezone: schedule.timezone,
      };
    default:
      return schedule;
  }
}

/** The same times on the wall of another zone. */
export function inZone(schedule: Schedule, timezone: string): ScheduleInput {
  const wallOf = (instant: number) => iso(toWall(schedule.timezone, instant)).replace(/Z$/, '');
  const input = { ...inputOf(schedule), timezone };
  if (schedule.kind === 'once') return { ...input, once_at: wallOf(schedule.onceAt) };
  return schedule.kind === 'interval' ? { ...input, start_at: wallOf(schedule.startAt) } : input;
}

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
