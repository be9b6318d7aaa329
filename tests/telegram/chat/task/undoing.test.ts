import { describe, expect, test } from 'vitest';
import { hour, minute } from '../../../support/pipeline.ts';
import { aTalk, bob, type Talk, tasksIn } from '../talk.ts';

async function made(talk: Talk, text: string, by = {}): Promise<void> {
  await talk.press(await talk.ask(`/new ${text}`, by), 'Create', by);
  await talk.pipeline.time.advance(minute);
}

/** Says it, and a minute passes. */
async function told(talk: Talk, text: string, by = {}): Promise<string> {
  const message = await talk.ask(text, by);
  await talk.pipeline.time.advance(minute);
  return message.text;
}

const stateOf = async (talk: Talk, number: number) =>
  (await tasksIn(talk)).find((task) => task.number === number)?.state;

describe('/undo', () => {
  test('takes back the last change of the person in the chat, then the one before', async () => {
    const talk = await aTalk();
    await made(talk, 'every day at 12 Lunch');
    await made(talk, 'every day at 13 Tea');
    await told(talk, '/pause #1');
    await told(talk, '/edit #2 title Coffee');
    expect(await told(talk, '/undo')).toMatch(
      /^Undone: the change of the title of #2 by Ada at 09:03\.\nNext: Wed 18 Nov 13:00/,
    );
    expect(await told(talk, '/undo')).toMatch(/^Undone: the pause of #1 by Ada at 09:02\.\nNext: Wed 18 Nov 12:00/);
    expect(await stateOf(talk, 1)).toBe('active');
    expect(await told(talk, '/undo')).toContain('You have changed nothing here in the last 24 hours');
  });

  test('the same word handled twice takes back one change', async () => {
    const talk = await aTalk();
    await made(talk, 'every day at 12 Lunch');
    await told(talk, '/edit #1 title Brunch');
    await told(talk, '/pause #1');
    const first = await talk.ask('/undo');
    expect(first.text).toContain('the pause of #1');
    expect(JSON.stringify(await talk.again())).toContain('the pause of #1');
    expect((await tasksIn(talk))[0]).toMatchObject({ title: 'Brunch', state: 'active' });
  });

  test('takes back the last change of the task that is named, whoever made it', async () => {
    const talk = await aTalk();
    await made(talk, 'every day at 12 Lunch', { person: bob });
    await told(talk, '/pause #1');
    await made(talk, 'every day at 13 Tea');
    expect(await told(talk, '/undo #1', { person: bob })).toContain('Undone: the pause of #1 by Ada at 09:01.');
  });

  test('what others did is not taken back without the right', async () => {
    const talk = await aTalk();
    await made(talk, 'every day at 12 Lunch');
    await told(talk, '/pause #1');
    expect(await told(talk, '/undo', { person: bob })).toContain('You have changed nothing here');
    expect(await told(talk, '/undo #1', { person: bob })).toBe('Only Ada or an admin may do that.');
    expect(await stateOf(talk, 1)).toBe('paused');
  });

  test('brings back what was deleted', async () => {
    const talk = await aTalk();
    await made(talk, 'every day at 12 Lunch');
    await told(talk, '/delete #1');
    expect(await told(talk, '/undo')).toContain('Undone: the deletion of #1 by Ada at 09:01.');
    await told(talk, '/delete #1');
    expect(await told(talk, '/undo #1')).toContain('Undone: the deletion of #1');
    expect(await stateOf(talk, 1)).toBe('active');
  });

  test('says what cannot be taken back', async () => {
    const talk = await aTalk();
    await made(talk, 'every day at 12 Lunch');
    expect(await told(talk, '/undo')).toContain('Runs and messages cannot be taken back.');
    expect(await told(talk, '/undo #1')).toContain('There is nothing to undo. Runs cannot be taken back');
    await told(talk, '/run #1');
    await talk.pipeline.settle();
    expect(await told(talk, '/undo #1')).toContain('Runs cannot be taken back');
    expect(await told(talk, '/undo #9')).toContain('There is no task #9');
    expect(await told(talk, '/undo all')).toContain('Which task?');
    expect(await told(talk, '/undo #1 2')).toContain('I do not understand “2” there');
    await told(talk, '/snooze #1 10 min');
    await talk.pipeline.pass(hour);
    expect(await told(talk, '/undo')).toMatch(
      /^There is nothing left to undo: the snooze of #1 to Wed 18 Nov 09:18 by Ada at 09:08 has come to its end\.\n/,
    );
  });

  test('a day later it is too late', async () => {
    const talk = await aTalk();
    await made(talk, 'every day at 12 Lunch');
    await told(talk, '/pause #1');
    await talk.pipeline.pass(25 * hour);
    expect(await told(talk, '/undo')).toContain('You have changed nothing here in the last 24 hours');
    expect(await told(talk, '/undo #1')).toContain('more than 24 hours ago');
  });
});
