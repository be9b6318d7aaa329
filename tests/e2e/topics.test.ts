import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, noRights, second, stopBots, type Bot } from './bot.ts';
import {
  aTask,
  callsSince,
  mark,
  methodsSince,
  opened,
  rowsOf,
  runNow,
  saidIn,
  select,
  threadOf,
  topicNamed,
  unhurried,
  aBotIn,
} from './deliveries.ts';
import { ask, aTalkingBot, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

const places = [
  ['a forum', lab],
  ['a private chat', ada],
] as const;

async function withTopic(chat: number, text = 'ping') {
  const bot = await aBotIn(chat, unhurried);
  await aTask(bot, { text, thread: threadOf(chat) });
  await bot.pass(minute + 20 * second);
  return { bot, topic: topicNamed(bot, chat, text) };
}

/** Words in General, or in a private chat outside of topics, since the setting up. */
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
      'deleteMessage',
    ]);
    const steady = mark(bot);
    await bot.pass(3 * minute);
    expect(methodsSince(bot, steady)).toEqual(['sendMessage', 'sendMessage', 'sendMessage']);
    expect(saidIn(bot, chat, null).join()).not.toContain('ping');
  });
});

it('makes a topic again that was deleted between the parts of a long result, and shows the rest there', async () => {
  const bot = await aBotIn(lab);
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
    expect(told(bot, chat, /A result waits/)).toHaveLength(1);
    expect(told(bot, chat, /^(ping|other)/)).toEqual([]);
    // A look by itself finds them off, and tries nothing that people would see.
    const look = mark(bot);
    await bot.pass(8 * minute);
    expect(methodsSince(bot, look)).toEqual(['createForumTopic']);
    bot.world.setForum(chat, true);
    await bot.pass(10 * minute);
    const mine = saidIn(bot, chat, topicNamed(bot, chat, 'other'));
    expect(mine.filter((text) => text === 'other')).toEqual(['other', 'other', 'other']);
    expect(topicNamed(bot, chat, 'ping')).toBe(topic);
    expect(saidIn(bot, chat, topic)).toEqual(Array.from({ length: 23 }, () => 'ping'));
    expect(rowsOf(bot, 'result').filter(({ status }) => status !== 'delivered')).toEqual([]);
  });
});

describe('a group in which the bot may not manage topics', () => {
  it('hears once what to mend; Retry looks at once, and results then arrive in order', async () => {
    const bot = await aBotIn(noRights, unhurried);
    await aTask(bot, { text: 'ping', thread: threadOf(noRights) });
    await bot.pass(3 * minute + 20 * second);
    const waits = told(bot, noRights, /A result waits/);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toContain('Manage topics');
    const list = bot.world
      .messages(noRights)
      .find(({ buttons }) => buttons.flat().some(({ text }) => text === 'Check again'));
    const guidance = bot.last(noRights);
    await bot.press('ada', guidance, 'Retry');
    expect(bot.world.topics(noRights)).toEqual([]);
    expect(told(bot, noRights, /A result waits/)).toHaveLength(1);

    // Quietly, as somebody does it whose update gets lost.
    const seen = mark(bot);
    bot.world.setBotRights(noRights, { can_manage_topics: true });
    await bot.pass(second * 5);
    const topic = topicNamed(bot, noRights, 'ping');
    expect(saidIn(bot, noRights, topic).slice(0, 3)).toEqual(['ping', 'ping', 'ping']);
    const isRedraw = ({ method }: { readonly method: string }) => method === 'editMessageText';
    const calls = callsSince(bot, seen);
    expect(calls.filter((call) => !isRedraw(call)).map(({ method }) => method)).toEqual([
      'createForumTopic',
      'sendMessage',
      'sendMessage',
      'sendMessage',
      'sendMessage',
      'pinChatMessage',
      'sendMessage',
    ]);
    // The list of what is to be set up is live: it tells, once, that nothing is missing any more.
    expect(calls.filter(isRedraw).map(({ params }) => params['message_id'])).toEqual([String(list?.messageId)]);
    expect(told(bot, noRights, /may not pin/)).toEqual([]);
    expect(saidIn(bot, noRights, topic).filter((text) => /may not pin/.test(text))).toHaveLength(1);
  });
});

describe('what a person must mend', () => {
  it('is told in the topic in which the task was asked for, and any word there has it looked at again', async () => {
    const bot = await aBotIn(lab, unhurried);
    const planning = bot.world.createTopic(lab, 'ada', 'Planning');
    bot.world.setBotRights(lab, { can_manage_topics: false });
    await aTask(bot, { text: 'ping', thread: `${threadOf(lab)}:topic:${planning}`, cron: '1,2 9 * * *' });
    await bot.pass(2 * minute + 20 * second);
    expect(saidIn(bot, lab, planning)).toHaveLength(1);
    expect(saidIn(bot, lab, planning)[0]).toMatch(/A result waits: I cannot show #1 ping.*may not manage topics/s);
    expect(told(bot, lab, /A result waits/)).toEqual([]);

    const seen = mark(bot);
    await bot.say('ben', lab, '/help');
    expect(methodsSince(bot, seen).toSorted()).toEqual(['createForumTopic', 'sendMessage']);
    await bot.say('ben', lab, '/help');
    // Talk alone has it looked at once a minute at most.
    expect(methodsSince(bot, seen).toSorted()).toEqual(['createForumTopic', 'sendMessage', 'sendMessage']);
    bot.world.setBotRights(lab, { can_manage_topics: true });
    await bot.pass(second);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping'))).toEqual(['ping', 'ping']);
  });

  it('does not keep back the results of topics that are there', async () => {
    const { bot, topic } = await withTopic(lab);
    bot.world.setBotRights(lab, { can_manage_topics: false });
    await aTask(bot, { text: 'new', cron: '2 9 * * *' });
    await bot.pass(25 * minute);
    expect(saidIn(bot, lab, topic)).toHaveLength(26);
    // The other results that arrive meanwhile do not make it news again.
    expect(told(bot, lab, /A result waits: I cannot show #2 new/)).toHaveLength(1);
  });

  it('is no right to pin: the card stays unpinned, and the chat hears of it once for all its tasks', async () => {
    const bot = await aBotIn(lab, unhurried);
    bot.world.setBotRights(lab, { can_pin_messages: false });
    for (const text of ['one', 'two', 'three']) await aTask(bot, { text, cron: '* * * * *' });
    await bot.pass(3 * minute + 20 * second);
    const names = ['one', 'two', 'three'].map((name) => topicNamed(bot, lab, name));
    const words = names.flatMap((topic) => saidIn(bot, lab, topic)).filter((text) => /may not pin/.test(text));
    expect(words).toHaveLength(1);
    for (const topic of names) {
      expect(saidIn(bot, lab, topic).filter((text) => !/may not pin/.test(text))).toHaveLength(3);
    }
    expect(methodsSince(bot).filter((method) => method === 'pinChatMessage')).toHaveLength(3);
  });
});

async function tasksOf(bot: Bot): Promise<string[]> {
  const { body } = await bot.api('GET', '/v1/tasks');
  return (body['tasks'] as { task_id: string }[]).map(({ task_id: id }) => id);
}

describe.each(places)('a message that lands outside of its topic, in %s', (_name, chat) => {
  it('is taken back, sent anew to a topic that is well, and the row tells of it', async () => {
    const { bot, topic } = await withTopic(chat);
    bot.world.fault({ kind: 'misroute', method: 'sendMessage', chat, count: 1 });
    const before = mark(bot);
    await bot.pass(minute);
    expect(saidIn(bot, chat, null).filter((text) => text === 'ping')).toEqual([]);
    const pings = bot.world.topics(chat).flatMap(({ threadId }) => saidIn(bot, chat, threadId));
    expect(pings.filter((text) => text === 'ping')).toEqual(['ping', 'ping']);
    expect(methodsSince(bot, before).slice(0, 2)).toEqual(['sendMessage', 'deleteMessage']);
    expect(topic).toBeGreaterThan(0);
    const row = rowsOf(bot, 'result').at(-1);
    expect(row).toMatchObject({ status: 'delivered', sends: 2 });
    expect(row?.evidence).toContain('misrouted');
    const steady = mark(bot);
    await bot.pass(2 * minute);
    expect(methodsSince(bot, steady)).toEqual(['sendMessage', 'sendMessage']);
  });
});

describe.each(places)('the number of the topic of another task, in %s,', (_name, chat) => {
  const said = (bot: Bot) =>
    [null, ...bot.world.topics(chat).map(({ threadId }) => threadId)].flatMap((thread) => bot.texts(chat, thread));

  it('behind a message is a reason to take it back, to make the topic anew, and to blame nobody', async () => {
    const { bot, topic } = await withTopic(chat, 'pong');
    await aTask(bot, { text: 'ping', thread: threadOf(chat) });
    await bot.pass(minute);
    bot.world.fault({ kind: 'wrong_topic', method: 'sendMessage', chat, count: 100_000 });
    for (let minutes = 0; minutes < 30; minutes += 1) await bot.pass(minute);
    for (const { id } of bot.world.faults()) bot.world.clearFault(id ?? '');
    for (let minutes = 0; minutes < 60; minutes += 1) await bot.pass(minute);
    expect(said(bot).filter((text) => /deleted/.test(text))).toEqual([]);
    expect(saidIn(bot, chat, topic).filter((text) => text === 'ping')).toEqual([]);
    expect(rowsOf(bot, 'result').filter(({ status }) => status !== 'delivered')).toEqual([]);
  });

  it('as the answer to a creation is none: the topic that was made is looked for', async () => {
    const { bot, topic } = await withTopic(chat, 'pong');
    bot.world.fault({ kind: 'wrong_topic', method: 'createForumTopic', chat, count: 1 });
    await aTask(bot, { text: 'ping', thread: threadOf(chat) });
    for (let minutes = 0; minutes < 5; minutes += 1) await bot.pass(minute);
    expect(saidIn(bot, chat, topic).filter((text) => text === 'ping')).toEqual([]);
    expect(rowsOf(bot, 'result').map(({ cause }) => cause)).toContain('topic_in_doubt');
    expect(said(bot).filter((text) => /deleted/.test(text))).toEqual([]);
  });
});

describe.each(places)('a platform that goes on showing messages outside of their topics, in %s', (_name, chat) => {
  it('gets one new topic an hour, people are told the truth, and the results come when it is well', async () => {
    const { bot } = await withTopic(chat);
    bot.world.fault({ kind: 'misroute', method: 'sendMessage', chat, count: 100_000 });
    const before = mark(bot);
    for (let minutes = 0; minutes < 45; minutes += 1) await bot.pass(minute);
    expect(methodsSince(bot, before).filter((method) => method === 'createForumTopic')).toHaveLength(1);
    expect(bot.texts(chat, null).filter((text) => /Somebody deleted/.test(text))).toEqual([]);
    expect(bot.texts(chat, null).filter((text) => /does not show my messages/.test(text))).toHaveLength(1);
    expect(rowsOf(bot, 'result').filter(({ status }) => status === 'failed')).toEqual([]);
    for (const { id } of bot.world.faults()) bot.world.clearFault(id ?? '');
    for (let minutes = 0; minutes < 12; minutes += 1) await bot.pass(minute);
    expect(rowsOf(bot, 'result').filter(({ status }) => status !== 'delivered')).toEqual([]);
    expect(saidIn(bot, chat, null).filter((text) => text === 'ping')).toEqual([]);
    const remade = bot.world.topics(chat).at(-1)?.threadId ?? 0;
    expect(saidIn(bot, chat, remade)).toContainEqual(
      expect.stringContaining('Telegram did not show a message in the topic'),
    );
  });
});

describe('the door of a topic', () => {
  it('is closed when its task is deleted, opened when it is brought back, and nothing that waited is shown', async () => {
    const { bot, topic } = await withTopic(lab);
    const [taskId = ''] = await tasksOf(bot);
    bot.world.fault({ kind: '429', method: 'sendMessage', chat: lab, count: 1, retryAfter: 90 });
    await bot.pass(minute);
    await bot.api('DELETE', `/v1/tasks/${taskId}`);
    await bot.pass(3 * minute);
    expect(bot.world.topics(lab)).toMatchObject([{ threadId: topic, isClosed: true, isDeleted: false }]);
    expect(saidIn(bot, lab, topic).filter((text) => text === 'ping')).toHaveLength(1);
    await bot.api('POST', `/v1/tasks/${taskId}/restore`);
    await bot.pass(5 * second);
    expect(bot.world.topics(lab)).toMatchObject([{ threadId: topic, isClosed: false }]);
    await bot.pass(2 * minute);
    expect(saidIn(bot, lab, topic).filter((text) => text === 'ping')).toHaveLength(3);
  });
});

const topicsOf = (bot: Bot, chat: number) => bot.world.topics(chat).filter(({ isDeleted }) => !isDeleted);
const open = `select id, kind, status, cause, error from deliveries where status not in ('delivered', 'failed')`;

describe('a topic that is deleted while a result is on its way into it', () => {
  it.each(['late', 'answer_lost', 'reset_before', 'reset_after', '429', '500'] as const)(
    'loses no later one, and holds up nothing, when its send is met by: %s',
    async (kind) => {
      const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
      await bot.say('ada', lab, '/tz UTC');
      await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
      const question = await ask(bot, ['ada', lab], '/topic delete #1');
      const { id } = select<{ id: string }>(bot, 'select id from tasks')[0] ?? { id: '' };
      bot.world.fault({ kind, method: 'sendMessage', count: 1, delayMs: 5 * second });
      await runNow(bot, id);
      await bot.drift(second);
      bot.world.press({ as: 'ada', chat: lab, messageId: question.messageId, button: 'Delete the topic' });
      await bot.drift(2 * minute);
      bot.world.clearFault();
      await bot.pass(5 * minute);
      expect(select(bot, open)).toEqual([]);
      await runNow(bot, id);
      await bot.pass(5 * minute);
      expect(select(bot, open)).toEqual([]);
      const [topic, ...others] = topicsOf(bot, lab).filter(({ name }) => name === 'Lunch');
      expect(others).toEqual([]);
      const shown = saidIn(bot, lab, topic?.threadId ?? -1).filter((text) => text === 'Lunch');
      const runs = select(bot, `select id from deliveries where kind = 'result' and status = 'delivered'`);
      expect([shown.length >= 1, runs.length]).toEqual([true, 3]);
      expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    },
  );
});

describe('a group in which the bot lost its right to manage topics', () => {
  it('keeps the topic that was to be deleted, says so, and loses nothing', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: `${lab},${noRights}` });
    await opened(bot, lab);
    await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
    const question = await ask(bot, ['ada', lab], '/topic delete #1');
    bot.world.setBotRights(lab, { can_manage_topics: false });
    await bot.press('ada', question, 'Delete the topic');
    await bot.pass(minute);
    const { id } = select<{ id: string }>(bot, 'select id from tasks')[0] ?? { id: '' };
    await runNow(bot, id);
    await bot.pass(minute);
    bot.world.setBotRights(lab, { can_manage_topics: true });
    await bot.pass(15 * minute);
    expect(select(bot, open)).toEqual([]);
    expect(select(bot, `select status from deliveries where kind = 'result'`)).toEqual([
      { status: 'delivered' },
      { status: 'delivered' },
    ]);
  });
});
