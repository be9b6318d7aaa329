import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, stopBots } from './bot.ts';
import { ask, askText, aTalkingBot, expectSilence, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

const places = [
  ['a group', lab],
  ['a private chat', ada],
] as const;

describe.each(places)('somebody who does not know the commands yet, in %s', (_name, chat) => {
  it('moves the hour, is asked before what repeats ends, and takes it back', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ada', chat, '/tz UTC');
    await made(bot, ['ada', chat], 'every weekday at 9:00 Stand up');
    const moved = await ask(bot, ['ada', chat], '/edit half past 8');
    expect(moved.text).toContain('before: every weekday at 09:00 (UTC)\n  now: every weekday at 08:30 (UTC)');
    await bot.press('ada', moved, 'Undo');
    expect(bot.now(moved).text).toMatch(
      /^Undone: the change of the time of #1 by Ada at 09:0\d\.\nNext: Thu 19 Nov 09:00/,
    );
    const asked = await ask(bot, ['ada', chat], '/edit 1 tomorrow 10');
    expect(labels(asked)).toEqual([['Make it once', 'Keep as it is']]);
    await bot.press('ada', asked, 'Keep as it is');
    expect(bot.now(asked).text).toMatch(/^Kept as it is: #1 Stand up\nNext: Thu 19 Nov 09:00/);
  });

  it('names no task, presses one, and what was typed is done in the same message', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ada', chat, '/tz UTC');
    await made(bot, ['ada', chat], 'every day at 12 Lunch');
    await made(bot, ['ada', chat], 'every day at 13 Tea');
    const asked = await ask(bot, ['ada', chat], `/edit text ${'Drink it slowly. '.repeat(10)}`);
    await bot.press('ada', asked, '#2 Tea');
    expect(bot.now(asked).text).toMatch(/^Changed: #2 Drink it slowly\./);
    expect(await askText(bot, ['ada', chat], '/skip 2 friday')).toMatch(
      /^Left out of #2 Drink it slowly\.[^\n]*: Fri 20 Nov 13:00 \(UTC\)\.\n/,
    );
    expect(await askText(bot, ['ada', chat], '/task 2')).toContain('\nLeft out: Fri 20 Nov 13:00\n');
  });

  it('says done in the topic, without a reply, and the result bears it', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ada', chat, '/tz UTC');
    const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Pills');
    await expectSilence(bot, ['ada', chat], 'well done', { thread: topic });
    await askText(bot, ['ada', chat], '/edit ack every 10 minutes', { thread: topic });
    await bot.say('ada', chat, '/run', { thread: topic });
    await bot.pass(minute);
    const result = bot.world.messages(chat, { thread: topic }).findLast(({ text }) => text.startsWith('Pills'));
    if (result === undefined) throw new Error('there is no result');
    // The bot reads everything in this group; where it does not, the reply and the button remain.
    expect(await bot.say('ada', chat, 'Done!', { thread: topic })).toEqual([]);
    expect(bot.now(result).text).toMatch(/^Pills\n\n— Done by Ada, 09:\d\d$/);
  });
});

it('words that are no commands are answered in a group as everywhere', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await made(bot, ['ada', lab], 'every day at 12 Lunch');
  expect(await askText(bot, ['ada', lab], '/explain 1')).toMatch(/^Why, for #1 Lunch\n/);
  expect(await askText(bot, ['ada', lab], '/stop 1')).toContain('/pause #1 stops a task');
  expect(await askText(bot, ['ada', lab], '/quiet')).toContain('/settings quiet');
  await expectSilence(bot, ['ada', lab], '/frobnicate');
});
