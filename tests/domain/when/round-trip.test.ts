import { describe as group, expect, test } from 'vitest';
import { describe, nextSlots, type Schedule } from '../../../src/domain/schedule/schedule.ts';
import { phrases, read } from './phrases.ts';

/**
 * A description is written for people, and most of what the grammar makes can be read again. What cannot: the end of a
 * counted series, which the description tells with its time, spans with seconds, and intervals of days and longer, which the
 * grammar knows only with a time of the day.
 */
function isReadable(words: string): boolean {
  return !/^every (?:\d+ )?(?:day|week|month|year)s? from|until \d{4}-\d\d-\d\d \d|\d:\d\d:\d\d/.test(words);
}

function slots(schedule: Schedule, now: number): readonly number[] {
  return nextSlots(schedule, now, { count: 60 });
}

group('the description of a schedule made from words is read as the same runs', () => {
  const rows = phrases.map((row) => {
    const now = Date.parse(row.now);
    const { schedule } = read(row.phrase, { timezone: row.timezone, now });
    return { ...row, at: now, made: schedule, words: describe(schedule) };
  });

  test.each(rows.filter(({ words }) => isReadable(words)))('$phrase: $words', ({ made, words, at }) => {
    const again = read(words, { timezone: made.timezone, now: at });
    expect(again.text).toBe('');
    expect(slots(again.schedule, at)).toEqual(slots(made, at));
  });

  test('only a few of them cannot be read', () => {
    expect(rows.filter(({ words }) => !isReadable(words)).length).toBeLessThan(5);
  });
});
