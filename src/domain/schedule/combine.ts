import { bitsOf, type CronFields, EVERY_MONTH, EVERY_WEEK, fieldsOf } from './cron-fields.ts';
import { hoursOf, withHours } from './hours.ts';
import { scheduleLimits } from './limits.ts';
import { type RruleLines, writeRruleLines } from './rrule/lines.ts';
import { WEEKDAYS } from './rrule/parts.ts';
import { countsOn } from './rrule/periods.ts';
import type { Rule } from './rrule/recurrence.ts';
import { parseSchedule } from './schedule.ts';
import { type CronSchedule, type IntervalSchedule, type Schedule, unreadable } from './shapes.ts';
import { cronOf, recurrenceOf } from './slots.ts';
import { civilFromDays, DAY_MS, dayOfWall, MINUTE_MS, SECOND_MS, secondOfDayOf, weekdayOf } from './time/calendar.ts';
import { type Duration, parseDuration } from './time/duration.ts';
import { resolveShifted, toWall } from './time/zone.ts';
import { runsOf } from './words/words.ts';

/** Days that are left out, whole, on the clock of the zone. A single day is its number since 1970. */
export interface Exceptions {
  /** Every week; 0 is Sunday. */
  readonly weekdays?: readonly number[];
  /** Every month: 1 to 31, or -1 for the last day. */
  readonly monthDays?: readonly number[];
  /** Every year, the whole month: 1 to 12. */
  readonly months?: readonly number[];
  /** Every year. */
  readonly yearDays?: ReadonlyArray<{ readonly month: number; readonly day: number }>;
  /** Once. */
  readonly dates?: readonly number[];
  /** Once; both days count. */
  readonly ranges?: ReadonlyArray<{ readonly from: number; readonly to: number }>;
}

/** Times that no rule can hold together. The message says what to write instead. */
function cannot(reason: string, message: string): Error {
  return unreadable({ field: 'rrule', reason }, message);
}

/**
 * One schedule with the slots of all these, and without those on the days of the exceptions. It stays a cron or one rule
 * where that says it. Bounds of the whole task belong into its policies. With `isOneStart` all of them begin on the same
 * day, so that none waits for the first run of another.
 */
export function combined(
  schedules: readonly Schedule[],
  except: Exceptions,
  { now, isOneStart = false }: { readonly now: number; readonly isOneStart?: boolean },
): Schedule {
  const [first, ...more] = schedules.reduce<readonly Schedule[]>(joined, []);
  if (first === undefined) throw cannot('no_rule', 'There is no time to combine; say when.');
  if (more.some(({ timezone }) => timezone !== first.timezone))
    throw cannot('other_zone', 'A task is in one zone; make another task for the times of another zone.');
  if (more.length > 0) return asRules([first, ...more], except, { now, isOneStart });
  return hasNone(except) ? first : (withoutWeekdays(first, except) ?? asRules([first], except, { now }));
}

/** The schedule without what another one leaves out: words about exceptions are read beside a rhythm of every day. */
export function leavingOutAs(schedule: Schedule, other: Schedule, now: number): Schedule {
  const kept = weekdaysOf(other);
  const weekdays = kept === null ? [] : mondayFirst.filter((day) => !kept.includes(day));
  if (other.kind !== 'rrule') return combined([schedule], { weekdays }, { now });
  const { excludedDays, lines } = recurrenceOf(other);
  const except = { dates: [...excludedDays] };
  const again = lines.exceptions.map(({ body }) => body);
  return again.length === 0 ? combined([schedule], except, { now }) : asRules([schedule], except, { now, again });
}

function hasNone(except: Exceptions): boolean {
  return Object.values(except).every((list: readonly unknown[]) => list.length === 0);
}

const mondayFirst = [1, 2, 3, 4, 5, 6, 0];

/** The days of the week of a rhythm that comes every week and looks at no other days; null for all others. */
export function weekdaysOf(schedule: Schedule): readonly number[] | null {
  if (schedule.kind === 'rrule') return weekdaysOfRule(recurrenceOf(schedule).lines);
  if (schedule.kind !== 'cron') return null;
  const { anyDay, weekdays } = cronOf(schedule);
  const isPlain = anyDay && weekdays.every((weeks) => weeks === 0 || weeks === EVERY_WEEK);
  return isPlain ? mondayFirst.filter((day) => weekdays[day] === EVERY_WEEK) : null;
}

function weekdaysOfRule({ rules: [{ parts }, ...more] }: RruleLines): readonly number[] | null {
  const { frequency, interval, weekdays, months, monthDays, yearDays, weekNumbers, positions } = parts;
  const others = [months, monthDays, yearDays, weekNumbers, positions];
  const isPlain = more.length === 0 && interval === 1 && others.every((list) => list.length === 0);
  if (!isPlain || weekdays.some(({ ordinal }) => ordinal !== 0)) return null;
  if (frequency === 'MONTHLY' || frequency === 'YEARLY') return null;
  if (weekdays.length > 0) return mondayFirst.filter((day) => weekdays.some(({ weekday }) => weekday === day));
  return frequency === 'DAILY' ? mondayFirst : null;
}

function onWeekdays(schedule: CronSchedule, weekdays: readonly number[]): CronSchedule {
  const [minute = '', hour = '', , month = ''] = fieldsOf(schedule.cron);
  const days = mondayFirst.filter((day) => weekdays.includes(day));
  return { ...schedule, cron: `${minute} ${hour} * ${month} ${days.length === 7 ? '*' : days.join()}` };
}

/** A cron of every day, or of some, has fewer of them; null where the exceptions are others, or leave none. */
function withoutWeekdays(schedule: Schedule, { weekdays = [], ...others }: Exceptions): Schedule | null {
  const kept = weekdaysOf(schedule)?.filter((day) => !weekdays.includes(day)) ?? [];
  return schedule.kind !== 'cron' || kept.length === 0 || !hasNone(others) ? null : onWeekdays(schedule, kept);
}

/** Adds a schedule to others: to a cron with the same times or the same days where that is one cron still. */
function joined(all: readonly Schedule[], schedule: Schedule): readonly Schedule[] {
  for (const [index, other] of all.entries()) {
    const one = asOneCron(other, schedule);
    if (one !== null) return joined(all.toSpliced(index, 1), one);
  }
  return [...all, schedule];
}

function asOneCron(a: Schedule, b: Schedule): Schedule | null {
  if (a.kind !== 'cron' || b.kind !== 'cron' || a.timezone !== b.timezone) return null;
  const [of, and] = [fieldsOf(a.cron), fieldsOf(b.cron)];
  const isSame = (from: number, to: number) => of.slice(from, to).join(' ') === and.slice(from, to).join(' ');
  if (isSame(0, 5)) return a;
  const [days, more] = [weekdaysOf(a), weekdaysOf(b)];
  if (days !== null && more !== null && isSame(0, 2) && isSame(3, 4)) return onWeekdays(a, [...days, ...more]);
  const [times, others] = [hoursOf(a), hoursOf(b)];
  if (times === null || others === null || !isSame(2, 5)) return null;
  const both = withHours(a, [...times, ...others]);
  return both === null ? null : parseSchedule(both, 0);
}

/** The lines of one schedule, which can stand beside others under another start. */
interface Part {
  readonly rules: readonly string[];
  readonly lines: Pick<RruleLines, 'exceptions' | 'excluded' | 'added'>;
  /** Rules whose phase hangs on the start. */
  readonly anchors: readonly Rule[];
  readonly startWall: number;
}

function asRules(
  schedules: readonly [Schedule, ...Schedule[]],
  except: Exceptions,
  {
    now,
    again = [],
    isOneStart = false,
  }: { readonly now: number; readonly again?: readonly string[]; readonly isOneStart?: boolean },
): Schedule {
  const [{ timezone }] = schedules;
  const today = dayOfWall(toWall(timezone, now));
  const parts = schedules.map((schedule) => partOf(schedule, now));
  const rules = parts.flatMap((part) => part.rules);
  const days = exceptDays(except).filter((day) => day >= today);
  const excluded = [
    ...parts.flatMap(({ lines }) => lines.excluded),
    ...days.map((day) => ({ form: 'day', value: day * DAY_MS }) as const),
  ];
  const added = parts.flatMap(({ lines }) => lines.added);
  const exceptions = parts.flatMap(({ lines }) => lines.exceptions.map(({ body }) => body));
  const rrule = writeRruleLines({ added, excluded }, timezone, {
    start: startOf(parts, toWall(timezone, now), isOneStart),
    // Single moments need a rule as well; it names the first of them once more.
    rules: rules.length === 0 ? ['FREQ=DAILY;COUNT=1'] : rules,
    exceptions: [...new Set([...exceptions, ...exceptBodies(except), ...again])],
  });
  return parseSchedule({ kind: 'rrule', rrule, timezone }, now);
}

/** The start that keeps the phase of all rules; those without one begin now, or with the last that names a later day. */
function startOf(parts: readonly Part[], nowWall: number, isOneStart: boolean): number {
  const anchors = parts.flatMap((part) => part.anchors);
  if (anchors.length === 0) {
    const series = parts.filter(({ rules }) => rules.length > 0);
    const starts = (list: readonly Part[]) => list.map(({ startWall }) => startWall);
    const isFirst = isOneStart || series.length === 0;
    return isFirst ? Math.min(...starts(series.length === 0 ? parts : series)) : Math.max(...starts(series));
  }
  const found = anchors
    .flatMap((rule) => (parts.length > 1 ? [earlierStart(rule, nowWall), rule.startWall] : [rule.startWall]))
    .find((start) => anchors.every((rule) => isInPhase(rule, start)));
  if (found !== undefined) return found;
  throw cannot(
    'other_start',
    'These rhythms count from different days, which one task cannot hold; make a task for each of them.',
  );
}

function phaseOf({ periods, steps }: Rule): number {
  if (periods === null) return steps?.stepMs ?? 0;
  const days = { DAILY: 1, WEEKLY: 7, MONTHLY: 0, YEARLY: 0 }[periods.frequency];
  return days * periods.interval * DAY_MS;
}

/** The phase of a rule that begins soon, as far back as the other rhythms of its task begin. */
function earlierStart(rule: Rule, nowWall: number): number {
  const before = rule.startWall - phaseOf(rule);
  return rule.startWall > nowWall && before <= nowWall ? before : rule.startWall;
}

function isInPhase({ periods, steps, startWall, timezone }: Rule, start: number): boolean {
  if (periods !== null) return countsOn(periods, dayOfWall(start));
  if (steps === null) return true;
  const apart = steps.keepsToClock
    ? start - startWall
    : resolveShifted(timezone, start) - resolveShifted(timezone, startWall);
  return apart % steps.stepMs === 0;
}

function exceptDays({ dates = [], ranges = [] }: Exceptions): readonly number[] {
  const days = new Set(dates);
  for (const { from, to } of ranges) {
    if (to - from >= scheduleLimits.exceptionDaysMax)
      throw cannot(
        'long_exception',
        `An exception is at most ${scheduleLimits.exceptionDaysMax} days long; end the series there, and make another task for what comes after it.`,
      );
    for (let day = from; day <= to; day += 1) days.add(day);
  }
  return [...days].sort((a, b) => a - b);
}

export function byDay(weekdays: readonly number[]): string {
  return `BYDAY=${mondayFirst
    .filter((day) => weekdays.includes(day))
    .map((day) => WEEKDAYS[day])
    .join()}`;
}

function exceptBodies({ weekdays = [], monthDays = [], months = [], yearDays = [] }: Exceptions): readonly string[] {
  return [
    ...(weekdays.length === 0 ? [] : [`FREQ=WEEKLY;${byDay(weekdays)}`]),
    ...(monthDays.length === 0 ? [] : [`FREQ=MONTHLY;BYMONTHDAY=${monthDays.join()}`]),
    ...(months.length === 0 ? [] : [`FREQ=DAILY;BYMONTH=${months.join()}`]),
    ...yearBodies(yearDays),
  ];
}

/** Days that follow each other are one exception, and others are one each. */
function yearBodies(yearDays: Required<Exceptions>['yearDays']): readonly string[] {
  const months = [...new Set(yearDays.map(({ month }) => month))].sort((a, b) => a - b);
  return months.flatMap((month) => {
    const days = yearDays.filter((each) => each.month === month).map(({ day }) => day);
    return runsOf([...new Set(days)].sort((a, b) => a - b)).map(({ first, last }) => {
      const run = Array.from({ length: last - first + 1 }, (_, index) => first + index);
      return `FREQ=YEARLY;BYMONTH=${month};BYMONTHDAY=${run.join()}`;
    });
  });
}

const none = { exceptions: [], excluded: [], added: [] };

function partOf(schedule: Schedule, now: number): Part {
  const { timezone } = schedule;
  switch (schedule.kind) {
    case 'once': {
      const added = [{ form: 'instant', value: schedule.onceAt }] as const;
      return { rules: [], lines: { ...none, added }, anchors: [], startWall: toWall(timezone, schedule.onceAt) };
    }
    case 'cron': {
      const startWall = Math.floor(toWall(timezone, now) / MINUTE_MS) * MINUTE_MS;
      return { rules: cronBodies(cronOf(schedule)), lines: none, anchors: [], startWall };
    }
    case 'interval':
      return partOf(parseSchedule({ kind: 'rrule', rrule: intervalText(schedule), timezone }, now), now);
    case 'rrule': {
      const { rules, startWall, lines } = recurrenceOf(schedule);
      const bodies = lines.rules.map(({ body }, index) => explicitBody(rules[index] ?? rules[0], body));
      return { rules: bodies, lines, anchors: rules.filter(hangsOnStart), startWall };
    }
  }
}

function hangsOnStart({ parts, periods }: Rule): boolean {
  const { frequency, interval, minutes, seconds } = parts;
  if (periods !== null || interval > 1) return interval > 1;
  return seconds.length === 0 || (frequency === 'HOURLY' && minutes.length === 0);
}

/** A rule of whole days with all that RFC 5545 takes from DTSTART, which becomes that of several rules. */
function explicitBody({ parts, periods, startWall }: Rule, body: string): string {
  if (periods === null) return body;
  const { month, day } = civilFromDays(dayOfWall(startWall));
  const second = secondOfDayOf(startWall);
  const missing: string[] = [];
  const add = (values: readonly unknown[], text: string) => values.length === 0 && missing.push(text);
  const days = [...parts.weekdays, ...parts.monthDays, ...parts.yearDays, ...parts.weekNumbers];
  if (parts.frequency === 'WEEKLY') add(days, byDay([weekdayOf(dayOfWall(startWall))]));
  if (parts.frequency === 'MONTHLY' || parts.frequency === 'YEARLY') add(days, `BYMONTHDAY=${day}`);
  if (parts.frequency === 'YEARLY') add([...days, ...parts.months], `BYMONTH=${month}`);
  add(parts.hours, `BYHOUR=${Math.floor(second / 3_600)}`);
  add(parts.minutes, `BYMINUTE=${Math.floor(second / 60) % 60}`);
  add(parts.seconds, `BYSECOND=${second % 60}`);
  return [body, ...missing].join(';');
}

function intervalText({ interval, startAt, from, timezone }: IntervalSchedule): string {
  if (from === 'completion')
    throw cannot('after_completion', 'A wait after each run has no days that could be left out; use a fixed rhythm.');
  const start = toWall(timezone, startAt);
  const rule = intervalBody(parseDuration(interval), civilFromDays(dayOfWall(start)).day);
  return writeRruleLines(none, timezone, { start, rules: [rule], exceptions: [] });
}

function intervalBody({ months, days, clockMs }: Duration, day: number): string {
  if ([months, days, clockMs].filter((part) => part > 0).length > 1)
    throw cannot('mixed_interval', 'An interval of several units has no rule; use one unit, such as 90 minutes.');
  const every = (value: number) => (value === 1 ? '' : `;INTERVAL=${value}`);
  if (days > 0) return `FREQ=DAILY${every(days)}`;
  if (months > 0) {
    // An interval stops at the end of a shorter month, where BYMONTHDAY alone would leave the month out.
    const last = Array.from({ length: Math.max(0, day - 27) }, (_, index) => 28 + index);
    return `FREQ=MONTHLY${every(months)};BYMONTHDAY=${day <= 28 ? day : `${last.join()};BYSETPOS=-1`}`;
  }
  const seconds = clockMs / SECOND_MS;
  if (seconds % 3_600 === 0) return `FREQ=HOURLY${every(seconds / 3_600)}`;
  return seconds % 60 === 0 ? `FREQ=MINUTELY${every(seconds / 60)}` : `FREQ=SECONDLY${every(seconds)}`;
}

/** The rules of a cron: one for each day field where either of them is enough. */
function cronBodies(cron: CronFields): string[] {
  const { anyDay, anyWeekday, bothDays } = cron;
  const monthDays = monthDayParts(cron);
  const weeks = weekParts(cron);
  const days = () => {
    if (anyWeekday || anyDay) return anyDay ? weeks : [monthDays];
    return bothDays ? weeks.map((week) => `${monthDays}${week}`) : [monthDays, ...weeks];
  };
  return days().flatMap((part) => dayBodies(cron, part));
}

function monthDayParts({ anyDay, days, lastDay, lastWeekday, nearestWeekdays, bothDays }: CronFields): string {
  if (nearestWeekdays !== 0 || (lastWeekday && bothDays))
    throw cannot(
      'nearest_weekday',
      'A cron with W has no exceptions and no other rhythms beside it; make another task.',
    );
  if (lastWeekday) return ';BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1';
  return anyDay ? '' : `;BYMONTHDAY=${[...bitsOf(days, 1), ...(lastDay ? [-1] : [])].join()}`;
}

/** Every such weekday, and beside it those that are numbered in the month. */
function weekParts({ anyWeekday, weekdays }: CronFields): string[] {
  if (anyWeekday) return [''];
  const numbered = mondayFirst.flatMap((day) => {
    const weeks = weekdays[day] ?? 0;
    return weeks === EVERY_WEEK ? [] : bitsOf(weeks, 1).map((week) => `${week === 6 ? -1 : week}${WEEKDAYS[day]}`);
  });
  const plain = mondayFirst.filter((day) => weekdays[day] === EVERY_WEEK);
  return [
    ...(plain.length === 0 ? [] : [`;${byDay(plain)}`]),
    ...(numbered.length === 0 ? [] : [`;BYDAY=${numbered.join()}`]),
  ];
}

function dayBodies({ months, hours, minutes, fixedTimes }: CronFields, days: string): string[] {
  const inMonths = months === EVERY_MONTH ? '' : `;BYMONTH=${bitsOf(months, 1).join()}`;
  const clock = (hour: readonly number[], minute: readonly number[]) =>
    `${hour.length === 24 ? '' : `;BYHOUR=${hour.join()}`}${minute.length === 60 ? '' : `;BYMINUTE=${minute.join()}`};BYSECOND=0`;
  const at = clock(hours, minutes);
  // A position picks from all times of a month, so that each of them has a rule of its own.
  if (days.includes('BYSETPOS'))
    return hours.flatMap((hour) => minutes.map((minute) => `FREQ=MONTHLY${days}${inMonths}${clock([hour], [minute])}`));
  if (/BYDAY=-?\d/.test(days))
    return [`FREQ=MONTHLY${days}${inMonths};BYHOUR=${hours.join()};BYMINUTE=${minutes.join()};BYSECOND=0`];
  if (!fixedTimes) return [`FREQ=${minutes.length === 60 ? 'MINUTELY' : 'HOURLY'}${days}${inMonths}${at}`];
  if (!days.includes('BYMONTHDAY')) return [`FREQ=${days === '' ? 'DAILY' : 'WEEKLY'}${days}${inMonths}${at}`];
  return [`FREQ=${inMonths === '' || days.includes('BYDAY') ? 'MONTHLY' : 'YEARLY'}${inMonths}${days}${at}`];
}
