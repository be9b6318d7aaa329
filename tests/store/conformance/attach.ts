import { expect, test } from 'vitest';
import { noChange } from '../../../src/app/ports/tasks.ts';
import type { Task } from '../../../src/domain/task.ts';
import { aTask, bootId, claimAll, hour, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { atOnce, codes, won } from '../at-once.ts';
import { aChat, aReadyTask, claimParts, owner, show, someone, threadOf } from '../scenes.ts';
import { actor, engineOn, target } from './verbs.ts';

const api = 'api:token:default';
const key = (address: string, topic?: number) =>
  `telegram:chat:${address}${topic === undefined ? '' : `:topic:${topic}`}`;

async function grantOf(world: World, { id }: Pick<Task, 'id'>) {
  const page = await world.store.listGrants({
    thread: null,
    ownerId: null,
    taskId: id,
    state: null,
    now: nine,
    limit: 10,
    cursor: null,
  });
  const [grant] = page.items;
  if (grant === undefined) throw new Error('the task has no grant');
  return grant;
}

/** A chat that somebody has approved. */
async function approved(world: World, address = '-100', by: typeof owner | typeof someone = owner) {
  const chat = await aChat(world, address);
  await world.store.noteUser({ id: by, name: null }, nine);
  await world.store.changeChat(chat.id, { state: 'approved', approvedBy: by }, nine);
  return chat;
}

const chatless = { home: { provider: 'cli', address: 'default', topic: null }, owner: null } as const;
const byApi = { ...chatless, actor: api, ownerIfNone: 'system:api' } as const;

/** A task gets a chat. */
export function attachTests(open: OpenWorld): void {
  test('a task without a chat gets chat, number, owner and grant there, and its history stays', async () => {
    const world = await open();
    const { rooms, settle } = engineOn(world);
    const chat = await approved(world);
    await aTask(world, { home: threadOf('-100') });
    const task = await aTask(world, byApi);
    await rooms.tasks.runNow(target(task));
    await settle();
    const old = await grantOf(world, task);

    const { task: moved, entryId } = await rooms.tasks.attach({ taskId: task.id, actor: api }, key('-100', 7));

    expect(moved).toMatchObject({
      chatId: chat.id,
      number: 2,
      ownerId: owner,
      home: { provider: 'telegram', address: '-100', topic: 7 },
      topicState: 'none',
      state: 'active',
      nextAt: task.nextAt,
      version: task.version + 1,
    });
    const fresh = await grantOf(world, task);
    expect(fresh).toMatchObject({ taskIds: [task.id], ownerId: owner, scopes: old.scopes, revokedAt: null });
    expect(fresh.thread.address).toBe('-100');
    expect(await world.store.readGrant(old.id)).toMatchObject({ taskIds: [], revokedBy: api });
    expect((await rooms.tasks.listRuns({ taskId: task.id, status: null, limit: 9, cursor: null })).items).toHaveLength(
      1,
    );
    const [entry] = await world.query<{ before: string; after: string }>(
      `select before, after from audit where verb = 'attach' and id = ${entryId ?? 0}`,
    );
    expect(JSON.parse(entry?.before ?? '')).toMatchObject({ thread_key: 'cli:default', number: 1 });
    expect(JSON.parse(entry?.after ?? '')).toMatchObject({
      thread_key: key('-100', 7),
      number: 2,
      owner_user_key: owner,
    });
    expect(await world.query(`select ref from events where kind = 'task.attach'`)).toEqual([{ ref: entryId }]);
  });

  test('to where it is already nothing changes; within its chat only the thread does', async () => {
    const world = await open();
    const { rooms } = engineOn(world);
    const task = await aTask(world, { home: threadOf('-100') });
    const attach = async (to: string) => rooms.tasks.attach(target(task), to);
    expect((await attach(key('-100'))).entryId).toBeNull();
    await rooms.tasks.runNow(target(task));
    const { task: moved, entryId } = await attach(key('-100', 3));
    expect(moved).toMatchObject({ number: task.number, ownerId: task.ownerId, home: { topic: 3 } });
    expect(entryId).not.toBeNull();
    expect((await attach(key('-100', 3))).entryId).toBeNull();
  });

  test('the slot that is due runs in the new place', async () => {
    const world = await open();
    const { rooms, time, settle } = engineOn(world);
    await approved(world);
    const task = await aTask(world, byApi);
    await time.advance(31 * 60_000);
    await rooms.tasks.attach(target(task), key('-100'));
    await settle();
    expect(await world.query(`select count(*) as parts from deliveries where task_id = ?t`, task.id)).toEqual([
      { parts: 1 },
    ]);
  });

  refusedTests(open);
  rightTests(open);
}

function refusedTests(open: OpenWorld): void {
  test('a live run, a topic and an open part keep it where it is', async () => {
    const world = await open();
    const { rooms } = engineOn(world);
    const attach = (task: Task) => rooms.tasks.attach(target(task), key('-200'));
    const running = await aTask(world);
    await claimAll(world, { now: nine, limit: 10 });
    await expect(attach(running)).rejects.toMatchObject({ code: 'run_in_progress' });

    const placed = await aTask(world, { nextAt: nine + hour });
    await world.query(`update tasks set topic_state = 'ready', topic_id = 5 where id = ?t`, placed.id);
    await expect(attach(placed)).rejects.toMatchObject({ code: 'not_attachable', message: /topic delete/ });
    await world.query(`update tasks set topic_state = 'creating', topic_id = null where id = ?t`, placed.id);
    await expect(attach(placed)).rejects.toMatchObject({ code: 'not_attachable', message: /being made/ });
    await world.query(`update tasks set topic_state = 'none' where id = ?t`, placed.id);
    await world.query(
      `insert into deliveries (id, task_id, chat_id, lane, rank, kind, part, status, content, unknown_policy, fence, sends,
         put_offs, settles, created_at) values ('d', ?t, ?t, ?t, 1, 'result', 1, 'pending', '{}', 'resend', 0, 0, 0, 0, 0)`,
      placed.id,
      placed.chatId,
      `task:${placed.id}`,
    );
    await expect(attach(placed)).rejects.toMatchObject({ code: 'not_attachable', message: /delivered/ });
    await world.query(`update deliveries set lane = ?t, kind = 'card'`, `card:${placed.id}`);
    expect((await attach(placed)).task.home.address).toBe('-200');
    expect(await world.query('select status from deliveries')).toEqual([{ status: 'failed' }]);
  });

  test('out of a chat that can be reached no more it moves with its topic left behind, and nothing waits for it there', async () => {
    const world = await open();
    const { rooms } = engineOn(world);
    const task = await aTask(world);
    await world.query(
      `update tasks set topic_state = 'ready', topic_id = 5, card_message_id = 9 where id = ?t`,
      task.id,
    );
    await world.query(`update chats set state = 'gone', state_before = 'approved' where id = ?t`, task.chatId);
    await world.query(
      `insert into deliveries (id, task_id, chat_id, lane, rank, kind, part, status, content, unknown_policy, fence, sends,
         put_offs, settles, created_at) values ('d', ?t, ?t, ?t, 1, 'result', 1, 'blocked', '{}', 'resend', 0, 0, 0, 0, 0)`,
      task.id,
      task.chatId,
      `task:${task.id}`,
    );
    await world.query(
      `insert into acks (occurrence_id, task_id, chat_id, status, nag_limit, nags, created_at, updated_at)
       values ('o', ?t, ?t, 'open', 3, 0, 0, 0)`,
      task.id,
      task.chatId,
    );
    const { task: moved } = await rooms.tasks.attach(target(task), key('-200'));
    expect(moved).toMatchObject({ topicState: 'none', topicId: null, home: { address: '-200' } });
    expect(await world.query('select status, error from deliveries')).toEqual([
      { status: 'failed', error: 'the task has moved to another chat' },
    ]);
    expect(await world.query('select status from acks')).toEqual([{ status: 'dropped' }]);
  });

  test('what was in doubt in the chat that its task left, and did not arrive, is not sent there any more', async () => {
    const world = await open();
    const { rooms } = engineOn(world);
    const task = await aReadyTask(world);
    await show(world, task, [world.make.part()]);
    const sent = (await claimParts(world)).map(({ id }) => id);
    await world.query(`update chats set state = 'gone', state_before = 'approved' where id = ?t`, task.chatId);
    await rooms.tasks.attach(target(task), key('-200'));
    await world.store.letPartsGo(bootId, []);
    await claimParts(world, { boot: 'boot-after' });
    const looked = await claimParts(world, { boot: 'boot-after', now: nine + hour });
    expect(looked).toMatchObject(sent.map((id) => ({ id, status: 'unknown' })));
    const absent = { status: 'pending', unsent: false, inDoubt: false, afterMs: 0, error: '', evidence: null } as const;
    const ends = looked.map(({ id, fence, taskId }) => ({ id, fence, taskId, ...absent }));
    expect(await world.store.endParts(ends, nine + hour)).toBe(1);
    expect(await claimParts(world, { now: nine + hour })).toEqual([]);
    expect(await world.query('select status, error from deliveries')).toEqual([
      { status: 'failed', error: 'the task has moved to another chat' },
    ]);
    expect(await world.query(`select ref from events where kind = 'delivery.failed'`)).toEqual([{ ref: sent[0] }]);
  });

  test('20 tasks that move into a chat with room for 3 at once fill it exactly', async () => {
    const world = await open();
    const chat = await approved(world);
    const tasks: Task[] = [];
    for (let made = 0; made < 20; made += 1) tasks.push(await aTask(world, { ...byApi, nextAt: nine + hour }));
    const request = { actor: api, at: nine, once: null, quota: { chat: 3, user: 100 } } as const;
    const results = await atOnce(world, 20, (store, index) => {
      const taskId = tasks[index]?.id ?? '';
      const move = {
        home: threadOf('-100'),
        newChatId: `c${index}`,
        grantId: `g${index}`,
        standIn: 'system:api',
      } as const;
      return store.changeTask({ ...request, taskId }, () => ({ ...unchanged, move }));
    });
    expect(won(results)).toHaveLength(3);
    expect(new Set(codes(results))).toEqual(new Set(['quota_exceeded']));
    const placed = await world.query(`select number from tasks where chat_id = ?t order by number`, chat.id);
    expect(placed).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
  });
}

function rightTests(open: OpenWorld): void {
  test('what was revoked stays so; what was lost by leaving is judged by the new chat', async () => {
    const world = await open();
    const { rooms } = engineOn(world);
    await approved(world, '-200');
    const mine = { actor: someone, ownerIfNone: someone, home: threadOf('-100') } as const;
    const [byHand, byLeaving, gone] = [await aTask(world, mine), await aTask(world, mine), await aTask(world, mine)];
    await rooms.tasks.revoke((await grantOf(world, byHand)).id, { actor });
    await world.store.noteMember({ chatId: byHand.chatId, userId: someone, status: 'out', checkedAt: nine });
    for (const task of [byHand, byLeaving]) await rooms.tasks.attach(target(task), key('-200'));
    expect(await grantOf(world, byHand)).toMatchObject({ revokedBy: actor });
    expect(await grantOf(world, byLeaving)).toMatchObject({ revokedBy: null });

    const { id: chatId } = await aChat(world, '-200');
    await world.store.noteMember({ chatId, userId: someone, status: 'out', checkedAt: nine });
    await rooms.tasks.attach(target(gone), key('-200'));
    expect(await grantOf(world, gone)).toMatchObject({ revokedBy: 'system:left' });
  });
}

const unchanged = { ...noChange, stamp: 'updated' } as const;
