import { describe as group, expect, test } from 'vitest';
import { describe } from '../../../../src/domain/schedule/schedule.ts';
import { dateText } from '../../../../src/domain/schedule/time/calendar.ts';
import { labels, type Talk, taskIn, withTask } from '../talk.ts';

const twoDays = () => withTask('every monday at 7 and every thursday at 18 Class');
const now = Date.parse('2026-11-18T09:00:00Z');

async function words(talk: Talk): Promise<string> {
  return describe((await taskIn(talk)).schedule, { day: dateText, now }).replaceAll(/, from [\d-]+/g, '');
}

group('a new time for a task of several rhythms', () => {
  test('of the days of one of them changes that one, and says what stays', async () => {
    const talk = await twoDays();
    const told = await talk.tells('/edit #1 mondays at 8');
    expect(told).toContain('Stays: every Thursday at 18:00');
    expect(await words(talk)).toBe('Mondays at 08:00, Thursdays at 18:00');
  });

  test('of all days takes the place of all of them', async () => {
    const talk = await withTask('weekdays at 9 and weekends at 11 Swim');
    await talk.ask('/edit #1 every day at 8');
    expect(await words(talk)).toBe('every day at 08:00');
  });

  test('of other days asks which one is meant', async () => {
    const talk = await twoDays();
    const asked = await talk.ask('/edit #1 every friday at 8');
    expect(asked.text).toBe(
      '#1 Class has several rhythms:\n• every Monday at 07:00\n• every Thursday at 18:00\n\nWhich one should be every Friday at 08:00?',
    );
    expect(labels(asked)).toEqual([
      ['every Monday at 07:00 → every Friday at 08:00'],
      ['every Thursday at 18:00 → every Friday at 08:00'],
      ['One more rhythm'],
      ['Instead of all'],
      ['Keep as it is'],
    ]);
    await talk.press(asked, 'every Thursday at 18:00 → every Friday at 08:00');
    expect(await words(talk)).toBe('Mondays at 07:00, Fridays at 08:00');
  });

  test.each([
    ['One more rhythm', 'Mondays at 07:00, Thursdays at 18:00, Fridays at 08:00'],
    ['Instead of all', 'every Friday at 08:00'],
    ['Keep as it is', 'Mondays at 07:00, Thursdays at 18:00'],
  ])('[%s] does as it says', async (label, told) => {
    const talk = await twoDays();
    await talk.press(await talk.ask('/edit #1 every friday at 8'), label);
    expect(await words(talk)).toBe(told);
  });

  test('a day alone asks at whose hour', async () => {
    const talk = await twoDays();
    const asked = await talk.ask('/edit #1 friday');
    expect(labels(asked).flat()).toContain('every Monday at 07:00 → every Friday at 07:00');
    await talk.press(asked, 'every Thursday at 18:00 → every Friday at 18:00');
    expect(await words(talk)).toBe('Mondays at 07:00, Fridays at 18:00');
  });

  test('of a part of the days can leave the others', async () => {
    const talk = await withTask('weekdays at 9 and weekends at 11 Swim');
    const asked = await talk.ask('/edit #1 fridays at 8');
    await talk.press(asked, 'every Friday at 08:00, the rest stays');
    expect(await words(talk)).toBe('Monday to Thursday at 09:00, weekends at 11:00, Fridays at 08:00');
  });

  test('"instead of" names the rhythm in words, and its exceptions stay', async () => {
    const talk = await twoDays();
    await talk.ask('/edit #1 except 24 december');
    await talk.ask('/edit #1 fridays at 8 instead of thursdays');
    expect(await words(talk)).toBe('Mondays at 07:00, Fridays at 08:00, except 2026-12-24');
  });

  test('of days and an hour is no hour alone', async () => {
    const talk = await withTask('weekdays at 9 and weekends at 11 Swim');
    expect(await talk.tells('/edit #1 weekends at 10')).toContain('Stays: every weekday at 09:00');
    expect(await words(talk)).toBe('weekdays at 09:00, weekends at 10:00');
  });

  test('one of two rhythms on the same day is asked for', async () => {
    const talk = await withTask('mondays at 7 and mondays at 18:30 Class');
    const asked = await talk.ask('/edit #1 mondays at 8');
    expect(asked.text).toContain('Which one should be every Monday at 08:00?');
  });
});
