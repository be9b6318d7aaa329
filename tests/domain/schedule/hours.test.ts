import { describe, expect, test } from 'vitest';
import { hoursOf, withHours } from '../../../src/domain/schedule/hours.ts';
import { lastSlot, nextSlots, parseSchedule, type Schedule } from '../../../src/domain/schedule/schedule.ts';

const now = Date.UTC(2026, 10, 18, 14);
const cron = (text: string, timezone = 'UTC') => parseSchedule({ kind: 'cron', cron: text, timezone }, now);
const rule = (text: string, timezone = 'UTC') => parseSchedule({ kind: 'rrule', rrule: text, timezone }, now);
const every = (interval: string, start = '2026-11-01T09:00', timezone = 'UTC') =>
  parseSchedule({ kind: 'interval', interval, start_at: start, timezone }, now);

function moved(schedule: Schedule, ...times: readonly number[]): Schedule {
  const input = withHours(schedule, times);
  if (input === null) throw new Error('it cannot be moved');
  return parseSchedule(input, now);
}

const slots = (schedule: Schedule, count = 3) =>
  nextSlots(schedule, now, { count, bounds: {} }).map((at) => new Date(at).toISOString().slice(0, 16));

describe('the times of the day', () => {
  test.each([
    [cron('0 9 * * *'), [540]],
    [cron('@daily'), [0]],
    [cron('30 9,17 * * 1-5'), [570, 1050]],
    [cron('*/15 * * * *'), null],
    [cron('0 9-17 * * *'), null],
    [rule('FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=15'), [555]],
    [rule('DTSTART:20261102T080000\nRRULE:FREQ=WEEKLY;INTERVAL=2'), [480]],
    [rule('FREQ=HOURLY;INTERVAL=2'), null],
    [rule('FREQ=DAILY;BYHOUR=8,18;BYMINUTE=0,30;BYSETPOS=1,4'), null],
    [every('P1D'), [540]],
    [every('PT24H'), null],
    [every('PT30M'), null],
  ])('of %o', (schedule, times) => {
    expect(hoursOf(schedule)).toEqual(times);
  });
});

describe('moved to another time', () => {
  test('a cron keeps its days', () => {
    expect(moved(cron('0 9 * * 1-5'), 510)).toMatchObject({ cron: '30 8 * * 1-5' });
    expect(moved(cron('@weekly'), 510)).toMatchObject({ cron: '30 8 * * 0' });
    expect(moved(cron('0 9,17 1 * *'), 540, 1080)).toMatchObject({ cron: '0 9,18 1 * *' });
    expect(withHours(cron('0 9,17 * * *'), [510, 1020])).toBeNull();
    expect(withHours(cron('*/15 * * * *'), [510])).toBeNull();
  });

  test('a rule keeps its weeks, its day and its end', () => {
    const fortnight = rule(
      'DTSTART:20261116T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0',
    );
    expect(slots(moved(fortnight, 510))).toEqual(['2026-11-30T08:30', '2026-12-14T08:30', '2026-12-28T08:30']);
    const bare = rule('DTSTART:20261116T090000\nRRULE:FREQ=MONTHLY;BYDAY=-1FR');
    expect(slots(moved(bare, 1230))).toEqual(['2026-11-27T20:30', '2026-12-25T20:30', '2027-01-29T20:30']);
    expect(
      slots(moved(rule('DTSTART:20261116T000000\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYSETPOS=-1'), 510)),
    ).toEqual(['2026-11-30T08:30', '2026-12-31T08:30', '2027-01-29T08:30']);
  });

  test.each([
    [510, '2026-11-22T08:30'],
    [1260, '2026-11-22T21:00'],
  ])('a counted one has as many runs as before, at %i', (time, last) => {
    const counted = rule('DTSTART:20261118T180000\nRRULE:FREQ=DAILY;COUNT=5;BYHOUR=18;BYMINUTE=0;BYSECOND=0');
    expect(new Date(lastSlot(counted) ?? 0).toISOString().slice(0, 16)).toBe('2026-11-22T18:00');
    const end = lastSlot(moved(counted, time)) ?? 0;
    expect(slots(moved(counted, time), 9).at(-1)).toBe(last);
    expect(end).toBeGreaterThan(Date.UTC(2026, 10, 22, 8));
  });

  test('one that counts days keeps the days on which it runs, on the clocks of its zone', () => {
    const madrid = every('P2D', '2026-11-01T09:00', 'Europe/Madrid');
    expect(slots(madrid)).toEqual(['2026-11-19T08:00', '2026-11-21T08:00', '2026-11-23T08:00']);
    expect(slots(moved(madrid, 510))).toEqual(['2026-11-19T07:30', '2026-11-21T07:30', '2026-11-23T07:30']);
    expect(withHours(every('PT30M'), [510])).toBeNull();
  });

  test('a single one stays on its day', () => {
    const once = parseSchedule({ kind: 'once', once_at: '2026-11-20T09:00:00Z', timezone: 'UTC' }, now);
    expect(slots(moved(once, 510))).toEqual(['2026-11-20T08:30']);
    expect(withHours(once, [510, 600])).toBeNull();
  });

  test('what names single dates is left alone', () => {
    const added = rule('DTSTART:20261116T090000\nRRULE:FREQ=WEEKLY\nRDATE:20261120T090000');
    const excluded = rule('DTSTART:20261116T090000\nRRULE:FREQ=WEEKLY\nEXDATE:20261123T090000');
    expect(withHours(added, [510])).toBeNull();
    expect(withHours(excluded, [510])).toBeNull();
  });
});
