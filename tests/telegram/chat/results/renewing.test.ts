import { expect, test } from 'vitest';
import type { Person } from '../../../../src/telegram/chat/context.ts';
import { draw, type DrawnView } from '../../../../src/telegram/delivery/draw.ts';
import { hour, minute } from '../../../support/pipeline.ts';
import { ada, aMessage, aTalk, bob, labels, root, taskIn, type Talk } from '../talk.ts';

const lost: DrawnView = { view: 'mayNotRun', reason: 'grant_expired' };
const gone: DrawnView = { view: 'ownerGone', ownerId: bob.actor, name: bob.name, tasks: 2 };

/** A word of the bot, as it is drawn for the chat. */
async function wordOf(talk: Talk, view: DrawnView) {
  const task = await taskIn(talk);
  const asked = { address: task.home.address, topic: null, ack: null, question: null };
  const about = { task, now: talk.pipeline.time.now(), next: [], timezone: 'UTC', asked, ownerName: bob.name };
  const shown = draw(view, about);
  if (shown === null) throw new Error('nothing was drawn');
  return aMessage(9000, null, shown);
}

/** Two hourly tasks of Bob, who is only a member, and their next slot. */
async function bobs(kind: 'private' | 'supergroup' = 'supergroup') {
  const talk = await aTalk({ kind });
  for (const title of ['Backup', 'Report']) await talk.make(`every hour ${title}`, { person: bob });
  const { store, time, pass } = talk.pipeline;
  const { chatId } = await taskIn(talk);
  const note = (status: 'out' | 'member') =>
    store.noteMember({ chatId, userId: bob.actor, status, checkedAt: time.now() });
  const standings = async () => {
    const query = { chatId, filter: 'all', ownerId: null, text: null, offset: 0, limit: 9 } as const;
    return (await store.chatTasks(query)).tasks.map(({ state, ownerId }) => [state, ownerId]);
  };
  return { talk, note, standings, pass };
}

const line = (message: { readonly text: string }) => message.text.split('\n').at(-1);

test('who may gives a right that has ended anew, owns the task then, and the second one finds it done', async () => {
  const { talk, standings } = await bobs();
  talk.pipeline.database.exec('update grants set expires_at = 1');
  const [word, twin] = [await wordOf(talk, lost), await wordOf(talk, lost)];
  expect(word.text).toContain('Bob or an admin can press Renew');
  expect(labels(word)).toEqual([['Renew']]);
  await talk.press(word, 'Renew', { person: ada });
  expect([line(word), labels(word)]).toEqual(['— Renewed by Ada, who owns it now', []]);
  expect(await standings()).toContainEqual(['active', ada.actor]);
  await talk.press(twin, 'Renew', { person: root });
  expect(line(twin)).toBe('— Already renewed: it can run');
  expect((await taskIn(talk)).ownerId).toBe(ada.actor);
});

test.each([
  ['the task of somebody else', ada, lost],
  ['all tasks of somebody who is gone', bob, gone],
] as const)('who may not renew %s is told so', async (_what, owner, view) => {
  const talk = await aTalk();
  await talk.make('every hour Backup', { person: owner });
  const { database, store, time } = talk.pipeline;
  const { chatId } = await taskIn(talk);
  database.exec('update grants set expires_at = 1');
  await store.noteMember({ chatId, userId: bob.actor, status: 'out', checkedAt: time.now() });
  const eve: Person = { ...bob, id: 1009, actor: 'telegram:user:1009', name: 'Eve' };
  const word = await wordOf(talk, view);
  expect(await talk.press(word, 'Renew', { person: eve })).toMatchObject({
    toast: `Only ${owner.name} or an admin may do that.`,
    isAlert: true,
  });
  expect((await taskIn(talk)).ownerId).toBe(owner.actor);
});

test('in a private chat the one person is asked to press', async () => {
  const { talk } = await bobs('private');
  expect((await wordOf(talk, lost)).text).toContain('Press Renew to let it run again.');
});

test('one press takes over all tasks of somebody who is gone; after their return there is nothing to take', async () => {
  const { talk, note, standings, pass } = await bobs();
  const [word, late] = [await wordOf(talk, gone), await wordOf(talk, gone)];
  expect(word.text).toContain('Bob has left this chat. Their 2 tasks here stop');
  await note('out');
  await pass(hour);
  expect(await standings()).toEqual([
    ['paused', bob.actor],
    ['paused', bob.actor],
  ]);
  await talk.press(word, 'Renew', { person: ada });
  expect(line(word)).toBe('— Renewed by Ada, who owns these 2 tasks now');
  expect(await standings()).toEqual([
    ['active', ada.actor],
    ['active', ada.actor],
  ]);
  await note('member');
  await talk.make('every hour Lunch', { person: bob });
  await talk.press(late, 'Renew', { person: root });
  expect(line(late)).toBe('— Already renewed: it can run');
  expect(await standings()).toContainEqual(['active', bob.actor]);
});

test.each([
  ['the card', async (talk: Talk) => void (await talk.press(await talk.ask('/task 1'), 'Renew', { person: ada }))],
  ['/resume', async (talk: Talk) => void (await talk.tells('/resume 1', { person: ada }))],
  ['an old Resume', async (talk: Talk) => void (await talk.send(...(await oldResume(talk)), { person: ada }))],
])('a task that waits for its owner goes on by %s as that of whoever lets it go on', async (_how, goOn) => {
  const { talk, note, pass } = await bobs();
  await note('out');
  await pass(hour);
  const card = await talk.ask('/task 1', { person: ada });
  expect(card.text).toContain('\n⏸ Paused until its owner is back or somebody renews it\n');
  expect(labels(card)[0]).toEqual(['Run now', 'Renew']);
  await goOn(talk);
  await pass(minute);
  expect(await taskIn(talk)).toMatchObject({ state: 'active', ownerId: ada.actor });
  const after = await talk.ask('/task 1', { person: ada });
  await talk.press(after, 'More', { person: ada });
  expect(after.text).toContain('Belongs to Ada, made on ');
});

async function oldResume(talk: Talk) {
  const message = await talk.ask('/task 1', { person: ada });
  return [message, `v1:resume:${(await taskIn(talk)).id}`] as const;
}

test('whoever runs by hand what may not run is told so, and can renew it', async () => {
  const { talk } = await bobs();
  const card = await talk.ask('/task 1', { person: ada });
  talk.pipeline.database.exec('update grants set expires_at = 1');
  const words = '#1 Backup cannot run, because its right to run has expired.';
  const pressed = await talk.press(card, 'Run now', { person: ada });
  expect(pressed).toMatchObject({ toast: expect.stringContaining(words) as string, isAlert: true });
  expect(pressed.messages.map(labels)).toEqual([[['Renew']]]);
  const told = await talk.ask('/run 1', { person: ada });
  expect([told.text.startsWith(words), labels(told)]).toEqual([true, [['Renew']]]);
  await talk.press(told, 'Renew', { person: ada });
  expect(line(told)).toBe('— Renewed by Ada, who owns it now');
  expect(await talk.tells('/run 1', { person: ada })).not.toContain('may not run');
});
