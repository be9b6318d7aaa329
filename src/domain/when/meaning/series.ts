import { combined } from '../../schedule/combine.ts';
import { nextSlot, parseSchedule, type Schedule } from '../../schedule/schedule.ts';
import {
  civilFromDays,
  dateText,
  dayOfWall,
  DAY_MS,
  daysFromCivil,
  pad,
  secondOfDayOf,
  weekdayOf,
} from '../../schedule/time/calendar.ts';
import { toWall } from '../../schedule/time/zone.ts';
import { refusal } from '../faults.ts';
import type { Amount } from '../pieces/amount.ts';
import type { Setting } from '../setting.ts';
import { addedDays } from './day.ts';
import type { Bounds, EdgeDay } from './edges.ts';
import { dayLabel } from './reading.ts';

/** A series on the calendar: which days, and which minutes of them. */
export interface Series {
  readonly unit: 'day' | 'week' | 'month' | 'year';
  readonly every: number;
  readonly weekdays: readonly number[];
  /** -1 is the last day. */
  readonly monthDays: readonly number[];
  readonly months: readonly number[];
  readonly nth: { readonly ordinals: readonly number[]; readonly weekday: number | 'work' } | null;
  /** Minutes since midnight, ascending. */
  readonly times: readonly number[];
  /** The minute and hour fields of a cron, where the times are a rhythm through the day. */
  readonly rhythm: string | null;
  /** A day of the first of its steps, where other rhythms share them. */
  readonly phase?: number | null;
}

const WEEKDAY_CODES = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const POSITION_MAX = 366;
/** A rule for each of more times than these would be too long for one schedule. */
const ALONE_MAX = 12;

interface Grid {
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  /** Every hour has every minute. */
  readonly isFull: boolean;
}

function gridOf(times: readonly number[]): Grid {
  const unique = (values: readonly number[]) => [...new Set(values)].sort((a, b) => a - b);
  const hours = unique(times.map((time) => Math.floor(time / 60)));
  const minutes = unique(times.map((time) => time % 60));
  return { hours, minutes, isFull: hours.length * minutes.length === times.length };
}

function cronTimes({ rhythm, times }: Series): string | null {
  if (rhythm !== null) return rhythm;
  const { hours, minutes, isFull } = gridOf(times);
  return isFull ? `${minutes.join()} ${hours.join()}` : null;
}

function cronWeekdays(weekdays: readonly number[]): string {
  const sorted = [...weekdays].sort((a, b) => a - b);
  const isRun = sorted.length > 2 && sorted.every((day, index) => day === (sorted[0] ?? 0) + index);
  if (sorted.length === 7 || sorted.length === 0) return '*';
  return isRun ? `${sorted[0] ?? 0}-${sorted.at(-1) ?? 0}` : sorted.join();
}

/** The five fields, where the fields that every cron knows say exactly this. */
function cronOf(series: Series): string | null {
  const times = cronTimes(series);
  const isPlain = series.every === 1 && series.nth === null && series.monthDays.every((day) => day > 0);
  if (times === null || !isPlain) return null;
  const days = [...series.monthDays].sort((a, b) => a - b).join() || '*';
  const months = series.months.join() || '*';
  return `${times} ${days} ${months} ${cronWeekdays(series.weekdays)}`;
}

function dayParts({ weekdays, monthDays, months, nth, times }: Series): string[] {
  const parts: string[] = [];
  if (months.length > 0) parts.push(`BYMONTH=${months.join()}`);
  if (monthDays.length > 0) parts.push(`BYMONTHDAY=${monthDays.join()}`);
  if (weekdays.length > 0) parts.push(`BYDAY=${weekdays.map((day) => WEEKDAY_CODES[day] ?? '').join()}`);
  if (nth === null) return parts;
  const { weekday } = nth;
  if (weekday !== 'work') {
    return [...parts, `BYDAY=${nth.ordinals.map((ordinal) => `${ordinal}${WEEKDAY_CODES[weekday] ?? ''}`).join()}`];
  }
  // The set of a month holds each weekday once for every time of the day.
  const size = times.length;
  const positions = nth.ordinals.flatMap((ordinal) =>
    times.map((_, index) => (ordinal > 0 ? (ordinal - 1) * size + index + 1 : ordinal * size + index)),
  );
  return [...parts, 'BYDAY=MO,TU,WE,TH,FR', `BYSETPOS=${positions.join()}`];
}

function frequencyOf({ unit, nth, months }: Series): string {
  if (unit === 'year' && nth?.weekday === 'work') return 'MONTHLY';
  if (unit === 'year' && months.length === 0) return 'YEARLY';
  return { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY' }[unit];
}

function timeParts(times: readonly number[]): string[] {
  const { hours, minutes } = gridOf(times);
  return [`BYHOUR=${hours.join()}`, `BYMINUTE=${minutes.join()}`, 'BYSECOND=0'];
}

/**
 * Times such as 08:00, 12:00 and 18:30 are no product of hours and minutes. A rule says them exactly all the same: it names
 * every hour with every minute and then picks by position, which works where the set of a rule is a single day.
 */
function unevenRule(series: Series): string {
  const { hours, minutes } = gridOf(series.times);
  const all = hours.flatMap((hour) => minutes.map((minute) => hour * 60 + minute));
  const positions = series.times.map((time) => all.indexOf(time) + 1);
  const step = series.unit === 'day' && series.every > 1 ? [`INTERVAL=${series.every}`] : [];
  const parts = [...dayParts(series), ...timeParts(series.times), `BYSETPOS=${positions.join()}`];
  return ['FREQ=DAILY', ...step, ...parts].join(';');
}

/** Positions pick from a single day, so they say uneven times of days that a daily rule can name. */
export function isRule(series: Series): boolean {
  const { hours, minutes, isFull } = gridOf(series.times);
  const isDaily = series.unit === 'day' || (series.every === 1 && series.nth === null);
  return isFull || (isDaily && hours.length * minutes.length <= POSITION_MAX);
}

function ruleOf(series: Series): string {
  if (!gridOf(series.times).isFull) return unevenRule(series);
  const step = series.every > 1 ? [`INTERVAL=${series.every}`] : [];
  return [`FREQ=${frequencyOf(series)}`, ...step, ...dayParts(series), ...timeParts(series.times)].join(';');
}

function icalDay(day: number): string {
  return dateText(day).replaceAll('-', '');
}

export function icalWall(day: number, minute: number): string {
  return `${icalDay(day)}T${pad(Math.floor(minute / 60), 2)}${pad(minute % 60, 2)}00`;
}

/**
 * A rule counts its weeks and months from DTSTART, so DTSTART is the first run: the first one from now, or from the day
 * that "starting" names. It is found by the rule itself, taken without its step.
 */
function firstRun(series: Series, setting: Setting, starting: EdgeDay | null): string {
  const { timezone, now } = setting;
  const { phase = null } = series;
  const today = { day: dayOfWall(toWall(timezone, now)), minute: null };
  const from = phase === null ? (starting ?? today) : { day: periodOf(series, phase), minute: null };
  const rule = ruleOf(phase === null ? { ...series, every: 1 } : series);
  const plain = `DTSTART:${icalWall(from.day, from.minute ?? 0)}\nRRULE:${rule}`;
  const first = nextSlot(parseSchedule({ kind: 'rrule', rrule: plain, timezone }, now), now);
  if (first === null) throw refusal('any', 'never', (say) => say.noSuchDays);
  const wall = toWall(timezone, first);
  const minute = Math.floor(secondOfDayOf(wall) / 60);
  // A change of the clocks may have moved the run; the rule names the time before that.
  return icalWall(dayOfWall(wall), series.times.findLast((time) => time <= minute) ?? minute);
}

/** The day with which the week or the month begins that holds this one. */
function periodOf({ unit }: Series, day: number): number {
  if (unit === 'week') return day - ((weekdayOf(day) + 6) % 7);
  const { year, day: date } = civilFromDays(day);
  return unit === 'day' ? day : unit === 'month' ? day - date + 1 : daysFromCivil(year, 1, 1);
}

/** The last day that a series of this length has, which begins with its first run. */
function lastDayOf(start: string, lasting: Amount): number {
  const day = Date.UTC(Number(start.slice(0, 4)), Number(start.slice(4, 6)) - 1, Number(start.slice(6, 8))) / DAY_MS;
  return addedDays(day, lasting) - 1;
}

function endPart({ until, lasting, count }: Bounds, start: string): string[] {
  if (count !== null) return [`COUNT=${count}`];
  if (lasting !== null) return [`UNTIL=${icalDay(lastDayOf(start, lasting))}`];
  return until === null ? [] : [`UNTIL=${untilText(until)}`];
}

export function untilText({ day, minute }: EdgeDay): string {
  return minute === null ? icalDay(day) : icalWall(day, minute);
}

/** A cron where five plain fields say the series exactly, else a rule. */
export function seriesSchedule(series: Series, bounds: Bounds, setting: Setting): Schedule {
  const { timezone, now } = setting;
  const { starting, until, lasting, count } = bounds;
  const isOpen = starting === null && until === null && count === null && lasting === null;
  const cron = isOpen ? cronOf(series) : null;
  if (cron !== null) return parseSchedule({ kind: 'cron', cron, timezone }, now);
  if (!isRule(series)) {
    if (series.times.length > ALONE_MAX) {
      throw refusal('clocks', 'uneven_times', (say) => say.unevenTimes);
    }
    const each = series.times.map((time) => seriesSchedule({ ...series, times: [time] }, bounds, setting));
    return combined(each, {}, { now, isOneStart: true });
  }
  const start = firstRun(series, setting, starting);
  const rrule = `DTSTART:${start}\nRRULE:${[ruleOf(series), ...endPart(bounds, start)].join(';')}`;
  const schedule = parseSchedule({ kind: 'rrule', rrule, timezone }, now);
  if (nextSlot(schedule, now) !== null) return schedule;
  throw refusal('end', 'never', (say) => say.endsBefore(until === null ? null : dayLabel(until.day, setting)(say)));
}

export const MINUTES_OF_DAY = DAY_MS / 60_000;
