import { expect, test } from 'vitest';
import { minute } from '../../../support/pipeline.ts';
import { ada, bob, root, withTask } from '../talk.ts';

test('/status tells what is blocked, here and on the server', async () => {
  const talk = await withTask('in 1 minute Ping', { setUp: { canManageTopics: false } });
  talk.pipeline.chat.failTopics('blocked');
  await talk.pipeline.pass(2 * minute);
  const text = await talk.tells('/status', { person: root });
  expect(text).toContain('✗ Manage topics: not allowed, so results wait.');
  expect(text).toContain('1 waiting to be sent');
  expect(text).toContain('1 blocked until somebody fixes the cause, 0 that');
});

test('an owner pauses a kind of action for all chats, and everybody is told why nothing starts', async () => {
  const talk = await withTask('in 1 hour Ping');
  const paused = 'Kind message is paused since Wed 18 Nov 09:00, by Root';
  expect(await talk.tells('/pause kind message', { person: bob })).toBe('Only an owner of this bot may do that.');
  expect(await talk.tells('/pause kind massage', { person: root })).toMatch(
    /^I know no kind of action called massage\. Kinds are: digest, .*message\.$/,
  );
  expect(await talk.tells('/pause kind message', { person: root })).toBe(
    `${paused}: its runs wait in all chats. /resume kind message`,
  );
  expect(await talk.tells('/pause Kind message', { person: root })).toContain(paused);

  const waits = `${paused}. Its runs start when it is resumed.`;
  expect(await talk.tells('/task 1')).toContain(waits);
  const { toast } = await talk.press(await talk.ask('/task 1'), 'Run now');
  expect(toast).toBe(waits);
  expect(await talk.tells('/status', { person: root })).toContain(`${paused}: its runs wait in all chats.`);
  await talk.pipeline.settle();
  expect(await talk.tells('/why 1', { person: ada })).toContain('its run waits: kind message is paused since');
  expect(talk.pipeline.chat.shown).toEqual([]);

  expect(await talk.tells('/resume kind message', { person: root })).toBe(
    'Kind message goes on. Everything that waited starts now.',
  );
  await talk.pipeline.settle();
  expect(talk.pipeline.chat.shown.map(({ text }) => text)).toEqual(['Ping']);
  expect(await talk.tells('/resume kind message', { person: root })).toBe('Kind message is not paused.');
  await talk.tells('/pause kind message', { person: root });
  expect(await talk.tells('/run 1')).toBe(`#1 Ping will run.\n${waits}`);
});

test('a task whose name is like that is paused by its name', async () => {
  const talk = await withTask('in 1 hour kind words');
  expect(await talk.tells('/pause kind words', { person: root })).toBe('Paused #1 kind words.');
});

test('while no worker lives, a run by hand is told to wait for one, and never that it was started', async () => {
  const talk = await withTask('in 1 hour Ping');
  const { rooms, time } = talk.pipeline;
  Object.assign(rooms.kindPauses, { standstill: async () => ({ is: 'no_worker', since: time.now() - 2 * minute }) });
  const waits = 'Scheduler paused since Wed 18 Nov 08:58: no worker is running. Runs start when one is back.';
  expect(await talk.tells('/task 1')).toContain(waits);
  expect(await talk.tells('/status', { person: root })).toContain(waits);
  const { toast } = await talk.press(await talk.ask('/task 1'), 'Run now');
  expect(toast).toBe(waits);
  const other = await withTask('in 1 hour Pong');
  Object.assign(other.pipeline.rooms.kindPauses, { standstill: rooms.kindPauses.standstill });
  expect(await other.tells('/run 1')).toBe(`#1 Pong will run.\n${waits}`);
});
