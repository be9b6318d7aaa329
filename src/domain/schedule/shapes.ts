export type ScheduleKind = 'once' | 'cron' | 'rrule' | 'interval';

/** The normal form, which is what is stored. Instants are milliseconds UTC; an rrule text always holds its DTSTART. */
export type Schedule =
  | { kind: 'once'; onceAt: number; timezone: string }
  | { kind: 'cron'; cron: string; timezone: string }
  | { kind: 'rrule'; rrule: string; timezone: string }
  | { kind: 'interval'; interval: string; startAt: number; from: 'start' | 'completion'; timezone: string };

export type OnceSchedule = Extract<Schedule, { kind: 'once' }>;
export type CronSchedule = Extract<Schedule, { kind: 'cron' }>;
export type RruleSchedule = Extract<Schedule, { kind: 'rrule' }>;
export type IntervalSchedule = Extract<Schedule, { kind: 'interval' }>;

/** A schedule as a client sends it; its shape has been checked, its meaning has not. */
export interface ScheduleInput {
  readonly kind: ScheduleKind;
  readonly once_at?: string | undefined;
  readonly cron?: string | undefined;
  readonly rrule?: string | undefined;
  readonly interval?: string | undefined;
  readonly start_at?: string | undefined;
  readonly from?: 'start' | 'completion' | undefined;
  readonly timezone: string;
}

/** A slot outside of [startAt, until] does not count. */
export interface Bounds {
  readonly startAt?: number | undefined;
  readonly until?: number | undefined;
}
