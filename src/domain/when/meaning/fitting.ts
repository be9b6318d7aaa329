import type { DayPart } from '../languages/language.ts';
import type { Days } from '../pieces/days.ts';
import type { Rhythm } from '../pieces/rhythm.ts';

export type Calendar = Extract<Rhythm, { kind: 'calendar' }>;

/** The days that a rhythm of each unit may name. "Every day mon-fri" and "daily on mondays" come on these days alone. */
export const FITTING: Readonly<Record<'day' | 'week' | 'month' | 'year', (days: Days) => boolean>> = {
  day: (days) => FITTING.week(days) || FITTING.month(days),
  week: (days) => days.kind === 'weekdays' && days.which === 'any',
  month: (days) => days.kind === 'monthDays' || (days.kind === 'nth' && days.month === null),
  year: (days) => (days.kind === 'date' && days.date.year === null) || (days.kind === 'nth' && days.month !== null),
};

/** `every 6 months on 1 march` is in March and September: the months of each year, where the rhythm comes out even with it. */
export function monthsFrom(days: Days | null, { unit, every, quarters }: Calendar): readonly number[] {
  const step = quarters ? 3 : every;
  if (unit !== 'month' || step === 1 || 12 % step !== 0 || days?.kind !== 'date' || days.date.year !== null) return [];
  const { month } = days.date;
  return Array.from({ length: 12 / step }, (_none, turn) => ((month - 1 + turn * step) % 12) + 1).sort((a, b) => a - b);
}

/** `the night before christmas`. */
export function partOf(days: Days): DayPart | null {
  return days.kind === 'date' && days.night === true ? 'night' : null;
}

/** The same day said twice: `friday, the 27th`, `tomorrow friday`. Null where they differ, or nobody can tell. */
export function sameDays(one: Days, other: Days): Days | null {
  const [date, weekday] = one.kind === 'weekdays' ? [other, one] : [one, other];
  if (weekday.kind !== 'weekdays' || weekday.weekdays.length !== 1 || weekday.which !== 'any') return null;
  if (date.kind === 'ahead') return { ...date, weekday: weekday.weekdays[0] ?? null };
  if (date.kind === 'date' && date.weekday === null) return { ...date, weekday: weekday.weekdays[0] ?? null };
  const isOne = date.kind === 'monthDays' && date.days.length === 1 && date.of === null;
  return isOne ? { ...date, weekday: weekday.weekdays[0] ?? null } : null;
}
