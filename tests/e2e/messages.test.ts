import { afterEach, describe, expect, it } from 'vitest';
import { lab, minute, stopBots, type Bot } from './bot.ts';
import { aTask, driftUntil, opened, rowsOf, runNow, threadOf, topicNamed } from './deliveries.ts';
import { aTalkingBot } from './dialogue.ts';

afterEach(stopBots);

async function aPlace(chat: number): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await opened(bot, chat);
  return bot;
}

/** Posts a text and answers the path of its run. */
async function post(bot: Bot, body: object): Promise<string> {
  const { status, body: run } = await bot.api('POST', '/v1/messages', body);
  if (status !== 202) throw new Error(`refused: ${JSON.stringify(run)}`);
  return `/v1/runs/${String(run['run_id'])}`;
}

async function deliveryOf(bot: Bot, path: string) {
  const { body } = await bot.api('GET', path);
  return (body['deliveries'] as readonly Readonly<Record<string, unknown>>[])[0];
}

describe('a text that a client puts into a group', () => {
  it('stands there once, as it was sent, and its run names the message', async () => {
    const bot = await aPlace(lab);
    const key = { idempotency_key: 'build-7' };
    const path = await post(bot, { thread_key: threadOf(lab), text: '*Build* {{ 7 }} is done', ...key });
    expect(await post(bot, { thread_key: threadOf(lab), text: '*Build* {{ 7 }} is done', ...key })).toBe(path);
    await bot.pass(minute);

    const message = bot.last(lab);
    expect({ text: message.text, silent: message.isSilent }).toEqual({
      text: '*Build* {{ 7 }} is done',
      silent: false,
    });
    expect(message.buttons ?? []).toEqual([]);
    expect(await deliveryOf(bot, path)).toMatchObject({
      status: 'delivered',
      chat_id: String(lab),
      message_id: message.messageId,
      thread_key: threadOf(lab),
    });
  });

  it('stands in the topic of a task when that was named', async () => {
    const bot = await aPlace(lab);
    const id = await aTask(bot, { title: 'Plants', text: 'Water them.', thread: threadOf(lab), cron: '0 0 1 1 *' });
    await runNow(bot, id);
    await bot.pass(minute);
    const topic = topicNamed(bot, lab, 'Plants');
    const path = await post(bot, {
      thread_key: `${threadOf(lab)}:topic:${topic}`,
      text: 'Rain is coming',
      delivery_mode: 'silent',
    });
    await bot.pass(minute);

    expect(bot.last(lab, topic)).toMatchObject({ text: 'Rain is coming', isSilent: true });
    expect(await deliveryOf(bot, path)).toMatchObject({ status: 'delivered', message_thread_id: topic });
  });
});

it('a text whose answer was lost is found, and stands there once', async () => {
  const bot = await aPlace(lab);
  bot.world.fault({ kind: 'answer_lost', method: 'sendMessage', count: 1 });
  const path = await post(bot, { thread_key: threadOf(lab), text: 'Once' });
  await driftUntil(bot, () => rowsOf(bot, 'result')[0]?.status === 'delivered');

  expect(bot.texts(lab).filter((text) => text === 'Once')).toHaveLength(1);
  expect(await deliveryOf(bot, path)).toMatchObject({ message_id: bot.last(lab).messageId });
});
