import { DAY_MS, dayOfWall, HOUR_MS } from '../../../domain/schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../../../domain/schedule/time/zone.ts';
import type { Button } from '../../../domain/shown.ts';
import { button, type Rows } from './press.ts';
import { clockIn, dayMoment, type Setting } from './clock.ts';
import { texts } from '../texts.ts';

/** Days and hours to press, on the clocks of a zone. A day is told by its number since 1970, as people there count it. */

const daysShown = 7;
const firstHour = 7;
const lastHour = 22;
const hoursInRow = 4;

/** Today and the six days after it, by their names. */
export function dayRows(setting: Setting, data: (day: number) => string | null, from = 0): Rows {
  const today = dayIn(setting, setting.now);
  const days = Array.from({ length: daysShown }, (_value, index) => today + from + index);
  return inRows(
    days.map((day) => button(dayName(day, setting), data(day))),
    hoursInRow,
  );
}

/** The full hours of a day that are still to come, each once also when the clocks jump over one. */
export function hourRows(day: number, setting: Setting, data: (instant: number) => string | null): Rows {
  const instants = new Set<number>();
  for (let hour = firstHour; hour <= lastHour; hour += 1) {
    const instant = resolveShifted(setting.timezone, day * DAY_MS + hour * HOUR_MS);
    if (instant > setting.now) instants.add(instant);
  }
  return inRows(
    [...instants].map((instant) => button(clockIn(setting.timezone, instant), data(instant))),
    hoursInRow,
  );
}

export function dayIn({ timezone }: Setting, instant: number): number {
  return dayOfWall(toWall(timezone, instant));
}

/** The first instant of a day. */
export function startOf(day: number, { timezone }: Setting): number {
  return resolveShifted(timezone, day * DAY_MS);
}

/** The day after `today` on which a week begins; the first of January 1970 was a Thursday. */
export function nextMonday(today: number): number {
  return today + 1 + ((10 - (today % 7)) % 7);
}

/** One that can be picked: from today on, and not for ever. */
export function isDay(day: number, setting: Setting): boolean {
  const today = dayIn(setting, setting.now);
  return Number.isInteger(day) && day >= today && day <= today + daysShown;
}

export function dayName(day: number, setting: Setting): string {
  const ahead = day - dayIn(setting, setting.now);
  if (ahead === 0) return texts.pick.today;
  return ahead === 1 ? texts.pick.tomorrow : dayMoment(startOf(day, setting), setting);
}

function inRows(all: readonly (Button | null)[], size: number): Rows {
  const rows: (Button | null)[][] = [];
  for (let index = 0; index < all.length; index += size) rows.push(all.slice(index, index + size));
  return rows;
}
