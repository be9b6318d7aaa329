import { expect, test } from 'vitest';
import { day } from '../../../support/pipeline.ts';
import { ada, aTalk, bob, labels, root, taskIn } from '../talk.ts';

const grantOf = async (talk: Awaited<ReturnType<typeof aTalk>>) =>
  talk.pipeline.store.readGrant((await taskIn(talk)).grantId);

test('/grants lists what tasks may do; one of them has Revoke, then Renew, for whoever may change it', async () => {
  const talk = await aTalk({ kind: 'supergroup' });
  expect(await talk.tells('/grants')).toContain('No task here');
  await talk.make('every hour Backup', { person: bob });
  const list = await talk.ask('/grants', { person: ada });
  expect(list.text).toContain('#1 Backup: Bob · no end');
  await talk.press(list, '#1 Backup', { person: bob });
  expect(list.text).toContain('It may:\naction:message');
  expect(labels(list)).toEqual([['Revoke'], ['Back']]);

  await talk.press(list, 'Revoke', { person: bob });
  expect(list.text).toContain('⚠️ taken back');
  expect(labels(list)).toEqual([['Renew'], ['Back']]);
  expect((await grantOf(talk))?.revokedBy).toBe(bob.actor);

  // The presser becomes the owner.
  await talk.press(list, 'Renew', { person: ada });
  expect(list.text).toContain('Owner: Ada');
  expect([(await taskIn(talk)).ownerId, (await grantOf(talk))?.revokedAt]).toEqual([ada.actor, null]);
});

test('a member may look at the right of another one\u2019s task, and change nothing', async () => {
  const talk = await aTalk({ kind: 'supergroup' });
  await talk.make('every hour Backup', { person: ada });
  expect(labels(await talk.ask('/grants 1', { person: bob }))).toEqual([['Back']]);
  expect(await talk.tells('/grants 1 revoke', { person: bob })).toContain('Only Ada or an admin');
  expect(await talk.tells('/grants 1 allow host:*', { person: bob })).toContain('Only Ada or an admin');
  expect((await grantOf(talk))?.revokedAt).toBeNull();
});

test('/grants 1 allow lets it do more, and says how where the words are no scope', async () => {
  const talk = await aTalk();
  await talk.make('every hour Backup');
  expect(await talk.tells('/grants 1 allow secret:CUSTOMER_*')).toContain('secret:CUSTOMER_*');
  expect((await grantOf(talk))?.scopes).toEqual(['action:message', 'secret:CUSTOMER_*']);
  expect(await talk.tells('/grants 1 allow everything')).toContain('scope');
  expect(await talk.tells('/grants 1 allow')).toContain('/grants #1 allow host:*.example.com');
});

test('a right gets an end by /edit, tells it on the card, and by /settings for tasks to come', async () => {
  const talk = await aTalk();
  await talk.make('every hour Backup');
  expect(await talk.tells('/edit 1 grant until 1 march 2027')).toContain('May run until');
  expect(await talk.tells('/task 1')).toContain('May run until Mon 1 Mar 2027');
  const { expiresAt } = (await grantOf(talk)) ?? {};
  expect(new Date(expiresAt ?? 0).toISOString()).toBe('2027-03-01T23:59:00.000Z');
  expect(await talk.tells('/edit 1 grant until never')).toContain('no end');
  expect(await talk.tells('/settings grants 90 days', { person: root })).toContain('end after 90 days');
  expect(await talk.tells('/settings grants soon', { person: root })).toContain('/settings grants never');
  await talk.make('every hour Report');
  const now = talk.pipeline.time.now();
  expect(await talk.tells('/grants 2')).toMatch(/until/);
  const [newest] = (
    await talk.pipeline.rooms.tasks.listGrants({
      thread: null,
      ownerId: null,
      taskId: null,
      state: null,
      limit: 1,
      cursor: null,
    })
  ).items;
  expect(newest?.expiresAt).toBe(now + 90 * day);
});

test('/context shows what runs know, sets, removes and empties it', async () => {
  const talk = await aTalk();
  await talk.make('every hour Backup');
  expect(await talk.tells('/context 1')).toContain('has no context');
  expect(await talk.tells('/context 1 set count 3')).toContain('"count": 3');
  expect(await talk.tells('/context 1 set city New York')).toContain('"city": "New York"');
  expect(await talk.tells('/context 1 remove count')).not.toContain('count');
  expect(await talk.tells('/context 1 reset')).toContain('"city": "New York"');
  expect((await taskIn(talk)).context).toEqual({});
  expect(await talk.tells('/context 1 reset')).toContain('already like that');
});

test('a member may look at the context of another one\u2019s task, and not change it', async () => {
  const talk = await aTalk({ kind: 'supergroup' });
  await talk.make('every hour Backup', { person: ada });
  await talk.tells('/context 1 set city Oslo', { person: ada });
  expect(await talk.tells('/context 1', { person: bob })).toContain('Oslo');
  expect(await talk.tells('/context 1 reset', { person: bob })).toContain('Only Ada or an admin');
});

test('a field that would get lost in a copy is refused, however deep it stands', async () => {
  const talk = await aTalk();
  await talk.make('every hour Backup');
  expect(await talk.tells('/context 1 set __proto__ 5')).toContain('no field may be called __proto__');
  expect(await talk.tells('/context 1 set a {"b": [{"__proto__": 5}]}')).toContain('no field may be called __proto__');
  expect((await taskIn(talk)).context).toEqual({});
});

test('tasks for somebody are listed, paused and resumed together, however their name is spelled', async () => {
  const talk = await aTalk();
  for (const title of ['Invoice', 'Letter', 'Backup']) await talk.make(`every hour ${title}`);
  expect(await talk.tells('/edit 1 subject Åsa')).toContain('Åsa');
  await talk.tells('/edit 2 subject åsa');
  const list = await talk.tells('/tasks for ÅSA');
  expect([list.includes('Invoice'), list.includes('Letter'), list.includes('Backup')]).toEqual([true, true, false]);
  const states = async () => {
    const query = { thread: null, state: 'all', text: null, tag: null, subject: null, limit: 9, cursor: null } as const;
    return (await talk.pipeline.rooms.tasks.list(query)).items.map(({ state }) => state);
  };
  await talk.tells('/pause for Åsa');
  expect(await states()).toEqual(['active', 'paused', 'paused']);
  await talk.tells('/resume for åsa');
  expect(await states()).toEqual(['active', 'active', 'active']);
  expect(await talk.tells('/cancel for ÅSA')).toContain('Nothing of them is running');
  expect(await talk.tells('/pause for Ben')).toContain('No task here is for Ben');
  expect(await talk.tells('/edit 1 subject none')).toContain('none');
});
