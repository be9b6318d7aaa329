import { expect, test } from 'vitest';
import { start } from '../../../support/pipeline.ts';
import { aTalk, type Talk } from '../talk.ts';

async function aTaskWithTopic(): Promise<Talk> {
  const talk = await aTalk();
  const task = await talk.pipeline.create({ instructions: 'Lunch' });
  await talk.pipeline.store.beginTopic({ taskId: task.id, name: 'Lunch' }, 'boot', start);
  return talk;
}

test('a topic that is being made is not deleted, and the person is told so', async () => {
  const talk = await aTaskWithTopic();
  const asked = await talk.ask('/topic delete #1');
  expect(asked.text).toBe('The topic of #1 Lunch is being made right now. Try again in a minute.');
  expect(asked.shown.buttons).toBeUndefined();
});

test('a chat without topics is told so', async () => {
  const talk = await aTalk({ isForum: false });
  await talk.pipeline.create({ instructions: 'Lunch' });
  expect(await talk.tells('/topic delete #1')).toContain('topics are switched off here');
});

test('a press that is handled once more, as after a crash, comes to the same end', async () => {
  const talk = await aTaskWithTopic();
  const [task] = (
    await talk.pipeline.store.chatTasks({
      chatId: (await talk.chat()).id,
      filter: 'all',
      ownerId: null,
      text: null,
      offset: 0,
      limit: 1,
    })
  ).tasks;
  const made = { state: 'ready', id: 77, cardId: 'card', remadeId: 'remade', at: start } as const;
  await talk.pipeline.store.endTopic({ taskId: task?.id ?? '', ...made });
  const question = await talk.ask('/topic delete #1');
  await talk.press(question, 'Delete the topic');
  const again = await talk.again();
  expect(again.replies[0]).toEqual({ is: 'removeTopic', topic: 77 });
});

test('made-up data deletes nothing', async () => {
  const talk = await aTaskWithTopic();
  const message = await talk.ask('/tasks');
  for (const data of ['v1:topicdelete', 'v1:topicdelete:x:77', 'v1:topicdelete:x:-1', 'v1:topicdelete:x:NaN']) {
    expect(await talk.send(message, data)).toMatchObject({ isAlert: true });
  }
});
