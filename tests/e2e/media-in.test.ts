import { afterEach, describe, expect, it } from 'vitest';
import { mediaKinds } from '../../src/sandbox/world/world.ts';
import { ada, day, lab, stopBots, type Bot } from './bot.ts';
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

describe('an album', () => {
  it('that comes with /new is sent as an album, and the words behind it bear the buttons', async () => {
    const bot = await aBotIn(ada);
    const file = { kind: 'photo' } as const;
    bot.world.say({
      as: 'ada',
      chat: ada,
      text: '/new tomorrow at 8 The garden',
      media: [file, file, { kind: 'video' }],
    });
    await bot.pass(1000);
    const preview = bot.last(ada, null);
    expect(preview.text).toMatch(/^New task: The garden\n[\s\S]*\nWith your album, all of it$/);
    const sent = bot.world.messages(ada, { limit: 3 + 1 }).filter(({ album }) => album !== null);
    await bot.press('ada', preview, 'Create');
    expect(bot.now(preview).text).toContain('with 3 files');
    const brought = await results(bot, ada);
    expect(brought.map((line) => line.replace(/^.*: /, ''))).toEqual(['', '', '', 'The garden']);
    const shown = bot.world.messages(ada, { limit: 50 }).filter(({ from, album }) => from === 'bot' && album !== null);
    expect(shown.map(({ document }) => document?.fileId)).toEqual(sent.map(({ document }) => document?.fileId));
    const words = bot.world.messages(ada, { limit: 50 }).find(({ text }) => text === 'The garden');
    expect(words?.buttons.flat().map(({ text }) => text)).toEqual(['Done', 'Snooze']);
  });

  it('that a member sends with /new in a group is kept whole too', async () => {
    const bot = await aBotIn(lab);
    const file = { kind: 'photo' } as const;
    bot.world.say({ as: 'ben', chat: lab, text: '/new tomorrow at 8 The garden', media: [file, file, file] });
    await bot.pass(1000);
    const preview = bot.last(lab, null);
    expect(preview.text).toMatch(/With your album, all of it$/);
    await bot.press('ben', preview, 'Create');
    expect(bot.now(preview).text).toContain('with 3 photos');
  });

  it('stays whole when the words with it are edited', async () => {
    const bot = await aBotIn(ada);
    const file = { kind: 'photo' } as const;
    const said = bot.world.say({ as: 'ada', chat: ada, text: '/new tomorrow at 8 The garden', media: [file, file] });
    await bot.pass(1000);
    const preview = bot.last(ada, null);
    bot.world.edit({ as: 'ada', chat: ada, messageId: said.messageId, text: '/new tomorrow at 10 The garden' });
    await bot.pass(1000);
    expect(bot.now(preview).text).toMatch(/10:00[\s\S]*With your album, all of it$/);
    await bot.press('ada', preview, 'Create');
    expect(bot.now(preview).text).toContain('with 2 photos');
  });

  it('that comes without words is asked about once', async () => {
    const bot = await aBotIn(ada);
    const before = bot.world.messages(ada, { limit: 100 }).length;
    const file = { kind: 'photo' } as const;
    bot.world.say({ as: 'ada', chat: ada, text: '', media: [file, file, file] });
    await bot.pass(1000);
    expect(bot.world.messages(ada, { limit: 100 })).toHaveLength(before + 3 + 1);
    expect(bot.last(ada, null).text).toContain('I can send this album again.');
  });
});
