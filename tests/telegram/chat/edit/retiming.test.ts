import { describe, expect, test } from 'vitest';
import { hour } from '../../../support/pipeline.ts';
import { aTalk, bob, type Talk, type TalkOptions, taskIn } from '../talk.ts';

async function withTask(text = 'every weekday at 12 Lunch', options: TalkOptions = {}): Promise<Talk> {
  const talk = await aTalk(options);
  await talk.make(text);
  return talk;
}

const edit = (talk: Talk, words: string) => talk.tells(`/edit #1 ${words}`);

describe('a single moment for what repeats', () => {
  test('is over when it has passed, and is only for who may change the task', async () => {
    const talk = await withTask();
    const asked = await talk.ask('/edit #1 in 2 hours');
    expect(await talk.press(asked, 'Make it once', { person: bob })).toMatchObject({ isAlert: true });
    await talk.pipeline.time.advance(3 * hour);
    expect(await talk.press(asked, 'Make it once')).toMatchObject({ isAlert: true });
    for (const odd of ['', 'x:y', '-1', '!', '99999999999', '__proto__']) {
      expect(await talk.send(asked, `v1:makeonce:${(await taskIn(talk)).id}:${odd}`)).toMatchObject({ isAlert: true });
      expect(await talk.send(asked, `v1:hours:${(await taskIn(talk)).id}:${odd}`)).toMatchObject({ isAlert: true });
    }
    expect((await taskIn(talk)).version).toBe(1);
  });
});

describe('a day alone', () => {
  test('moves a single moment and keeps its hour', async () => {
    const talk = await withTask('friday at 15:00 Haircut');
    expect(await edit(talk, 'saturday')).toContain('Sat 21 Nov at 15:00');
    expect(await edit(talk, '27 nov')).toContain('Fri 27 Nov at 15:00');
  });
});

describe('a start, a zone, or days that are left out', () => {
  test.each([
    ['every weekday at 9, fridays at 17 Lunch', 'starting 7 dec', 'Next: Mon 7 Dec 09:00, Tue 8 Dec 09:00'],
    ['every day at 8 and 20: Lunch', 'starting 7 dec', 'Next: Mon 7 Dec 08:00, 20:00'],
    ['every day at 8 and 20: Lunch', 'in Tokyo', '(Asia/Tokyo)'],
    ['weekdays at 9 and weekends at 11 Lunch', 'no weekends', 'Fri 20 Nov 09:00, Mon 23 Nov 09:00 (UTC)'],
    ['every day at 9 Lunch', 'remove weekends', 'now: every weekday at 09:00 (UTC)'],
  ])('%s, %s: changes nothing else', async (text, words, told) => {
    expect(await edit(await withTask(text), words)).toContain(told);
  });
});

describe('an open question about the new time', () => {
  const privately = { kind: 'private' } as const;

  test('ends by "cancel", and leaves a task of its own to itself', async () => {
    const talk = await withTask('every weekday at 12 Lunch', privately);
    await talk.ask('/edit #1 every 2 weeks');
    expect((await talk.ask('mon and wed at 9: gamma')).text).toMatch(/^New task: gamma/);
    await talk.say('cancel');
    await talk.ask('/edit #1 every 2 weeks');
    const [ended] = [await talk.tells('cancel')];
    expect(ended).not.toContain('could not find');
  });
});

describe('what cannot be read', () => {
  test('is told first, and then three examples with the number of the task', async () => {
    const talk = await withTask();
    const told = await edit(talk, 'whenever you like');
    const [problem, , heading, ...tries] = told.split('\n');
    expect(problem).not.toBe('');
    expect(heading).toBe('For example:');
    expect(tries).toHaveLength(3);
    for (const each of tries) expect(each).toMatch(/^\/edit #1 /);
    for (const each of tries) expect(await talk.tells(each)).toMatch(/^(?:Changed|Nothing to change)/);
    expect((await taskIn(talk)).schedule.kind).not.toBe('once');
  });
});

describe('one weekday for a task of other days', () => {
  const monthly = 'every month on the last day at 17:00 Rent';

  test.each([
    ['Every Friday at 17:00', { kind: 'cron', cron: '0 17 * * 5', timezone: 'UTC' }],
    ['Once, Fri 20 Nov 17:00', { kind: 'once', onceAt: Date.UTC(2026, 10, 20, 17), timezone: 'UTC' }],
  ])('is asked about, and %s answers', async (label, schedule) => {
    const talk = await withTask(monthly);
    const asked = await talk.ask('/edit #1 friday');
    expect((await taskIn(talk)).version).toBe(1);
    expect(await talk.press(asked, label, { person: bob })).toMatchObject({ isAlert: true });
    await talk.press(asked, label);
    expect((await taskIn(talk)).schedule).toEqual(schedule);
  });

  test.each([
    [monthly, 'every friday', '0 17 * * 5'],
    [monthly, 'fridays', '0 17 * * 5'],
    ['every monday at 9 Bins', 'friday', '0 9 * * 5'],
  ])('is no question where "%s" is told "%s"', async (text, words, cron) => {
    const talk = await withTask(text);
    await edit(talk, words);
    expect((await taskIn(talk)).schedule).toMatchObject({ cron });
  });

  test('takes no day that is none', async () => {
    const talk = await withTask(monthly);
    const asked = await talk.ask('/edit #1 friday');
    for (const odd of ['', '7', '-1', 'x']) {
      expect(await talk.send(asked, `v1:weekly:${(await taskIn(talk)).id}:${odd}`)).toMatchObject({ isAlert: true });
    }
  });
});

test('a field that is none is told with those that there are', async () => {
  const talk = await withTask();
  expect(await edit(talk, 'color red')).toMatch(/“color”[^]*the time, the text, the title/);
});

describe('a new time with several readings', () => {
  test.each(['Fri 20 Nov', '20 nov'])('is asked about, and answered: %s', async (answer) => {
    const talk = await withTask('tomorrow at 9 Train');
    const asked = await talk.ask('/edit #1 next friday 10:00');
    expect((await taskIn(talk)).version).toBe(1);
    if (answer === '20 nov') await talk.ask('20 nov 10:00', { repliesTo: asked.id });
    else await talk.press(asked, answer);
    expect((await taskIn(talk)).schedule).toMatchObject({ kind: 'once', onceAt: Date.UTC(2026, 10, 20, 10) });
  });

  test('is only for who asked and may', async () => {
    const talk = await withTask('tomorrow at 9 Train');
    const asked = await talk.ask('/edit #1 next friday 10:00');
    expect(await talk.press(asked, 'Fri 20 Nov', { person: bob })).toMatchObject({ isAlert: true });
    for (const odd of ['', '9', 'x', '-1']) {
      expect(await talk.send(asked, `v1:editway:nothing:${odd}`)).toMatchObject({ isAlert: true });
    }
    expect((await taskIn(talk)).version).toBe(1);
  });

  test('that was assumed is told, with a button for the other one', async () => {
    const talk = await withTask();
    const told = await talk.ask('/edit #1 at 3');
    expect(told.text).toContain('Assumed: 15:00');
    await talk.press(told, '03:00');
    expect((await taskIn(talk)).schedule).toMatchObject({ cron: '0 3 * * 1-5' });
  });
});
