import { expect, test } from 'vitest';
import { corpus, misreadingOf } from './corpus.ts';

const misread = corpus.flatMap((meant) => {
  const read = misreadingOf(meant);
  return read === null ? [] : [{ ...meant, read, isAsked: /^\w+_schedule: /.test(read) }];
});

test('of 500 phrases none is read as something else than it means', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(500);
  expect(misread.filter(({ isAsked }) => !isAsked)).toEqual([]);
});

test('at least 95 of a hundred are read, and the others are asked about', () => {
  const asked = misread.filter(({ isAsked }) => isAsked);
  expect(asked.length / corpus.length, asked.map(({ phrase }) => phrase).join('\n')).toBeLessThanOrEqual(0.05);
});
