import { expect, test } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import { nextSlots } from '../../../src/domain/schedule/schedule.ts';
import { type Asked, readAnywhere, readTime } from '../../../src/domain/when/asked.ts';
import { corpus, misreadingOf } from './corpus.ts';
import { NOW } from './phrases.ts';

const misread = corpus.flatMap((meant) => {
  const read = misreadingOf(meant);
  return read === null ? [] : [{ ...meant, read, isAsked: /^\w+_schedule: /.test(read) }];
});

test('of 1,000 phrases none is read as something else than it means', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(1_000);
  expect(misread.filter(({ isAsked }) => !isAsked)).toEqual([]);
});

test('at least 98 of a hundred are read, and the others are asked about', () => {
  const asked = misread.filter(({ isAsked }) => isAsked);
  expect(asked.length / corpus.length, asked.map(({ phrase }) => phrase).join('\n')).toBeLessThanOrEqual(0.02);
});

const setting = { timezone: 'Europe/Madrid', now: NOW };

function readOrNull(phrase: string): Asked | null {
  try {
    return readAnywhere(phrase, setting);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

test('the words of a time mean the same alone, as in snoozing, editing and replies, as in a new task', () => {
  const slots = ({ schedule }: Asked) => nextSlots(schedule, NOW, { count: 4 });
  const asked = corpus.flatMap(({ phrase }) => readOrNull(phrase) ?? []);
  expect(asked.length).toBeGreaterThan(800);
  for (const made of asked) {
    const alone = readTime(made.words, setting);
    expect([alone.text, slots(alone)], made.words).toEqual(['', slots(made)]);
  }
});
