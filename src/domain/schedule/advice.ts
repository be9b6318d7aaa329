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
import type { Translated } from './words/forms.ts';
import { spanText } from './words/words.ts';

/** Sentences of refusals and warnings about a schedule. Values are as they are typed, or times on the clock of its zone. */
export const englishAdvice = {
  tooDense: (gapMs: number, leastMs: number): string =>
    `It would run ${spanText(gapMs)} apart at its densest; the least allowed is ${spanText(leastMs)}. Choose a longer interval.`,
  isOver: (last: string): string => `Its last time, ${last}, is over. Choose a time in the future.`,
  untilIsOver: (until: string): string => `Its policy until, ${until}, is over. Choose a later one.`,
  cutOff: 'No run lies between the policies start_at and until. Widen them, or change the schedule.',
  allOut: 'It never runs: its exceptions leave nothing of the next 400 years. Take one of them away.',
  never: 'It never runs: the next 400 years have no such time. Check the days and the months.',
  noSecond: 'The rule names no second, so it runs at second 00. Name another one with BYSECOND.',
  farFirstRun: (first: string): string =>
    `The first run is more than five years away, on ${first}. Check that this is meant.`,
  bothDayFields:
    'Both day fields are set, so it runs on every day that matches either of them. Put a + before the weekday to ask for both.',
  stepsOfDay: (rule: string): string =>
    `${rule} goes on through a clock change: a skipped hour has no runs, a doubled one has them twice.`,
  shortMonths: (day: number, isCron: boolean): string =>
    `A month without a day ${day} has no run. Use ${isCron ? 'L as the day' : 'BYMONTHDAY=-1'} for the last day of every month.`,
  clampedMonths: (day: number): string =>
    `It counts from day ${day}; in a shorter month it runs on the last day instead.`,
  gapDropped: (at: string): string => `On ${at} does not exist; it will not run on that date.`,
  gapMoved: (at: string, to: string): string => `On ${at} does not exist; it will run at ${to}.`,
  keptShorter: (days: number, kept: number): string =>
    `Nothing is kept for longer than ${kept} days here, so ${days} days of history count as ${kept}.`,
  timeoutCut: (ownMs: number, attemptMs: number): string =>
    `One request may take ${spanText(ownMs)}, but an attempt ends after ${spanText(attemptMs)}, so that is all the time it gets. Raise the policy timeout, or lower action.timeout.`,
  catchUpCosts: (runs: number, costs: readonly string[]): string =>
    `After a long outage up to ${runs} runs come at once: ${costs.join(', ')}. Lower the policy missed_limit, or set missed to once, where that is too much.`,
  skipsDropped: (count: number): string =>
    count === 1
      ? 'The run that was skipped is not skipped at the new time. Skip again where it is still wanted.'
      : `The ${count} runs that were skipped are not skipped at the new time. Skip again where it is still wanted.`,
  secretMissing: (name: string): string =>
    `There is no secret ${name} yet. Until it is set with /secrets set ${name}, runs are skipped.`,
} as const;

export type AdviceWords = Translated<typeof englishAdvice>;

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
    /** The timeout of the action is longer than that of its attempts. */
    | 'timeout_cut'
    /** Slots that are made up after an outage cost something. */
    | 'catch_up_costs'
    /** The task names a secret that is not there yet. */
    | 'secret_missing'
    /** The title is another one, and the topic is not called so yet. */
    | 'topic_not_renamed';
  readonly message: string;
}

export interface Refusal {
  readonly reason: 'past' | 'never' | 'too_dense';
  readonly message: string;
}

/** The instant at which a schedule is looked at, and the words of its sentences: English without them. */
interface Looking {
  readonly now: number;
  readonly bounds?: Bounds | undefined;
  readonly words?: AdviceWords | undefined;
}

/** Reasons why a task with this schedule is not created. A preview shows the same sentences as warnings. */
export function refusals(
  schedule: Schedule,
  { minIntervalMs, ...looking }: Looking & { readonly minIntervalMs: number },
): Refusal[] {
  const { words = englishAdvice } = looking;
  const found: Refusal[] = [];
  const none = refusalOfNone(schedule, looking);
  if (none !== null) found.push(none);
  const gap = minGapMs(schedule);
  if (gap !== null && gap < minIntervalMs) {
    found.push({ reason: 'too_dense', message: words.tooDense(gap, minIntervalMs) });
  }
  return found;
}

function refusalOfNone(schedule: Schedule, { now, bounds, words = englishAdvice }: Looking): Refusal | null {
  const first = nextSlot(schedule, now, bounds);
  if (first !== null && first - now <= scheduleLimits.horizonMs) return null;
  const end = lastSlot(schedule);
  if (end !== null && end <= now) {
    return { reason: 'past', message: words.isOver(wallText(end, schedule.timezone)) };
  }
  if (bounds?.until !== undefined && bounds.until <= now) {
    return { reason: 'past', message: words.untilIsOver(wallText(bounds.until, schedule.timezone)) };
  }
  const isCutOff = first === null && bounds !== undefined && nextSlot(schedule, now) !== null;
  if (isCutOff) return { reason: 'never', message: words.cutOff };
  return { reason: 'never', message: hasDaysOut(schedule) ? words.allOut : words.never };
}

function hasDaysOut(schedule: Schedule): boolean {
  if (schedule.kind !== 'rrule') return false;
  const { without, excluded, excludedDays } = recurrenceOf(schedule);
  return without.length + excluded.size + excludedDays.size > 0;
}

/** Warnings that a person should know before they agree; none of them stops a task. */
export function warnings(schedule: Schedule, looking: Looking): Warning[] {
  const { now, bounds, words = englishAdvice } = looking;
  const first = nextSlot(schedule, now, bounds);
  return [
    shortMonths(schedule, words),
    bothDayFields(schedule, words),
    stepsOfDay(schedule, words),
    farFirstRun(schedule, first, { now, words }),
    gapAhead(schedule, first, { ...looking, words }),
  ].filter((warning) => warning !== null);
}

/** Facts that a client left out of what it sent, and that were filled in. */
export function assumptions({ kind, rrule = '' }: ScheduleInput): Warning[] {
  if (kind !== 'rrule' || /DTSTART|BYSECOND|FREQ=SECONDLY/i.test(rrule)) return [];
  return [{ code: 'second_assumed', message: englishAdvice.noSecond }];
}

type Telling = Looking & { readonly words: AdviceWords };

function farFirstRun({ timezone }: Schedule, first: number | null, { now, words }: Telling): Warning | null {
  if (first === null || first - now <= scheduleLimits.farFirstRunMs) return null;
  return { code: 'far_first_run', message: words.farFirstRun(wallText(first, timezone)) };
}

function bothDayFields(schedule: Schedule, words: AdviceWords): Warning | null {
  if (schedule.kind !== 'cron') return null;
  const cron = cronOf(schedule);
  if (cron.anyDay || cron.anyWeekday || cron.bothDays) return null;
  return { code: 'both_day_fields', message: words.bothDayFields };
}

function stepsOfDay(schedule: Schedule, words: AdviceWords): Warning | null {
  if (schedule.kind !== 'rrule') return null;
  const rule = recurrenceOf(schedule).rules.find(({ steps }) => steps !== null);
  if (rule === undefined) return null;
  return { code: 'subdaily_rrule', message: words.stepsOfDay(`FREQ=${rule.parts.frequency}`) };
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
function shortMonths(schedule: Schedule, words: AdviceWords): Warning | null {
  if (schedule.kind === 'once') return null;
  if (schedule.kind === 'interval') return clampedMonths(schedule, words);
  const days =
    schedule.kind === 'cron' ? [lateCronDay(cronOf(schedule))] : recurrenceOf(schedule).rules.map(lateRuleDay);
  const late = days.find((day) => day !== null && hasShortMonth(day.months, day.day)) ?? null;
  if (late === null) return null;
  return { code: 'days_29_31', message: words.shortMonths(late.day, schedule.kind === 'cron') };
}

function clampedMonths(schedule: IntervalSchedule, words: AdviceWords): Warning | null {
  const { months } = parseDuration(schedule.interval);
  const { day } = civilFromDays(dayOfWall(toWall(schedule.timezone, schedule.startAt)));
  if (months === 0 || day < 29 || (months % 12 === 0 && day !== 29)) return null;
  return { code: 'days_29_31', message: words.clampedMonths(day) };
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

function gapAhead(schedule: Schedule, first: number | null, context: Telling): Warning | null {
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
    if (skipped !== null && isKept(schedule, skipped.instant, context)) {
      return gapWarning(schedule, skipped, context.words);
    }
  }
  return null;
}

/** UNTIL and EXDATE may take the very run away that the clocks would move. */
function isKept(schedule: Schedule, instant: number | null, { bounds }: { bounds?: Bounds | undefined }): boolean {
  return instant === null || nextSlot(schedule, instant - 1, bounds) === instant;
}

function gapWarning({ timezone }: Schedule, { wall, instant }: GapRun, words: AdviceWords): Warning {
  const missing = `${dateText(dayOfWall(wall))} ${clockText(secondOfDayOf(wall))}`;
  if (instant === null) return { code: 'dst_gap_ahead', message: words.gapDropped(missing) };
  const moved = toWall(timezone, instant);
  const day = dayOfWall(moved) === dayOfWall(wall) ? '' : `${dateText(dayOfWall(moved))} `;
  return { code: 'dst_gap_ahead', message: words.gapMoved(missing, `${day}${clockText(secondOfDayOf(moved))}`) };
}
