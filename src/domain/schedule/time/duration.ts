import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './calendar.ts';
import { quoted, unreadable } from '../fault.ts';
import { scheduleLimits } from '../limits.ts';

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
