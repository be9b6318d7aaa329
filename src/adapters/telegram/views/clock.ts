import { momentsIn } from '../../../app/truth/moments.ts';
import { isUnreadable } from '../../../app/tasks/refusals.ts';
import { clockText, dateText, dayOfWall, MINUTE_MS, secondOfDayOf } from '../../../domain/schedule/calendar.ts';
import { describe, isTimezone, type Schedule } from '../../../domain/schedule/schedule.ts';
import { toWall } from '../../../domain/schedule/zone.ts';
import type { Task } from '../../../domain/task.ts';

/** Where and when something is read: times are told on the clocks of a zone, with the year when it is not this one. */
export interface Setting {
  readonly timezone: string;
  readonly now: number;
}

export function moment(instant: number, { timezone, now }: Setting): string {
  return momentsIn(timezone, now).full(instant);
}

/** For what happened, or was asked for, at some second: nobody needs to know which. */
export function aboutMoment(instant: number, setting: Setting): string {
  return moment(Math.floor(instant / MINUTE_MS) * MINUTE_MS, setting);
}

export function moments(instants: readonly number[], setting: Setting): string {
  return instants.map((instant) => moment(instant, setting)).join(', ');
}

/** `14:05`, as the clocks of the zone show it. */
export function clockIn(timezone: string, now: number): string {
  return clockText(secondOfDayOf(toWall(timezone, now))).slice(0, 5);
}

/** `2026-11-18`, so many days after the one that the clocks of the zone show. */
export function dateIn({ timezone, now }: Setting, days: number): string {
  return dateText(dayOfWall(toWall(timezone, now)) + days);
}

/** The zone in which a task lives; a row that cannot be read has none. */
export function zoneOf({ schedule }: Pick<Task, 'schedule'>): string {
  return isTimezone(schedule.timezone) ? schedule.timezone : 'UTC';
}

export function settingOf(task: Pick<Task, 'schedule'>, now: number): Setting {
  return { timezone: zoneOf(task), now };
}

/** Short English for when it runs, or null where the row cannot be read. */
export function scheduleWords(task: Pick<Task, 'schedule' | 'pausedReason'>, now: number): string | null {
  return isUnreadable(task) ? null : wordsOf(task.schedule, now);
}

export function wordsOf(schedule: Schedule, now: number): string {
  return capital(scheduleText(schedule, now));
}

/** To stand within a sentence. A single moment is told as all moments are, with its weekday. */
export function scheduleText(schedule: Schedule, now: number): string {
  if (schedule.kind !== 'once') return describe(schedule);
  const { onceAt, timezone } = schedule;
  return `once on ${moment(onceAt, { timezone, now }).replace(/ (?=\d\d:)/, ' at ')}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
