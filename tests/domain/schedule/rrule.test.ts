import { createRequire } from 'node:module';
import fc from 'fast-check';
import type { rrulestr as parseRules } from 'rrule';
import { describe, expect, test } from 'vitest';
import {
  lastSlot,
  minGapMs,
  nextSlot,
  nextSlots,
  parseSchedule,
  type Schedule,
} from '../../../src/domain/schedule/schedule.ts';
import { DAY_MS, SEED, clockChanges, expectNext, interestingInstants, intlWall, zones } from './oracle.ts';

// The package is CommonJS and tells ECMAScript imports nothing about its names.
const { rrulestr } = createRequire(import.meta.url)('rrule') as { rrulestr: typeof parseRules };

const START = Date.UTC(2021, 2, 3, 9, 30, 15);

function rrule(text: string, timezone = 'UTC', now = START): Schedule {
  return parseSchedule({ kind: 'rrule', rrule: text, timezone }, now);
}

function ical(wall: number): string {
  return new Date(wall).toISOString().replace(/[-:]|\.\d{3}Z/g, '');
}

function some(values: readonly (number | string)[], max: number): fc.Arbitrary<string> {
  const items = fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: max });
  return items.map((chosen) => chosen.toSorted((a, b) => Number(a) - Number(b)).join(','));
}

function range(low: number, high: number): number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => low + index);
}

const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const monthDays = [...range(1, 31), -1, -2, -30, -31];
/** The package wants a numbered weekday to be among the plain ones of its list as well, so each list has one sort. */
const someDays = fc.oneof(some(weekdays, 3), some(['1MO', '2TU', '-1FR', '-2SU', '3WE', '5TH', '-5MO'], 3));

type Parts = Record<string, fc.Arbitrary<string | undefined>>;

function maybe(value: fc.Arbitrary<string>): fc.Arbitrary<string | undefined> {
  return fc.option(value, { nil: undefined, freq: 2 });
}

const times: Parts = {
  BYHOUR: maybe(some(range(0, 23), 3)),
  BYMINUTE: maybe(some(range(0, 59), 3)),
  BYSECOND: maybe(some([0, 15, 59], 2)),
  INTERVAL: maybe(fc.constantFrom('1', '2', '3', '5', '7')),
  WKST: maybe(fc.constantFrom('MO', 'SU', 'WE')),
};

const byFrequency: Record<string, Parts> = {
  DAILY: {
    BYMONTH: maybe(some(range(1, 12), 4)),
    BYMONTHDAY: maybe(some(monthDays, 6)),
    BYDAY: maybe(some(weekdays, 4)),
  },
  WEEKLY: { BYMONTH: maybe(some(range(1, 12), 6)), BYDAY: maybe(some(weekdays, 4)) },
  MONTHLY: {
    BYMONTH: maybe(some(range(1, 12), 4)),
    BYMONTHDAY: maybe(some(monthDays, 4)),
    BYDAY: maybe(someDays),
  },
  YEARLY: {
    BYMONTH: maybe(some(range(1, 12), 3)),
    BYMONTHDAY: maybe(some(monthDays, 3)),
    BYYEARDAY: maybe(some([1, 60, 100, 366, -1, -366, -100], 3)),
    BYDAY: maybe(someDays),
  },
};

function text(parts: Record<string, string | undefined>): string {
  return Object.entries(parts)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${value ?? ''}`)
    .join(';');
}

const calendarRule = fc
  .constantFrom(...Object.keys(byFrequency))
  .chain((frequency) => fc.record({ FREQ: fc.constant(frequency), ...byFrequency[frequency], ...times }))
  .map((parts) => text(parts));

/** The package gives up only after 9999, so a rule that never matches costs it seconds; those are left to other tests. */
function packageSlots(body: string, start: number, after: number): number[] {
  const until = after + 6 * 366 * DAY_MS;
  const rule = rrulestr(`DTSTART:${ical(start)}Z\nRRULE:${body};UNTIL=${ical(until)}Z`);
  // Two positions may name one run, of which the package tells twice.
  const found = new Set<number>();
  rule.between(new Date(after), new Date(until), false, (date) => {
    found.add(date.getTime());
    return found.size < 12;
  });
  return [...found].slice(0, 12);
}

test('rules of whole days agree with the rrule package in UTC', () => {
  fc.assert(
    fc.property(
      calendarRule,
      fc.integer({ min: 0, max: 900 * 86_400 }),
      fc.integer({ min: 0, max: 730 }),
      (body, seconds, days) => {
        const after = START + seconds * 1_000;
        const start = START + days * DAY_MS;
        const schedule = rrule(`DTSTART:${ical(start)}Z\nRRULE:${body}`);
        fc.pre(nextSlot(schedule, after) !== null);
        const slots = nextSlots(schedule, after, { count: 12, upTo: after + 6 * 366 * DAY_MS });
        expect(slots, body).toEqual(packageSlots(body, start, after));
      },
    ),
    { seed: SEED, numRuns: 1_200 },
  );
});

test('positions inside whole periods agree with the rrule package', () => {
  const positions = maybe(fc.constantFrom('1', '-1', '2', '1,-1', '-1,3', '4'));
  const days = some(weekdays, 7);
  const rule = fc
    .record({
      FREQ: fc.constantFrom('MONTHLY', 'YEARLY'),
      BYDAY: days,
      BYSETPOS: positions,
      BYHOUR: maybe(some(range(0, 23), 3)),
      INTERVAL: maybe(fc.constantFrom('1', '2')),
    })
    .map((parts) => text(parts));
  const start = Date.UTC(2021, 0, 1, 9, 30, 15);
  fc.assert(
    fc.property(rule, fc.integer({ min: 0, max: 900 }), (body, later) => {
      const after = start + later * DAY_MS;
      const schedule = rrule(`DTSTART:${ical(start)}Z\nRRULE:${body}`);
      fc.pre(nextSlot(schedule, after) !== null);
      const slots = nextSlots(schedule, after, { count: 12, upTo: after + 6 * 366 * DAY_MS });
      expect(slots, body).toEqual(packageSlots(body, start, after));
    }),
    { seed: SEED, numRuns: 200 },
  );
});

/** A week has the number and the year of its fourth day. */
function weekOf(day: number, weekStart: number): { number: number; fromEnd: number } {
  const weekday = new Date(day * DAY_MS).getUTCDay();
  const fourth = day - ((weekday - weekStart + 7) % 7) + 3;
  const year = new Date(fourth * DAY_MS).getUTCFullYear();
  const ofYear = fourth - Date.UTC(year, 0, 1) / DAY_MS;
  const left = Date.UTC(year, 11, 31) / DAY_MS - fourth;
  return { number: Math.floor(ofYear / 7) + 1, fromEnd: -Math.floor(left / 7) - 1 };
}

test('numbered weeks are those whose fourth day counts them in its year', () => {
  const weeks = fc.uniqueArray(fc.constantFrom<number>(1, 2, 20, 52, 53, -1, -2, -30, -53), {
    minLength: 1,
    maxLength: 3,
  });
  const days = fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      weeks,
      days,
      fc.constantFrom(0, 1, 4),
      fc.integer({ min: 0, max: 9_000 }),
      (numbers, on, weekStart, later) => {
        const name = (index: number) => weekdays[(index + 6) % 7] ?? '';
        const body = `FREQ=YEARLY;BYWEEKNO=${numbers.join()};BYDAY=${on.map(name).join()};WKST=${name(weekStart)}`;
        const first = Date.UTC(2015, 0, 1) / DAY_MS + later;
        const expected = range(first, first + 2_200)
          .filter((day) => on.includes(new Date(day * DAY_MS).getUTCDay()))
          .filter(
            (day) =>
              numbers.includes(weekOf(day, weekStart).number) || numbers.includes(weekOf(day, weekStart).fromEnd),
          )
          .map((day) => day * DAY_MS);
        const schedule = rrule(`DTSTART:${ical(first * DAY_MS)}Z\nRRULE:${body}`);
        expect(nextSlots(schedule, 0, { count: 1_000, upTo: (first + 2_200) * DAY_MS }), body).toEqual(expected);
      },
    ),
    { seed: SEED, numRuns: 150 },
  );
});

interface SubDaily {
  readonly unit: number;
  readonly interval: number;
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly weekdays: readonly number[];
}

/** The definition itself, second by second would be too slow, so minute by minute. */
function bruteForce(rule: SubDaily, start: number, span: { after: number; hours: number }): number[] {
  const found: number[] = [];
  const base = Math.floor(start / rule.unit) * rule.unit;
  for (
    let wall = Math.ceil((span.after + 1) / 60_000) * 60_000;
    wall <= span.after + span.hours * 3_600_000;
    wall += 60_000
  ) {
    const at = new Date(wall);
    const period = (Math.floor(wall / rule.unit) * rule.unit - base) / rule.unit;
    const ownMinutes =
      rule.unit === 3_600_000 && rule.minutes.length === 0 ? [new Date(start).getUTCMinutes()] : rule.minutes;
    const passes =
      wall >= start &&
      period % rule.interval === 0 &&
      (rule.hours.length === 0 || rule.hours.includes(at.getUTCHours())) &&
      (ownMinutes.length === 0 || ownMinutes.includes(at.getUTCMinutes())) &&
      (rule.weekdays.length === 0 || rule.weekdays.includes(at.getUTCDay()));
    if (passes) found.push(wall);
  }
  return found;
}

test('rules inside the day agree with a scan of every minute', () => {
  const rule = fc.record({
    unit: fc.constantFrom(60_000, 3_600_000),
    interval: fc.constantFrom(1, 2, 3, 5, 7, 25, 36, 90),
    hours: fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { maxLength: 3 }),
    minutes: fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { maxLength: 3 }),
    weekdays: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 3 }),
  });
  const start = Date.UTC(2021, 2, 3, 9, 30);
  fc.assert(
    fc.property(rule, fc.integer({ min: -50_000, max: 600_000 }), (parts, minutes) => {
      const names = parts.weekdays.map((index) => weekdays[(index + 6) % 7]);
      const body = text({
        FREQ: parts.unit === 60_000 ? 'MINUTELY' : 'HOURLY',
        INTERVAL: String(parts.interval),
        BYHOUR: parts.hours.join() || undefined,
        BYMINUTE: parts.minutes.join() || undefined,
        BYDAY: names.join() || undefined,
      });
      const after = start + minutes * 60_000;
      const schedule = rrule(`DTSTART:${ical(start)}Z\nRRULE:${body}`);
      const span = { after, hours: 24 * 9 };
      const expected = bruteForce(parts, start, span);
      expect(
        nextSlots(schedule, after, { count: 10_000, upTo: after + span.hours * 3_600_000 }).slice(0, 3_000),
        body,
      ).toEqual(expected.slice(0, 3_000));
      const gap = minGapMs(schedule) ?? Number.POSITIVE_INFINITY;
      const gaps = expected.slice(1).map((slot, index) => slot - (expected[index] ?? 0));
      expect(gap, body).toBeLessThanOrEqual(Math.min(Number.POSITIVE_INFINITY, ...gaps));
    }),
    { seed: SEED, numRuns: 250 },
  );
});

test('the least gap of a rule of whole days is what a walk finds', () => {
  fc.assert(
    fc.property(calendarRule, (body) => {
      const schedule = rrule(`DTSTART:${ical(START)}Z\nRRULE:${body}`);
      const slots = nextSlots(schedule, START - 1, { count: 1_500 });
      const gaps = slots.slice(1).map((slot, index) => slot - (slots[index] ?? 0));
      const least = Math.min(Number.POSITIVE_INFINITY, ...gaps);
      const claimed = minGapMs(schedule) ?? Number.POSITIVE_INFINITY;
      // A century without a leap day shortens a gap of years by a day, which is nothing to guard against.
      fc.pre(least < 366 * DAY_MS);
      expect(claimed, body).toBeLessThanOrEqual(least);
      const span = (slots.at(-1) ?? START) - START;
      if (span > 60 * 366 * DAY_MS || least < 2 * DAY_MS) expect(claimed, body).toBe(least);
    }),
    { seed: SEED, numRuns: 250 },
  );
});

test('a daily rule of a zone shows its wall time on every date, moved only where the clocks skip it', () => {
  const moment = fc.tuple(fc.constantFrom(...interestingInstants), fc.integer({ min: 0, max: 86_399 }));
  fc.assert(
    fc.property(moment, fc.constantFrom(...zones), ([instant, second], timezone) => {
      const start = Math.floor(instant / DAY_MS) * DAY_MS + second * 1_000;
      const schedule = rrule(`DTSTART;TZID=${timezone}:${ical(start)}\nRRULE:FREQ=DAILY`, timezone);
      for (const slot of nextSlots(schedule, instant - 2 * DAY_MS, { count: 5 })) {
        const wall = intlWall(timezone, slot);
        const moved = (wall - start) % DAY_MS;
        if (moved !== 0) expect(intlWall(timezone, slot - moved)).not.toBe(wall - moved);
        else expect(intlWall(timezone, slot - 3_600_000)).not.toBe(wall);
      }
    }),
    { seed: SEED, numRuns: 600 },
  );
});

test('the next slot lies after the instant and no other slot lies between them, in every zone', () => {
  const subDaily = fc
    .record({
      FREQ: fc.constantFrom('HOURLY', 'MINUTELY', 'SECONDLY'),
      INTERVAL: fc.integer({ min: 1, max: 100 }).map(String),
      BYHOUR: maybe(some(range(0, 5), 3)),
      BYDAY: maybe(some(weekdays, 3)),
    })
    .map((parts) => text(parts));
  const after = fc.tuple(fc.constantFrom(...interestingInstants), fc.integer({ min: 0, max: 72 * 3_600 }));
  fc.assert(
    fc.property(
      fc.oneof(calendarRule, subDaily),
      fc.constantFrom(...zones),
      after,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (body, timezone, [instant, seconds], part) => {
        expectNext(rrule(body, timezone, Date.UTC(2010, 0, 1, 2, 30)), instant + seconds * 1_000, part);
      },
    ),
    { seed: SEED, numRuns: 1_000 },
  );
});

test('the stored text reads back as the same slots', () => {
  fc.assert(
    fc.property(calendarRule, fc.constantFrom(...zones), fc.integer({ min: 1, max: 40 }), (body, timezone, count) => {
      const counted = rrule(`${body};COUNT=${count}`, timezone);
      const open = rrule(body, timezone);
      const expected = nextSlots(open, START - 400 * DAY_MS, { count });
      const slots = nextSlots(counted, START - 400 * DAY_MS, { count: count + 5 });
      expect(slots, body).toEqual(expected);
      if (expected.length > 0) expect(lastSlot(counted)).toBe(expected.at(-1));
      expect(rrule(counted.kind === 'rrule' ? counted.rrule : '', timezone)).toEqual(counted);
    }),
    { seed: SEED, numRuns: 250 },
  );
});

test('a count inside the day ends at the same run, whichever pass of a doubled hour that is', () => {
  const body = fc.constantFrom(
    'FREQ=HOURLY;BYMINUTE=0,30',
    'FREQ=MINUTELY;INTERVAL=20;BYHOUR=0,1,2',
    'FREQ=HOURLY;BYHOUR=1,2',
    'FREQ=HOURLY',
  );
  fc.assert(
    fc.property(
      body,
      fc.constantFrom(...clockChanges),
      fc.integer({ min: 1, max: 130 }),
      (rule, { timezone, at }, count) => {
        const begin = at - 2 * DAY_MS;
        const counted = rrule(`${rule};COUNT=${count}`, timezone, begin);
        const expected = nextSlots(rrule(rule, timezone, begin), 0, { count });
        expect(nextSlots(counted, 0, { count: count + 5 }), rule).toEqual(expected);
      },
    ),
    { seed: SEED, numRuns: 400 },
  );
});

describe('a rule', () => {
  test('keeps the wall time of now as its start, to the minute when it names none', () => {
    const schedule = rrule('FREQ=DAILY', 'Europe/Madrid', Date.parse('2026-11-18T08:15:40.700Z'));
    expect(schedule).toEqual({
      kind: 'rrule',
      timezone: 'Europe/Madrid',
      rrule: 'DTSTART;TZID=Europe/Madrid:20261118T091500\nRRULE:FREQ=DAILY',
    });
  });

  test('is read from folded lines in any order', () => {
    const schedule = rrule(
      'EXDATE;TZID=Europe/Madrid:20270102T090000\r\nRRULE:FREQ=DAILY;\r\n BYHOUR=9;COUNT=3\r\nDTSTART;TZID=Europe/Madrid:20270101T090000\r\nRDATE:20270110T120000Z\r\n',
      'Europe/Madrid',
    );
    const slots = nextSlots(schedule, 0, { count: 9 }).map((slot) => new Date(slot).toISOString());
    expect(slots).toEqual(['2027-01-01T08:00:00.000Z', '2027-01-03T08:00:00.000Z', '2027-01-10T12:00:00.000Z']);
    expect(lastSlot(schedule)).toBe(Date.parse('2027-01-10T12:00:00Z'));
  });

  test('does not run at a start that it does not match', () => {
    const schedule = rrule('DTSTART:20270101T090000Z\nRRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=2');
    expect(nextSlots(schedule, 0, { count: 5 })).toEqual([Date.UTC(2027, 0, 4, 9), Date.UTC(2027, 0, 11, 9)]);
  });

  test('takes the set of the whole first week for BYSETPOS, also when it begins in its middle', () => {
    const schedule = rrule('DTSTART:20270106T090000Z\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2');
    expect(nextSlots(schedule, 0, { count: 2 })).toEqual([Date.UTC(2027, 0, 6, 9), Date.UTC(2027, 0, 13, 9)]);
    const first = rrule('DTSTART:20270106T090000Z\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1');
    expect(nextSlots(first, 0, { count: 1 })).toEqual([Date.UTC(2027, 0, 11, 9)]);
  });

  test('leaves out every run of a whole day that EXDATE names', () => {
    const schedule = rrule(
      'DTSTART:20270101T000000Z\nRRULE:FREQ=HOURLY;INTERVAL=6\nEXDATE;VALUE=DATE:20270101,20270102',
    );
    expect(nextSlot(schedule, 0)).toBe(Date.UTC(2027, 0, 3));
  });

  test('ends with the last moment of a day that UNTIL names', () => {
    const schedule = rrule(
      'DTSTART;TZID=Asia/Kathmandu:20270101T233000\nRRULE:FREQ=DAILY;UNTIL=20270102',
      'Asia/Kathmandu',
    );
    expect(nextSlots(schedule, 0, { count: 5 })).toHaveLength(2);
  });

  test('that names only a step keeps to elapsed time through a change of the clocks', () => {
    const schedule = rrule('DTSTART;TZID=Europe/Madrid:20270327T230000\nRRULE:FREQ=HOURLY;INTERVAL=2', 'Europe/Madrid');
    const slots = nextSlots(schedule, 0, { count: 6 });
    expect(slots.slice(1).map((slot, index) => slot - (slots[index] ?? 0))).toEqual([
      7_200_000, 7_200_000, 7_200_000, 7_200_000, 7_200_000,
    ]);
  });

  test('that names hours keeps to the clock, skips what a gap skips and runs in both passes of an overlap', () => {
    const spring = rrule('DTSTART;TZID=Europe/Madrid:20270327T000000\nRRULE:FREQ=HOURLY;BYHOUR=2', 'Europe/Madrid');
    expect(nextSlots(spring, Date.parse('2027-03-27T12:00:00Z'), { count: 1 })).toEqual([
      Date.parse('2027-03-29T00:00:00Z'),
    ]);
    const autumn = rrule('DTSTART;TZID=Europe/Madrid:20271030T000000\nRRULE:FREQ=HOURLY;BYHOUR=2', 'Europe/Madrid');
    expect(nextSlots(autumn, Date.parse('2027-10-30T12:00:00Z'), { count: 2 })).toEqual([
      Date.parse('2027-10-31T00:00:00Z'),
      Date.parse('2027-10-31T01:00:00Z'),
    ]);
  });

  test('that can never match is told at once', () => {
    expect(nextSlot(rrule('FREQ=HOURLY;INTERVAL=2;BYHOUR=1', 'UTC', Date.UTC(2026, 0, 1)), 0)).toBeNull();
    expect(nextSlot(rrule('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'), START)).toBeNull();
    expect(nextSlot(rrule('FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31'), START)).toBeNull();
    expect(nextSlot(rrule('FREQ=YEARLY;INTERVAL=999999999'), START)).toBeNull();
  });

  test('counts a date that RDATE adds close to a run in its least gap', () => {
    expect(minGapMs(rrule('DTSTART:20270101T090000Z\nRRULE:FREQ=DAILY\nRDATE:20270105T090020Z'))).toBe(20_000);
  });
});
