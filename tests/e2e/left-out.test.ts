import { afterEach, describe, expect, it } from 'vitest';
import { hour, lab, minute, second, stopBots, type Bot } from './bot.ts';
import { aTask, callsSince, mark, rowsOf, saidIn, select, threadOf, topicNamed } from './deliveries.ts';
import { ask, aTalkingBot, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

describe('a task whose owner has left the group', () => {
  it('is not run, which the group is told once, until the owner is back', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ada', lab, '/tz UTC');
    await made(bot, ['ben', lab], 'every hour Water the plants');
    bot.world.setMember(lab, 'ben', 'left');
    await bot.pass(3 * hour);
    const words = () => bot.texts(lab, null).filter((text) => text.startsWith('Not run:'));
    expect(words()).toEqual([
      'Not run: #1 Water the plants was left out, because its owner is not in this chat any more. Its runs are left out until that is mended; I tell you this once.',
    ]);
    expect(select(bot, 'select distinct status, reason from occurrences')).toEqual([
      { status: 'skipped', reason: 'grant_revoked' },
    ]);
    bot.world.setMember(lab, 'ben', 'member');
    await bot.pass(hour);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'Water the plants'))).toEqual(['Water the plants']);
  });
});

/** The question about a message whose send got no answer, for a task that was asked for in that thread. */
async function aDoubt(home: (bot: Bot) => Promise<number | null>) {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  const topic = await home(bot);
  const thread = topic === null ? threadOf(lab) : `${threadOf(lab)}:topic:${topic}`;
  const more = { policies: { unknown: 'ask' } };
  await aTask(bot, { text: 'ping', thread, cron: '1,2 10 * * *', more });
  await bot.pass(hour + 30 * second);
  await bot.pass(minute);
  bot.world.fault({ kind: 'reset_before', method: 'sendMessage', count: 1 });
  await bot.pass(2 * minute);
  const question = bot.last(lab, topic);
  expect(question.text).toMatch(/^Did it arrive\? Telegram never answered when I sent a message of #\d ping at /);
  return { bot, question, topic: topicNamed(bot, lab, 'ping') };
}

const homes = [
  ['a group', async () => null],
  ['a topic', (bot: Bot) => madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch')],
] as const;

describe.each(homes)('a message of which nobody knows whether it arrived, asked about in %s', (_name, home) => {
  it('is sent again by whoever may, and says who decided', async () => {
    const { bot, question, topic } = await aDoubt(home);
    expect(await bot.press('ben', question, 'Send again')).toMatchObject({ alert: true });
    const before = mark(bot);
    expect(await bot.press('ada', question, 'Send again')).toEqual({ text: 'Sending it again', alert: false });
    expect(callsSince(bot, before)).toHaveLength(3);
    expect(bot.now(question).text).toMatch(/\n\n— Ada: it is sent again$/);
    expect(bot.now(question).buttons).toEqual([]);
    expect(saidIn(bot, lab, topic)).toEqual(['ping', 'ping']);
  });

  it('is believed to have arrived, and says who has seen it', async () => {
    const { bot, question, topic } = await aDoubt(home);
    expect(await bot.press('ada', question, 'It arrived')).toEqual({ text: 'Noted: it arrived', alert: false });
    expect(bot.now(question).text).toMatch(/\n\n— Ada: it arrived$/);
    expect(saidIn(bot, lab, topic)).toEqual(['ping']);
    expect(rowsOf(bot, 'result').at(-1)).toMatchObject({ status: 'failed' });
    expect((await ask(bot, ['ada', lab], '/why', { thread: topic })).text).toContain('a person says that it arrived');
  });
});
