import { expect, test } from 'vitest';
import type { Chat, NewMessage } from '../../../src/app/ports/chats.ts';
import { aRunningTask, aTask, endOf, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, aMessage, claimParts, outbox, owner, someone, threadOf, change, withTask } from '../scenes.ts';

const [group, supergroup] = ['-100', '-1001'];

function inChat(address: string) {
  return { home: threadOf(address) };
}

/** Chats, and what is known of them. */
export function chatTests(open: OpenWorld): void {
  test('a chat is made when it is first seen, and its title and kind are kept up to date', async () => {
    const world = await open();
    expect(await world.store.findChat(group)).toBeNull();
    const made = await aChat(world);
    expect(made).toEqual({
      id: made.id,
      address: group,
      title: 'Garden',
      kind: 'group',
      state: 'new',
      timezone: null,
      settings: {},
      approvedBy: null,
    });
    const note = { newId: 'unused', address: group, kind: 'supergroup', at: nine };
    expect(await world.store.noteChat({ ...note, title: null })).toEqual({ ...made, kind: 'supergroup' });
    expect(await world.store.noteChat({ ...note, title: 'Balcony' })).toEqual({
      ...made,
      kind: 'supergroup',
      title: 'Balcony',
    });
    expect(await world.store.findChat(group)).toMatchObject({ id: made.id, title: 'Balcony' });
  });

  test('what is changed of a chat is changed, and nothing else', async () => {
    const world = await open();
    const chat = await aChat(world);
    await world.store.changeChat(
      chat.id,
      { state: 'approved', approvedBy: owner, settings: { create: 'admins' } },
      nine,
    );
    await world.store.changeChat(chat.id, { timezone: 'Europe/Madrid' }, nine);

    const expected = {
      ...chat,
      state: 'approved',
      approvedBy: owner,
      settings: { create: 'admins' },
      timezone: 'Europe/Madrid',
    };
    expect(await world.store.findChat(group)).toEqual(expected);
    await world.store.changeChat(chat.id, { timezone: null, approvedBy: null }, nine);
    expect(await world.store.findChat(group)).toEqual({ ...expected, timezone: null, approvedBy: null });
  });

  test('settings that cannot be read are none', async () => {
    const world = await open();
    await aChat(world);
    await world.query(`update chats set settings = '{"a":'`);

    expect(await world.store.findChat(group)).toMatchObject({ settings: {} });
  });
}

/** A group that becomes a supergroup. */
export function moveTests(open: OpenWorld): void {
  const move = ({ store }: World, from = group, to = supergroup) => store.moveChat(from, to, nine);

  test('everything of a chat that moves belongs to the new address, and the old one still finds it', async () => {
    const { world, task } = await withTask(open);
    await world.store.addMessages([aMessage(world)], nine);
    await move(world);
    await move(world);

    expect(await world.store.findChat(group)).toMatchObject({ id: task.chatId, address: supergroup });
    expect(await world.store.findChat(supergroup)).toMatchObject({ id: task.chatId });
    expect(await world.store.readTask(task.id)).toMatchObject({ home: threadOf(supergroup) });
    expect(await claimParts(world, { now: nine })).toMatchObject([{ route: { address: supergroup } }]);
    expect((await aTask(world, inChat(group))).number).toBe(2);
    expect((await aTask(world, inChat(supergroup))).number).toBe(3);
  });

  test('a move that is told again after the next one takes nothing back', async () => {
    const world = await open();
    const { id } = await aChat(world);
    await move(world);
    await move(world, supergroup, '-1002');
    await move(world);

    for (const address of [group, supergroup, '-1002']) {
      expect(await world.store.findChat(address)).toMatchObject({ id, address: '-1002' });
    }
  });

  test('an update of an old address does not change what the chat is called by now', async () => {
    const world = await open();
    await aChat(world);
    await move(world);
    await world.store.noteChat({ newId: 'x', address: supergroup, title: 'Garden', kind: 'supergroup', at: nine });
    await world.store.noteChat({ newId: 'x', address: group, title: 'Old', kind: 'group', at: nine });

    expect(await world.store.findChat(group)).toMatchObject({ title: 'Garden', kind: 'supergroup' });
  });

  test('a chat that is known by its new address alone is found by the old one', async () => {
    const world = await open();
    const { id } = await aChat(world, supergroup);
    await move(world);
    await move(world, '-7', '-8');

    expect(await world.store.findChat(group)).toMatchObject({ id, address: supergroup });
    expect(await world.store.findChat('-7')).toBeNull();
  });

  test('two rows of one chat become one: the old numbers stay, and the others follow them', async () => {
    const world = await open();
    const old = [await aTask(world), await aTask(world)];
    const young = [await aTask(world, inChat(supergroup)), await aTask(world, inChat(supergroup))];
    const chat = await aChat(world, supergroup);
    await world.store.changeChat(chat.id, { state: 'approved', approvedBy: owner, timezone: 'Asia/Tokyo' }, nine);
    await world.store.addMessages([aMessage(world, { thread: threadOf(supergroup) })], nine);
    await move(world);
    await move(world);

    const tasks = await Promise.all([...old, ...young].map(({ id }) => world.store.readTask(id)));
    expect(tasks.map((task) => task?.number)).toEqual([1, 2, 3, 4]);
    expect(new Set(tasks.map((task) => task?.chatId))).toEqual(new Set([old[0]?.chatId]));
    expect(await world.store.findChat(supergroup)).toMatchObject({
      id: old[0]?.chatId,
      address: supergroup,
      state: 'approved',
      approvedBy: owner,
      timezone: 'Asia/Tokyo',
    });
    expect(await claimParts(world, { now: nine })).toMatchObject([{ chatId: old[0]?.chatId, kind: 'answer' }]);
    expect((await aTask(world, inChat(supergroup))).number).toBe(5);
    expect(await world.query('select id from chats')).toHaveLength(1);
    expect(await world.query('select distinct chat_id from grants')).toHaveLength(1);
  });

  test('what the merging knows of people and words is the latest of both', async () => {
    const world = await open();
    const task = await aTask(world, { ownerIfNone: someone, actor: someone });
    const young = await aChat(world, supergroup);
    await world.store.noteMember({ chatId: task.chatId, userId: someone, status: 'out', checkedAt: nine });
    await world.store.noteMember({ chatId: young.id, userId: someone, status: 'member', checkedAt: nine + 1 });
    await world.store.tellOnce('a', aMessage(world, { thread: threadOf(supergroup) }), nine);
    await world.store.writeHold(young.id, nine + hour, nine);
    await world.store.writeHold(task.chatId, nine + minute, nine);
    await move(world);

    expect(await world.store.readMember(task.chatId, someone)).toMatchObject({ status: 'member' });
    expect(await world.query('select revoked_by from grants')).toEqual([{ revoked_by: null }]);
    expect(await world.store.tellOnce('a', aMessage(world), nine)).toBe(false);
    expect(await world.store.readHolds(nine)).toEqual([{ chatId: task.chatId, until: nine + hour }]);
  });

  test('what a run brings back that was under way while its chat was merged goes to the chat that is left', async () => {
    const world = await open();
    await aChat(world);
    const { task, started } = await aRunningTask(world, inChat(supergroup));
    await move(world);
    await world.store.finishRuns([endOf(started, { deliveries: [world.make.part()] })]);

    const chat = await world.store.findChat(group);
    expect(await claimParts(world)).toMatchObject([
      { taskId: task.id, chatId: chat?.id, route: { address: supergroup }, topic: { state: 'none' } },
    ]);
  });
}

/** Chats that can be reached no more. */
export function goneTests(open: OpenWorld): void {
  const word = (world: World) => (to: Chat, gone: Chat, paused: number) =>
    aMessage(world, {
      kind: 'notice',
      thread: threadOf(to.address),
      shown: { view: 'chatGone', title: gone.title ?? '', paused, cause: 'kicked' },
    });
  const gone = (
    world: World,
    chatId: string,
    wordTo: (to: Chat, gone: Chat, paused: number) => NewMessage = word(world),
  ) => world.store.chatGone({ chatId, cause: 'kicked', at: nine + minute, wordTo });
  const back = (world: World, chatId: string) =>
    world.store.chatBack({
      chatId,
      at: nine + hour,
      word: ({ address }, paused) =>
        aMessage(world, { thread: threadOf(address), shown: { text: `${paused} paused` } }),
    });

  test('the tasks of a chat that is gone are paused with their due slots accounted for, and the owners are told once', async () => {
    const world = await open();
    const [due, other] = [await aTask(world), await aTask(world, inChat('-5'))];
    await aChat(world, due.home.address);
    await world.store.changeUser(owner, { role: 'owner' }, nine);
    await world.store.changeUser(someone, { role: 'owner' }, nine);
    await aChat(world, '7');
    await world.store.addMessages([aMessage(world, { thread: threadOf(group) })], nine);

    expect(await gone(world, due.chatId)).toBe(1);
    expect(await gone(world, due.chatId)).toBeNull();
    expect(await world.store.readTask(due.id)).toMatchObject({
      state: 'paused',
      pausedReason: 'chat_gone',
      paused: { at: nine + minute, by: 'system' },
    });
    expect(await world.store.readTask(other.id)).toMatchObject({ state: 'active' });
    expect(await world.store.findChat(group)).toMatchObject({ state: 'gone' });
    expect(await world.query('select task_id, from_at from gaps')).toEqual([{ task_id: due.id, from_at: nine }]);
    expect(await world.query(`select actor, after from audit where verb = 'pause'`)).toEqual([
      { actor: 'system', after: '{"reason":"chat_gone"}' },
    ]);
    // The private chat of the second owner is not known, so nothing can be said there.
    expect(await claimParts(world, { now: nine + minute, busy: new Set([due.chatId]) })).toMatchObject([
      { route: { address: '7' }, shown: { view: 'chatGone', title: 'Garden', paused: 1 } },
    ]);
    expect(await outbox(world, 'status', `chat_id = '${due.chatId}'`)).toEqual([{ status: 'pending' }]);
  });

  test('a chat that is back has the state from before, and its tasks wait for a person', async () => {
    const world = await open();
    const task = await aTask(world);
    await world.store.changeChat(task.chatId, { state: 'approved' }, nine);
    expect(await back(world, task.chatId)).toBeNull();
    await gone(world, task.chatId);

    expect(await back(world, task.chatId)).toBe(1);
    expect(await back(world, task.chatId)).toBeNull();
    expect(await world.store.findChat(group)).toMatchObject({ state: 'approved' });
    expect(await world.store.readTask(task.id)).toMatchObject({ state: 'paused', pausedReason: 'chat_gone' });
    expect(await outbox(world, 'content')).toEqual([{ content: '{"text":"1 paused"}' }]);
  });

  test('a state that is set while the chat is gone holds', async () => {
    const world = await open();
    const chat = await aChat(world);
    await gone(world, chat.id);
    await world.store.changeChat(chat.id, { state: 'refused' }, nine);

    expect(await back(world, chat.id)).toBeNull();
    expect(await world.store.findChat(group)).toMatchObject({ state: 'refused' });
  });

  test('tasks that were paused before stay paused for their own reason', async () => {
    const { world, task } = await withTask(open);
    const pause = { state: 'paused', nextAt: null, pausedReason: 'manual' } as const;
    await change(world, task, { set: pause, stamp: 'paused' });

    expect(await gone(world, task.chatId)).toBe(0);
    expect(await world.store.readTask(task.id)).toMatchObject({ pausedReason: 'manual' });
  });
}
