import { civilFromDays, clockText, dateText, dayOfWall, secondOfDayOf } from '../../schedule/time/calendar.ts';
import { toWall } from '../../schedule/time/zone.ts';
import type { Say, Text } from '../english.ts';
import type { Edit, Way } from '../faults.ts';
import type { ClockTime } from '../pieces/clock.ts';
import type { AssumedWhat, Setting } from '../setting.ts';

/** An assumption, and how the words are changed to be read in the other way. */
export interface Note {
  readonly what: AssumedWhat;
  readonly text: Text;
  readonly other: Way | null;
}

/** The reading of one text: what it is read against, and what was assumed on the way. */
export interface Reading {
  readonly setting: Setting;
  /** All that was written. */
  readonly whole: string;
  /** The words beside the time. */
  readonly text: string;
  readonly notes: Note[];
  /** Words of the time that the text keeps: hours of which only the first counts. */
  kept: string;
  /** Runs that are counted by the task, because its schedule has no one rule that could count them. */
  maxRuns: number | null;
}

export function today({ timezone, now }: Setting): number {
  return dayOfWall(toWall(timezone, now));
}

export function clock(minute: number): string {
  return clockText(((minute + 1_440) % 1_440) * 60);
}

/** `Fri 20 Nov`, with its year where that is another one. */
export function dayLabel(day: number, setting: Setting): Say {
  const isNear = civilFromDays(today(setting)).year === civilFromDays(day).year;
  return (say) => say.day(day, !isNear);
}

/** A time that the change of the clocks leaves out comes an hour later. */
export function noteShift(instant: number, minute: number, { setting, notes }: Reading): number {
  const shown = Math.floor(secondOfDayOf(toWall(setting.timezone, instant)) / 60);
  if (shown !== minute) notes.push({ what: 'hour', text: clock(shown), other: null });
  return instant;
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

/** The time in figures that say all themselves, where it stands. */
export function timeEdit({ begin, end }: ClockTime, minute: number, { whole }: Reading): Edit {
  const isBehind = begin > 0 && !/[\s,(@-]/.test(whole.charAt(begin - 1));
  const said = /^(?:at\b|@)\s*/i.exec(whole.slice(begin, end))?.[0] ?? '';
  return { begin, end, text: `${isBehind ? ' ' : ''}${said === '@' ? 'at ' : said}${clock(minute)}` };
}

/** The day as a date, where it stands. */
export function dayEdit({ begin, end }: Span, day: number): Edit {
  return { begin, end, text: `on ${dateText(day)}` };
}
