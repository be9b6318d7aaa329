import { expect, test } from 'vitest';
import type { Actor } from '../../../../src/domain/access.ts';
import { start } from '../../../support/pipeline.ts';
import { ada, aTalk, bob, labels, root } from '../talk.ts';

const elsewhere = 'telegram:chat:-77';

/** One task of Bob here and two in another chat, and one of Ada. */
async function aCrowd() {
  const talk = await aTalk();
  const make = (actor: Actor, threadKey: string) => talk.pipeline.create({}, { actor, threadKey });
  await make(bob.actor, 'telegram:chat:-1001234');
  for (const actor of [bob.actor, bob.actor]) await make(actor, elsewhere);
  await make(ada.actor, 'telegram:chat:-1001234');
  const left = async (ownerId: Actor) => (await talk.pipeline.rooms.bulk.count({ ownerId })).active;
  return { talk, left };
}

test('/purge of a person deletes their tasks here, and in all chats only for an owner of the bot', async () => {
  const { talk, left } = await aCrowd();
  const byAdmin = await talk.ask('/purge Bob');
  expect(labels(byAdmin)).toEqual([['Delete the one task', 'Keep']]);
  expect(await talk.send(byAdmin, 'v1:purge:3:1002:all')).toMatchObject({ isAlert: true });
  expect(await left(bob.actor)).toBe(3);
  const byOwner = await talk.ask('/purge Bob', { person: root });
  expect(labels(byOwner)).toEqual([['Delete the one task', 'Keep'], ['Delete all 3 tasks in all chats']]);
  await talk.press(byAdmin, 'Delete the one task');
  // Another task is gone by now, so it asks again with the count of now.
  await talk.press(byOwner, 'Delete all 3 tasks in all chats', { person: root });
  expect([labels(byOwner), await left(bob.actor)]).toEqual([[['Keep'], ['Delete all 2 tasks in all chats']], 2]);
  await talk.press(byOwner, 'Delete all 2 tasks in all chats', { person: root });
  expect([await left(bob.actor), await left(ada.actor)]).toEqual([0, 1]);
});

test('/purge tells an admin of people in other chats no more than of people whom nobody knows', async () => {
  const { talk } = await aCrowd();
  await talk.pipeline.store.noteUser({ id: 'telegram:user:7', name: 'Kim' }, start);
  await talk.pipeline.create({}, { actor: 'telegram:user:7', threadKey: elsewhere });
  const [known, unknown] = [await talk.tells('/purge Kim'), await talk.tells('/purge Zoe')];
  expect(known).toBe(unknown.replace('Zoe', 'Kim'));
  expect(labels(await talk.ask('/purge Kim', { person: root }))).toEqual([
    ['Keep'],
    ['Delete the one task in all chats'],
  ]);
});

test('/purge asks which one, where several of that name have tasks here', async () => {
  const { talk, left } = await aCrowd();
  await talk.pipeline.store.noteUser({ id: 'telegram:user:7', name: 'Bob' }, start);
  await talk.pipeline.create({}, { actor: 'telegram:user:7', threadKey: 'telegram:chat:-1001234' });
  const asked = await talk.ask('/purge bob');
  expect(labels(asked)).toEqual([['Bob (1002)'], ['Bob (7)']]);
  await talk.press(asked, 'Bob (7)');
  await talk.press(asked, 'Delete the one task');
  expect([await left('telegram:user:7'), await left(bob.actor)]).toEqual([0, 3]);
});
