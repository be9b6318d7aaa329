import { civilFromDays, dayOfWall, daysFromCivil, monthLength, weekdayOf } from '../schedule/time/calendar.ts';
import { toWall } from '../schedule/time/zone.ts';
import { WEEKDAY_NAMES } from '../schedule/words/words.ts';
import type { Amount } from './amount.ts';
import type { ClockTime, DayPart } from './clock-time.ts';
import { refusal } from './cursor.ts';
import type { Days, CalendarDate } from './days.ts';

/** How often: by calendar units, or by a span of elapsed time. */
export type Rhythm =
  | { readonly kind: 'calendar'; readonly unit: 'day' | 'week' | 'month' | 'year'; readonly every: number }
  | { readonly kind: 'elapsed'; readonly seconds: number };

/** An edge of a series: a day as it was written. */
export type EdgeDay = Extract<Days, { kind: 'ahead' | 'weekdays' | 'date' }>;

/** Parts that have been read so far, before it is known whether they fit together. */
export interface Draft {
  rhythm: Rhythm | null;
  /** `twice a day` has to name two times, `twice a week` two days. */
  promised: { readonly count: number; readonly of: 'times' | 'days' } | null;
  days: Days | null;
  times: readonly ClockTime[] | null;
  part: DayPart | null;
  /** Minutes of an hour, after `every hour at`. */
  minutes: readonly number[] | null;
  hours: { readonly from: ClockTime; readonly to: ClockTime } | null;
  wait: Amount | null;
  timezone: string | null;
  until: EdgeDay | null;
  starting: EdgeDay | null;
  count: number | null;
  /** The last words read were a day: in "at 7 tomorrow evening" the evening goes with it. */
  endsInDay: boolean;
}

export function emptyDraft(): Draft {
  return {
    rhythm: null,
    promised: null,
    days: null,
    times: null,
    part: null,
    minutes: null,
    hours: null,
    wait: null,
    timezone: null,
    until: null,
    starting: null,
    count: null,
    endsInDay: false,
  };
}

/** The context in which a when is read: words such as "tomorrow" mean nothing without it. */
export interface Setting {
  readonly timezone: string;
  readonly now: number;
  /** The language of whoever writes, such as `en`; English is read in every case. */
  readonly language?: string | undefined;
  /** The order of 3/4/2026 where it is known. */
  readonly slashes?: 'dmy' | 'mdy' | undefined;
  /** Hours that this chat gives to parts of the day, in minutes since midnight. */
  readonly parts?: Partial<Readonly<Record<PartOfDay, number>>> | undefined;
}

/** Parts of the day that name an hour by themselves. */
export type PartOfDay = 'morning' | 'noon' | 'afternoon' | 'evening' | 'tonight' | 'midnight';

export function today({ timezone, now }: Setting): number {
  return dayOfWall(toWall(timezone, now));
}

/** The first day from `from` on that has this date; a 29 February waits for its year. */
export function dayOfDate({ year, month, day }: CalendarDate, from: number): number {
  if (year !== null) return daysFromCivil(year, month, day);
  for (let candidate = civilFromDays(from).year; ; candidate += 1) {
    const found = daysFromCivil(candidate, month, day);
    if (found >= from && day <= monthLength(candidate, month)) return found;
  }
}

/** The day on which a series begins or ends: the next one that fits, today included. */
export function dayOfEdge(edge: EdgeDay, setting: Setting): number {
  const first = today(setting);
  if (edge.kind === 'ahead') return first + edge.days;
  if (edge.kind === 'date') {
    const found = dayOfDate(edge.date, first);
    checkWeekday(edge.weekday, found);
    return found;
  }
  return nextWeekday(edge, first);
}

export function checkWeekday(weekday: number | null, day: number): void {
  if (weekday === null || weekdayOf(day) === weekday) return;
  throw refusal(
    'date',
    'other_weekday',
    `That date is a ${WEEKDAY_NAMES[weekdayOf(day)] ?? ''}, not a ${WEEKDAY_NAMES[weekday] ?? ''}.`,
  );
}

/**
 * "Next friday", said on a Wednesday, is the coming one to some and the one after it to others. It is taken only where
 * both are the same day: when the weekday lies in the week after this one anyway.
 */
export function nextWeekday({ weekdays, which }: Extract<EdgeDay, { kind: 'weekdays' }>, from: number): number {
  const weekday = weekdays[0] ?? 0;
  const name = WEEKDAY_NAMES[weekday] ?? '';
  const found = from + ((weekday - weekdayOf(from) + 7) % 7);
  const isThisWeek = found < from + ((8 - weekdayOf(from)) % 7 || 7);
  if (which === 'this' && !isThisWeek) {
    throw refusal('moment', 'past', `This ${name} is over; write "${name.toLowerCase()}" for the one to come.`);
  }
  if (which !== 'next') return found;
  if (!isThisWeek) return found;
  throw refusal(
    'date',
    'ambiguous_next',
    `"Next ${name}" may be the coming one or the one of next week; write "${name.toLowerCase()}" for the coming one, or its date.`,
  );
}
