import type { Exceptions } from '../../schedule/combine.ts';
import {
  addMonths,
  civilFromDays,
  DAY_MS,
  daysFromCivil,
  MINUTE_MS,
  monthLength,
  weekdayOf,
} from '../../schedule/time/calendar.ts';
import { resolveShifted } from '../../schedule/time/zone.ts';
import { refusal } from '../faults.ts';
import type { Edge, Except } from '../pieces/bounds.ts';
import type { Days } from '../pieces/days.ts';
import { dayOf, dayOfDate, ordered } from './day.ts';
import { isStepped, type Plan } from './plan.ts';
import { dayLabel, type Reading, today } from './reading.ts';
import { minuteOf } from './times.ts';

/** An edge as a day of the zone, and the minute of that day where one is said. */
export interface EdgeDay {
  readonly day: number;
  readonly minute: number | null;
}

export interface Bounds {
  readonly starting: EdgeDay | null;
  /** A start in the past, from which stepped weeks and months are counted. */
  readonly counted: EdgeDay | null;
  readonly until: EdgeDay | null;
  readonly lasting: Plan['lasting'];
  readonly count: number | null;
}

function endOf(span: NonNullable<Edge['span']>, from: number): number {
  const { year, month } = civilFromDays(from);
  switch (span) {
    case 'day':
      return from;
    case 'week':
    case 'weekend':
      return from + ((7 - weekdayOf(from)) % 7);
    case 'month':
      return daysFromCivil(year, month, monthLength(year, month));
    case 'year':
      return daysFromCivil(year, 12, 31);
  }
}

/** The first day of the week, month or year that comes next. */
function startOfNext(span: NonNullable<Edge['span']>, from: number): number {
  if (span === 'month' || span === 'year') {
    const { year, month } = civilFromDays(from);
    const next = span === 'month' ? addMonths({ year, month, day: 1 }, 1) : { year: year + 1, month: 1, day: 1 };
    return daysFromCivil(next.year, next.month, 1);
  }
  return from + ((8 - weekdayOf(from)) % 7 || 7);
}

function edgeDay({ days, time, span }: Edge, side: 'start' | 'end', reading: Reading): EdgeDay {
  const from = today(reading.setting);
  const isNight = days?.kind === 'ahead' && days.night;
  const minute = time === null ? null : minuteOf(time, isNight ? 'night' : null, reading);
  if (span !== null) return { day: side === 'end' ? endOf(span, from) : startOfNext(span, from), minute };
  return { day: days === null ? from : dayOf(days, from, null, reading), minute };
}

/** A start so many days ago is where weeks are counted from, rather than one of next year. */
const COUNTED_DAYS_MAX = 90;

/** "From 5 november to 9 december" has begun where only its end lies ahead. */
function startDay(edge: Edge, until: EdgeDay | null, plan: Plan, reading: Reading): EdgeDay {
  const found = edgeDay(edge, 'start', reading);
  const { days } = edge;
  if (days?.kind !== 'date' || days.date.year !== null) return found;
  const from = today(reading.setting);
  if (until !== null && found.day > until.day) return { ...found, day: Math.max(from, beforeDate(days, until.day)) };
  const past = beforeDate(days, from);
  const isCounted = from - past <= COUNTED_DAYS_MAX && isCountable(plan);
  if (civilFromDays(found.day).year !== civilFromDays(from).year && !isCounted)
    reading.notes.push({
      what: 'date',
      text: (say) => say.starting(dayLabel(found.day, reading.setting)(say)),
      other: null,
    });
  return isCounted ? { ...found, day: past } : found;
}

/** Weeks and months of which only some count may have begun. */
function isCountable({ groups, count, lasting }: Plan): boolean {
  return count === null && lasting === null && groups.some(({ rhythm }) => isStepped(rhythm));
}

/** "Until 18" ends today, and "in december" is the one that is or that comes. */
function noteEnd({ until: edge }: Plan, until: EdgeDay | null, { notes, setting }: Reading): void {
  const isToday = edge !== null && edge.days === null && edge.span === null;
  const isMonth = edge?.days?.kind === 'date' && edge.days.date.day === -1;
  if (until !== null && (isToday || isMonth))
    notes.push({ what: 'date', text: (say) => say.until(dayLabel(until.day, setting)(say)), other: null });
}

export function boundsOf(plan: Plan, reading: Reading): Bounds {
  const from = today(reading.setting);
  const until = plan.until === null ? null : edgeDay(plan.until, 'end', reading);
  const starting = plan.starting === null ? null : startDay(plan.starting, until, plan, reading);
  if ([until, plan.count, plan.lasting].filter((end) => end !== null).length > 1) {
    throw refusal('end', 'two_ends', (say) => say.twoEnds);
  }
  if (until !== null && until.day < Math.max(from, starting?.day ?? from)) {
    throw refusal('end', 'past', (say) => say.endsBeforeStart);
  }
  noteEnd(plan, until, reading);
  const rest = { until, lasting: plan.lasting, count: plan.count };
  if (starting === null || starting.day >= from) return { ...rest, starting, counted: null };
  if (isCountable(plan)) return { ...rest, starting: null, counted: starting };
  throw refusal('end', 'past', (say) => say.startPast);
}

/** The instant of a day and a minute of it. */
export function instantOf({ day, minute }: EdgeDay, { setting }: Reading): number {
  return resolveShifted(setting.timezone, day * DAY_MS + (minute ?? 0) * MINUTE_MS);
}

/** More days than these are said as a range that comes once. */
const YEARLY_MAX = 14;

type Collected = { -readonly [K in keyof Required<Exceptions>]: Array<Required<Exceptions>[K][number]> };

/** Days that are left out. A date without a year is the coming one; a holiday is left out every year. */
export function exceptionsOf(except: Except, reading: Reading): Exceptions {
  const all: Collected = { weekdays: [], monthDays: [], months: [], yearDays: [], dates: [], ranges: [] };
  for (const one of except) {
    if ('month' in one) all.months.push(one.month);
    else if (one.to === null) addDays(all, one.days, reading);
    else addRange(all, one.days, one.to, reading);
  }
  return all;
}

function addDays(all: Collected, days: Days, reading: Reading): void {
  const from = today(reading.setting);
  switch (days.kind) {
    case 'weekdays':
      if (days.which === 'any') all.weekdays.push(...days.weekdays);
      else all.dates.push(dayOf(days, from, null, reading));
      return;
    case 'monthDays':
      if (days.weekday !== null || days.of === 'this month' || days.of === 'next month')
        all.dates.push(dayOf(days, from, null, reading));
      else all.monthDays.push(...days.days);
      return;
    case 'date': {
      const { year, month, day } = ordered(days, null, reading);
      const each = [day, ...(days.also ?? [])].map((of) => ({ ...days, date: { ...days.date, day: of } }));
      if (days.isHoliday === true && year === null && days.early === 0) all.yearDays.push({ month, day });
      else all.dates.push(...each.map((one) => dayOf(one, from, null, reading)));
      return;
    }
    case 'ahead':
      all.dates.push(dayOf(days, from, null, reading));
      return;
    case 'nth':
      throw refusal('end', 'exception', (say) => say.noException);
  }
}

function addRange(all: Collected, days: Days, to: Days, reading: Reading): void {
  const now = today(reading.setting);
  const last = dayOf(to, now, null, reading);
  const first =
    days.kind === 'date' && days.date.year === null ? beforeDate(days, last) : dayOf(days, now, null, reading);
  const isYearly = isHoliday(days) && isHoliday(to) && last - first < YEARLY_MAX;
  if (!isYearly) {
    all.ranges.push({ from: Math.max(first, now), to: last });
    return;
  }
  for (let day = first; day <= last; day += 1) {
    const { month, day: date } = civilFromDays(day);
    all.yearDays.push({ month, day: date });
  }
}

function isHoliday(days: Days): boolean {
  return days.kind === 'date' && days.isHoliday === true;
}

/** The last day with this date that is not after `last`: 24 December, before 2 January. */
function beforeDate({ date }: Extract<Days, { kind: 'date' }>, last: number): number {
  const found = dayOfDate({ ...date, year: civilFromDays(last).year }, last);
  return found <= last ? found : dayOfDate({ ...date, year: civilFromDays(last).year - 1 }, last);
}
