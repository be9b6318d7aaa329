import { expect, test } from 'vitest';
import { aTalk, type Talk } from '../talk.ts';

async function twoTasks(): Promise<Talk> {
  const talk = await aTalk({ timezone: 'Europe/Madrid' });
  await talk.make('in 5 hours Take the bread out');
  await talk.make('tomorrow at 9 Call mum');
  return talk;
}

const onceAts = async (talk: Talk) => {
  const tasks = await Promise.all([1, 2].map((number) => talk.pipeline.store.taskByNumber('chat-1', number)));
  return tasks.map((task) => (task?.schedule.kind === 'once' ? task.schedule.onceAt : null));
};

test('a time of day moves with the zone of its chat, and a wait ends when it would have', async () => {
  const talk = await twoTasks();
  const [wait = 0, clock = 0] = await onceAts(talk);
  const offer = await talk.ask('/tz London');
  await talk.press(offer, 'Move 2 tasks');
  expect(offer.text).toContain('Waits, such as “in 2 hours”, still end at the same moment.');
  expect(await onceAts(talk)).toEqual([wait, (clock ?? 0) + 3_600_000]);
  await talk.press(offer, 'Undo');
  expect(await onceAts(talk)).toEqual([wait, clock]);
});

test('a snooze keeps its moment, and is told on the new clocks', async () => {
  const talk = await twoTasks();
  expect(await talk.tells('/snooze #2 tomorrow at 11')).toContain('11:00');
  const offer = await talk.ask('/tz London');
  await talk.press(offer, 'Move 2 tasks');
  expect(offer.text).toMatch(/Snoozes keep their moment:\n.* 10:00 #2 Call mum/);
});
