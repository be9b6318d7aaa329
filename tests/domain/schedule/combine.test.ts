import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { combined, type Exceptions } from '../../../src/domain/schedule/combine.ts';
import { hoursOf, withHours } from '../../../src/domain/schedule/hours.ts';
import {
  isSlot,
  lastSlot,
  minGapMs,
  nextSlot,
  nextSlots,
  parseSchedule,
  refusals,
  type Schedule,
  type ScheduleInput,
} from '../../../src/domain/schedule/schedule.ts';
import { DAY_MS, interestingInstants, intlWall, SEED, zones } from './oracle.ts';

const now = Date.parse('2026-11-19T09:17:12Z');
const timezone = 'Europe/Madrid';

type Named = Omit<ScheduleInput, 'timezone'>;

function schedule(input: Named, zone = timezone, at = now): Schedule {
  return parseSchedule({ ...input, timezone: zone }, at);
}

function cron(text: string): Schedule {
  return schedule({ kind: 'cron', cron: text });
}

function dayOf(text: string): number {
  return Date.parse(text) / DAY_MS;
}

/** Slots on the clock of Madrid, which is an hour ahead of UTC in winter. */
function clocks(of: Schedule, count: number, after = now): string[] {
  return nextSlots(of, after, { count }).map((slot) => new Date(intlWall(timezone, slot)).toISOString().slice(0, 16));
}

const weekdays9 = cron('0 9 * * 1-5');
const weekends11 = cron('0 11 * * 6,0');

describe('times that one cron says stay one', () => {
  const table: ReadonlyArray<[string, readonly string[], Exceptions, string]> = [
    ['alone', ['0 8 * * *'], {}, '0 8 * * *'],
    ['without Sundays', ['0 8 * * *'], { weekdays: [0] }, '0 8 * * 1,2,3,4,5,6'],
    ['every hour without weekends', ['*/15 9-17 * * *'], { weekdays: [6, 0] }, '*/15 9-17 * * 1,2,3,4,5'],
    ['two days at the same time', ['0 9 * * 1', '0 9 * * 2'], {}, '0 9 * * 1,2'],
    ['all days at the same time', ['0 9 * * 1-5', '0 9 * * 6,0'], {}, '0 9 * * *'],
    ['two times on the same days', ['0 9 * * 1-5', '0 17 * * 1-5'], {}, '0 9,17 * * 1-5'],
    ['the same twice', ['30 9 13 * 5', '30 9 13 * 5'], {}, '30 9 13 * 5'],
  ];
  test.each(table)('%s', (_, crons, except, text) => {
    expect(combined(crons.map(cron), except, { now })).toEqual({ kind: 'cron', cron: text, timezone });
  });
});

describe('several rhythms are one schedule', () => {
  const both = combined([weekdays9, weekends11], {}, { now });

  test('each slot of each of them is one', () => {
    expect(clocks(both, 4)).toEqual(['2026-11-20T09:00', '2026-11-21T11:00', '2026-11-22T11:00', '2026-11-23T09:00']);
    expect(isSlot(both, Date.parse('2026-11-21T10:00:00Z'))).toBe(true);
    expect(isSlot(both, Date.parse('2026-11-21T08:00:00Z'))).toBe(false);
    expect(lastSlot(both)).toBeNull();
  });

  test('a slot that both name is one slot', () => {
    const often = combined([cron('0 9 * * *'), cron('0 9 13 * 5'), cron('30 9 * * 1')], {}, { now });
    expect(clocks(often, 5)).toEqual([
      '2026-11-20T09:00',
      '2026-11-21T09:00',
      '2026-11-22T09:00',
      '2026-11-23T09:00',
      '2026-11-23T09:30',
    ]);
  });

  test('the least gap is between two of them', () => {
    expect(minGapMs(both)).toBe(22 * 3_600_000);
    expect(minGapMs(combined([cron('0 9 * * 1'), cron('10 9 * * 1,2')], {}, { now }))).toBe(600_000);
  });

  test('the last of their ends is the end', () => {
    const ends = ['20261201', '20270301'].map((day) => `FREQ=DAILY;BYHOUR=9;UNTIL=${day}T090000Z`);
    const lines = ends.map((body, index) => `RRULE:${body.replace('BYHOUR=9', `BYHOUR=${9 + index};BYMINUTE=0`)}`);
    const ended = schedule({ kind: 'rrule', rrule: lines.join('\n') });
    expect(lastSlot(ended)).toBe(Date.parse('2027-03-01T09:00:00Z'));
    expect(nextSlot(ended, Date.parse('2027-03-01T09:00:00Z'))).toBeNull();
  });

  test('a rhythm of two weeks keeps its weeks beside another one', () => {
    const rule = 'DTSTART:20261123T100000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO';
    const mixed = combined([schedule({ kind: 'rrule', rrule: rule }), cron('0 9 * * 5')], {}, { now });
    expect(clocks(mixed, 5)).toEqual([
      '2026-11-20T09:00',
      '2026-11-23T10:00',
      '2026-11-27T09:00',
      '2026-12-04T09:00',
      '2026-12-07T10:00',
    ]);
  });

  test('rhythms that count from different weeks are refused with a reason', () => {
    const starts = ['20261123', '20261130'].map((day) =>
      schedule({ kind: 'rrule', rrule: `DTSTART:${day}T100000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO` }),
    );
    expect(() => combined(starts, {}, { now })).toThrow(/count from different days/);
  });

  test('single moments are slots beside the others', () => {
    const moments = ['2026-11-20T09:00', '2026-11-21T10:00'].map((once_at) => schedule({ kind: 'once', once_at }));
    expect(clocks(combined(moments, {}, { now }), 5)).toEqual(['2026-11-20T09:00', '2026-11-21T10:00']);
    expect(clocks(combined([...moments, cron('0 8 * * 6')], {}, { now }), 3)).toEqual([
      '2026-11-20T09:00',
      '2026-11-21T08:00',
      '2026-11-21T10:00',
    ]);
  });

  test('an hour alone moves all of them, as many hours as there are each its own', () => {
    expect(hoursOf(both)).toEqual([540, 660]);
    const moved = (times: readonly number[]) => {
      const input = withHours(both, times);
      return input === null ? null : clocks(parseSchedule(input, now), 3).map((text) => text.slice(8));
    };
    expect(moved([600])).toEqual(['20T10:00', '21T10:00', '22T10:00']);
    expect(moved([720, 660])).toEqual(['19T12:00', '20T12:00', '21T11:00']);
    expect(moved([540, 600, 660])).toBeNull();
  });
});

describe('exceptions are whole days of the zone', () => {
  test('dates and ranges, once', () => {
    const except = { dates: [dayOf('2026-11-20')], ranges: [{ from: dayOf('2026-12-20'), to: dayOf('2027-01-06') }] };
    const daily = combined([cron('0 8,20 * * *')], except, { now });
    expect(clocks(daily, 2)).toEqual(['2026-11-19T20:00', '2026-11-21T08:00']);
    expect(clocks(daily, 2, Date.parse('2026-12-19T12:00:00Z'))).toEqual(['2026-12-19T20:00', '2027-01-07T08:00']);
  });

  test('days of the week, of the month and of the year, again and again', () => {
    const every = schedule({ kind: 'interval', interval: 'PT90M' });
    const except = { weekdays: [0], monthDays: [1, -1], months: [12], yearDays: [{ month: 11, day: 23 }] };
    const slots = nextSlots(combined([every], except, { now }), now, { count: 200 });
    const days = [...new Set(slots.map((slot) => new Date(intlWall(timezone, slot)).toISOString().slice(0, 10)))];
    expect(days.slice(0, 4)).toEqual(['2026-11-19', '2026-11-20', '2026-11-21', '2026-11-24']);
    expect(days).toContain('2026-11-28');
    expect(days.at(-1)).toBe('2027-01-07');
    expect(days.filter((day) => /-12-|-01-01|-11-30|-11-29/.test(day))).toEqual([]);
  });

  test('exceptions of a month without its last day still know which day is the last', () => {
    const last = schedule({
      kind: 'rrule',
      rrule: 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=9;BYMINUTE=0',
    });
    expect(clocks(combined([last], { weekdays: [1] }, { now }), 2)).toEqual(['2026-12-31T09:00', '2027-01-29T09:00']);
  });

  test('a count counts what the rule names, as without exceptions', () => {
    const text = 'RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0;COUNT=3\nEXRULE:FREQ=WEEKLY;BYDAY=SA';
    expect(clocks(schedule({ kind: 'rrule', rrule: text }), 5)).toEqual(['2026-11-20T09:00', '2026-11-22T09:00']);
  });

  test.each([
    ['one cron', [cron('*/5 * * * *')]],
    ['two rhythms', [weekdays9, weekends11]],
    ['positions', [schedule({ kind: 'rrule', rrule: 'FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=1;BYHOUR=9;BYMINUTE=0' })]],
    ['seconds', [schedule({ kind: 'rrule', rrule: 'FREQ=SECONDLY' })]],
  ])('%s with nothing left never run, which is known at once', (_, schedules) => {
    const empty = combined(schedules, { weekdays: [0, 1, 2, 3, 4, 5, 6] }, { now });
    const begun = performance.now();
    expect(nextSlot(empty, now)).toBeNull();
    const never = refusals(empty, { now, minIntervalMs: 1_000 }).find(({ reason }) => reason === 'never');
    expect(never?.message).toContain('exceptions');
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  test('a wait after each run has no days, and a year and more is an end', () => {
    const wait = schedule({ kind: 'interval', interval: 'P1D', from: 'completion' });
    expect(() => combined([wait], { weekdays: [0] }, { now })).toThrow(/after each run/);
    const ranges = [{ from: dayOf('2026-12-01'), to: dayOf('2028-12-01') }];
    expect(() => combined([weekdays9], { ranges }, { now })).toThrow(/400 days/);
  });
});

describe('beside a walker that knows only single rhythms', () => {
  const hours = fc.integer({ min: 6, max: 22 });
  const minutes = fc.constantFrom(0, 15, 30, 45);
  const weekday = fc.constantFrom('1-5', '6,0', '1', '2,4', '*', '0');
  const plain: fc.Arbitrary<Named> = fc
    .tuple(hours, minutes, weekday)
    .map(([hour, minute, days]) => ({ kind: 'cron', cron: `${minute} ${hour} * * ${days}` }));
  const other: fc.Arbitrary<Named> = fc.oneof(
    plain,
    fc
      .tuple(hours, fc.integer({ min: 1, max: 28 }))
      .map(([hour, day]): Named => ({ kind: 'cron', cron: `0 ${hour} ${day} * 5` })),
    fc
      .constantFrom(
        '*/20 9-17 * * 1-5',
        '0 */6 * * *',
        '30 9 * * 1#1,5L',
        '0 9 1 1,7 *',
        '0 12 L * *',
        '15 9,18 LW * *',
      )
      .map((text): Named => ({ kind: 'cron', cron: text })),
    fc
      .constantFrom(
        'FREQ=DAILY;INTERVAL=3;BYHOUR=2;BYMINUTE=30',
        'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SA;BYHOUR=0;BYMINUTE=30',
      )
      .map((rrule): Named => ({ kind: 'rrule', rrule })),
    fc.constantFrom('PT90M', 'PT2H', 'P2W', 'P1D').map((interval): Named => ({ kind: 'interval', interval })),
  );
  const weekdaySet = fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 3 });
  const some = fc.record({
    weekdays: weekdaySet,
    monthDays: fc.uniqueArray(fc.constantFrom<number>(1, 13, -1), { maxLength: 2 }),
    months: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 1 }),
    offsets: fc.uniqueArray(fc.integer({ min: 0, max: 20 }), { maxLength: 4 }),
  });

  test('the slots are those of each rhythm, without those on days that are left out', () => {
    const run = fc.property(
      fc.constantFrom(...zones),
      fc.constantFrom(...interestingInstants),
      fc.array(other, { minLength: 1, maxLength: 3 }),
      some,
      (zone, at, inputs, { offsets, ...except }) => {
        const today = Math.floor(intlWall(zone, at) / DAY_MS);
        const dates = offsets.map((offset) => today + offset);
        const singles = inputs.map((input) => schedule(input, zone, at));
        const both = combined(singles, { ...except, dates }, { now: at });
        const upTo = at + 40 * DAY_MS;
        const isOut = (slot: number) => {
          const wall = intlWall(zone, slot);
          const date = new Date(wall);
          const tomorrow = new Date(wall + DAY_MS);
          return (
            except.weekdays.includes(date.getUTCDay()) ||
            except.monthDays.includes(date.getUTCDate()) ||
            (except.monthDays.includes(-1) && tomorrow.getUTCDate() === 1) ||
            except.months.includes(date.getUTCMonth() + 1) ||
            dates.includes(Math.floor(wall / DAY_MS))
          );
        };
        const all = singles.flatMap((single) => nextSlots(single, at, { count: 2_000, upTo }));
        const expected = [...new Set(all)].filter((slot) => !isOut(slot)).sort((a, b) => a - b);
        expect(nextSlots(both, at, { count: 6_000, upTo })).toEqual(expected);
        const gap = minGapMs(both);
        if (gap !== null && zone === 'UTC') {
          for (const [index, slot] of expected.entries())
            expect(slot - (expected[index - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(gap);
        }
      },
    );
    fc.assert(run, { seed: SEED, numRuns: 120 });
  });
});
