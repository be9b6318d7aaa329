import { describe, expect, test } from 'vitest';
import { minute } from '../../../support/pipeline.ts';
import { ada, aTalk, bob, dataBehind, labels, type Talk, tasksIn } from '../talk.ts';

async function withTasks(...all: readonly string[]): Promise<Talk> {
  const talk = await aTalk();
  for (const text of all) await talk.make(text);
  return talk;
}

const lunch = 'every day at 12 Lunch';
const tea = 'every day at 13 Tea';
const numbered = async (talk: Talk, number: number) => (await tasksIn(talk)).find((task) => task.number === number);

describe('a command without a task', () => {
  test.each([
    ['/edit half past 8', 'Changed: #1 Lunch'],
    ['/snooze 1h', 'Snoozed: #1 Lunch comes again Wed 18 Nov 10:00'],
    ['/snooze 10 min', 'Snoozed: #1 Lunch comes again Wed 18 Nov 09:10'],
    ['/skip 2', 'Left out of #1 Lunch: Wed 18 Nov 12:00, Thu 19 Nov 12:00'],
    ['/skip', 'Left out of #1 Lunch: Wed 18 Nov 12:00'],
    ['/pause until monday', 'Paused #1 Lunch until Mon 23 Nov 00:00'],
    ['/pause 2 days', 'Paused #1 Lunch until Fri 20 Nov 09:00'],
    ['/why', 'Why, for #1 Lunch'],
  ])('%s means the only one that there is', async (text, expected) => {
    expect(await (await withTasks(lunch)).tells(text)).toContain(expected);
  });

  test('means the only one that it fits', async () => {
    const talk = await withTasks(lunch, tea);
    await talk.ask('/pause #1');
    expect(await talk.tells('/skip')).toContain('Left out of #2 Tea: ');
    expect(await talk.tells('/resume')).toContain('#1 Lunch goes on.');
  });

  test('never deletes, stops or takes back a task that nobody named', async () => {
    const talk = await withTasks(lunch);
    expect(await talk.tells('/delete')).toContain('Which task?');
    expect(await talk.tells('/undo all')).toContain('Which task?');
    expect((await numbered(talk, 1))?.state).toBe('active');
  });

  test('means nothing of somebody else', async () => {
    const talk = await withTasks(lunch);
    expect(await talk.tells('/pause', { person: bob })).toBe('Only Ada or an admin may do that.');
  });

  test.each([
    ['/edit half past 8', '/edit #1 half past 8', 'now: every day at 08:30 (UTC)'],
    [
      '/edit every weekday at half past eight',
      '/edit #1 every weekday at half past eight',
      'now: every weekday at 08:30',
    ],
    ['/edit title Tea: the green one\nfrom the shop', '/edit #1 title Tea: the green one from the shop', 'Changed: #2'],
    ['/snooze 1h', '/snooze #1 1h', 'Snoozed: #2 Tea comes again Wed 18 Nov 10:00'],
    ['/pause until monday', '/pause #1 until monday', 'Paused #2 Tea until Mon 23 Nov 00:00'],
    ['/skip friday', '/skip #1 friday', 'Left out of #2 Tea: Fri 20 Nov 13:00'],
    ['/edit 8:30', '/edit #1 8:30', 'now: every day at 08:30 (UTC)'],
  ])('%s among several keeps its words until one is pressed', async (text, example, expected) => {
    const talk = await withTasks(lunch, tea);
    const asked = await talk.ask(text);
    expect(asked.text).toBe(`Which task? Press one, or name it: ${example}`);
    expect(labels(asked)).toEqual([['#1 Lunch', '#2 Tea']]);
    const { messages } = await talk.press(asked, '#2 Tea');
    expect(messages).toEqual([]);
    expect(asked.text).toContain(expected);
    expect((await numbered(talk, 1))?.version).toBe(1);
  });

  test('long words wait for half an hour, for whoever wrote them', async () => {
    const talk = await withTasks(lunch, tea);
    const long = `text ${'Eat well. '.repeat(30)}`.trim();
    const asked = await talk.ask(`/edit ${long}`);
    const data = dataBehind(asked, '#2 Tea');
    expect(await talk.send(asked, data, { person: { ...bob, isAdmin: true } })).toMatchObject({ isAlert: true });
    // Words that are said meanwhile are no part of it.
    expect(await talk.say('Hello everybody')).toBeNull();
    await talk.send(asked, data);
    expect((await numbered(talk, 2))?.instructions).toBe(long.slice(5));
    const late = await talk.ask(`/edit ${long}!`);
    await talk.pipeline.time.advance(31 * minute);
    expect(await talk.press(late, '#1 Lunch')).toMatchObject({ isAlert: true });
    expect((await numbered(talk, 1))?.version).toBe(1);
  });

  test('what a client makes up does nothing', async () => {
    const talk = await withTasks(lunch, tea);
    const list = await talk.ask('/snooze 1h');
    const id = (await numbered(talk, 1))?.id ?? '';
    for (const odd of ['', ':', ':delete', ':delete:now', ':@', ':@x', ':__proto__:x', ':undo']) {
      expect(await talk.send(list, `v1:which:${id}${odd}`)).toMatchObject({ isAlert: true });
    }
    await talk.send(list, `v1:which:${id}:pause:until monday`, { person: bob });
    expect(await numbered(talk, 1)).toMatchObject({ version: 1, state: 'active' });
  });
});

describe('a number', () => {
  test('that names a task is that task, and in front of a unit it is an amount', async () => {
    const talk = await withTasks(lunch, tea);
    expect(await talk.tells('/skip 2')).toContain('Left out of #2 Tea: ');
    expect(await talk.tells('/snooze 1 2h')).toContain('#1 Lunch');
    expect(await talk.tells('/snooze 2 hours')).toContain('Which task?');
    expect(await talk.tells('/edit 9 8:30')).toContain('There is no task #9');
  });
});

describe('refusals', () => {
  test('in a group are for whoever asked', async () => {
    const talk = await withTasks(lunch);
    for (const text of ['/pause 1', '/edit 1 8:30', '/undo 1', '/frobnicate']) {
      await talk.ask(text, { person: bob });
      expect((await talk.again()).replies).toMatchObject([{ is: 'message', isForAsker: true }]);
    }
  });

  test.each([
    ['/snooze 7 someday', /\/snooze #7 10 min\n\/snooze #7 2 hours/],
    ['/pause 7 someday', /\/pause #7 until friday at 9:00\n\/pause #7 for 2 hours$/],
    ['/skip 7 someday', /\/skip #7 2\n\/skip #7 friday$/],
    ['/history 7 x', /\/history #7$/],
    ['/pause all someday', /\/pause all until friday at 9:00\n/],
  ])('%s shows examples with the number of the task', async (text, expected) => {
    const talk = await withTasks(...Array.from({ length: 7 }, (_value, index) => `every day at 12 Task ${index + 1}`));
    expect(await talk.tells(text)).toMatch(expected);
  });
});

test('whoever is an admin may do it with the words of the button as well', async () => {
  const talk = await withTasks(lunch, tea);
  const asked = await talk.ask('/snooze 1h');
  await talk.press(asked, '#1 Lunch', { person: ada });
  expect(asked.text).toContain('Snoozed: #1 Lunch');
});
