import { DAY_MS, daysFromCivil, MINUTE_MS, monthLength, SECOND_MS } from './calendar.ts';
import { type Fault, quoted, unreadable } from '../fault.ts';
import { scheduleLimits } from '../limits.ts';
import { resolveShifted } from './zone.ts';

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;
const EXAMPLE = '2027-01-31T09:00 for the clock of the zone, or 2027-01-31T09:00:00Z for UTC';

/** The wall time in the groups 1 to 6 of a match, from year to second; null when no calendar and no clock shows it. */
export function wallOfMatch(match: RegExpExecArray): number | null {
  const part = (index: number) => Number(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > monthLength(year, month)) return null;
  const [hour, minute, second] = [part(4), part(5), part(6)];
  if (hour > 23 || minute > 59 || second > 59) return null;
  return daysFromCivil(year, month, day) * DAY_MS + (hour * 3_600 + minute * 60 + second) * SECOND_MS;
}

function offsetOf(text: string): number | null {
  if (/^z$/i.test(text)) return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(':', ''));
  if (hours > 15 || minutes > 59) return null;
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS;
}

/** With an offset or Z it is that instant; without, it is what the clock in the zone shows. */
export function parseInstant(text: string, timezone: string, field: 'once_at' | 'start_at'): number {
  const match = text.length > scheduleLimits.instantLengthMax ? null : INSTANT.exec(text.trim());
  if (match === null) {
    throw unreadable(instantFault(field, text), `${quoted(text)} is not a date with a time; write ${EXAMPLE}.`);
  }
  const wall = wallOfMatch(match);
  const offset = match[8] === undefined ? 0 : offsetOf(match[8]);
  if (wall === null || offset === null) {
    const message = `${quoted(text)} is not a moment of any calendar; write ${EXAMPLE}.`;
    throw unreadable({ field, reason: 'no_such_date' }, message);
  }
  const precise = wall + Math.floor(Number(`0.${match[7] ?? 0}`) * SECOND_MS);
  return match[8] === undefined ? resolveShifted(timezone, precise) : precise - offset;
}

function instantFault(field: 'once_at' | 'start_at', text: string): Fault {
  return { field, reason: /^\s*\d{4}-\d\d-\d\d\s*$/.test(text) ? 'no_time' : 'syntax' };
}
