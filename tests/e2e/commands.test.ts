import { afterEach, expect, it } from 'vitest';
import { hour, lab, second, stopBots, type Bot } from './bot.ts';
import { aTask, driftUntil, runNow, select, topicNamed } from './deliveries.ts';
import { ask, askText, aTalkingBot, hear, labels, made, madeWithTopic } from './dialogue.ts';

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
  expect(await bot.press('ada', deleted, 'Undo')).toEqual({ text: 'Brought back', alert: false });
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

it('/cancel drops a draft first, and stops the run then', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab), ECHO_ACTION: '1' });
  const more = { action: { kind: 'echo', delay_ms: 25_000 } };
  const taskId = await aTask(bot, { text: 'Slow', cron: '0 0 1 1 *', more });
  await runNow(bot, taskId);
  const ended = (count: number) =>
    select(bot, `select id from runs where status in ('succeeded', 'failed', 'cancelled')`).length === count;
  await driftUntil(bot, () => ended(1));
  await bot.pass(second);
  const thread = topicNamed(bot, lab, 'Slow');
  const say = (text: string, answer: string) => hear(bot, ['ada', lab], { text, answer, thread });
  const running = () => select(bot, `select id from runs where status = 'running'`).length;
  bot.world.say({ as: 'ada', chat: lab, text: '/run', thread });
  await driftUntil(bot, () => running() === 1);
  await say('/run', 'This task is running now. Wait for that run to end, or cancel it.');
  await say('/new every day at 9', 'What should I say?');
  await say('/cancel', 'Cancelled. Nothing was made.');
  await say('/cancel', 'Stopping what #1 Slow runs now.');
  await driftUntil(bot, () => ended(2));
  expect(await askText(bot, ['ada', lab], '/cancel', { thread })).toBe('Nothing of #1 Slow runs at the moment.');
  expect(select(bot, 'select status from occurrences order by id')).toMatchObject([
    { status: 'succeeded' },
    { status: 'cancelled' },
  ]);
});
