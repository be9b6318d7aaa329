import { scheduleLimits } from '../limits.ts';
import { unreadable } from '../shapes.ts';
import {
  civilFromDays,
  DAY_MS,
  dayOfWall,
  daysFromCivil,
  SECOND_MS,
  secondOfDayOf,
  weekdayOf,
} from '../time/calendar.ts';
import { type DayRule, dayRuleOf, isRuleDay, nextRuleDay, ruleDaysOfMonth } from './days.ts';
import type { RruleParts } from './parts.ts';

export type CalendarFrequency = 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY';

/** A rule of whole days: each period has a set of days, each day the same times, and BYSETPOS picks from the whole set. */
export interface PeriodRule {
  readonly frequency: CalendarFrequency;
  readonly interval: number;
  readonly days: DayRule;
  /** Seconds of the day, ascending. */
  readonly times: readonly number[];
  readonly positions: readonly number[];
  /** Exceptions of a rule with positions, which pick from the set as it was before. */
  readonly without: readonly DayRule[];
  readonly startWall: number;
  /** No set can ever be large enough for the positions. */
  readonly neverRuns: boolean;
  /** The picks for each size that a set has had: a long list of positions is sorted out once. */
  readonly picksBySize: Map<number, readonly number[]>;
}

/** The set of one period, in order, as far as BYSETPOS left it. `picks` are indices into days x times. */
export interface PeriodSet {
  readonly days: readonly number[];
  readonly picks: readonly number[] | null;
}

const LEAP_AFTER = 4;
const HORIZON_DAYS = scheduleLimits.horizonMs / DAY_MS;

export function timesOf(lists: {
  hours: readonly number[];
  minutes: readonly number[];
  seconds: readonly number[];
}): number[] {
  const size = lists.hours.length * lists.minutes.length * lists.seconds.length;
  if (size > scheduleLimits.timesPerPeriodMax) {
    throw unreadable(
      { field: 'rrule', reason: 'too_many_times' },
      `The rule names ${size} times in one period; at most ${scheduleLimits.timesPerPeriodMax} are possible. Use FREQ=MINUTELY or FREQ=HOURLY.`,
    );
  }
  return lists.hours.flatMap((hour) =>
    lists.minutes.flatMap((minute) => lists.seconds.map((second) => hour * 3_600 + minute * 60 + second)),
  );
}

const DAYS_MAX = { DAILY: 1, WEEKLY: 7, MONTHLY: 31, YEARLY: 366 };

export function periodRuleOf(
  parts: RruleParts,
  frequency: CalendarFrequency,
  startWall: number,
  without: readonly DayRule[],
): PeriodRule {
  const { positions } = parts;
  const start = secondOfDayOf(startWall);
  const or = (list: readonly number[], value: number) => (list.length > 0 ? list : [value]);
  const times = timesOf({
    hours: or(parts.hours, Math.floor(start / 3_600)),
    minutes: or(parts.minutes, Math.floor(start / 60) % 60),
    seconds: or(parts.seconds, start % 60),
  });
  const days = frequency === 'WEEKLY' ? Math.max(1, parts.weekdays.length) : DAYS_MAX[frequency];
  return {
    frequency,
    interval: parts.interval,
    days: dayRuleOf(parts, startWall, positions.length === 0 ? without : []),
    times,
    positions,
    without: positions.length === 0 ? [] : without,
    startWall,
    neverRuns: positions.length > 0 && positions.every((position) => Math.abs(position) > days * times.length),
    picksBySize: new Map(),
  };
}

function weekBegin(rule: PeriodRule, day: number): number {
  return day - ((weekdayOf(day) - rule.days.weekStart + 7) % 7);
}

/** Periods are numbered from that of DTSTART; only multiples of INTERVAL count. */
function periodIndex(rule: PeriodRule, day: number): number {
  const startDay = dayOfWall(rule.startWall);
  if (rule.frequency === 'DAILY') return day - startDay;
  if (rule.frequency === 'WEEKLY') return (weekBegin(rule, day) - weekBegin(rule, startDay)) / 7;
  const date = civilFromDays(day);
  const start = civilFromDays(startDay);
  if (rule.frequency === 'YEARLY') return date.year - start.year;
  return (date.year - start.year) * 12 + date.month - start.month;
}

/** The number, in steps of INTERVAL, of the first counting period that ends on or after the day. */
function periodFrom(rule: PeriodRule, day: number): number {
  return Math.max(0, Math.ceil(periodIndex(rule, day) / rule.interval));
}

/** Whether the period of a day counts, before DTSTART as well. */
export function countsOn(rule: PeriodRule, day: number): boolean {
  return periodIndex(rule, day) % rule.interval === 0;
}

function bitsToDays(bits: number, firstDay: number, into: number[]): void {
  for (let rest = bits; rest !== 0; rest &= rest - 1) into.push(firstDay + 31 - Math.clz32(rest & -rest));
}

/** The first day of the n-th counting period. */
export function periodBegin(rule: PeriodRule, n: number): number {
  const startDay = dayOfWall(rule.startWall);
  const index = n * rule.interval;
  if (rule.frequency === 'DAILY') return startDay + index;
  if (rule.frequency === 'WEEKLY') return weekBegin(rule, startDay) + index * 7;
  const { year, month } = civilFromDays(startDay);
  if (rule.frequency === 'YEARLY') return daysFromCivil(year + index, 1, 1);
  const months = year * 12 + month - 1 + index;
  return daysFromCivil(Math.floor(months / 12), (months % 12) + 1, 1);
}

function daysOfPeriod(rule: PeriodRule, n: number): number[] {
  const begin = periodBegin(rule, n);
  const days: number[] = [];
  if (rule.frequency === 'DAILY' || rule.frequency === 'WEEKLY') {
    const end = begin + (rule.frequency === 'DAILY' ? 1 : 7);
    for (let day = begin; day < end; day += 1) if (isRuleDay(rule.days, day)) days.push(day);
    return days;
  }
  const { year, month } = civilFromDays(begin);
  const last = rule.frequency === 'YEARLY' ? 12 : month;
  for (let each = month; each <= last; each += 1) {
    const bits = ruleDaysOfMonth(rule.days, year, each);
    if (bits !== 0) bitsToDays(bits, daysFromCivil(year, each, 1), days);
  }
  return days;
}

function picksOf({ positions, picksBySize }: PeriodRule, size: number): readonly number[] {
  const known = picksBySize.get(size);
  if (known !== undefined) return known;
  const all = positions.map((position) => (position > 0 ? position - 1 : size + position));
  const picks = [...new Set(all.filter((pick) => pick >= 0 && pick < size))].sort((a, b) => a - b);
  picksBySize.set(size, picks);
  return picks;
}

export function periodSet(rule: PeriodRule, n: number): PeriodSet {
  const days = daysOfPeriod(rule, n);
  if (rule.positions.length === 0) return { days, picks: null };
  const picks = picksOf(rule, days.length * rule.times.length);
  if (rule.without.length === 0) return { days, picks };
  const isOut = days.map((day) => rule.without.some((other) => isRuleDay(other, day)));
  return { days, picks: picks.filter((pick) => isOut[Math.floor(pick / rule.times.length)] === false) };
}

export function setSize(rule: PeriodRule, set: PeriodSet): number {
  return set.picks === null ? set.days.length * rule.times.length : set.picks.length;
}

export function setWall(rule: PeriodRule, set: PeriodSet, index: number): number {
  const pick = set.picks === null ? index : (set.picks[index] ?? 0);
  const day = set.days[Math.floor(pick / rule.times.length)] ?? 0;
  return day * DAY_MS + (rule.times[pick % rule.times.length] ?? 0) * SECOND_MS;
}

/** The index of the first member of a set at or after a wall time; its size when there is none. */
export function setIndexFrom(rule: PeriodRule, set: PeriodSet, from: number): number {
  let low = 0;
  let high = setSize(rule, set);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (setWall(rule, set, middle) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** After some empty periods in a row the search leaps to the next period with a day in it. */
export function followingPeriod(rule: PeriodRule, n: number, emptyPeriods: number): number | null {
  if (emptyPeriods % LEAP_AFTER !== 0) return n + 1;
  const day = nextRuleDay(rule.days, periodBegin(rule, n + 1));
  return day === null ? null : Math.max(n + 1, periodFrom(rule, day));
}

/** DTSTART bounds the rule from below; it is a run itself only when it matches the rule, so that no run is invented. */
export function nextPeriodWall(rule: PeriodRule, from: number): number | null {
  if (rule.neverRuns) return null;
  const least = Math.max(from, rule.startWall);
  const horizonDay = dayOfWall(least) + HORIZON_DAYS;
  let n: number | null = periodFrom(rule, dayOfWall(least));
  for (let empty = 1; n !== null && periodBegin(rule, n) <= horizonDay; empty += 1) {
    const set = periodSet(rule, n);
    const index = setIndexFrom(rule, set, least);
    if (index < setSize(rule, set)) return setWall(rule, set, index);
    n = followingPeriod(rule, n, empty);
  }
  return null;
}
