import { afterEach, describe, expect, it } from 'vitest';
import type { FaultKind } from '../../src/sandbox/world/world.ts';
import { ada, ben, lab, minute, plain, second, stopBots, type Bot } from './bot.ts';
import {
  aTask,
  callsSince,
  mark,
  opened,
  ownFloods,
  rowsOf,
  saidIn,
  threadOf,
  topicNamed,
  unhurried,
  aBotIn,
} from './deliveries.ts';

afterEach(stopBots);

const kinds: readonly FaultKind[] = [
  '429',
  '500',
  'bad_gateway_html',
  'hang',
  'reset_before',
  'reset_after',
  'answer_lost',
  'late',
  'wrong_shape',
];

/** Faults after which the bot cannot know whether a topic was made, so that it asks a person before it makes a second one. */
const leftNoTrace: ReadonlySet<FaultKind> = new Set(['bad_gateway_html', 'hang', 'reset_before']);

async function retry(bot: Bot, chat: number): Promise<void> {
  expect(bot.world.topics(chat)).toEqual([]);
  const question = bot.last(chat, null);
  expect(question.text).toContain('got no answer');
  await bot.press('ada', question, 'Retry');
  await bot.pass(minute);
}

/** Past the wait for an answer that does not come, and then past every look for evidence. */
async function untilSettled(bot: Bot): Promise<void> {
  await bot.drift(27 * second);
  await bot.pass(3 * minute);
}

const steps = [
  ['createForumTopic', lab],
  ['sendMessage', lab],
  ['pinChatMessage', lab],
  ['sendMessage', ada],
] as const;

it('answers that nobody can read hold up the results of a chat for some seconds longer, and nothing is sent twice', async () => {
  const bot = await aBotIn(lab, unhurried);
  const names = Array.from({ length: 12 }, (_, index) => `ping ${index}`);
  for (const text of names) await aTask(bot, { text, thread: threadOf(lab) });
  while (rowsOf(bot, 'result').length < 12) await bot.pass(second);
  await bot.pass(59 * second);
  bot.world.fault({ kind: 'wrong_shape', method: '*', count: 100_000 });
  const before = mark(bot);
  await bot.pass(41 * second);
  const open = () => rowsOf(bot, 'result').filter(({ status }) => status !== 'delivered');
  expect(open()).toHaveLength(12);
  bot.world.clearFault();
  await bot.pass(6 * second);
  expect(open()).toEqual([]);
  const spent = callsSince(bot, before).map(({ method }) => method);
  expect(spent.filter((method) => method === 'sendMessage')).toHaveLength(12);
  expect(spent.filter((method) => method === 'deleteMessage')).toEqual([]);
  expect(spent.length).toBeLessThan(30);
  for (const name of names) expect(saidIn(bot, lab, topicNamed(bot, lab, name)).length).toBeGreaterThan(1);
});

describe.each(steps)('%s in chat %i', (method, chat) => {
  it.each(kinds)('that meets "%s" leads to one topic with one result and one pinned card', async (kind) => {
    const bot = await aBotIn(chat);
    await aTask(bot, { text: 'ping', thread: threadOf(chat), cron: '1 9 * * *' });
    await bot.pass(50 * second);
    bot.world.fault({ kind, method, chat, count: 1 });
    await untilSettled(bot);
    expect(bot.world.faults()).toEqual([]);
    if (method === 'createForumTopic' && leftNoTrace.has(kind)) await retry(bot, chat);
    const topic = topicNamed(bot, chat, 'ping');
    expect(saidIn(bot, chat, topic)).toEqual(['ping']);
    expect(saidIn(bot, chat, null).filter((text) => text === 'ping')).toEqual([]);
    const cards = bot.world.messages(chat, { thread: topic }).filter(({ text }) => text.startsWith('#1 ping\n'));
    expect(cards.map(({ isPinned }) => isPinned)).toEqual([true]);
    expect(rowsOf(bot).filter(({ status }) => status !== 'delivered')).toEqual([]);
    expect(rowsOf(bot).filter(({ kind: is }) => is === 'result')).toHaveLength(1);
    expect(ownFloods(bot)).toEqual([]);
  });
});

it('gives two tasks of the same name a topic each, when the answers to both creations are lost', async () => {
  const bot = await aBotIn(lab);
  bot.world.fault({ kind: 'reset_after', method: 'createForumTopic', count: 2 });
  for (const text of ['left', 'right']) await aTask(bot, { title: 'twin', text, cron: '1 9 * * *' });
  await bot.pass(5 * minute);
  const topics = bot.world.topics(lab);
  expect(topics.map(({ name }) => name)).toEqual(['twin', 'twin']);
  const said = topics.map(({ threadId }) => saidIn(bot, lab, threadId));
  expect(said.map(({ length }) => length)).toEqual([1, 1]);
  expect(said.flat().toSorted()).toEqual(['left', 'right']);
});

it('finds a topic of which it hears only after it has asked, and makes no second one', async () => {
  for (const isPressed of [false, true]) {
    const bot = await aBotIn(lab);
    await aTask(bot, { text: 'ping', cron: '1 9 * * *' });
    await bot.pass(50 * second);
    bot.world.fault({ kind: 'reset_after', method: 'createForumTopic', count: 1 });
    // The question on its way is answered still; the next one is not, for a long time.
    bot.world.fault({ kind: '429', method: 'getUpdates', count: 1, retryAfter: 240 });
    bot.world.say({ as: 'ada', chat: lab, text: '/help' });
    await bot.drift(2 * minute);
    const question = bot.last(lab, null);
    expect(question.text).toContain('got no answer');
    if (isPressed) bot.world.press({ as: 'ada', chat: lab, messageId: question.messageId, button: 'Retry' });
    await bot.drift(4 * minute);
    await bot.pass(10 * minute);
    expect(bot.world.topics(lab)).toHaveLength(1);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping'))).toEqual(['ping']);
  }
});

it('asks about each topic of which nobody knows whether it was made, and each answer has that one made', async () => {
  const bot = await aBotIn(lab);
  bot.world.fault({ kind: 'reset_before', method: 'createForumTopic', count: 2 });
  for (const text of ['one', 'two', 'three']) await aTask(bot, { text, cron: '1 9 * * *' });
  await bot.pass(30 * minute);
  expect(bot.world.topics(lab).map(({ name }) => name)).toEqual(['three']);
  const asked = () => bot.world.messages(lab, { thread: null }).filter(({ text }) => /got no answer/.test(text));
  expect(asked().map(({ text }) => /#\d \w+/.exec(text)?.[0])).toEqual(['#1 one', '#2 two']);
  for (const [index, question] of asked().entries()) {
    await bot.press('ada', question, 'Retry');
    await bot.pass(20 * second);
    expect(bot.world.topics(lab)).toHaveLength(index + 2);
  }
  for (const name of ['one', 'two', 'three']) expect(saidIn(bot, lab, topicNamed(bot, lab, name))).toEqual([name]);
});

describe('the change of a card', () => {
  it.each(kinds)('that meets "%s" is shown in the end', async (kind) => {
    const bot = await aBotIn(lab);
    const taskId = await aTask(bot, { text: 'ping', cron: '1 9 * * *' });
    await bot.pass(90 * second);
    const before = mark(bot);
    bot.world.fault({ kind, method: 'editMessageText', count: 1 });
    await bot.api('POST', `/v1/tasks/${taskId}/pause`);
    await untilSettled(bot);
    const card = bot.world.messages(lab).find(({ isPinned }) => isPinned);
    expect(card?.text).toMatch(/^#1 ping\n⏸ Paused/);
    expect(callsSince(bot, before).length).toBeLessThanOrEqual(3);
    expect(rowsOf(bot, 'card').map(({ status }) => status)).toEqual(['delivered', 'delivered']);
  });
});

describe('a result whose send got no answer', () => {
  const settledBy = (bot: Bot) => rowsOf(bot, 'result').map(({ status, sends }) => ({ status, sends }));

  it('is found by evidence where it arrived, and is not sent again', async () => {
    const bot = await aBotIn(lab);
    await aTask(bot, { text: 'ping', cron: '1,2 9 * * *' });
    await bot.pass(90 * second);
    bot.world.fault({ kind: 'reset_after', method: 'sendMessage', count: 1 });
    await bot.pass(2 * minute);
    expect(settledBy(bot)).toEqual([
      { status: 'delivered', sends: 1 },
      { status: 'delivered', sends: 1 },
    ]);
    const row = rowsOf(bot, 'result').at(-1);
    const shown = bot.world.messages(lab).findLast(({ text }) => text === 'ping');
    expect(row?.message_id).toBe(shown?.messageId);
    expect(JSON.parse(row?.evidence ?? '')).toMatchObject({ found: shown?.messageId });
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping'))).toEqual(['ping', 'ping']);
  });

  it('is sent once more where it did not arrive, and the row says why', async () => {
    const bot = await aBotIn(lab);
    await aTask(bot, { text: 'ping', cron: '1,2 9 * * *' });
    await bot.pass(90 * second);
    bot.world.fault({ kind: 'reset_before', method: 'sendMessage', count: 1 });
    await bot.pass(2 * minute);
    expect(settledBy(bot)).toEqual([
      { status: 'delivered', sends: 1 },
      { status: 'delivered', sends: 2 },
    ]);
    expect(rowsOf(bot, 'result').at(-1)?.evidence).toMatch(/no trace of it|every message up to/);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping'))).toEqual(['ping', 'ping']);
  });

  it('stays single when Telegram processes it after half a minute, when it was sent again', async () => {
    const bot = await aBotIn(lab);
    await aTask(bot, { text: 'ping', cron: '1,2 9 * * *' });
    await bot.pass(90 * second);
    bot.world.fault({ kind: 'late', method: 'sendMessage', count: 1, delayMs: 30_000 });
    await bot.pass(2 * minute);
    expect(settledBy(bot).at(-1)?.status).toBe('delivered');
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping'))).toEqual(['ping', 'ping']);
  });

  it('keeps its place before the next result of its topic', async () => {
    const bot = await aBotIn(lab);
    await aTask(bot, { text: 'run {{ run.scheduled_for }}', title: 'ping', cron: '* * * * *' });
    await bot.pass(80 * second);
    bot.world.fault({ kind: 'reset_before', method: 'sendMessage', count: 3 });
    await bot.pass(6 * minute);
    const said = saidIn(bot, lab, topicNamed(bot, lab, 'ping'));
    expect(said).toEqual(said.toSorted());
    expect(said).toHaveLength(7);
    expect(new Set(said).size).toBe(7);
  });

  it('is asked about where the task says so, and each answer is taken', async () => {
    const bot = await aBotIn(lab);
    await aTask(bot, { text: 'ping', cron: '1,2,8 9 * * *', more: { policies: { unknown: 'ask' } } });
    await bot.pass(90 * second);
    bot.world.fault({ kind: 'reset_before', method: 'sendMessage', count: 1 });
    await bot.pass(2 * minute);
    const question = bot.last(lab, null);
    expect(question.text).toContain('Did it arrive?');
    expect(question.buttons.flat().map(({ text }) => text)).toEqual(['It arrived', 'Send again']);
    const topic = topicNamed(bot, lab, 'ping');
    expect(saidIn(bot, lab, topic)).toEqual(['ping']);
    await bot.press('ada', question, 'Send again');
    await bot.pass(2 * second);
    expect(saidIn(bot, lab, topic)).toEqual(['ping', 'ping']);
    await bot.press('ada', question, 'It arrived').catch(() => null);
    await bot.pass(4 * minute);

    bot.world.fault({ kind: 'reset_before', method: 'sendMessage', count: 1 });
    await bot.pass(2 * minute);
    const second_ = bot.last(lab, null);
    expect(second_.messageId).not.toBe(question.messageId);
    await bot.press('ada', second_, 'It arrived');
    await bot.pass(3 * minute);
    expect(saidIn(bot, lab, topic)).toEqual(['ping', 'ping']);
    expect(rowsOf(bot, 'result').map(({ status }) => status)).toEqual(['delivered', 'delivered', 'failed']);
  });
});

it('asks in a private chat where too many messages could be the lost one, and never guesses', async () => {
  const bot = await aBotIn(ada, { TELEGRAM_CHATS: String(ben) });
  await opened(bot, ben, 'ben');
  await aTask(bot, { text: 'ping', thread: threadOf(ada), cron: '1,2 9 * * *' });
  await bot.pass(90 * second);
  const stop = bot.world.watch(({ kind }) => {
    if (kind !== 'call' || callsSince(bot).at(-1)?.fault !== 'reset_after') return;
    stop();
    // Private chats and plain groups share their numbers, and the bot is not told what people say among themselves.
    for (let word = 0; word < 14; word += 1) bot.world.say({ as: 'ben', chat: plain, text: `word ${word}` });
    bot.world.say({ as: 'ada', chat: ada, text: '/help' });
  });
  bot.world.fault({ kind: 'reset_after', method: 'sendMessage', chat: ada, count: 1 });
  await bot.pass(3 * minute);
  const topic = topicNamed(bot, ada, 'ping');
  const question = bot.last(ada, null);
  expect(question.text).toContain('Did it arrive?');
  await bot.press('ada', question, 'It arrived');
  await bot.pass(5 * minute);
  expect(saidIn(bot, ada, topic)).toEqual(['ping', 'ping']);
  expect(rowsOf(bot, 'result').at(-1)).toMatchObject({ status: 'failed', sends: 1 });
});
