import { scheduleLimits } from '../limits.ts';
import { DAY_MS, dayOfWall, MINUTE_MS, SECOND_MS } from '../time/calendar.ts';
import { nextElapsed, nextShifted } from '../time/wall-search.ts';
import { passesOf, resolveShifted, steadyInstant, toWall } from '../time/zone.ts';
import { type DayRule, dayRuleOf, isRuleDay } from './days.ts';
import {
  endedBody,
  endOfDate,
  instantOfDate,
  readRruleLines,
  type RruleLines,
  type RuleLine,
  wallOfDate,
  writeRruleLines,
} from './lines.ts';
import type { RruleParts } from './parts.ts';
import {
  followingPeriod,
  nextPeriodWall,
  type PeriodRule,
  periodBegin,
  periodRuleOf,
  periodSet,
  setIndexFrom,
  setSize,
  setWall,
} from './periods.ts';
import { nextStepInstant, nextStepWall, type StepRule, stepRuleOf } from './steps.ts';

/** One rhythm ready to be asked, in one zone. It has no slots on days that exceptions take away. */
export interface Rule {
  readonly timezone: string;
  readonly parts: RruleParts;
  readonly startWall: number;
  readonly periods: PeriodRule | null;
  readonly steps: StepRule | null;
  readonly until: number | null;
}

/** The rhythms of a schedule, with the dates that it adds and leaves out. */
export interface Recurrence {
  readonly timezone: string;
  readonly startWall: number;
  readonly rules: readonly [Rule, ...Rule[]];
  /** Instants, ascending. */
  readonly added: readonly number[];
  readonly excluded: ReadonlySet<number>;
  readonly excludedDays: ReadonlySet<number>;
  /** Days that are left out again and again. */
  readonly without: readonly DayRule[];
  readonly lines: RruleLines;
}

function ruleOf({ parts, until }: RuleLine, timezone: string, startWall: number, without: readonly DayRule[]): Rule {
  const { frequency } = parts;
  const isStep = frequency === 'SECONDLY' || frequency === 'MINUTELY' || frequency === 'HOURLY';
  return {
    timezone,
    parts,
    startWall,
    periods: isStep ? null : periodRuleOf(parts, frequency, startWall, without),
    steps: isStep ? stepRuleOf(parts, frequency, startWall, without) : null,
    until: until === null ? null : endOfDate(until, timezone),
  };
}

function recurrenceOf(lines: RruleLines, timezone: string, startWall: number): Recurrence {
  const instants = (dates: RruleLines['added']) =>
    dates.filter(({ form }) => form !== 'day').map((date) => instantOfDate(date, timezone));
  const without = lines.exceptions.map(({ parts }) => dayRuleOf(parts, startWall));
  const [first, ...more] = lines.rules;
  return {
    timezone,
    startWall,
    rules: [
      ruleOf(first, timezone, startWall, without),
      ...more.map((rule) => ruleOf(rule, timezone, startWall, without)),
    ],
    without,
    added: [...new Set(instants(lines.added))].sort((a, b) => a - b),
    excluded: new Set(instants(lines.excluded)),
    excludedDays: new Set(lines.excluded.filter(({ form }) => form === 'day').map(({ value }) => dayOfWall(value))),
    lines,
  };
}

/** Reads a stored text, or one of a client; without DTSTART the rule begins at `now` on the clock of the zone. */
export function readRecurrence(text: string, timezone: string, now: number): Recurrence {
  const lines = readRruleLines(text, timezone);
  if (lines.start !== null) return recurrenceOf(lines, timezone, wallOfDate(lines.start, timezone));
  const wall = wallOfDate({ form: 'instant', value: now }, timezone);
  // The second in which a rule happens to be written is not meant.
  const isWhole = lines.rules.every(({ parts }) => parts.seconds.length === 0 && parts.frequency !== 'SECONDLY');
  return recurrenceOf(lines, timezone, isWhole ? Math.floor(wall / MINUTE_MS) * MINUTE_MS : wall);
}

/** The stored text. COUNT becomes the last instant it leads to, so that nothing has to be counted again. */
export function normalRrule(recurrence: Recurrence): string {
  const { timezone, startWall, lines } = recurrence;
  const rules = lines.rules.map((line) => {
    const { count } = line.parts;
    if (count === null) return line.body;
    const last = lastOfCount(ruleOf(line, timezone, startWall, []), count);
    return endedBody(line.body, Math.min(last, scheduleLimits.lastInstant));
  });
  const exceptions = lines.exceptions.map(({ body }) => body);
  return writeRruleLines(lines, timezone, { start: startWall, rules, exceptions });
}

/** COUNT counts what the rule itself names, before exceptions take away and RDATE adds. */
function lastOfCount(rule: Rule, count: number): number {
  const { periods, steps, timezone, startWall } = rule;
  const none = resolveShifted(timezone, startWall) - SECOND_MS;
  if (periods !== null) return lastOfPeriods(periods, timezone, count) ?? none;
  const from = steps?.keepsToClock === true ? steadyBefore(steps, timezone, count) : null;
  return lastOfInstants(rule, from ?? { instant: none - DAY_MS, left: count }) ?? none;
}

interface Counted {
  readonly instant: number;
  /** Runs that are still to be counted after the instant. */
  readonly left: number;
}

/**
 * Counts wall times as long as the clocks are steady, which is several times cheaper than asking for each instant in turn,
 * and stops at the last steady run before the count is full. From there on the order of passes may matter.
 */
function steadyBefore(steps: StepRule, timezone: string, count: number): Counted | null {
  const horizon = steps.startWall + scheduleLimits.horizonMs;
  let steady: Counted | null = null;
  let left = count;
  let wall = nextStepWall(steps, steps.startWall);
  while (wall !== null && wall <= horizon && left > 1) {
    const instant = steadyInstant(timezone, wall);
    left -= instant === null ? passesOf(timezone, wall).length : 1;
    if (instant !== null && left >= 1) steady = { instant, left };
    wall = nextStepWall(steps, wall + SECOND_MS);
  }
  return steady;
}

function lastOfInstants(rule: Rule, from: Counted): number | null {
  const end = from.instant + scheduleLimits.horizonMs;
  let last: number | null = null;
  let after = from.instant;
  for (let counted = 0; counted < from.left; counted += 1) {
    const next = nextOfRule(rule, after);
    if (next === null || next > end) return last ?? after;
    last = next;
    after = next;
  }
  return last;
}

function lastOfPeriods(rule: PeriodRule, timezone: string, count: number): number | null {
  if (rule.neverRuns) return null;
  const horizonDay = dayOfWall(rule.startWall + scheduleLimits.horizonMs);
  let left = count;
  let last: number | null = null;
  let before: number | null = null;
  let n: number | null = 0;
  for (let walked = 1; n !== null && left > 0 && periodBegin(rule, n) <= horizonDay; walked += 1) {
    const set = periodSet(rule, n);
    const first = setIndexFrom(rule, set, rule.startWall);
    const taken = Math.min(left, setSize(rule, set) - first);
    n = taken > 0 ? n + 1 : followingPeriod(rule, n, walked);
    if (taken <= 0) continue;
    left -= taken;
    before = taken > 1 ? setWall(rule, set, first + taken - 2) : last;
    last = setWall(rule, set, first + taken - 1);
  }
  if (last === null) return null;
  // A run moved by a gap can land behind the last one of the count.
  return Math.max(
    resolveShifted(timezone, last),
    before === null ? Number.NEGATIVE_INFINITY : resolveShifted(timezone, before),
  );
}

function nextOfRule({ periods, steps, timezone, until }: Rule, after: number): number | null {
  if (until !== null && after >= until) return null;
  let next: number | null = null;
  if (periods !== null)
    next = nextShifted({ next: (from) => nextPeriodWall(periods, from), grain: SECOND_MS }, timezone, after);
  else if (steps !== null && steps.keepsToClock) {
    next = nextElapsed({ next: (from) => nextStepWall(steps, from), grain: SECOND_MS }, timezone, after);
  } else if (steps !== null) next = nextStepInstant(steps, timezone, after);
  return next !== null && until !== null && next > until ? null : next;
}

/** The next slot of any rhythm. */
export function nextOfRules({ rules }: Pick<Recurrence, 'rules'>, after: number): number | null {
  if (rules.length === 1) return nextOfRule(rules[0], after);
  let next: number | null = null;
  for (const rule of rules) {
    const slot = nextOfRule(rule, after);
    if (slot !== null && (next === null || slot < next)) next = slot;
  }
  return next;
}

/** The whole local day on which an exception leaves everything out. */
function isDayOut({ excludedDays, without }: Pick<Recurrence, 'excludedDays' | 'without'>, day: number): boolean {
  return excludedDays.has(day) || without.some((rule) => isRuleDay(rule, day));
}

/**
 * The instant to search on from, where an exception takes a run or its whole day away. A rhythm has no slots on the days of
 * EXRULE; such a day is met here where RDATE adds one, or where the clocks skip a whole day and move a slot on into it.
 */
function excludedThrough(recurrence: Recurrence, instant: number): number | null {
  if (recurrence.excluded.has(instant)) return instant;
  if (recurrence.excludedDays.size + recurrence.without.length === 0) return null;
  const day = dayOfWall(toWall(recurrence.timezone, instant));
  if (!isDayOut(recurrence, day)) return null;
  return Math.max(instant, resolveShifted(recurrence.timezone, (day + 1) * DAY_MS) - 1);
}

export function nextRecurrence(recurrence: Recurrence, after: number): number | null {
  let from = after;
  // Exceptions must not stretch the search: all of it together stays inside one horizon.
  while (from <= after + scheduleLimits.horizonMs) {
    const ruled = nextOfRules(recurrence, from);
    const added = recurrence.added.find((instant) => instant > from) ?? null;
    const next = ruled === null || added === null ? (ruled ?? added) : Math.min(ruled, added);
    const through = next === null ? null : excludedThrough(recurrence, next);
    if (through === null) return next;
    from = through;
  }
  return null;
}

/** The last instant the rules can name, when UNTIL bounds all of them. It need not be a run itself. */
export function recurrenceEnd({ rules, added }: Recurrence): number | null {
  let end = added.at(-1) ?? Number.NEGATIVE_INFINITY;
  for (const { until } of rules) {
    if (until === null) return null;
    end = Math.max(end, until);
  }
  return end;
}
