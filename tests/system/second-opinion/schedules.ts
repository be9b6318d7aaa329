import fc from 'fast-check';
import type { ScheduleInput, ScheduleKind } from '../../../src/domain/schedule/shapes.ts';

/** Schedules of all four kinds as people and programs write them, with an instant at which they are asked about. */
export interface Asked {
  readonly input: ScheduleInput;
  readonly now: number;
}

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;

const zones = fc.constantFrom(
  'UTC',
  'America/New_York',
  'America/St_Johns',
  'America/Sao_Paulo',
  'Europe/Madrid',
  'Africa/Casablanca',
  'Asia/Kathmandu',
  'Asia/Tokyo',
  'Australia/Lord_Howe',
  'Antarctica/Troll',
  'Pacific/Apia',
);

const moments = fc
  .tuple(fc.integer({ min: Date.UTC(2022, 0) / 1000, max: Date.UTC(2036, 0) / 1000 }), fc.nat({ max: 999 }))
  .map(([seconds, ms]) => seconds * 1000 + ms);

function range(low: number, high: number): readonly number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => low + index);
}

function some(values: readonly (number | string)[], max: number): fc.Arbitrary<string> {
  return fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: max }).map((items) => items.join(','));
}

function field(low: number, high: number): fc.Arbitrary<string> {
  const ends = fc.tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high }));
  const span = ends.map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: high }).map(String);
  return fc.oneof(
    fc.constant('*'),
    some(range(low, high), 3),
    span,
    fc.tuple(fc.oneof(fc.constant('*'), span), step).map(([all, by]) => `${all}/${by}`),
    fc.tuple(span, some(range(low, high), 2)).map((items) => items.join(',')),
  );
}

const days = fc.oneof(
  { arbitrary: fc.constant('*'), weight: 3 },
  { arbitrary: field(1, 31), weight: 2 },
  { arbitrary: fc.constantFrom('L', 'LW', '15W', '1W,31W', 'L,3', '31', '1,30'), weight: 1 },
);
const months = fc.oneof({ arbitrary: fc.constant('*'), weight: 3 }, fc.constantFrom('jan', 'FEB-jun', '*/3', '2'));
const weekdays = fc.oneof(
  { arbitrary: fc.constant('*'), weight: 2 },
  { arbitrary: field(0, 7), weight: 2 },
  { arbitrary: fc.constantFrom('MON-FRI', '5L', '1#2', 'fri-sun', '+1-5', '?', '5#L'), weight: 1 },
);
const cron = fc.oneof(
  {
    arbitrary: fc.tuple(field(0, 59), field(0, 23), days, months, weekdays).map((fields) => fields.join(' ')),
    weight: 20,
  },
  { arbitrary: fc.constantFrom('@hourly', '@daily', '@weekly', '@monthly', '@yearly'), weight: 1 },
);

type Parts = Readonly<Record<string, fc.Arbitrary<string | undefined>>>;

/** A part is there once in so many times. */
function now(times: number, value: fc.Arbitrary<string>): fc.Arbitrary<string | undefined> {
  return fc.oneof({ arbitrary: value, weight: 1 }, { arbitrary: fc.constant(undefined), weight: times - 1 });
}

const names = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const monthDays = [...range(1, 31), -1, -2, -30];
const numbered = ['1MO', '2TU', '-1FR', '-2SU', '3WE', 'SA', 'MO'];
const ofDay: Parts = {
  BYHOUR: now(2, some(range(0, 23), 3)),
  BYMINUTE: now(2, some(range(0, 59), 3)),
  BYSECOND: now(5, some([0, 15, 59], 2)),
};
const ofAll: Parts = {
  INTERVAL: now(2, fc.constantFrom('1', '2', '3', '5', '7', '15', '20', '36')),
  WKST: now(5, fc.constantFrom('MO', 'SU', 'WE')),
  BYMONTH: now(5, some(range(1, 12), 5)),
  COUNT: now(8, fc.integer({ min: 1, max: 60 }).map(String)),
};
const byFrequency: Readonly<Record<string, Parts>> = {
  SECONDLY: { BYDAY: now(4, some(names, 5)) },
  MINUTELY: { BYMINUTE: now(4, some(range(0, 59), 4)), BYDAY: now(4, some(names, 5)) },
  HOURLY: { ...ofDay, BYMONTHDAY: now(5, some(monthDays, 6)), BYDAY: now(5, some(names, 5)) },
  DAILY: { ...ofDay, BYMONTHDAY: now(4, some(monthDays, 6)), BYDAY: now(3, some(names, 4)) },
  WEEKLY: { ...ofDay, BYDAY: now(2, some(names, 4)), BYSETPOS: now(5, fc.constantFrom('1', '-1', '2')) },
  MONTHLY: {
    ...ofDay,
    BYMONTHDAY: now(3, some(monthDays, 4)),
    BYDAY: now(3, fc.oneof(some(names, 5), some(numbered, 3))),
    BYSETPOS: now(5, fc.constantFrom('1', '-1', '1,-1', '-2')),
  },
  YEARLY: {
    ...ofDay,
    BYMONTHDAY: now(3, some(monthDays, 3)),
    BYYEARDAY: now(6, some([1, 60, 100, -1, -100], 3)),
    BYDAY: now(3, fc.oneof(some(names, 3), some(numbered, 3))),
  },
};

function bodyOf(parts: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(parts)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${value ?? ''}`)
    .join(';');
}

function stamp(wall: number): string {
  return new Date(wall).toISOString().replace(/[-:]|\.\d{3}Z/g, '');
}

const rule = fc
  .constantFrom(...Object.keys(byFrequency))
  .chain((frequency) => fc.record({ FREQ: fc.constant(frequency), ...ofAll, ...byFrequency[frequency] }))
  .map(bodyOf);

/** Days before `now`: most schedules are new, some are old. */
const ages = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 6000 }));

const exception = fc.oneof(
  some(names, 3).map((days) => `FREQ=WEEKLY;BYDAY=${days}`),
  fc.constantFrom('FREQ=MONTHLY;BYMONTHDAY=1,-1', 'FREQ=DAILY;BYMONTH=8', 'FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25'),
);

const rrule = fc
  .record({
    bodies: fc.oneof({ arbitrary: fc.tuple(rule), weight: 3 }, { arbitrary: fc.tuple(rule, rule), weight: 1 }),
    age: ages,
    taken: fc.nat({ max: 20 }),
    outs: fc.nat({ max: 3 }),
    never: fc.option(exception, { freq: 2 }),
  })
  .map(({ bodies, age, taken, outs, never }) => (timezone: string, at: number) => {
    const day = Math.floor(at / dayMs) * dayMs + taken * dayMs;
    return [
      `DTSTART;TZID=${timezone}:${stamp(at - age * dayMs)}`,
      ...bodies.map((body) => `RRULE:${body}`),
      ...(never === null ? [] : [`EXRULE:${never}`]),
      ...(outs === 1 ? [`EXDATE;VALUE=DATE:${stamp(day).slice(0, 8)}`] : []),
      ...(outs === 2 ? [`EXDATE;TZID=${timezone}:${stamp(at + taken * dayMs)}`] : []),
    ].join('\n');
  });

const durations = fc.constantFrom(
  'PT15M',
  'PT90M',
  'PT36H',
  'P1D',
  'P2W',
  'P1M',
  'P3M',
  'P1Y',
  'P1DT6H',
  'P1M15D',
  'P1M1DT1H',
);

const inputs: Readonly<Record<ScheduleKind, fc.Arbitrary<(timezone: string, at: number) => ScheduleInput>>> = {
  once: fc
    .integer({ min: 1, max: 900_000 })
    .map((minutes) => (timezone, at) => ({ kind: 'once', once_at: instantText(at + minutes * minuteMs), timezone })),
  cron: cron.map((text) => (timezone) => ({ kind: 'cron', cron: text, timezone })),
  rrule: rrule.map((write) => (timezone, at) => ({ kind: 'rrule', rrule: write(timezone, at), timezone })),
  interval: fc
    .record({ interval: durations, age: ages, from: fc.constantFrom('start', 'start', 'completion') })
    .map(({ interval, age, from }) => (timezone, at) => ({
      kind: 'interval',
      interval,
      start_at: instantText(at - age * dayMs),
      from: from === 'completion' ? 'completion' : 'start',
      timezone,
    })),
};

function instantText(at: number): string {
  return new Date(at).toISOString();
}

export function askedOf(kind: ScheduleKind): fc.Arbitrary<Asked> {
  return fc
    .tuple(inputs[kind], zones, moments)
    .map(([inputAt, timezone, at]) => ({ input: inputAt(timezone, at), now: at }));
}
