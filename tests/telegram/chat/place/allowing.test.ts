import { expect, test } from 'vitest';
import { start } from '../../../support/pipeline.ts';
import { aTalk, labels, root, taskIn } from '../talk.ts';

const lab = { newId: 'lab', address: '-1009', title: 'The Lab', kind: 'supergroup', at: start } as const;

test('/allow in a private chat lists who waits, and lets them in by a press', async () => {
  const talk = await aTalk({ kind: 'private' });
  const { store } = talk.pipeline;
  expect(await talk.tells('/allow', { person: root })).toMatch(/^Nobody is waiting for approval\./);
  await store.noteChat(lab);
  const list = await talk.ask('/allow', { person: root });
  expect(list.text).toContain('Waiting for approval:\nThe Lab (-1009)');
  expect(await talk.press(list, 'Allow The Lab')).toMatchObject({ isAlert: true });
  expect(await talk.press(list, 'Allow The Lab', { person: root })).toMatchObject({ toast: 'Approved' });
  expect(list.text).toMatch(/^Nobody is waiting for approval\./);
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

test('/allow off takes it from an owner, but never from the last one', async () => {
  const talk = await aTalk({ kind: 'private' });
  const { access } = talk.pipeline.rooms;
  await access.allow({ address: '1001', role: 'owner', by: 'system' });
  expect(await talk.tells('/allow off 1001', { person: root })).toContain('the only owner');
  expect((await talk.chat()).state).toBe('approved');
  await access.allow({ address: '1003', role: 'owner', by: 'system' });
  expect(await talk.tells('/allow off Ada', { person: root })).toContain('Approval taken back: Ada');
  expect([(await talk.chat()).state, await talk.pipeline.store.readUser('telegram:user:1001')]).toMatchObject([
    'refused',
    { role: 'user' },
  ]);
});

test('/allow in a private chat lists who is let in, and denies by a press', async () => {
  const talk = await aTalk({ kind: 'private' });
  const { access } = talk.pipeline.rooms;
  await access.allow({ address: '1003', role: 'owner', by: root.actor });
  await access.allow({ address: '-1009', title: 'The Lab', by: root.actor });
  await access.allow({ address: '1002', by: root.actor });
  const list = await talk.ask('/allow', { person: root });
  expect(list.text).toContain(
    [
      'Bob (1002): person, by Root, since Wed 18 Nov 09:00',
      'The Lab (-1009): group, by Root, since Wed 18 Nov 09:00',
      'Root (1003): owner, since Wed 18 Nov 09:00',
    ].join('\n'),
  );
  expect(labels(list)).toEqual([['Deny Bob'], ['Deny The Lab'], ['Deny Ada']]);
  expect(await talk.press(list, 'Deny Bob')).toMatchObject({ isAlert: true });
  expect(await talk.press(list, 'Deny Bob', { person: root })).toMatchObject({ toast: 'Denied' });
  expect([list.text, labels(list)]).toEqual(['Approval taken back: Bob can no longer use me.', [['Allow Bob']]]);
  await talk.press(list, 'Allow Bob', { person: root });
  expect(await talk.pipeline.store.findChat('1002')).toMatchObject({ state: 'approved', approvedBy: root.actor });
});

test('/allow off pauses what would go on', async () => {
  const talk = await aTalk();
  await talk.make('every day at 9 Ping');
  expect(await talk.tells('/allow off', { person: root })).toContain('I paused 1 task there.');
  expect([(await taskIn(talk)).state, (await talk.chat()).state]).toEqual(['paused', 'refused']);
});
