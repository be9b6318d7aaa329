import { isUnreadable } from '../../../app/tasks/verbs.ts';
import { momentsIn } from '../../../app/why/moments.ts';
import type { DateStyle } from '../../../domain/chat-settings.ts';
import {
  cadence,
  describe,
  exceptionsOf,
  exceptionWords,
  isTimezone,
  type Schedule,
} from '../../../domain/schedule/schedule.ts';
import {
  clockText,
  dateText,
  DAY_MS,
  dayOfWall,
  HOUR_MS,
  MINUTE_MS,
  secondOfDayOf,
  weekdayOf,
} from '../../../domain/schedule/time/calendar.ts';
import { toWall } from '../../../domain/schedule/time/zone.ts';
import type { Task } from '../../../domain/task.ts';
import { currentLocale, texts } from '../texts.ts';

/** The place and moment of reading: times are told on the clocks of a zone, with the year when it is not this one. */
export interface Setting {
  readonly timezone: string;
  readonly now: number;
  /** How the chat wants dates written; English words without it. */
  readonly dates?: DateStyle | undefined;
}

export function moment(instant: number, { timezone, now, dates }: Setting): string {
  return momentsIn(timezone, now, dates, currentLocale().tag).full(instant);
}

/** `Wed 18 Nov`: the day alone. */
export function dayMoment(instant: number, setting: Setting): string {
  return dayText(dayOfWall(toWall(setting.timezone, instant)), setting);
}

/** The day of that number since 1970. */
export function dayText(day: number, { timezone, now, dates }: Setting): string {
  return momentsIn(timezone, now, dates, currentLocale().tag).day(day);
}

/** For what was done: `09:01`, with the day when that is not today. */
export function pastMoment(instant: number, { timezone, now, dates }: Setting): string {
  return momentsIn(timezone, now, dates, currentLocale().tag).beside(Math.floor(instant / MINUTE_MS) * MINUTE_MS, now);
}

/** `in 3 h`: how far away it is, as people say it; they read the time itself for more. */
export function distance(instant: number, now: number): string {
  const { ahead } = texts.clock;
  const ms = Math.max(0, instant - now);
  if (ms < MINUTE_MS) return ahead.now;
  if (ms < HOUR_MS) return ahead.minutes(Math.floor(ms / MINUTE_MS));
  if (ms < DAY_MS) return ahead.hours(Math.floor(ms / HOUR_MS));
  return ahead.days(Math.floor(ms / DAY_MS));
}

/** `3 h ago`: how long since it was, as people say it. */
export function age(instant: number, now: number): string {
  const { ago } = texts.clock;
  const ms = Math.max(0, now - instant);
  if (ms < MINUTE_MS) return ago.now;
  if (ms < HOUR_MS) return ago.minutes(Math.floor(ms / MINUTE_MS));
  if (ms < DAY_MS) return ago.hours(Math.floor(ms / HOUR_MS));
  return ago.days(Math.floor(ms / DAY_MS));
}

/** `1.2 s`, `3 min`, `2 h`: how long something took. */
export function span(ms: number): string {
  const { long } = texts.clock;
  if (ms < 9_950) return long.seconds(Math.round(ms / 100) / 10);
  if (ms < MINUTE_MS) return long.seconds(Math.round(ms / 1000));
  if (ms < HOUR_MS) return long.minutes(Math.round(ms / MINUTE_MS));
  if (ms < 2 * DAY_MS) return long.hours(Math.round(ms / HOUR_MS));
  return long.days(Math.round(ms / DAY_MS));
}

/** For what happened, or was asked for, at some second: nobody needs to know which. */
export function aboutMoment(instant: number, setting: Setting): string {
  return moment(Math.floor(instant / MINUTE_MS) * MINUTE_MS, setting);
}

/** A day is named once for all times of it. Where dates have commas of their own, others would be misread. */
export function moments(instants: readonly number[], { timezone, now, dates }: Setting): string {
  const told = momentsIn(timezone, now, dates, currentLocale().tag);
  const words = instants.map((instant, index) => {
    const before = instants[index - 1];
    return before === undefined ? told.full(instant) : told.beside(instant, before);
  });
  return words.join(words.some((word) => word.includes(',')) ? ' · ' : ', ');
}

/** `14:05`, as the clocks of the zone show it. */
export function clockIn(timezone: string, now: number): string {
  return clockText(secondOfDayOf(toWall(timezone, now))).slice(0, 5);
}

/** `2026-11-18`, so many days after the one that the clocks of the zone show. */
export function dateIn({ timezone, now }: Setting, days: number): string {
  return dateText(dayOfWall(toWall(timezone, now)) + days);
}

/** 0 is Sunday. */
export function weekdayIn({ timezone, now }: Setting): number {
  return weekdayOf(dayOfWall(toWall(timezone, now)));
}

/** The zone in which a task lives; a row that cannot be read has none. */
export function zoneOf({ schedule }: Pick<Task, 'schedule'>): string {
  return isTimezone(schedule.timezone) ? schedule.timezone : 'UTC';
}

export function settingOf(task: Pick<Task, 'schedule'>, now: number, dates?: DateStyle): Setting {
  return { timezone: zoneOf(task), now, dates };
}

/** Short English for when it runs, or null where the row cannot be read. */
export function scheduleWords(
  task: Pick<Task, 'schedule' | 'pausedReason'>,
  now: number,
  dates?: DateStyle,
): string | null {
  return isUnreadable(task) ? null : wordsOf(task.schedule, now, dates);
}

/** Short English for when it runs, to stand within a sentence. */
export function scheduleShort(
  task: Pick<Task, 'schedule' | 'pausedReason'>,
  now: number,
  dates?: DateStyle,
): string | null {
  return isUnreadable(task) ? null : scheduleText(task.schedule, now, dates);
}

/** As short as a row of a list needs it: `weekdays 09:00`. */
export function scheduleCadence(
  task: Pick<Task, 'schedule' | 'pausedReason'>,
  now: number,
  dates?: DateStyle,
): string | null {
  return isUnreadable(task) ? null : cadence(task.schedule, telling(settingOf(task, now, dates)));
}

/** The days that it leaves out, `Sundays, Thu 24 Dec`; null where there are none. */
export function exceptionsText(
  task: Pick<Task, 'schedule' | 'pausedReason'>,
  now: number,
  dates?: DateStyle,
): string | null {
  const exceptions = isUnreadable(task) ? [] : exceptionsOf(task.schedule, now);
  const told = telling(settingOf(task, now, dates));
  return exceptions.length === 0 ? null : exceptions.map((each) => exceptionWords(each, told)).join(', ');
}

export function wordsOf(schedule: Schedule, now: number, dates?: DateStyle): string {
  return capital(scheduleText(schedule, now, dates));
}

/** To stand within a sentence. Days are told as everywhere in the chat, with their weekday. */
export function scheduleText(schedule: Schedule, now: number, dates?: DateStyle): string {
  const { timezone } = schedule;
  const setting = { timezone, now, dates };
  if (schedule.kind !== 'once') return describe(schedule, telling(setting));
  const [day = '', clock = ''] = moment(schedule.onceAt, setting).split(/ (?=\d+:)/);
  return texts.clock.once(day, clock);
}

/** How a description is told here. */
export function telling(setting: Setting) {
  return { words: texts.schedule, day: (day: number) => dayText(day, setting), now: setting.now };
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
