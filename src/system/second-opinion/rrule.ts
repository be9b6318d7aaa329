import { createRequire } from 'node:module';
import type { Frequency as Frequencies, RRule as Rules, Weekday } from 'rrule';
import type { SlotQuestion } from '../../app/housekeeping/second-opinion.ts';
import type { RruleSchedule } from '../../domain/schedule/shapes.ts';
import { dayMs, toInstant, toWall } from './wall.ts';

// The package is CommonJS and tells ECMAScript imports nothing about its names.
export const { RRule, Frequency } = createRequire(import.meta.url)('rrule') as {
  readonly RRule: typeof Rules;
  readonly Frequency: typeof Frequencies;
};

type NumberPart = 'bysetpos' | 'bymonth' | 'bymonthday' | 'byyearday' | 'byweekno' | 'byhour' | 'byminute' | 'bysecond';

/** The parts of a rule as rrule reads them, every list in order. */
export type RuleOptions = { readonly [Part in NumberPart]?: number[] } & {
  readonly freq: Frequencies;
  readonly interval: number;
  readonly wkst?: Weekday;
  readonly byweekday?: Weekday[];
};

/** One line of a rule. Wall times are written as the instant at which the clocks of UTC show them. */
interface RuleLine {
  readonly options: RuleOptions;
  readonly startWall: number;
  readonly until: number;
}

interface RuleLines {
  readonly rules: readonly RuleLine[];
  /** Rules of whole days on which nothing runs. */
  readonly exceptions: readonly RuleLine[];
  readonly added: readonly number[];
  readonly excluded: ReadonlySet<number>;
  /** Midnights of the days on which nothing runs. */
  readonly excludedDays: ReadonlySet<number>;
}

const stamp = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d))?/;

function wallOf(text: string): number {
  const [, year, month, day, hour = 0, minute = 0, second = 0] = stamp.exec(text) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}

function instantOf(text: string, timezone: string): number {
  return text.endsWith('Z') ? wallOf(text) : toInstant(timezone, wallOf(text));
}

/** An end that names a day means through its last millisecond. */
function untilOf(body: string, timezone: string): number {
  const [, text] = /(?:^|;)UNTIL=([^;]+)/.exec(body) ?? [];
  if (text === undefined) return Number.POSITIVE_INFINITY;
  return text.includes('T') ? instantOf(text, timezone) : toInstant(timezone, wallOf(text) + dayMs) - 1;
}

/** rrule takes times in the order in which they are written and counts positions in it, so lists are put in order first. */
function optionsOf(body: string): RuleOptions {
  const parsed = RRule.parseString(body);
  const { freq = Frequency.YEARLY, interval = 1, byweekday, ...rest } = parsed;
  const sorted = Object.entries(rest).map(([name, value]) => [
    name,
    name === 'wkst' ? value : [value].flat().toSorted((a, b) => Number(a) - Number(b)),
  ]);
  const weekdays = byweekday === undefined ? {} : { byweekday: [byweekday].flat() };
  return { ...Object.fromEntries(sorted), ...weekdays, freq, interval } as RuleOptions;
}

/** Reads the stored text: DTSTART is always there, COUNT never. */
export function readRule({ rrule, timezone }: RruleSchedule): RuleLines {
  const lines = rrule.split('\n').map((line) => {
    const [, name, value = ''] = /^([A-Z]+)[^:]*:(.*)$/.exec(line) ?? [];
    return { name, value };
  });
  const valuesOf = (wanted: string) =>
    lines.filter(({ name }) => name === wanted).flatMap(({ value }) => value.split(','));
  const [start = ''] = valuesOf('DTSTART');
  const linesOf = (wanted: string, startWall: number) =>
    lines
      .filter(({ name }) => name === wanted)
      .map(({ value: body }) => ({
        options: optionsOf(body.replace(/;UNTIL=[^;]+/, '')),
        startWall,
        until: untilOf(body, timezone),
      }));
  const excluded = valuesOf('EXDATE');
  return {
    rules: linesOf('RRULE', wallOf(start)),
    exceptions: linesOf('EXRULE', dayOf(wallOf(start))),
    added: valuesOf('RDATE').map((text) => instantOf(text, timezone)),
    excluded: new Set(excluded.filter((text) => text.includes('T')).map((text) => instantOf(text, timezone))),
    excludedDays: new Set(excluded.filter((text) => !text.includes('T')).map(wallOf)),
  };
}

/** The length of a period, where all periods have one. */
export const periodMs: Readonly<Record<number, number>> = {
  [Frequency.WEEKLY]: 7 * dayMs,
  [Frequency.DAILY]: dayMs,
  [Frequency.HOURLY]: 3_600_000,
  [Frequency.MINUTELY]: 60_000,
  [Frequency.SECONDLY]: 1000,
};

/**
 * Another start of the same series, a period before `wall` or before the first one: rrule walks from its start, so an old
 * one makes it slow, and it takes a first week that is cut off for a whole one. Months and years are few, and it reads the
 * first of them as a whole.
 */
function startNear({ freq, interval }: RuleOptions, startWall: number, wall: number): Date {
  const step = interval * (periodMs[freq] ?? Number.POSITIVE_INFINITY);
  if (!Number.isFinite(step)) return new Date(startWall);
  return new Date(startWall + (Math.max(0, Math.floor((wall - startWall) / step)) - 1) * step);
}

/** Takes each slot of the rule in turn, and answers whether it wants another. */
type Taker = (instant: number) => boolean;

interface Walk {
  readonly rule: RuleLine;
  readonly timezone: string;
  readonly from: number;
  /** Midnights of days on which nothing runs, which a walk of many steps passes over. */
  readonly out: ReadonlySet<number>;
  readonly take: Taker;
}

/** rrule knows no end of time but the year 9999. */
const never = new Date(8.64e15);

/** Asks rrule in wall times, as if the zone were UTC, and turns what it answers into instants. */
function walkWalls({ rule, timezone, from, take }: Walk): void {
  const least = Math.max(toWall(timezone, from), rule.startWall - 1);
  const dtstart = startNear(rule.options, rule.startWall, least);
  new RRule({ ...rule.options, dtstart }, true).between(new Date(least), never, false, (wall) =>
    take(toInstant(timezone, wall.getTime())),
  );
}

/** A rule that steps through the day and names no time of the clock counts elapsed time. */
function isElapsed({ freq, byhour, byminute, bysecond }: RuleOptions): boolean {
  return freq >= Frequency.HOURLY && [byhour, byminute, bysecond].every((list) => list === undefined);
}

/** Asks rrule for the steps in instants, each day that the rule and its exceptions allow by itself. */
function walkSteps({ rule, timezone, from, out, take }: Walk): void {
  const { freq, interval, ...days } = rule.options;
  const base = toInstant(timezone, rule.startWall);
  const stepsWithin = (after: number, before: Date): boolean => {
    let wantsMore = true;
    const least = Math.max(after, base - 1);
    const dtstart = startNear({ freq, interval }, base, least);
    new RRule({ freq, interval, dtstart }, true).between(new Date(least), before, false, (instant) => {
      wantsMore = take(instant.getTime());
      return wantsMore;
    });
    return wantsMore;
  };
  if (Object.keys(days).length + out.size === 0) {
    stepsWithin(from, never);
    return;
  }
  const dtstart = new Date(Math.floor(toWall(timezone, Math.max(from, base)) / dayMs) * dayMs);
  new RRule({ ...days, freq: Frequency.DAILY, dtstart }, true).between(dtstart, never, true, (day) => {
    if (out.has(day.getTime())) return true;
    const begin = toInstant(timezone, day.getTime());
    const end = toInstant(timezone, day.getTime() + dayMs);
    return stepsWithin(Math.max(begin - 1, from), new Date(end));
  });
}

function dayOf(wall: number): number {
  return Math.floor(wall / dayMs) * dayMs;
}

/** Midnights of the days that EXRULE takes away between two instants. */
function daysOut({ exceptions }: RuleLines, { after, upTo, schedule }: SlotQuestion): ReadonlySet<number> {
  const [from, to] = [after - dayMs, upTo + dayMs].map((at) => new Date(toWall(schedule.timezone, at)));
  const days = exceptions.flatMap(({ options, startWall }) => {
    const dtstart = startNear(options, startWall, from?.getTime() ?? startWall);
    return new RRule({ ...options, dtstart }, true).between(from ?? dtstart, to ?? dtstart, true);
  });
  return new Set(days.map((day) => day.getTime()));
}

/** The next slots by rrule `between`, with the dates that are added and taken out. */
export function ruleSlots(schedule: RruleSchedule, question: SlotQuestion): readonly number[] {
  const { after, upTo, count } = question;
  const { timezone } = schedule;
  const lines = readRule(schedule);
  const out = daysOut(lines, question);
  const isLeftOut = (instant: number) => {
    const day = dayOf(toWall(timezone, instant));
    return lines.excluded.has(instant) || lines.excludedDays.has(day) || out.has(day);
  };
  const all = lines.rules.flatMap((rule) => {
    const end = Math.min(upTo, rule.until);
    // Two positions may name one run, of which rrule tells twice.
    const found = new Set<number>();
    const take = (instant: number): boolean => {
      if (instant > end) return false;
      if (instant > after && !isLeftOut(instant)) found.add(instant);
      return found.size < count;
    };
    const walk = isElapsed(rule.options) ? walkSteps : walkWalls;
    walk({ rule, timezone, from: after, out, take });
    return [...found];
  });
  const added = lines.added.filter((instant) => instant > after && instant <= upTo && !isLeftOut(instant));
  return [...new Set([...all, ...added])].sort((a, b) => a - b).slice(0, count);
}
