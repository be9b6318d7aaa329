import { describe, expect, test } from 'vitest';
import { commands } from '../../../../src/telegram/chat/commands.ts';
import { readZone } from '../../../../src/telegram/chat/kit/zones.ts';
import { start } from '../../../support/pipeline.ts';
import { aTalk, bob, labels, type Talk, afterAsking } from '../talk.ts';

async function withMany(count: number): Promise<Talk> {
  const talk = await aTalk();
  for (let number = 1; number <= count; number += 1)
    await talk.make(`every day at ${10 + (number % 10)} Task ${number}`);
  return talk;
}

describe('/tasks', () => {
  test('shows eight a page, turns both ways, and comes to the last page when tasks are gone meanwhile', async () => {
    const talk = await withMany(18);
    const list = await talk.ask('/tasks');
    expect(labels(list).slice(0, 4).flat()).toHaveLength(8);
    expect(labels(list)[4]).toEqual(['1/3', '›']);
    await talk.press(list, '›');
    expect(labels(list)[4]).toEqual(['‹', '2/3', '›']);
    await talk.press(list, '›');
    expect(labels(list)[1]).toEqual(['‹', '3/3']);
    expect(list.text.match(/^#/gm)).toHaveLength(2);
    await talk.press(list, '‹');
    const numbers = [...list.text.matchAll(/^#(\d+)/gm)].map(([, number]) => number);
    for (const number of numbers) await talk.ask(`/delete ${number}`);
    for (const number of [1, 2]) await talk.ask(`/delete ${number}`);
    await talk.press(list, '›');
    expect(list.text).toMatch(/^Tasks in this chat: 8\n/);
    expect(list.text.match(/^#/gm)).toHaveLength(8);
  });

  test('a search of many pages keeps its word on the buttons', async () => {
    const talk = await withMany(10);
    const list = await talk.ask('/tasks Task');
    await talk.press(list, '›');
    expect(list.text).toMatch(/^Tasks with “Task”: 10\n/);
  });

  test('a search whose word does not fit on a button shows one page and says so', async () => {
    const talk = await aTalk();
    const word = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenband';
    for (let number = 1; number <= 9; number += 1) await talk.make(`every day at 10: ${word} ${number}`);
    const list = await talk.ask(`/tasks ${word}`);
    expect(list.text).toContain('8 of 9 shown. Add another word to narrow it down.');
    expect(labels(list).flat()).not.toContain('›');
  });

  test('failing ones come first', async () => {
    const talk = await withMany(2);
    await talk.make('every day at 23: {{ context.nothing }}');
    await talk.ask('/run 3');
    await talk.pipeline.settle();
    const list = await talk.ask('/tasks');
    expect(list.text.split('\n')[2]).toMatch(/^#3 .*: 🔴 daily 23:00 · next in 14 h · failed, last just now$/);
    expect(await talk.tells('/task 3')).toContain('🔴 Failing: the last run');
    expect(await talk.tells('/history 3')).toContain(': failed, by hand');
  });
});

describe('/history, /next and /why', () => {
  test('people are called by their names', async () => {
    const talk = await aTalk();
    await talk.make('every day at 12 Lunch');
    await talk.ask('/skip 1');
    const why = await talk.ask('/why 1 2026-11-18');
    expect(why.text).toContain('Ada');
    expect(why.text).not.toContain('telegram:user');
  });
});

describe('/start and /help', () => {
  test('greet by name and tell how things stand', async () => {
    const talk = await aTalk();
    expect(await talk.tells('/start')).toMatchSnapshot('/start');
  });

  test('say what to switch on, and look again when asked', async () => {
    const { talk, message } = await afterAsking(
      '/start',
      {},
      { setUp: { isForum: false, canManageTopics: false, canPin: false } },
    );
    expect(message.text).toContain('Topics: off, so results wait. Open the group’s settings and switch Topics on.');
    expect(message.text).toContain('Manage topics: not allowed, so results wait.');
    expect(labels(message)).toEqual([['Check again']]);
    await talk.press(message, 'Check again');
    const dm = await aTalk({ kind: 'private', setUp: { topicsEnabled: false } });
    expect(await dm.tells('/start')).toContain('BotFather’s Mini App');
  });

  test('the zone is asked for while nobody has confirmed it', async () => {
    const { talk, message } = await afterAsking('/start', {}, { timezone: null });
    expect(message.text).toContain('UTC, not confirmed yet. Is it 09:00 for you now?');
    expect(labels(message)[0]).toEqual(['Yes', 'No, change']);
    await talk.press(message, 'Yes');
    expect(message.text).toContain('✓ Time zone: UTC, where it is 09:00 now.');
    expect((await talk.chat()).timezone).toBe('UTC');
    expect(await talk.tells('/start', { person: bob })).not.toContain('Is it');
  });

  test('the menu that everybody sees has at most a dozen', () => {
    expect(commands.filter(({ menu }) => menu === 'everybody')).toHaveLength(12);
  });

  test('descriptions fit the menu of the platform', () => {
    for (const { name, description } of commands) {
      expect(name).toMatch(/^[a-z]{1,32}$/);
      expect(description().length).toBeGreaterThan(2);
      expect(description().length).toBeLessThanOrEqual(256);
    }
    expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
  });
});

describe('/tz', () => {
  test('names every zone that there is by its city or in full', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      expect(readZone(zone, start)).toEqual({ is: 'zone', zone });
    }
  });
});
