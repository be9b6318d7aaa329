import { afterEach, describe, expect, it } from 'vitest';
import { aBot, ada, lab, minute, second, start, stopBots, type Bot } from './bot.ts';
import {
  aTask,
  callsSince,
  driftUntil,
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

const places = [
  ['a forum', lab],
  ['a private chat', ada],
] as const;

/** In the end the word of Telegram goes that the card was pinned. */
const firstRun = ['createForumTopic', 'sendMessage', 'sendMessage', 'pinChatMessage', 'deleteMessage'];

describe.each(places)('in %s', (_name, chat) => {
  it('does topic, result, card and pin in that order, with nothing else to be seen, and then exactly one call for each result', async () => {
    const bot = await aBotIn(chat);
    await aTask(bot, { text: 'ping', thread: threadOf(chat) });
    const before = mark(bot);
    await bot.pass(minute + 20 * second);
    expect(methodsSince(bot, before)).toEqual(firstRun);
    const topic = topicNamed(bot, chat, 'ping');
    const [created, result, card, pin] = callsSince(bot, before).map(({ params }) => params);
    expect(created).toMatchObject({ name: 'ping' });
    expect(result).toMatchObject({ message_thread_id: String(topic), text: 'ping' });
    expect(card?.['text']).toMatch(/^#1 ping\n🟢 Active/);
    expect(pin).toMatchObject({ disable_notification: 'true' });
    const pinned = bot.world.messages(chat, { thread: topic }).filter(({ isPinned }) => isPinned);
    expect(pinned.map(({ text }) => text.split('\n')[0])).toEqual(['#1 ping']);
    const services = bot.world.messages(chat, { thread: topic }).filter(({ service }) => service !== null);
    expect(services.map(({ service }) => service)).toEqual([expect.stringContaining('topic')]);

    const steady = mark(bot);
    await bot.pass(10 * minute);
    expect(methodsSince(bot, steady)).toEqual(Array.from({ length: 10 }, () => 'sendMessage'));
    expect(saidIn(bot, chat, topic)).toEqual(Array.from({ length: 11 }, () => 'ping'));
    expect(ownFloods(bot)).toEqual([]);
  });
});

it('brings what the API starts by hand to the topic of the task, also for a task that was made in a topic', async () => {
  const bot = await aBotIn(lab);
  const place = bot.world.createTopic(lab, 'ada', 'Planning');
  const taskId = await aTask(bot, { text: 'hand', thread: `${threadOf(lab)}:topic:${place}`, cron: '0 0 1 1 *' });
  await runNow(bot, taskId);
  await bot.pass(20 * second);
  expect(saidIn(bot, lab, topicNamed(bot, lab, 'hand'))).toEqual(['hand']);
  expect(saidIn(bot, lab, place)).toEqual([]);
  const { body } = await bot.api('GET', `/v1/tasks/${taskId}/runs`);
  expect(body['task_runs']).toMatchObject([
    { status: 'succeeded', deliveries: [{ status: 'delivered', message_thread_id: topicNamed(bot, lab, 'hand') }] },
  ]);
});

it('gives five tasks that are due at once a topic each, each result in its own, and makes no 429', async () => {
  const bot = await aBotIn(lab);
  const names = ['one', 'two', 'three', 'four', 'five'];
  for (const text of names) await aTask(bot, { text, cron: '1 9 * * *' });
  await bot.pass(3 * minute);
  for (const name of names) expect(saidIn(bot, lab, topicNamed(bot, lab, name))).toEqual([name]);
  expect(bot.world.topics(lab)).toHaveLength(5);
  expect(ownFloods(bot)).toEqual([]);
  // Results go before every card, because people wait for them.
  const texts = callsSince(bot)
    .filter(({ method }) => method === 'sendMessage')
    .map(({ params }) => String(params['text']));
  expect(texts.slice(-10, -5).toSorted()).toEqual(names.toSorted());
});

/** How a process may leave the first run half done. */
async function halfDone(bot: Bot, isThere: () => boolean): Promise<void> {
  await driftUntil(bot, isThere);
  expect(bot.time.now()).toBeGreaterThan(start);
}

describe('when the process ends in the middle of a first run', () => {
  it('adopts the topic whose answer it never got', async () => {
    const before = await aBot();
    await opened(before, lab);
    before.world.fault({ kind: 'answer_lost', method: 'createForumTopic', count: 1 });
    await aTask(before, { text: 'ping', cron: '1 9 * * *' });
    await halfDone(before, () => before.world.topics(lab).length === 1);
    const bot = await before.restart();
    await bot.pass(2 * minute);
    expect(bot.world.topics(lab)).toHaveLength(1);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping'))).toEqual(['ping']);
    expect(methodsSince(bot).filter((method) => method === 'createForumTopic')).toHaveLength(1);
    expect(methodsSince(bot).slice(-4)).toEqual(firstRun.slice(1));
  });

  it('finds the result that arrived while it died, and does not send it twice', async () => {
    const before = await aBot();
    await opened(before, lab);
    await aTask(before, { text: 'ping', cron: '1 9 * * *' });
    before.world.fault({ kind: 'answer_lost', method: 'sendMessage', count: 1 });
    await halfDone(before, () => before.world.messages(lab).some(({ text }) => text === 'ping'));
    const bot = await before.restart();
    await bot.pass(2 * minute);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping'))).toEqual(['ping']);
    const [row] = rowsOf(bot, 'result');
    expect(row).toMatchObject({ status: 'delivered', sends: 1 });
    expect(row?.evidence).toContain('found');
  });

  it('pins the card whose pinning never left', async () => {
    const before = await aBot(unhurried);
    await opened(before, lab);
    await aTask(before, { text: 'ping', cron: '1 9 * * *' });
    before.world.fault({ kind: 'hang', method: 'pinChatMessage', count: 1 });
    await halfDone(before, () => methodsSince(before).includes('pinChatMessage'));
    const bot = await before.restart();
    await bot.pass(2 * minute);
    const topic = topicNamed(bot, lab, 'ping');
    expect(bot.world.messages(lab, { thread: topic }).filter(({ isPinned }) => isPinned)).toHaveLength(1);
    expect(saidIn(bot, lab, topic)).toEqual(['ping']);
  });
});
