import { expect, test } from 'vitest';
import type { Actor } from '../../../src/domain/access.ts';
import type { Thread } from '../../../src/domain/thread.ts';
import { aTask, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, aMessage, owner, someone, threadOf } from '../scenes.ts';

const revoked = (world: World) => world.query('select revoked_at, revoked_by from grants order by id');

/** People and their membership. */
export function peopleTests(open: OpenWorld): void {
  test('a person is noted with the name of today, and keeps role and zone', async () => {
    const { store } = await open();
    expect(await store.readUser(someone)).toBeNull();
    const noted = { id: someone, name: 'Ada', role: 'user', timezone: null };
    expect(await store.noteUser({ id: someone, name: 'Ada' }, nine)).toEqual(noted);
    await store.changeUser(someone, { role: 'owner', timezone: 'Asia/Tokyo' }, nine);
    const owns = { ...noted, role: 'owner', timezone: 'Asia/Tokyo' };
    expect(await store.noteUser({ id: someone, name: null }, nine)).toEqual(owns);
    expect(await store.noteUser({ id: someone, name: 'Ada L.' }, nine)).toEqual({ ...owns, name: 'Ada L.' });
    await store.changeUser(someone, { timezone: null }, nine);
    expect(await store.readUser(someone)).toEqual({ ...owns, name: 'Ada L.', timezone: null });
  });

  test('an owner may be named before they are ever seen', async () => {
    const { store } = await open();
    await store.changeUser(owner, { role: 'owner' }, nine);
    await store.noteUser({ id: someone, name: 'Bob' }, nine);

    expect((await store.listOwners()).map(({ id }) => id)).toEqual([owner]);
  });

  test('the last word of the platform about a member holds, and an older one changes nothing', async () => {
    const world = await open();
    const { id: chatId } = await aChat(world);
    expect(await world.store.readMember(chatId, someone)).toBeNull();
    await world.store.noteMember({ chatId, userId: someone, status: 'admin', checkedAt: nine + 5 });
    await world.store.noteMember({ chatId, userId: someone, status: 'out', checkedAt: nine });

    expect(await world.store.readMember(chatId, someone)).toEqual({
      chatId,
      userId: someone,
      status: 'admin',
      checkedAt: nine + 5,
    });
  });

  test('what was known of a member before the clock was set back does not outlive the next word of the platform', async () => {
    const world = await open();
    const { chatId } = await aTask(world, { ownerIfNone: someone, actor: someone });
    await world.store.noteMember({ chatId, userId: someone, status: 'member', checkedAt: nine + 24 * hour });
    await world.store.noteMember({ chatId, userId: someone, status: 'out', checkedAt: nine });

    expect(await world.store.readMember(chatId, someone)).toMatchObject({ status: 'out', checkedAt: nine });
    expect(await revoked(world)).toEqual([{ revoked_at: nine, revoked_by: 'system:left' }]);
  });

  test('owners of tasks that are due soon in groups are looked up when nobody knows, or for long', async () => {
    const world = await open();
    const by = (userId: Actor, address: string, nextAt = nine) =>
      aTask(world, { ownerIfNone: userId, actor: userId, home: threadOf(address), nextAt });
    const { chatId } = await by(someone, '-100');
    await by(someone, '-100');
    await by('telegram:user:9', '-100');
    await by(someone, '8');
    await by('telegram:user:11', '-100', nine + hour);
    await aTask(world, { ownerIfNone: 'system:api', actor: 'system:api' });
    const gone = await by('telegram:user:12', '-9');
    await world.query(`update chats set state = 'gone' where id = ?t`, gone.chatId);
    await world.store.noteMember({ chatId, userId: 'telegram:user:9', status: 'member', checkedAt: nine - hour });
    const stale = (staleAt: number, limit = 9) => world.store.staleMembers(nine + minute, staleAt, limit);

    const first = { chatId, address: '-100', userId: someone };
    expect(await stale(nine - hour)).toEqual([first]);
    expect(await stale(nine)).toEqual([first, { ...first, userId: 'telegram:user:9' }]);
    expect(await stale(nine, 1)).toEqual([first]);
  });
}

/** The list of those who are let in, and of the chats that are known. */
export function accessTests(open: OpenWorld): void {
  const change = ({ make }: World, address: string, at = nine) =>
    ({ address, by: owner, newId: make.id(), at }) as const;
  const letIn = (world: World, address: string, role: 'owner' | null = null) =>
    world.store.letIn({ ...change(world, address), role, title: `Name of ${address}` });
  const shutOut = (world: World, address: string, at = nine + 1) =>
    world.store.shutOut({ ...change(world, address, at), to: 'refused' });

  test('whoever is let in stands in the list, newest first, with who let them in and since when', async () => {
    const world = await open();
    const { store } = world;
    await letIn(world, '7', 'owner');
    await letIn(world, '8');
    await letIn(world, '-100');
    expect((await letIn(world, '8')).entryId).toBeNull();
    const first = await store.listAccess({ limit: 2, cursor: null });
    const second = await store.listAccess({ limit: 2, cursor: first.next });
    const by = { by: owner, since: nine };
    expect([...first.items, ...second.items]).toMatchObject([
      { address: '-100', role: 'group', name: 'Name of -100', ...by },
      { address: '8', role: 'user', ...by },
      { address: '7', role: 'owner', ...by },
    ]);
    await shutOut(world, '8');
    const rows = await world.query(`select verb, actor, chat_id, task_id from audit order by id`);
    const { id: chat_id } = (await store.findChat('8')) ?? {};
    expect(rows).toHaveLength(4);
    expect(rows.at(-1)).toEqual({ verb: 'deny', actor: owner, chat_id, task_id: null });
    expect((await world.query(`select kind from events order by id`)).map(({ kind }) => kind)).toEqual([
      'access.allow',
      'access.allow',
      'access.allow',
      'access.deny',
    ]);
    expect((await store.listAccess({ limit: 9, cursor: null })).items.map(({ address }) => address)).toEqual([
      '-100',
      '7',
    ]);
  });

  test('chats are listed whatever their standing, newest first, and one of them by any of its threads', async () => {
    const world = await open();
    const { store } = world;
    const ada = await letIn(world, '7', 'owner');
    await letIn(world, '-100');
    await shutOut(world, '-100');
    await aTask(world, { home: { provider: 'cli', address: 'default', topic: null } });
    await store.changeChat(ada.chat.id, { timezone: 'Europe/Madrid' }, nine);
    const first = await store.listThreads({ of: null, limit: 1, cursor: null });
    const second = await store.listThreads({ of: null, limit: 1, cursor: first.next });
    const group = { thread: threadOf('-100'), title: 'Name of -100', state: 'refused', timezone: null };
    expect(first.items).toEqual([group]);
    expect(second).toEqual({
      items: [{ thread: threadOf('7'), title: 'Name of 7', state: 'approved', timezone: 'Europe/Madrid' }],
      next: null,
    });
    const at = (of: Thread) => store.listThreads({ of, limit: 9, cursor: null });
    expect((await at({ ...threadOf('-100'), topic: 7 })).items).toEqual([group]);
    expect((await at(threadOf('-404'))).items).toEqual([]);
    await expect(store.listThreads({ of: null, limit: 1, cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid_cursor',
    });
  });

  test('the last owner cannot be denied, nor made a user, and one of two can', async () => {
    const world = await open();
    await letIn(world, '7', 'owner');
    await expect(shutOut(world, '7')).rejects.toMatchObject({ code: 'last_owner' });
    const demoted = { ...change(world, '7'), role: 'user', title: null } as const;
    await expect(world.store.letIn(demoted)).rejects.toMatchObject({ code: 'last_owner' });
    expect(await world.query(`select verb from audit`)).toHaveLength(1);
    await letIn(world, '8', 'owner');
    await letIn(world, '9', 'owner');
    await world.store.letIn({ ...change(world, '9'), role: 'user', title: null });
    const [told] = await world.query<{ before: string; after: string }>(
      'select before, after from audit order by id desc limit 1',
    );
    expect([told?.before, told?.after].map((side) => JSON.parse(side ?? 'null') as unknown)).toEqual([
      { address: '9', role: 'owner' },
      { address: '9', role: 'user' },
    ]);
    expect(await shutOut(world, '7')).toMatchObject({ chat: { state: 'refused' } });
    expect((await world.store.listOwners()).map(({ id }) => id)).toEqual([someone]);
  });

  test('whoever is denied may run nothing anywhere until they are let in and Telegram says where they are', async () => {
    const world = await open();
    const { store } = world;
    await letIn(world, '8');
    const inGroup = await aTask(world, { owner: someone, actor: someone, home: threadOf('-100') });
    const inPrivate = await aTask(world, { owner: someone, actor: someone, home: threadOf('8') });
    const member = { chatId: inGroup.chatId, userId: someone, status: 'member', checkedAt: nine } as const;
    await store.noteMember(member);
    const ofOther = await aTask(world, { owner, actor: owner, home: threadOf('8') });
    expect(await shutOut(world, '8')).toMatchObject({ paused: 2 });
    const gone = { revoked_at: nine + 1, revoked_by: 'system:left' };
    const back = { revoked_at: null, revoked_by: null };
    expect(await revoked(world)).toEqual([gone, gone, back]);
    expect([await store.readTask(inGroup.id), await store.readTask(inPrivate.id)]).toMatchObject([
      { state: 'active' },
      { state: 'paused', pausedReason: 'auto:owner_gone', resumeAt: null, paused: { by: owner } },
    ]);
    await store.noteMember({ ...member, checkedAt: nine + 2 });
    expect(await store.readMember(inGroup.chatId, someone)).toMatchObject({ status: 'out' });
    await store.letIn({ ...change(world, '8', nine + 3), role: null, title: null });
    expect(await revoked(world)).toEqual([gone, back, back]);
    expect(await store.readTask(inPrivate.id)).toMatchObject({ resumeAt: nine + 3 });
    expect(await store.readTask(ofOther.id)).toMatchObject({ pausedReason: 'manual', resumeAt: null });
    await store.noteMember({ ...member, checkedAt: nine + 4 });
    expect(await revoked(world)).toEqual([back, back, back]);
  });

  test('a chat that cannot be reached is let in for when it is back, and stays out where it was denied', async () => {
    const world = await open();
    const { store } = world;
    const gone = async (address: string) => {
      const { id: chatId } = await aChat(world, address);
      await store.chatGone({ chatId, cause: 'kicked', at: nine, wordTo: () => aMessage(world) });
      return { chatId, at: nine + 2, word: () => null };
    };
    const [first, second] = [await gone('-100'), await gone('-200')];
    expect((await letIn(world, '-100')).chat.state).toBe('gone');
    await shutOut(world, '-200');
    for (const back of [first, second]) await store.chatBack(back);
    expect([await store.findChat('-100'), await store.findChat('-200')]).toMatchObject([
      { state: 'approved' },
      { state: 'refused' },
    ]);
    await letIn(world, '-300');
    await store.moveChat('-300', '-100300', nine + 3);
    expect((await store.listAccess({ limit: 9, cursor: null })).items).toMatchObject([
      { address: '-100300', since: nine },
      { address: '-100' },
    ]);
  });

  test('an owner whom the environment names no more is like somebody who was never let in', async () => {
    const world = await open();
    const { store } = world;
    const own = { address: '7', by: owner, newId: 'seven', at: nine } as const;
    await store.letIn({ ...own, role: 'owner', title: null });
    expect(await store.shutOut({ ...own, to: 'new' })).toMatchObject({ chat: { state: 'new' } });
    expect([await store.listOwners(), await store.findChat('7')]).toMatchObject([
      [],
      { state: 'new', approvedBy: null },
    ]);
    expect((await store.shutOut({ ...own, to: 'new' })).entryId).toBeNull();
    await letIn(world, '8', 'owner');
    const { id: chatId } = (await store.findChat('8')) ?? {};
    await world.query(
      `update chats set state = 'gone', state_before = 'approved', approved_by = ?t where id = ?t`,
      someone,
      chatId ?? '',
    );
    await store.shutOut({ ...own, address: '8', to: 'new' });
    expect(await world.query(`select state, state_before from chats where id = ?t`, chatId ?? '')).toEqual([
      { state: 'gone', state_before: 'new' },
    ]);
  });
}
