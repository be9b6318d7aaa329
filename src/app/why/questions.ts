import { DAY_MS, dateText, dayOfWall, pad, weekdayOf } from '../../domain/schedule/time/calendar.ts';
import { toWall } from '../../domain/schedule/time/zone.ts';
import { readTime, timeOr } from '../../domain/when/asked.ts';
import type { Setting } from '../../domain/when/setting.ts';

/** Times about which people ask why: as the bot writes them, and as people look back. */

/** One moment, or a stretch with both its ends, on the clocks of the task; without any, what happened last. */
export interface WhyQuestion {
  readonly at?: string;
  readonly from?: string;
  readonly to?: string;
}

/** A day is everything from its first minute to its last; an instant of the records is one moment. Null cannot be read. */
export function questionOf(when: string, setting: Setting): WhyQuestion | null {
  const words = when.trim();
  if (words === '') return {};
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(words)) return { at: words };
  const bare = words
    .toLowerCase()
    .replaceAll(/[,?]/g, ' ')
    .replace(/^\s*(?:on|for|about|of|the|not)\s+/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return weekIn(bare, setting) ?? partIn(bare, setting) ?? slotIn(bare, setting);
}

function weekIn(words: string, setting: Setting): WhyQuestion | null {
  const [, which] = /^(this|last) week$/.exec(words) ?? [];
  if (which === undefined) return null;
  // The first of January 1970 was a Thursday.
  const monday = today(setting) - ((today(setting) + 3) % 7) - (which === 'this' ? 0 : 7);
  return { from: `${dateText(monday)}T00:00`, to: `${dateText(monday + 6)}T23:59:59` };
}

/** Parts of a day, from and to. A night ends on the next morning. */
const parts: Readonly<Record<string, readonly [string, string]>> = {
  morning: ['00:00', '11:59:59'],
  afternoon: ['12:00', '17:59:59'],
  evening: ['18:00', '23:59:59'],
  night: ['18:00', '05:59:59'],
};

function partIn(words: string, setting: Setting): WhyQuestion | null {
  const named = words.replace(/^tonight$/, 'this night').replace(/^last night$/, 'yesterday night');
  const [, day = '', part = ''] = /^(.+) (morning|afternoon|evening|night)$/.exec(named) ?? [];
  const [from, to] = parts[part] ?? [];
  const date = day === 'this' ? dateText(today(setting)) : dateOf(day, setting);
  if (from === undefined || date === null) return null;
  const end = part === 'night' ? dateText(Date.parse(date) / DAY_MS + 1) : date;
  return { from: `${date}T${from}`, to: `${end}T${to}` };
}

const clock = /(?:^|[ t])(?:at )?(\d{1,2})(?::(\d\d)(:\d\d)?)?(?: ?([ap])\.?m\.?)?$/;

/** A day with an hour, a day alone, or an hour of today. */
function slotIn(words: string, setting: Setting): WhyQuestion | null {
  const match = clock.exec(words);
  const [, hour = '', minute, seconds = '', half] = match ?? [];
  const before = match === null ? words : words.slice(0, match.index).trim();
  const date = minute === undefined && half === undefined ? null : dateOf(before === '' ? 'today' : before, setting);
  if (date !== null) return { at: `${date}T${pad(hourOf(Number(hour), half), 2)}:${minute ?? '00'}${seconds}` };
  const day = dateOf(words, setting);
  return day === null ? null : { from: `${day}T00:00`, to: `${day}T23:59:59` };
}

function hourOf(hour: number, half: string | undefined): number {
  return half === undefined ? hour : (hour % 12) + (half === 'p' ? 12 : 0);
}

const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const near: Readonly<Record<string, number>> = { today: 0, yesterday: -1, tomorrow: 1, 'the day before yesterday': -2 };
const weekday = /^(last |this |next )?((?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?)$/;

function dateOf(words: string, setting: Setting): string | null {
  const offset = near[words] ?? weekdayOffset(words, setting);
  return offset === null ? datedOf(words, setting) : dateText(today(setting) + offset);
}

/** A weekday is the last one that was, today included; "last" leaves out today, and "next" is the one to come. */
function weekdayOffset(words: string, setting: Setting): number | null {
  const [, which, name] = weekday.exec(words) ?? [];
  if (name === undefined) return null;
  const back = (weekdayOf(today(setting)) - days.findIndex((day) => day.startsWith(name.slice(0, 3))) + 7) % 7;
  if (which === 'last ') return back === 0 ? -7 : -back;
  return which === 'next ' ? 7 - back : -back;
}

const halfYearMs = 182 * DAY_MS;

/** Any date that can be scheduled, read as of half a year ago: without its year it is the nearest one. */
function datedOf(words: string, reading: Setting): string | null {
  const { timezone, now } = reading;
  const year = /\b(\d{4})\b/.exec(words)?.[1];
  if (!/\d/.test(words)) return null;
  const asOf = year === undefined ? now - halfYearMs : Date.UTC(Number(year) - 1, 11, 30);
  const read = timeOr(() => readTime(`${words} at 23:59`, { ...reading, now: asOf }));
  if (read?.schedule.kind !== 'once' || read.text !== '') return null;
  return dateText(today({ timezone, now: read.schedule.onceAt }));
}

function today({ timezone, now }: Pick<Setting, 'timezone' | 'now'>): number {
  return dayOfWall(toWall(timezone, now));
}
