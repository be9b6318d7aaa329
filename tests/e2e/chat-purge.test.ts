import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, stopBots, type Bot } from './bot.ts';
import { mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

const inLab = { TELEGRAM_CHATS: String(lab) };
const states = (bot: Bot) =>
  select<{ state: string }>(bot, 'select state from tasks order by number').map(({ state }) => state);

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('/purge in %s', (_name, chat) => {
  it('counts, asks once with the number on the button, deletes all, and each can be brought back', async () => {
    const bot = await aTalkingBot(inLab);
    await madeWithTopic(bot, ['ada', chat], 'every day at 10 Stand up');
    await made(bot, ['ada', chat], 'every day at 11 Lunch');
    await made(bot, ['ada', chat], 'in 1 hour Pizza');
    await bot.say('ada', chat, '/pause 2');
    const question = await ask(bot, ['ada', chat], '/purge');
    expect(question.text).toMatch(/^This chat has 3 tasks: 2 active, 1 paused, 0 completed\./);
    expect(labels(question)).toEqual([['Delete all 3 tasks', 'Keep']]);
    const before = mark(bot);
    expect(await bot.press('ada', question, 'Delete all 3 tasks')).toEqual({ text: 'Deleted 3 tasks', alert: false });
    // The task that has a topic shows it by the door of that, or by its card where a topic has none.
    const shows = chat === lab ? 'closeForumTopic' : 'editMessageText';
    expect(methodsSince(bot, before).toSorted()).toEqual(['answerCallbackQuery', 'editMessageText', shows].toSorted());
    expect(bot.now(question).text).toContain('Deleted 3 tasks.\n\n#1 Stand up\n#2 Lunch\n#3 Pizza\n\n');
    expect(states(bot)).toEqual(['deleted', 'deleted', 'deleted']);
    const deleted = await ask(bot, ['ada', chat], '/task 2');
    await bot.press('ada', deleted, 'Undo');
    expect(states(bot)).toEqual(['deleted', 'paused', 'deleted']);
  });
});

describe('/purge', () => {
  it('is for admins, keeps when told so, and asks anew when the number has changed', async () => {
    const bot = await aTalkingBot(inLab);
    expect(await askText(bot, ['ada', lab], '/purge')).toBe('There are no tasks here, so there is nothing to delete.');
    await made(bot, ['ada', lab], 'every day at 11 Lunch');
    expect(await askText(bot, ['ben', lab], '/purge')).toBe('Only an admin of this chat may do that (Ada).');
    expect(await askText(bot, ['ada', lab], '/purge 3')).toContain('Write /purge alone');
    const question = await ask(bot, ['ada', lab], '/purge');
    expect((await bot.press('ben', question, 'Delete the one task'))?.alert).toBe(true);
    await made(bot, ['ben', lab], 'every day at 12 Nap');
    await bot.press('ada', question, 'Delete the one task');
    expect(states(bot)).toEqual(['active', 'active']);
    expect(labels(bot.now(question))).toEqual([['Delete all 2 tasks', 'Keep']]);
    await bot.press('ada', bot.now(question), 'Keep');
    expect([bot.now(question).text, states(bot)]).toEqual(['Nothing was deleted.', ['active', 'active']]);
  });

  it('pressed twice by impatient fingers deletes once, and its answer stays', async () => {
    const bot = await aTalkingBot(inLab);
    await made(bot, ['ada', lab], 'every day at 11 Lunch');
    const question = await ask(bot, ['ada', lab], '/purge');
    for (let press = 0; press < 2; press += 1) {
      bot.world.press({ as: 'ada', chat: lab, messageId: question.messageId, button: 'Delete the one task' });
    }
    await bot.pass(1000);
    expect(bot.now(question).text).toContain('Deleted 1 task.\n\n#1 Lunch');
  });

  it('deletes nothing of another chat', async () => {
    const bot = await aTalkingBot(inLab);
    await made(bot, ['ada', ada], 'every day at 9 Mine');
    await made(bot, ['ada', lab], 'every day at 9 Ours');
    const question = await ask(bot, ['ada', lab], '/purge');
    await bot.press('ada', question, 'Delete the one task');
    expect(select(bot, 'select title, state from tasks order by title')).toEqual([
      { title: 'Mine', state: 'active' },
      { title: 'Ours', state: 'deleted' },
    ]);
  });
});
