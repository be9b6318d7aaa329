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
