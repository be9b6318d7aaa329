import { describe, expect, test } from 'vitest';
import { minute } from '../../../support/pipeline.ts';
import { aTalk, bob, dataBehind, type Talk, tasksIn } from '../talk.ts';

async function withTasks(...all: readonly string[]): Promise<Talk> {
  const talk = await aTalk();
  for (const text of all) await talk.make(text);
  return talk;
}

const lunch = 'every day at 12 Lunch';
const tea = 'every day at 13 Tea';
const numbered = async (talk: Talk, number: number) => (await tasksIn(talk)).find((task) => task.number === number);

describe('a command without a task', () => {
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

describe('refusals', () => {
  test('in a group are for whoever asked', async () => {
    const talk = await withTasks(lunch);
    for (const text of ['/pause 1', '/edit 1 8:30', '/undo 1', '/frobnicate']) {
      await talk.ask(text, { person: bob });
      expect((await talk.again()).replies).toMatchObject([{ is: 'message', isForAsker: true }]);
    }
  });
});

test('a name that no task has is told apart from what was said of it', async () => {
  const talk = await withTasks(lunch, tea);
  const list = await talk.ask('/edit coffee at 5');
  expect(list.text).toContain('No task here is called “coffee”');
  expect(list.text).toContain('/edit #1 at 5');
  expect((await talk.ask('/pause coffee until friday')).text).toContain('No task here is called “coffee”');
});

test('a name of which every word fits one task alone is that task', async () => {
  const talk = await withTasks('every day at 12 Retro team A', 'every day at 13 Retro team B');
  await talk.ask('/pause retro b');
  expect(await tasksIn(talk)).toMatchObject([{ state: 'active' }, { state: 'paused' }]);
});
