import { afterEach, expect, it } from 'vitest';
import { lab, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, aTalkingBot, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

async function aLab(): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  return bot;
}

const schedules = (bot: Bot) =>
  select<{ title: string; schedule_kind: string }>(bot, 'select title, schedule_kind from tasks order by number');

it('the wizard goes on after a restart at every step, with the buttons that are there', async () => {
  let bot = await aLab();
  const message = await ask(bot, ['ben', lab], '/new');
  for (const button of ['Every month', 'Last day', '17:00', '17:30']) {
    bot = await bot.restart();
    await bot.press('ben', bot.now(message), button);
  }
  bot = await bot.restart();
  const preview = await ask(bot, ['ben', lab], 'Drinks', { replyTo: message.messageId });
  // The question has gone, so that one message is left.
  expect(() => bot.now(message)).toThrow('the message is gone');
  expect(preview.text).toMatch(/^New task: Drinks\nOn the last day of the month at 17:30/);
  bot = await bot.restart();
  await bot.press('ben', bot.now(preview), 'Create');
  expect(schedules(bot)).toMatchObject([{ title: 'Drinks' }]);
});

it('the wizard stays in the topic of a task in which it was begun', async () => {
  const bot = await aLab();
  const topic = await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
  const message = await ask(bot, ['ada', lab], '/new', { thread: topic });
  expect(message.threadId).toBe(topic);
  for (const button of ['Weekdays', '12:00', '12:30']) await bot.press('ada', bot.now(message), button);
  const preview = await ask(bot, ['ada', lab], 'Coffee', { thread: topic, replyTo: message.messageId });
  expect(preview.threadId).toBe(topic);
  await bot.press('ada', preview, 'Create');
  expect(bot.now(preview).text).toMatch(/^#2 Coffee/);
});
