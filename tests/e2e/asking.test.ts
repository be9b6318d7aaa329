import { afterEach, expect, it } from 'vitest';
import { ada, lab, second, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, aTalkingBot, labels } from './dialogue.ts';

afterEach(stopBots);

async function aLab(): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  await bot.say('ada', ada, '/tz UTC');
  return bot;
}

const titles = async (bot: Bot) =>
  select<{ title: string }>(bot, 'select title from tasks order by number').map(({ title }) => title);

it('words that are edited change the question that came of them, and then the preview, in one message', async () => {
  const bot = await aLab();
  const said = bot.world.say({ as: 'ada', chat: ada, text: 'cal mum' });
  await bot.pass(2 * second);
  const question = bot.world.messages(ada, { limit: 1 }).at(-1);
  if (question === undefined) throw new Error('nothing is asked');
  for (const text of ['call mum', 'call mum tomorrow at 9']) {
    bot.world.edit({ as: 'ada', chat: ada, messageId: said.messageId, text });
    await bot.pass(2 * second);
    expect(bot.now(question).text).toContain('call mum');
    expect(bot.world.messages(ada, { limit: 1 }).at(-1)?.messageId).toBe(question.messageId);
  }
  await bot.press('ada', bot.now(question), 'Create');
  expect(await titles(bot)).toEqual(['call mum']);
});

it('a reply in a group says which of two previews, or which question, is meant', async () => {
  const bot = await aLab();
  const first = await ask(bot, ['ada', lab], '/new every day at 7 First');
  const question = await ask(bot, ['ada', lab], '/new Second');
  await ask(bot, ['ada', lab], '/new every day at 9 Third');
  await bot.say('ada', lab, 'yes', { replyTo: first.messageId });
  expect(await titles(bot)).toEqual(['First']);
  const preview = await ask(bot, ['ada', lab], 'tomorrow at 9', { replyTo: question.messageId });
  await bot.say('ada', lab, 'yes', { replyTo: preview.messageId });
  expect(await titles(bot)).toEqual(['First', 'Second']);
});

it('/cancel leaves no preview that looks as if it could be created', async () => {
  const bot = await aLab();
  const preview = await ask(bot, ['ada', ada], 'call mum tomorrow at 9');
  await bot.say('ada', ada, '/cancel');
  expect(labels(bot.now(preview))).toEqual([]);
});
