import type { OrdinalDay, RruleParts } from '../rrule/parts.ts';
import type { Recurrence, Rule } from '../rrule/recurrence.ts';
import { clockText, dateText, dayOfWall, secondOfDayOf } from '../time/calendar.ts';
import { toWall } from '../time/zone.ts';
import {
  asCondition,
  every,
  list,
  MONTH_NAMES,
  monthDayWords,
  ordinal,
  stepOf,
  WEEKDAY_NAMES,
  weekdayWords,
  yearDayWords,
} from './words.ts';

const UNITS = {
  SECONDLY: 'second',
  MINUTELY: 'minute',
  HOURLY: 'hour',
  DAILY: 'day',
  WEEKLY: 'week',
  MONTHLY: 'month',
  YEARLY: 'year',
};
const TIMES_SHOWN_MAX = 12;

/** Writes the day of that number since 1970. */
export type DayWords = (day: number) => string;

function mondayFirst(days: readonly OrdinalDay[]): OrdinalDay[] {
  return [...days].sort((a, b) => a.ordinal - b.ordinal || ((a.weekday + 6) % 7) - ((b.weekday + 6) % 7));
}

function weekdayName({ weekday, ordinal: number }: OrdinalDay): string {
  const name = WEEKDAY_NAMES[weekday] ?? '';
  return number === 0 ? name : `the ${ordinal(number)} ${name}`;
}

/** `the first and third Monday`, weekday by weekday; plain days stand alone. */
function weekdayGroups(weekdays: readonly OrdinalDay[]): string[] {
  const days = mondayFirst(weekdays);
  const isSame = days.length > 1 && days.every((day) => day.ordinal !== 0 && day.weekday === days[0]?.weekday);
  if (!isSame) return days.map(weekdayName);
  const fore = days.filter((day) => day.ordinal > 0);
  const back = days.filter((day) => day.ordinal < 0).toReversed();
  const numbers = [...fore, ...back].map((day) => ordinal(day.ordinal));
  return [`the ${list(numbers)} ${WEEKDAY_NAMES[days[0]?.weekday ?? 0] ?? ''}`];
}

function isWorkWeek(days: readonly OrdinalDay[]): boolean {
  const plain = mondayFirst(days).map(({ weekday, ordinal: number }) => (number === 0 ? weekday : -1));
  return plain.join() === '1,2,3,4,5';
}

function signed(values: readonly number[], unit: string): string {
  const fore = values.filter((value) => value > 0);
  const back = values.filter((value) => value < 0).sort((a, b) => b - a);
  const words = fore.length === 0 ? [] : [`${unit}${fore.length === 1 ? '' : 's'} ${list(fore.map(String))}`];
  return list([...words, ...back.map((value) => `the ${ordinal(value)} ${unit}`)]);
}

/** `the first Monday of May` has its month in it. */
function isOfOneMonth({ weekdays, frequency, months }: Pick<RruleParts, 'weekdays' | 'frequency' | 'months'>): boolean {
  return frequency === 'YEARLY' && months.length === 1 && weekdays.some((day) => day.ordinal !== 0);
}

/** The weekdays of a rule: with a number of the month or year, and as a condition beside other day parts. */
function weekdayPart({ weekdays, frequency, months }: RruleParts): string {
  const names = list(weekdayGroups(weekdays));
  if (weekdays.every(({ ordinal: number }) => number === 0)) return isWorkWeek(weekdays) ? 'Monday to Friday' : names;
  const [month = 0] = months;
  if (isOfOneMonth({ weekdays, frequency, months })) return `${names} of ${MONTH_NAMES[month - 1] ?? ''}`;
  return `${names} of the ${frequency === 'MONTHLY' || months.length > 0 ? 'month' : 'year'}`;
}

/** `the 1st, 15th and last day`; whether "of the month" has to follow depends on what stands before. */
function monthDaysPart(days: readonly number[]): string {
  const fore = days.filter((day) => day > 0);
  const back = days.filter((day) => day < 0).sort((a, b) => b - a);
  return list([...(fore.length === 0 ? [] : [monthDayWords(fore)]), ...back.map((day) => `the ${ordinal(day)} day`)]);
}

function monthsIn(months: number): number[] {
  return Array.from({ length: 12 }, (_, index) => index).filter((index) => (months & (1 << index)) !== 0);
}

/** Months counted from 0. */
function inMonths(months: readonly number[]): string[] {
  return months.length === 0 ? [] : [`in ${list(months.map((month) => MONTH_NAMES[month] ?? ''))}`];
}

function weekdayNames(rule: Rule): string {
  const days = rule.periods?.days ?? rule.steps?.days;
  return weekdayWords([0, 1, 2, 3, 4, 5, 6].filter((index) => ((days?.weekdays ?? 0) & (1 << index)) !== 0));
}

function dayParts(rule: Rule): string[] {
  const { parts } = rule;
  const words: string[] = [];
  if (parts.weekdays.length > 0) words.push(`on ${weekdayPart(parts)}`);
  else if (parts.frequency === 'WEEKLY') words.push(`on ${weekdayNames(rule)}`);
  return [...words, ...monthParts(rule)];
}

function monthParts({ parts, periods, steps }: Rule): string[] {
  const words: string[] = [];
  const { monthDays, months } = (periods ?? steps)?.days ?? { monthDays: [], months: 0 };
  const behind = parts.frequency === 'MONTHLY' && parts.interval > 1 ? '' : ' of the month';
  if (monthDays.length > 0) words.push(`on ${monthDaysPart(monthDays)}${behind}`);
  if (parts.yearDays.length > 0) words.push(`on ${signed(parts.yearDays, 'day')} of the year`);
  if (parts.weekNumbers.length > 0) words.push(`in ${signed(parts.weekNumbers, 'week')} of the year`);
  return isOfOneMonth(parts) ? words : [...words, ...inMonths(monthsIn(months))];
}

function counted(unit: string, values: readonly number[], preposition: string): string[] {
  return values.length === 0
    ? []
    : [`${preposition} ${unit}${values.length === 1 ? '' : 's'} ${list(values.map(String))}`];
}

function timePart({ periods, parts, startWall }: Rule): string {
  if (periods !== null) return clockTimes(parts, periods.times);
  const start = secondOfDayOf(startWall);
  const ownMinute = parts.frequency === 'HOURLY' ? [Math.floor(start / 60) % 60] : [];
  const ownSecond = parts.frequency === 'SECONDLY' || start % 60 === 0 ? [] : [start % 60];
  return [
    ...counted('hour', parts.hours, 'in'),
    ...counted('minute', parts.minutes.length > 0 ? parts.minutes : ownMinute, 'at'),
    ...counted('second', parts.seconds.length > 0 ? parts.seconds : ownSecond, 'at'),
  ].join(' ');
}

/** Times of the day that BYSETPOS picks, which can be named where the set of a rule is one day. */
function pickedTimes({ frequency, positions }: RruleParts, times: readonly number[]): number[] | null {
  if (frequency !== 'DAILY' || positions.length === 0) return null;
  const picked = positions.map((value) => times[value > 0 ? value - 1 : times.length + value]);
  const named = picked.filter((time) => time !== undefined).sort((a, b) => a - b);
  return named.length === 0 ? null : [...new Set(named)];
}

function evenRhythm(minutes: number): string {
  return minutes % 60 === 0 ? every(minutes / 60, 'hour') : every(minutes, 'minute');
}

function clockTimes(parts: RruleParts, all: readonly number[]): string {
  const picked = pickedTimes(parts, all);
  const times = picked ?? all;
  const step = times.length > TIMES_SHOWN_MAX ? stepOf(times) : null;
  if (step !== null && step % 60 === 0 && times.every((time) => time % 60 === 0))
    return `${evenRhythm(step / 60)} from ${clockText(times[0] ?? 0)} to ${clockText(times.at(-1) ?? 0)}`;
  if (times.length <= TIMES_SHOWN_MAX || picked !== null) return `at ${list(times.map(clockText))}`;
  const unique = (values: readonly number[]) => list([...new Set(values)].map(String));
  const seconds =
    parts.seconds.length > 0
      ? ` and ${parts.seconds.length === 1 ? 'second' : 'seconds'} ${list(parts.seconds.map(String))}`
      : '';
  const minutes = unique(times.map((time) => Math.floor(time / 60) % 60));
  return `at minutes ${minutes}${seconds} of the hours ${unique(times.map((time) => Math.floor(time / 3_600)))}`;
}

/** The beginning of the rule, and whether its day parts have to follow. */
function frequencyPart(rule: Rule): { head: string; rest: boolean } {
  const { parts } = rule;
  const whole = parts.interval === 1 ? (weekHead(rule) ?? monthHead(rule)) : null;
  if (whole !== null) return { head: whole, rest: false };
  const dates = yearDates(rule);
  if (dates !== null) return { head: `${every(parts.interval, 'year')} on ${dates}`, rest: false };
  return { head: every(parts.interval, UNITS[parts.frequency]), rest: true };
}

/** `every weekday`, `every Friday`: days of the week that a rule of days or of weeks names. */
function weekHead(rule: Rule): string | null {
  const { parts } = rule;
  const { frequency, weekdays, monthDays, positions } = parts;
  const isWeekly = frequency === 'WEEKLY' && positions.length === 0;
  if (!isWeekly && !(frequency === 'DAILY' && weekdays.length > 0 && monthDays.length === 0)) return null;
  const names = isWorkWeek(weekdays) ? 'weekday' : weekdayNames(rule);
  return [`every ${names}`, ...inMonths(parts.months.map((month) => month - 1))].join(' ');
}

/** `on the last Friday of the month`, `on the first weekday of the month`, `on the 1st of the month`. */
function monthHead(rule: Rule): string | null {
  const { parts, periods } = rule;
  const { frequency, weekdays, positions } = parts;
  if (frequency !== 'MONTHLY' || periods === null) return null;
  if (isWorkdayOfMonth(rule)) {
    const names = [...positions].sort((a, b) => (a > 0 === b > 0 ? Math.abs(a) - Math.abs(b) : b - a)).map(ordinal);
    return [`on the ${list(names)} weekday of the month`, ...inMonths(parts.months.map((month) => month - 1))].join(
      ' ',
    );
  }
  if (positions.length > 0 || weekdays.some(({ ordinal: number }) => number === 0)) return null;
  if (weekdays.length > 0 && periods.days.monthDays.length > 0) return null;
  return dayParts(rule).join(' ');
}

function isWorkdayOfMonth({ parts, periods }: Rule): boolean {
  const { frequency, weekdays, positions, monthDays } = parts;
  if (frequency !== 'MONTHLY' || positions.length === 0 || monthDays.length > 0) return false;
  return isWorkWeek(weekdays) && periods?.times.length === 1;
}

function yearDates({ parts, periods }: Rule): string | null {
  const days = periods?.days;
  const isPlain =
    parts.weekdays.length + parts.yearDays.length + parts.weekNumbers.length + parts.positions.length === 0;
  if (parts.frequency !== 'YEARLY' || days === undefined || !isPlain) return null;
  return days.monthDays.some((day) => day < 0) ? null : yearDayWords(days.monthDays, monthsIn(days.months));
}

function positionPart(rule: Rule): string {
  const { positions, frequency } = rule.parts;
  const times = rule.periods?.times ?? [];
  const isTold = pickedTimes(rule.parts, times) !== null || (rule.parts.interval === 1 && isWorkdayOfMonth(rule));
  if (positions.length === 0 || isTold) return '';
  const names = [...positions]
    .sort((a, b) => (a > 0 === b > 0 ? Math.abs(a) - Math.abs(b) : b - a))
    .map((value) => `the ${ordinal(value)}`);
  return `, only ${list(names)} of these times in each ${UNITS[frequency]}`;
}

function weekStartPart({ frequency, interval, weekStart, weekNumbers, positions }: RruleParts): string {
  const matters = (frequency === 'WEEKLY' && (interval > 1 || positions.length > 0)) || weekNumbers.length > 0;
  return matters && weekStart !== 1 ? `, weeks beginning on ${WEEKDAY_NAMES[weekStart] ?? ''}` : '';
}

function exceptionPart({ lines, excluded, excludedDays, added, timezone }: Recurrence, day: DayWords): string {
  const never = lines.exceptions.map(({ parts }) => exceptionWords(parts));
  const out = [...[...excluded].map((instant) => momentText(instant, timezone, day)), ...[...excludedDays].map(day)];
  const without = lines.excluded.length === 0 ? '' : `, except ${out.length > 3 ? `${out.length} dates` : list(out)}`;
  const extra =
    added.length === 0
      ? ''
      : `, and also on ${added.length > 3 ? `${added.length} more dates` : list(added.map((at) => momentText(at, timezone, day)))}`;
  return `${never.length === 0 ? '' : `, not ${list(never)}`}${without}${extra}`;
}

function momentText(instant: number, timezone: string, day: DayWords): string {
  const wall = toWall(timezone, instant);
  return `${day(dayOfWall(wall))} ${clockText(secondOfDayOf(wall)).slice(0, 5)}`;
}

function spanPart({ parts, periods, steps, startWall, until, timezone }: Rule, day: DayWords): string {
  // A rule of whole days names its times itself; one that steps through the day has its phase from the time of DTSTART.
  const time = periods === null ? ` ${clockText(secondOfDayOf(startWall))}` : '';
  const start = `${day(dayOfWall(startWall))}${time}`;
  const clock = steps?.keepsToClock === true ? 'on the clock ' : '';
  const count = parts.interval > 1 ? 'counted ' : '';
  const from = day === dateText ? `, ${count}${clock}from ${start}` : `, ${clock}starting ${start}`;
  return until === null ? from : `${from}, until ${untilText(until, timezone, day)}`;
}

function untilText(until: number, timezone: string, day: DayWords): string {
  const wall = toWall(timezone, until);
  return wall % 86_400_000 === 86_399_999 ? day(dayOfWall(wall)) : momentText(until, timezone, day);
}

function throughDay(time: string, days: string): string {
  return days === 'every day' ? time : `${time}, ${asCondition(days)}`;
}

/** `on Sundays`, `on the 1st of the month`, `in August`, `on 25 December`. */
function exceptionWords(parts: RruleParts): string {
  const { frequency, weekdays, monthDays, months } = parts;
  const isOfDates = frequency === 'YEARLY' && weekdays.length === 0;
  const dates = isOfDates
    ? yearDayWords(
        monthDays,
        months.map((month) => month - 1),
      )
    : null;
  if (dates !== null) return `on ${dates}`;
  const isPlain = weekdays.length > 0 && weekdays.every(({ ordinal: number }) => number === 0);
  const names = `on ${weekdayWords(weekdays.map(({ weekday }) => weekday)).replace(/(?<=day)\b/g, 's')}`;
  const days = weekdays.length === 0 ? [] : [isPlain ? names : `on ${weekdayPart(parts)}`];
  return [
    ...days,
    ...(monthDays.length === 0 ? [] : [`on ${monthDaysPart(monthDays)} of the month`]),
    ...(parts.yearDays.length === 0 ? [] : [`on ${signed(parts.yearDays, 'day')} of the year`]),
    ...(parts.weekNumbers.length === 0 ? [] : [`in ${signed(parts.weekNumbers, 'week')} of the year`]),
    ...inMonths(months.map((month) => month - 1)),
  ].join(' ');
}

/** One rhythm, without its span. */
function rhythm(rule: Rule): string {
  const { parts } = rule;
  const { head, rest } = frequencyPart(rule);
  const days = rest ? dayParts(rule) : [];
  const time = timePart(rule);
  const when = [head, ...days].join(' ');
  const words = time.startsWith('every ')
    ? throughDay(time, when)
    : [when, time].filter((part) => part !== '').join(' ');
  return `${words}${positionPart(rule)}${weekStartPart(parts)}`;
}

/** A day as `2026-11-24`, which programs read, or as the people of a chat want it written; then "starting" goes before it. */
export function rruleWords(recurrence: Recurrence, day: DayWords = dateText): string {
  const { rules } = recurrence;
  const spans = rules.map((rule) => spanPart(rule, day));
  const same = new Set(spans).size === 1;
  const words = rules.map((rule, index) => `${rhythm(rule)}${same ? '' : spans[index]}`);
  return `${list(words)}${same ? spans[0] : ''}${exceptionPart(recurrence, day)}`;
}
