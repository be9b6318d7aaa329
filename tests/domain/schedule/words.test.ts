import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cadence, describe, nextSlots, parseSchedule, type Schedule } from '../../../src/domain/schedule/schedule.ts';
import { nth } from '../../../src/domain/schedule/words/words.ts';
import { SEED } from './oracle.ts';

const NOW = Date.parse('2026-11-18T09:00:00Z');

const cronFields = [
  ['*', '0', '15', '*/15', '5-59/15', '*/7', '0,30', '0-10', '59', '*/30', '1,2,3,4,5,6,7,8,9'],
  ['*', '0', '9', '9-17', '*/2', '1-23/2', '*/5', '9,17', '8-12,14-18', '1,3,5,7,9', '0-22', '*/12'],
  ['*', '1', '1-7', '1,15', 'L', 'LW', '15W', '*/2', '31', '2W,L'],
  ['*', '1', '1-3', '6,12', '*/3'],
  ['*', '1-5', '0,6', '1', '1#1', '5L', '+1', '1#1,1#3', '2-6', '+1-5'],
];

const rruleParts: Record<string, string[]> = {
  FREQ: ['DAILY', 'MONTHLY', 'YEARLY', 'HOURLY', 'MINUTELY'],
  INTERVAL: ['', '2', '3', '10'],
  BYMONTH: ['', '1', '6,7'],
  BYMONTHDAY: ['', '1', '-1', '1,15', '-2'],
  BYDAY: ['', 'MO', 'MO,TU,WE,TH,FR', 'SU'],
  BYHOUR: ['', '9', '9,12', '0,1,2,3,4,5,6,7,8,9,10,11,12,13'],
  BYMINUTE: ['', '0', '0,30', '15'],
  BYSECOND: ['', '0', '30'],
  UNTIL: ['', '20280101', '20280101T090000', '20280101T090000Z'],
};

function runs(schedule: Schedule): string {
  return nextSlots(schedule, Date.UTC(2026, 0, 1), { count: 400 }).join();
}

/** Two schedules that run at different times must not read alike: then neither has lost a fact. */
function expectDistinct(one: Schedule, other: Schedule): void {
  if (runs(one) !== runs(other)) expect(describe(one)).not.toBe(describe(other));
}

test('two cron expressions that run at different times are described differently', () => {
  const index = fc.nat({ max: 11 });
  fc.assert(
    fc.property(fc.tuple(index, index, index, index, index), fc.nat({ max: 4 }), index, (choice, changed, value) => {
      const text = (choices: readonly number[]) =>
        cronFields.map((options, field) => options[(choices[field] ?? 0) % options.length]).join(' ');
      const schedule = (choices: readonly number[]) =>
        parseSchedule({ kind: 'cron', cron: text(choices), timezone: 'UTC' }, NOW);
      expectDistinct(schedule(choice), schedule(choice.map((old, field) => (field === changed ? value : old))));
    }),
    { seed: SEED, numRuns: 1_500 },
  );
});

test('two rules that run at different times are described differently', () => {
  const keys = Object.keys(rruleParts);
  const choices = fc.array(fc.nat({ max: 4 }), { minLength: keys.length, maxLength: keys.length });
  const starts = fc.constantFrom('20260105T091500', '20260106T091500', '20260105T091530', '20260115T100000');
  fc.assert(
    fc.property(
      choices,
      fc.nat({ max: keys.length - 1 }),
      fc.nat({ max: 4 }),
      starts,
      (choice, changed, value, start) => {
        const schedule = (picked: readonly number[]) => {
          const parts = keys.map(
            (key, at) => [key, rruleParts[key]?.[(picked[at] ?? 0) % (rruleParts[key]?.length ?? 1)] ?? ''] as const,
          );
          const body = parts
            .filter(([, text]) => text !== '')
            .map(([key, text]) => `${key}=${text}`)
            .join(';');
          return parseSchedule(
            { kind: 'rrule', rrule: `DTSTART:${start}Z\nRRULE:${body}`, timezone: 'Europe/Madrid' },
            NOW,
          );
        };
        expectDistinct(schedule(choice), schedule(choice.map((old, at) => (at === changed ? value : old))));
      },
    ),
    { seed: SEED, numRuns: 1_000 },
  );
});

test('words begin small and end without a stop', () => {
  const texts = ['0 9 * * 1-5', '*/7 1,5 L 2 *', '@weekly', '0 9 13 * +5', '15 * * * *'];
  for (const cron of texts)
    expect(describe(parseSchedule({ kind: 'cron', cron, timezone: 'UTC' }, NOW))).toMatch(/^[a-z0-9].*[^.]$/);
});

test('numbers are counted as people do', () => {
  const numbers = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 50, 111];
  expect(numbers.map(nth).join(' ')).toBe('1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 23rd 50th 111th');
});

test.each([
  ['0 8 * * *', 'daily 08:00'],
  ['0 9 * * 1-5', 'weekdays 09:00'],
  ['30 9 * * 6,0', 'weekends 09:30'],
  ['0 18 * * 0', 'Sundays 18:00'],
  ['30 18 * * 1,4', 'Mon, Thu 18:30'],
  ['0 9 * * 1-4,6', 'Mon-Thu, Sat 09:00'],
  ['0 9,17 * * *', 'daily 09:00, 17:00'],
  ['0 9,12,17,22 * * *', 'daily 09:00 +3'],
  ['0 9 1,15 * *', 'monthly 1st, 15th 09:00'],
  ['0 17 * * 5L', 'monthly last Fri 17:00'],
  ['0 9 24 12 *', 'yearly 24 Dec 09:00'],
  ['*/15 9-17 * * 1-5', 'every 15 min 09:00-17:45, weekdays'],
  ['*/15 * * * *', 'every 15 min'],
  ['0 * * * *', 'hourly'],
])('%s is %s in a row of a list', (cron, words) => {
  expect(cadence(parseSchedule({ kind: 'cron', cron, timezone: 'UTC' }, NOW))).toBe(words);
});

test('the row of several rhythms has the first of them, and of an interval its step', () => {
  const rules = ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0', 'FREQ=WEEKLY;BYDAY=SA;BYHOUR=11;BYMINUTE=0'];
  const rrule = rules.map((body) => `RRULE:${body}`).join('\n');
  expect(cadence(parseSchedule({ kind: 'rrule', rrule, timezone: 'UTC' }, NOW))).toBe('weekdays 09:00 +1');
  const intervals = ['PT90M', 'P2W', 'P1D', 'P1DT2H'];
  const told = intervals.map((interval) =>
    cadence(parseSchedule({ kind: 'interval', interval, timezone: 'UTC' }, NOW)),
  );
  expect(told).toEqual(['every 90 min', 'every 2 weeks', 'daily', 'every 1 day 2 h']);
});
