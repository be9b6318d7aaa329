import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, askText, aTalkingBot, expectSilence, labels } from './dialogue.ts';

afterEach(stopBots);

async function aBotIn(chat: number): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  return bot;
}

/** Somebody says something that is not meant for the bot, which may answer all the same where it hears everything. */
async function talk(bot: Bot, [as, chat]: readonly [string, number], text: string, thread?: number): Promise<number> {
  await bot.say(as, chat, text, thread === undefined ? {} : { thread });
  const said = bot.world.messages(chat, { limit: 500 }).findLast((message) => message.text === text);
  if (said === undefined) throw new Error('nothing was said');
  return said.messageId;
}

const texts = (bot: Bot) => select(bot, 'select instructions from tasks order by number');

describe.each([
  ['a group', 'ben', lab],
  ['a private chat', 'ada', ada],
] as const)('a reply in %s', (_name, as, chat) => {
  it('/new with a time schedules what it answers, whoever wrote that', async () => {
    const bot = await aBotIn(chat);
    const said = await talk(bot, ['ada', chat], 'Somebody must water the plants');
    const preview = await ask(bot, [as, chat], '/new tomorrow at 9', { replyTo: said });
    expect(preview.text).toMatch(/New task: Somebody must water the plants\nOnce on Thu 19 Nov at 09:00/);
    expect(labels(preview)).toEqual([['Create', 'Change time', 'Cancel'], ['Change text']]);
    await bot.press(as, preview, 'Create');
    expect(texts(bot)).toEqual([{ instructions: 'Somebody must water the plants' }]);
  });
});

it('“schedule this” is enough in a private chat, and needs the name of the bot in a group', async () => {
  const bot = await aBotIn(lab);
  await bot.say('ada', ada, '/tz UTC');
  const mine = await talk(bot, ['ada', ada], 'Somebody must water the plants');
  expect(await askText(bot, ['ada', ada], 'schedule this tomorrow 9', { replyTo: mine })).toMatch(
    /New task: Somebody must water the plants\nOnce on Thu 19 Nov at 09:00/,
  );
  const said = await talk(bot, ['ada', lab], 'Somebody must water the plants');
  await expectSilence(bot, ['ben', lab], 'schedule this tomorrow 9', { replyTo: said });
  const name = bot.world.bot.username;
  expect(await askText(bot, ['ben', lab], `@${name} schedule this tomorrow 9`, { replyTo: said })).toMatch(
    /New task: Somebody must water the plants\nOnce on Thu 19 Nov at 09:00/,
  );
  expect(await askText(bot, ['ben', lab], `@${name} schedule this`, { replyTo: said })).toContain(
    'When shall it come?',
  );
});
