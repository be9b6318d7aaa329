import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, second, stopBots, type Bot } from './bot.ts';
import { driftUntil, mark, methodsSince, rowsOf } from './deliveries.ts';
import { aTalkingBot, made } from './dialogue.ts';

afterEach(stopBots);

async function withTask(chat: number): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  await made(bot, ['ada', chat], 'every day at 12 Lunch');
  return bot;
}

const answers = (bot: Bot, chat: number) =>
  bot.world.messages(chat, { limit: 100 }).filter(({ from, text }) => from === 'bot' && text.startsWith('Tasks'));

const sends = (bot: Bot, after: number) => methodsSince(bot, after).filter((method) => method === 'sendMessage').length;

describe('an answer that nobody else needs to read', () => {
  it('is seen in a group by whoever asked, and costs one call', async () => {
    const bot = await withTask(lab);
    const before = mark(bot);
    await bot.say('ada', lab, '/tasks');
    expect(answers(bot, lab)).toMatchObject([{ onlyFor: 'ada', messageId: 0 }]);
    expect(sends(bot, before)).toBe(1);
    expect(rowsOf(bot, 'answer').at(-1)).toMatchObject({
      status: 'delivered',
      message_id: 0,
      evidence: JSON.stringify({ ephemeral_message_id: answers(bot, lab)[0]?.ephemeralId }),
    });
  });

  it('is seen by all where the platform does not do that, which is found out once', async () => {
    const bot = await withTask(lab);
    bot.world.setFeatures({ isEphemeralOn: false });
    const before = mark(bot);
    await bot.say('ada', lab, '/tasks');
    await bot.say('ada', lab, '/tasks');
    expect(answers(bot, lab).map(({ onlyFor }) => onlyFor)).toEqual([null, null]);
    expect(sends(bot, before)).toBe(3);
  });

  it('is an answer like any other in a private chat', async () => {
    const bot = await withTask(ada);
    await bot.say('ada', ada, '/tasks');
    expect(answers(bot, ada)).toMatchObject([{ onlyFor: null }]);
  });

  it('is said again when nobody knows whether it arrived', async () => {
    const bot = await withTask(lab);
    bot.world.fault({ kind: 'reset_before', method: 'sendMessage', count: 1 });
    bot.world.say({ as: 'ada', chat: lab, text: '/tasks' });
    await driftUntil(bot, () => answers(bot, lab).length > 0);
    expect(answers(bot, lab)).toMatchObject([{ onlyFor: 'ada' }]);
  });

  it('disturbs no look for a result whose answer was lost', async () => {
    const bot = await withTask(lab);
    await bot.say('ada', lab, '/tasks');
    await bot.say('ada', lab, '/run #1');
    bot.world.fault({ kind: 'reset_after', method: 'sendMessage', count: 1 });
    const before = rowsOf(bot, 'result').length;
    await bot.pass(3 * second);
    bot.world.say({ as: 'ada', chat: lab, text: '/run #1' });
    await driftUntil(
      bot,
      () =>
        rowsOf(bot, 'result').length > before && rowsOf(bot, 'result').every(({ status }) => status === 'delivered'),
    );
    const shown = bot.world
      .messages(lab, { limit: 100 })
      .filter(({ from, text }) => from === 'bot' && text === 'Lunch');
    expect(shown).toHaveLength(before + 1);
  });
});
