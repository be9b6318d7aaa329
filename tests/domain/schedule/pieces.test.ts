import { expect, test } from 'vitest';
import { leavingOutAs } from '../../../src/domain/schedule/combine.ts';
import { piecesOf, withoutException, withoutMoment, withoutRhythm } from '../../../src/domain/schedule/pieces.ts';
import { describe, parseSchedule, type Schedule } from '../../../src/domain/schedule/schedule.ts';

const now = Date.parse('2026-11-18T09:00:00Z');
const timezone = 'Europe/Madrid';
const rule = (...lines: readonly string[]) =>
  parseSchedule({ kind: 'rrule', rrule: ['DTSTART:20261118T090000', ...lines].join('\n'), timezone }, now);
const cron = (text: string) => parseSchedule({ kind: 'cron', cron: text, timezone }, now);

const whole = rule(
  'RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0',
  'RRULE:FREQ=WEEKLY;BYDAY=SA,SU;BYHOUR=11;BYMINUTE=0',
  'EXRULE:FREQ=DAILY;BYMONTH=8',
  'EXDATE;VALUE=DATE:20261224,20261225',
  'EXDATE:20261130T090000',
  'RDATE:20261128T170000',
);

test('a schedule taken to pieces, piece by piece, is its last rhythm', () => {
  const { rhythms, moments, exceptions } = piecesOf(whole, now);
  expect(rhythms.map((rhythm) => describe(rhythm, { day: String, now }))).toEqual([
    'every weekday at 09:00',
    'every Saturday and Sunday at 11:00',
  ]);
  expect([moments.length, exceptions.length]).toEqual([1, 3]);
  const bare = exceptions.reduce(withoutException, moments.reduce(withoutMoment, whole));
  expect(piecesOf(bare, now)).toMatchObject({ rhythms, moments: [], exceptions: [] });
  const last = withoutRhythm(bare, 0);
  expect(last).toEqual(rhythms[1]);
  expect(withoutRhythm(rhythms[1] as Schedule, 0)).toBeNull();
});

test.each([
  ['a cron of fewer days', cron('0 9 * * 1-6'), cron('30 8 * * *'), 'every Monday to Saturday at 08:30'],
  [
    'a cron of fewer days, beside a rule',
    cron('0 9 * * 1-6'),
    rule('RRULE:FREQ=DAILY;BYHOUR=8;BYMINUTE=0'),
    'every day at 08:00, from 2026-11-18, not on Sundays',
  ],
  [
    'rules and dates',
    whole,
    cron('0 8 * * *'),
    'every day at 08:00, from 2026-11-18, not in August, except 2026-12-24 and 2026-12-25',
  ],
])('what %s leaves out is left out of another schedule', (_, other, schedule, words) => {
  expect(describe(leavingOutAs(schedule, other, now))).toBe(words);
});
