import { afterEach, expect, it } from 'vitest';
import { outboxRanks } from '../../src/domain/delivery.ts';
import { day, hour, lab, minute, stopBots, type Bot } from './bot.ts';
import { aBotIn, aTask, callsSince, isCard, mark, select, topicNamed } from './deliveries.ts';
import { aTalkingBot, made } from './dialogue.ts';

afterEach(stopBots);

const inLab = { TELEGRAM_CHATS: String(lab), MIN_INTERVAL: 'PT1M' };

/** The pinned card of the task, as it is shown. */
function cardOf(bot: Bot, name: string): string {
  return bot.texts(lab, topicNamed(bot, lab, name)).find((text) => isCard(text)) ?? '';
}

function whereMade(bot: Bot): string {
  return bot.texts(lab, null).find((text) => isCard(text)) ?? '';
}

const drawn = (bot: Bot) =>
  select<{ at: number }>(
    bot,
    `select sent_at at from deliveries where rank = ${outboxRanks.redraw} and sent_at is not null order by sent_at`,
  ).map(({ at }) => at);

it('cards tell of the last run, and at the end of a task both of them that it has ended', async () => {
  const bot = await aTalkingBot(inLab);
  await made(bot, ['ada', lab], 'every day at 11 until 20 Nov Lunch');
  await bot.pass(3 * day);
  expect(cardOf(bot, 'Lunch')).toContain('🏁 Finished');
  expect(whereMade(bot)).toContain('🏁 Finished');
  for (const text of [cardOf(bot, 'Lunch'), whereMade(bot)])
    expect(text).toContain('Last: delivered Fri 20 Nov 11:00 (3 runs)');
});

it('a drawing that is owed when the process ends is made by the next one', async () => {
  const bot = await aTalkingBot(inLab);
  await made(bot, ['ada', lab], 'every day at 11 Lunch');
  await bot.pass(day);
  await bot.pass(day);
  const before = cardOf(bot, 'Lunch');
  await bot.say('ada', lab, '/run 1');
  const again = await bot.restart();
  expect(cardOf(again, 'Lunch')).toBe(before);
  await again.pass(2 * hour);
  expect(cardOf(again, 'Lunch')).toContain('(3 runs)');
});

const overIn = (text: string | undefined) => text?.split('\n\n— ')[1] ?? null;
const wordIn = (bot: Bot, chat: number, start: string) =>
  bot.world.messages(chat, { limit: 500 }).find(({ text }) => text.startsWith(start))?.text;

it('the word that a task may not run is over when it has a right again', async () => {
  const bot = await aBotIn(lab);
  const taskId = await aTask(bot, { cron: '0 * * * *' });
  const [grant] = select<{ grant_id: string }>(bot, 'select grant_id from tasks');
  await bot.api('DELETE', `/v1/grants/${grant?.grant_id}`);
  await bot.pass(2 * hour);
  expect([wordIn(bot, lab, 'Skipped:'), overIn(wordIn(bot, lab, 'Skipped:'))]).toEqual([expect.anything(), null]);
  await bot.api('POST', '/v1/grants', { task_id: taskId });
  await bot.pass(2 * minute);
  expect(overIn(wordIn(bot, lab, 'Skipped:'))).toBe('Over: it can run again');
});

it('the word that the bot may not pin is over when it may, and the card is pinned', async () => {
  const bot = await aBotIn(lab);
  bot.world.setBotRights(lab, { can_pin_messages: false });
  await aTask(bot, { cron: '0 * * * *' });
  await bot.pass(2 * hour);
  const pins = () =>
    callsSince(bot).filter(({ method, status }) => method === 'pinChatMessage' && status === 200).length;
  expect([wordIn(bot, lab, 'I may not pin'), pins()]).toEqual([expect.not.stringContaining('— '), 0]);
  bot.world.setBotRights(lab, { can_pin_messages: true });
  await bot.pass(2 * minute);
  expect([overIn(wordIn(bot, lab, 'I may not pin')), pins()]).toEqual(['Done: cards are pinned', 1]);
});

it('the word about results that wait is over when they are through', async () => {
  const bot = await aBotIn(lab);
  const more = { policies: { max_runs: 6 } };
  for (let number = 0; number < 25; number += 1) await aTask(bot, { text: `ping ${number}`, more });
  await bot.pass(5 * minute);
  const word = () => bot.texts(lab, null).find((text) => text.includes('results are waiting'));
  expect([word(), overIn(word())]).toEqual([expect.anything(), null]);
  await bot.pass(15 * minute);
  expect(overIn(word())).toBe('Over: nothing is waiting any more');
});

it('tasks of every minute have their cards drawn anew once an hour, four in a minute at most, and no result comes later for it', async () => {
  const bot = await aTalkingBot(inLab);
  const count = 6;
  for (let number = 1; number <= count; number += 1) await made(bot, ['ada', lab], `every minute Ping ${number}`);
  await bot.pass(20 * minute);
  const before = drawn(bot).length;
  const from = mark(bot);
  await bot.pass(3 * hour);
  const at = drawn(bot).slice(before);
  expect(at.length).toBeGreaterThan(count);
  expect(at.length).toBeLessThanOrEqual(3 * count);
  for (const instant of at)
    expect(at.filter((other) => other > instant - minute && other <= instant).length).toBeLessThanOrEqual(4);
  const late = select<{ late: number }>(
    bot,
    `select max(d.sent_at - o.slot_at) late from deliveries d join occurrences o on o.run_id = d.run_id where d.kind = 'result'`,
  );
  const results = callsSince(bot, from).filter(({ method }) => method === 'sendMessage');
  expect(results.length).toBeGreaterThanOrEqual(3 * 60 * count - count);
  expect(late[0]?.late).toBeLessThan(minute);
});
