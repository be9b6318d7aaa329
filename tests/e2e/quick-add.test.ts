import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, stopBots, type Bot } from './bot.ts';
import { askText, aTalkingBot, expectSilence, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

async function aBotIn(chat: number): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  return bot;
}

const inPrivate = ['ada', ada] as const;

describe('plain text in a private chat', () => {
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
