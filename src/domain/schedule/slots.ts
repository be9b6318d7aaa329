import { assert } from '../errors.ts';
import { cronMinGap, nextCron } from './cron-engine.ts';
import { type CronFields, parseCron } from './cron-fields.ts';
import { intervalMinGap, nextInterval } from './interval-engine.ts';
import { scheduleLimits } from './limits.ts';
import { nextRecurrence, readRecurrence, type Recurrence, recurrenceEnd } from './rrule/recurrence.ts';
import { recurrenceMinGap } from './rrule/gap.ts';
import { resolveShifted } from './time/zone.ts';
import type { Bounds, CronSchedule, RruleSchedule, Schedule } from './shapes.ts';

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
function isDelay(schedule: Schedule): boolean {
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
