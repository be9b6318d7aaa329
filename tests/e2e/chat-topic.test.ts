import { afterEach, describe, expect, it } from 'vitest';
import { lab, minute, stopBots, type Bot } from './bot.ts';
import { callsSince, driftUntil, mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, labels, madeWithTopic } from './dialogue.ts';

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
