import { expect, test } from 'vitest';
import { momentsIn } from '../../../src/app/why/moments.ts';
import { dateStyles } from '../../../src/domain/chat-settings.ts';

const now = Date.UTC(2026, 10, 18, 8, 0);
const [madrid, newYork] = ['Europe/Madrid', 'America/New_York'];

test('writes a date in the way that the chat has chosen', () => {
  const written = dateStyles.map((style) => `${style}: ${momentsIn(madrid, now, style).full(now)}`);
  expect(written).toEqual(['en: Wed 18 Nov 09:00', 'iso: 2026-11-18 09:00', 'us: Wed, Nov 18, 9:00 AM']);
});

test.each([
  ['de', 'Mi., 18. Nov. 09:00'],
  ['es', 'mié, 18 nov 09:00'],
  ['tr', '18 Kas Çar 09:00'],
])('writes it in the language of the words around it: %s', (tag, told) => {
  expect(momentsIn(madrid, now, 'en', tag).full(now)).toBe(told);
  expect(momentsIn(madrid, now, 'iso', tag).full(now)).toBe('2026-11-18 09:00');
});

test('adds the year when it is another one, in every style', () => {
  const later = Date.UTC(2027, 10, 18, 8, 0);
  for (const style of dateStyles) expect(momentsIn(madrid, now, style).full(later)).toContain('2027');
  expect(momentsIn(madrid, now, 'us').full(later)).toBe('Thu, Nov 18, 2027, 9:00 AM');
});

test('tells noon from midnight on clocks of half a day, and the two passes of one hour', () => {
  const moments = momentsIn(newYork, now, 'us');
  expect(moments.full(Date.UTC(2026, 10, 18, 5, 0))).toBe('Wed, Nov 18, 12:00 AM');
  expect(moments.full(Date.UTC(2026, 10, 18, 17, 30))).toBe('Wed, Nov 18, 12:30 PM');
  expect(moments.full(Date.UTC(2026, 10, 1, 5, 30))).toBe('Sun, Nov 1, 1:30 AM (UTC-04:00)');
  expect(moments.full(Date.UTC(2026, 10, 1, 6, 30))).toBe('Sun, Nov 1, 1:30 AM (UTC-05:00)');
  expect(moments.exact(Date.UTC(2026, 10, 18, 17, 30, 1, 5))).toBe('Wed, Nov 18, 12:30:01.005 PM');
});

test('the day is that of the zone, in every style', () => {
  const lateEvening = Date.UTC(2026, 10, 18, 23, 30);
  for (const style of dateStyles) expect(momentsIn(madrid, now, style).full(lateEvening)).toContain('19');
});
