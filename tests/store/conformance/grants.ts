import { expect, test } from 'vitest';
import type { GrantQuery } from '../../../src/app/ports/tasks.ts';
import { aTask, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, owner, someone, threadOf, withTask } from '../scenes.ts';
import { actor, engineOn, target } from './verbs.ts';

const by = { actor } as const;

function listed({ store }: World, facts: Partial<GrantQuery> = {}) {
  return store.listGrants({
    thread: null,
    ownerId: null,
    taskId: null,
    state: null,
    now: nine,
    limit: 50,
    cursor: null,
    ...facts,
  });
}

async function ids(world: World, facts: Partial<GrantQuery> = {}): Promise<string[]> {
  return (await listed(world, facts)).items.map(({ id }) => id);
}

async function grantOf(world: World, taskId: string) {
  const [grant] = (await listed(world, { taskId })).items;
  if (grant === undefined) throw new Error('the task has no grant');
  return grant;
}

/** The right to run, as it is listed, given, revoked, and follows its task. */
export function grantTests(open: OpenWorld): void {
  listTests(open);
  endTests(open);
  giveTests(open);
  giveByTests(open);
  followTests(open);
}

function listTests(open: OpenWorld): void {
  test('grants are listed newest first, by chat, topic, owner, task and state', async () => {
    const { world, task: one } = await withTask(open, { home: threadOf('-100', 7) });
    const two = await aTask(world, { home: threadOf('-100'), ownerIfNone: someone });
    const three = await aTask(world, { home: threadOf('-5') });
    const [a, b, c] = [await grantOf(world, one.id), await grantOf(world, two.id), await grantOf(world, three.id)];
    await world.query(`update grants set expires_at = ${nine} where id = ?t`, b.id);
    await world.query(`update grants set revoked_at = 1, revoked_by = ?t where id = ?t`, owner, c.id);

    expect(await ids(world)).toEqual([c.id, b.id, a.id]);
    expect(await ids(world, { thread: threadOf('-100') })).toEqual([b.id, a.id]);
    expect(await ids(world, { thread: threadOf('-100', 7) })).toEqual([a.id]);
    expect(await ids(world, { thread: threadOf('-404') })).toEqual([]);
    expect(await ids(world, { ownerId: someone })).toEqual([b.id]);
    expect(await ids(world, { state: 'active' })).toEqual([a.id]);
    expect(await ids(world, { state: 'expired' })).toEqual([b.id]);
    expect(await ids(world, { state: 'expired', now: nine - 1 })).toEqual([]);
    expect(await ids(world, { state: 'revoked' })).toEqual([c.id]);
    expect(await ids(world, { taskId: 'none' })).toEqual([]);
  });

  test('pages follow each other, and a cursor of another list is refused', async () => {
    const world = await open();
    for (let made = 0; made < 3; made += 1) await aTask(world);
    const first = await listed(world, { limit: 2 });
    const second = await listed(world, { limit: 2, cursor: first.next });
    expect([first.items.length, second.items.length, second.next]).toEqual([2, 1, null]);
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(3);
    await expect(listed(world, { cursor: 'dGFzazox' })).rejects.toMatchObject({ code: 'invalid_cursor' });
  });
}

function endTests(open: OpenWorld): void {
  const days = 24 * hour;

  test('a right that ends within three days is told of once, in the order of the ends', async () => {
    const { world, task: soon } = await withTask(open, { home: threadOf('-100') });
    const later = await aTask(world, { home: threadOf('-100') });
    const far = await aTask(world, { home: threadOf('-100') });
    const gone = await aTask(world, { home: threadOf('-100') });
    const ends = async (taskId: string, at: number) => {
      const { id } = await grantOf(world, taskId);
      await world.query(`update grants set created_at = ${nine - 30 * days}, expires_at = ${at} where id = ?t`, id);
    };
    await ends(later.id, nine + 3 * days);
    await ends(soon.id, nine + 1);
    await ends(far.id, nine + 3 * days + 1);
    await ends(gone.id, nine);
    const look = (limit: number) => world.store.tellGrantsEnding({ now: nine, limit });
    expect([await look(1), await look(5), await look(5)]).toEqual([
      { taken: 1, more: true },
      { taken: 2 - 1, more: false },
      { taken: 0, more: false },
    ]);
    const told = await world.query(`select task_id from deliveries where kind = 'notice' order by id`);
    expect(new Set(told.map(({ task_id }) => task_id))).toEqual(new Set([soon.id, later.id]));
  });

  test('grants are listed by the chat whose budget they spend, which is their own', async () => {
    const { world, task } = await withTask(open, { home: threadOf('-100') });
    const { id, account } = await grantOf(world, task.id);
    expect(account).toEqual(threadOf('-100'));
    expect(await ids(world, { account: threadOf('-100') })).toEqual([id]);
    expect(await ids(world, { account: threadOf('-404') })).toEqual([]);
  });
}

function giveTests(open: OpenWorld): void {
  test('a fresh grant takes the place of one that still held, and the same key gives no second one', async () => {
    const world = await open();
    const { rooms, create } = engineOn(world);
    const task = await create();
    const old = await grantOf(world, task.id);
    const wish = { scopes: ['action:*'], expiresAt: null };
    const first = await rooms.tasks.grant(target(task, 'k'), wish);
    const again = await rooms.tasks.grant(target(task, 'k'), wish);
    expect(again.grant).toEqual(first.grant);
    expect([again.replayed, await ids(world)]).toEqual([true, [first.grant.id, old.id]]);
    expect(await world.store.readGrant(old.id)).toMatchObject({ revokedBy: actor });
  });

  test('whoever is out of the chat gives no right there, and what is revoked by hand outlives the return', async () => {
    const world = await open();
    const { rooms } = engineOn(world);
    const task = await aTask(world, { home: threadOf('-100'), actor: someone, ownerIfNone: someone });
    const { id: chatId } = await aChat(world);
    const note = (status: 'out' | 'member', checkedAt: number) =>
      world.store.noteMember({ chatId, userId: someone, status, checkedAt });
    const { id } = await grantOf(world, task.id);
    await note('out', nine);
    const leaver = { ...target(task), actor: someone } as const;
    await expect(rooms.tasks.grant(leaver, { scopes: null, expiresAt: null })).rejects.toMatchObject({
      code: 'task_not_found',
    });
    expect(await ids(world)).toEqual([id]);
    await note('member', nine + 1);
    expect(await grantOf(world, task.id)).toMatchObject({ revokedBy: null });

    await note('out', nine + 2);
    expect((await rooms.tasks.revoke(id, by)).entryId).not.toBeNull();
    await note('member', nine + 3);
    expect(await grantOf(world, task.id)).toMatchObject({ revokedAt: nine + 2, revokedBy: actor });
  });
}

function giveByTests(open: OpenWorld): void {
  const api = 'api:token:default';
  const wish = { scopes: null, expiresAt: null };

  test('a person gives of their own right and owns the task then; a program leaves it to its owner', async () => {
    const world = await open();
    const { rooms, create } = engineOn(world);
    const task = await create();
    expect((await rooms.tasks.grant({ ...target(task), actor: api }, wish)).grant.ownerId).toBe(actor);
    expect((await rooms.tasks.grant({ ...target(task), actor: someone }, wish)).grant.ownerId).toBe(someone);
    expect((await rooms.tasks.get(task.id)).ownerId).toBe(someone);
  });

  test('for an owner who is out whoever approved the chat stands in, and the API where they are out as well', async () => {
    const world = await open();
    const { rooms, create } = engineOn(world);
    const task = await create({}, { threadKey: 'telegram:chat:-100', actor: someone });
    const { chatId } = task;
    await world.store.changeChat(chatId, { approvedBy: owner }, nine);
    const out = (userId: typeof owner | typeof someone) =>
      world.store.noteMember({ chatId, userId, status: 'out', checkedAt: nine });
    await out(someone);
    const given = async () => (await rooms.tasks.grant({ ...target(task), actor: api }, wish)).grant.ownerId;
    expect(await given()).toBe(owner);
    await out(owner);
    expect(await given()).toBe('system:api');
  });

  test('a right that another one replaced is lost anew, and told anew', async () => {
    const world = await open();
    const { rooms, create, pass, time } = engineOn(world);
    const task = await create({}, { threadKey: 'telegram:chat:-100', actor: someone });
    for (let turn = 1; turn <= 2; turn += 1) {
      await rooms.tasks.grant(target(task), { scopes: null, expiresAt: time.now() + minute });
      await pass(2 * hour);
    }
    expect(await world.query(`select kind from deliveries where kind = 'notice'`)).toHaveLength(2);
  });
}

function followTests(open: OpenWorld): void {
  test('what was revoked before a deletion, or in the course of it, is not given back', async () => {
    const world = await open();
    const { rooms, create } = engineOn(world);
    const [before, meanwhile] = [await create(), await create()];
    await rooms.tasks.revoke((await grantOf(world, before.id)).id, by);
    for (const task of [before, meanwhile]) await rooms.tasks.delete(target(task));
    await rooms.tasks.revoke((await grantOf(world, meanwhile.id)).id, by);
    for (const task of [before, meanwhile]) await rooms.tasks.restore(target(task));
    for (const task of [before, meanwhile]) expect((await grantOf(world, task.id)).revokedBy).toBe(actor);
  });

  test('an owner who leaves or comes back while the task is deleted finds the right that fits', async () => {
    const world = await open();
    const { rooms } = engineOn(world);
    const mine = { home: threadOf('-100'), actor: someone, ownerIfNone: someone } as const;
    const [leaver, comer] = [await aTask(world, mine), await aTask(world, { ...mine, home: threadOf('-5') })];
    const note = (chatId: string, status: 'out' | 'member', checkedAt: number) =>
      world.store.noteMember({ chatId, userId: someone, status, checkedAt });
    await note(comer.chatId, 'out', nine);
    for (const task of [leaver, comer]) await rooms.tasks.delete(target(task));
    await note(leaver.chatId, 'out', nine + 1);
    await note(comer.chatId, 'member', nine + 1);
    const states = async () => [
      (await grantOf(world, leaver.id)).revokedBy,
      (await grantOf(world, comer.id)).revokedBy,
    ];
    expect(await states()).toEqual(['system:deleted', 'system:deleted']);
    for (const task of [leaver, comer]) await rooms.tasks.restore(target(task));
    expect(await states()).toEqual(['system:left', null]);
    await note(leaver.chatId, 'member', nine + 2);
    expect(await states()).toEqual([null, null]);
  });
}
