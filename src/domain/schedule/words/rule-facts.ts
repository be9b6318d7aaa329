import { bitsOf } from '../cron-fields.ts';
import { type DayRule, isRuleDay } from '../rrule/days.ts';
import type { RruleParts } from '../rrule/parts.ts';
import { nextPeriodWall } from '../rrule/periods.ts';
import type { Recurrence, Rule } from '../rrule/recurrence.ts';
import { DAY_MS, dayOfWall, secondOfDayOf } from '../time/calendar.ts';
import { resolveShifted, toWall } from '../time/zone.ts';
import { listFacts, timesFacts, yearDates } from './cron-facts.ts';
import type { DayFacts, DayMoment, DayPart, Exception, Rhythm, Span, TimeFacts, Unit } from './facts.ts';
import { runsOf } from './words.ts';

const UNITS: Readonly<Record<RruleParts['frequency'], Unit>> = {
  SECONDLY: 'second',
  MINUTELY: 'minute',
  HOURLY: 'hour',
  DAILY: 'day',
  WEEKLY: 'week',
  MONTHLY: 'month',
  YEARLY: 'year',
};

function isWorkWeek({ weekdays }: RruleParts): boolean {
  const plain = weekdays.map(({ weekday, ordinal }) => (ordinal === 0 ? weekday : -1)).sort((a, b) => a - b);
  return plain.join() === '1,2,3,4,5';
}

/** A position that picks one day from Monday to Friday of each month. */
function picksWorkday({ parts, periods }: Rule): boolean {
  const { frequency, positions, monthDays } = parts;
  if (frequency !== 'MONTHLY' || positions.length === 0 || monthDays.length > 0) return false;
  return isWorkWeek(parts) && periods?.times.length === 1;
}

/** The last of the days 28 to 31 is the last one of each month. */
function picksLastDay({ frequency, monthDays, weekdays, positions }: RruleParts): boolean {
  return (
    frequency === 'MONTHLY' && weekdays.length === 0 && monthDays.join() === '28,29,30,31' && positions.join() === '-1'
  );
}

/** In which the numbers of weekdays count: a month that is the only one is told with them. */
function numberedIn({ frequency, months }: RruleParts): 'month' | 'year' | number {
  const [month] = months;
  if (frequency === 'YEARLY' && months.length === 1 && month !== undefined) return month - 1;
  return frequency === 'MONTHLY' || months.length > 0 ? 'month' : 'year';
}

function weekdayPart(parts: RruleParts, { weekdays }: DayRule): DayPart[] {
  const numbered = parts.weekdays.filter(({ ordinal }) => ordinal !== 0);
  const plain = bitsOf(weekdays);
  if (plain.length + numbered.length === 0) return [];
  return [{ is: 'weekdays', plain, numbered, of: numberedIn(parts) }];
}

function dayParts(parts: RruleParts, days: DayRule): DayPart[] {
  const monthDays = picksLastDay(parts) ? [-1] : days.monthDays;
  return [
    ...weekdayPart(parts, days),
    ...(monthDays.length === 0 ? [] : [{ is: 'monthDays', days: monthDays, nearest: [] } as const]),
    ...(parts.yearDays.length === 0 ? [] : [{ is: 'yearDays', days: parts.yearDays } as const]),
    ...(parts.weekNumbers.length === 0 ? [] : [{ is: 'weeks', weeks: parts.weekNumbers } as const]),
  ];
}

/** Whether the days alone say how often they come: `every Friday`, `on the last Friday of the month`. */
function saysHowOften(rule: Rule): boolean {
  const { frequency, interval, weekdays, monthDays, positions } = rule.parts;
  if (rule.periods === null) return true;
  if (interval > 1) return false;
  if (frequency === 'WEEKLY') return positions.length === 0;
  if (frequency === 'DAILY') return weekdays.length > 0 && monthDays.length === 0;
  if (frequency !== 'MONTHLY') return false;
  if (picksLastDay(rule.parts)) return true;
  if (positions.length > 0 || weekdays.some(({ ordinal }) => ordinal === 0)) return false;
  return weekdays.length === 0 || rule.periods.days.monthDays.length === 0;
}

/** A few dates of the year, where a rule of years names nothing else. */
function datesIn(
  { frequency }: RruleParts,
  [first, more]: readonly DayPart[],
  months: readonly number[],
): DayPart | null {
  const isAlone = frequency === 'YEARLY' && first?.is === 'monthDays' && more === undefined;
  return isAlone ? yearDates(first.days, months) : null;
}

/** The days of a rule, without how often they count. */
function daysOf(parts: RruleParts, days: DayRule): Pick<DayFacts, 'parts' | 'joined' | 'months'> {
  const months = bitsOf(days.months);
  const found = dayParts(parts, days);
  const dates = parts.positions.length === 0 ? datesIn(parts, found, months) : null;
  if (dates !== null) return { parts: [dates], joined: 'and', months: [] };
  // The month is told with the numbers of weekdays that count in it.
  const isTold = typeof numberedIn(parts) === 'number' && parts.weekdays.some(({ ordinal }) => ordinal !== 0);
  return { parts: found, joined: 'and', months: isTold ? [] : months };
}

function dayFacts(rule: Rule, days: DayRule): DayFacts {
  const { parts, periods } = rule;
  const every = { value: parts.interval, unit: UNITS[parts.frequency] };
  const on = daysOf(parts, days);
  if (picksWorkday(rule))
    return {
      ...on,
      parts: [{ is: 'workdays', positions: parts.positions }],
      every: parts.interval === 1 ? null : every,
    };
  if (periods === null && on.parts.length === 0) return { ...on, every: { value: 1, unit: 'day' } };
  return { ...on, every: saysHowOften(rule) ? null : every };
}

const all = (size: number) => Array.from({ length: size }, (_, value) => value);

function isEveryDay({ frequency, interval, weekdays, monthDays, months }: RruleParts): boolean {
  return frequency === 'DAILY' && interval === 1 && weekdays.length + monthDays.length + months.length === 0;
}

function timeFacts(rule: Rule): TimeFacts {
  const { parts, periods, startWall } = rule;
  if (periods !== null) return dayTimes(pickedTimes(parts, periods.times) ?? periods.times, isEveryDay(parts));
  const start = secondOfDayOf(startWall);
  const isHourly = parts.frequency === 'HOURLY';
  const or = (list: readonly number[], value: readonly number[]) => (list.length > 0 ? list : value);
  const minutes = or(parts.minutes, isHourly ? [Math.floor(start / 60) % 60] : []);
  const seconds = or(parts.seconds, parts.frequency === 'SECONDLY' || start % 60 === 0 ? [] : [start % 60]);
  const isPlain = parts.interval === 1 && parts.positions.length === 0 && parts.frequency !== 'SECONDLY';
  if (isPlain && (seconds.join() === '0' || seconds.length === 0))
    return timesFacts({ hours: or(parts.hours, all(24)), minutes: or(minutes, all(60)), fixedTimes: false }, false);
  return {
    is: 'counted',
    step: { value: parts.interval, unit: UNITS[parts.frequency] },
    hours: parts.hours,
    minutes: isHourly && parts.minutes.length === 0 && parts.hours.length === 0 ? [] : minutes,
    seconds: parts.seconds,
  };
}

function dayTimes(times: readonly number[], areDaily: boolean): TimeFacts {
  const unique = (size: number, most: number) => [...new Set(times.map((time) => Math.floor(time / size) % most))];
  return (
    listFacts(times, areDaily) ?? {
      is: 'seconds',
      hours: unique(3_600, 24),
      minutes: unique(60, 60),
      seconds: unique(1, 60),
    }
  );
}

/** Times of the day that positions pick, which can be named where the set of a rule is one day. */
function pickedTimes({ frequency, positions }: RruleParts, times: readonly number[]): number[] | null {
  if (frequency !== 'DAILY' || positions.length === 0) return null;
  const picked = positions.map((value) => times[value > 0 ? value - 1 : times.length + value]);
  const named = picked.filter((time) => time !== undefined).sort((a, b) => a - b);
  return named.length === 0 ? null : [...new Set(named)];
}

function picksOf(rule: Rule): Rhythm['picks'] {
  const { parts, periods } = rule;
  const isTold = pickedTimes(parts, periods?.times ?? []) !== null || picksWorkday(rule);
  const isLast = picksLastDay(parts) && periods?.times.length === 1;
  if (parts.positions.length === 0 || isTold || isLast) return null;
  return { positions: parts.positions, unit: UNITS[parts.frequency] };
}

function weekStartOf({ frequency, interval, weekStart, weekNumbers, positions }: RruleParts): number | null {
  const matters = (frequency === 'WEEKLY' && (interval > 1 || positions.length > 0)) || weekNumbers.length > 0;
  return matters && weekStart !== 1 ? weekStart : null;
}

function spanOf(rule: Rule, time: TimeFacts, nowWall: number | null): Span {
  const { parts, periods, steps, startWall, until, timezone } = rule;
  const counts = periods === null ? time.is === 'counted' : parts.interval > 1;
  const start = { day: dayOfWall(startWall), time: periods === null ? secondOfDayOf(startWall) : null };
  // A rhythm that has begun needs no start any more: its next run tells the rest.
  const isTold = nowWall === null || (counts ? startWall > nowWall : delays(rule, nowWall));
  return {
    start: isTold ? start : null,
    counts,
    clock: counts && steps?.keepsToClock === true,
    until: until === null ? null : endMoment(until, timezone),
  };
}

/** Whether the start keeps slots away that the rule would have from now on. */
function delays({ periods, startWall }: Rule, nowWall: number): boolean {
  if (startWall <= nowWall) return false;
  const first = periods === null ? nowWall : nextPeriodWall({ ...periods, startWall: nowWall }, nowWall);
  return first !== null && first < startWall;
}

/** The last millisecond of a day is the day. */
function endMoment(until: number, timezone: string): DayMoment {
  const wall = toWall(timezone, until);
  return wall % DAY_MS === DAY_MS - 1 ? { day: dayOfWall(wall), time: null } : momentOf(until, timezone);
}

export function momentOf(instant: number, timezone: string): DayMoment {
  const wall = toWall(timezone, instant);
  return { day: dayOfWall(wall), time: secondOfDayOf(wall) };
}

/** A rule that ends with its start is a single moment. */
function isMoment({ parts, until, startWall, timezone }: Rule): boolean {
  const { frequency, weekdays, months, monthDays } = parts;
  const isBare = frequency === 'DAILY' && weekdays.length + months.length + monthDays.length === 0;
  return isBare && until !== null && until === resolveShifted(timezone, startWall);
}

/** To people, `nowWall` is the time on the clock, and a start that says nothing any more is left out. */
export function rhythmsOf({ rules }: Recurrence, nowWall: number | null): Rhythm[] {
  return rules
    .filter((rule) => !isMoment(rule))
    .flatMap((rule) => {
      const days = (rule.periods ?? rule.steps)?.days;
      if (days === undefined) return [];
      const time = timeFacts(rule);
      const weekStart = weekStartOf(rule.parts);
      return [{ days: dayFacts(rule, days), time, picks: picksOf(rule), weekStart, span: spanOf(rule, time, nowWall) }];
    });
}

/** Moments beside the rhythms, each once. */
export function momentsOf({ rules, added, timezone }: Recurrence): number[] {
  const alone = rules.filter(isMoment).map(({ startWall }) => resolveShifted(timezone, startWall));
  return [...new Set([...alone, ...added])].sort((a, b) => a - b);
}

/** Days that come again, then single days and runs in their order; days that follow each other are one range. */
export function exceptionsIn({ lines, without, excluded, excludedDays, timezone }: Recurrence): Exception[] {
  const again = without.flatMap((days, index) => {
    const line = lines.exceptions[index];
    if (line === undefined) return [];
    return [{ is: 'days', body: line.body, days: { ...daysOf(line.parts, days), every: null } } as const];
  });
  const days = runsOf([...excludedDays].sort((a, b) => a - b));
  const once: Array<Exclude<Exception, { is: 'days' }>> = [
    ...days.map(({ first, last }) => ({ is: 'range', from: first, to: last }) as const),
    ...[...excluded].map((at) => ({ is: 'moment', at, moment: momentOf(at, timezone) }) as const),
  ];
  const begin = (each: (typeof once)[number]) => (each.is === 'range' ? each.from : each.moment.day);
  return [...again, ...once.sort((a, b) => begin(a) - begin(b))];
}

/** The exception that takes an instant, or its whole day. */
export function exceptionAt(recurrence: Recurrence, instant: number): Exception | null {
  const { day } = momentOf(instant, recurrence.timezone);
  const all = exceptionsIn(recurrence);
  const again = recurrence.without.findIndex((rule) => isRuleDay(rule, day));
  const isIt = (exception: Exception) =>
    exception.is === 'range'
      ? exception.from <= day && day <= exception.to
      : exception.is === 'moment' && exception.at === instant;
  return all[again] ?? all.find(isIt) ?? null;
}
