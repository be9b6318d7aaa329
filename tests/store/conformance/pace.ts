import { expect, test } from 'vitest';
import type { CallWanted, Paced } from '../../../src/app/ports/outbox.ts';
import { ratesOf } from '../../../src/domain/pacing/pace.ts';
import { aProcess, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, aMessage, putOff, threadOf } from '../scenes.ts';

const rates = ratesOf({ overallPerSecond: 4, chatPerSecond: 1, groupPerMinute: 20 });
const by = (bootId: string): Paced => ({ bootId, rates });

/** Two processes, and messages that wait in so many private chats. */
async function together(open: OpenWorld, chats = 1, each = 1) {
  const world = await open();
  for (const id of ['boot-a', 'boot-b']) await world.store.enrol({ id, ...aProcess }, false);
  await world.store.openPace(by('boot-a'), nine);
  const messages = Array.from({ length: chats * each }, (_none, index) =>
    aMessage(world, { thread: threadOf(`${1 + (index % chats)}`) }),
  );
  await world.store.addMessages(messages, nine);
  return world;
}

function claim({ store }: World, bootId: string, now = nine, limit = 10) {
  return store.claimPaced({ now, limit, after: '', busy: new Set() }, by(bootId));
}

const callIn = (chatId: string, facts: Partial<CallWanted> = {}): CallWanted => ({
  chatId,
  address: '1',
  now: nine,
  messages: 1,
  before: null,
  isMeant: true,
  ...facts,
});

/** The pace of calls, and the claims of several processes. */
export function paceTests(open: OpenWorld): void {
  test('a chat of which one process has a part in hand is busy for all, until that ends', async () => {
    const world = await together(open, 1, 2);
    const { parts } = await claim(world, 'boot-a');
    expect(parts).toHaveLength(1);
    expect((await claim(world, 'boot-b', nine + minute)).parts).toEqual([]);
    const [part] = parts;
    if (part === undefined) throw new Error('nothing was claimed');
    const call = { chatId: part.chatId, address: '1', endedAt: nine };
    await world.store.endParts([putOff(part)], nine, { ...by('boot-a'), calls: [call] });
    expect(await claim(world, 'boot-b', nine + 999)).toMatchObject({
      parts: [],
      held: [part.chatId],
      freeAt: nine + 1000,
    });
    expect((await claim(world, 'boot-b', nine + 1000)).parts).toHaveLength(1);
  });

  test('no more calls are set aside than all chats may have, whoever asks, and those of a process that is gone have ended', async () => {
    const world = await together(open, 10);
    expect((await claim(world, 'boot-a', nine, 3)).parts).toHaveLength(3);
    expect((await claim(world, 'boot-b')).parts).toHaveLength(1);
    expect(await claim(world, 'boot-b', nine + minute)).toMatchObject({ room: 0, freeAt: nine + minute + 100 });
    await world.store.retire('boot-a', nine);
    // What it had set aside has ended at the first look after it, as far as anybody knows.
    const soon = nine + minute + 1000;
    expect(await claim(world, 'boot-b', nine + minute)).toMatchObject({ room: 0 });
    expect((await claim(world, 'boot-b', soon - 1)).room).toBe(0);
    expect((await claim(world, 'boot-b', soon)).parts).toHaveLength(3);
  });

  test('the next call of a turn waits for its chat, and others leave room for it until it is given up', async () => {
    const world = await together(open, 8);
    const chat = await aChat(world, '1');
    const ask = (facts: Partial<CallWanted> = {}) => world.store.askCall(callIn(chat.id, facts), by('boot-a'));
    expect(await ask()).toMatchObject({ isTaken: true });
    const before = { chatId: chat.id, address: '1', endedAt: nine + 10 };
    expect(await ask({ isMeant: false, now: nine + 10, before })).toMatchObject({
      isTaken: false,
      freeAt: nine + 1010,
    });
    expect(await ask({ now: nine + 10 })).toMatchObject({ isTaken: false, freeAt: nine + 1010 });
    expect((await claim(world, 'boot-b', nine + 1010, 10)).room).toBe(3);
    await world.store.giveUpCall(chat.id);
    expect((await claim(world, 'boot-b', nine + 1010, 10)).room).toBe(1);
  });

  test('a wait that one process is told binds all, and three in a second bind every chat', async () => {
    const world = await together(open, 4);
    const chats = await Promise.all(['1', '2', '3'].map((address) => aChat(world, address)));
    for (const [index, { id }] of chats.entries())
      expect(await world.store.holdPace({ chatId: id, address: '1' }, 30_000 + index, nine)).toBe(
        index === 2 ? 30_000 : null,
      );
    expect(await claim(world, 'boot-b', nine + 29_999)).toMatchObject({ room: 0, freeAt: nine + 30_000 });
    expect(await world.store.readHolds(nine)).toHaveLength(4);
    expect((await claim(world, 'boot-b', nine + 30_000)).parts).toHaveLength(2);
    // A process that comes later, when nobody has paced calls for a while, learns of it as well.
    await world.query('delete from pace');
    await world.store.openPace(by('boot-b'), nine + 10);
    expect(await claim(world, 'boot-a', nine + 10)).toMatchObject({ room: 0 });
  });

  test('what was sent before several processes paced it is remembered', async () => {
    const world = await together(open, 2);
    const [part] = await world.store.claimParts({ now: nine, limit: 1, after: '' }, 'boot-a', new Set());
    await world.query('delete from pace');
    await world.store.openPace(by('boot-a'), nine + 10);
    await world.query('update deliveries set boot_id = null, status = ?t', 'pending');
    const { held } = await claim(world, 'boot-b', nine + 500);
    expect(held).toEqual([part?.chatId]);
  });

  test('calls beside the outbox have half of the budget, and results leave room for those that wait', async () => {
    const world = await together(open, 8);
    const asides = (bootId: string, facts: object = {}) =>
      world.store.paceAsides({ now: nine, open: 0, ended: [], wanted: 0, heldUntil: 0, ...facts }, by(bootId));
    expect(await asides('boot-a', { wanted: 1 })).toMatchObject({ granted: 1 });
    expect(await asides('boot-b', { wanted: 3 })).toEqual({ granted: 1, freeAt: null });
    expect((await claim(world, 'boot-b')).room).toBe(2);
    expect(await asides('boot-a', { ended: [nine + 5] })).toMatchObject({ granted: 0 });
    expect(await asides('boot-b', { ended: [nine + 5], now: nine + 5, wanted: 2 })).toEqual({
      granted: 0,
      freeAt: nine + 1005,
    });
    expect(await asides('boot-b', { now: nine + 1005, wanted: 2, heldUntil: nine + 5000 })).toMatchObject({
      granted: 0,
    });
    expect(await asides('boot-b', { now: nine + 5000, wanted: 2 })).toMatchObject({ granted: 2 });
    await world.store.retire('boot-b', nine);
    expect(await asides('boot-a', { now: nine + 7000, wanted: 2 })).toMatchObject({ granted: 0 });
    expect(await asides('boot-a', { now: nine + 9000, wanted: 2 })).toMatchObject({ granted: 2 });
  });
}

/** What one of several processes does at a time. */
export function leaseTests(open: OpenWorld): void {
  test('a lease is held by one process, until it is over, given back, or its process is gone', async () => {
    const { store } = await together(open);
    const ask = (bootId: string, now = nine, ms: number | null = 15_000) =>
      store.holdLease('polling', bootId, { now, ms });
    expect(await ask('boot-a')).toEqual({ isMine: true, until: nine + 15_000 });
    expect(await ask('boot-b', nine + 1)).toEqual({ isMine: false, until: nine + 15_000 });
    expect(await ask('boot-a', nine + 10_000)).toMatchObject({ isMine: true });
    expect(await ask('boot-b', nine + 15_000)).toMatchObject({ isMine: false });
    expect(await ask('boot-b', nine + 25_000)).toMatchObject({ isMine: true });
    await store.endLease('polling', 'boot-a');
    expect(await ask('boot-a', nine + 25_001)).toMatchObject({ isMine: false });
    await store.endLease('polling', 'boot-b');
    expect(await ask('boot-a', nine + 25_001, null)).toMatchObject({ isMine: true });
    expect(await ask('boot-b', nine + 99 * minute)).toMatchObject({ isMine: false });
    await store.retire('boot-a', nine);
    expect(await ask('boot-b', nine + 99 * minute)).toMatchObject({ isMine: true });
  });

  test('the code of the first owner is known to all, is used once, and counts each wrong try once', async () => {
    const { store } = await together(open);
    expect(await store.readClaim()).toBeNull();
    await store.openClaim('hash', nine);
    expect([await store.noteWrongClaim(7, nine), await store.noteWrongClaim(7, nine)]).toEqual([1, 1]);
    expect(await store.readClaim()).toEqual({ hash: 'hash', isUsed: false, wrong: 1 });
    expect([await store.useClaim(nine), await store.useClaim(nine)]).toEqual([true, false]);
    expect(await store.readClaim()).toMatchObject({ isUsed: true });
    await store.reopenClaim();
    expect(await store.useClaim(nine)).toBe(true);
    await store.openClaim('another', nine);
    expect(await store.readClaim()).toEqual({ hash: 'another', isUsed: false, wrong: 0 });
  });

  test('an update is handled by one process, behind those before it in its thread, and left ones are found', async () => {
    const { store } = await together(open);
    const row = (id: number, lane: string) => ({ id, payload: '{}', address: null, messageId: null, lane });
    const isAnyLeft = async () => (await store.renewLease('boot-b', minute, false))?.due.includes('inbox');
    await store.receiveUpdates([row(1, 'a'), row(2, 'a'), row(3, 'b')], (await store.databaseTime()) - minute);
    expect(await isAnyLeft()).toBe(true);
    expect(await store.beginUpdate(2, 'boot-b')).toBe('waits');
    expect(await store.beginUpdate(1, 'boot-a')).toBe(1);
    expect([await store.beginUpdate(1, 'boot-b'), await store.beginUpdate(3, 'boot-b')]).toEqual([0, 1]);
    expect(await store.beginUpdate(2, 'boot-a', true)).toBe(1);
    expect(await isAnyLeft()).toBe(false);
    const end = { status: 'done', error: null, messages: [], draft: null, at: nine } as const;
    await store.retire('boot-a', nine);
    expect(await isAnyLeft()).toBe(true);
    expect(await store.beginUpdate(1, 'boot-b')).toBe(2);
    // The one that was taken for dead is too late.
    expect(await store.endUpdate({ ...end, id: 1, bootId: 'boot-a' })).toBe(false);
    expect(await store.endUpdate({ ...end, id: 1, bootId: 'boot-b' })).toBe(true);
    expect(await store.beginUpdate(2, 'boot-b')).toBe(2);
  });
}
