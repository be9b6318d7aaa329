import { afterEach, describe, expect, it } from 'vitest';
import { aBot, ada, ben, day, hour, lab, minute, noRights, second, start, stopBots, type Bot } from './bot.ts';
import {
  aTask,
  callsSince,
  mark,
  methodsSince,
  opened,
  ownFloods,
  rowsOf,
  runNow,
  saidIn,
  threadOf,
  topicNamed,
  unhurried,
  aBotIn,
} from './deliveries.ts';

afterEach(stopBots);

/** When the calls of a chat were made, in milliseconds. */
function instants(bot: Bot, chat: number, after = 0): number[] {
  return callsSince(bot, after)
    .filter(({ params, status }) => params['chat_id'] === String(chat) && status === 200)
    .map(({ at }) => at);
}

function mostWithin(times: readonly number[], ms: number): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));
}

describe('a chat that is told to wait', () => {
  it('waits for as long as it was told, also over a restart, and holds up no other chat', async () => {
    const before = await aBot(unhurried);
    for (const chat of [lab, ada]) {
      await opened(before, chat);
      await aTask(before, { text: 'ping', thread: threadOf(chat) });
    }
    await before.pass(110 * second);
    before.world.fault({ kind: '429', method: 'sendMessage', chat: lab, count: 1, retryAfter: 60 });
    await before.pass(20 * second);
    const told = callsSince(before).find(({ status }) => status === 429);
    expect(told?.at).toBe(start + 2 * minute);
    expect(saidIn(before, ada, topicNamed(before, ada, 'ping'))).toHaveLength(2);
    expect(saidIn(before, lab, topicNamed(before, lab, 'ping'))).toHaveLength(1);

    const bot = await before.restart();
    const after = mark(bot);
    await bot.pass(30 * second);
    expect(instants(bot, lab, after)).toEqual([]);
    await bot.pass(40 * second);
    expect(instants(bot, lab, after)[0]).toBeGreaterThanOrEqual((told?.at ?? 0) + minute);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping'))).toEqual(['ping', 'ping', 'ping']);
    expect(ownFloods(bot)).toEqual([]);
  });
});

it('holds all chats when several are told to wait within a second', async () => {
  const bot = await aBot(unhurried);
  const chats = [lab, ada, noRights];
  bot.world.setBotRights(noRights, { can_manage_topics: true, can_pin_messages: true });
  for (const chat of [...chats, ben]) {
    await opened(bot, chat, chat === ben ? 'ben' : 'ada');
  }
  for (const chat of chats) await aTask(bot, { text: 'ping', thread: threadOf(chat), cron: '1,2 9 * * *' });
  await bot.pass(100 * second);
  for (const chat of chats) bot.world.fault({ kind: '429', method: 'sendMessage', chat, count: 1, retryAfter: 30 });
  await bot.pass(20 * second);
  const told = callsSince(bot).filter(({ status }) => status === 429);
  expect(told).toHaveLength(3);
  const after = mark(bot);
  // A fourth chat is answered when the hold is over.
  await bot.say('ada', ada, '/help');
  expect(methodsSince(bot, after)).toEqual([]);
  const restarted = await bot.restart();
  await restarted.pass(5 * second);
  expect(methodsSince(restarted, after)).toEqual([]);
  await restarted.pass(minute);
  for (const chat of chats) expect(saidIn(restarted, chat, topicNamed(restarted, chat, 'ping'))).toHaveLength(2);
});

it('lets no time pass by a first result that waits in hand, also where no other chat can be served meanwhile', async () => {
  const bot = await aBotIn(ada, { DELIVERY_CONCURRENCY: '1' });
  await aTask(bot, { thread: threadOf(ada), cron: '0 10 * * *' });
  const after = mark(bot);
  await bot.pass(day);
  const [made = 0, shown = 0] = instants(bot, ada, after);
  expect([made % hour, shown - made]).toEqual([0, second]);
});

describe('a great backlog of one group', () => {
  async function withBacklog() {
    const bot = await aBotIn(lab);
    await opened(bot, ada);
    const names = ['red', 'green', 'blue'];
    for (const title of names) {
      await aTask(bot, { title, text: '{{ task.title }} {{ run.scheduled_for }}', cron: '* * * * *' });
    }
    await bot.pass(3 * minute);
    bot.world.fault({ kind: '429', method: 'sendMessage', chat: lab, count: 1, retryAfter: 1200 });
    await bot.pass(20 * minute);
    return { bot, names };
  }

  it('goes out at twenty a minute, each topic in order, without a 429 of our own making', async () => {
    const { bot, names } = await withBacklog();
    const waiting = rowsOf(bot, 'result').filter(({ status }) => status === 'pending').length;
    expect(waiting).toBeGreaterThan(50);
    const after = mark(bot);
    await bot.pass(8 * minute);
    for (const name of names) {
      const said = saidIn(bot, lab, topicNamed(bot, lab, name)).filter((text) => text.startsWith(name));
      expect(said).toEqual(said.toSorted());
      expect(new Set(said).size).toBe(said.length);
      expect(said.length).toBeGreaterThanOrEqual(28);
    }
    const times = instants(bot, lab, after);
    expect(mostWithin(times, minute)).toBe(20);
    expect(mostWithin(times, second)).toBe(1);
    expect(ownFloods(bot)).toEqual([]);
    expect(rowsOf(bot, 'result').filter(({ status }) => status !== 'delivered')).toEqual([]);
  });

  it('lets answers to people overtake it, and results of another chat pass beside it', async () => {
    const { bot } = await withBacklog();
    await bot.pass(30 * second);
    const taskId = await aTask(bot, { text: 'elsewhere', thread: threadOf(ada), cron: '0 0 1 1 *' });
    await runNow(bot, taskId);
    const after = mark(bot);
    bot.world.say({ as: 'ada', chat: lab, text: '/help' });
    await bot.pass(minute);
    const all = callsSince(bot, after).filter(({ params }) => params['chat_id'] === String(lab));
    const answer = all.findIndex(({ params }) => !/^(?:red|green|blue) /.test(String(params['text'])));
    // One call may have been on its way already; nothing else goes first.
    expect(answer).toBeLessThanOrEqual(1);
    expect(saidIn(bot, ada, topicNamed(bot, ada, 'elsewhere'))).toEqual(['elsewhere']);
    expect(ownFloods(bot)).toEqual([]);
  });
});
