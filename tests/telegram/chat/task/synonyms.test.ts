import { describe, expect, test } from 'vitest';
import { nearCommand } from '../../../../src/telegram/chat/commands.ts';
import { minute } from '../../../support/pipeline.ts';
import { bob, labels, type Talk, tasksIn, withTask } from '../talk.ts';

describe('what is called otherwise', () => {
  test('is heard in a group without the name of the bot, like a word that is only misspelt', () => {
    for (const word of ['explain', 'restore', 'unskip', 'quiet', 'done', 'list', 'remind', 'stop', 'puase']) {
      expect([word, nearCommand(word) !== null]).toEqual([word, true]);
    }
    expect(nearCommand('frobnicate')).toBeNull();
    expect(nearCommand('toString')).toBeNull();
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
    expect(await talk.say(text, { topic, person: bob })).toBeNull();
    expect(talk.changed()?.text).toContain('Done by Bob');
    expect(await doneBy(talk)).toEqual(['telegram:user:1002']);
    // Whoever says it once more is told, and nobody else is.
    if (text === 'done') expect(await talk.ask('done', { topic })).toMatchObject({ isForAsker: true });
  });

  test('by its number from elsewhere, and nothing where nothing is open', async () => {
    const { talk, topic } = await reminding();
    expect(await talk.say('done')).toBeNull();
    expect(await talk.say('well done everybody', { topic })).toBeNull();
    expect(await doneBy(talk)).toEqual([null]);
    expect(await talk.say('/done 1')).toBeNull();
    expect(await doneBy(talk)).toEqual(['telegram:user:1001']);
    expect(await talk.tells('/done 1')).toBe('#1 Lunch is not waiting for Done.');
    expect(await talk.tells('/done')).toContain('Reply “done”');
  });

  test('without a name means the only result that is open, and asks among several', async () => {
    const talk = await withTask('every day at 12 Lunch', { kind: 'private' });
    const { message } = { message: await talk.ask('every day at 13 Tea') };
    await talk.press(message, 'Create');
    for (const number of [1, 2]) await talk.ask(`/run ${number}`);
    await talk.pipeline.settle();
    const which = await talk.ask('done');
    expect(labels(which).flat()).toHaveLength(2);
    await talk.press(
      which,
      labels(which)
        .flat()
        .find((label) => label.includes('Tea')) ?? '',
    );
    expect(which.text).toContain('Done by Ada');
    expect(await talk.say('done')).toBeNull();
    expect(await doneBy(talk)).toContain('telegram:user:1001');
    expect(await talk.tells('done')).toContain('Reply “done”');
  });
});
