import { nextCronWall } from './cron-engine.ts';
import type { CronFields } from './cron-fields.ts';
import { scheduleLimits } from './limits.ts';
import { nextPeriodWall } from './rrule/periods.ts';
import type { Rule } from './rrule/recurrence.ts';
import type { Bounds, IntervalSchedule, Schedule, ScheduleInput } from './shapes.ts';
import { cronOf, lastSlot, minGapMs, nextSlot, recurrenceOf, estimate, intervalWall } from './slots.ts';
import { civilFromDays, clockText, DAY_MS, dateText, dayOfWall, monthLength, secondOfDayOf } from './time/calendar.ts';
import { parseDuration } from './time/duration.ts';
import { nextTransition, resolveAtTransition, resolveShifted, toWall, type Transition, wallText } from './time/zone.ts';
import { spanText } from './words/words.ts';

export interface Warning {
  readonly code:
    | 'days_29_31'
    | 'both_day_fields'
    | 'dst_gap_ahead'
    | 'far_first_run'
    | 'subdaily_rrule'
    | 'second_assumed'
    /** Slots that were skipped in advance are slots no more, because the timing is another one. */
    | 'skips_dropped'
    /** The task asks for more history than the server keeps. */
    | 'kept_shorter'
    /** The title is another one, and the topic is not called so yet. */
    | 'topic_not_renamed';
  readonly message: string;
}

export interface Refusal {
  readonly reason: 'past' | 'never' | 'too_dense';
  readonly message: string;
}

/** Reasons why a task with this schedule is not created. A preview shows the same sentences as warnings. */
export function refusals(
  schedule: Schedule,
  context: { readonly now: number; readonly minIntervalMs: number; readonly bounds?: Bounds | undefined },
): Refusal[] {
  const found: Refusal[] = [];
  const none = refusalOfNone(schedule, context.now, context.bounds);
  if (none !== null) found.push(none);
  const gap = minGapMs(schedule);
  if (gap !== null && gap < context.minIntervalMs) {
    found.push({
      reason: 'too_dense',
      message: `It would run ${spanText(gap)} apart at its densest; the least allowed is ${spanText(context.minIntervalMs)}. Choose a longer interval.`,
    });
  }
  return found;
}

function refusalOfNone(schedule: Schedule, now: number, bounds: Bounds | undefined): Refusal | null {
  const first = nextSlot(schedule, now, bounds);
  if (first !== null && first - now <= scheduleLimits.horizonMs) return null;
  const end = lastSlot(schedule);
  if (end !== null && end <= now) {
    return {
      reason: 'past',
      message: `Its last time, ${wallText(end, schedule.timezone)}, is over. Choose a time in the future.`,
    };
  }
  if (bounds?.until !== undefined && bounds.until <= now) {
    return {
      reason: 'past',
      message: `Its policy until, ${wallText(bounds.until, schedule.timezone)}, is over. Choose a later one.`,
    };
  }
  const isCutOff = first === null && bounds !== undefined && nextSlot(schedule, now) !== null;
  if (isCutOff)
    return {
      reason: 'never',
      message: 'No run lies between the policies start_at and until. Widen them, or change the schedule.',
    };
  if (hasDaysOut(schedule))
    return {
      reason: 'never',
      message: 'It never runs: its exceptions leave nothing of the next 400 years. Take one of them away.',
    };
  return {
    reason: 'never',
    message: 'It never runs: the next 400 years have no such time. Check the days and the months.',
  };
}

function hasDaysOut(schedule: Schedule): boolean {
  if (schedule.kind !== 'rrule') return false;
  const { without, excluded, excludedDays } = recurrenceOf(schedule);
  return without.length + excluded.size + excludedDays.size > 0;
}

/** Warnings that a person should know before they agree; none of them stops a task. */
export function warnings(
  schedule: Schedule,
  context: { readonly now: number; readonly bounds?: Bounds | undefined },
): Warning[] {
  const first = nextSlot(schedule, context.now, context.bounds);
  return [
    shortMonths(schedule),
    bothDayFields(schedule),
    stepsOfDay(schedule),
    farFirstRun(schedule, first, context.now),
    gapAhead(schedule, first, context),
  ].filter((warning) => warning !== null);
}

/** Facts that a client left out of what it sent, and that were filled in. */
export function assumptions({ kind, rrule = '' }: ScheduleInput): Warning[] {
  if (kind !== 'rrule' || /DTSTART|BYSECOND|FREQ=SECONDLY/i.test(rrule)) return [];
  const message = 'The rule names no second, so it runs at second 00. Name another one with BYSECOND.';
  return [{ code: 'second_assumed', message }];
}

function farFirstRun({ timezone }: Schedule, first: number | null, now: number): Warning | null {
  if (first === null || first - now <= scheduleLimits.farFirstRunMs) return null;
  return {
    code: 'far_first_run',
    message: `The first run is more than five years away, on ${wallText(first, timezone)}. Check that this is meant.`,
  };
}

function bothDayFields(schedule: Schedule): Warning | null {
  if (schedule.kind !== 'cron') return null;
  const cron = cronOf(schedule);
  if (cron.anyDay || cron.anyWeekday || cron.bothDays) return null;
  return {
    code: 'both_day_fields',
    message:
      'Both day fields are set, so it runs on every day that matches either of them. Put a + before the weekday to ask for both.',
  };
}

function stepsOfDay(schedule: Schedule): Warning | null {
  if (schedule.kind !== 'rrule') return null;
  const rule = recurrenceOf(schedule).rules.find(({ steps }) => steps !== null);
  if (rule === undefined) return null;
  return {
    code: 'subdaily_rrule',
    message: `FREQ=${rule.parts.frequency} goes on through a clock change: a skipped hour has no runs, a doubled one has them twice.`,
  };
}

const LEAP_AND_COMMON = [2023, 2024];

function hasShortMonth(months: number, day: number): boolean {
  return LEAP_AND_COMMON.some((year) =>
    Array.from({ length: 12 }, (_, index) => index + 1).some(
      (month) => (months & (1 << (month - 1))) !== 0 && monthLength(year, month) < day,
    ),
  );
}

function lateCronDay(cron: CronFields): { day: number; months: number } | null {
  const days = cron.days | cron.nearestWeekdays;
  const isPlain = !cron.lastDay && !cron.lastWeekday && !cron.anyDay && (cron.anyWeekday || cron.bothDays);
  if (!isPlain || days === 0 || (days & 0x0fffffff) !== 0) return null;
  return { day: 32 - Math.clz32(days & -days), months: cron.months };
}

function lateRuleDay({ parts, periods, startWall }: Rule): { day: number; months: number } | null {
  if (periods === null || (parts.frequency !== 'MONTHLY' && parts.frequency !== 'YEARLY')) return null;
  const { monthDays, months } = periods.days;
  if (monthDays.length === 0 || monthDays.some((day) => day < 29)) return null;
  const startMonth = 1 << (civilFromDays(dayOfWall(startWall)).month - 1);
  const isOwnMonth = parts.frequency === 'YEARLY' && months === startMonth;
  return { day: Math.min(...monthDays), months: isOwnMonth ? startMonth : months === 0 ? 0xfff : months };
}

/** The day of month a schedule leans on, where not every one of its months has it. */
function shortMonths(schedule: Schedule): Warning | null {
  if (schedule.kind === 'once') return null;
  if (schedule.kind === 'interval') return clampedMonths(schedule);
  const days =
    schedule.kind === 'cron' ? [lateCronDay(cronOf(schedule))] : recurrenceOf(schedule).rules.map(lateRuleDay);
  const late = days.find((day) => day !== null && hasShortMonth(day.months, day.day)) ?? null;
  if (late === null) return null;
  const advice = schedule.kind === 'cron' ? 'L as the day' : 'BYMONTHDAY=-1';
  return {
    code: 'days_29_31',
    message: `A month without a day ${late.day} has no run. Use ${advice} for the last day of every month.`,
  };
}

function clampedMonths(schedule: IntervalSchedule): Warning | null {
  const { months } = parseDuration(schedule.interval);
  const { day } = civilFromDays(dayOfWall(toWall(schedule.timezone, schedule.startAt)));
  if (months === 0 || day < 29 || (months % 12 === 0 && day !== 29)) return null;
  return {
    code: 'days_29_31',
    message: `It counts from day ${day}; in a shorter month it runs on the last day instead.`,
  };
}

interface GapRun {
  readonly wall: number;
  readonly instant: number | null;
}

/** The first fixed time of a schedule that a change of the clocks skips, and what it becomes. */
function skippedRun(schedule: Schedule, change: Transition): GapRun | null {
  const begin = change.at + change.before;
  const end = change.at + change.after;
  const { timezone } = schedule;
  if (schedule.kind === 'cron') {
    const cron = cronOf(schedule);
    const wall = cron.fixedTimes ? nextCronWall(cron, begin) : null;
    return wall === null || wall >= end ? null : { wall, instant: resolveAtTransition(timezone, wall) };
  }
  const wall = shiftedWall(schedule, begin);
  return wall === null || wall >= end ? null : { wall, instant: resolveShifted(timezone, wall) };
}

/** The first wall time from `begin` of a schedule whose skipped times are moved on. */
function shiftedWall(schedule: Schedule, begin: number): number | null {
  if (schedule.kind === 'rrule') {
    const walls = recurrenceOf(schedule).rules.map(({ periods }) => periods && nextPeriodWall(periods, begin));
    return walls.reduce((least, wall) => (least === null || (wall !== null && wall < least) ? wall : least), null);
  }
  if (schedule.kind !== 'interval' || schedule.from === 'completion') return null;
  const duration = parseDuration(schedule.interval);
  if (duration.clockMs > 0) return null;
  let n = Math.max(0, estimate(schedule, duration, begin) - 2);
  while (intervalWall(schedule, duration, n) < begin) n += 1;
  return intervalWall(schedule, duration, n);
}

function gapAhead(
  schedule: Schedule,
  first: number | null,
  context: { now: number; bounds?: Bounds | undefined },
): Warning | null {
  if (first === null || schedule.kind === 'once') return null;
  const upTo = Math.min(context.now + scheduleLimits.gapLookAheadMs, context.bounds?.until ?? Number.POSITIVE_INFINITY);
  let from = Math.max(context.now, first - DAY_MS);
  for (
    let change = nextTransition(schedule.timezone, from, upTo);
    change !== null;
    change = nextTransition(schedule.timezone, from, upTo)
  ) {
    from = change.at;
    const skipped = change.after > change.before ? skippedRun(schedule, change) : null;
    if (skipped !== null && isKept(schedule, skipped.instant, context)) return gapWarning(schedule, skipped);
  }
  return null;
}

/** UNTIL and EXDATE may take the very run away that the clocks would move. */
function isKept(schedule: Schedule, instant: number | null, { bounds }: { bounds?: Bounds | undefined }): boolean {
  return instant === null || nextSlot(schedule, instant - 1, bounds) === instant;
}

function gapWarning({ timezone }: Schedule, { wall, instant }: GapRun): Warning {
  const missing = `On ${dateText(dayOfWall(wall))} ${clockText(secondOfDayOf(wall))} does not exist`;
  if (instant === null) return { code: 'dst_gap_ahead', message: `${missing}; it will not run on that date.` };
  const moved = toWall(timezone, instant);
  const day = dayOfWall(moved) === dayOfWall(wall) ? '' : `${dateText(dayOfWall(moved))} `;
  return { code: 'dst_gap_ahead', message: `${missing}; it will run at ${day}${clockText(secondOfDayOf(moved))}.` };
}
