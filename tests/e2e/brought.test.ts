import { afterEach, describe, expect, it } from 'vitest';
import { ada, ben, lab, stopBots, type Bot } from './bot.ts';
import { rowsOf, select } from './deliveries.ts';
import { aBroughtBot, bring, made } from './dialogue.ts';

afterEach(stopBots);

/** Updates that nobody can bring about in the sandbox, brought as Telegram would bring them. */

const group = { id: lab, type: 'supergroup', title: 'The Lab', is_forum: true } as const;
const date = 1_794_992_400;
/** Words that one person alone sees in a group come without a number of their own; nothing may depend on that number. */
let ephemeralId = 700;

function command(text: string) {
  const name = /^\/\w+(?:@\w+)?/.exec(text)?.[0];
  return {
    text,
    ...(name === undefined ? {} : { entities: [{ type: 'bot_command', offset: 0, length: name.length }] }),
  };
}

function aside(text: string, more: Readonly<Record<string, unknown>> = {}) {
  const from = { id: ben, is_bot: false, first_name: 'Ben' };
  const numbers = { message_id: 0, ephemeral_message_id: (ephemeralId += 1), date };
  return { message: { ...numbers, chat: group, from, ...command(text), ...more } };
}

async function aLab(): Promise<Bot> {
  const bot = await aBroughtBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  return bot;
}

const texts = (messages: Awaited<ReturnType<typeof bring>>) => messages.map(({ text }) => text);
const drafts = (bot: Bot) => select<{ step: string }>(bot, 'select step from drafts').map(({ step }) => step);

describe('words that one person alone sees', () => {
  it('are taken up and answered, and explain no number of the chat', async () => {
    const bot = await aLab();
    for (const words of ['/tasks', '/help', '/frobnicat@cronogram_bot']) {
      expect([words, texts(await bring(bot, lab, aside(words))).length]).toEqual([words, 1]);
    }
    const rows = select<{ payload: string; message_id: number | null; address: string | null }>(
      bot,
      `select message_id, address from inbox where payload like '%ephemeral_message_id%'`,
    );
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(row).toEqual({ message_id: null, address: null });
  });

  it('begin a draft that goes on with what is said aloud', async () => {
    const bot = await aLab();
    expect(texts(await bring(bot, lab, aside('/new')))[0]).toContain('When should I send it?');
    const preview = await bring(bot, lab, { message: { ...aside('in 20 minutes Pizza').message, message_id: 77 } });
    expect(texts(preview)[0]).toContain('New task: Pizza');
    expect(drafts(bot)).toEqual(['preview']);
  });

  it('cannot be told apart when they are edited, so that no other draft is changed', async () => {
    const bot = await aLab();
    await bring(bot, lab, aside('/new in 20 minutes Pizza'));
    expect(drafts(bot)).toEqual(['preview']);
    const { message } = aside('/new in 20 minutes Something else', { edit_date: date + 5 });
    expect(await bring(bot, lab, { edited_message: message })).toEqual([]);
    expect(select<{ body: string }>(bot, 'select body from drafts')[0]?.body).toContain('Pizza');
  });

  it('confirm a run as a reply to a card, and whoever said it is told', async () => {
    const bot = await aLab();
    await made(bot, ['ada', lab], 'every day at 12 Lunch');
    await bot.say('ada', lab, '/run #1');
    const card = {
      message_id: 0,
      ephemeral_message_id: 5,
      from: { id: 777_000_001, is_bot: true, first_name: 'Cronogram' },
      text: '#1 Lunch\n🟢 Active',
    };
    const told = await bring(bot, lab, aside('done', { reply_to_message: card }));
    const results = rowsOf(bot, 'result').map(({ status }) => status);
    expect(results).toEqual(['delivered']);
    const inTopic = bot.world.messages(lab, { limit: 100 }).filter(({ text }) => text.startsWith('Lunch'));
    expect(inTopic.at(-1)?.text).toMatch(/Done: Ben|Done by Ben|Ben/);
    expect(rowsOf(bot, 'answer').filter(({ status }) => status !== 'delivered')).toEqual([]);
    expect(told.every(({ onlyFor }) => onlyFor === 'ben' || onlyFor === null)).toBe(true);
  });
});

it('a message of sixteen thousand characters is a task, with its text whole', async () => {
  const bot = await aLab();
  const long = 'Read this, all of it. '.repeat(727).trim();
  expect(long.length).toBeGreaterThan(15_900);
  const [preview] = await bring(bot, lab, {
    message: {
      message_id: 900_001,
      date,
      chat: group,
      from: { id: ada, is_bot: false, first_name: 'Ada' },
      ...command(`/new every day at 9\n${long}`),
    },
  });
  if (preview === undefined) throw new Error('no preview');
  expect(preview.text.length).toBeLessThan(4096);
  expect(await bot.press('ada', preview, 'Create')).toMatchObject({ text: 'Created as #1' });
  expect(select(bot, 'select instructions from tasks')).toEqual([{ instructions: long }]);
  await bot.press('ada', bot.now(preview), 'Run now');
  const [topic] = bot.world.topics(lab);
  const parts = bot.world
    .messages(lab, { thread: topic?.threadId ?? 0 })
    .filter(({ from, text, service }) => from === 'bot' && service === null && !text.startsWith('#1'));
  expect(
    parts
      .map(({ text }) => text)
      .join(' ')
      .replaceAll(/\s+/g, ' '),
  ).toBe(long);
});
