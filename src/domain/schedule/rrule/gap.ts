import { scheduleLimits } from '../limits.ts';
import { DAY_MS, DAY_SECONDS, leastGap, SECOND_MS } from '../time/calendar.ts';
import { nextRuleDay } from './days.ts';
import { followingPeriod, type PeriodRule, periodBegin, periodSet, setSize, setWall } from './periods.ts';
import { nextOfRule, type Recurrence } from './recurrence.ts';
import { type StepRule, timesOfDay } from './steps.ts';

/** In 28 years every kind of year meets every kind of neighbour; so many periods make one round or a multiple of it. */
const ROUND_PERIODS = { DAILY: 10_228, WEEKLY: 1_462, MONTHLY: 337, YEARLY: 29 };
const ROUND_DAYS = 10_228;
const HORIZON_DAYS = 146_097;

function dailyStep(rule: PeriodRule): number {
  return rule.frequency === 'DAILY' ? rule.interval : 1;
}

function hasDayFilter({ days, frequency }: PeriodRule): boolean {
  const filters =
    days.monthDays.length + days.yearDays.length + days.weekNumbers.size + days.ordinals.length + days.months;
  return filters > 0 || (frequency !== 'WEEKLY' && days.weekdays !== 0);
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

/** A date that RDATE adds can stand close to another one or to a run of the rule, which is walked once beside them. */
function addedGap(recurrence: Recurrence, gap: number): number {
  let smallest = Math.min(gap, leastGap(recurrence.added));
  let run: number | null = Number.NEGATIVE_INFINITY;
  for (const added of recurrence.added) {
    const from: number = added - Math.min(smallest, scheduleLimits.horizonMs) - 1;
    if (run !== null && run <= from) run = nextOfRule(recurrence, from);
    for (; run !== null && run <= added; run = nextOfRule(recurrence, run)) {
      if (run < added) smallest = Math.min(smallest, added - run);
    }
    if (run !== null) smallest = Math.min(smallest, run - added);
  }
  return smallest;
}

export function recurrenceMinGap(recurrence: Recurrence): number | null {
  const { periods, steps } = recurrence;
  const ofRule = periods === null ? (steps === null ? Number.POSITIVE_INFINITY : stepGap(steps)) : periodGap(periods);
  const gap = addedGap(recurrence, ofRule);
  return Number.isFinite(gap) ? gap : null;
}
