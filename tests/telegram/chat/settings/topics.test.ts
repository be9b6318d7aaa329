import { expect, test } from 'vitest';
import { start } from '../../../support/pipeline.ts';
import { aTalk, taskIn, type Talk } from '../talk.ts';

async function aTaskWithTopic(): Promise<Talk> {
  const talk = await aTalk();
  const task = await talk.pipeline.create({ instructions: 'Lunch' });
  await talk.pipeline.store.beginTopic({ taskId: task.id, name: 'Lunch' }, 'boot', start);
  return talk;
}

test('a topic that is being made is not deleted, and the person is told so', async () => {
  const talk = await aTaskWithTopic();
  const asked = await talk.ask('/topic delete #1');
  expect(asked.text).toBe('I am making the topic of #1 Lunch right now. Try again in a minute.');
  expect(asked.shown.buttons).toBeUndefined();
});

test('a chat without topics is told so', async () => {
  const talk = await aTalk({ isForum: false });
  await talk.pipeline.create({ instructions: 'Lunch' });
  expect(await talk.tells('/topic delete #1')).toContain('topics are off here');
});

/** The task has its topic, in which somebody has asked to delete it. */
async function asked() {
  const talk = await aTaskWithTopic();
  const { id: taskId } = await taskIn(talk);
  const made = { state: 'ready', id: 77, cardId: 'card', remadeId: 'remade', at: start } as const;
  await talk.pipeline.store.endTopic({ taskId, ...made });
  return { talk, question: await talk.ask('/topic delete', { topic: 77 }), taskId };
}

test('a press that is handled once more, as after a crash, comes to the same end', async () => {
  const { talk, question } = await asked();
  await talk.press(question, 'Delete the topic');
  const again = await talk.again();
  expect(again.replies[0]).toEqual({ is: 'removeTopic', topic: 77 });
});

test('two presses delete it, and are told once, beside the topic', async () => {
  const { talk, question } = await asked();
  const [told] = (await talk.press(question, 'Delete the topic')).messages;
  expect(told).toMatchObject({
    topic: null,
    text: expect.stringContaining('its next run will make a new topic') as string,
  });
  expect((await talk.press(question, 'Delete the topic')).messages).toEqual([]);
});

test('a press that comes too late leaves the topic that has come since', async () => {
  const { talk, question, taskId } = await asked();
  const twin = await talk.ask('/topic delete #1');
  await talk.press(question, 'Delete the topic');
  await talk.pipeline.store.beginTopic({ taskId, name: 'Lunch' }, 'boot', start);
  const made = { state: 'ready', id: 78, cardId: 'card2', remadeId: 'remade2', at: start } as const;
  await talk.pipeline.store.endTopic({ taskId, ...made });
  await talk.press(twin, 'Delete the topic');
  expect((await talk.again()).replies[0]).toEqual({ is: 'removeTopic', topic: 77 });
  expect((await taskIn(talk)).topicId).toBe(78);
  expect(await talk.send(twin, `v1:topicdelete:${taskId}:99`)).toMatchObject({
    toast: 'That topic no longer belongs to the task.',
    isAlert: true,
  });
});

test('made-up data deletes nothing', async () => {
  const talk = await aTaskWithTopic();
  const message = await talk.ask('/tasks');
  for (const data of ['v1:topicdelete', 'v1:topicdelete:x:77', 'v1:topicdelete:x:-1', 'v1:topicdelete:x:NaN']) {
    expect(await talk.send(message, data)).toMatchObject({ isAlert: true });
  }
});
