import { afterEach, describe, expect, it } from 'vitest';
import { ada, day, hour, lab, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, aTalkingBot, labels, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

async function aBotIn(chat: number): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  return bot;
}

const tasks = (bot: Bot) =>
  select<{ title: string; policies: string }>(bot, 'select title, policies from tasks order by number');

describe.each([
  ['a group', 'ben', lab],
  ['a private chat', 'ada', ada],
] as const)('templates in %s', (_name, as, chat) => {
  it('a task takes two presses, and its first result comes with what the preview said', async () => {
    const bot = await aBotIn(chat);
    const message = await ask(bot, [as, chat], '/new templates');
    expect(labels(message).flat()).toEqual(expect.arrayContaining(['💊 Medication', '🗑 Bins', '☀️ Good morning']));
    await bot.press(as, message, '💊 Medication');
    expect(bot.now(message).text).toBe(`New task: Take your medication
Every day at 08:00
Zone: UTC
Next: Thu 19 Nov 08:00, Fri 20 Nov 08:00, Sat 21 Nov 08:00
Asks for Done, again every 10 minutes, up to 3 times`);
    expect(labels(bot.now(message))).toEqual([
      ['Create', 'Change time', 'Cancel'],
      ['Change text', 'Don’t ask'],
    ]);
    await bot.press(as, bot.now(message), 'Create');
    const [task] = tasks(bot);
    expect(task?.title).toBe('Take your medication');
    expect(JSON.parse(task?.policies ?? '')).toEqual({ ack: { nag_every: 'PT10M', nag_limit: 3 } });
    await bot.pass(day);
    expect(bot.world.topics(chat).map(({ name }) => name)).toEqual(['Take your medication']);
  });

  it('time and text can be changed first, across a restart', async () => {
    let bot = await aBotIn(chat);
    const message = await ask(bot, [as, chat], '/new');
    await bot.press(as, message, 'Templates');
    await bot.press(as, bot.now(message), '🗑 Bins');
    await bot.press(as, bot.now(message), 'Change text');
    bot = await bot.restart();
    const worded = await ask(bot, [as, chat], 'Glass and paper', { replyTo: message.messageId });
    expect(worded.text).toMatch(/^New task: Glass and paper\nEvery 2 weeks on Tuesday at 19:00/);
    await bot.press(as, worded, 'Change time');
    await bot.press(as, bot.now(worded), 'Every 2 weeks');
    for (const button of ['Wed', 'Next', '07:00', '07:00', 'Next week: Wed 25 Nov'])
      await bot.press(as, bot.now(worded), button);
    expect(bot.now(worded).text).toMatch(
      /^New task: Glass and paper\nEvery 2 weeks on Wednesday at 07:00, starting Wed 25 Nov/,
    );
    await bot.press(as, bot.now(worded), 'Create');
    expect(tasks(bot)).toMatchObject([{ title: 'Glass and paper' }]);
  });
});

it('work inside the topic of a task', async () => {
  const bot = await aBotIn(lab);
  const topic = await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
  const message = await ask(bot, ['ada', lab], '/new templates', { thread: topic });
  await bot.press('ada', message, '💧 Drink water');
  await bot.press('ada', bot.now(message), 'Create');
  expect(bot.now(message)).toMatchObject({
    threadId: topic,
    text: expect.stringMatching(/^#2 Drink a glass/) as string,
  });
  await bot.pass(hour + 10_000);
  expect(bot.world.topics(lab).map(({ name }) => name)).toContain('Drink a glass of water');
});
