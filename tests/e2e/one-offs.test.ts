import { afterEach, expect, it } from 'vitest';
import { ada, lab, minute, stopBots } from './bot.ts';
import { saidIn, topicNamed } from './deliveries.ts';
import { ask, askText, aTalkingBot, labels, made } from './dialogue.ts';

afterEach(stopBots);

async function together() {
  const bot = await aTalkingBot();
  const home = ['ada', ada] as const;
  await bot.say('ada', ada, '/start');
  const settings = await ask(bot, home, '/settings one-offs together');
  expect(labels(settings).flat()).toContain('✓ Together in Reminders');
  return { bot, home };
}

it('tells in the shared topic whose each result is, and Done, Snooze and replies mean that one', async () => {
  const { bot, home } = await together();
  await made(bot, home, 'in 1 minute Call mum');
  await made(bot, home, 'in 1 minute Buy milk. Two litres');
  await bot.pass(2 * minute);
  const topic = topicNamed(bot, ada, 'Reminders');
  const [mum, milk] = bot.world.messages(ada, { thread: topic, limit: 10 }).filter(({ service }) => service === null);
  expect(new Set([mum?.text, milk?.text])).toEqual(new Set(['#1 Call mum', '#2 Buy milk. Two litres']));
  if (mum === undefined || milk === undefined) throw new Error('both are there');
  await bot.press('ada', mum, 'Done');
  expect(bot.now(mum).text).toMatch(/^#\d .*\n\n— Done by Ada/s);
  await bot.press('ada', bot.now(mum), 'Not done yet');
  expect(bot.now(mum).text).toBe(mum.text);
  await bot.say('ada', ada, 'done', { thread: topic, replyTo: milk.messageId });
  expect(bot.now(milk).text).toMatch(new RegExp(`^${milk.text.replace('.', '\\.')}\n\n— Done by Ada`));
  expect(await askText(bot, home, '/topic delete #1')).toContain('Reminders');
  await bot.say('ada', ada, '/edit #1 title Call her');
  await bot.say('ada', ada, '/run #1');
  await bot.pass(2 * minute);
  expect(bot.world.messages(ada, { thread: topic, limit: 50 }).filter(({ isPinned }) => isPinned)).toEqual([]);
});

it('takes words in the shared topic as those of a chat, not of one task', async () => {
  const { bot, home } = await together();
  await made(bot, home, 'in 1 minute Call mum');
  await bot.pass(2 * minute);
  const thread = topicNamed(bot, ada, 'Reminders');
  const answers = await bot.say('ada', ada, 'tomorrow at 10 buy bread', { thread });
  expect(labels(answers[0] ?? bot.last(ada)).flat()).toContain('Create');
});

it('offers to bring them together when five topics of finished one-offs have piled up, and says it once', async () => {
  const bot = await aTalkingBot();
  await bot.say('ada', lab, '/allow');
  for (let number = 1; number <= 6; number += 1) {
    await made(bot, ['ada', lab], `in 1 minute errand ${number}`);
    await bot.pass(2 * minute);
  }
  const offers = bot.world
    .messages(lab, { thread: null, limit: 100 })
    .filter(({ text }) => text.includes('/topic clean'));
  const [offer] = offers;
  expect(offers).toHaveLength(1);
  if (offer === undefined) return;
  await bot.press('ada', offer, 'Together in Reminders');
  await made(bot, ['ada', lab], 'in 1 minute errand 7');
  await bot.pass(2 * minute);
  expect(saidIn(bot, lab, topicNamed(bot, lab, 'Reminders'))).toEqual(['#7 errand 7']);
  expect(bot.now(offer).buttons).toEqual([]);
});
