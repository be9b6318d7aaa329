import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, stopBots } from './bot.ts';
import { ask, askText, aTalkingBot, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

const inTopics = [
  ['a group', lab, false],
  ['the topic in a group', lab, true],
  ['a private chat', ada, false],
  ['the topic in a private chat', ada, true],
] as const;

describe.each(inTopics)('in %s', (_name, chat, isInside) => {
  const aScene = async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ada', chat, '/tz UTC');
    const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
    await made(bot, ['ada', chat], 'every monday at 8 Bins');
    return { bot, at: isInside ? { thread: topic } : {} };
  };

  it('/next tells what comes, of the chat or of the task of the topic', async () => {
    const { bot, at } = await aScene();
    const next = await ask(bot, ['ada', chat], '/next', at);
    if (isInside) {
      expect(next.text).toMatch(/^What is coming for #1 Lunch\n\nWed 18 Nov 12:00/);
      return;
    }
    expect(next.text).toBe('The next 24 hours\n\nWed 18 Nov\n12:00 #1 Lunch\n\nZone: UTC');
    await bot.press('ada', next, 'Next 7 days');
    expect(bot.now(next).text).toContain('Mon 23 Nov\n08:00 #2 Bins\n12:00 #1 Lunch');
  });

  it('/history links to the messages where there are links', async () => {
    const { bot, at } = await aScene();
    const history = await ask(bot, ['ada', chat], '/history #1', at);
    expect(history.text).toMatch(/^History of #1 Lunch\n\nWed 18 Nov 09:00: ok, by hand, delivered\n/);
    const links = history.entities.flatMap(({ url }) => (url === undefined ? [] : [url]));
    const result = bot.world.messages(chat, { limit: 500 }).find(({ text }) => text === 'Lunch');
    const url = `https://t.me/c/1000000001/${result?.threadId}/${result?.messageId}`;
    expect(links).toEqual(chat === lab ? [url] : []);
  });

  it('/tasks has chips, a search and the next run of each', async () => {
    const { bot, at } = await aScene();
    const list = await ask(bot, ['ada', chat], '/tasks', at);
    expect(list.text).toContain('#1 Lunch: active, next in 2 h, Wed 18 Nov 12:00\n');
    expect(labels(list).slice(-2)).toEqual([
      ['✓ All', 'Active', 'Paused'],
      ['Failing', 'Completed', 'Mine'],
    ]);
    await bot.press('ada', list, 'Completed');
    expect(labels(bot.now(list)).flat()).toContain('✓ Completed');
    expect(await askText(bot, ['ada', chat], '/tasks bins', at)).toMatch(
      /^Tasks with “bins”: 1\n\n#2 Bins: active, next in 4 days/,
    );
  });

  it('/why takes words for a day', async () => {
    const { bot, at } = await aScene();
    await bot.pass(4 * 60 * minute);
    for (const words of ['today', 'wednesday 12:00', '12:00']) {
      expect(await askText(bot, ['ada', chat], `/why #1 ${words}`, at)).toMatch(/^Why, for #1 Lunch\n\n[\s\S]*12:00/);
    }
    expect(await askText(bot, ['ada', chat], '/why #1 someday', at)).toContain('I cannot read that moment.');
  });
});

it('in a group what only tells is seen by whoever asked', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  await made(bot, ['ada', lab], 'every day at 12 Lunch');
  for (const text of ['/tasks', '/task 1', '/history 1', '/why 1', '/next', '/next 1']) {
    expect([text, (await ask(bot, ['ada', lab], text)).onlyFor]).not.toEqual([text, null]);
  }
  expect((await ask(bot, ['ada', lab], '/pause 1')).ephemeralId).toBeNull();
});

it('a list without tasks begins one', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  const list = await ask(bot, ['ada', lab], '/tasks');
  expect(labels(list)).toEqual([['New']]);
  await bot.press('ada', list, 'New');
  expect(bot.now(list).text).toContain('When');
});
