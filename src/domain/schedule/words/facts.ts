import type { OrdinalDay } from '../rrule/parts.ts';

/** The content of a description, before a language has words for it. Times are seconds of the day, days numbers since 1970. */

export type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

export interface Step {
  readonly value: number;
  readonly unit: Unit;
}

/** Months are counted from 0, weekdays from Sunday; a negative number counts from the end. */
export type DayPart =
  | {
      readonly is: 'weekdays';
      readonly plain: readonly number[];
      readonly numbered: readonly OrdinalDay[];
      /** In which the numbers count: the month, the year, or that month. */
      readonly of: 'month' | 'year' | number;
    }
  | { readonly is: 'monthDays'; readonly days: readonly number[]; readonly nearest: readonly number[] }
  /** The n-th day from Monday to Friday of a month. */
  | { readonly is: 'workdays'; readonly positions: readonly number[] }
  | { readonly is: 'yearDays'; readonly days: readonly number[] }
  | { readonly is: 'weeks'; readonly weeks: readonly number[] }
  | { readonly is: 'dates'; readonly days: readonly number[]; readonly months: readonly number[] };

export interface DayFacts {
  /** Null where the parts alone say how often. Without parts it is every day. */
  readonly every: Step | null;
  readonly parts: readonly DayPart[];
  /** `only`: the first part, if it is also one of the second. */
  readonly joined: 'and' | 'or' | 'only';
  readonly months: readonly number[];
}

export type TimeFacts =
  | { readonly is: 'at'; readonly times: readonly number[] }
  /** `to` is null where the steps go round the clock. */
  | { readonly is: 'steps'; readonly step: Step; readonly from: number; readonly to: number | null }
  /** The same minute of several hours: runs of them, or all. */
  | { readonly is: 'hourly'; readonly minute: number; readonly hours: readonly number[] }
  | { readonly is: 'grid'; readonly hours: readonly number[]; readonly minutes: readonly number[] }
  | ({ readonly is: 'seconds' } & ClockFields)
  /** Steps that are counted from the start, within the fields. */
  | ({ readonly is: 'counted'; readonly step: Step } & ClockFields);

interface ClockFields {
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly seconds: readonly number[];
}

export interface DayMoment {
  readonly day: number;
  /** Null where the day alone is meant. */
  readonly time: number | null;
}

export interface Span {
  /** Null where nothing hangs on it any more. */
  readonly start: DayMoment | null;
  /** `counts`: the slots are so many units from the start; `clock`: and are counted on the clock. */
  readonly counts: boolean;
  readonly clock: boolean;
  readonly until: DayMoment | null;
}

export interface Rhythm {
  readonly days: DayFacts;
  readonly time: TimeFacts;
  /** Only some of the times of each unit, by their position. */
  readonly picks: { readonly positions: readonly number[]; readonly unit: Unit } | null;
  readonly weekStart: number | null;
  readonly span: Span | null;
}

/** One exception, as it was said and can be taken back. */
export type Exception =
  | { readonly is: 'days'; readonly body: string; readonly days: DayFacts }
  | { readonly is: 'range'; readonly from: number; readonly to: number }
  | { readonly is: 'moment'; readonly at: number; readonly moment: DayMoment };

export type ScheduleFacts =
  | { readonly is: 'once'; readonly moment: DayMoment }
  | {
      readonly is: 'interval';
      readonly steps: readonly Step[];
      readonly afterEnd: boolean;
      /** Null where nothing hangs on it any more. */
      readonly start: DayMoment | null;
    }
  | {
      readonly is: 'rhythms';
      readonly rhythms: readonly Rhythm[];
      readonly not: readonly Exception[];
      readonly also: readonly DayMoment[];
    };

/** Writes the day of that number since 1970. */
export type DayWords = (day: number) => string;

/** The words of one language for all schedules. Nothing else puts such words together. */
export interface ScheduleWords {
  /** Everything, to stand within a sentence. */
  describe(facts: ScheduleFacts, day: DayWords, style: Style): string;
  /** As little as tells how often and when: a row of a list. */
  cadence(facts: ScheduleFacts, day: DayWords): string;
  /** `Sundays`, `24 December`, `20 Dec to 6 Jan`: what a button takes back. */
  exception(exception: Exception, day: DayWords): string;
  /** `this task does not run on Sundays`: why there is no slot. */
  leavesOut(exception: Exception, day: DayWords): string;
}

/** For programs, which want the same words always, or for people, whose days have names. */
export type Style = 'records' | 'people';
