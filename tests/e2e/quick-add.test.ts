import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, askText, aTalkingBot, expectSilence, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

async function aBotIn(chat: number): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  return bot;
}

const inPrivate = ['ada', ada] as const;

describe('plain text in a private chat', () => {
  it.each([
    ['tomorrow at 9 call mum', 'call mum', 'Once on Thu 19 Nov at 09:00'],
    ['call mum tomorrow 9', 'call mum', 'Once on Thu 19 Nov at 09:00'],
    ['pay rent every month on the 1st at 9', 'pay rent', 'On the 1st of the month at 09:00'],
  ])('is a task in one line: %s', async (words, title, when) => {
    const bot = await aBotIn(ada);
    const preview = await ask(bot, inPrivate, words);
    expect(preview.text).toMatch(new RegExp(`^New task: ${title}\n${when}`));
    await bot.press('ada', preview, 'Create');
    expect(select(bot, 'select title from tasks')).toEqual([{ title }]);
  });

  it.each(['buy tickets for monday at 9', 'hello there', '👍', 'gym every tuesday', 'x'.repeat(4000)])(
    'is not guessed at: %#',
    async (words) => {
      const bot = await aBotIn(ada);
      expect(await askText(bot, inPrivate, words)).toContain('I did not find a time in that.');
      expect(select(bot, 'select * from drafts')).toEqual([]);
    },
  );

  it('with a time alone asks for the text', async () => {
    const bot = await aBotIn(ada);
    expect(await askText(bot, inPrivate, 'every weekday at 9')).toContain('What should I say?');
    expect(await askText(bot, inPrivate, 'Stand up')).toMatch(/^New task: Stand up/);
  });

  it('works in a topic that a person has opened, and not in that of a task', async () => {
    const bot = await aBotIn(ada);
    const own = await madeWithTopic(bot, inPrivate, 'every day at 12 Lunch');
    await expectSilence(bot, inPrivate, 'call mum tomorrow at 9', { thread: own });
  });
});

it('in a group plain text is left alone, and heard where the bot is called by its name', async () => {
  const bot = await aBotIn(lab);
  await expectSilence(bot, ['ben', lab], 'call mum tomorrow at 9');
  const name = bot.world.bot.username;
  expect(await askText(bot, ['ben', lab], `@${name} call mum tomorrow at 9`)).toMatch(
    /^New task: call mum\nOnce on Thu 19 Nov at 09:00/,
  );
  expect(await askText(bot, ['ben', lab], '/new call mum tomorrow at 10')).toMatch(/\n\nNew task: call mum\n/);
});
