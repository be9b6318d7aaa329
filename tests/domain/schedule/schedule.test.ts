import fc from 'fast-check';
import { describe as group, expect, test } from 'vitest';
import {
  isSlot,
  isTimezone,
  lastSlot,
  minGapMs,
  nextSlot,
  nextSlots,
  offsetAt,
  parseSchedule,
  refusals,
  type Schedule,
  type ScheduleInput,
  slotsThrough,
  wallText,
  warnings,
} from '../../../src/domain/schedule/schedule.ts';
import { DAY_MS, SEED, clockChanges, interestingInstants, intlWall, zones } from './oracle.ts';

const NOW = Date.parse('2026-11-18T09:00:00Z');
const MADRID = 'Europe/Madrid';

function read(input: Omit<ScheduleInput, 'timezone'> & { timezone?: string }): Schedule {
  return parseSchedule({ timezone: MADRID, ...input }, NOW);
}

test('a rule without DTSTART takes second 00 unless it names another one, or steps through seconds', () => {
  const begin = (rule: string) => {
    const schedule = parseSchedule({ kind: 'rrule', rrule: rule, timezone: MADRID }, NOW + 37_000);
    return nextSlot(schedule, NOW + 37_000);
  };
  expect(begin('FREQ=DAILY;BYHOUR=12;BYMINUTE=5')).toBe(NOW + 125 * 60_000);
  expect(begin('FREQ=HOURLY')).toBe(NOW + 3_600_000);
  expect(begin('FREQ=DAILY;BYHOUR=12;BYMINUTE=5;BYSECOND=9')).toBe(NOW + 125 * 60_000 + 9_000);
  expect(begin('FREQ=SECONDLY;INTERVAL=10')).toBe(NOW + 47_000);
  expect(begin('DTSTART:20261101T120537\nRRULE:FREQ=DAILY')).toBe(NOW + 125 * 60_000 + 37_000);
});

const cron = (text: string, timezone = MADRID) => read({ kind: 'cron', cron: text, timezone });
const rrule = (text: string) => read({ kind: 'rrule', rrule: text });
const once = (text: string) => read({ kind: 'once', once_at: text });

function codes(schedule: Schedule, now = NOW): string[] {
  return warnings(schedule, { now }).map(({ code }) => code);
}

function reasons(schedule: Schedule, bounds = {}): string[] {
  return refusals(schedule, { now: NOW, minIntervalMs: 60_000, bounds }).map(({ reason }) => reason);
}

group('zones', () => {
  test('offsets are those of Intl at any instant', () => {
    const near = fc
      .tuple(fc.constantFrom(...clockChanges), fc.integer({ min: -5_000, max: 5_000 }))
      .map(([{ timezone, at }, seconds]) => ({ timezone, at: at + seconds * 1_000 }));
    const far = fc.record({
      timezone: fc.constantFrom(...zones),
      at: fc.integer({ min: -2_208_988_800, max: 4_102_444_800 }).map((seconds) => seconds * 1_000),
    });
    fc.assert(
      fc.property(fc.oneof(near, far), ({ timezone, at }) => {
        expect(offsetAt(timezone, at)).toBe(intlWall(timezone, at) - at);
      }),
      { seed: SEED, numRuns: 3_000 },
    );
  });

  test('an offset changes at the very millisecond of the change', () => {
    for (const { timezone, at } of clockChanges) {
      expect(offsetAt(timezone, at - 1)).toBe(intlWall(timezone, at - 1_000) - (at - 1_000));
      expect(offsetAt(timezone, at)).toBe(intlWall(timezone, at) - at);
    }
  });

  test('names are written as the tz database does, and an alias stays', () => {
    const named = (timezone: string) => cron('0 9 * * *', timezone).timezone;
    expect(
      [
        'europe/madrid',
        'AMERICA/NEW_YORK',
        'europe/kyiv',
        'Asia/Kathmandu',
        'utc',
        'america/port-au-prince',
        'us/eastern',
      ].map(named),
    ).toEqual([
      'Europe/Madrid',
      'America/New_York',
      'Europe/Kyiv',
      'Asia/Kathmandu',
      'UTC',
      'America/Port-au-Prince',
      'US/Eastern',
    ]);
    expect([isTimezone('Europe/Madrid'), isTimezone('+01:00'), isTimezone('')]).toEqual([true, false, false]);
  });

  test('a wall time is told in minutes', () => {
    expect(wallText(Date.parse('2027-01-31T23:15:59Z'), 'Asia/Kathmandu')).toBe('2027-02-01 05:00');
  });
});

group('slots', () => {
  test('a one-off has one slot and then none', () => {
    const at = Date.parse('2027-01-31T08:00:00Z');
    expect([
      nextSlot(once('2027-01-31T09:00'), NOW),
      nextSlot(once('2027-01-31T09:00'), at),
      lastSlot(once('2027-01-31T09:00')),
    ]).toEqual([at, null, at]);
  });

  test('bounds take away what lies outside of them, and both ends belong to them', () => {
    const bounds = { startAt: Date.parse('2027-01-02T08:00:00Z'), until: Date.parse('2027-01-04T08:00:00Z') };
    const slots = nextSlots(cron('0 9 * * *'), NOW, { count: 9, bounds });
    expect(slots.map((slot) => new Date(slot).getUTCDate())).toEqual([2, 3, 4]);
    expect(isSlot(cron('0 9 * * *'), bounds.startAt - DAY_MS, bounds)).toBe(false);
  });

  test('a list of missed slots goes on where it was cut', () => {
    const inputs = [
      cron('*/20 1-3 * * *'),
      rrule('FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30;BYSECOND=0'),
      read({ kind: 'interval', interval: 'PT37M' }),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...inputs),
        fc.constantFrom(...interestingInstants),
        fc.integer({ min: 1, max: 9 }),
        (schedule, start, limit) => {
          const first = nextSlot(schedule, Math.max(start, NOW)) ?? 0;
          const through = first + 3 * DAY_MS;
          const all: number[] = [];
          let from: number | null = first;
          while (from !== null && from <= through) {
            const part: { slots: number[]; next: number | null } = slotsThrough(schedule, from, { through, limit });
            all.push(...part.slots);
            expect(part.next).toBe(nextSlot(schedule, part.slots.at(-1) ?? 0));
            from = part.next;
          }
          expect(all).toEqual(nextSlots(schedule, first - 1, { count: 10_000, upTo: through }));
        },
      ),
      { seed: SEED, numRuns: 100 },
    );
  });

  test('a list of missed slots is empty when the first one lies ahead, and null ends an exhausted schedule', () => {
    const at = Date.parse('2027-01-31T08:00:00Z');
    expect(slotsThrough(once('2027-01-31T09:00'), at, { through: at - 1, limit: 5 })).toEqual({ slots: [], next: at });
    expect(slotsThrough(once('2027-01-31T09:00'), at, { through: at, limit: 5 })).toEqual({ slots: [at], next: null });
  });

  test('least gaps are those of the clock', () => {
    const gaps = [
      cron('0 9 * * *'),
      cron('0 9 * * 1'),
      cron('50,10 * * * *'),
      cron('0 23,1 * * *'),
      rrule('FREQ=WEEKLY'),
      rrule('FREQ=MINUTELY;INTERVAL=5'),
      read({ kind: 'interval', interval: 'P1M' }),
    ];
    expect(gaps.map((schedule) => (minGapMs(schedule) ?? 0) / 60_000)).toEqual([
      1_440, 10_080, 20, 120, 10_080, 5, 40_320,
    ]);
    expect(minGapMs(once('2027-01-31T09:00'))).toBeNull();
  });

  test('a field of another kind is refused by name', () => {
    expect(() => read({ kind: 'cron', cron: '0 9 * * *', interval: 'PT5M' })).toThrow(/interval does not belong/);
  });
});

group('refusals', () => {
  test('name what is over, what never comes and what is too dense', () => {
    expect(reasons(once('2020-01-01T09:00'))).toEqual(['past']);
    expect(reasons(rrule('DTSTART:20200101T090000Z\nRRULE:FREQ=DAILY;COUNT=3'))).toEqual(['past']);
    expect(reasons(cron('0 0 30 2 *'))).toEqual(['never']);
    expect(reasons(once('9999-01-01T09:00'))).toEqual(['never']);
    expect(reasons(read({ kind: 'interval', interval: 'PT30S' }))).toEqual(['too_dense']);
    expect(reasons(rrule('FREQ=SECONDLY;INTERVAL=10'))).toEqual(['too_dense']);
    expect(reasons(cron('0 9 * * *'))).toEqual([]);
  });

  test('see a schedule that its bounds leave without a run', () => {
    expect(reasons(cron('0 9 1 * *'), { startAt: Date.UTC(2027, 0, 2), until: Date.UTC(2027, 0, 30) })).toEqual([
      'never',
    ]);
    expect(reasons(cron('0 9 1 * *'), { until: Date.UTC(2026, 0, 1) })).toEqual(['past']);
  });
});

group('warnings', () => {
  test('tell of days that some months do not have', () => {
    expect(codes(cron('0 9 31 * *'))).toEqual(['days_29_31']);
    expect(codes(cron('0 9 31 1,3 *'))).toEqual([]);
    expect(codes(cron('0 9 28,31 * *'))).toEqual([]);
    expect(codes(cron('0 9 L * *'))).toEqual([]);
    expect(codes(rrule('FREQ=MONTHLY;BYMONTHDAY=30'))).toEqual(['days_29_31']);
    expect(codes(rrule('DTSTART:20270131T090000Z\nRRULE:FREQ=MONTHLY'))).toEqual(['days_29_31']);
    expect(codes(rrule('DTSTART:20280229T090000Z\nRRULE:FREQ=YEARLY'))).toEqual(['days_29_31']);
    expect(codes(read({ kind: 'interval', interval: 'P1M', start_at: '2027-01-31T09:00' }))).toEqual(['days_29_31']);
    expect(codes(read({ kind: 'interval', interval: 'P1M', start_at: '2027-01-28T09:00' }))).toEqual([]);
  });

  test('tell of both day fields unless a + makes the meaning plain', () => {
    expect([codes(cron('0 9 13 * 5')), codes(cron('0 9 */2 * 5')), codes(cron('0 9 13 * +5'))]).toEqual([
      ['both_day_fields'],
      ['both_day_fields'],
      [],
    ]);
  });

  test('tell of a first run that is far away', () => {
    expect(codes(once('2032-01-01T09:00'))).toEqual(['far_first_run']);
    expect(codes(cron('0 9 29 2 +5'))).toContain('far_first_run');
  });

  test('tell what becomes of a time that the clocks will skip', () => {
    const told = (schedule: Schedule) => warnings(schedule, { now: NOW }).map(({ message }) => message);
    expect(told(cron('30 2 * * *'))).toEqual(['On 2027-03-28 02:30 does not exist; it will run at 03:00.']);
    expect(told(rrule('FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0'))).toEqual([
      'On 2027-03-28 02:30 does not exist; it will run at 03:30.',
    ]);
    expect(told(read({ kind: 'interval', interval: 'P1W', start_at: '2026-11-22T02:30' }))).toEqual([
      'On 2027-03-28 02:30 does not exist; it will run at 03:30.',
    ]);
    expect(told(cron('30 2 * * 1-6'))).toEqual([]);
    expect(told(cron('*/30 * * * *'))).toEqual([]);
    expect(told(cron('30 2 * * *', 'Asia/Tokyo'))).toEqual([]);
    expect(told(rrule('FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0;UNTIL=20270301'))).toEqual([]);
  });

  test('tell that a rule inside the day follows the clocks', () => {
    expect(codes(rrule('FREQ=HOURLY'))).toEqual(['subdaily_rrule']);
  });
});
