import { scheduleLimits } from '../limits.ts';
import { DAY_MS, DAY_SECONDS, dayOfWall, leastGap, SECOND_MS } from '../time/calendar.ts';
import { type DayRule, isRuleDay, nextRuleDay } from './days.ts';
import { countsOn, followingPeriod, type PeriodRule, periodBegin, periodSet, setSize, setWall } from './periods.ts';
import { nextOfRules, type Recurrence, type Rule } from './recurrence.ts';
import { divisor, type StepRule, timesOfDay } from './steps.ts';

/** In 28 years every kind of year meets every kind of neighbour; so many periods make one round or a multiple of it. */
const ROUND_PERIODS = { DAILY: 10_228, WEEKLY: 1_462, MONTHLY: 337, YEARLY: 29 };
const ROUND_DAYS = 10_228;
const HORIZON_DAYS = 146_097;

function dailyStep(rule: PeriodRule): number {
  return rule.frequency === 'DAILY' ? rule.interval : 1;
}

/** Whether more than the weekday decides about a day. */
function looksBeyondWeek({ monthDays, yearDays, weekNumbers, ordinals, months, without }: DayRule): boolean {
  const filters = monthDays.length + yearDays.length + weekNumbers.size + ordinals.length + months;
  return filters > 0 || without.some(looksBeyondWeek);
}

function hasDayFilter({ days, frequency }: PeriodRule): boolean {
  return looksBeyondWeek(days) || days.without.length > 0 || (frequency !== 'WEEKLY' && days.weekdays !== 0);
}

/** The fewest days between two days of the rule. Nothing can be closer than `floor`, so the walk ends when it is met. */
function dayGap(rule: PeriodRule): number {
  const floor = dailyStep(rule);
  if (rule.frequency === 'DAILY' && !hasDayFilter(rule)) return floor;
  const periods = rule.frequency === 'WEEKLY' && !hasDayFilter(rule) ? 2 : ROUND_PERIODS[rule.frequency];
  const round = leastGap(daysOver(rule, periods), floor);
  return round > 366 ? Math.min(round, leastGap(daysOver(rule, ROUND_PERIODS[rule.frequency] * 15), floor)) : round;
}

function* daysOver(rule: PeriodRule, periods: number): Generator<number> {
  const end = periodBegin(rule, 0) + HORIZON_DAYS;
  let n: number | null = 0;
  for (let walked = 1; n !== null && n < periods && periodBegin(rule, n) <= end; walked += 1) {
    const { days } = periodSet(rule, n);
    yield* days;
    n = days.length > 0 ? n + 1 : followingPeriod(rule, n, walked);
  }
}

function* pickedWalls(rule: PeriodRule): Generator<number> {
  const begin = periodBegin(rule, 0);
  for (let n = 0; n < ROUND_PERIODS[rule.frequency] && periodBegin(rule, n) - begin <= HORIZON_DAYS; n += 1) {
    const set = periodSet(rule, n);
    for (let index = 0; index < setSize(rule, set); index += 1) yield setWall(rule, set, index);
  }
}

function periodGap(rule: PeriodRule): number {
  if (rule.neverRuns) return Number.POSITIVE_INFINITY;
  if (rule.positions.length > 0) return leastGap(pickedWalls(rule));
  const inside = leastGap(rule.times) * SECOND_MS;
  const overMidnight = (DAY_SECONDS + (rule.times[0] ?? 0) - (rule.times.at(-1) ?? 0)) * SECOND_MS;
  if (inside <= overMidnight) return inside;
  return Math.min(inside, (dayGap(rule) - 1) * DAY_MS + overMidnight);
}

function* ruleDays({ days }: StepRule): Generator<number> {
  const first = nextRuleDay(days, 0);
  const end = (first ?? 0) + ROUND_DAYS;
  for (let day = first; day !== null; day = day < end ? nextRuleDay(days, day + 1) : null) yield day;
}

/** Exact where the steps fall on the same times every day; otherwise the step itself, which is never too large. */
function stepGap(rule: StepRule): number {
  if (rule.neverRuns) return Number.POSITIVE_INFINITY;
  const inside = leastGap(rule.offsets);
  const apart = rule.stepMs + (rule.offsets[0] ?? 0) - (rule.offsets.at(-1) ?? 0);
  if (DAY_MS % rule.stepMs !== 0) return Math.min(inside, apart);
  let first = Number.NaN;
  let last = Number.NaN;
  let between = inside;
  for (const { second } of timesOfDay(rule)) {
    if (Number.isNaN(first)) first = second;
    else between = Math.min(between, (second - last) * SECOND_MS - rule.stepMs + apart);
    last = second;
    if (between <= Math.min(inside, apart)) return between;
  }
  return Math.min(
    between,
    (leastGap(ruleDays(rule), 1) - 1) * DAY_MS + (DAY_SECONDS + first - last) * SECOND_MS - rule.stepMs + apart,
  );
}

function ruleGap({ periods, steps }: Rule): number {
  return periods === null ? (steps === null ? Number.POSITIVE_INFINITY : stepGap(steps)) : periodGap(periods);
}

/** After so many days the rhythms of days and weeks stand as they stood; null where months, positions or years count. */
function weekRound(rules: readonly Rule[]): number | null {
  let round = 7;
  for (const { periods, steps } of rules) {
    const days = (periods ?? steps)?.days;
    if (days === undefined || looksBeyondWeek(days)) return null;
    if (periods === null) continue;
    const unit = periods.frequency === 'DAILY' ? 1 : periods.frequency === 'WEEKLY' ? 7 : 0;
    if (unit === 0 || periods.positions.length > 0) return null;
    round = (round / divisor(round, unit * periods.interval)) * unit * periods.interval;
    if (round > ROUND_DAYS) return null;
  }
  return round;
}

/** Seconds of the day at which a rule can run, ascending. */
function timesOn({ periods, steps }: Rule): readonly number[] {
  if (periods !== null) return periods.times;
  if (steps === null) return [];
  return [...timesOfDay(steps)].flatMap(({ second }) => steps.offsets.map((offset) => second + offset / SECOND_MS));
}

/**
 * The least distance between the slots of several rhythms, walked day by day. Where a round of months is longer than the
 * walk, the rhythms are taken as if they met on each of their days, so that the distance is never too large.
 */
function unionGap(all: readonly Rule[], startWall: number): number {
  const rules = all.filter(({ periods, steps }) => (periods ?? steps)?.neverRuns === false);
  const round = weekRound(rules);
  const isOn = ({ periods, steps }: Rule, day: number) => {
    const days = (periods ?? steps)?.days;
    if (periods !== null && round !== null && !countsOn(periods, day)) return false;
    return days !== undefined && isRuleDay(days, day);
  };
  const times = rules.map(timesOn);
  const merged = new Map<number, { first: number; last: number; gap: number }>();
  const merge = (mask: number) => {
    const sorted = [...new Set(times.flatMap((each, index) => ((mask & (1 << index)) === 0 ? [] : each)))].sort(
      (a, b) => a - b,
    );
    const day = { first: sorted[0] ?? 0, last: sorted.at(-1) ?? 0, gap: leastGap(sorted) };
    merged.set(mask, day);
    return day;
  };
  const every = merge((1 << rules.length) - 1);
  const floor = Math.min(every.gap, DAY_SECONDS + every.first - every.last);
  const start = dayOfWall(startWall);
  let gap = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (let day = start; day <= start + (round ?? ROUND_DAYS) && gap > floor; day += 1) {
    let mask = 0;
    for (const [index, rule] of rules.entries()) if (isOn(rule, day)) mask |= 1 << index;
    if (mask === 0) continue;
    const on = merged.get(mask) ?? merge(mask);
    gap = Math.min(gap, on.gap, day * DAY_SECONDS + on.first - last);
    last = day * DAY_SECONDS + on.last;
  }
  return gap * SECOND_MS;
}

/** A date that RDATE adds can stand close to another one or to a run of the rule, which is walked once beside them. */
function addedGap(recurrence: Recurrence, gap: number): number {
  let smallest = Math.min(gap, leastGap(recurrence.added));
  let run: number | null = Number.NEGATIVE_INFINITY;
  for (const added of recurrence.added) {
    const from: number = added - Math.min(smallest, scheduleLimits.horizonMs) - 1;
    if (run !== null && run <= from) run = nextOfRules(recurrence, from);
    for (; run !== null && run <= added; run = nextOfRules(recurrence, run)) {
      if (run < added) smallest = Math.min(smallest, added - run);
    }
    if (run !== null) smallest = Math.min(smallest, run - added);
  }
  return smallest;
}

export function recurrenceMinGap(recurrence: Recurrence): number | null {
  const { rules, startWall } = recurrence;
  const gap = addedGap(recurrence, rules.length === 1 ? ruleGap(rules[0]) : unionGap(rules, startWall));
  return Number.isFinite(gap) ? gap : null;
}
