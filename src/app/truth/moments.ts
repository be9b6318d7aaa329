import { clockText, dayOfWall, civilFromDays, pad, secondOfDayOf, weekdayOf } from '../../domain/schedule/calendar.ts';
import { MONTH_NAMES, WEEKDAY_NAMES } from '../../domain/schedule/words.ts';
import { offsetAt, passesOf, toWall } from '../../domain/schedule/zone.ts';

/** Instants as people read them on the clock of a zone. */
export interface Moments {
  /** `Wed 18 Nov 09:00`; with the year when it is not this one. */
  full(instant: number): string;
  /** The same with its milliseconds, for an instant that somebody asked about. */
  exact(instant: number): string;
  /** `09:00`; with the day when it is another than that of the instant beside it. */
  beside(instant: number, other: number): string;
}

export function momentsIn(timezone: string, now: number): Moments {
  const thisYear = civilFromDays(dayOfWall(toWall(timezone, now))).year;
  const clock = (instant: number) => clockIn(timezone, instant);
  const on = (instant: number, time: string) => {
    const days = dayOfWall(toWall(timezone, instant));
    const { year, month, day } = civilFromDays(days);
    const date = `${WEEKDAY_NAMES[weekdayOf(days)]?.slice(0, 3) ?? ''} ${day} ${MONTH_NAMES[month - 1]?.slice(0, 3) ?? ''}`;
    return `${date}${year === thisYear ? '' : ` ${year}`} ${time}`;
  };
  const full = (instant: number) => on(instant, clock(instant));
  return {
    full,
    exact: (instant) => on(instant, clockIn(timezone, instant, thousandthsOf(instant))),
    beside: (instant, other) =>
      dayOfWall(toWall(timezone, instant)) === dayOfWall(toWall(timezone, other)) ? clock(instant) : full(instant),
  };
}

/** A time that the clock shows twice is told with its offset, or nobody would know which one is meant. */
function clockIn(timezone: string, instant: number, thousandths = 0): string {
  const wall = toWall(timezone, instant) - thousandths;
  const second = clockText(secondOfDayOf(wall));
  const text = thousandths === 0 ? second : `${second.length > 5 ? second : `${second}:00`}.${pad(thousandths, 3)}`;
  return passesOf(timezone, wall).length > 1 ? `${text} (UTC${offsetText(offsetAt(timezone, instant))})` : text;
}

function thousandthsOf(instant: number): number {
  return ((instant % 1000) + 1000) % 1000;
}

function offsetText(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / 60_000;
  return `${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60), 2)}:${pad(Math.floor(minutes % 60), 2)}`;
}
