import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { ada, day, lab, minute, stopBots, type Bot } from './bot.ts';
import { ask, aTalkingBot, expectSilence, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

interface Scene {
  readonly bot: Bot;
  readonly topic: number;
  readonly result: MessageShown;
  /** Answers the result, in its topic. */
  readonly reply: (text: string, as?: string) => Promise<string>;
}

async function aScene(chat: number): Promise<Scene> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
  await made(bot, ['ada', chat], 'every day at 13 Tea');
  const result = bot.world.messages(chat, { thread: topic }).find(({ text }) => text === 'Lunch');
  if (result === undefined) throw new Error('there is no result');
  const reply = async (text: string, as = 'ada') =>
    (await ask(bot, [as, chat], text, { thread: topic, replyTo: result.messageId })).text;
  return { bot, topic, result, reply };
}

const places = [
  ['a group', lab],
  ['a private chat', ada],
] as const;

describe.each(places)('a reply to a result, in %s', (_name, chat) => {
  it('puts it off, skips, runs it again and tells why', async () => {
    const { bot, topic, reply } = await aScene(chat);
    expect(await reply('10m')).toMatch(/^Snoozed: #1 Lunch comes again Wed 18 Nov 09:1\d \(UTC\)\.$/);
    expect(await reply('tomorrow 9')).toMatch(/^Snoozed: #1 Lunch comes again Thu 19 Nov 09:00 \(UTC\)\.$/);
    expect(await reply('later')).toBe('Until when shall #1 Lunch wait?');
    expect(await reply('skip')).toMatch(/^Left out of #1 Lunch: Wed 18 Nov 12:00 \(UTC\)\.\nNext: Thu 19 Nov 12:00/);
    expect(await reply('why?')).toMatch(/^Why, for #1 Lunch\n\n.*09:00/);
    expect(await reply('/why')).toMatch(/^Why, for #1 Lunch\n\n.*09:00/);
    expect(await reply('/skip 2')).toContain('Left out of #1 Lunch: ');
    const before = bot.texts(chat, topic).filter((text) => text === 'Lunch').length;
    await bot.say('ada', chat, 'again', { thread: topic });
    expect(bot.texts(chat, topic).filter((text) => text === 'Lunch')).toHaveLength(before);
  });

  it('runs it again', async () => {
    const { bot, topic, result } = await aScene(chat);
    await bot.say('ada', chat, 'again', { thread: topic, replyTo: result.messageId });
    await bot.pass(minute);
    expect(bot.texts(chat, topic).filter((text) => text === 'Lunch')).toHaveLength(2);
  });

  it.each(['done', 'Ok, done!', 'taken', '✅'])('%s says in the result itself who has done it', async (words) => {
    const { bot, topic, result } = await aScene(chat);
    const answers = await bot.say('ada', chat, words, { thread: topic, replyTo: result.messageId });
    expect(answers).toEqual([]);
    expect(bot.now(result).text).toMatch(/^Lunch\n\n— Done by Ada, 09:0\d$/);
  });

  it('a command in reply to the card of another task means that one, and a number wins', async () => {
    const { bot, topic } = await aScene(chat);
    const card = await ask(bot, ['ada', chat], '/task #2', { thread: topic });
    if (card.ephemeralId !== null) return;
    const at = { thread: topic, replyTo: card.messageId };
    expect((await ask(bot, ['ada', chat], '/pause', at)).text).toBe('Paused #2 Tea.');
    expect((await ask(bot, ['ada', chat], '/pause #1', at)).text).toBe('Paused #1 Lunch.');
  });

  it('picks a day and an hour on the result, which keeps its words', async () => {
    const { bot, result } = await aScene(chat);
    await bot.press('ada', result, 'Snooze');
    expect(await bot.press('ada', bot.now(result), 'Pick…')).toMatchObject({
      text: 'Press one, or reply with a time: tomorrow 9',
    });
    await bot.press('ada', bot.now(result), 'Tomorrow');
    await bot.press('ada', bot.now(result), '10:00');
    expect(bot.now(result).text).toBe('Lunch\n\n— Snoozed by Ada: comes again Thu 19 Nov 10:00 (UTC)');
    await bot.pass(minute);
    const pinned = bot.world.messages(chat, { limit: 500 }).find(({ text }) => text.includes('Snoozed to Thu 19 Nov'));
    expect(pinned?.text).toContain('#1 Lunch');
    await bot.pass(day + 2 * 60 * minute);
    expect(pinned === undefined ? '' : bot.now(pinned).text).not.toContain('Snoozed to');
    expect(bot.texts(chat, result.threadId).filter((text) => text === 'Lunch').length).toBeGreaterThan(1);
  });
});

it('talk below a result is left alone in a group, after one hint for each person', async () => {
  const { bot, topic, result } = await aScene(lab);
  const at = { thread: topic, replyTo: result.messageId };
  const hint = await ask(bot, ['ada', lab], 'what a nice lunch', at);
  expect(hint.text).toMatch(/^I do not understand that as a reply about #1 Lunch\. These I do:\ndone, later,/);
  await expectSilence(bot, ['ada', lab], 'was it not', at);
  expect((await ask(bot, ['ben', lab], 'it was', at)).text).toContain('I do not understand that');
  await expectSilence(bot, ['ben', lab], 'really', at);
  await expectSilence(bot, ['ben', lab], 'done', { thread: topic });
});

it('in a private chat each reply that is not understood has its hint', async () => {
  const { reply } = await aScene(ada);
  for (const words of ['nice', 'in two shakes of a tail', 'x'.repeat(4000)]) {
    expect(await reply(words)).toContain('I do not understand that as a reply about #1 Lunch.');
  }
});

it('a member may not put off what is of somebody else', async () => {
  const { reply, bot, result } = await aScene(lab);
  expect(await reply('2 hours', 'ben')).toBe('Only Ada or an admin may do that.');
  expect(labels(bot.now(result))).toEqual([['Done', 'Snooze']]);
});
