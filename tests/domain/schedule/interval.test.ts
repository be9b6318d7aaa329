import fc from 'fast-check';
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import { minGapMs, nextSlot, nextSlots, parseSchedule, type Schedule } from '../../../src/domain/schedule/schedule.ts';
import { DAY_MS, SEED, clockChanges, expectNext, intlWall, zones } from './oracle.ts';

const NOW = Date.parse('2026-11-18T09:00:00Z');

function every(interval: string, startAt: number, timezone = 'UTC'): Schedule {
  return parseSchedule({ kind: 'interval', interval, start_at: new Date(startAt).toISOString(), timezone }, NOW);
}

const part = (max: number) =>
  fc.oneof({ arbitrary: fc.constant(0), weight: 2 }, { arbitrary: fc.integer({ min: 1, max }), weight: 1 });
const parts = fc
  .record({ months: part(14), days: part(40), hours: part(30), minutes: part(100) })
  .filter((each) => Object.values(each).some((value) => value > 0));

function text({
  months,
  days,
  hours,
  minutes,
}: {
  months: number;
  days: number;
  hours: number;
  minutes: number;
}): string {
  const clock = `${hours > 0 ? `${hours}H` : ''}${minutes > 0 ? `${minutes}M` : ''}`;
  return `P${months > 0 ? `${months}M` : ''}${days > 0 ? `${days}D` : ''}${clock === '' ? '' : `T${clock}`}`;
}

test('slots are the anchor plus n durations, as a loop with luxon finds them in UTC', () => {
  const start = fc
    .integer({ min: Date.UTC(2019, 0, 1) / 60_000, max: Date.UTC(2027, 0, 1) / 60_000 })
    .map((minutes) => minutes * 60_000);
  fc.assert(
    fc.property(
      parts,
      start,
      fc.integer({ min: -DAY_MS * 30, max: DAY_MS * 2_000 }),
      ({ months, days, hours, minutes }, anchor, later) => {
        const from = DateTime.fromMillis(anchor, { zone: 'utc' });
        const at = (n: number) =>
          from
            .plus({ months: n * months })
            .plus({ days: n * days, hours: n * hours, minutes: n * minutes })
            .toMillis();
        const after = anchor + later;
        // The loop starts a little before an estimate, because from the anchor it would take long for short durations.
        let n = Math.max(
          0,
          Math.floor(later / (months * 31 * DAY_MS + days * DAY_MS + hours * 3_600_000 + minutes * 60_000)) - 2,
        );
        while (at(n) <= after) n += 1;
        const schedule = every(text({ months, days, hours, minutes }), anchor);
        expect(nextSlots(schedule, after, { count: 3 })).toEqual([at(n), at(n + 1), at(n + 2)]);
        expect(minGapMs(schedule) ?? 0).toBeLessThanOrEqual(at(n + 1) - at(n));
      },
    ),
    { seed: SEED, numRuns: 1_500 },
  );
});

test('the calendar part keeps the wall time of the anchor in every zone, moved only where the clocks skip it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...clockChanges),
      fc.integer({ min: 0, max: 1_439 }),
      fc.constantFrom('P1D', 'P1W', 'P1M'),
      ({ timezone, at }, minute, interval) => {
        const day = Math.floor(at / DAY_MS) * DAY_MS - 35 * DAY_MS;
        const schedule = every(interval, day + minute * 60_000, timezone);
        const time = intlWall(timezone, day + minute * 60_000) % DAY_MS;
        for (const slot of nextSlots(schedule, at - 3 * DAY_MS, { count: 6 })) {
          const wall = intlWall(timezone, slot);
          const moved = (((wall - time) % DAY_MS) + DAY_MS) % DAY_MS;
          if (moved !== 0) expect(intlWall(timezone, slot - moved)).not.toBe(wall - moved);
        }
      },
    ),
    { seed: SEED, numRuns: 400 },
  );
});

test('the next slot lies after the instant and no other slot lies between them', () => {
  fc.assert(
    fc.property(
      parts,
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 9_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (duration, timezone, days, share) => {
        const schedule = every(text(duration), Date.UTC(2005, 0, 31, 2, 30), timezone);
        expectNext(schedule, Date.UTC(2005, 0, 1) + days * DAY_MS, share);
      },
    ),
    { seed: SEED, numRuns: 800 },
  );
});

test('an anchor in the second pass of an overlap is itself the first slot', () => {
  const second = Date.parse('2027-10-31T01:30:00Z');
  const schedule = every('P1D', second, 'Europe/Madrid');
  expect(nextSlots(schedule, 0, { count: 2 })).toEqual([second, Date.parse('2027-11-01T01:30:00Z')]);
});

test('month ends are clamped from the anchor and never drift', () => {
  const slots = nextSlots(every('P1M', Date.UTC(2027, 0, 31, 9)), 0, { count: 4 }).map((slot) =>
    new Date(slot).toISOString().slice(0, 10),
  );
  expect(slots).toEqual(['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30']);
});

test('an interval without a start is anchored at now and runs first one duration later', () => {
  const schedule = parseSchedule({ kind: 'interval', interval: 'PT15M', timezone: 'UTC' }, NOW);
  expect(schedule).toMatchObject({ startAt: NOW, from: 'start' });
  expect(nextSlot(schedule, NOW)).toBe(NOW + 900_000);
});

test('a delay after completion counts from the instant given and begins with its start', () => {
  const schedule = parseSchedule(
    { kind: 'interval', interval: 'PT2H', start_at: '2027-01-01T09:00Z', from: 'completion', timezone: 'UTC' },
    NOW,
  );
  const start = Date.UTC(2027, 0, 1, 9);
  expect(nextSlot(schedule, NOW)).toBe(start);
  expect(nextSlot(schedule, start + 777)).toBe(start + 777 + 7_200_000);
  expect(nextSlot(schedule, start, { startAt: start + DAY_MS })).toBe(start + DAY_MS);
});
