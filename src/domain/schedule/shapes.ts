import { AppError } from '../errors.ts';

export type ScheduleKind = 'once' | 'cron' | 'rrule' | 'interval';

/**
 * The normal form, which is what is stored. Instants are milliseconds UTC; an rrule text always holds its DTSTART. A moment
 * that was counted from a start, as in "in 2 hours", keeps that start: it is an instant whatever a clock shows.
 */
export type Schedule =
  | { kind: 'once'; onceAt: number; startAt?: number; timezone: string }
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

export interface Fault {
  /** The field of the request that has to be mended. */
  readonly field: 'kind' | 'once_at' | 'cron' | 'rrule' | 'interval' | 'start_at' | 'from' | 'timezone';
  /** A short stable word for programs. */
  readonly reason: string;
}

/** A schedule that cannot be read. The message tells a person what to write instead. */
export function unreadable(fault: Fault, message: string): AppError {
  return new AppError('invalid_schedule', message, { details: { field: fault.field, reason: fault.reason } });
}

/** Text of a client, cut so that a message stays a sentence. */
export function quoted(text: string): string {
  return text.length > 40 ? `"${text.slice(0, 40)}..."` : `"${text}"`;
}
