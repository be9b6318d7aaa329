import { normalCron, parseCron } from './cron-fields.ts';
import { ruleInZone } from './rrule/lines.ts';
import { normalRrule, readRecurrence } from './rrule/recurrence.ts';
import { type Schedule, type ScheduleInput, type Fault, quoted, unreadable } from './shapes.ts';
import { iso, MINUTE_MS } from './time/calendar.ts';
import { normalDuration, parseDuration } from './time/duration.ts';
import { zoneName } from './time/zone-name.ts';
import { parseInstant, toWall } from './time/zone.ts';

export { assumptions, type Refusal, refusals, type Warning, warnings } from './advice.ts';
export { anchorOf, isDelay, isSlot, lastSlot, minGapMs, nextSlot, nextSlots, slotsThrough } from './slots.ts';
export type { Bounds, Schedule, ScheduleInput } from './shapes.ts';
export { offsetAt, wallText } from './time/zone.ts';
export { cadence, describe, exceptionsOf, exceptionWords, leftOutAt } from './words/describe.ts';
export { isTimezone } from './time/zone-name.ts';

function required(input: ScheduleInput, field: Fault['field'] & keyof ScheduleInput): string {
  const value = input[field];
  if (value !== undefined && value !== '') return value;
  throw unreadable({ field, reason: 'missing' }, `A schedule of kind "${input.kind}" needs ${field}; add it.`);
}

const FIELDS = {
  once: ['once_at', 'start_at'],
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
    case 'once': {
      const onceAt = parseInstant(required(input, 'once_at'), timezone, 'once_at');
      if (input.start_at === undefined) return { kind: 'once', onceAt, timezone };
      const startAt = parseInstant(input.start_at, timezone, 'start_at');
      if (startAt <= onceAt) return { kind: 'once', onceAt, startAt, timezone };
      throw unreadable(
        { field: 'start_at', reason: 'after_end' },
        'start_at of a single moment is when the wait for it began, so it cannot be later than once_at; leave it out.',
      );
    }
    case 'cron': {
      const cron = normalCron(required(input, 'cron'));
      parseCron(cron);
      return { kind: 'cron', cron, timezone };
    }
    case 'rrule':
      return { kind: 'rrule', rrule: normalRrule(readRecurrence(required(input, 'rrule'), timezone, now)), timezone };
    case 'interval': {
      const interval = normalDuration(required(input, 'interval'));
      const { clockMs } = parseDuration(interval);
      // The second in which the words happen to be written is not meant.
      const begun = clockMs % MINUTE_MS === 0 ? Math.floor(now / MINUTE_MS) * MINUTE_MS : now;
      const startAt = input.start_at === undefined ? begun : parseInstant(input.start_at, timezone, 'start_at');
      return { kind: 'interval', interval, startAt, from: input.from ?? 'start', timezone };
    }
  }
}

/** A schedule as a client would send it. */
export function inputOf(schedule: Schedule): ScheduleInput {
  switch (schedule.kind) {
    case 'once': {
      const { onceAt, startAt, timezone } = schedule;
      const wait = startAt === undefined ? {} : { start_at: iso(startAt) };
      return { kind: 'once', once_at: iso(onceAt), ...wait, timezone };
    }
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

/** The same times on the wall of another zone. A wait has no time on a wall: it ends at the same instant. */
export function inZone(schedule: Schedule, timezone: string): ScheduleInput {
  const wallOf = (instant: number) => iso(toWall(schedule.timezone, instant)).replace(/Z$/, '');
  const input = { ...inputOf(schedule), timezone };
  if (schedule.kind === 'once')
    return schedule.startAt === undefined ? { ...input, once_at: wallOf(schedule.onceAt) } : input;
  if (schedule.kind === 'interval') return { ...input, start_at: wallOf(schedule.startAt) };
  return schedule.kind === 'rrule'
    ? { ...input, rrule: ruleInZone(schedule.rrule, schedule.timezone, timezone) }
    : input;
}
