import { describe, expect, test } from 'vitest';
import { commands } from '../../../../src/telegram/chat/commands.ts';
import { readZone } from '../../../../src/telegram/chat/kit/zones.ts';
import { hour, start } from '../../../support/pipeline.ts';
import { ada, aTalk, bob, labels, root, type Talk } from '../talk.ts';

async function withMany(count: number): Promise<Talk> {
  const talk = await aTalk();
  for (let number = 1; number <= count; number += 1)
    await talk.make(`every day at ${10 + (number % 10)} Task ${number}`);
  return talk;
}

describe('/tasks', () => {
  test('names each task with its number, its state and its next run', async () => {
    const talk = await withMany(2);
    await talk.ask('/pause 2');
    const list = await talk.ask('/tasks');
    expect(list.text).toMatchSnapshot('list');
    expect(labels(list)).toEqual([
      ['#1 Task 1', '#2 Task 2'],
      ['✓ All', 'Active', 'Paused'],
      ['Failing', 'Completed', 'Mine'],
    ]);
    await talk.press(list, '#1 Task 1');
    expect(list.text).toMatch(/^#1 Task 1\nActive\n/);
  });

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

  test('takes a filter or a word, and says when nothing fits', async () => {
    const talk = await withMany(3);
    await talk.make('every day at 9 Tea for two', { person: bob });
    await talk.ask('/pause 1');
    const texts = (command: string) => talk.tells(command);
    expect(await texts('/tasks paused')).toMatch(/^Paused tasks: 1\n\n#1 /);
    expect(await texts('/tasks tea')).toMatch(/^Tasks with “tea”: 1\n\n#4 /);
    expect(await talk.tells('/tasks mine', { person: bob })).toMatch(/^Your tasks: 1\n\n#4 /);
    expect(await texts('/tasks failing')).toBe('Failing tasks: 0\nNone. /tasks shows all of them.');
    const none = await aTalk();
    expect(await none.tells('/tasks')).toContain('No tasks here yet.');
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
    await talk.make('every day at 23: {{ nothing }}');
    await talk.ask('/run 3');
    await talk.pipeline.settle();
    const list = await talk.ask('/tasks');
    expect(list.text.split('\n')[2]).toMatch(/^#3 .*: failing \(1 in a row\), next in 14 h, Wed 18 Nov 23:00$/);
    expect(await talk.tells('/task 3')).toContain('Active, but failing: 1 run in a row');
    expect(await talk.tells('/history 3')).toContain(': failed, by hand');
  });
});

describe('/history, /next and /why', () => {
  test('tell the last runs, what is coming, and what became of a slot', async () => {
    const talk = await aTalk();
    await talk.make('every hour: Ping');
    const task = await talk.tells('/task 1');
    expect(task).toContain('#1 Ping');
    for (let passed = 0; passed < 3; passed += 1) await talk.pipeline.pass(hour);
    const history = await talk.ask('/history 1');
    expect(history.text).toMatch(/^History of #1 Ping\n\n\w{3} \d+ Nov \d\d:\d\d: ok, delivered/);
    const next = await talk.ask('/next 1');
    expect(next.text).toMatch(/^What is coming for #1 Ping\n\n\w{3} \d+ Nov/);
    expect(next.text).toContain('Zone: UTC');
    const why = await talk.ask('/why 1 2026-11-18');
    expect(why.text).toMatch(/^Why, for #1 Ping\n\n/);
    expect(why.text).toContain('delivered');
    expect(await talk.tells('/why 1')).toMatch(/^Why, for #1 Ping/);
    expect(await talk.tells('/why 1 2026-11-18 10:00')).toMatch(/^Why, for #1 Ping/);
    expect(await talk.tells('/why 1 last week')).toContain('I cannot read that moment.');
    expect(await talk.tells('/why 1 2026-13-45')).toContain('I cannot read that moment.');
  });

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
    const talk = await aTalk({ setUp: { isForum: false, canManageTopics: false, canPin: false } });
    const message = await talk.ask('/start');
    expect(message.text).toContain('Topics: off. Open the group’s settings and switch Topics on.');
    expect(message.text).toContain('Manage topics: not allowed.');
    expect(labels(message)).toEqual([['Check again']]);
    await talk.press(message, 'Check again');
    const dm = await aTalk({ kind: 'private', setUp: { topicsEnabled: false } });
    expect(await dm.tells('/start')).toContain('BotFather’s Mini App');
  });

  test('the zone is asked for while nobody has confirmed it', async () => {
    const talk = await aTalk({ timezone: null });
    const message = await talk.ask('/start');
    expect(message.text).toContain('UTC, and nobody has confirmed it. Is it 09:00 for you now?');
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
      expect(description.length).toBeGreaterThan(2);
      expect(description.length).toBeLessThanOrEqual(256);
    }
    expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
  });
});

describe('/tz', () => {
  test('takes a city or a zone, and says what the clock shows there', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/tz madrid');
    expect(message.text).toContain('Times in this chat are in Europe/Madrid now. It is 10:00 there.');
    expect((await talk.chat()).timezone).toBe('Europe/Madrid');
    await talk.ask('/tz new york');
    expect((await talk.chat()).timezone).toBe('America/New_York');
    await talk.ask('/tz asia/kolkata');
    expect((await talk.chat()).timezone).toBe('Asia/Kolkata');
    await talk.ask('/tz san francisco');
    expect((await talk.chat()).timezone).toBe('America/Los_Angeles');
  });

  test('refuses offsets with the reason, and offers places for a clock time', async () => {
    const talk = await aTalk();
    for (const offset of ['+2', 'UTC+2', 'gmt -5', '-03:00']) {
      expect(await talk.tells(`/tz ${offset}`)).toContain('is not a time zone, because clocks change');
    }
    const clock = await talk.ask('/tz 10:02');
    expect(clock.text).toBe('It is 10:02 in these places now. Press yours:');
    expect(labels(clock).flat()).toEqual(['Berlin']);
    await talk.press(clock, 'Berlin');
    expect((await talk.chat()).timezone).toBe('Europe/Berlin');
    expect(await talk.tells('/tz Atlantis')).toContain('I do not know a time zone called Atlantis.');
    expect(await talk.tells('/tz EST')).toContain('I do not know a time zone called EST.');
    expect((await talk.chat()).timezone).toBe('Europe/Berlin');
  });

  test('alone tells the zone and offers others, but only to those who may set it', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/tz');
    expect(message.text).toContain('Times here are in UTC, where it is 09:00 now.');
    expect(labels(message).flat()).toContain('Berlin');
    const member = await talk.ask('/tz', { person: bob });
    expect(labels(member)).toEqual([]);
    expect(await talk.tells('/tz Berlin', { person: bob })).toContain('Only an admin of this chat may change that.');
  });

  test('names every zone that there is by its city or in full', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      expect(readZone(zone, start)).toEqual({ is: 'zone', zone });
    }
  });
});

describe('/allow', () => {
  test('is for owners, and lets a person or a group in', async () => {
    const talk = await aTalk();
    expect(await talk.tells('/allow 77', { person: ada })).toBe('Only an owner of this bot may do that.');
    expect(await talk.tells('/allow 77', { person: root })).toContain('The person with the id 77 may use me');
    expect(await talk.pipeline.store.findChat('77')).toMatchObject({ state: 'approved', approvedBy: root.actor });
    expect(await talk.tells('/allow 77', { person: root })).toBe('That was approved before.');
    expect(await talk.tells('/allow Zoe', { person: root })).toContain('I know nobody called Zoe.');
    const { id } = await talk.chat();
    await talk.pipeline.store.changeChat(id, { state: 'new' }, start);
    expect(await talk.tells('/allow', { person: root })).toContain('This group is approved now.');
    expect((await talk.chat()).state).toBe('approved');
    expect(await talk.tells('/start', { person: root })).toContain('✓ Approved: members');
    await talk.pipeline.store.changeChat(id, { state: 'new' }, start);
    expect(await talk.tells('/start', { person: root })).toContain('An owner of this bot sends /allow here.');
  });
});
