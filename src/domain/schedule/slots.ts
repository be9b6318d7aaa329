import { assert } from '../errors.ts';
import { cronMinGap, nextCron } from './cron-engine.ts';
import { type CronFields, parseCron } from './cron-fields.ts';
import { scheduleLimits } from './limits.ts';
import { recurrenceMinGap } from './rrule/gap.ts';
import { nextRecurrence, readRecurrence, type Recurrence, recurrenceEnd } from './rrule/recurrence.ts';
import type { Bounds, CronSchedule, RruleSchedule, Schedule, IntervalSchedule } from './shapes.ts';
import { addMonths, civilFromDays, DAY_MS, dayOfWall, daysFromCivil } from './time/calendar.ts';
import { type Duration, parseDuration } from './time/duration.ts';
import { resolveShifted, toWall } from './time/zone.ts';

/**
 * Keeps what was parsed, in two generations: when the young one is full it becomes the old one and the old one is dropped.
 * An entry in use is carried over, so that this behaves like a least-recently-used cache without any bookkeeping on a hit.
 */
class ParsedCache<T> {
  private readonly generationMax: number;
  private young = new Map<string, T>();
  private old = new Map<string, T>();

  constructor(max: number) {
    this.generationMax = Math.ceil(max / 2);
  }

  get(key: string, parse: () => T): T {
    const known = this.young.get(key);
    if (known !== undefined) return known;
    const value = this.old.get(key) ?? parse();
    if (this.young.size >= this.generationMax) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
    return value;
  }
}

const crons = new ParsedCache<CronFields>(scheduleLimits.parsedCacheMax);
const recurrences = new ParsedCache<Recurrence>(scheduleLimits.parsedCacheMax);

export function cronOf({ cron }: CronSchedule): CronFields {
  return crons.get(cron, () => parseCron(cron));
}

/** A stored text always has its DTSTART, so the instant given here for a missing one is never used. */
export function recurrenceOf({ rrule, timezone }: RruleSchedule): Recurrence {
  return recurrences.get(`${timezone}\n${rrule}`, () => readRecurrence(rrule, timezone, 0));
}

function nextUnbounded(schedule: Schedule, after: number): number | null {
  switch (schedule.kind) {
    case 'once':
      return schedule.onceAt > after ? schedule.onceAt : null;
    case 'cron':
      return nextCron(cronOf(schedule), schedule.timezone, after);
    case 'rrule':
      return nextRecurrence(recurrenceOf(schedule), after);
    case 'interval':
      return nextInterval(schedule, after);
  }
}

/** A delay after completion has no grid: when the bounds open later, it runs as soon as they do. */
export function isDelay(schedule: Schedule): boolean {
  return schedule.kind === 'interval' && schedule.from === 'completion';
}

/** The first slot strictly after an instant, inside the bounds; null when there is never another one. */
export function nextSlot(schedule: Schedule, after: number, bounds: Bounds = {}): number | null {
  const { startAt = Number.NEGATIVE_INFINITY, until = scheduleLimits.lastInstant } = bounds;
  const from = isDelay(schedule) ? after : Math.max(after, startAt - 1);
  if (from >= until || from >= scheduleLimits.lastInstant) return null;
  const next = nextUnbounded(schedule, from);
  if (next === null) return null;
  const slot = isDelay(schedule) ? Math.max(next, startAt) : next;
  return slot <= until && slot <= scheduleLimits.lastInstant ? slot : null;
}

export function nextSlots(
  schedule: Schedule,
  after: number,
  options: { readonly count: number; readonly bounds?: Bounds | undefined; readonly upTo?: number | undefined },
): number[] {
  const count = Math.min(options.count, scheduleLimits.slotsPerCallMax);
  const slots: number[] = [];
  let slot = count > 0 ? nextSlot(schedule, after, options.bounds) : null;
  while (slot !== null && (options.upTo === undefined || slot <= options.upTo)) {
    slots.push(slot);
    slot = slots.length < count ? nextSlot(schedule, slot, options.bounds) : null;
  }
  return slots;
}

/**
 * The slots from `from`, which is one itself, through an instant, and the first one left for later. A caller that is behind
 * asks again with that one, so nothing is passed over when the limit cuts the list.
 */
export function slotsThrough(
  schedule: Schedule,
  from: number,
  options: { readonly through: number; readonly limit: number; readonly bounds?: Bounds | undefined },
): { slots: number[]; next: number | null } {
  const { startAt = from, until = from } = options.bounds ?? {};
  const limit = Math.min(options.limit, scheduleLimits.slotsPerCallMax);
  const slots: number[] = [];
  let next = from >= startAt && from <= until ? from : nextSlot(schedule, from, options.bounds);
  while (next !== null && next <= options.through && slots.length < limit) {
    slots.push(next);
    next = nextSlot(schedule, next, options.bounds);
  }
  return { slots, next };
}

/** The least time between two slots on the clock of the zone, or null where there is one slot at most. */
export function minGapMs(schedule: Schedule): number | null {
  switch (schedule.kind) {
    case 'once':
      return null;
    case 'cron':
      return cronMinGap(cronOf(schedule));
    case 'rrule':
      return recurrenceMinGap(recurrenceOf(schedule));
    case 'interval':
      return intervalMinGap(schedule);
  }
}

/** The last instant that a slot can have, where the schedule itself names an end. */
export function lastSlot(schedule: Schedule): number | null {
  if (schedule.kind === 'once') return schedule.onceAt;
  return schedule.kind === 'rrule' ? recurrenceEnd(recurrenceOf(schedule)) : null;
}

/** The instant from which a schedule counts, where it counts from one. */
export function anchorOf(schedule: Schedule): number | null {
  if (schedule.kind === 'interval') return schedule.startAt;
  if (schedule.kind !== 'rrule') return null;
  const { timezone, startWall } = recurrenceOf(schedule);
  return resolveShifted(timezone, startWall);
}

export function isSlot(schedule: Schedule, instant: number, bounds?: Bounds): boolean {
  assert(Number.isFinite(instant), 'An instant is a finite number of milliseconds.');
  if (!isDelay(schedule)) return nextSlot(schedule, instant - 1, bounds) === instant;
  const { startAt = instant, until = instant } = bounds ?? {};
  return schedule.kind === 'interval' && instant >= Math.max(schedule.startAt, startAt) && instant <= until;
}

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

function nextInterval(schedule: IntervalSchedule, after: number): number {
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

function intervalMinGap(schedule: IntervalSchedule): number {
  const duration = parseDuration(schedule.interval);
  const months = duration.months === 0 ? 0 : leastDaysOf(duration.months);
  return (months + duration.days) * DAY_MS + duration.clockMs;
}
