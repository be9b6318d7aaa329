import { afterEach, describe, expect, it } from 'vitest';
import { lab, minute, stopBots, type Bot } from './bot.ts';
import { aTask, mark, methodsSince, opened, runNow, threadOf, topicNamed } from './deliveries.ts';
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

describe('a task with a picture', () => {
  it('brings both in one message, with the buttons', async () => {
    const { bot, id } = await withPhoto(lab);
    await runNow(bot, id);
    await bot.pass(minute);
    expect(inTopic(bot, lab)).toMatchObject([{ text: 'Water them like this.', document: { kind: 'photo' } }]);
    expect(
      inTopic(bot, lab)[0]
        ?.buttons.flat()
        .map(({ text }) => text),
    ).toContain('Done');
    const before = mark(bot);
    await runNow(bot, id);
    await bot.pass(minute);
    expect(methodsSince(bot, before)).toEqual(['sendPhoto']);
  });
});
