import { afterEach, describe, expect, it } from 'vitest';
import { ada, day, hour, lab, minute, stopBots, type Bot } from './bot.ts';
import { aTask, methodsSince, mark, rowsOf, saidIn, threadOf, topicNamed } from './deliveries.ts';
import { ask, aTalkingBot, labels, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

interface Place {
  readonly chat: number;
  /** The thread where the task was asked for. */
  readonly home: number | null;
}

/** A report at half past nine that somebody has to approve. */
async function aReport({ chat, home }: Place) {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  const thread = home === null ? threadOf(chat) : `${threadOf(chat)}:topic:${home}`;
  const more = { policies: { approval: 'required' } };
  const taskId = await aTask(bot, { title: 'Report', text: 'All is well.', thread, cron: '30 9 * * *', more });
  await bot.pass(30 * minute);
  const question = bot.last(chat, home);
  return { bot, taskId, question, topics: () => bot.world.topics(chat).map(({ name }) => name) };
}

const why = async (bot: Bot, chat: number, number = 1) => (await ask(bot, ['ada', chat], `/why #${number}`)).text;

describe.each([
  ['a group', { chat: lab, home: null }],
  ['a private chat', { chat: ada, home: null }],
] as const)('a result that waits for approval, in %s', (_name, place) => {
  const { chat } = place;

  it('is quoted where the task was asked for, and shown in its topic when somebody lets it go', async () => {
    const { bot, question, topics } = await aReport(place);
    expect(question.text).toBe(
      `For approval: this is what #1 Report wants to show.\nAll is well.\n${chat === lab ? 'An admin can deliver it. ' : ''}Without an answer by Thu 19 Nov 09:30 (UTC) it is thrown away.`,
    );
    expect(labels(question)).toEqual([['Deliver', 'Discard']]);
    expect(topics()).not.toContain('Report');
    expect(await why(bot, chat)).toContain('its message waits for approval since 09:30');

    const before = mark(bot);
    expect(await bot.press('ada', question, 'Deliver')).toEqual({ text: 'It goes out now', alert: false });
    expect(methodsSince(bot, before)).toEqual(
      expect.arrayContaining(['answerCallbackQuery', 'editMessageText', 'createForumTopic', 'sendMessage']),
    );
    expect(bot.now(question).text).toMatch(/— Delivered by Ada, 09:30$/);
    expect(bot.now(question).buttons).toEqual([]);
    expect(saidIn(bot, chat, topicNamed(bot, chat, 'Report'))).toEqual(['All is well.']);
    expect(await why(bot, chat)).toContain('approved by Ada at 09:30, delivered.');
  });

  it('is discarded by a press, once and for all', async () => {
    const { bot, question, topics } = await aReport(place);
    expect(await bot.press('ada', question, 'Discard')).toEqual({ text: 'Discarded', alert: false });
    expect(bot.now(question).text).toMatch(/— Discarded by Ada, 09:30$/);
    await bot.pass(hour);
    expect(topics()).not.toContain('Report');
    expect(rowsOf(bot, 'result')).toMatchObject([{ status: 'failed', error: 'discarded' }]);
    expect(await why(bot, chat)).toContain('its message was discarded by Ada at 09:30');
  });

  it('is thrown away a day later, and whoever presses then is told', async () => {
    const { bot, question, topics } = await aReport(place);
    await bot.pass(day - minute);
    expect(rowsOf(bot, 'result')[0]).toMatchObject({ status: 'blocked', cause: 'approval' });
    const before = mark(bot);
    await bot.pass(2 * minute);
    expect(rowsOf(bot, 'result')[0]).toMatchObject({ status: 'failed', error: 'nobody approved it within 1 day' });
    expect(topics()).not.toContain('Report');
    // The question says so by itself, and bears no button any more.
    expect(bot.now(question).text).toBe(
      'For approval: this is what #1 Report wants to show.\nAll is well.\n\n— Nobody approved it in time; thrown away.',
    );
    expect(bot.now(question).buttons).toEqual([]);
    expect(methodsSince(bot, before).filter((method) => method === 'editMessageText')).toHaveLength(1);
  });

  it('is released by nothing else', async () => {
    const { bot, topics } = await aReport(place);
    await bot.restart().then(async (again) => {
      await again.pass(hour);
      expect(rowsOf(again, 'result')).toMatchObject([{ status: 'blocked', cause: 'approval' }]);
    });
    expect(topics()).not.toContain('Report');
  });
});

it('the question comes in the topic where the task was asked for, and others may not decide', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  const home = await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
  const more = { policies: { approval: 'required' } };
  const thread = `${threadOf(lab)}:topic:${home}`;
  await aTask(bot, { title: 'Report', text: 'All is well.', thread, cron: '30 9 * * *', more });
  await bot.pass(30 * minute);
  const question = bot.last(lab, home);
  expect(question.text).toMatch(/^For approval: this is what #2 Report/);
  expect(await bot.press('ben', question, 'Deliver')).toMatchObject({ alert: true });
  expect(rowsOf(bot, 'result').at(-1)).toMatchObject({ status: 'blocked' });
  await bot.press('ada', question, 'Deliver');
  expect(saidIn(bot, lab, topicNamed(bot, lab, 'Report'))).toEqual(['All is well.']);
});

it('nobody but an admin lets the result of their own task go; to discard it they may', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  await bot.say('ben', lab, '/new every day at 9:30 Report');
  await bot.press('ben', bot.last(lab), 'Create');
  await ask(bot, ['ben', lab], '/edit #1 approval on');
  await bot.pass(30 * minute);
  const question = bot.last(lab);
  expect(question.text).toContain('\nAn admin can deliver it. Without an answer by');
  const refused = await bot.press('ben', question, 'Deliver');
  expect(refused?.alert).toBe(true);
  expect(refused?.text).toMatch(/^Only an admin of this chat/);
  expect(rowsOf(bot, 'result').at(-1)).toMatchObject({ status: 'blocked' });
  expect(await bot.press('ben', question, 'Discard')).toEqual({ text: 'Discarded', alert: false });
});

it('names what stands above the text', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  const { document } = bot.world.say({ as: 'ada', chat: lab, text: '', media: { kind: 'photo' } });
  await bot.pass(2000);
  const media = { kind: 'photo', file_id: document?.fileId };
  const more = { policies: { approval: 'required' }, action: { kind: 'message', media } };
  await aTask(bot, { title: 'Plants', text: 'Like this.', thread: threadOf(lab), cron: '30 9 * * *', more });
  await bot.pass(30 * minute);
  expect(bot.last(lab).text).toMatch(
    /^For approval: this is what #1 Plants wants to show, with a photo\.\nLike this\.\n/,
  );
});

it('whoever comes second is told who decided', async () => {
  const { bot, question } = await aReport({ chat: lab, home: null });
  const { world } = bot;
  const first = world.press({ as: 'ada', chat: lab, messageId: question.messageId, button: 'Discard' });
  const second = world.press({ as: 'ada', chat: lab, messageId: question.messageId, button: 'Deliver' });
  await bot.pass(2000);
  expect(world.callbackAnswer(first.callbackId)).toMatchObject({ text: 'Discarded' });
  expect(world.callbackAnswer(second.callbackId)).toMatchObject({ text: 'Discarded' });
  expect(rowsOf(bot, 'result')).toMatchObject([{ status: 'failed', error: 'discarded' }]);
});

it('a task that is deleted meanwhile shows nothing any more', async () => {
  const { bot, question } = await aReport({ chat: lab, home: null });
  await bot.say('ada', lab, '/delete #1');
  expect(rowsOf(bot, 'result')).toMatchObject([{ status: 'failed', error: 'the task was deleted' }]);
  expect((await bot.press('ada', question, 'Deliver'))?.alert).toBe(true);
});
