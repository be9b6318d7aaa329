import { describe, expect, test } from 'vitest';
import { nearCommand } from '../../../../src/telegram/chat/commands.ts';
import { minute } from '../../../support/pipeline.ts';
import { bob, type Talk, tasksIn, withTask } from '../talk.ts';

describe('what is called otherwise', () => {
  test.each([
    ['/explain 1', /^Why, for #1 Lunch\n/],
    ['/list', /^Tasks in this chat: 1\n/],
    ['/remind tomorrow at 9 Call mum', /^New task: Call mum\n/],
    ['/remind me tomorrow at 9 to call mum', /^New task: call mum\n/i],
  ])('%s is done', async (text, expected) => {
    expect(await (await withTask()).tells(text)).toMatch(expected);
  });

  test.each([
    ['/restore 1', '/undo #1 brings back a task that was deleted in the last 24 hours.'],
    ['/restore', '/undo brings back a task that was deleted in the last 24 hours.'],
    ['/unskip 1', '/undo #1 brings back a run that was left out.'],
    ['/quiet', '/settings quiet 22:00-07:00 sets the quiet hours of this chat.'],
    ['/stop 1', '/pause #1 stops a task until it is resumed, and /delete #1 for good.'],
  ])('%s is told', async (text, expected) => {
    const talk = await withTask();
    const message = await talk.ask(text);
    expect(message.text).toBe(expected);
    expect(message.shown.buttons ?? []).toEqual([]);
    expect((await tasksIn(talk))[0]?.version).toBe(1);
  });

  test('is heard in a group without the name of the bot, like a word that is only misspelt', () => {
    for (const word of ['explain', 'restore', 'unskip', 'quiet', 'done', 'list', 'remind', 'stop', 'puase']) {
      expect([word, nearCommand(word) !== null]).toEqual([word, true]);
    }
    expect(nearCommand('frobnicate')).toBeNull();
    expect(nearCommand('toString')).toBeNull();
  });

  test('what it tells to write is understood', async () => {
    const talk = await withTask();
    expect(await talk.tells('/settings quiet 22:00-07:00')).toContain('22:00');
    await talk.ask('/delete 1');
    expect(await talk.tells('/undo #1')).toContain('Undone: the deletion of #1');
  });
});

describe('done', () => {
  const reminding = async () => {
    const talk = await withTask();
    await talk.ask('/edit #1 ack every 10 minutes');
    await talk.ask('/run #1');
    await talk.pipeline.settle();
    const [task] = await tasksIn(talk);
    if (task?.topicId === undefined || task.topicId === null) throw new Error('no topic was made');
    return { talk, topic: task.topicId };
  };
  const doneBy = async (talk: Talk) => {
    const [task] = await tasksIn(talk);
    const { items } = await talk.pipeline.rooms.tasks.listRuns({
      taskId: task?.id ?? '',
      status: null,
      limit: 5,
      cursor: null,
    });
    return items.map(({ ack }) => ack?.doneBy ?? null);
  };

  test.each(['done', 'Done!', 'ok, done', '/done'])('%s in the topic of an open reminder confirms it', async (text) => {
    const { talk, topic } = await reminding();
    await talk.pipeline.time.advance(minute);
    expect(await doneBy(talk)).toEqual([null]);
    await expect(talk.say(text, { topic, person: bob })).rejects.toThrow('a message was changed that is not there');
    expect(await doneBy(talk)).toEqual(['telegram:user:1002']);
    // Nothing is open any more, so the word is between people.
    if (text === 'done') expect(await talk.say('done', { topic })).toBeNull();
  });

  test('by its number from elsewhere, and nothing where nothing is open', async () => {
    const { talk, topic } = await reminding();
    expect(await talk.say('done')).toBeNull();
    expect(await talk.say('well done everybody', { topic })).toBeNull();
    expect(await talk.tells('/done')).toContain('Reply “done”');
    expect(await doneBy(talk)).toEqual([null]);
    await expect(talk.say('/done 1')).rejects.toThrow('a message was changed that is not there');
    expect(await doneBy(talk)).toEqual(['telegram:user:1001']);
    expect(await talk.tells('/done 1')).toBe('Nothing of #1 Lunch waits to be confirmed.');
  });
});
