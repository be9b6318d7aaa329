import { AppError } from '../errors.ts';

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
