import type { Amount } from './amount.ts';
import type { ClockTime, DayPart } from './clock-time.ts';
import type { Days } from './days.ts';

/** How often: by calendar units, or by a span of elapsed time. */
export type Rhythm =
  | { readonly kind: 'calendar'; readonly unit: 'day' | 'week' | 'month' | 'year'; readonly every: number }
  | { readonly kind: 'elapsed'; readonly seconds: number };

/** An edge of a series: a day as it was written. */
export type EdgeDay = Extract<Days, { kind: 'ahead' | 'weekdays' | 'date' }>;

/** What has been read so far, part by part, before it is known whether the parts fit together. */
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
