import type { DateStyle } from '../../domain/chat-settings.ts';
import {
  clockText,
  civilFromDays,
  dateText,
  DAY_MS,
  dayOfWall,
  MINUTE_MS,
  pad,
  secondOfDayOf,
  weekdayOf,
} from '../../domain/schedule/time/calendar.ts';
import { offsetAt, passesOf, toWall } from '../../domain/schedule/time/zone.ts';
import { MONTH_NAMES, WEEKDAY_NAMES } from '../../domain/schedule/words/words.ts';

/** Instants as people read them on the clock of a zone. */
export interface Moments {
  /** `Wed 18 Nov 09:00`; with the year when it is not this one. */
  full(instant: number): string;
  /** `Wed 18 Nov`: the day of that number since 1970. */
  day(days: number): string;
  /** A date with its milliseconds, for an instant that somebody asked about. */
  exact(instant: number): string;
  /** `09:00`; with the day when it is another than that of the instant beside it. */
  beside(instant: number, other: number): string;
}

/** To the minute, for what somebody did or what began at some second: nobody needs to know which. */
export function coarse(fine: Moments): Moments {
  return {
    full: (instant) => fine.full(minuteOf(instant)),
    day: (days) => fine.day(days),
    exact: (instant) => fine.exact(instant),
    beside: (instant, other) => fine.beside(minuteOf(instant), other),
  };
}

/** The minute in which an instant lies. */
export function minuteOf(instant: number): number {
  return Math.floor(instant / MINUTE_MS) * MINUTE_MS;
}

/** `tag` names the language of the words around them. */
export function momentsIn(timezone: string, now: number, dates: DateStyle = 'en', tag = 'en'): Moments {
  const thisYear = civilFromDays(dayOfWall(toWall(timezone, now))).year;
  const clock = (instant: number) => clockIn({ timezone, dates }, instant);
  const day = (days: number) => dateIn(days, { dates, tag, hasYear: civilFromDays(days).year !== thisYear });
  const on = (instant: number, time: string) =>
    `${day(dayOfWall(toWall(timezone, instant)))}${dates === 'us' ? ',' : ''} ${time}`;
  const full = (instant: number) => on(instant, clock(instant));
  return {
    full,
    day,
    exact: (instant) => on(instant, clockIn({ timezone, dates }, instant, thousandthsOf(instant))),
    beside: (instant, other) =>
      dayOfWall(toWall(timezone, instant)) === dayOfWall(toWall(timezone, other)) ? clock(instant) : full(instant),
  };
}

/** Days as people read them: `Wed 18 Nov`; with the year when it is not this one. */
export function daysIn(timezone: string, now: number): (day: number) => string {
  const yearOf = (day: number) => civilFromDays(day).year;
  const thisYear = yearOf(dayOfWall(toWall(timezone, now)));
  return (day) => dateIn(day, { dates: 'en', tag: 'en', hasYear: yearOf(day) !== thisYear });
}

interface DateWriting {
  readonly dates: DateStyle;
  readonly tag: string;
  readonly hasYear: boolean;
}

/** `Wed 18 Nov`, in the words of that language. */
function dateIn(days: number, { dates, tag, hasYear }: DateWriting): string {
  const { year, month, day } = civilFromDays(days);
  if (dates === 'iso') return dateText(days);
  if (tag !== 'en') return localDate(days, tag, hasYear);
  if (dates === 'us') return localDate(days, 'en-US', hasYear);
  const date = `${WEEKDAY_NAMES[weekdayOf(days)]?.slice(0, 3) ?? ''} ${day} ${MONTH_NAMES[month - 1]?.slice(0, 3) ?? ''}`;
  return hasYear ? `${date} ${year}` : date;
}

const writers = new Map<string, Intl.DateTimeFormat>();

/** The day as a date without a zone, so that no zone of the host can move it. */
function localDate(days: number, tag: string, hasYear: boolean): string {
  const key = `${tag} ${hasYear}`;
  const writer =
    writers.get(key) ??
    new Intl.DateTimeFormat(tag, {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      ...(hasYear ? { year: 'numeric' } : {}),
      timeZone: 'UTC',
    });
  writers.set(key, writer);
  return writer.format(days * DAY_MS);
}

interface Clock {
  readonly timezone: string;
  readonly dates: DateStyle;
}

/** A time that the clock shows twice is told with its offset, or nobody would know which one is meant. */
function clockIn({ timezone, dates }: Clock, instant: number, thousandths = 0): string {
  const wall = toWall(timezone, instant) - thousandths;
  const second = clockText(secondOfDayOf(wall));
  const exact = thousandths === 0 ? second : `${second.length > 5 ? second : `${second}:00`}.${pad(thousandths, 3)}`;
  const text = dates === 'us' ? byHalfDays(exact) : exact;
  return passesOf(timezone, wall).length > 1 ? `${text} (UTC${offsetText(offsetAt(timezone, instant))})` : text;
}

/** `15:30` as `3:30 PM`. */
function byHalfDays(text: string): string {
  const hour = Number(text.slice(0, 2));
  return `${hour % 12 === 0 ? 12 : hour % 12}${text.slice(2)} ${hour < 12 ? 'AM' : 'PM'}`;
}

function thousandthsOf(instant: number): number {
  return ((instant % 1000) + 1000) % 1000;
}

function offsetText(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / MINUTE_MS;
  return `${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60), 2)}:${pad(Math.floor(minutes % 60), 2)}`;
}
