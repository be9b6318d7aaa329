import { describe, expect, test } from 'vitest';
import type { AppError } from '../../../src/domain/errors.ts';
import { nextSlots } from '../../../src/domain/schedule/schedule.ts';
import { examples } from '../../../src/domain/when/cursor.ts';
import { expectedSchedule, phrases, read, refusalOf, refused } from './phrases.ts';

describe('a phrase is read as its schedule, and the rest is the text', () => {
  test.each(phrases.map((row) => [row.phrase, row.timezone, row.now, row] as const))(
    '%s (%s, %s)',
    (...[, , , row]) => {
      const now = Date.parse(row.now);
      const when = read(row.phrase, { timezone: row.timezone, now });
      expect(when.schedule).toEqual(expectedSchedule(row));
      expect(when.timezone).toBe(row.schedule.timezone);
      expect(when.rest).toBe(row.rest);
      const next = nextSlots(when.schedule, now, { count: 3 }).map((slot) => new Date(slot).toISOString());
      expect(next.map((instant) => instant.replace('.000', ''))).toEqual(row.next);
    },
  );
});

describe('what cannot be read is refused with the reason and three examples', () => {
  test.each(refused)('$phrase', ({ phrase, reason }) => {
    const refusal = refusalOf(phrase);
    if (refusal === null) throw new Error('It was read.');
    const { message, details } = refusal;
    expect(details, message).toMatchObject({ field: 'when', reason });
    const named = details?.['examples'] as string[];
    expect(named).toHaveLength(3);
    for (const example of named) expect(message).toContain(`"${example}"`);
    expect(message).toMatch(/^["A-Z0-9@].*\.$/s);
    expect(message.length).toBeLessThan(420);
  });
});

describe('an example that a refusal names is read', () => {
  test.each(Object.entries(examples).flatMap(([topic, named]) => named.map((text) => [topic, text] as const)))(
    '%s: %s',
    (_topic, text) => {
      for (const hour of [0, 6, 12, 18, 23]) {
        const now = Date.parse('2026-12-25T00:30:00Z') + hour * 3_600_000;
        expect(nextSlots(read(text, { now }).schedule, now, { count: 1 })).toHaveLength(1);
      }
    },
  );
});

function examplesOf(refusal: AppError | null): readonly unknown[] {
  const named = refusal?.details?.['examples'];
  return Array.isArray(named) ? named : [];
}

describe('a line that can be mended is named as it would be read', () => {
  test.each([
    [
      'Evry day at 9 Water the Plants',
      'I do not know “Evry”. Did you mean “every”?',
      'every day at 9 Water the Plants',
    ],
    ['tomorow 8am call Mum', 'I do not know “tomorow”. Did you mean “tomorrow”?', 'tomorrow 8am call Mum'],
    ['wekday', null, null],
    ['Mondy at 9', 'I do not know “Mondy”. Did you mean “monday”?', 'monday at 9'],
    ['every Mondy at 9', 'I do not know “Mondy”. Did you mean “monday”?', 'every monday at 9'],
    [
      'remind me tomorow at 9 to go',
      'I do not know “tomorow”. Did you mean “tomorrow”?',
      'remind me tomorrow at 9 to go',
    ],
    ['every day 9 Water the Plants', 'If the 9 is the hour, write "at 9".', 'every day at 9 Water the Plants'],
    ['Every Monday 18 yoga', 'If the 18 is the hour, write "at 18".', 'Every Monday at 18 yoga'],
  ] as const)('%s', (text, sentence, mended) => {
    const refusal = refusalOf(text);
    const [first] = examplesOf(refusal);
    if (mended === null) return expect(refusal?.message).not.toContain('Did you mean');
    expect(refusal?.message).toContain(sentence);
    expect(first).toBe(mended);
    return expect(refusalOf(mended)).toBeNull();
  });

  test('of a long line only its time, so that the example stays one', () => {
    const refusal = refusalOf(`evry day at 9 ${'water the plants '.repeat(20)}`);
    expect(examplesOf(refusal)[0]).toBe('every day at 9');
  });
});

test('a text of any length behind a when is kept whole', () => {
  const text = `${'word '.repeat(3_000)}end`;
  expect(read(`every day at 9 ${text}`).rest).toBe(text);
  expect(read(`every day at 9\n${text}\n\n  ${text}`).rest).toBe(`${text}\n\n  ${text}`);
});

test('the words are the part that was read', () => {
  expect(read('Every  Weekday at 9:00, in Europe/Madrid: stand up').words).toBe(
    'Every  Weekday at 9:00, in Europe/Madrid',
  );
  expect(read('remind me tomorrow at 9 to call mum').words).toBe('remind me tomorrow at 9');
});

test('a when has at most 200 characters', () => {
  expect(refusalOf(`every day ${' '.repeat(200)} at 9`)?.details?.['reason']).toBe('too_long');
});

test('a zone that does not exist is refused as a fault of the setting', () => {
  expect(() => read('every day at 9', { timezone: 'Mars/Base' })).toThrow('"Mars/Base" is not a time zone');
});
