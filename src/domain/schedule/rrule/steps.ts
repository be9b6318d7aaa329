import { scheduleLimits } from '../limits.ts';
import { DAY_MS, DAY_SECONDS, dayOfWall, SECOND_MS, secondOfDayOf } from '../time/calendar.ts';
import { offsetAt, resolveShifted, toWall } from '../time/zone.ts';
import { type DayRule, dayRuleOf, isRuleDay, nextRuleDay } from './days.ts';
import type { RruleParts } from './parts.ts';
import { timesOf } from './periods.ts';

export type StepFrequency = 'SECONDLY' | 'MINUTELY' | 'HOURLY';

/** A rule that steps through the day. */
export interface StepRule {
  readonly frequency: StepFrequency;
  readonly stepMs: number;
  readonly days: DayRule;
  /** 24, 60 and 60 flags: which hours, minutes and seconds a step may begin in. */
  readonly hours: readonly boolean[];
  readonly minutes: readonly boolean[];
  readonly seconds: readonly boolean[];
  /** Milliseconds into its hour or minute at which a step runs. */
  readonly offsets: readonly number[];
  /** DTSTART cut to the unit of the frequency. */
  readonly baseWall: number;
  readonly startWall: number;
  /**
   * A rule that names times of the clock keeps to the clock: its steps are counted in wall time. One that only names a step
   * keeps to elapsed time, so that "every two hours" is two hours on the days of a clock change as well.
   */
  readonly keepsToClock: boolean;
  readonly neverRuns: boolean;
}

const UNIT_MS = { SECONDLY: SECOND_MS, MINUTELY: 60 * SECOND_MS, HOURLY: 3_600 * SECOND_MS };

function flags(values: readonly number[], size: number): boolean[] {
  return Array.from({ length: size }, (_, value) => values.length === 0 || values.includes(value));
}

function offsetsOf(parts: RruleParts, frequency: StepFrequency, startWall: number): number[] {
  if (frequency === 'SECONDLY') return [0];
  const start = secondOfDayOf(startWall);
  const seconds = parts.seconds.length > 0 ? parts.seconds : [start % 60];
  const ownMinutes = parts.minutes.length > 0 ? parts.minutes : [Math.floor(start / 60) % 60];
  const minutes = frequency === 'HOURLY' ? ownMinutes : [0];
  return timesOf({ hours: [0], minutes, seconds }).map((time) => time * SECOND_MS);
}

function pick(offsets: readonly number[], positions: readonly number[]): readonly number[] {
  if (positions.length === 0) return offsets;
  return offsets.filter((_, index) => positions.includes(index + 1) || positions.includes(index - offsets.length));
}

export function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

export function stepRuleOf(
  parts: RruleParts,
  frequency: StepFrequency,
  startWall: number,
  without: readonly DayRule[],
): StepRule {
  const unit = UNIT_MS[frequency];
  const rule = {
    frequency,
    stepMs: parts.interval * unit,
    days: dayRuleOf(parts, startWall, without),
    hours: flags(parts.hours, 24),
    minutes: flags(frequency === 'HOURLY' ? [] : parts.minutes, 60),
    seconds: flags(frequency === 'SECONDLY' ? parts.seconds : [], 60),
    offsets: pick(offsetsOf(parts, frequency, startWall), parts.positions),
    baseWall: Math.floor(startWall / unit) * unit,
    startWall,
    keepsToClock: parts.hours.length + parts.minutes.length + parts.seconds.length > 0,
  };
  return { ...rule, neverRuns: rule.offsets.length === 0 || !timesOfDay(rule).next().value };
}

type Grid = Pick<StepRule, 'stepMs' | 'baseWall' | 'hours' | 'minutes' | 'seconds'>;

function fits(grid: Grid, secondOfDay: number): boolean {
  const minute = Math.floor(secondOfDay / 60) % 60;
  return (
    grid.hours[Math.floor(secondOfDay / 3_600)] === true &&
    grid.minutes[minute] === true &&
    grid.seconds[secondOfDay % 60] === true
  );
}

/**
 * The times of day that the steps can ever meet, as {second}: those that differ from the base by a multiple of the common
 * divisor of the step and the day. A rule without any can be told at once from one that has to be searched.
 */
export function* timesOfDay(grid: Grid): Generator<{ second: number }> {
  const by = divisor(Math.round(grid.stepMs / SECOND_MS), DAY_SECONDS);
  for (let second = secondOfDayOf(grid.baseWall) % by; second < DAY_SECONDS; second += by) {
    if (fits(grid, second)) yield { second };
  }
}

function align(rule: StepRule, wall: number): number {
  return rule.baseWall + Math.max(0, Math.ceil((wall - rule.baseWall) / rule.stepMs)) * rule.stepMs;
}

function nextFlag(values: readonly boolean[], from: number): number {
  const found = values.indexOf(true, from);
  return found < 0 ? values.length : found;
}

/** The search goes on here when the clock parts refuse a step: the next hour, minute or second that they allow. */
function refusedUntil(rule: StepRule, wall: number): number | null {
  const day = dayOfWall(wall) * DAY_MS;
  const second = secondOfDayOf(wall);
  const hour = Math.floor(second / 3_600);
  if (rule.hours[hour] !== true) return day + nextFlag(rule.hours, hour) * UNIT_MS.HOURLY;
  const minute = Math.floor(second / 60) % 60;
  if (rule.minutes[minute] !== true)
    return day + hour * UNIT_MS.HOURLY + nextFlag(rule.minutes, minute) * UNIT_MS.MINUTELY;
  if (rule.seconds[second % 60] === true) return null;
  return day + (hour * 60 + minute) * UNIT_MS.MINUTELY + nextFlag(rule.seconds, second % 60) * SECOND_MS;
}

/** The first wall time at or after `from` of a rule that keeps to the clock. */
export function nextStepWall(rule: StepRule, from: number): number | null {
  if (rule.neverRuns) return null;
  const least = Math.max(from, rule.startWall);
  const horizon = least + scheduleLimits.horizonMs;
  let wall = align(rule, least - UNIT_MS[rule.frequency] + 1);
  for (let steps = 0; steps < scheduleLimits.subDailyStepsMax && wall <= horizon; steps += 1) {
    if (!isRuleDay(rule.days, dayOfWall(wall))) {
      const day = nextRuleDay(rule.days, dayOfWall(wall));
      if (day === null) return null;
      wall = align(rule, day * DAY_MS);
      continue;
    }
    const refused = refusedUntil(rule, wall);
    if (refused !== null) {
      wall = align(rule, refused);
      continue;
    }
    const offset = rule.offsets.find((each) => wall + each >= least);
    if (offset !== undefined) return wall + offset;
    wall += rule.stepMs;
  }
  return null;
}

/** The first instant after `after` of a rule that keeps to elapsed time. */
export function nextStepInstant(rule: StepRule, timezone: string, after: number): number | null {
  if (rule.neverRuns) return null;
  const base = resolveShifted(timezone, rule.startWall);
  const up = (least: number) => base + Math.max(0, Math.ceil((least - base) / rule.stepMs)) * rule.stepMs;
  let instant = up(after + 1);
  const horizon = Math.max(after, base) + scheduleLimits.horizonMs;
  for (let steps = 0; steps < scheduleLimits.subDailyStepsMax && instant <= horizon; steps += 1) {
    const day = dayOfWall(instant + offsetAt(timezone, instant));
    if (isRuleDay(rule.days, day)) return instant;
    const next = nextRuleDay(rule.days, day);
    if (next === null) return null;
    instant = Math.max(instant + rule.stepMs, up(dayBegin(timezone, next)));
  }
  return null;
}

/** The first instant of a local day, also where the clocks skip its midnight. */
function dayBegin(timezone: string, day: number): number {
  const instant = resolveShifted(timezone, day * DAY_MS);
  const skipped = toWall(timezone, instant) - day * DAY_MS;
  return skipped > 0 ? instant - skipped : instant;
}
