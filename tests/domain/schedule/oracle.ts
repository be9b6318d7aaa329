import { Cron } from 'croner';
import { expect } from 'vitest';
import { isSlot, nextSlot, type Schedule } from '../../../src/domain/schedule/schedule.ts';

/** Local fields straight from Intl, sharing nothing with the code under test. */
const formats = new Map<string, Intl.DateTimeFormat>();

export function intlWall(timezone: string, instant: number): number {
  let format = formats.get(timezone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timezone, format);
  }
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? Number.NaN;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

export const zones = [
  'UTC',
  'America/New_York',
  'Europe/Madrid',
  'Europe/Oslo',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Antarctica/Troll',
  'America/St_Johns',
  'Asia/Tehran',
];

/** Instants a day or two before changes of the clocks in those zones, and a few plain ones. */
export const interestingInstants = [
  '2026-03-07T00:00:00Z',
  '2026-10-31T00:00:00Z',
  '2027-03-27T00:00:00Z',
  '2027-10-30T00:00:00Z',
  '2026-04-03T12:00:00Z',
  '2026-10-02T12:00:00Z',
  '2017-10-14T00:00:00Z',
  '2018-02-17T00:00:00Z',
  '2011-12-29T00:00:00Z',
  '2021-04-10T00:00:00Z',
  '2021-05-15T00:00:00Z',
  '2026-11-18T09:00:00Z',
  '2028-02-27T00:00:00Z',
].map((text) => Date.parse(text));

/** Changes of the clocks, each with the zone where it happens. */
export const clockChanges: ReadonlyArray<{ readonly timezone: string; readonly at: number }> = [
  ['America/New_York', '2027-03-14T07:00:00Z'],
  ['America/New_York', '2027-11-07T06:00:00Z'],
  ['Europe/Madrid', '2027-03-28T01:00:00Z'],
  ['Europe/Oslo', '2027-10-31T01:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T15:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
  ['America/Sao_Paulo', '2018-02-18T02:00:00Z'],
  ['Africa/Casablanca', '2021-04-11T02:00:00Z'],
  ['Africa/Casablanca', '2021-05-16T02:00:00Z'],
  ['Asia/Kathmandu', '1985-12-31T18:30:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Antarctica/Troll', '2027-03-28T01:00:00Z'],
  ['Antarctica/Troll', '2027-10-31T01:00:00Z'],
].map(([timezone = '', text = '']) => ({ timezone, at: Date.parse(text) }));

function isPlainList(field: string): boolean {
  return /^\d+(,\d+)*$/.test(field);
}

/**
 * croner reads 30 February as 1 or 2 March when it crosses a short February on the way to a day 29..31, and so passes over
 * the first days of March. Asked again from the end of each February on the way, it finds them.
 */
function cronerOnce(pattern: string, timezone: string, after: number): number | null {
  const job = new Cron(pattern, { timezone, paused: true });
  const next = (from: number) => job.nextRun(new Date(from))?.getTime() ?? Number.POSITIVE_INFINITY;
  let found = next(after);
  for (let year = new Date(after).getUTCFullYear(); year < new Date(after).getUTCFullYear() + 10; year += 1) {
    const march = Date.UTC(year, 2, 1);
    const end = march - (intlWall(timezone, march) - march) - 1_000;
    if (end > after && end < found) found = Math.min(found, next(end));
  }
  return Number.isFinite(found) ? found : null;
}

/** croner, with one rule on top: a comma list of plain times is the union of its times. */
export function cronerNext(pattern: string, timezone: string, after: number): number | null {
  const [minute = '', hour = '', ...rest] = pattern.split(' ');
  const singles =
    isPlainList(minute) && isPlainList(hour)
      ? hour.split(',').flatMap((each) => minute.split(',').map((one) => [one, each, ...rest].join(' ')))
      : [pattern];
  const slots = singles.map((single) => cronerOnce(single, timezone, after)).filter((slot) => slot !== null);
  return slots.length === 0 ? null : Math.min(...slots);
}

/** Every minute of a span whose local fields pass, as instants. */
export function scanMinutes(
  span: { readonly timezone: string; readonly from: number; readonly hours: number },
  passes: (wall: number) => boolean,
): number[] {
  const found: number[] = [];
  for (let minute = 1; minute <= span.hours * 60; minute += 1) {
    const instant = span.from + minute * 60_000;
    if (passes(intlWall(span.timezone, instant))) found.push(instant);
  }
  return found;
}

/** The next slot lies after the instant, and no other slot between them: `part` picks where that is looked at. */
export function expectNext(schedule: Schedule, after: number, part: number): void {
  const next = nextSlot(schedule, after);
  if (next === null) return;
  expect(next).toBeGreaterThan(after);
  expect(isSlot(schedule, next)).toBe(true);
  expect(nextSlot(schedule, Math.floor(after + (next - 1 - after) * part))).toBe(next);
}

export const SEED = 20_261_118;
export const DAY_MS = 86_400_000;
