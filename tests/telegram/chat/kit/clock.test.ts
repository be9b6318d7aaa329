import { describe, expect, test } from 'vitest';
import { describe as described, parseSchedule } from '../../../../src/domain/schedule/schedule.ts';
import { readTime } from '../../../../src/domain/when/asked.ts';
import { scheduleText } from '../../../../src/telegram/chat/kit/clock.ts';

const now = Date.parse('2026-11-18T10:00:00Z');
const read = (when: string) => readTime(when, { timezone: 'Europe/Madrid', now }).schedule;

describe('the days of a schedule', () => {
  test.each([
    [
      'every 2 weeks on tuesday at 19:00',
      'every 2 weeks on Tuesday at 19:00, counted from 2026-11-24',
      'every 2 weeks on Tuesday at 19:00, starting Tue 24 Nov',
    ],
    [
      'every day at 9 until 31 march',
      'every day at 09:00, from 2026-11-19, until 2027-03-31',
      'every day at 09:00, until Wed 31 Mar 2027',
    ],
    ['every 15 minutes', 'every 15 minutes from 2026-11-18 11:00', 'every 15 minutes'],
    ['tomorrow at 9', 'once on 2026-11-19 at 09:00', 'once on Thu 19 Nov at 09:00'],
    ['every day at 9', 'every day at 09:00', 'every day at 09:00'],
  ])('of %s are told to programs always alike, and to people as in the rest of the chat', (when, plain, told) => {
    expect(described(read(when))).toBe(plain);
    expect(scheduleText(read(when), now)).toBe(told);
  });

  test.each([
    ['iso', 'starting 2026-11-24'],
    ['us', 'starting Tue, Nov 24'],
    ['en', 'starting Tue 24 Nov'],
  ] as const)('follow the dates of the chat: %s', (dates, told) => {
    expect(scheduleText(read('every 2 weeks on tuesday at 19:00'), now, dates)).toContain(told);
  });

  test('are told with the other exceptions of a rule, too', () => {
    const rrule =
      'DTSTART:20261124T190000\nRRULE:FREQ=DAILY;INTERVAL=2;UNTIL=20261220T180000Z\nEXDATE:20261126T190000\nRDATE:20261127T190000';
    const schedule = parseSchedule({ kind: 'rrule', rrule, timezone: 'Europe/Madrid' }, now);
    expect(scheduleText(schedule, now)).not.toMatch(/\d{4}-\d\d/);
    expect(scheduleText(schedule, now)).toMatch(/starting Tue 24 Nov.*Thu 26 Nov.*Fri 27 Nov/);
  });
});
