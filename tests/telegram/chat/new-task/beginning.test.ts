import { describe, expect, test } from 'vitest';
import { aTalk } from '../talk.ts';

/** In a group, words are meant for the bot when they answer it. */
const reply = { repliesTo: 1 };

describe('a task that was begun', () => {
  test.each([
    ['/new every weekday at 9', [], 'every weekday at 9'],
    ['/new', ['Every month'], 'Every month'],
    ['/new', ['Every week', 'Mon', 'Next'], 'every monday'],
  ] as const)('is named by what is known of it when it is dropped: %s, %j', async (begin, path, name) => {
    const talk = await aTalk();
    const old = await talk.ask(begin);
    for (const label of path) await talk.press(old, label);
    const fresh = await talk.ask('/new every day at 10 Second');
    expect(fresh.text.split('\n')[0]).toBe(`The task you had begun here (${name}) is dropped.`);
  });

  test('of which nothing is known, and a change of another task, are dropped with words that fit', async () => {
    const talk = await aTalk();
    await talk.ask('/new');
    const fresh = await talk.ask('/new every day at 10 Second');
    expect(fresh.text).toMatch(/^The task you had begun here is dropped\.\n/);
    await talk.press(fresh, 'Create');
    await talk.press(fresh, 'Edit');
    await talk.press(fresh, 'Text');
    expect(await talk.tells('/new every day at 11 Third')).toMatch(/^The change you had begun here is dropped\.\n/);
  });

  test('takes a text that nobody can see for none', async () => {
    const talk = await aTalk();
    expect(await talk.tells('/new every day at 9 \u200b\u2060')).toMatch(/What should I say\?/);
    const again = await talk.ask('\u200b\u2060', reply);
    expect(again.text).toMatch(
      /^There is nothing to see in that text\. Send one with words in it\.\n\nEvery day at 09:00/,
    );
    const preview = await talk.ask('Stand up', reply);
    await talk.press(preview, 'Change text');
    expect(await talk.tells('\u2060', reply)).toMatch(/^There is nothing to see in that text\./);
    expect(await talk.tells('Sit down', reply)).toMatch(/^New task: Sit down/);
  });
});

describe('/new with a time in plain words', () => {
  // It is Wednesday the 18th of November 2026, nine in the morning, in UTC.
  test.each([
    ['in 20 minutes', 'Once on Wed 18 Nov at 09:20', 'Wed 18 Nov 09:20'],
    ['tomorrow 8am', 'Once on Thu 19 Nov at 08:00', 'Thu 19 Nov 08:00'],
    ['2027-01-31 09:00', 'Once on Sun 31 Jan 2027 at 09:00', 'Sun 31 Jan 2027 09:00'],
    ['every monday and thursday 18:30', 'Every Monday and Thursday at 18:30', 'Thu 19 Nov 18:30, Mon 23 Nov 18:30'],
    ['every 2 weeks on monday 10:00', 'Every 2 weeks on Monday at 10:00', 'Mon 23 Nov 10:00, Mon 7 Dec 10:00'],
    ['last friday of the month at 17:00', 'On the last Friday of the month', 'Fri 27 Nov 17:00, Fri 25 Dec 17:00'],
    ['every 15 minutes', 'Every 15 minutes, starting Wed 18 Nov 09:00', 'Wed 18 Nov 09:15'],
    ['every 2h from 8 to 18', 'Every 2 hours', 'Wed 18 Nov 10:00, Wed 18 Nov 12:00, Wed 18 Nov 14:00'],
    ['30 6 * * 1-5', 'Every weekday at 06:30', 'Thu 19 Nov 06:30, Fri 20 Nov 06:30, Mon 23 Nov 06:30'],
    ['FREQ=WEEKLY;BYDAY=SA;BYHOUR=10;BYMINUTE=0', 'Every Saturday at 10:00', 'Sat 21 Nov 10:00'],
    ['P1M', 'Every month', 'Fri 18 Dec 09:00'],
  ])('reads %s', async (when, words, next) => {
    const talk = await aTalk();
    const { text } = (await talk.ask(`/new ${when}: Water the plants`)).shown;
    expect(text).toContain(`New task: Water the plants\n${words}`);
    expect(text).toContain(`\nNext: ${next}`);
  });
});
