import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, stopBots, type Bot } from './bot.ts';
import { callsSince, driftUntil, mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

const inLab = { TELEGRAM_CHATS: String(lab) };
const liveTopics = (bot: Bot, chat: number) => bot.world.topics(chat).filter(({ isDeleted }) => !isDeleted);
const topicsOf = (bot: Bot, chat: number) => liveTopics(bot, chat).map(({ name }) => name);

describe('/topic delete', () => {
  it('asks inside the topic, deletes it, says so outside, and the next run makes a new one', async () => {
    const bot = await aTalkingBot(inLab);
    const topic = await madeWithTopic(bot, ['ada', lab], 'every day at 10 Stand up');
    const question = await ask(bot, ['ada', lab], '/topic delete', { thread: topic });
    expect(question.text).toBe(
      'Delete the topic of #1 Stand up?\n\nThis deletes the topic with all its messages. The task stays active, and its next run will make a new topic.',
    );
    expect(labels(question)).toEqual([['Delete the topic', 'Keep']]);
    const before = mark(bot);
    expect(await bot.press('ada', question, 'Delete the topic')).toEqual({ text: 'Topic deleted', alert: false });
    expect(methodsSince(bot, before).toSorted()).toEqual(['answerCallbackQuery', 'deleteForumTopic', 'sendMessage']);
    expect(topicsOf(bot, lab)).toEqual([]);
    expect(bot.last(lab, null).text).toContain('The task stays active, and its next run will make a new topic.');
    expect(await askText(bot, ['ada', lab], '/task 1')).toContain('Active');
    await bot.pass(61 * minute);
    const [remade] = liveTopics(bot, lab);
    expect(remade?.threadId).not.toBe(topic);
    expect(bot.texts(lab, remade?.threadId)).toContain('Stand up');
    expect(bot.texts(lab).join('\n')).not.toContain('Somebody deleted');
    expect(select(bot, `select verb, actor from audit where verb = 'unbind'`)).toEqual([
      { verb: 'unbind', actor: 'telegram:user:1001' },
    ]);
  });
});

describe('/topic', () => {
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

describe('/topic clean', () => {
  async function finished(count: number, chat = lab) {
    const bot = await aTalkingBot(inLab);
    if (chat > 0) await bot.say('ada', chat, '/start');
    for (let number = 1; number <= count; number += 1) {
      await made(bot, ['ada', chat], `in 1 minute errand ${number}`);
      await bot.pass(2 * minute);
    }
    await madeWithTopic(bot, ['ada', chat], 'every day at 10 Stand up');
    return bot;
  }

  it('closes the topics of finished tasks, once it has counted them, and counts them no more', async () => {
    const bot = await finished(3);
    const question = await ask(bot, ['ada', lab], '/topic clean');
    expect(labels(question)).toEqual([['Close 3', 'Delete 3', 'Cancel']]);
    await bot.press('ada', question, 'Close 3');
    await bot.pass(minute);
    expect(liveTopics(bot, lab).map(({ name, isClosed }) => [name, isClosed])).toEqual([
      ['errand 1', true],
      ['errand 2', true],
      ['errand 3', true],
      ['Stand up', false],
    ]);
    expect(bot.last(lab, null).text).toBe('Closed 3 topics.');
    expect(labels(await ask(bot, ['ada', lab], '/topic clean'))).toEqual([['Delete 3', 'Cancel']]);
  });

  it('deletes them after a restart as well, and their tasks stay', async () => {
    const bot = await finished(3);
    await bot.say('ada', lab, '/delete 1');
    const question = await ask(bot, ['ada', lab], '/topic clean');
    bot.world.fault({ kind: '429', method: 'deleteForumTopic', count: 1, retryAfter: 20 });
    await bot.press('ada', question, 'Delete 3');
    const next = await bot.restart();
    await next.pass(2 * minute);
    expect(topicsOf(next, lab)).toEqual(['Stand up']);
    expect(next.last(lab, null).text).toBe('Deleted 3 topics.');
    expect(select(next, `select state, topic_state from tasks order by number`)).toMatchObject([
      { state: 'deleted', topic_state: 'none' },
      { state: 'completed', topic_state: 'none' },
      { state: 'completed', topic_state: 'none' },
      { state: 'active', topic_state: 'ready' },
    ]);
    expect(await askText(next, ['ada', lab], '/topic clean')).toContain('There are no topics');
  });

  it('counts anew when there are others by now, does nothing on Cancel, and is for admins', async () => {
    const bot = await finished(1);
    const question = await ask(bot, ['ada', lab], '/topic clean');
    await bot.say('ada', lab, '/delete 2');
    await bot.press('ada', question, 'Delete 1');
    expect(labels(bot.now(question))).toEqual([['Close 1', 'Delete 2', 'Cancel']]);
    await bot.press('ada', bot.now(question), 'Cancel');
    expect(topicsOf(bot, lab)).toHaveLength(2);
    expect(labels(await ask(bot, ['ben', lab], '/topic clean')).flat()).toEqual([]);
  });

  it('offers no closing in a private chat, where Telegram has none', async () => {
    const bot = await finished(1, ada);
    expect(labels(await ask(bot, ['ada', ada], '/topic clean'))).toEqual([['Delete 1', 'Cancel']]);
  });
});

/** The answer waits a moment for what becomes of the name, so time must pass. */
async function patched(bot: Bot, id: string, change: object) {
  const answers: Awaited<ReturnType<Bot['api']>>[] = [];
  void bot.api('PATCH', `/v1/tasks/${id}`, change).then((answer) => answers.push(answer));
  await driftUntil(bot, () => answers.length > 0);
  return answers[0];
}

describe('the name of a topic', () => {
  it.each(['500', 'bad_gateway_html', 'reset_before'] as const)(
    'that cannot be given is a warning for whoever asks over HTTP, and is given later: %s',
    async (kind) => {
      const bot = await aTalkingBot(inLab);
      await madeWithTopic(bot, ['ada', lab], 'every day at 10 Stand up');
      const [{ id } = { id: '' }] = select<{ id: string }>(bot, 'select id from tasks');
      bot.world.fault({ kind, method: 'editForumTopic', count: 2 });
      const answer = await patched(bot, id, { title: 'Evening round' });
      expect(answer?.body['warning_details']).toMatchObject([{ code: 'topic_not_renamed' }]);
      expect([answer?.body['warnings'], topicsOf(bot, lab)]).toMatchObject([[expect.any(String)], ['Stand up']]);
      await bot.pass(minute);
      expect(topicsOf(bot, lab)).toEqual(['Evening round']);
    },
  );

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
    expect(await patched(bot, id, { title: 'Evening round' })).toMatchObject({ status: 200, body: { warnings: [] } });
    expect(topicsOf(bot, lab)).toEqual(['Evening round']);
    await ask(bot, ['ada', lab], '/edit 1 every day at 12');
    expect(topicsOf(bot, lab)).toEqual(['Evening round']);
  });
});
