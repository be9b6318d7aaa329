import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, stopBots, type Bot } from './bot.ts';
import { callsSince, mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

const inLab = { TELEGRAM_CHATS: String(lab) };
const liveTopics = (bot: Bot, chat: number) => bot.world.topics(chat).filter(({ isDeleted }) => !isDeleted);
const topicsOf = (bot: Bot, chat: number) => liveTopics(bot, chat).map(({ name }) => name);

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('/topic delete in %s', (_name, chat) => {
  it('asks inside the topic, deletes it, says so outside, and the next run makes a new one', async () => {
    const bot = await aTalkingBot(inLab);
    const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 10 Stand up');
    const question = await ask(bot, ['ada', chat], '/topic delete', { thread: topic });
    expect(question.text).toBe(
      'Delete the topic of #1 Stand up?\n\nThis deletes the topic with all its messages. The task goes on; its next run makes a new one.',
    );
    expect(labels(question)).toEqual([['Delete the topic', 'Keep']]);
    const before = mark(bot);
    expect(await bot.press('ada', question, 'Delete the topic')).toEqual({ text: 'Topic deleted', alert: false });
    expect(methodsSince(bot, before).toSorted()).toEqual(['answerCallbackQuery', 'deleteForumTopic', 'sendMessage']);
    expect(topicsOf(bot, chat)).toEqual([]);
    expect(bot.last(chat, null).text).toContain('The task goes on; its next run makes a new one.');
    expect(await askText(bot, ['ada', chat], '/task 1')).toContain('Active');
    await bot.pass(61 * minute);
    const [remade] = liveTopics(bot, chat);
    expect(remade?.threadId).not.toBe(topic);
    expect(bot.texts(chat, remade?.threadId)).toContain('Stand up');
    expect(bot.texts(chat).join('\n')).not.toContain('Somebody deleted');
    expect(select(bot, `select verb, actor from audit where verb = 'unbind'`)).toEqual([
      { verb: 'unbind', actor: 'telegram:user:1001' },
    ]);
  });

  it('can be named from outside, and kept', async () => {
    const bot = await aTalkingBot(inLab);
    await madeWithTopic(bot, ['ada', chat], 'every day at 10 Stand up');
    const question = await ask(bot, ['ada', chat], '/topic delete #1');
    await bot.press('ada', question, 'Keep');
    expect(bot.now(question).text).toBe('Nothing was deleted.');
    expect(topicsOf(bot, chat)).toEqual(['Stand up']);
    const again = await ask(bot, ['ada', chat], '/topic delete 1');
    await bot.press('ada', again, 'Delete the topic');
    expect(bot.now(again).text).toContain('I am deleting the topic of #1 Stand up.');
    expect(topicsOf(bot, chat)).toEqual([]);
  });

  it('pressed twice by impatient fingers says so once', async () => {
    const bot = await aTalkingBot(inLab);
    const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 10 Stand up');
    const { messageId } = await ask(bot, ['ada', chat], '/topic delete', { thread: topic });
    for (let press = 0; press < 2; press += 1) {
      bot.world.press({ as: 'ada', chat, messageId, button: 'Delete the topic' });
    }
    await bot.pass(1000);
    expect(topicsOf(bot, chat)).toEqual([]);
    expect(bot.texts(chat, null).filter((text) => text.includes('I am deleting the topic'))).toHaveLength(1);
  });

  it('pressed twice deletes once, and not the topic that has come since', async () => {
    const bot = await aTalkingBot(inLab);
    await madeWithTopic(bot, ['ada', chat], 'every day at 10 Stand up');
    const question = await ask(bot, ['ada', chat], '/topic delete #1');
    const twin = await ask(bot, ['ada', chat], '/topic delete #1');
    await bot.press('ada', question, 'Delete the topic');
    await bot.say('ada', chat, '/run 1');
    expect(topicsOf(bot, chat)).toEqual(['Stand up']);
    await bot.press('ada', twin, 'Delete the topic');
    expect(topicsOf(bot, chat)).toEqual(['Stand up']);
    expect(await askText(bot, ['ada', chat], '/task 1')).toContain('Results: in its own topic');
  });
});

describe('/topic', () => {
  it('guides outside of a topic, and leaves topics of people alone', async () => {
    const bot = await aTalkingBot(inLab);
    const how = 'This deletes the topic of a task with all its messages; the task goes on.';
    for (const text of [
      '/topic',
      '/topic delete',
      '/topic remove',
      '/topic delete now please',
      '/topic delete #1 now',
    ]) {
      expect([text, await askText(bot, ['ada', lab], text)]).toEqual([text, expect.stringContaining(how)]);
    }
    expect(await askText(bot, ['ada', lab], '/topic delete #7')).toContain('There is no task #7');
    const thread = bot.world.createTopic(lab, 'ada', 'Plants');
    expect(await askText(bot, ['ada', lab], '/topic delete', { thread })).toBe(
      'This topic belongs to no task of mine, so I leave it alone.',
    );
    await made(bot, ['ada', lab], 'every day at 10 Stand up');
    expect(await askText(bot, ['ada', lab], '/topic delete #1')).toBe(
      '#1 Stand up has no topic. Its next run makes one.',
    );
  });

  it('is for the owner of the task and for admins', async () => {
    const bot = await aTalkingBot(inLab);
    await madeWithTopic(bot, ['ada', lab], 'every day at 10 Stand up');
    await madeWithTopic(bot, ['ben', lab], 'every day at 11 Lunch');
    expect(await askText(bot, ['ben', lab], '/topic delete #1')).toBe('Only Ada or an admin may do that.');
    const question = await ask(bot, ['ada', lab], '/topic delete #1');
    expect((await bot.press('ben', question, 'Delete the topic'))?.alert).toBe(true);
    const own = await ask(bot, ['ben', lab], '/topic delete #2');
    await bot.press('ben', own, 'Delete the topic');
    expect(topicsOf(bot, lab)).toEqual(['Stand up']);
  });

  it('takes the topic of a deleted task, which is closed', async () => {
    const bot = await aTalkingBot(inLab);
    await madeWithTopic(bot, ['ada', lab], 'every day at 10 Stand up');
    await bot.say('ada', lab, '/delete 1');
    const question = await ask(bot, ['ada', lab], '/topic delete #1');
    expect(question.text).toContain('The task is deleted already.');
    await bot.press('ada', question, 'Delete the topic');
    expect(topicsOf(bot, lab)).toEqual([]);
  });
});

describe('the name of a topic', () => {
  it('follows the title, by whatever way that is changed, and back', async () => {
    const bot = await aTalkingBot(inLab);
    await madeWithTopic(bot, ['ada', lab], 'every day at 10 Stand up');
    const before = mark(bot);
    const edited = await ask(bot, ['ada', lab], '/edit 1 title Morning round');
    expect(topicsOf(bot, lab)).toEqual(['Morning round']);
    expect(callsSince(bot, before).length).toBeLessThanOrEqual(3);
    await bot.press('ada', edited, 'Undo');
    expect(topicsOf(bot, lab)).toEqual(['Stand up']);
    const [{ id } = { id: '' }] = select<{ id: string }>(bot, 'select id from tasks');
    expect((await bot.api('PATCH', `/v1/tasks/${id}`, { title: 'Evening round' })).status).toBe(200);
    await bot.pass(0);
    expect(topicsOf(bot, lab)).toEqual(['Evening round']);
    await ask(bot, ['ada', lab], '/edit 1 every day at 12');
    expect(topicsOf(bot, lab)).toEqual(['Evening round']);
  });
});
