import { describe, expect, test } from 'vitest';
import { aTalk, type Message, type Talk, afterAsking } from '../talk.ts';

/** In a group, words are meant for the bot when they answer it. */
const reply = { repliesTo: 1 };

const press = async (talk: Talk, message: Message, ...path: readonly string[]) => {
  for (const label of path) await talk.press(message, label);
};

describe('words in the midst of buttons', () => {
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
      const { talk, message } = await afterAsking('/new', {}, { kind: 'private' });
      await press(talk, message, ...path);
      const told = await talk.ask(words, reply);
      expect(told.text.length).toBeLessThan(4097);
      const left = await talk.tells('every day at 9 Stand up', reply);
      expect(left).toMatch(/^New task: Stand up\nEvery day at 09:00/);
    }
  });

  test.each([
    [['Every day'], 'later', '9:30'],
    [['Every day'], '25:10', '9:30'],
    [['Every week'], 'soon', 'monday and thursday'],
    [['Every month'], '42', 'the 15th'],
    [['Once'], 'yesterday', '24 december'],
  ] as const)(
    'what is wrong after %j, such as "%s", is told with examples of what is asked for',
    async (path, words, example) => {
      const { talk, message } = await afterAsking('/new');
      await press(talk, message, ...path);
      const { text } = (await talk.ask(words, reply)).shown;
      const lines = text.split('\n');
      expect(lines).toContain(example);
      expect(text).not.toContain('in 20 minutes');
      // And each of them can be read there.
      const tries = lines.slice(lines.indexOf('For example:') + 1, lines.indexOf('', lines.indexOf('For example:')));
      expect(tries.length).toBeGreaterThan(1);
      for (const one of tries) {
        const again = await aTalk();
        const fresh = await again.ask('/new');
        await press(again, fresh, ...path);
        expect(await again.tells(one, reply), one).not.toMatch(/For example|Noted/);
      }
    },
  );
});
