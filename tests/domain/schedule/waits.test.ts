import { expect, test } from 'vitest';
import { withHours } from '../../../src/domain/schedule/hours.ts';
import { inputOf, inZone, parseSchedule } from '../../../src/domain/schedule/schedule.ts';
import { iso } from '../../../src/domain/schedule/time/calendar.ts';
import { readTime } from '../../../src/domain/when/asked.ts';

const now = Date.parse('2026-11-19T10:17:30Z');
const setting = { timezone: 'Europe/Madrid', now };

function movedTo(zone: string, words: string): string {
  const moved = parseSchedule(inZone(readTime(words, setting).schedule, zone), now);
  return moved.kind === 'once' ? iso(moved.onceAt) : moved.kind;
}

test.each(['in 2 hours', 'in 90 minutes', 'in 2 days', 'in half an hour'])(
  '"%s" ends at the same instant in another zone',
  (words) => {
    const { schedule } = readTime(words, setting);
    expect(movedTo('Asia/Tokyo', words)).toBe(inputOf(schedule).once_at);
  },
);

test.each([
  ['tomorrow at 9', '2026-11-20T00:00:00.000Z'],
  ['in 2 days at 9', '2026-11-21T00:00:00.000Z'],
  ['at 18:00', '2026-11-19T09:00:00.000Z'],
])('"%s" is the same time on the wall of another zone', (words, moved) => {
  expect(movedTo('Asia/Tokyo', words)).toBe(moved);
});

test('a wait that is given a time of day is one no longer', () => {
  const timed = withHours(readTime('in 2 hours', setting).schedule, [15 * 60]);
  expect(timed).toEqual({ kind: 'once', once_at: '2026-11-19T14:00:00.000Z', timezone: 'Europe/Madrid' });
});

test('a wait that would begin after its end is refused by name', () => {
  const input = { kind: 'once', once_at: '2026-11-19T12:00:00Z', start_at: '2026-11-19T13:00:00Z', timezone: 'UTC' };
  expect(() => parseSchedule({ ...input, kind: 'once' }, now)).toThrow(/start_at of a single moment/);
});
