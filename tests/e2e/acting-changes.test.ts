import { afterEach, describe, expect, it } from 'vitest';
import { ada, ben, day, lab, minute, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, askText, aTalkingBot, labels, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

interface Scene {
  readonly bot: Bot;
  readonly topic: number;
  readonly say: (text: string, as?: string) => Promise<string>;
}

/** A task that has its topic; words are said there or in the base thread, with the number. */
async function aScene(chat: number, isInside: boolean): Promise<Scene & { readonly name: (rest: string) => string }> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: `${lab},${ben}` });
  await bot.say('ada', chat, '/tz UTC');
  const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
  const at = isInside ? { thread: topic } : {};
  const say = (text: string, as = 'ada') => askText(bot, [as, chat], text, at);
  const name = (rest: string) => (isInside ? rest : `#1${rest === '' ? '' : ` ${rest}`}`);
  return { bot, topic, say, name };
}

const places = [
  ['a group', lab, false],
  ['the topic in a group', lab, true],
  ['a private chat', ada, false],
  ['the topic in a private chat', ada, true],
] as const;

describe.each(places)('in %s', (_name, chat, isInside) => {
  it('/edit changes every field by words, with what was before and the way back', async () => {
    const { bot, say, name } = await aScene(chat, isInside);
    expect(await say(`/edit ${name('ack every 15 minutes 5 times')}`)).toContain('now: again every 15 minutes');
    expect(await say(`/edit ${name('missed ask')}`)).toContain('Missed runs:\n  before: as usual\n  now: ask');
    expect(await say(`/edit ${name('quiet 22:00-07:00')}`)).toContain('now: 22:00-07:00, results wait');
    expect(await say(`/edit ${name('urgent on')}`)).toContain('before: 22:00-07:00, results wait\n  now: off');
    expect(await say(`/edit ${name('until 2027-01-31')}`)).toContain('now: Sun 31 Jan 2027 23:59');
    expect(await say(`/edit ${name('every day at 13')}`)).toMatch(
      /Next runs before: Wed 18 Nov 12:00.*\nNext: Wed 18 Nov 13:00/,
    );
    expect(await say(`/edit ${name('titel Brunch')}`)).toContain('Did you mean title?');
    const card = await say(`/task ${name('')}`);
    expect(card).toContain('\nMissed runs: ask\n');
    expect(card).toContain('\nAsks for Done, again every 15 minutes, up to 5 times\n');
    await bot.pass(minute);
    const pinned = bot.world.messages(chat, { limit: 500 }).filter(({ text }) => text.startsWith('#1 Lunch'));
    expect(pinned.some(({ text }) => text.includes('Every day at 13:00') && text.includes('Missed runs: ask'))).toBe(
      true,
    );
  });

  it('/edit by buttons stays in one message', async () => {
    const { bot, name } = await aScene(chat, isInside);
    const topic = bot.world.topics(chat)[0]?.threadId;
    const at = isInside && topic !== undefined ? { thread: topic } : {};
    const menu = await ask(bot, ['ada', chat], `/edit ${name('')}`, at);
    for (const button of ['More', 'Approval', 'Needed']) await bot.press('ada', bot.now(menu), button);
    expect(bot.now(menu).text).toContain('Approval:\n  before: not needed\n  now: needed before each delivery');
    expect(labels(bot.now(menu))).toEqual([['Undo', 'Back']]);
    await bot.press('ada', bot.now(menu), 'Undo');
    expect(bot.now(menu).text).toMatch(/^Undone: the change of the \w+ of #1 by Ada at 09:0\d\.\nNext: /);
    expect(select(bot, 'select policies from tasks')).toEqual([{ policies: '{}' }]);
  });

  it('/undo takes back the last change, and says what that was', async () => {
    const { say, name } = await aScene(chat, isInside);
    await say(`/edit ${name('title Brunch')}`);
    expect(await say(`/pause ${name('')}`)).toBe('Paused #1 Brunch.');
    expect(await say('/undo')).toMatch(/^Undone: the pause of #1 by Ada at 09:0\d\.\nNext: Wed 18 Nov 12:00/);
    expect(await say('/undo')).toMatch(/^Undone: the change of the \w+ of #1 by Ada at 09:0\d\.\nNext: /);
    expect(await say(`/task ${name('')}`)).toMatch(/^#1 Lunch\nActive/);
    expect(await say('/undo')).toMatch(isInside ? /^There is nothing to undo\./ : /^You have changed nothing here/);
  });

  it('/pause gets its end by a button, and /skip its Undo', async () => {
    const { bot, topic, name } = await aScene(chat, isInside);
    const at = isInside ? { thread: topic } : {};
    const paused = await ask(bot, ['ada', chat], `/pause ${name('')}`, at);
    expect(labels(paused)).toEqual([
      ['Resume', 'Undo'],
      ['Until tomorrow', 'Until Monday', 'Pick…'],
    ]);
    await bot.press('ada', paused, 'Until tomorrow');
    expect(bot.now(paused).text).toBe('Paused #1 Lunch until Thu 19 Nov 00:00 (UTC).');
    await bot.pass(day + 4 * 60 * minute);
    expect(bot.texts(chat, topic).filter((text) => text === 'Lunch')).toHaveLength(2);
    const skipped = await ask(bot, ['ada', chat], `/skip ${name('2')}`, at);
    await bot.press('ada', skipped, 'Undo');
    expect(bot.now(skipped).text).toMatch(
      /^Undone: the skip of [^\n]+ for #1 by Ada at 13:0\d\.\nNext: Fri 20 Nov 12:00/,
    );
  });
});

it('what somebody else changed is not undone without the right', async () => {
  const { bot, say } = await aScene(lab, false);
  await say('/pause #1');
  expect(await say('/undo', 'ben')).toContain('You have changed nothing here');
  expect(await say('/undo #1', 'ben')).toBe('Only Ada or an admin may do that.');
  expect(select(bot, 'select state from tasks')).toEqual([{ state: 'paused' }]);
});

it.each([
  '/undo',
  '/undo #0',
  '/undo 99999999999999',
  '/undo all',
  '/undo #1 #1',
  `/undo ${'x'.repeat(3000)}`,
  '/undo {{',
])('%s breaks nothing', async (words) => {
  const { bot, say } = await aScene(lab, false);
  expect((await say(words)).length).toBeGreaterThan(5);
  expect(select(bot, 'select state, title from tasks')).toEqual([{ state: 'active', title: 'Lunch' }]);
});
