import { expect, test } from 'vitest';
import { momentIn } from '../../../../src/telegram/chat/kit/days.ts';

/** A Wednesday, ten in the morning in Madrid. */
const now = Date.UTC(2026, 10, 18, 9);

function read(text: string, dayBegins: 'morning' | '0:00'): string | null {
  const at = momentIn(text, { timezone: 'Europe/Madrid', now }, dayBegins);
  return at === null ? null : new Date(at).toISOString();
}

test.each([
  ['until monday', '2026-11-22T23:00:00.000Z'],
  ['tomorrow', '2026-11-18T23:00:00.000Z'],
  ['until 1 december', '2026-11-30T23:00:00.000Z'],
  ['friday at 9', '2026-11-20T08:00:00.000Z'],
  ['for 2 hours', '2026-11-18T11:00:00.000Z'],
])('a pause lasts %s to the beginning of that day, or to the time that is named', (text, instant) => {
  expect(read(text, '0:00')).toBe(instant);
});

test.each([
  ['monday', '2026-11-23T08:00:00.000Z'],
  ['tomorrow', '2026-11-19T08:00:00.000Z'],
  ['tonight', '2026-11-18T19:00:00.000Z'],
  ['10 min', '2026-11-18T09:10:00.000Z'],
])('a snooze for %s comes in the morning of that day, or when it is named', (text, instant) => {
  expect(read(text, 'morning')).toBe(instant);
});

test.each(['', 'some day', 'every monday', 'until', 'monday buy milk'])('%j is no moment', (text) => {
  expect(read(text, 'morning')).toBeNull();
});
