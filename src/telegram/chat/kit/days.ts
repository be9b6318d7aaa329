import { clockText, DAY_MS, dayOfWall, HOUR_MS, MINUTE_MS, weekdayOf } from '../../../domain/schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../../../domain/schedule/time/zone.ts';
import { type Asked, readTime, timeOr } from '../../../domain/when/asked.ts';
import { hourOfPart, type Setting as Reading } from '../../../domain/when/setting.ts';
import { texts } from '../texts.ts';
import { aboutMoment, clockIn, dayMoment, type Setting } from './clock.ts';
import { button, inRows, type Rows } from './press.ts';

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

/** Until when something holds: the day alone where that is all of it, or it would be told of too long a time. */
export function endMoment(instant: number, setting: Setting): string {
  const isWholeDay = startOf(dayIn(setting, instant) + 1, setting) - instant <= MINUTE_MS;
  return isWholeDay ? dayMoment(instant, setting) : aboutMoment(instant, setting);
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

/**
 * One moment in plain words: `10 min`, `until friday at 9`, `for 2 hours`. Null when it cannot be read as one. Where people
 * name a day and no time they mean when it begins: for whoever wants to be reminded that is the morning, and for whatever
 * lasts until then it is midnight, or that day's own runs would be lost. Null takes no day alone.
 */
export function momentIn(text: string, reading: Reading, dayTime: 'morning' | '0:00' | '23:59' | null): number | null {
  const words = text.trim().replace(/^(?:until|till|til|'til|for|to)\s+/i, '');
  if (words === '') return null;
  // A span alone is meant from now on, even where the same digits could be a time: "1h" is an hour; 18:30 is no span.
  const span = /^\d{1,2}:\d\d\b/.test(words) ? null : readOne(`in ${words}`, reading);
  if (span !== null) return span.at;
  // A figure alone may count anything.
  const named = /^\d{1,2}$/.test(words) ? null : readOne(words, reading);
  if (named?.isDayAlone === false) return named.at;
  if (dayTime === null) return null;
  const time = dayTime === 'morning' ? clockText(hourOfPart(dayTime, reading) * 60) : dayTime;
  return readOne(`${words} at ${time}`, reading)?.at ?? named?.at ?? null;
}

/** Until when a pause lasts: a moment, or the rest of the day, the week or the weekend. Null when it cannot be read. */
export function pauseEndIn(text: string, reading: Reading): number | null {
  const { timezone, now } = reading;
  const setting = { timezone, now };
  const words = text
    .trim()
    .replace(/^(?:for|over|during)\s+/i, '')
    .replace(/^(?:the )?rest of\s+/i, '');
  const today = dayIn(setting, now);
  if (/^(?:today|the day)$/i.test(words)) return startOf(today + 1, setting);
  if (/^(?:this|the) week$/i.test(words)) return startOf(nextMonday(today), setting);
  // Before it begins, a pause from now on would take away more than the weekend.
  if (/^(?:this|the) weekend$/i.test(words)) return isWeekend(today) ? startOf(nextMonday(today), setting) : null;
  return momentIn(text, reading, '0:00');
}

function isWeekend(day: number): boolean {
  return [0, 6].includes(weekdayOf(day));
}

function readOne(when: string, reading: Reading): { readonly at: number; readonly isDayAlone: boolean } | null {
  const read = timeOr(() => readTime(when, reading));
  if (read?.schedule.kind !== 'once' || read.text !== '') return null;
  return { at: read.schedule.onceAt, isDayAlone: read.assumed.some(({ what }) => what === 'day') };
}

const everyDay = /^\S+ \S+ \* \* \*$/;

/** Words that are nothing but times of the day, read as those of every day; null for everything else. */
export function clocksIn(words: string, reading: Reading): Asked | null {
  const alone = words.replace(/^(?:at|@)\s*/i, '');
  // "Weekends at 10" has days of its own.
  const own = timeOr(() => readTime(alone, reading))?.schedule;
  if (own?.kind === 'cron' && !everyDay.test(own.cron)) return null;
  const read = timeOr(() => readTime(`every day at ${alone}`, reading));
  if (read?.text !== '') return null;
  const { schedule } = read;
  const isDaily = schedule.kind === 'cron' && everyDay.test(schedule.cron);
  return isDaily && schedule.timezone === reading.timezone ? read : null;
}
