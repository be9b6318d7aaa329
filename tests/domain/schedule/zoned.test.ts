import { expect, it } from 'vitest';
import { inZone, nextSlots, parseSchedule, wallText } from '../../../src/domain/schedule/schedule.ts';
import { readAnywhere } from '../../../src/domain/when/asked.ts';

const now = Date.UTC(2026, 10, 19, 10);
const tomorrow = Date.UTC(2026, 10, 20, 6);

it.each([
  'tomorrow at 9',
  'every day at 9',
  'every 2 weeks on monday at 9',
  'every day at 8 until 24 december',
  'weekdays at 9 and weekends at 11',
  'every day at 8 except 21 november',
])('keeps the times of "%s" on the wall of another zone', (words) => {
  const { schedule } = readAnywhere(words, { now, timezone: 'Europe/Madrid' });
  const moved = parseSchedule(inZone(schedule, 'America/New_York'), now);
  const walls = (one: typeof schedule) =>
    nextSlots(one, tomorrow, { count: 200, upTo: Date.UTC(2027, 0, 31) }).map((slot) => wallText(slot, one.timezone));
  expect(walls(moved)).toEqual(walls(schedule));
});
