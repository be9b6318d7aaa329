import { afterEach, describe, expect, it } from 'vitest';
import { ada, hour, lab, second, stopBots, type Bot } from './bot.ts';
import { aTask, driftUntil, runNow, select, topicNamed } from './deliveries.ts';
import { ask, askText, aTalkingBot, expectSilence, hear, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

interface Scene {
  readonly bot: Bot;
  readonly topic: number;
  /** Says something in the topic of the first task, of two. */
  readonly say: (text: string, as?: string) => Promise<string>;
}

async function aScene(chat: number): Promise<Scene> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
  await made(bot, ['ada', chat], 'every day at 13 Tea');
  const say = async (text: string, as = 'ada') => {
    const answer = await ask(bot, [as, chat], text, { thread: topic });
    expect(answer.threadId).toBe(topic);
    return answer.text;
  };
  return { bot, topic, say };
}

const states = (bot: Bot) =>
  select<{ state: string }>(bot, 'select state from tasks order by number').map((row) => row.state);

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('inside the topic of a task, in %s', (_name, chat) => {
  it('every command means that task, and answers in there', async () => {
    const { bot, topic, say } = await aScene(chat);
    const run = await bot.say('ada', chat, '/run', { thread: topic });
    // A sign at the word says that it was heard; the result itself is the answer.
    expect(run.map(({ text }) => text)).toEqual(['Lunch']);
    const asked = bot.world.messages(chat, { thread: topic, limit: 100 }).findLast(({ text }) => text === '/run');
    expect(asked?.reactions).toEqual(['👀']);
    expect(await say('/task')).toMatch(/^#1 Lunch\nActive/);
    expect(await say('/history')).toMatch(/^History of #1 Lunch/);
    expect(await say('/why')).toMatch(/^Why, for #1 Lunch/);
    expect(await say('/why today')).toMatch(/^Why, for #1 Lunch/);
    expect(await say('/next')).toMatch(/^What is coming for #1 Lunch\n\nWed 18 Nov 12:00/);
    expect(await say('/skip 2')).toContain('Left out of #1 Lunch: ');
    expect(await say('/snooze 10 min')).toContain('Snoozed: #1 Lunch comes again');
    expect(await say('/edit every day at 11')).toContain('now: every day at 11:00');
    expect(await say('/edit title Brunch')).toContain('now: Brunch');
    expect(await say('/pause until friday at 9')).toBe('Paused #1 Brunch until Fri 20 Nov 09:00 (UTC).');
    expect(await say('/resume')).toContain('#1 Brunch goes on.');
    expect(await say('/cancel')).toContain('Nothing of #1 Brunch runs at the moment.');
    expect(await say('/delete')).toContain('Deleted #1 Brunch.');
    expect(states(bot)).toEqual(['deleted', 'active']);
  });

  it('a bare number names no task, and #2 does', async () => {
    const { bot, say } = await aScene(chat);
    for (const command of ['run', 'resume', 'delete', 'task', 'history', 'next', 'cancel']) {
      expect(await say(`/${command} 2`)).toBe(
        `I do not understand “2” there, so I have done nothing.\nHere /${command} alone means #1 Lunch; /${command} #3 means another task.`,
      );
    }
    expect(await say('/pause 2')).toContain('I cannot read until when.');
    expect(await say('/edit 2')).toBe(
      '2 may be an hour or a task, so I have changed nothing.\n\nThese can be read:\n/edit #1 02:00\n/edit #2',
    );
    expect(states(bot)).toEqual(['active', 'active']);
    expect(await say('/pause #2')).toBe('Paused #2 Tea.');
    expect(await say('/task #2')).toMatch(/^#2 Tea\nPaused/);
    expect(await say('/delete #2')).toContain('Deleted #2 Tea.');
    expect(await say('/run #7')).toContain('There is no task #7 in this chat.');
    expect(states(bot)).toEqual(['active', 'deleted']);
  });

  it('talk is left alone, and what the bot does not know is answered with the nearest', async () => {
    const { bot, topic, say } = await aScene(chat);
    for (const text of ['hello', '3', '#2', 'tomorrow at 8 call mum']) {
      await expectSilence(bot, ['ada', chat], text, { thread: topic });
    }
    expect(await say('/puase')).toBe('I do not know /puase. Did you mean /pause?');
    expect(await say('/frobnicate')).toBe('I do not know /frobnicate. /help shows what I know.');
    await expectSilence(bot, ['ada', chat], '/pause@other_bot', { thread: topic });
  });

  it('/tasks lists all of the chat, and /new makes another one', async () => {
    const { bot, topic, say } = await aScene(chat);
    expect(await say('/tasks')).toMatch(/^Tasks in this chat: 2/);
    const preview = await ask(bot, ['ada', chat], '/new every day at 14 Cake', { thread: topic });
    expect(await bot.press('ada', preview, 'Create')).toMatchObject({ text: 'Created as #3' });
    expect(await say('/new in 5 minutes')).toContain('What should I say?');
    expect(await say('/cancel')).toBe('Cancelled. Nothing was made.');
    await bot.press('ada', bot.now(preview), 'Run now');
    expect(bot.world.topics(chat).map(({ name }) => name)).toEqual(['Lunch', 'Cake']);
  });
});

it('/delete closes the topic, and Undo opens it again', async () => {
  const { bot, topic } = await aScene(lab);
  const closed = () => bot.world.topics(lab).find(({ threadId }) => threadId === topic)?.isClosed;
  const deleted = await ask(bot, ['ada', lab], '/delete', { thread: topic });
  expect(labels(deleted)).toEqual([['Undo']]);
  expect(closed()).toBe(true);
  expect(await bot.press('ada', deleted, 'Undo')).toEqual({ text: 'Brought back', alert: false });
  expect(closed()).toBe(false);
  expect(states(bot)).toEqual(['active', 'active']);
  await bot.pass(4 * hour);
  expect(bot.texts(lab, topic)).toContain('Lunch');
});

it('the pinned card follows what is done elsewhere', async () => {
  const { bot, topic } = await aScene(lab);
  const card = () => bot.world.messages(lab, { thread: topic }).find(({ isPinned }) => isPinned)?.text;
  await ask(bot, ['ada', lab], '/pause 1');
  expect(card()).toContain('Paused by Ada');
  await ask(bot, ['ada', lab], '/resume 1');
  expect(card()).toContain('Active');
  await ask(bot, ['ada', lab], '/edit 1 title Brunch');
  expect(card()).toMatch(/^#1 Brunch/);
});

it('/cancel drops a draft first, and stops the run then', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab), ECHO_ACTION: '1' });
  const more = { action: { kind: 'echo', delay_ms: 25_000 } };
  const taskId = await aTask(bot, { text: 'Slow', cron: '0 0 1 1 *', more });
  await runNow(bot, taskId);
  const ended = (count: number) =>
    select(bot, `select id from runs where status in ('succeeded', 'failed', 'cancelled')`).length === count;
  await driftUntil(bot, () => ended(1));
  await bot.pass(second);
  const thread = topicNamed(bot, lab, 'Slow');
  const say = (text: string, answer: string) => hear(bot, ['ada', lab], { text, answer, thread });
  const running = () => select(bot, `select id from runs where status = 'running'`).length;
  bot.world.say({ as: 'ada', chat: lab, text: '/run', thread });
  await driftUntil(bot, () => running() === 1);
  await say('/new every day at 9', 'What should I say?');
  await say('/cancel', 'Cancelled. Nothing was made.');
  await say('/cancel', 'Stopping what #1 Slow runs now.');
  await driftUntil(bot, () => ended(2));
  expect(await askText(bot, ['ada', lab], '/cancel', { thread })).toBe('Nothing of #1 Slow runs at the moment.');
  expect(select(bot, 'select status from occurrences order by id')).toMatchObject([
    { status: 'succeeded' },
    { status: 'cancelled' },
  ]);
});

it('a topic that belongs to no task implies none', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await made(bot, ['ada', lab], 'every day at 12 Lunch');
  await made(bot, ['ada', lab], 'every day at 13 Tea');
  const topic = bot.world.createTopic(lab, 'ada', 'Chatter');
  await bot.pass(second);
  expect(await askText(bot, ['ada', lab], '/pause', { thread: topic })).toBe(
    'Which task? Press one, or name it: /pause #1',
  );
  expect(await askText(bot, ['ada', lab], '/pause 1', { thread: topic })).toBe('Paused #1 Lunch.');
  await expectSilence(bot, ['ada', lab], '/frobnicate', { thread: topic });
});
