import { describe, expect, test } from 'vitest';
import { hour } from '../../../support/pipeline.ts';
import { aTalk, bob, dataBehind, labels, type Talk, type TalkOptions, taskIn } from '../talk.ts';

async function withTask(text = 'every weekday at 12 Lunch', options: TalkOptions = {}): Promise<Talk> {
  const talk = await aTalk(options);
  await talk.make(text);
  return talk;
}

const edit = (talk: Talk, words: string) => talk.tells(`/edit #1 ${words}`);

describe('an hour alone', () => {
  test.each(['8:30', 'at 8:30', '08:30', 'half past eight', 'half past 8', '8:30am', 'time 8:30', 'to 8:30'])(
    '%s moves the hour of what repeats and keeps its days',
    async (words) => {
      const talk = await withTask();
      const message = await talk.ask(`/edit #1 ${words}`);
      expect(message.text).toMatchSnapshot('message');
      await talk.press(message, 'Undo');
      expect((await taskIn(talk)).schedule).toMatchObject({ cron: '0 12 * * 1-5' });
    },
  );

  test.each([
    ['every day at 12 Lunch', 'at 9', 'Next: Thu 19 Nov 09:00, Fri 20 Nov 09:00'],
    ['every 2 weeks on monday at 10 Bins', '9', 'Next: Mon 23 Nov 09:00, Mon 7 Dec 09:00'],
    ['every last friday of the month at 17:00 Rent', 'noon', 'Next: Fri 27 Nov 12:00, Fri 25 Dec 12:00'],
    ['every day at 12 Lunch', '9 and 17', 'Next: Wed 18 Nov 17:00, Thu 19 Nov 09:00, Thu 19 Nov 17:00'],
  ])('%s, %s', async (text, words, next) => {
    const talk = await withTask(text);
    expect(await edit(talk, words)).toContain(next);
    expect((await taskIn(talk)).schedule.kind).not.toBe('once');
  });

  test('is moved on the clocks of the task', async () => {
    const talk = await withTask('every day at 12 Lunch', { timezone: 'Europe/Madrid' });
    await edit(talk, '8:30');
    expect((await taskIn(talk)).schedule).toMatchObject({ cron: '30 8 * * *', timezone: 'Europe/Madrid' });
  });

  test('by Edit, Time it does the same', async () => {
    const talk = await withTask();
    const menu = await talk.ask('/edit #1');
    await talk.press(menu, 'Time');
    expect(menu.text).not.toContain('tomorrow');
    expect(await talk.tells('half past eight')).toContain('now: every weekday at 08:30 (UTC)');
    expect(await talk.say('9:30')).toBeNull();
  });

  test('of a rhythm is refused in words, and the schedule stays', async () => {
    const talk = await withTask('every 30 minutes: Ping');
    const told = await edit(talk, '8:30');
    expect(told).toMatch(
      /^#1 Ping runs every 30 minutes[^\n]*, so there is no hour of the day to move\. Nothing was changed\.\n\nThese can be read:\n\/edit #1 every day at 08:30\n/,
    );
    expect(told).not.toContain('tomorrow');
    expect((await taskIn(talk)).version).toBe(1);
  });

  test('among several hours it is asked which one', async () => {
    const talk = await withTask('every day at 9:00 and 17:00 Pills');
    const asked = await talk.ask('/edit #1 18:00');
    expect(asked.text).toBe('#1 Pills runs at 09:00 and 17:00. Which of them shall be 18:00?');
    expect(labels(asked)).toEqual([['09:00 → 18:00'], ['17:00 → 18:00'], ['Only 18:00', 'Keep as it is']]);
    expect((await taskIn(talk)).version).toBe(1);
    await talk.press(asked, '17:00 → 18:00');
    expect((await taskIn(talk)).schedule).toMatchObject({ cron: '0 9,18 * * *' });
    const uneven = await talk.ask('/edit #1 8:30');
    expect(labels(uneven)).toEqual([['Only 08:30', 'Keep as it is']]);
    await talk.press(uneven, 'Only 08:30');
    expect((await taskIn(talk)).schedule).toMatchObject({ cron: '30 8 * * *' });
  });

  test('of a single moment to come stays on its day', async () => {
    const talk = await withTask('friday at 9 Train');
    expect(await edit(talk, '8:30')).toContain('Next: Fri 20 Nov 08:30 (UTC)');
  });
});

describe('days alone', () => {
  test.each([
    ['weekdays', '0 12 * * 1-5', 'every day at 12 Lunch'],
    ['every weekday', '0 12 * * 1-5', 'every day at 12 Lunch'],
    ['mondays and thursdays', '0 12 * * 1,4', 'every day at 12 Lunch'],
    ['monday, thursday', '0 12 * * 1,4', 'every day at 12 Lunch'],
    ['monday', '0 12 * * 1', 'every weekday at 12 Lunch'],
    ['weekends', '30 9 * * 0,6', 'every day at 9:30 Lunch'],
    ['daily', '0 12 * * *', 'every weekday at 12 Lunch'],
    ['weekdays', '0 9,17 * * 1-5', 'every day at 9:00 and 17:00 Lunch'],
  ])('%s keep the hour: %s', async (words, cron, text) => {
    const talk = await withTask(text);
    expect(await edit(talk, words)).toMatch(/^Changed: #1 Lunch\n/);
    expect((await taskIn(talk)).schedule).toMatchObject({ cron });
  });

  test('keep the end that it had', async () => {
    const talk = await withTask('every day at 12 until 2026-12-24 Lunch');
    expect(await edit(talk, 'mondays')).toMatch(/now: every Monday at 12:00.*until/i);
  });
});

describe('a single moment for what repeats', () => {
  test.each([
    ['tomorrow 9', 'Thu 19 Nov 09:00'],
    ['tomorrow', 'Thu 19 Nov 12:00'],
    ['2026-12-24 18:00', 'Thu 24 Dec 18:00'],
    ['in 2 hours', 'Wed 18 Nov 11:00'],
  ])('%s is asked about first', async (words, at) => {
    const talk = await withTask();
    const asked = await talk.ask(`/edit #1 ${words}`);
    expect(asked.text).toContain(
      `#1 Lunch repeats: every weekday at 12:00 (UTC).\nWhat you wrote is a single moment: ${at} (UTC).`,
    );
    expect(asked.text).toMatch(/\/edit #1 \d\d:\d\d moves the hour and keeps the days\.$/);
    expect(labels(asked)).toEqual([['Make it once', 'Keep as it is']]);
    expect((await taskIn(talk)).version).toBe(1);
    const data = dataBehind(asked, 'Make it once');
    await talk.press(asked, 'Keep as it is');
    expect(asked.text).toMatch(/^Kept as it is: #1 Lunch\nNext: Wed 18 Nov 12:00/);
    await talk.send(asked, data);
    expect(asked.text).toContain(`now: once on ${at.replace(/ (?=\d\d:)/, ' at ')} (UTC)`);
    await talk.press(asked, 'Undo');
    expect((await taskIn(talk)).schedule).toMatchObject({ cron: '0 12 * * 1-5' });
  });

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

describe('what cannot be read', () => {
  test('is told first, and then three examples with the number of the task', async () => {
    const talk = await withTask();
    const told = await edit(talk, 'whenever you like');
    const [problem, , heading, ...tries] = told.split('\n');
    expect(problem).not.toBe('');
    expect(heading).toBe('These can be read:');
    expect(tries).toHaveLength(3);
    for (const each of tries) expect(each).toMatch(/^\/edit #1 /);
    for (const each of tries) expect(await talk.tells(each)).toMatch(/^(?:Changed|Nothing to change)/);
    expect((await taskIn(talk)).schedule.kind).not.toBe('once');
  });
});

describe('a new text', () => {
  test('takes along a title that was its beginning, and no other', async () => {
    const talk = await withTask();
    const changed = await talk.ask('/edit #1 text Eat something warm\nand sit down');
    expect(changed.text).toContain('Title:\n  before: Lunch\n  now: Eat something warm\n');
    expect(await taskIn(talk)).toMatchObject({ title: 'Eat something warm' });
    await talk.press(changed, 'Undo');
    expect(await taskIn(talk)).toMatchObject({ title: 'Lunch', instructions: 'Lunch' });
    await edit(talk, 'title Break');
    await edit(talk, 'text Eat');
    expect(await taskIn(talk)).toMatchObject({ title: 'Break', instructions: 'Eat' });
  });
});
