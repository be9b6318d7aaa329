import { describe, expect, test } from 'vitest';
import { aTalk, type Message, type Talk } from '../talk.ts';

/** In a group, words are meant for the bot when they answer it. */
const reply = { repliesTo: 1 };

const press = async (talk: Talk, message: Message, ...path: readonly string[]) => {
  for (const label of path) await talk.press(message, label);
};

describe('words in the midst of buttons', () => {
  test.each([
    [['Every day'], '9:20', 'Every day at 09:20'],
    [['Every day'], 'at 7pm', 'Every day at 19:00'],
    [['Every day'], '9', 'Every day at 09:00'],
    [['Every day', '09:00'], '35', 'Every day at 09:35'],
    [['Every day', '09:00'], ':05', 'Every day at 09:05'],
    [['Every day'], 'every monday at 9', 'Every Monday at 09:00'],
    [['Every week'], 'tuesday and friday at 8', 'Every Tuesday and Friday at 08:00'],
    [['Every month'], 'last friday at 17:00', 'On the last Friday of the month at 17:00, starting Fri 27 Nov'],
    [['Once'], 'tomorrow at 8', 'Once on Thu 19 Nov at 08:00'],
    [['Every week', 'Mon', 'Next'], 'half past nine', 'Every Monday at 09:30'],
  ] as const)('after %j, "%s" is understood', async (path, words, expected) => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await press(talk, message, ...path);
    expect(await talk.tells(words, reply)).toContain(`${expected} (UTC). What should I say?`);
  });

  test.each([
    [['Every week'], 'on monday and thursday', 'Every Monday and Thursday, at what time?'],
    [['Every week'], 'every 2 weeks on tuesday', 'Every 2 weeks on Tuesday, at what time?'],
    [['Every month'], '15', 'Every month on the 15th, at what time?'],
    [['Every month'], 'the first monday', 'Every month on the first Monday, at what time?'],
    [['Once'], '24 december', 'Thu 24 Dec, at what time?'],
    [['Once'], 'tomorrow', 'Thu 19 Nov, at what time?'],
  ] as const)('after %j, "%s" is the day, and the time is asked for', async (path, words, expected) => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await press(talk, message, ...path);
    expect(await talk.tells(words, reply)).toContain(expected);
  });

  test('a time with a text behind it is both', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await talk.press(message, 'Every day');
    expect(await talk.tells('every monday at 9 Stand up', reply)).toMatch(/^New task: Stand up\nEvery Monday/);
  });

  const nonsense = [
    '👍',
    'x'.repeat(10_000),
    '\u200f\u202e\u2067',
    '{{',
    '25:99',
    '-1',
    'v1:wizard',
    'a\nb\nc',
    '🏳️‍🌈'.repeat(300),
  ];
  const places = [[], ['Every week'], ['Every month'], ['Once'], ['Every day'], ['Every day', '09:00']];
  test.each(places.map((path) => [path]))('nonsense after %j is answered, and the step stays', async (path) => {
    for (const words of nonsense) {
      const talk = await aTalk({ kind: 'private' });
      const message = await talk.ask('/new');
      await press(talk, message, ...path);
      const told = await talk.ask(words, reply);
      expect(told.text.length).toBeLessThan(4097);
      const left = await talk.tells('every day at 9 Stand up', reply);
      expect(left).toMatch(/^New task: Stand up\nEvery day at 09:00/);
    }
  });

  test('a text that nobody can see is refused, and the question stays', async () => {
    const talk = await aTalk();
    await talk.ask('/new every day at 9');
    expect(await talk.tells('\u200f\u202e', reply)).toMatch(/^There is nothing to see in that text\./);
    expect(await talk.tells('Stand up', reply)).toMatch(/^New task: Stand up/);
  });

  test.each([
    [['Every day'], 'Every day, at what time?'],
    [['Every day', '09:00'], 'Every day, at what time?'],
    [['Every week'], 'On which days?'],
    [['Once'], 'On which day?'],
  ] as const)('a text that comes too early, after %j, is kept and the question stays', async (path, question) => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await press(talk, message, ...path);
    expect(await talk.say('Take the laptop')).toBeNull();
    const asked = await talk.ask('Take the laptop', reply);
    expect(asked.text).toMatch(/^Noted the text\.\n\n/);
    expect(asked.text).toContain(question);
    await talk.ask('Take the big laptop', reply);
    expect(await talk.tells('tomorrow at 8:30', reply)).toMatch(/^New task: Take the big laptop\nOnce on Thu 19 Nov/);
  });

  test.each([
    [['Every day'], 'later', '9:30'],
    [['Every day'], '25:10', '9:30'],
    [['Every day'], 'half nine', '9:30'],
    [['Every week'], 'soon', 'monday and thursday'],
    [['Every month'], '42', 'the 15th'],
    [['Once'], 'yesterday', '24 december'],
  ] as const)(
    'what is wrong after %j, such as "%s", is told with examples of what is asked for',
    async (path, words, example) => {
      const talk = await aTalk();
      const message = await talk.ask('/new');
      await press(talk, message, ...path);
      const { text } = (await talk.ask(words, reply)).shown;
      const lines = text.split('\n');
      expect(lines).toContain(example);
      expect(text).not.toContain('in 20 minutes');
      // And each of them can be read there.
      const tries = lines.slice(
        lines.indexOf('These can be read:') + 1,
        lines.indexOf('', lines.indexOf('These can be read:')),
      );
      expect(tries.length).toBeGreaterThan(1);
      for (const one of tries) {
        const again = await aTalk();
        const fresh = await again.ask('/new');
        await press(again, fresh, ...path);
        expect(await again.tells(one, reply), one).not.toMatch(/These can be read|Noted/);
      }
    },
  );

  test('a command is a command, also in the midst of it', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await talk.press(message, 'Every day');
    expect(await talk.tells('/tasks')).toContain('No tasks');
    expect(await talk.tells('/cancel')).toBe('Cancelled. Nothing was made.');
  });
});
