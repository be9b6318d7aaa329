import { afterEach, describe, expect, it } from 'vitest';
import { mediaKinds } from '../../src/sandbox/world/world.ts';
import { ada, day, lab, stopBots, type Bot } from './bot.ts';
import { ask, askText, aTalkingBot, expectSilence, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

async function aBotIn(chat: number): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  return bot;
}

/** What the first run brings, without the card. */
async function results(bot: Bot, chat: number): Promise<string[]> {
  const before = new Set(bot.world.messages(chat, { limit: 500 }).map(({ messageId }) => messageId));
  await bot.pass(day);
  return bot.world
    .messages(chat, { limit: 500 })
    .filter((message) => message.from === 'bot' && message.service === null && !before.has(message.messageId))
    .filter(({ text }) => !text.startsWith('#'))
    .map(({ text, document }) => `${document === null ? 'text' : document.name}: ${text}`);
}

const photo = { kind: 'photo' } as const;

describe.each([
  ['a group', 'ben', lab],
  ['a private chat', 'ada', ada],
] as const)('a file in %s', (_name, as, chat) => {
  it.each(mediaKinds)('that comes with /new is sent with the text: %s', async (kind) => {
    const bot = await aBotIn(chat);
    const preview = await ask(bot, [as, chat], '/new tomorrow at 8 Menu of the day', { media: { kind } });
    expect(preview.text).toMatch(/^New task: Menu of the day\n[\s\S]*\nWith an? \w/);
    await bot.press(as, preview, 'Create');
    const [result, ...more] = await results(bot, chat);
    expect(more).toEqual([]);
    expect(result).toMatch(/^(?!text).*: Menu of the day$/);
  });

  it('without words is called what it is, and sent alone', async () => {
    const bot = await aBotIn(chat);
    const preview = await ask(bot, [as, chat], '/new tomorrow at 8', { media: photo });
    expect(preview.text).toMatch(/^New task: Photo\nOnce on Thu 19 Nov at 08:00\n[\s\S]*\nWith a photo$/);
    expect(await bot.press(as, preview, 'Create')).toEqual({ text: 'Created as #1', alert: false });
    expect(await results(bot, chat)).toEqual([expect.stringMatching(/^photo\.\w+: $/)]);
  });

  it('is scheduled by a reply to it', async () => {
    const bot = await aBotIn(chat);
    bot.world.say({ as: 'ada', chat, text: 'Our cat', media: photo });
    await bot.pass(1000);
    const said = bot.world.messages(chat, { limit: 500 }).findLast(({ text }) => text === 'Our cat');
    const preview = await ask(bot, [as, chat], '/new tomorrow at 8', { replyTo: said?.messageId ?? 0 });
    expect(preview.text).toMatch(/New task: Our cat\n[\s\S]*\nWith a photo$/);
  });

  it('can be the answer to what should be said', async () => {
    const bot = await aBotIn(chat);
    const asked = await ask(bot, [as, chat], '/new tomorrow at 8');
    const preview = await ask(bot, [as, chat], 'Our cat', { media: photo, replyTo: asked.messageId });
    expect(preview.text).toMatch(/^New task: Our cat\n[\s\S]*\nWith a photo$/);
  });
});

it('alone in a private chat is offered, and left alone in a group', async () => {
  const bot = await aBotIn(ada);
  await expectSilence(bot, ['ben', lab], '', { media: photo });
  const offer = await ask(bot, ['ada', ada], '', { media: photo });
  expect(offer.text).toBe('I can send this photo again when you want. Press Schedule this, or write when.');
  await bot.press('ada', offer, 'Schedule this');
  for (const button of ['Every day', '08:00', '08:00']) await bot.press('ada', bot.now(offer), button);
  await bot.press('ada', bot.now(offer), 'Create');
  expect(bot.now(offer).text).toMatch(/^#1 Photo\n/);
});

it('works inside the topic of a task', async () => {
  const bot = await aBotIn(lab);
  const topic = await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
  const words = await askText(bot, ['ada', lab], '/new tomorrow at 11 Menu', { thread: topic, media: photo });
  expect(words).toMatch(/^New task: Menu\n[\s\S]*With a photo$/);
});
