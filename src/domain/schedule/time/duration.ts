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

const DURATION = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?$/;
const EXAMPLES = 'for example PT15M for 15 minutes, P2W for two weeks or P1M for a month';

function fault(reason: string, message: string): Error {
  return unreadable({ field: 'interval', reason }, message);
}

function partsOf(text: string): Duration | null {
  const match = DURATION.exec(text);
  if (match === null || /[PT]$/.test(text)) return null;
  const part = (index: number) => Number(match[index] ?? 0);
  return {
    months: part(1) * 12 + part(2),
    days: part(3) * 7 + part(4),
    clockMs: Math.round(part(5) * HOUR_MS + part(6) * MINUTE_MS + part(7) * SECOND_MS),
  };
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
  const parts = partsOf(normal);
  if (parts === null) throw fault('syntax', `${quoted(text)} is not an ISO-8601 duration; write one, ${EXAMPLES}.`);
  const { months, days, clockMs } = parts;
  if (months === 0 && days === 0 && clockMs === 0)
    throw fault('zero', `An interval of zero never ends; write at least a second, ${EXAMPLES}.`);
  if (months / 12 + (days + clockMs / DAY_MS) / 365.2425 > scheduleLimits.durationYearsMax) {
    throw fault('too_far', `An interval is at most ${scheduleLimits.durationYearsMax} years; write a shorter one.`);
  }
  return parts;
}

export function normalDuration(text: string): string {
  return text.trim().toUpperCase();
}

/** The milliseconds of a duration of fixed length: without months and years, and a day is 24 hours. Null for everything else. */
export function fixedMs(text: string): number | null {
  const { months = 1, days = 0, clockMs = 0 } = partsOf(text) ?? {};
  const ms = days * DAY_MS + clockMs;
  return months > 0 || ms > scheduleLimits.durationYearsMax * 366 * DAY_MS ? null : ms;
}

/** A duration as a policy or a setting has to be. */
export function durationMs(text: string): number {
  const ms = fixedMs(text);
  if (ms !== null) return ms;
  throw new AppError('invalid_policy', `"${text.slice(0, 40)}" is not a duration such as PT90S, PT10M, PT2H or P1D.`);
}

/** `PT1H30M`, from milliseconds. */
export function durationText(ms: number): string {
  const parts = [
    [Math.floor(ms / HOUR_MS), 'H'],
    [Math.floor(ms / MINUTE_MS) % 60, 'M'],
    [(ms % MINUTE_MS) / SECOND_MS, 'S'],
  ] as const;
  return `PT${parts.map(([value, letter]) => (value > 0 ? `${value}${letter}` : '')).join('') || '0S'}`;
}
