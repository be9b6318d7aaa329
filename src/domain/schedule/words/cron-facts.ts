import { bitsOf, type CronFields, EVERY_MONTH, EVERY_WEEK } from '../cron-fields.ts';
import type { OrdinalDay } from '../rrule/parts.ts';
import type { DayFacts, DayPart, Rhythm, TimeFacts } from './facts.ts';
import { runsOf, stepOf } from './words.ts';

/** More dates of the year than these are better told as days and months. */
const DATES_SHOWN_MAX = 4;

function numberedDays(weekdays: readonly number[]): OrdinalDay[] {
  return weekdays.flatMap((weeks, weekday) =>
    weeks === EVERY_WEEK ? [] : bitsOf(weeks, 1).map((week) => ({ ordinal: week === 6 ? -1 : week, weekday })),
  );
}

function weekPart({ weekdays }: CronFields): DayPart {
  const plain = [0, 1, 2, 3, 4, 5, 6].filter((weekday) => weekdays[weekday] === EVERY_WEEK);
  return { is: 'weekdays', plain, numbered: numberedDays(weekdays), of: 'month' };
}

function monthDayPart({ days, lastDay, lastWeekday, nearestWeekdays }: CronFields): DayPart {
  if (lastWeekday) return { is: 'workdays', positions: [-1] };
  const fore = bitsOf(days, 1);
  return { is: 'monthDays', days: lastDay ? [...fore, -1] : fore, nearest: bitsOf(nearestWeekdays, 1) };
}

/** Days and months that make a few dates of the year. */
export function yearDates(days: readonly number[], months: readonly number[]): DayPart | null {
  // Days that follow each other are told as one.
  const shown = runsOf(days).map(({ first, last }) => (last - first >= 2 ? 1 : last - first + 1));
  const count = shown.reduce((sum, each) => sum + each, 0) * months.length;
  return count === 0 || count > DATES_SHOWN_MAX || days.some((day) => day < 0) ? null : { is: 'dates', days, months };
}

function dayFacts(cron: CronFields): DayFacts {
  const { anyDay, anyWeekday, bothDays } = cron;
  const months = cron.months === EVERY_MONTH ? [] : bitsOf(cron.months);
  if (anyDay && anyWeekday) return { every: { value: 1, unit: 'day' }, parts: [], joined: 'and', months };
  if (anyDay) return { every: null, parts: [weekPart(cron)], joined: 'and', months };
  const monthDays = monthDayPart(cron);
  if (!anyWeekday) return { every: null, parts: [monthDays, weekPart(cron)], joined: bothDays ? 'only' : 'or', months };
  const isPlain = monthDays.is === 'monthDays' && monthDays.nearest.length === 0;
  const dates = isPlain ? yearDates(monthDays.days, months) : null;
  if (dates !== null) return { every: { value: 1, unit: 'year' }, parts: [dates], joined: 'and', months: [] };
  return { every: null, parts: [monthDays], joined: 'and', months };
}

export function cronRhythm(cron: CronFields): Rhythm {
  const isEveryDay = cron.anyDay && cron.anyWeekday;
  return { days: dayFacts(cron), time: timesFacts(cron, isEveryDay), picks: null, weekStart: null, span: null };
}

/** More times than these are no list that anybody reads, and so many even ones are a rhythm. */
const TIMES_SHOWN_MAX = 12;
const RHYTHM_FROM = 6;

const hourSeconds = 3_600;

interface Times {
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  /** The times were named one by one, and not as a rhythm. */
  readonly fixedTimes: boolean;
}

/** Every hour with every minute, as one list of times, as an even rhythm, or as minutes of hours. */
export function timesFacts({ hours, minutes, fixedTimes }: Times, isEveryDay: boolean): TimeFacts {
  const times = hours.flatMap((hour) => minutes.map((minute) => hour * hourSeconds + minute * 60));
  const [minute = 0] = minutes;
  const [from = 0, twelveLater = 0] = times;
  if (!fixedTimes && times.length === 2 && twelveLater - from === 12 * hourSeconds)
    return { is: 'steps', step: { value: 12, unit: 'hour' }, from, to: null };
  const isAllDay = hours.length === 24;
  const even = evenFacts(times, fixedTimes ? RHYTHM_FROM : 3) ?? nightFacts(times, isEveryDay);
  if (even !== null && !isAllDay) return even;
  if (times.length <= (fixedTimes ? TIMES_SHOWN_MAX : RHYTHM_FROM - 1) && !isAllDay) return { is: 'at', times };
  return minutes.length === 1 ? { is: 'hourly', minute, hours } : { is: 'grid', hours, minutes };
}

/** Times of the day that were named one by one. */
export function listFacts(times: readonly number[], isEveryDay: boolean): TimeFacts | null {
  const even = evenFacts(times, RHYTHM_FROM) ?? nightFacts(times, isEveryDay);
  return even ?? (times.length <= TIMES_SHOWN_MAX ? { is: 'at', times } : null);
}

/** `every 30 minutes from 22:00 to 02:00`: on every day, the hours behind midnight may be told with those before it. */
function nightFacts(times: readonly number[], isEveryDay: boolean): TimeFacts | null {
  const gap = times.findIndex((time, index) => index > 0 && time - (times[index - 1] ?? time) > 4 * hourSeconds);
  if (!isEveryDay || gap === -1) return null;
  const turned = [...times.slice(gap), ...times.slice(0, gap).map((time) => time + 24 * hourSeconds)];
  const even = evenFacts(turned, RHYTHM_FROM);
  return even?.is === 'steps' && even.to !== null ? { ...even, to: even.to % (24 * hourSeconds) } : null;
}

function evenFacts(times: readonly number[], least: number): TimeFacts | null {
  const step = times.length >= least ? stepOf(times) : null;
  if (step === null || times.some((time) => time % 60 !== 0)) return null;
  const [from = 0] = times;
  const minutes = step / 60;
  const unit =
    minutes % 60 === 0
      ? ({ value: minutes / 60, unit: 'hour' } as const)
      : ({ value: minutes, unit: 'minute' } as const);
  return { is: 'steps', step: unit, from, to: times.at(-1) ?? from };
}
