import { expect, test } from 'vitest';
import type { Actor } from '../../../src/domain/access.ts';
import { aTask, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, owner, someone, threadOf } from '../scenes.ts';

/** People and their membership. */
export function peopleTests(open: OpenWorld): void {
  const revoked = (world: World) => world.query('select revoked_at, revoked_by from grants order by id');

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
