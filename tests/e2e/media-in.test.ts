import { afterEach, describe, expect, it } from 'vitest';
import { mediaKinds } from '../../src/sandbox/world/world.ts';
import { day, lab, stopBots, type Bot } from './bot.ts';
import { ask, aTalkingBot } from './dialogue.ts';

afterEach(stopBots);

async function aBotIn(chat: number): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  return bot;
}

/** Messages of the first run, without the card. */
async function results(bot: Bot, chat: number): Promise<string[]> {
  const before = new Set(bot.world.messages(chat, { limit: 500 }).map(({ messageId }) => messageId));
  await bot.pass(day);
  return bot.world
    .messages(chat, { limit: 500 })
    .filter((message) => message.from === 'bot' && message.service === null && !before.has(message.messageId))
    .filter(({ text }) => !text.startsWith('#'))
    .map(({ text, document }) => `${document === null ? 'text' : document.name}: ${text}`);
}

describe('a file in a group', () => {
  it.each(mediaKinds)('that comes with /new is sent with the text: %s', async (kind) => {
    const bot = await aBotIn(lab);
    const preview = await ask(bot, ['ben', lab], '/new tomorrow at 8 Menu of the day', { media: { kind } });
    expect(preview.text).toMatch(/^New task: Menu of the day\n[\s\S]*\nWith an? \w/);
    await bot.press('ben', preview, 'Create');
    const [result, ...more] = await results(bot, lab);
    expect(more).toEqual([]);
    expect(result).toMatch(/^(?!text).*: Menu of the day$/);
  });
});
