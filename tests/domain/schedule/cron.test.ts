import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { minGapMs, nextSlot, nextSlots, parseSchedule, type Schedule } from '../../../src/domain/schedule/schedule.ts';
import {
  DAY_MS,
  SEED,
  clockChanges,
  cronerNext,
  expectNext,
  interestingInstants,
  intlWall,
  scanMinutes,
  zones,
} from './oracle.ts';

function cron(text: string, timezone = 'UTC'): Schedule {
  return parseSchedule({ kind: 'cron', cron: text, timezone }, 0);
}

interface FieldRange {
  readonly low: number;
  readonly high: number;
  readonly stepMax: number;
}

function plain({ low, high }: FieldRange): fc.Arbitrary<string> {
  return fc.integer({ min: low, max: high }).map(String);
}

function item(range: FieldRange): fc.Arbitrary<string> {
  const ends = fc.tuple(
    fc.integer({ min: range.low, max: range.high }),
    fc.integer({ min: range.low, max: range.high }),
  );
  const span = ends.map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: range.stepMax }).map(String);
  return fc.oneof(
    { arbitrary: plain(range), weight: 4 },
    { arbitrary: span, weight: 2 },
    { arbitrary: fc.tuple(fc.constant('*'), step).map((parts) => parts.join('/')), weight: 2 },
    { arbitrary: fc.tuple(span, step).map((parts) => parts.join('/')), weight: 1 },
  );
}

function field(range: FieldRange): fc.Arbitrary<string> {
  return fc.oneof(
    { arbitrary: fc.constant('*'), weight: 3 },
    { arbitrary: plain(range), weight: 3 },
    { arbitrary: fc.array(plain(range), { minLength: 1, maxLength: 4 }).map((items) => items.join(',')), weight: 2 },
    { arbitrary: fc.array(item(range), { minLength: 1, maxLength: 3 }).map((items) => items.join(',')), weight: 3 },
  );
}

const minute = field({ low: 0, high: 59, stepMax: 60 });
const hour = field({ low: 0, high: 23, stepMax: 24 });
const month = fc.oneof(
  { arbitrary: fc.constant('*'), weight: 5 },
  { arbitrary: field({ low: 1, high: 12, stepMax: 12 }), weight: 2 },
  { arbitrary: fc.constantFrom('jan', 'FEB-jun', 'Mar,oct', 'dec'), weight: 1 },
);
const special = fc.constantFrom('L', 'LW', '15W', '1W,31W', 'L,3', '31', '29-31', '30W');
const day = fc.oneof(
  { arbitrary: fc.constant('*'), weight: 4 },
  { arbitrary: field({ low: 1, high: 31, stepMax: 31 }), weight: 2 },
  { arbitrary: special, weight: 1 },
);
const named = fc.constantFrom(
  '5L',
  '1#2',
  '5#L',
  '1-3#2',
  'MON-FRI',
  'sun',
  'fri-sun',
  'MON#1,THU#3',
  '2L,6',
  '*/2#3',
  '7',
  '+5',
  '+1-5',
  '5#5',
  '?',
);
const weekday = fc.oneof(
  { arbitrary: fc.constant('*'), weight: 4 },
  { arbitrary: field({ low: 0, high: 7, stepMax: 7 }), weight: 2 },
  { arbitrary: named, weight: 2 },
);
const expression = fc.tuple(minute, hour, day, month, weekday).map((fields) => fields.join(' '));
const moment = fc
  .tuple(fc.constantFrom(...interestingInstants), fc.integer({ min: 0, max: 72 * 3_600 }))
  .map(([instant, seconds]) => instant + seconds * 1_000);

test('cron agrees with croner on every kind of expression, in every zone, around changes of the clocks', () => {
  fc.assert(
    fc.property(expression, fc.constantFrom(...zones), moment, (text, timezone, after) => {
      expect(nextSlot(cron(text, timezone), after)).toBe(cronerNext(text, timezone, after));
    }),
    { seed: SEED, numRuns: 4_000 },
  );
});

test('cron agrees with croner slot by slot through a change of the clocks', () => {
  const rhythm = fc
    .tuple(minute, fc.oneof(hour, fc.constantFrom('0-3', '1,2', '2', '1', '23', '*', '0', '*/2')))
    .map(([minutes, hours]) => `${minutes} ${hours} * * *`);
  fc.assert(
    fc.property(
      rhythm,
      fc.constantFrom(...clockChanges),
      fc.integer({ min: -9_000, max: 9_000 }),
      (text, { timezone, at }, seconds) => {
        let expected = at + seconds * 1_000;
        for (const slot of nextSlots(cron(text, timezone), expected, { count: 4 })) {
          expected = cronerNext(text, timezone, expected) ?? 0;
          expect(slot, text).toBe(expected);
        }
      },
    ),
    { seed: SEED, numRuns: 1_000 },
  );
});

test('a rhythm runs at exactly the minutes whose local time matches, in both passes of an overlap and not in a gap', () => {
  const step = fc.constantFrom(5, 7, 10, 15, 20, 30);
  const hours = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 4, max: 23 }));
  fc.assert(
    fc.property(step, hours, fc.constantFrom(...clockChanges), (every, [low, high], { timezone, at }) => {
      const schedule = cron(`*/${every} ${low}-${high} * * *`, timezone);
      const passes = (wall: number) => {
        const shown = new Date(wall);
        return shown.getUTCMinutes() % every === 0 && shown.getUTCHours() >= low && shown.getUTCHours() <= high;
      };
      const from = at - 6 * 3_600_000;
      const expected = scanMinutes({ timezone, from, hours: 30 }, passes);
      expect(nextSlots(schedule, from, { count: 1_000, upTo: from + 30 * 3_600_000 })).toEqual(expected);
    }),
    { seed: SEED, numRuns: 60 },
  );
});

test('a fixed time runs once on each local date, also where the clocks skip it or show it twice', () => {
  const zone = fc.constantFrom(...zones.filter((name) => name !== 'Pacific/Apia'));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), zone, (hours, minutes, timezone) => {
      const slots = nextSlots(cron(`${minutes} ${hours} * * *`, timezone), Date.UTC(2026, 0, 5, 12), { count: 400 });
      const dates = slots.map((slot) => Math.floor(intlWall(timezone, slot) / DAY_MS));
      expect(dates.slice(1).every((date, index) => date === (dates[index] ?? 0) + 1)).toBe(true);
    }),
    { seed: SEED, numRuns: 60 },
  );
});

test('the next slot lies after the instant and no other slot lies between them', () => {
  fc.assert(
    fc.property(
      expression,
      fc.constantFrom(...zones),
      moment,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (text, timezone, after, part) => expectNext(cron(text, timezone), after, part),
    ),
    { seed: SEED, numRuns: 1_500 },
  );
});

test('the least gap equals what a walk over the slots finds', () => {
  const days = fc.constantFrom(
    '* * *',
    '* * 1-5',
    '* * 1',
    '1 * *',
    '*/2 * *',
    '1,15 * 5',
    'L * *',
    '1 1,2 *',
    '* * 0,6',
    '31 * *',
    '* * 1#1,1#2',
  );
  const times = fc.tuple(minute, hour).map((fields) => fields.join(' '));
  fc.assert(
    fc.property(times, days, (time, date) => {
      const schedule = cron(`${time} ${date}`);
      let previous: number | null = null;
      let least = Number.POSITIVE_INFINITY;
      for (const slot of nextSlots(schedule, Date.UTC(2001, 0, 1) - 1, { count: 3_000 })) {
        if (previous !== null) least = Math.min(least, slot - previous);
        previous = slot;
      }
      const claimed = minGapMs(schedule) ?? 0;
      expect(claimed).toBeLessThanOrEqual(least);
      expect(claimed === least || slotsApart(schedule, claimed)).toBe(true);
    }),
    { seed: SEED, numRuns: 300 },
  );
});

/** Looks farther for two slots at the claimed distance than a list can. */
function slotsApart(schedule: Schedule, gap: number): boolean {
  let slot = nextSlot(schedule, Date.UTC(2001, 0, 1) - 1);
  for (let walked = 0; slot !== null && walked < 200_000; walked += 1) {
    const next: number | null = nextSlot(schedule, slot);
    if (next !== null && next - slot === gap) return true;
    slot = next;
  }
  return false;
}

test('what croner refuses in five fields is refused here as well', () => {
  const noise = fc.string({ unit: fc.constantFrom(...'0123456789*/-,#LWw+?MONmon '), minLength: 1, maxLength: 14 });
  fc.assert(
    fc.property(fc.tuple(noise, fc.constantFrom(0, 1, 2, 3, 4)), ([text, place]) => {
      const fields = ['0', '9', '*', '*', '*'];
      fields[place] = text.replaceAll(' ', '') || '*';
      const pattern = fields.join(' ');
      if (accepts(() => cron(pattern)))
        expect(
          accepts(() => new Cron(pattern, { paused: true, mode: '5-part' })),
          pattern,
        ).toBe(true);
    }),
    { seed: SEED, numRuns: 4_000 },
  );
});

function accepts(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

describe('a cron with both day fields', () => {
  test('runs when either of them matches', () => {
    const slots = nextSlots(cron('0 0 13 * 5'), Date.UTC(2026, 10, 1), { count: 5 }).map((slot) =>
      new Date(slot).getUTCDate(),
    );
    expect(slots).toEqual([6, 13, 20, 27, 4]);
  });

  test('runs only when both match once a + stands before the weekday', () => {
    const slots = nextSlots(cron('0 0 13 * +5'), Date.UTC(2026, 0, 1), { count: 3 }).map((slot) =>
      new Date(slot).toISOString().slice(0, 10),
    );
    expect(slots).toEqual(['2026-02-13', '2026-03-13', '2026-11-13']);
  });
});
