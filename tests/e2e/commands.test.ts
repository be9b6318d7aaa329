import { afterEach, expect, it } from 'vitest';
import { hour, lab, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, aTalkingBot, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

async function aScene() {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  const topic = await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
  await made(bot, ['ada', lab], 'every day at 13 Tea');
  return { bot, topic };
}

const states = (bot: Bot) =>
  select<{ state: string }>(bot, 'select state from tasks order by number').map((row) => row.state);

it('/delete closes the topic, and Undo opens it again', async () => {
  const { bot, topic } = await aScene();
  const closed = () => bot.world.topics(lab).find(({ threadId }) => threadId === topic)?.isClosed;
  const deleted = await ask(bot, ['ada', lab], '/delete', { thread: topic });
  expect(labels(deleted)).toEqual([['Undo']]);
  expect(closed()).toBe(true);
  expect(await bot.press('ada', deleted, 'Undo')).toEqual({ text: 'Restored', alert: false });
  expect(closed()).toBe(false);
  expect(states(bot)).toEqual(['active', 'active']);
  await bot.pass(4 * hour);
  expect(bot.texts(lab, topic)).toContain('Lunch');
});

it('the pinned card follows what is done elsewhere', async () => {
  const { bot, topic } = await aScene();
  const card = () => bot.world.messages(lab, { thread: topic }).find(({ isPinned }) => isPinned)?.text;
  await ask(bot, ['ada', lab], '/pause 1');
  expect(card()).toContain('Paused by Ada');
  await ask(bot, ['ada', lab], '/resume 1');
  expect(card()).toContain('Active');
  await ask(bot, ['ada', lab], '/edit 1 title Brunch');
  expect(card()).toMatch(/^#1 Brunch/);
});
