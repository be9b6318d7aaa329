import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, stopBots, type Bot } from './bot.ts';
import {
  aTask,
  callsSince,
  driftUntil,
  mark,
  methodsSince,
  opened,
  rowsOf,
  runNow,
  threadOf,
  topicNamed,
} from './deliveries.ts';
import { aTalkingBot } from './dialogue.ts';

afterEach(stopBots);

const cron = '0 0 1 1 *';

async function withPhoto(
  chat: number,
  text = 'Water them like this.',
  fileId?: string,
): Promise<{ bot: Bot; id: string }> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await opened(bot, chat);
  const { document } = bot.world.say({ as: 'ada', chat, text: '', media: { kind: 'photo' } });
  await bot.pass(minute);
  const media = { kind: 'photo', file_id: fileId ?? document?.fileId };
  const action = { kind: 'message', media };
  const id = await aTask(bot, { title: 'Plants', text, thread: threadOf(chat), cron, more: { action } });
  return { bot, id };
}

function inTopic(bot: Bot, chat: number) {
  return bot.world
    .messages(chat, { thread: topicNamed(bot, chat, 'Plants'), limit: 50 })
    .filter(({ from, service, isPinned }) => from === 'bot' && service === null && !isPinned);
}

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('a task with a picture, in %s', (_name, chat) => {
  it('brings both in one message, with the buttons', async () => {
    const { bot, id } = await withPhoto(chat);
    await runNow(bot, id);
    await bot.pass(minute);
    expect(inTopic(bot, chat)).toMatchObject([{ text: 'Water them like this.', document: { kind: 'photo' } }]);
    expect(
      inTopic(bot, chat)[0]
        ?.buttons.flat()
        .map(({ text }) => text),
    ).toContain('Done');
    const before = mark(bot);
    await runNow(bot, id);
    await bot.pass(minute);
    expect(methodsSince(bot, before)).toEqual(['sendPhoto']);
  });

  it('brings long words behind the picture', async () => {
    const text = `Water them. ${'x'.repeat(1100)}`;
    const { bot, id } = await withPhoto(chat, text);
    await runNow(bot, id);
    await bot.pass(minute);
    expect(inTopic(bot, chat)).toMatchObject([
      { text: '', document: { kind: 'photo' }, buttons: [] },
      { text, document: null },
    ]);
  });

  it('brings the words when the picture is gone', async () => {
    const { bot, id } = await withPhoto(chat, 'Water them like this.', 'AgACgone');
    await runNow(bot, id);
    await bot.pass(minute);
    expect(inTopic(bot, chat)).toMatchObject([
      { text: 'Water them like this.\n\n(Its photo is missing: Telegram does not take it any more.)', document: null },
    ]);
    expect(rowsOf(bot, 'result')).toMatchObject([{ status: 'delivered', sends: 1 }]);
  });

  it('brings it once, though the answer was lost', async () => {
    const { bot, id } = await withPhoto(chat);
    bot.world.fault({ kind: 'answer_lost', method: 'sendPhoto', count: 1 });
    await runNow(bot, id);
    await driftUntil(bot, () => rowsOf(bot, 'result')[0]?.status === 'delivered');
    expect(inTopic(bot, chat)).toHaveLength(1);
    expect(callsSince(bot).filter(({ method }) => method === 'sendPhoto')).toHaveLength(1);
  });
});

describe('a task with a picture', () => {
  it('is refused when it does not say which', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await opened(bot, lab);
    const { status, body } = await bot.api('POST', `/v1/threads/${encodeURIComponent(threadOf(lab))}/tasks`, {
      title: 'Plants',
      instructions: 'Water them.',
      schedule: { kind: 'cron', cron, timezone: 'UTC' },
      action: { kind: 'message', media: { kind: 'photo', file_id: 'https://example.org/cat.png' } },
    });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('with the file_id under which this bot was sent the file');
  });
});
