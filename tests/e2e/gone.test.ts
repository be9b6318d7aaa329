import { afterEach, describe, expect, it } from 'vitest';
import { ada, ben, hour, lab, minute, plain, second, stopBots, type Bot } from './bot.ts';
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
import { aTalkingBot, made } from './dialogue.ts';

afterEach(stopBots);

async function running(chat: number, as = 'ada') {
  const bot = await aBotIn(ada, { ...unhurried, TELEGRAM_CHATS: String(ben) });
  if (chat !== ada) await opened(bot, chat, as);
  await aTask(bot, { text: 'ping', thread: threadOf(chat) });
  await bot.pass(minute + 20 * second);
  return bot;
}

const stateOf = (bot: Bot) =>
  select<{ state: string; paused_reason: string | null }>(
    bot,
    'select state, paused_reason from tasks order by number',
  );

const toOwner = (bot: Bot, words: RegExp) => saidIn(bot, ada, null).filter((text) => words.test(text));

describe('a group that has thrown the bot out', () => {
  it('has its tasks paused and the owner told once; back again it is told, and /resume all lets them go on', async () => {
    const bot = await running(lab);
    await aTask(bot, { text: 'pong', thread: threadOf(lab), cron: '*/2 * * * *' });
    bot.world.setBotStatus(lab, 'kicked', 'ada');
    const after = mark(bot);
    await bot.pass(10 * minute);
    expect(stateOf(bot)).toEqual([
      { state: 'paused', paused_reason: 'chat_gone' },
      { state: 'paused', paused_reason: 'chat_gone' },
    ]);
    expect(toOwner(bot, /I cannot reach The Lab any more/)).toHaveLength(1);
    expect(toOwner(bot, /I paused 2 tasks there/)).toHaveLength(1);
    expect(callsSince(bot, after).filter(({ params }) => params['chat_id'] === String(lab))).toEqual([]);

    bot.world.setBotStatus(lab, 'administrator', 'ada');
    await bot.pass(5 * second);
    const back = saidIn(bot, lab, null).filter((text) => /I am back/.test(text));
    expect(back).toHaveLength(1);
    expect(back[0]).toContain('I paused 2 tasks');
    expect(stateOf(bot).map(({ state }) => state)).toEqual(['paused', 'paused']);
    await bot.pass(10 * second);
    const cards = bot.world.messages(lab).filter(({ isPinned }) => isPinned);
    expect(cards.map(({ text }) => text.split('\n')[1])).toEqual(['⏸ Paused, because this chat could not be reached']);
    const [answer] = await bot.say('ada', lab, '/resume all');
    expect(answer?.text).toBe('Resumed 2 tasks.');
    const topic = topicNamed(bot, lab, 'ping');
    const before = saidIn(bot, lab, topic).length;
    await bot.pass(2 * minute);
    expect(saidIn(bot, lab, topic).length).toBe(before + 2);
  });

  it('is found out by the send when the update is late, and the result is kept for the day it is back', async () => {
    const bot = await running(lab);
    // The updates wait at Telegram meanwhile.
    bot.world.fault({ kind: '429', method: 'getUpdates', count: 1, retryAfter: 300 });
    await bot.say('ada', ada, '/help').catch(() => null);
    bot.world.setBotStatus(lab, 'kicked', 'ada');
    await bot.drift(2 * minute);
    expect(toOwner(bot, /I cannot reach The Lab any more/)).toHaveLength(1);
    await bot.drift(5 * minute);
    expect(toOwner(bot, /I cannot reach The Lab any more/)).toHaveLength(1);
    expect(stateOf(bot)[0]).toMatchObject({ state: 'paused', paused_reason: 'chat_gone' });
    bot.world.setBotStatus(lab, 'administrator', 'ada');
    await bot.pass(10 * second);
    expect(saidIn(bot, lab, null).filter((text) => /I am back/.test(text))).toHaveLength(1);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping')).length).toBeGreaterThanOrEqual(2);
    expect(rowsOf(bot, 'result').filter(({ status }) => status !== 'delivered')).toEqual([]);
  });
});

describe('a plain group', () => {
  it('has no topics: what to do is explained once, and nothing is shown elsewhere instead', async () => {
    const bot = await running(plain);
    await bot.pass(3 * minute);
    const said = saidIn(bot, plain, null);
    expect(said.filter((text) => /A result waits/.test(text))).toHaveLength(1);
    expect(said.filter((text) => text === 'ping')).toEqual([]);
    expect(said.find((text) => /A result waits/.test(text))).toContain('switch Topics on');
  });

  it('that becomes a supergroup keeps its tasks and numbers; with topics, all results arrive there in order', async () => {
    const bot = await running(plain);
    await bot.pass(2 * minute);
    const moved = bot.world.migrate(plain);
    await bot.pass(minute);
    bot.world.setForum(moved, true);
    bot.world.setBotStatus(moved, 'administrator', 'ada');
    await bot.pass(2 * minute);
    const topic = topicNamed(bot, moved, 'ping');
    expect(saidIn(bot, moved, topic).filter((text) => text === 'ping')).toHaveLength(6);
    const [answer] = await bot.say('ada', moved, '/task 1');
    expect(answer?.text).toMatch(/^#1 ping/);
    const { body } = await bot.api('GET', '/v1/tasks');
    expect(body['tasks']).toMatchObject([{ creator_thread_key: threadOf(moved) }]);
    // The old address still names it.
    const { body: old } = await bot.api('GET', `/v1/tasks?thread_key=${encodeURIComponent(threadOf(plain))}`);
    expect(old['tasks']).toHaveLength(1);
  });

  it('that becomes a supergroup while an answer is on its way gets the answer in its new place', async () => {
    const bot = await running(plain);
    let moved = 0;
    bot.world.fault({ kind: '429', method: 'getUpdates', count: 1, retryAfter: 20 });
    const taskId = await aTask(bot, { text: 'more', thread: threadOf(plain), cron: '0 0 1 1 *' });
    moved = bot.world.migrate(plain);
    bot.world.setForum(moved, true);
    bot.world.setBotStatus(moved, 'administrator', 'ada');
    await runNow(bot, taskId);
    await bot.drift(40 * second);
    await bot.pass(minute);
    expect(saidIn(bot, moved, topicNamed(bot, moved, 'more'))).toEqual(['more']);
    expect(methodsSince(bot).filter((method) => method === 'createForumTopic').length).toBeLessThanOrEqual(6);
    expect(select(bot, `select * from chats where address = '${plain}'`)).toEqual([]);
  });
});

describe('a chat that the bot never met', () => {
  it('has its tasks paused, and the owner is told once', async () => {
    const chat = -1009999999999;
    const bot = await aBotIn(ada, unhurried);
    await aTask(bot, { text: 'ping', thread: threadOf(chat) });
    await bot.pass(30 * minute);
    expect(stateOf(bot)[0]).toMatchObject({ state: 'paused', paused_reason: 'chat_gone' });
    expect(toOwner(bot, /I cannot reach/)).toHaveLength(1);
    const tries = callsSince(bot).filter(({ params }) => params['chat_id'] === String(chat));
    expect(tries.length).toBeLessThanOrEqual(4);
  });
});

it('shows a result of several parts that was cut off by a kick from where it stopped', async () => {
  const bot = await aBotIn(ada);
  await opened(bot, lab);
  const text = ['A', 'B', 'C'].map((letter) => `${letter} `.repeat(1900).trim()).join('\n\n');
  await aTask(bot, { title: 'long', text, cron: '1 9 * * *' });
  const stop = bot.world.watch(({ kind }) => {
    if (kind !== 'message' || !bot.world.messages(lab).some((message) => message.text.startsWith('A A'))) return;
    stop();
    bot.world.setBotStatus(lab, 'kicked', 'ada');
  });
  await bot.pass(5 * minute);
  bot.world.setBotStatus(lab, 'administrator', 'ada');
  await bot.pass(minute);
  expect(saidIn(bot, lab, topicNamed(bot, lab, 'long')).map((part) => part[0])).toEqual(['A', 'B', 'C']);
});

describe('a task whose owner has left the group', () => {
  it('waits for them from its next slot on, which the group is told once for all that are theirs', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ada', lab, '/tz UTC');
    for (const title of ['Water the plants', 'Feed the cat']) await made(bot, ['ben', lab], `every hour ${title}`);
    bot.world.setMember(lab, 'ben', 'left');
    await bot.pass(3 * hour);
    const waiting = { state: 'paused', paused_reason: 'auto:owner_gone' };
    expect(stateOf(bot)).toEqual([waiting, waiting]);
    const words = bot.texts(lab, null).filter((text) => text.startsWith('Ben has left this chat'));
    expect(words).toEqual([expect.stringContaining('Their 2 tasks here stop')]);
    const leftOut = { status: 'skipped', reason: 'grant_revoked' };
    expect(select(bot, 'select status, reason from occurrences')).toEqual([leftOut, leftOut]);
    bot.world.setMember(lab, 'ben', 'member');
    await bot.pass(2 * minute);
    const word = bot.texts(lab, null).find((text) => text.startsWith('Ben has left this chat'));
    expect(word).toContain('\n\n— Over: nothing is waiting');
    await bot.pass(hour);
    for (const title of ['Water the plants', 'Feed the cat'])
      expect(saidIn(bot, lab, topicNamed(bot, lab, title))).toEqual([title]);
  });
});

it('a kind of action that is gone leaves the slots of its tasks out, which is told once', async () => {
  const before = await aBotIn(ada, { ...unhurried, ECHO_ACTION: '1' });
  await aTask(before, { title: 'Try', thread: threadOf(ada), cron: '0 * * * *', more: { action: { kind: 'echo' } } });
  const bot = await before.restart({ env: { ECHO_ACTION: '0' } });
  await bot.pass(2 * hour);
  expect(toOwner(bot, /^Skipped/)).toEqual([
    'Skipped: #1 Try cannot run, because I no longer know its action (echo). I skip its next runs too, and tell you only once.',
  ]);
  expect(stateOf(bot)).toEqual([{ state: 'active', paused_reason: null }]);
});
