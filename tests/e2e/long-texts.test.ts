import { afterEach, expect, it } from 'vitest';
import { lab, minute, second, stopBots, type Bot } from './bot.ts';
import { aTask, ownFloods, rowsOf, saidIn, topicNamed, unhurried, aBotIn } from './deliveries.ts';

afterEach(stopBots);

/** A text of an action may be longer than instructions: a template makes it so. */
async function shown(text: string, env: Readonly<Record<string, string>> = unhurried) {
  const bot = await aBotIn(lab, env);
  await aTask(bot, { title: 'long', text, cron: '1 9 * * *' });
  await bot.pass(2 * minute);
  return { bot, parts: partsOf(bot) };
}

function partsOf(bot: Bot): string[] {
  return saidIn(bot, lab, topicNamed(bot, lab, 'long'));
}

it('shows a text of one unit too many as two messages, and nothing of it is lost', async () => {
  const { bot, parts } = await shown('x'.repeat(4097));
  expect(parts.map(({ length }) => length)).toEqual([4096, 1]);
  expect(rowsOf(bot, 'result').map(({ status }) => status)).toEqual(['delivered', 'delivered']);
});

it('shows as much as a template can make in order, at the pace of Telegram', async () => {
  const text = '{% for i in (1..28) %}{{ i }}: {% for j in (1..205) %}some words {% endfor %}\n\n{% endfor %}';
  const { bot } = await shown(text, {});
  await bot.pass(5 * minute);
  const parts = partsOf(bot);
  expect(parts.map((part) => Number(/^(\d+): /.exec(part)?.[1]))).toEqual(Array.from({ length: 28 }, (_, i) => i + 1));
  expect(ownFloods(bot)).toEqual([]);
  const result = bot.world.messages(lab, { limit: 500 }).findLast(({ text: said }) => said === parts.at(-1));
  expect(result?.buttons.flat().map(({ text: label }) => label)).toEqual(['Done', 'Snooze']);
});

it('sends only the lost one of several parts again', async () => {
  const bot = await aBotIn(lab);
  const text = ['A', 'B', 'C'].map((letter) => `${letter} `.repeat(1900).trim()).join('\n\n');
  await aTask(bot, { title: 'long', text, cron: '1 9 * * *' });
  await bot.pass(30 * second);
  let sends = 0;
  bot.world.watch(({ kind }) => {
    if (kind !== 'call') return;
    const last = bot.world.calls(0, 10_000).at(-1);
    if (last?.method === 'sendMessage' && (sends += 1) === 1) {
      bot.world.fault({ kind: 'reset_before', method: 'sendMessage', count: 1 });
    }
  });
  await bot.pass(3 * minute);
  expect(partsOf(bot).map((part) => part[0])).toEqual(['A', 'B', 'C']);
  expect(rowsOf(bot, 'result').map(({ sends: count }) => count)).toEqual([1, 2, 1]);
});
