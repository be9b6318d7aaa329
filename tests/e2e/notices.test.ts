import { afterEach, describe, expect, it } from 'vitest';
import { aBot, ada, hour, lab, minute, second, stopBots, type Bot } from './bot.ts';
import { aTask, opened, saidIn, select, threadOf, topicNamed, unhurried, aBotIn } from './deliveries.ts';

afterEach(stopBots);

const echoing = { ...unhurried, ECHO_ACTION: '1' };
const broken = { kind: 'echo', fail_attempts: 1000, error: 'final' };

function buttonsOf(bot: Bot, chat: number, words: RegExp) {
  const found = bot.world.messages(chat, { limit: 500 }).filter(({ text }) => words.test(text));
  return found.map((message) => ({
    message,
    labels: message.buttons.flat().map(({ text }) => text),
  }));
}

async function failing(more: Readonly<Record<string, unknown>> = {}, cron = '* * * * *') {
  const bot = await aBotIn(lab, echoing);
  const taskId = await aTask(bot, { title: 'job', text: 'done', cron, more: { action: broken, ...more } });
  return { bot, taskId };
}

describe('a task that fails', () => {
  it('says so once, after the last attempt, in its own topic, with the three buttons', async () => {
    const { bot } = await failing(
      { action: { ...broken, error: 'retry' }, policies: { retry: { attempts: 3, jitter: 0 } } },
      '1 * * * *',
    );
    await bot.pass(70 * second);
    // The first attempt has failed, and two are to come.
    expect(bot.world.topics(lab)).toEqual([]);
    await bot.pass(4 * minute);
    const said = saidIn(bot, lab, topicNamed(bot, lab, 'job'));
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^Failed: #1 job/);
    expect(said[0]).toContain('Tried 3 times');
    const [notice] = buttonsOf(bot, lab, /^Failed:/);
    expect(notice?.labels).toEqual(['Retry', 'Show error', 'Pause']);
    await bot.pass(2 * hour);
    expect(buttonsOf(bot, lab, /^Failed:/)).toHaveLength(1);
    expect(select(bot, `select failures from tasks`)).toEqual([{ failures: 3 }]);
  });
});

describe('a result that is not a message', () => {
  it('can be run again, once for a double press', async () => {
    const bot = await aBotIn(lab, echoing);
    await aTask(bot, { title: 'job', text: 'done', cron: '1 9 * * *', more: { action: { kind: 'echo' } } });
    await bot.pass(80 * second);
    const [result] = buttonsOf(bot, lab, /^done$/);
    expect(result?.labels).toEqual(['Run again']);
    if (result === undefined) throw new Error('no result');
    const press = { as: 'ada', chat: lab, messageId: result.message.messageId, button: 'Run again' };
    const answers = [bot.world.press(press), bot.world.press(press)].map(({ callbackId }) => callbackId);
    await bot.pass(10 * second);
    for (const callbackId of answers) expect(bot.world.callbackAnswer(callbackId)).not.toBeNull();
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'job'))).toEqual(['done', 'done']);
  });
});

describe('a time in which the server was down', () => {
  async function afterAway(awayMs: number, cron = '*/5 * * * *') {
    const before = await aBot(unhurried);
    for (const chat of [lab, ada]) {
      await opened(before, chat);
      await aTask(before, { title: 'often', text: 'often', thread: threadOf(chat), cron });
      await aTask(before, { title: 'hourly', text: 'hourly', thread: threadOf(chat), cron: '0 * * * *' });
    }
    await before.pass(6 * minute);
    const bot = await before.restart({ awayMs });
    await bot.drift(minute);
    await bot.pass(minute);
    return bot;
  }

  it('is reported to each chat that it concerns, once, and late results say so', async () => {
    const first = await afterAway(3 * hour + 30 * minute);
    for (const chat of [lab, ada]) {
      const reports = saidIn(first, chat, null).filter((text) => /I was down/.test(text));
      expect(reports).toHaveLength(1);
      expect(reports[0]).toMatch(/from .*09:06.* until .*12:36/);
      expect(reports[0]).toMatch(/made up for.*missed|missed/);
      expect(reports[0]).toContain('#1 often');
      const late = saidIn(first, chat, topicNamed(first, chat, 'hourly'));
      expect(late.at(0)).toMatch(/^hourly\n\nLate: due/);
    }
    const again = await first.restart({ awayMs: 10 * second });
    await again.drift(minute);
    expect(saidIn(again, lab, null).filter((text) => /I was down/.test(text))).toHaveLength(1);
  });
});
