import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { ada, hour, lab, minute, stopBots, type Bot } from './bot.ts';
import {
  aTask,
  callsSince,
  driftUntil,
  mark,
  methodsSince,
  rowsOf,
  runNow,
  saidIn,
  threadOf,
  topicNamed,
} from './deliveries.ts';
import { ask, aTalkingBot, labels } from './dialogue.ts';

afterEach(stopBots);

const asks = { policies: { ack: {} } };

/** A reminder at half past nine that asks for Done. */
async function aReminder(chat: number, more: Readonly<Record<string, unknown>> = asks) {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  const taskId = await aTask(bot, { text: 'Take the pill', thread: threadOf(chat), cron: '30 9 * * *', more });
  await bot.pass(30 * minute);
  const topic = topicNamed(bot, chat, 'Take the pill');
  return { bot, taskId, topic };
}

const said = (bot: Bot, chat: number, topic: number | null) => saidIn(bot, chat, topic);
const withWords = (bot: Bot, chat: number, words: RegExp): MessageShown => {
  const found = bot.world.messages(chat, { limit: 500 }).filter(({ text }) => words.test(text));
  const last = found.at(-1);
  if (last === undefined) throw new Error(`nothing like ${String(words)}`);
  return last;
};

describe('a reminder that asks for Done', () => {
  it('stays open in its topic, one word at a time, until somebody presses Done', async () => {
    const { bot, topic } = await aReminder(lab);
    expect(said(bot, lab, topic)).toEqual(['Take the pill']);
    await bot.pass(10 * minute);
    expect(said(bot, lab, topic)).toEqual([
      'Take the pill',
      'Not done yet: #1 Take the pill (due 09:30, reminder 1 of 3)',
    ]);
    await bot.pass(10 * minute);
    expect(said(bot, lab, topic)).toEqual([
      'Take the pill',
      'Not done yet: #1 Take the pill (due 09:30, reminder 2 of 3)',
    ]);

    const nag = withWords(bot, lab, /^Not done yet/);
    expect(labels(nag)).toEqual([['Done', 'Snooze']]);
    const before = mark(bot);
    expect(await bot.press('ada', nag, 'Done')).toEqual({ text: 'Done', alert: false });
    expect(methodsSince(bot, before).toSorted()).toEqual(['answerCallbackQuery', 'deleteMessage', 'editMessageText']);
    expect(said(bot, lab, topic)).toEqual(['Take the pill\n\n— Done by Ada, 09:50']);
    expect(labels(withWords(bot, lab, /^Take the pill/))).toEqual([['Not done yet']]);
    await bot.pass(5 * hour);
    expect(said(bot, lab, topic)).toHaveLength(1);
    expect((await ask(bot, ['ada', lab], '/history', { thread: topic })).text).toContain(', done by Ada 09:50');
    const why = (await ask(bot, ['ada', lab], '/why', { thread: topic })).text;
    expect(why).toMatch(/: ran on time; delivered; done by Ada at 09:50, after 2 reminders\. Run 1\.$/m);
  });
});

describe('a reminder that nobody answers', () => {
  it('is told to an admin who can be written to, with the way to it, and to the topic', async () => {
    const { bot, topic } = await aReminder(lab);
    await bot.say('ada', ada, '/start');
    await bot.pass(50 * minute);
    expect(said(bot, lab, topic)).toEqual([
      'Take the pill',
      'Nobody said Done after 3 reminders, so I stop asking and have told Ada. You can still press Done above.',
    ]);
    const word = withWords(bot, ada, /^Not done:/);
    expect(word.text).toBe(
      'Not done: #1 Take the pill was due Wed 18 Nov 09:30 (UTC). Nobody said Done after 3 reminders.\n\nIt is in The Lab.',
    );
    expect(labels(word)).toEqual([['Open it']]);
    expect(word.buttons[0]?.[0]?.url).toMatch(/^https:\/\/t\.me\/c\/1000000001\/\d+\/\d+$/);
    await bot.press('ben', withWords(bot, lab, /^Take the pill/), 'Done');
    expect(said(bot, lab, topic)[0]).toMatch(/— Done by Ben, 10:2\d$/);
  });

  it('is told once in a private chat, and says at once that it is done', async () => {
    const { bot, topic } = await aReminder(ada);
    await bot.pass(50 * minute);
    expect(said(bot, ada, topic)).toEqual([
      'Take the pill',
      'Nobody said Done after 3 reminders, so I stop asking. You can still press Done above.',
    ]);
    expect(said(bot, ada, null).filter((text) => text.startsWith('Not done:'))).toEqual([]);
    await bot.press('ada', withWords(bot, ada, /^Take the pill/), 'Done');
    expect(said(bot, ada, topic).at(-1)).toMatch(/^Nobody said Done after 3 reminders\.\n\n— Done by Ada/);
  });

  it('is told in the group where no admin can be written to, and is done from there', async () => {
    const { bot, topic } = await aReminder(lab);
    await bot.pass(50 * minute);
    const word = withWords(bot, lab, /^Not done:/);
    expect(word.threadId ?? null).toBeNull();
    expect(word.text).toBe(
      'Not done: #1 Take the pill was due Wed 18 Nov 09:30 (UTC). Nobody said Done after 3 reminders.\n\nAda, it is your task.',
    );
    expect(said(bot, lab, topic).at(-1)).toContain('so I stop asking and have told the group.');
    expect(labels(word)).toEqual([['Done', 'Open it']]);
    const before = mark(bot);
    await bot.press('ben', word, 'Done');
    expect(callsSince(bot, before)).toHaveLength(4);
    expect(said(bot, lab, topic).at(-1)).toMatch(/\n\n— Done by Ben, /);
    expect(bot.now(word).text).toMatch(/— Done by Ben, 10:2\d$/);
    expect(bot.now(word).buttons).toEqual([]);
    expect(said(bot, lab, topic)[0]).toMatch(/— Done by Ben, 10:2\d$/);
  });
});

it('a result of which nobody knew whether it had arrived shows who has done it meanwhile', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  const taskId = await aTask(bot, { text: 'Take the pill', thread: threadOf(lab), cron: '0 0 1 1 *', more: asks });
  await runNow(bot, taskId);
  await bot.pass(minute);
  const results = () => said(bot, lab, topicNamed(bot, lab, 'Take the pill'));
  expect(results()).toEqual(['Take the pill']);
  bot.world.fault({ kind: 'answer_lost', method: 'sendMessage', count: 1 });
  await runNow(bot, taskId);
  await driftUntil(bot, () => results().length === 2);
  bot.world.press({
    as: 'ada',
    chat: lab,
    messageId: withWords(bot, lab, /^Take the pill/).messageId,
    button: 'Done',
  });
  await driftUntil(bot, () => /Done by Ada/.test(results()[1] ?? ''));
  await driftUntil(bot, () => rowsOf(bot, 'result')[1]?.status === 'delivered');
  await bot.pass(minute);
  expect(results()).toHaveLength(2);
  expect(results()[1]).toMatch(/^Take the pill\n\n— Done by Ada, 09:0\d$/);
});
