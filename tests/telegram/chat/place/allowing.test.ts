import { expect, test } from 'vitest';
import { start } from '../../../support/pipeline.ts';
import { aTalk, labels, root, taskIn } from '../talk.ts';

const lab = { newId: 'lab', address: '-1009', title: 'The Lab', kind: 'supergroup', at: start } as const;

test('/allow in a private chat lists who waits, and lets them in by a press', async () => {
  const talk = await aTalk({ kind: 'private' });
  const { store } = talk.pipeline;
  expect(await talk.tells('/allow', { person: root })).toMatch(/^Nobody waits for a yes\./);
  await store.noteChat(lab);
  const list = await talk.ask('/allow', { person: root });
  expect(list.text).toContain('Waiting for a yes:\nThe Lab (-1009)');
  expect(await talk.press(list, 'Allow The Lab')).toMatchObject({ isAlert: true });
  expect(await talk.press(list, 'Allow The Lab', { person: root })).toMatchObject({ toast: 'Approved' });
  expect(list.text).toMatch(/^Nobody waits for a yes\./);
  expect(await store.findChat('-1009')).toMatchObject({ state: 'approved', approvedBy: root.actor });
});

test('/allow asks which one, where several have that name', async () => {
  const talk = await aTalk();
  const { store } = talk.pipeline;
  for (const id of [7001, 7002]) await store.noteUser({ id: `telegram:user:${id}`, name: 'Kim' }, start);
  const asked = await talk.ask('/allow kim', { person: root });
  expect(labels(asked)).toEqual([['Allow Kim (7001)'], ['Allow Kim (7002)']]);
  await talk.press(asked, 'Allow Kim (7002)', { person: root });
  expect([await store.findChat('7001'), await store.findChat('7002')]).toMatchObject([null, { state: 'approved' }]);
});

test('/allow off leaves the chat of an owner approved', async () => {
  const talk = await aTalk({ kind: 'private' });
  await talk.pipeline.store.changeUser('telegram:user:1001', { role: 'owner' }, start);
  expect(await talk.tells('/allow off 1001', { person: root })).toContain('the chat of an owner');
  expect((await talk.chat()).state).toBe('approved');
});

test('/allow off pauses what would go on', async () => {
  const talk = await aTalk();
  await talk.make('every day at 9 Ping');
  expect(await talk.tells('/allow off', { person: root })).toContain('1 task there is paused.');
  expect([(await taskIn(talk)).state, (await talk.chat()).state]).toEqual(['paused', 'refused']);
});
