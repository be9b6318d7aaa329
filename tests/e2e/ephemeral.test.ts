import { afterEach, describe, expect, it } from 'vitest';
import { lab, second, stopBots, type Bot } from './bot.ts';
import { driftUntil, mark, methodsSince, rowsOf } from './deliveries.ts';
import { aTalkingBot, made } from './dialogue.ts';

afterEach(stopBots);

async function withTask(): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  await made(bot, ['ada', lab], 'every day at 12 Lunch');
  return bot;
}

const answers = (bot: Bot) =>
  bot.world.messages(lab, { limit: 100 }).filter(({ from, text }) => from === 'bot' && text.startsWith('Tasks'));

const sends = (bot: Bot, after: number) => methodsSince(bot, after).filter((method) => method === 'sendMessage').length;

describe('an answer that nobody else needs to read', () => {
  it('is seen in a group by whoever asked, and costs one call', async () => {
    const bot = await withTask();
    const before = mark(bot);
    await bot.say('ada', lab, '/tasks');
    expect(answers(bot)).toMatchObject([{ onlyFor: 'ada', messageId: 0 }]);
    expect(sends(bot, before)).toBe(1);
    expect(rowsOf(bot, 'answer').at(-1)).toMatchObject({
      status: 'delivered',
      message_id: 0,
      evidence: JSON.stringify({ ephemeral_message_id: answers(bot)[0]?.ephemeralId }),
    });
  });

  it('disturbs no look for a result whose answer was lost', async () => {
    const bot = await withTask();
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
