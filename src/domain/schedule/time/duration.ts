import { AppError } from '../../errors.ts';
import { scheduleLimits } from '../limits.ts';
import { quoted, unreadable } from '../shapes.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './calendar.ts';

/** An ISO-8601 duration in its three natures: months differ in length, days differ in hours, the rest is elapsed time. */
export interface Duration {
  readonly months: number;
  readonly days: number;
  readonly clockMs: number;
}

const DURATION = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const EXAMPLES = 'for example PT15M for 15 minutes, P2W for two weeks or P1M for a month';

function fault(reason: string, message: string): Error {
  return unreadable({ field: 'interval', reason }, message);
}

export function parseDuration(text: string): Duration {
  if (text.length > scheduleLimits.durationLengthMax) {
    throw fault(
      'too_long',
      `An interval has at most ${scheduleLimits.durationLengthMax} characters; write it shorter, ${EXAMPLES}.`,
    );
  }
  const normal = normalDuration(text);
  if (normal.startsWith('-') || normal.includes('-'))
    throw fault('negative', `An interval goes forward in time; write it without a minus sign, ${EXAMPLES}.`);
  if (/\d[.,]\d/.test(normal))
    throw fault('fraction', `An interval has whole numbers only; write a smaller unit, ${EXAMPLES}.`);
  const match = DURATION.exec(normal);
  if (match === null || !/\d/.test(normal) || normal.endsWith('T')) {
    throw fault('syntax', `${quoted(text)} is not an ISO-8601 duration; write one, ${EXAMPLES}.`);
  }
  const part = (index: number) => Number(match[index] ?? 0);
  const months = part(1) * 12 + part(2);
  const days = part(3) * 7 + part(4);
  const clockMs = part(5) * HOUR_MS + part(6) * MINUTE_MS + part(7) * SECOND_MS;
  if (months === 0 && days === 0 && clockMs === 0)
    throw fault('zero', `An interval of zero never ends; write at least a second, ${EXAMPLES}.`);
  if (months / 12 + (days + clockMs / DAY_MS) / 365.2425 > scheduleLimits.durationYearsMax) {
    throw fault('too_far', `An interval is at most ${scheduleLimits.durationYearsMax} years; write a shorter one.`);
  }
  return { months, days, clockMs };
}

export function normalDuration(text: string): string {
  return text.trim().toUpperCase();
}

const shape = /^P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})(?:\.(\d{1,3}))?S)?)?$/;

/**
 * Reads an ISO-8601 duration of fixed length. Months and years have no fixed length, so a policy cannot be written with
 * them; a day is 24 hours here because policies measure elapsed time.
 */
export function durationMs(text: string): number {
  const found = shape.exec(text);
  if (!found || text.endsWith('P') || text.endsWith('T')) {
    throw new AppError('invalid_policy', `"${text.slice(0, 40)}" is not a duration such as PT90S, PT10M, PT2H or P1D.`);
  }
  const part = (index: number) => Number(found[index] ?? 0);
  const fraction = Number((found[6] ?? '').padEnd(3, '0') || 0);
  const days = part(1) * 7 + part(2);
  return ((days * 24 + part(3)) * 60 + part(4)) * 60_000 + part(5) * 1000 + fraction;
}
