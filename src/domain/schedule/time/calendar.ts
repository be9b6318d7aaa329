export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const YEAR_MS = 365.2425 * DAY_MS;
export const DAY_SECONDS = 86_400;

/** The days of instants that were written lately, and how many are kept: a page of a list names few others. */
const isoDays = new Map<number, string>();
const isoDaysMax = 4096;

const padded = (length: number, digits: number) =>
  Array.from({ length }, (_one, value) => String(value).padStart(digits, '0'));
const twoDigits = padded(60, 2);
const threeDigits = padded(1000, 3);

function isoDay(day: number): string {
  const known = isoDays.get(day);
  if (known !== undefined) return known;
  const made = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length);
  if (isoDays.size >= isoDaysMax) isoDays.clear();
  isoDays.set(day, made);
  return made;
}

/** The furthest instant that Date knows, on either side of 1970. */
const dateMax = 8.64e15;

/** An instant as it is written in records and told to programs; Date would take seven times as long. */
export function iso(instant: number): string {
  // Date refuses what is none.
  if (!Number.isInteger(instant) || Math.abs(instant) > dateMax) return new Date(instant).toISOString();
  const day = Math.floor(instant / DAY_MS);
  const time = instant - day * DAY_MS;
  const [hour, minute] = [Math.floor(time / HOUR_MS), Math.floor(time / MINUTE_MS) % 60];
  const second = Math.floor(time / SECOND_MS) % 60;
  return `${isoDay(day)}${twoDigits[hour]}:${twoDigits[minute]}:${twoDigits[second]}.${threeDigits[time % SECOND_MS]}Z`;
}

export interface CivilDate {
  readonly year: number;
  /** 1..12 */
  readonly month: number;
  /** 1..31 */
  readonly day: number;
}

/**
 * Days since 1970-01-01 of a date of the proleptic Gregorian calendar. Date.UTC would do the same but reads the years 0..99
 * as 1900..1999, and it is slower where a search crosses four hundred years.
 */
export function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthIndex = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthIndex + 2) / 5) + 1;
  const month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

export function monthLength(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** 0 is Sunday. */
export function weekdayOf(days: number): number {
  return (((days + 4) % 7) + 7) % 7;
}

/** Wall times are milliseconds too: the instant at which a clock in UTC would show them. */
export function dayOfWall(wall: number): number {
  return Math.floor(wall / DAY_MS);
}

/** Adds months to a date and clamps the day to the end of the month it lands in. */
export function addMonths(date: CivilDate, months: number): CivilDate {
  const index = date.year * 12 + (date.month - 1) + months;
  const year = Math.floor(index / 12);
  const month = index - year * 12 + 1;
  return { year, month, day: Math.min(date.day, monthLength(year, month)) };
}

export function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

export function dateText(days: number): string {
  const { year, month, day } = civilFromDays(days);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** `09:00`, or `09:00:30` when there are seconds to tell. */
export function clockText(secondOfDay: number): string {
  const hour = Math.floor(secondOfDay / 3_600);
  const minute = Math.floor(secondOfDay / 60) % 60;
  const second = Math.floor(secondOfDay) % 60;
  return `${pad(hour, 2)}:${pad(minute, 2)}${second === 0 ? '' : `:${pad(second, 2)}`}`;
}

export function secondOfDayOf(wall: number): number {
  return Math.floor((wall - dayOfWall(wall) * DAY_MS) / SECOND_MS);
}

/** The days of one weekday in a month, as bits (bit 0 is the first), for a month that begins on `firstWeekday`. */
export function weekdayBits(weekday: number, firstWeekday: number): number {
  return (0x10204081 << ((weekday - firstWeekday + 7) % 7)) & 0x7fffffff;
}

export function monthBits(length: number): number {
  return length === 31 ? 0x7fffffff : (1 << length) - 1;
}

/** The least distance between two values that follow each other. Nothing can be closer than `floor`, so it ends the walk. */
export function leastGap(ascending: Iterable<number>, floor = 0): number {
  let previous = Number.NEGATIVE_INFINITY;
  let gap = Number.POSITIVE_INFINITY;
  for (const value of ascending) {
    gap = Math.min(gap, value - previous);
    if (gap <= floor) return gap;
    previous = value;
  }
  return gap;
}
