import { afterEach, describe, expect, it } from 'vitest';
import { day, lab, minute, stopBots, type Bot } from './bot.ts';
import { aTask, methodsSince, mark, rowsOf, saidIn, threadOf, topicNamed } from './deliveries.ts';
import { ask, aTalkingBot, labels } from './dialogue.ts';

afterEach(stopBots);

/** A report at half past nine that somebody has to approve. */
async function aReport() {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  const more = { policies: { approval: 'required' } };
  const taskId = await aTask(bot, {
    title: 'Report',
    text: 'All is well.',
    thread: threadOf(lab),
    cron: '30 9 * * *',
    more,
  });
  await bot.pass(30 * minute);
  const question = bot.last(lab, null);
  return { bot, taskId, question, topics: () => bot.world.topics(lab).map(({ name }) => name) };
}

const why = async (bot: Bot) => (await ask(bot, ['ada', lab], '/why #1')).text;

describe('a result that waits for approval', () => {
  it('is quoted where the task was asked for, and shown in its topic when somebody lets it go', async () => {
    const { bot, question, topics } = await aReport();
    expect(question.text).toBe(
      `For approval: #1 Report wants to send this.\nAll is well.\nAn admin can deliver it. If nobody does by Thu 19 Nov 09:30 (UTC), I discard it.`,
    );
    expect(labels(question)).toEqual([['Deliver', 'Discard']]);
    expect(topics()).not.toContain('Report');
    expect(await why(bot)).toContain('its message waits for approval since 09:30');

    const before = mark(bot);
    expect(await bot.press('ada', question, 'Deliver')).toEqual({ text: 'Sent', alert: false });
    expect(methodsSince(bot, before)).toEqual(
      expect.arrayContaining(['answerCallbackQuery', 'editMessageText', 'createForumTopic', 'sendMessage']),
    );
    expect(bot.now(question).text).toMatch(/— Delivered by Ada, 09:30$/);
    expect(bot.now(question).buttons).toEqual([]);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'Report'))).toEqual(['All is well.']);
    expect(await why(bot)).toContain('approved by Ada at 09:30, delivered.');
  });

  it('is thrown away a day later, and whoever presses then is told', async () => {
    const { bot, question, topics } = await aReport();
    await bot.pass(day - minute);
    expect(rowsOf(bot, 'result')[0]).toMatchObject({ status: 'blocked', cause: 'approval' });
    const before = mark(bot);
    await bot.pass(2 * minute);
    expect(rowsOf(bot, 'result')[0]).toMatchObject({ status: 'failed', error: 'nobody approved it within 1 day' });
    expect(topics()).not.toContain('Report');
    // The question says so by itself, and bears no button any more.
    expect(bot.now(question).text).toBe(
      'For approval: #1 Report wants to send this.\nAll is well.\n\n— Nobody approved it in time, so I discarded it.',
    );
    expect(bot.now(question).buttons).toEqual([]);
    expect(methodsSince(bot, before).filter((method) => method === 'editMessageText')).toHaveLength(1);
  });
});

it('an effect that is let happen without a right is not told as done, and the task says why it was skipped', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab), EGRESS_ALLOW: '127.0.0.1' });
  const preview = await ask(bot, ['ada', lab], `/fetch every day at 9:30 POST ${bot.server.url}/sandbox/site/orders`);
  await bot.press('ada', preview, 'Create');
  await ask(bot, ['ada', lab], '/edit 1 approval on');
  await bot.say('ada', lab, '/run 1');
  const question = bot.last(lab, null);
  expect(labels(question)).toEqual([['Do it', 'Discard']]);
  await bot.say('ada', lab, '/grants 1 revoke');
  expect(await bot.press('ada', question, 'Do it')).toMatchObject({
    text: 'Allowed, but it cannot be done: the task has no right to run any more. /grants renews it.',
    alert: true,
  });
  expect(bot.last(lab, null).text).toMatch(/^Skipped: #1/);
});
