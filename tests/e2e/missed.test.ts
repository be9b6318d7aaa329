import { afterEach, describe, expect, it } from 'vitest';
import { day, hour, lab, minute, second, stopBots, type Bot } from './bot.ts';
import { aTask, mark, callsSince, saidIn, threadOf, topicNamed } from './deliveries.ts';
import { aTalkingBot, labels } from './dialogue.ts';

afterEach(stopBots);

/** A task that asks what becomes of the slots of three hours in which the bot was not there. */
async function anOutage(chat: number, { cron = '0 * * * *', awayMs = 3 * hour + 30 * minute } = {}) {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  const more = { policies: { missed: 'ask' } };
  await aTask(bot, { title: 'Backup', text: 'Backup done.', thread: threadOf(chat), cron, more });
  const again = await bot.restart({ awayMs });
  await again.pass(10 * second);
  // The word about the time away comes when all its slots are decided.
  await again.pass(second);
  const topic = topicNamed(again, chat, 'Backup');
  const asked = again.world
    .messages(chat, { thread: topic, limit: 100 })
    .filter(({ text }) => text.startsWith('Missed:'));
  const [question] = asked;
  if (question === undefined) throw new Error('nothing was asked');
  return { bot: again, topic, question, asked };
}

const ran = (bot: Bot, chat: number, topic: number) =>
  saidIn(bot, chat, topic).filter((text) => text.startsWith('Backup done.')).length;

describe('missed runs that are asked about, in the topic of their task', () => {
  it('run all, when somebody says so', async () => {
    const { bot, topic, question } = await anOutage(lab);
    expect(question.text).toBe(
      'Missed: 3 runs of #1 Backup, due from Wed 18 Nov 10:00 to Wed 18 Nov 12:00 (UTC), because I was down. Which of them should I run now?\nIf nobody answers by Thu 19 Nov 12:30 (UTC), I run none of them.',
    );
    expect(labels(question)).toEqual([['Run the latest', 'Run all 3'], ['Skip']]);
    expect(await bot.press('ada', question, 'Run all 3')).toEqual({ text: 'Running them now', alert: false });
    expect(ran(bot, lab, topic)).toBe(3);
    expect(bot.now(question).text).toMatch(/\n\n— Ada: run all of them$/);
    expect(bot.now(question).buttons).toEqual([]);
  });

  it('are over after a day, and the question says so by itself', async () => {
    const { bot, topic, question } = await anOutage(lab, { cron: '0 10 * * 3', awayMs: 2 * hour });
    expect(labels(question)).toEqual([['Run it', 'Skip']]);
    const before = mark(bot);
    await bot.pass(day + minute);
    expect(bot.now(question).text).toMatch(
      /^Missed: #1 [\s\S]*\n\n— Nobody answered in time, so I ran none of them\.$/,
    );
    expect(callsSince(bot, before).map(({ method }) => method)).toEqual(['editMessageText']);
    expect(ran(bot, lab, topic)).toBe(0);
    expect(bot.now(question).buttons).toEqual([]);
  });
});
