import { expect, it } from 'vitest';
import { createRecent } from '../../src/app/operations/recent.ts';

it('forgets the oldest beyond its number; what is noted again is the youngest', () => {
  const recent = createRecent<number>(2);
  recent.put('a', 1);
  recent.put('b', 2);
  recent.put('a', 3);
  recent.put('c', 4);
  expect([recent.get('a'), recent.get('b'), recent.get('c')]).toEqual([3, undefined, 4]);
  recent.drop('a');
  expect(recent.has('a')).toBe(false);
});

it('forgets what is older than its time', () => {
  let now = 1000;
  const recent = createRecent<true>(9, { ms: 100, stopwatch: { elapsed: () => now } });
  recent.put('a', true);
  now = 1099;
  expect(recent.has('a')).toBe(true);
  now = 1100;
  expect(recent.has('a')).toBe(false);
});
