import { afterEach, describe, expect, it } from 'vitest';
import { ben, lab, stopBots, type Bot } from './bot.ts';
import { rowsOf, select } from './deliveries.ts';
import { aBroughtBot, bring, made } from './dialogue.ts';

afterEach(stopBots);

/** Words that one person alone sees in a group come without a number of their own; nothing may depend on that number. */

const group = { id: lab, type: 'supergroup', title: 'The Lab', is_forum: true } as const;
const date = 1_794_992_400;
let ephemeralId = 700;

function aside(text: string, more: Readonly<Record<string, unknown>> = {}) {
  const command = /^\/\w+(?:@\w+)?/.exec(text)?.[0];
  const entities =
    command === undefined ? {} : { entities: [{ type: 'bot_command', offset: 0, length: command.length }] };
  const from = { id: ben, is_bot: false, first_name: 'Ben' };
  const numbers = { message_id: 0, ephemeral_message_id: (ephemeralId += 1), date };
  return { message: { ...numbers, chat: group, from, text, ...entities, ...more } };
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
    expect(texts(await bring(bot, lab, aside('/new')))[0]).toContain('When shall it come?');
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
      text: '#1 Lunch\nActive',
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
