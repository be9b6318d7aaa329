import { scheduleLimits } from '../limits.ts';
import { quoted, unreadable } from '../shapes.ts';

export type Frequency = 'SECONDLY' | 'MINUTELY' | 'HOURLY' | 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY';

export interface OrdinalDay {
  /** 0 is every one; 2 the second, -1 the last of the month or year. */
  readonly ordinal: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

/** The parts of one RRULE as written, checked for range and for what RFC 5545 forbids. */
export interface RruleParts {
  readonly frequency: Frequency;
  readonly interval: number;
  readonly weekStart: number;
  readonly count: number | null;
  readonly until: string | null;
  readonly months: readonly number[];
  readonly weekNumbers: readonly number[];
  readonly yearDays: readonly number[];
  readonly monthDays: readonly number[];
  readonly weekdays: readonly OrdinalDay[];
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly seconds: readonly number[];
  readonly positions: readonly number[];
}

const FREQUENCIES: readonly Frequency[] = ['SECONDLY', 'MINUTELY', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'];
export const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

interface Range {
  readonly low: number;
  readonly high: number;
  readonly signed?: boolean;
}

const LISTS = {
  BYMONTH: { low: 1, high: 12 },
  BYWEEKNO: { low: 1, high: 53, signed: true },
  BYYEARDAY: { low: 1, high: 366, signed: true },
  BYMONTHDAY: { low: 1, high: 31, signed: true },
  BYHOUR: { low: 0, high: 23 },
  BYMINUTE: { low: 0, high: 59 },
  BYSECOND: { low: 0, high: 59 },
  BYSETPOS: { low: 1, high: 366, signed: true },
} satisfies Record<string, Range>;
const KEYS = new Set(['FREQ', 'INTERVAL', 'WKST', 'COUNT', 'UNTIL', 'BYDAY', ...Object.keys(LISTS)]);

function fault(reason: string, message: string): Error {
  return unreadable({ field: 'rrule', reason }, message);
}

function splitParts(body: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const part of body.replace(/;$/, '').split(';')) {
    const equals = part.indexOf('=');
    const key = part.slice(0, Math.max(0, equals)).trim();
    const value = part.slice(equals + 1).trim();
    if (equals < 1 || value === '')
      throw fault(
        'syntax',
        `${quoted(part)} in the rule is not KEY=value; write it like FREQ=WEEKLY;BYDAY=MO;BYHOUR=9.`,
      );
    if (!KEYS.has(key)) throw fault('unknown_key', `${quoted(key)} is not a part of a recurrence rule; leave it out.`);
    if (parts.has(key))
      throw fault('duplicate_key', `${key} stands twice in the rule; write it once, with commas between its values.`);
    parts.set(key, value);
  }
  return parts;
}

function numbers(parts: Map<string, string>, key: keyof typeof LISTS): number[] {
  const { low, high, signed = false }: Range = LISTS[key];
  const text = parts.get(key);
  if (text === undefined) return [];
  const values = text.split(',').map((item) => {
    const value = /^[+-]?\d{1,4}$/.test(item) ? Number(item) : Number.NaN;
    const size = signed ? Math.abs(value) : value;
    if (size >= low && size <= high && (signed || /^\d/.test(item))) return value;
    throw fault(
      'out_of_range',
      `${key} has ${quoted(item)}; it takes ${low} to ${high}${signed ? `, or -${high} to -${low} counted from the end` : ''}.`,
    );
  });
  return [...new Set(values)].sort((a, b) => a - b);
}

function positive(parts: Map<string, string>, key: string, max: number): number | null {
  const text = parts.get(key);
  if (text === undefined) return null;
  const value = /^\d+$/.test(text) && text.length <= scheduleLimits.stepDigitsMax ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw fault('out_of_range', `${key} has ${quoted(text)}; it takes 1 to ${max}.`);
}

function weekday(text: string, key: string): number {
  const index = WEEKDAYS.indexOf(text);
  if (index >= 0) return index;
  throw fault('out_of_range', `${key} has ${quoted(text)}; it takes MO, TU, WE, TH, FR, SA, SU.`);
}

function ordinalDays(parts: Map<string, string>): OrdinalDay[] {
  const text = parts.get('BYDAY');
  if (text === undefined) return [];
  return text.split(',').map((item) => {
    const ordinal = item.slice(0, -2);
    const value = ordinal === '' ? 0 : Number(ordinal);
    const isGood = ordinal === '' || (/^[+-]?\d{1,2}$/.test(ordinal) && value !== 0 && Math.abs(value) <= 53);
    if (!isGood)
      throw fault(
        'out_of_range',
        `BYDAY has ${quoted(item)}; write MO, 2MO for the second or -1MO for the last Monday.`,
      );
    return { ordinal: value, weekday: weekday(item.slice(-2), 'BYDAY') };
  });
}

function frequencyOf(parts: Map<string, string>): Frequency {
  const text = parts.get('FREQ');
  if (text === undefined)
    throw fault(
      'no_frequency',
      'The rule has no FREQ; begin it with FREQ=DAILY, FREQ=WEEKLY, FREQ=MONTHLY or FREQ=YEARLY.',
    );
  const found = FREQUENCIES.find((frequency) => frequency === text);
  if (found === undefined) throw fault('out_of_range', `FREQ has ${quoted(text)}; it takes ${FREQUENCIES.join(', ')}.`);
  return found;
}

/** Reads the text behind `RRULE:`, which is in capitals already. */
export function parseRruleParts(body: string): RruleParts {
  const parts = splitParts(body);
  const rule: RruleParts = {
    frequency: frequencyOf(parts),
    interval: positive(parts, 'INTERVAL', 10 ** scheduleLimits.stepDigitsMax - 1) ?? 1,
    weekStart: weekday(parts.get('WKST') ?? 'MO', 'WKST'),
    count: positive(parts, 'COUNT', 10 ** scheduleLimits.stepDigitsMax - 1),
    until: parts.get('UNTIL') ?? null,
    months: numbers(parts, 'BYMONTH'),
    weekNumbers: numbers(parts, 'BYWEEKNO'),
    yearDays: numbers(parts, 'BYYEARDAY'),
    monthDays: numbers(parts, 'BYMONTHDAY'),
    weekdays: ordinalDays(parts),
    hours: numbers(parts, 'BYHOUR'),
    minutes: numbers(parts, 'BYMINUTE'),
    seconds: numbers(parts, 'BYSECOND'),
    positions: numbers(parts, 'BYSETPOS'),
  };
  checkEnd(rule);
  checkDays(rule);
  checkOrdinals(rule);
  checkPositions(parts);
  return rule;
}

function checkEnd({ count, until }: RruleParts): void {
  if (count !== null && until !== null)
    throw fault('count_and_until', 'COUNT and UNTIL exclude each other; keep one of them.');
  if (count !== null && count > scheduleLimits.countMax) {
    throw fault(
      'count_too_large',
      `COUNT is at most ${scheduleLimits.countMax}; write UNTIL with the last day, or leave the end open.`,
    );
  }
}

/** The MUST NOTs of RFC 5545 3.3.10, and BYWEEKNO without a weekday, which no two programs read alike. */
function checkDays({ frequency, weekNumbers, yearDays, monthDays, weekdays }: RruleParts): void {
  if (weekNumbers.length > 0 && frequency !== 'YEARLY') {
    throw fault('forbidden', 'BYWEEKNO goes with FREQ=YEARLY only; use BYDAY with FREQ=WEEKLY instead.');
  }
  if (weekNumbers.length > 0 && weekdays.length === 0) {
    throw fault('forbidden', 'BYWEEKNO alone does not say which day of the week; add BYDAY.');
  }
  if (yearDays.length > 0 && ['DAILY', 'WEEKLY', 'MONTHLY'].includes(frequency)) {
    throw fault('forbidden', `BYYEARDAY does not go with FREQ=${frequency}; use FREQ=YEARLY.`);
  }
  if (monthDays.length > 0 && frequency === 'WEEKLY') {
    throw fault('forbidden', 'BYMONTHDAY does not go with FREQ=WEEKLY; use FREQ=MONTHLY, or FREQ=DAILY with BYDAY.');
  }
}

function checkOrdinals({ frequency, weekNumbers, weekdays, months }: RruleParts): void {
  const greatest = Math.max(0, ...weekdays.map(({ ordinal }) => Math.abs(ordinal)));
  if (greatest === 0) return;
  if (frequency !== 'MONTHLY' && frequency !== 'YEARLY') {
    const advice = 'use FREQ=MONTHLY or FREQ=YEARLY';
    throw fault('forbidden', `A numbered weekday such as 2MO does not go with FREQ=${frequency}; ${advice}.`);
  }
  if (weekNumbers.length > 0) {
    throw fault('forbidden', 'A numbered weekday such as 2MO does not go with BYWEEKNO; write MO.');
  }
  if (greatest > 5 && (frequency === 'MONTHLY' || months.length > 0)) {
    const advice = 'number it 1 to 5, or -1 to -5 from the end';
    throw fault('out_of_range', `A month has five of a weekday at most; ${advice}.`);
  }
}

function checkPositions(parts: ReadonlyMap<string, string>): void {
  if (!parts.has('BYSETPOS') || [...parts.keys()].some((key) => key.startsWith('BY') && key !== 'BYSETPOS')) return;
  throw fault('forbidden', 'BYSETPOS picks from the days or times that another BY part names; add one, such as BYDAY.');
}
