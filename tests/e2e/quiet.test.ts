import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { hour, lab, minute, stopBots, type Bot } from './bot.ts';
import { aTask, change, isCard, opened, threadOf, topicNamed } from './deliveries.ts';
import { aTalkingBot } from './dialogue.ts';

afterEach(stopBots);

const night = { from: '22:00', to: '07:00', mode: 'hold' } as const;

/** Settings that the admins of the chat have chosen, as they stand in its row. */
function choose(bot: Bot, chat: number, quiet: object): void {
  const settings = JSON.stringify({ quiet });
  change(bot, `update chats set settings = '${settings}', timezone = 'Europe/Madrid' where address = '${chat}'`);
}

/** Nine in the evening in Madrid, in a chat that sleeps from ten. */
async function evening(chat: number, quiet: object = night): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await opened(bot, chat);
  choose(bot, chat, quiet);
  await bot.pass(11 * hour);
  return bot;
}

async function passBy(bot: Bot, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 30 * minute) await bot.pass(30 * minute);
}

interface Heard {
  readonly where: string;
  readonly text: string;
  readonly isSilent: boolean;
}

function heard(bot: Bot, chat: number, isNew: (message: MessageShown) => boolean = () => true): Heard[] {
  const names = new Map(bot.world.topics(chat).map(({ threadId, name }) => [threadId, name]));
  return bot.world
    .messages(chat, { limit: 500 })
    .filter((message) => message.from === 'bot' && message.service === null && isNew(message))
    .filter(({ text }) => !isCard(text))
    .map(({ threadId, text, isSilent }) => ({
      where: threadId === null ? 'base' : (names.get(threadId) ?? 'nowhere'),
      text,
      isSilent,
    }));
}

const since = (bot: Bot) => {
  const at = Math.floor(bot.time.now() / 1000);
  return (message: MessageShown) => message.date > at;
};

describe('a night', () => {
  it('holds results back until its end: each comes to its own topic without a sound, and one word tells of all', async () => {
    const bot = await evening(lab);
    const isNew = since(bot);
    const thread = threadOf(lab);
    await aTask(bot, { title: 'Backup check', text: 'The backup is fine.', thread, cron: '30 22 * * *' });
    await aTask(bot, { title: 'Bins', text: 'Put the bins out.', thread, cron: '0 23,5 * * *' });
    await passBy(bot, 10 * hour - 30 * minute);
    expect(heard(bot, lab, isNew)).toEqual([]);
    await passBy(bot, hour);
    const came = heard(bot, lab, isNew);
    expect(came.slice(0, -1)).toEqual([
      { where: 'Backup check', text: 'The backup is fine.', isSilent: true },
      { where: 'Bins', text: 'Put the bins out.', isSilent: true },
      { where: 'Bins', text: 'Put the bins out.', isSilent: true },
    ]);
    expect(came.at(-1)).toEqual({
      where: 'base',
      text: 'While it was quiet, 22:00–07:00:\n#1 Backup check: 1 message\n#2 Bins: 2 messages',
      isSilent: false,
    });
    const links = bot.last(lab, null).entities.filter(({ type }) => type === 'text_link');
    const first = bot.world
      .messages(lab, { thread: topicNamed(bot, lab, 'Bins'), limit: 50 })
      .find(({ text }) => text === 'Put the bins out.');
    expect(links.map(({ url }) => url)).toEqual([
      expect.any(String),
      `https://t.me/c/1000000001/${topicNamed(bot, lab, 'Bins')}/${first?.messageId}`,
    ]);
    await passBy(bot, 3 * hour);
    expect(heard(bot, lab, isNew)).toHaveLength(4);
  });
});

describe('a night that is called off for one task', () => {
  it('lets what waits of it go at once, and nothing of the others', async () => {
    const bot = await evening(lab);
    const isNew = since(bot);
    const id = await aTask(bot, { title: 'Smoke', text: 'Fire!', cron: '45 22 * * *' });
    await aTask(bot, { title: 'Bins', text: 'Put the bins out.', cron: '30 22 * * *' });
    await passBy(bot, 3 * hour);
    const { status } = await bot.api('PATCH', `/v1/tasks/${id}`, { policies: { quiet: { mode: 'off' } } });
    expect(status).toBe(200);
    await bot.pass(minute);
    expect(heard(bot, lab, isNew).map(({ text }) => text)).toEqual(['Fire!']);
    await passBy(bot, 9 * hour);
    expect(heard(bot, lab, isNew).map(({ text }) => text.split('\n')[0])).toEqual([
      'Fire!',
      'Put the bins out.',
      'While it was quiet, 22:00–07:00:',
    ]);
  });
});
