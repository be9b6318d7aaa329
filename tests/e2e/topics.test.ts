import { afterEach, describe, expect, it } from 'vitest';
import { aBot, ada, lab, minute, noRights, second, stopBots, type Bot } from './bot.ts';
import {
  aTask,
  callsSince,
  mark,
  methodsSince,
  opened,
  ownFloods,
  rowsOf,
  saidIn,
  threadOf,
  topicNamed,
  unhurried,
} from './deliveries.ts';

afterEach(stopBots);

const places = [
  ['a forum', lab],
  ['a private chat', ada],
] as const;

async function withTopic(chat: number, text = 'ping') {
  const bot = await aBot(unhurried);
  await opened(bot, chat);
  await aTask(bot, { text, thread: threadOf(chat) });
  await bot.pass(minute + 20 * second);
  return { bot, topic: topicNamed(bot, chat, text) };
}

/** What stands in General, or in a private chat outside of topics, since the setting up. */
function told(bot: Bot, chat: number, words: RegExp): string[] {
  return saidIn(bot, chat, null).filter((text) => words.test(text));
}

describe.each(places)('a topic that a person deleted, in %s', (_name, chat) => {
  it('is made again once, with the result, a word about it, and the card', async () => {
    const { bot, topic } = await withTopic(chat);
    bot.world.deleteTopic(chat, topic);
    const before = mark(bot);
    await bot.pass(minute);
    const again = topicNamed(bot, chat, 'ping');
    expect(again).not.toBe(topic);
    const said = saidIn(bot, chat, again);
    expect(said).toHaveLength(2);
    expect(said[0]).toBe('ping');
    expect(said[1]).toContain('Somebody deleted the topic');
    expect(methodsSince(bot, before)).toEqual([
      'sendMessage',
      'createForumTopic',
      'sendMessage',
      'sendMessage',
      'sendMessage',
      'pinChatMessage',
    ]);
    const steady = mark(bot);
    await bot.pass(3 * minute);
    expect(methodsSince(bot, steady)).toEqual(['sendMessage', 'sendMessage', 'sendMessage']);
    expect(saidIn(bot, chat, null).join()).not.toContain('ping');
  });
});

it('makes five topics that were deleted between two runs again, each once', async () => {
  const bot = await aBot();
  await opened(bot, lab);
  const names = ['one', 'two', 'three', 'four', 'five'];
  for (const text of names) await aTask(bot, { text, cron: '*/10 * * * *' });
  await bot.pass(12 * minute);
  for (const name of names) bot.world.deleteTopic(lab, topicNamed(bot, lab, name));
  await bot.pass(10 * minute);
  for (const name of names) {
    const said = saidIn(bot, lab, topicNamed(bot, lab, name));
    expect(said).toEqual([name, expect.stringContaining('Somebody deleted')]);
  }
  expect(bot.world.topics(lab)).toHaveLength(10);
  expect(ownFloods(bot)).toEqual([]);
  await bot.pass(10 * minute);
  expect(bot.world.topics(lab)).toHaveLength(10);
  for (const name of names) expect(saidIn(bot, lab, topicNamed(bot, lab, name)).at(-1)).toBe(name);
});

it('makes a topic again that was deleted between the parts of a long result, and shows the rest there', async () => {
  const bot = await aBot();
  await opened(bot, lab);
  const text = ['A', 'B', 'C'].map((letter) => `${letter} `.repeat(1800).trim()).join('\n\n');
  await aTask(bot, { title: 'long', text, cron: '1 9 * * *' });
  const stop = bot.world.watch(({ kind }) => {
    const first = bot.world.messages(lab).find((message) => message.text.startsWith('A A'));
    if (kind !== 'message' || first === undefined || first.threadId === null) return;
    stop();
    bot.world.deleteTopic(lab, first.threadId);
  });
  await bot.pass(3 * minute);
  const said = saidIn(bot, lab, topicNamed(bot, lab, 'long'));
  expect(said.filter((part) => part.startsWith('B B'))).toHaveLength(1);
  expect(said.filter((part) => part.startsWith('C C'))).toHaveLength(1);
  expect(rowsOf(bot, 'result').map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered']);
});

describe('a closed topic', () => {
  it('is written to all the same where the bot may, and stays closed', async () => {
    const { bot, topic } = await withTopic(lab);
    bot.world.closeTopic(lab, topic);
    await bot.pass(2 * minute);
    expect(saidIn(bot, lab, topic)).toEqual(['ping', 'ping', 'ping']);
    expect(bot.world.topics(lab)[0]).toMatchObject({ isClosed: true });
  });
});

describe.each(places)('topics that are switched off in %s', (_name, chat) => {
  it('hold results back, which is told once; switched on again, all arrive in order', async () => {
    const { bot, topic } = await withTopic(chat);
    await aTask(bot, { text: 'other', thread: threadOf(chat), cron: '2,3,4 9 * * *' });
    bot.world.setForum(chat, false);
    await bot.pass(4 * minute);
    expect(told(bot, chat, /A result waits/).length).toBeLessThanOrEqual(2);
    expect(told(bot, chat, /A result waits/).length).toBeGreaterThanOrEqual(1);
    expect(told(bot, chat, /^(ping|other)/)).toEqual([]);
    bot.world.setForum(chat, true);
    await bot.pass(12 * minute);
    const mine = saidIn(bot, chat, topicNamed(bot, chat, 'other'));
    expect(mine.filter((text) => text === 'other')).toEqual(['other', 'other', 'other']);
    const pings = bot.world.topics(chat).filter(({ name }) => name === 'ping');
    const said = pings.flatMap(({ threadId }) => saidIn(bot, chat, threadId)).filter((text) => text === 'ping');
    expect(said).toHaveLength(17);
    expect(pings.length).toBeLessThanOrEqual(1);
    expect(topic).toBeGreaterThan(0);
    expect(rowsOf(bot, 'result').filter(({ status }) => status !== 'delivered')).toEqual([]);
  });
});

describe('a group in which the bot may not manage topics', () => {
  it('hears once what to mend; Retry looks at once, and results then arrive in order', async () => {
    const bot = await aBot(unhurried);
    await opened(bot, noRights);
    await aTask(bot, { text: 'ping', thread: threadOf(noRights) });
    await bot.pass(3 * minute + 20 * second);
    const waits = told(bot, noRights, /A result waits/);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toContain('Manage topics');
    const guidance = bot.last(noRights);
    await bot.press('ada', guidance, 'Retry');
    expect(bot.world.topics(noRights)).toEqual([]);
    expect(told(bot, noRights, /A result waits/)).toHaveLength(1);

    // Quietly, as somebody does it whose update gets lost.
    const seen = mark(bot);
    bot.world.setBotRights(noRights, { can_manage_topics: true });
    await bot.pass(second * 5);
    const topic = topicNamed(bot, noRights, 'ping');
    expect(saidIn(bot, noRights, topic)).toEqual(['ping', 'ping', 'ping']);
    expect(methodsSince(bot, seen)).toEqual([
      'createForumTopic',
      'sendMessage',
      'sendMessage',
      'sendMessage',
      'sendMessage',
      'pinChatMessage',
    ]);
    expect(told(bot, noRights, /may not pin/)).toEqual([]);
    expect(saidIn(bot, noRights, topic).filter((text) => /may not pin/.test(text))).toHaveLength(1);
  });
});
