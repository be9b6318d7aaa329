import {
  civilFromDays,
  dayOfWall,
  daysFromCivil,
  isLeapYear,
  monthBits,
  monthLength,
  weekdayBits,
  weekdayOf,
} from '../time/calendar.ts';
import type { OrdinalDay, RruleParts } from './parts.ts';

/** The day parts of a rule, with the defaults that RFC 5545 takes from DTSTART filled in. */
export interface DayRule {
  readonly months: number;
  readonly monthDays: readonly number[];
  readonly yearDays: readonly number[];
  readonly weekNumbers: ReadonlySet<number>;
  readonly weekdays: number;
  readonly ordinals: readonly OrdinalDay[];
  /** Numbered weekdays count inside the month; otherwise inside the year. */
  readonly ordinalsInMonth: boolean;
  readonly weekStart: number;
  /** No part of the rule looks at the day, so that no search has to either. */
  readonly isEveryDay: boolean;
  /** Days that exceptions take away. */
  readonly without: readonly DayRule[];
  /** The last month asked for: searches walk through a month day by day. */
  readonly memo: { key: number; bits: number };
}

function bits(values: readonly number[], lowest: number): number {
  return values.reduce((all, value) => all | (1 << (value - lowest)), 0);
}

function namesDays({ monthDays, yearDays, weekNumbers, weekdays }: RruleParts): boolean {
  return monthDays.length + yearDays.length + weekNumbers.length + weekdays.length > 0;
}

/** Longer periods take a day from DTSTART when they name none. */
function isEveryDay(parts: RruleParts): boolean {
  const isLonger = parts.frequency === 'WEEKLY' || parts.frequency === 'MONTHLY' || parts.frequency === 'YEARLY';
  return !isLonger && !namesDays(parts) && parts.months.length === 0;
}

export function dayRuleOf(parts: RruleParts, startWall: number, without: readonly DayRule[] = []): DayRule {
  const start = civilFromDays(dayOfWall(startWall));
  const { frequency, weekdays } = parts;
  const isYearly = frequency === 'YEARLY';
  const hasDays = namesDays(parts);
  const needsMonthDay = !hasDays && (isYearly || frequency === 'MONTHLY');
  const needsMonth = !hasDays && isYearly && parts.months.length === 0;
  const plain = weekdays.filter(({ ordinal }) => ordinal === 0).map(({ weekday }) => weekday);
  return {
    months: bits(needsMonth ? [start.month] : parts.months, 1),
    monthDays: needsMonthDay ? [start.day] : parts.monthDays,
    yearDays: parts.yearDays,
    weekNumbers: new Set(parts.weekNumbers),
    weekdays: bits(frequency === 'WEEKLY' && !hasDays ? [weekdayOf(dayOfWall(startWall))] : plain, 0),
    ordinals: weekdays.filter(({ ordinal }) => ordinal !== 0),
    ordinalsInMonth: frequency === 'MONTHLY' || parts.months.length > 0,
    weekStart: parts.weekStart,
    isEveryDay: without.length === 0 && isEveryDay(parts),
    without,
    memo: { key: Number.NaN, bits: 0 },
  };
}

function monthDayBits(monthDays: readonly number[], length: number): number {
  let all = 0;
  for (const value of monthDays) {
    const day = value > 0 ? value : length + 1 + value;
    if (day >= 1 && day <= length) all |= 1 << (day - 1);
  }
  return all;
}

interface Month {
  readonly year: number;
  readonly firstDay: number;
  readonly length: number;
}

function yearDayBits(yearDays: readonly number[], { year, firstDay, length }: Month): number {
  const before = firstDay - daysFromCivil(year, 1, 1);
  const yearLength = isLeapYear(year) ? 366 : 365;
  let all = 0;
  for (const value of yearDays) {
    const index = (value > 0 ? value : yearLength + 1 + value) - 1 - before;
    if (index >= 0 && index < length) all |= 1 << index;
  }
  return all;
}

function ordinalBit({ ordinal, weekday }: OrdinalDay, span: { firstDay: number; length: number }): number {
  const last = span.firstDay + span.length - 1;
  if (ordinal > 0) return span.firstDay + ((weekday - weekdayOf(span.firstDay) + 7) % 7) + (ordinal - 1) * 7;
  return last - ((weekdayOf(last) - weekday + 7) % 7) + (ordinal + 1) * 7;
}

function ordinalBits(rule: DayRule, month: Month): number {
  const span = rule.ordinalsInMonth
    ? month
    : { firstDay: daysFromCivil(month.year, 1, 1), length: isLeapYear(month.year) ? 366 : 365 };
  let all = 0;
  for (const ordinal of rule.ordinals) {
    const day = ordinalBit(ordinal, span);
    const index = day - month.firstDay;
    const isInSpan = day >= span.firstDay && day < span.firstDay + span.length;
    if (isInSpan && index >= 0 && index < month.length) all |= 1 << index;
  }
  return all;
}

/** The first day of week 1: the week with at least four days in the year. */
function firstWeekOf(year: number, weekStart: number): number {
  const newYear = daysFromCivil(year, 1, 1);
  const intoWeek = (weekdayOf(newYear) - weekStart + 7) % 7;
  return intoWeek <= 3 ? newYear - intoWeek : newYear - intoWeek + 7;
}

function weekNumberBits(rule: DayRule, { year, firstDay, length }: Month): number {
  const starts = [year - 1, year, year + 1, year + 2].map((each) => firstWeekOf(each, rule.weekStart));
  let all = 0;
  for (let index = 0; index < length; index += 1) {
    const day = firstDay + index;
    const at = starts.findLastIndex((start) => start <= day);
    const begin = starts[at] ?? 0;
    const number = Math.floor((day - begin) / 7) + 1;
    const weeks = ((starts[at + 1] ?? begin + 364) - begin) / 7;
    if (rule.weekNumbers.has(number) || rule.weekNumbers.has(number - weeks - 1)) all |= 1 << index;
  }
  return all;
}

function weekdaysBits(rule: DayRule, month: Month): number {
  const firstWeekday = weekdayOf(month.firstDay);
  let all = rule.ordinals.length > 0 ? ordinalBits(rule, month) : 0;
  for (let weekday = 0; weekday < 7; weekday += 1) {
    if ((rule.weekdays & (1 << weekday)) !== 0) all |= weekdayBits(weekday, firstWeekday);
  }
  return all;
}

/** The days of a month that pass every day part, as bits. Expanding and limiting are the same on whole days. */
export function ruleDaysOfMonth(rule: DayRule, year: number, month: number): number {
  const key = year * 12 + month;
  if (rule.memo.key !== key) {
    rule.memo.bits = calculate(rule, year, month);
    rule.memo.key = key;
  }
  return rule.memo.bits;
}

function calculate(rule: DayRule, year: number, number: number): number {
  if (rule.months !== 0 && (rule.months & (1 << (number - 1))) === 0) return 0;
  const month: Month = { year, firstDay: daysFromCivil(year, number, 1), length: monthLength(year, number) };
  let all = monthBits(month.length);
  if (rule.monthDays.length > 0) all &= monthDayBits(rule.monthDays, month.length);
  if (rule.yearDays.length > 0) all &= yearDayBits(rule.yearDays, month);
  if (rule.weekdays !== 0 || rule.ordinals.length > 0) all &= weekdaysBits(rule, month);
  if (all !== 0 && rule.weekNumbers.size > 0) all &= weekNumberBits(rule, month);
  for (const other of rule.without) all &= ~ruleDaysOfMonth(other, year, number);
  return all;
}

export function isRuleDay(rule: DayRule, day: number): boolean {
  if (rule.isEveryDay) return true;
  const date = civilFromDays(day);
  return (ruleDaysOfMonth(rule, date.year, date.month) & (1 << (date.day - 1))) !== 0;
}

const HORIZON_MONTHS = 4_801;

/** The first day at or after `from` that passes, or null when four hundred years have none. */
export function nextRuleDay(rule: DayRule, from: number): number | null {
  const date = civilFromDays(from);
  let { year, month } = date;
  let days = ruleDaysOfMonth(rule, year, month) & (-1 << (date.day - 1));
  for (let searched = 0; searched < HORIZON_MONTHS; searched += 1) {
    if (days !== 0) return daysFromCivil(year, month, 1) + 31 - Math.clz32(days & -days);
    year = month === 12 ? year + 1 : year;
    month = month === 12 ? 1 : month + 1;
    days = ruleDaysOfMonth(rule, year, month);
  }
  return null;
}
