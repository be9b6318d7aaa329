import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, noRights, second, stopBots, type Bot } from './bot.ts';
import { opened, runNow, saidIn, select } from './deliveries.ts';
import { ask, aTalkingBot, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

const topicsOf = (bot: Bot, chat: number) => bot.world.topics(chat).filter(({ isDeleted }) => !isDeleted);
const open = `select id, kind, status, cause, error from deliveries where status not in ('delivered', 'failed')`;

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('a topic that is deleted while a result is on its way into it, in %s', (_name, chat) => {
  it.each(['late', 'answer_lost', 'reset_before', 'reset_after', '429', '500'] as const)(
    'loses no later one, and holds up nothing, when its send is met by: %s',
    async (kind) => {
      const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
      await bot.say('ada', chat, '/tz UTC');
      await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
      const question = await ask(bot, ['ada', chat], '/topic delete #1');
      const { id } = select<{ id: string }>(bot, 'select id from tasks')[0] ?? { id: '' };
      bot.world.fault({ kind, method: 'sendMessage', count: 1, delayMs: 5 * second });
      await runNow(bot, id);
      await bot.drift(second);
      bot.world.press({ as: 'ada', chat, messageId: question.messageId, button: 'Delete the topic' });
      await bot.drift(2 * minute);
      bot.world.clearFault();
      await bot.pass(5 * minute);
      expect(select(bot, open)).toEqual([]);
      await runNow(bot, id);
      await bot.pass(5 * minute);
      expect(select(bot, open)).toEqual([]);
      const [topic, ...others] = topicsOf(bot, chat).filter(({ name }) => name === 'Lunch');
      expect(others).toEqual([]);
      const shown = saidIn(bot, chat, topic?.threadId ?? -1).filter((text) => text === 'Lunch');
      const runs = select(bot, `select id from deliveries where kind = 'result' and status = 'delivered'`);
      expect([shown.length >= 1, runs.length]).toEqual([true, 3]);
      expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    },
    60_000,
  );
});

describe('a group in which the bot lost its right to manage topics', () => {
  it('keeps the topic that was to be deleted, says so, and loses nothing', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: `${lab},${noRights}` });
    await opened(bot, lab);
    await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
    const question = await ask(bot, ['ada', lab], '/topic delete #1');
    bot.world.setBotRights(lab, { can_manage_topics: false });
    await bot.press('ada', question, 'Delete the topic');
    await bot.pass(minute);
    const { id } = select<{ id: string }>(bot, 'select id from tasks')[0] ?? { id: '' };
    await runNow(bot, id);
    await bot.pass(minute);
    bot.world.setBotRights(lab, { can_manage_topics: true });
    await bot.pass(15 * minute);
    expect(select(bot, open)).toEqual([]);
    expect(select(bot, `select status from deliveries where kind = 'result'`)).toEqual([
      { status: 'delivered' },
      { status: 'delivered' },
    ]);
  });
});
