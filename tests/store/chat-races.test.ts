import { describe, expect, test } from 'vitest';
import { noChange } from '../../src/app/ports/tasks.ts';
import { aTask, hour, nine } from '../support/builders.ts';
import { worldsOf, type OpenWorld } from '../support/store-worlds.ts';
import { atOnce, codes, numbers, opened, together, won } from './at-once.ts';
import type { Engine } from './conformance/verbs.ts';
import { aChat, aMessage, outbox, owner, threadOf, withTask } from './scenes.ts';

const [group, supergroup] = ['-100', '-1001'];

function chatRaceTests(open: OpenWorld): void {
  test('an update that several finish at once is done once, with one answer', async () => {
    const world = await open();
    await aChat(world);
    await world.store.receiveUpdates([{ id: 1, payload: '{}', address: null, messageId: null, lane: null }], nine);
    const results = await atOnce(world, 20, (store) =>
      store.endUpdate({ id: 1, status: 'done', error: null, messages: [aMessage(world)], draft: null, at: nine }),
    );

    expect(codes(results)).toEqual([]);
    expect(won(results).filter(Boolean)).toHaveLength(1);
    expect(await outbox(world, 'id')).toHaveLength(1);
  });

  test('updates that come over several connections are stored once', async () => {
    const world = await open();
    const results = await atOnce(world, 12, (store, index) =>
      store.receiveUpdates(
        numbers(20).map((number) => ({
          id: index * 5 + number,
          payload: '{}',
          address: null,
          messageId: null,
          lane: null,
        })),
        nine,
      ),
    );

    expect(codes(results)).toEqual([]);
    expect(won(results).reduce((sum, count) => sum + count, 0)).toBe(75);
    expect(await world.store.openUpdates(-1, 100)).toHaveLength(75);
  });

  test('words that several say at once are said once', async () => {
    const world = await open();
    const results = await atOnce(world, 20, (store) => store.tellOnce({ word: 'not_pinned' }, aMessage(world), nine));

    expect(codes(results)).toEqual([]);
    expect(won(results).filter(Boolean)).toHaveLength(1);
    expect(await outbox(world, 'id')).toHaveLength(1);
    expect(await world.query('select id from chats')).toHaveLength(1);
  });

  test('a chat that several are told about at once is made once, and is gone once', async () => {
    const world = await open();
    await world.store.changeUser(owner, { role: 'owner' }, nine);
    await aChat(world, '7');
    const made = await atOnce(world, 20, (store) => aChat({ ...world, store }));
    expect(codes(made)).toEqual([]);
    expect(new Set(won(made).map(({ id }) => id)).size).toBe(1);
    const { chatId } = await aTask(world);
    const wordTo = () => aMessage(world, { kind: 'notice', thread: threadOf('7') });
    const gone = await atOnce(world, 12, (store) => store.chatGone({ chatId, cause: 'kicked', at: nine, wordTo }));

    expect(codes(gone)).toEqual([]);
    expect(won(gone).filter((paused) => paused !== null)).toEqual([1]);
    expect(await outbox(world, 'id')).toHaveLength(1);
  });

  test('a chat that moves while tasks are made under both of its addresses is one chat with numbers of its own', async () => {
    const { world, task: first } = await withTask(open);
    const results = await atOnce(world, 24, async (store, index) => {
      if (index % 6 === 3) return store.moveChat(group, supergroup, nine);
      const home = threadOf(index % 2 === 0 ? group : supergroup);
      return void (await store.createTask(world.make.newTask({ home }), () => noChange));
    });

    expect(codes(results)).toEqual([]);
    const tasks = await world.query<{ chat_id: string; number: number }>('select chat_id, number from tasks');
    expect(new Set(tasks.map(({ chat_id }) => chat_id))).toEqual(new Set([first.chatId]));
    expect(tasks.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
      numbers(21).map((number) => number + 1),
    );
    expect(await world.query('select address, last_number from chats')).toEqual([
      { address: supergroup, last_number: 21 },
    ]);
  });

  test('somebody who leaves and comes back at once ends with the grants of the last word', async () => {
    const world = await open();
    const { chatId } = await aTask(world);
    const results = await atOnce(world, 20, (store, index) =>
      store.noteMember({
        chatId,
        userId: owner,
        status: index % 2 === 0 ? 'out' : 'member',
        checkedAt: nine + index,
      }),
    );

    expect(codes(results)).toEqual([]);
    expect(await world.store.readMember(chatId, owner)).toMatchObject({
      status: 'member',
      checkedAt: nine + 19,
    });
    expect(await world.query('select revoked_by from grants')).toEqual([{ revoked_by: null }]);
  });

  test('an owner who comes back while their tasks are being paused for that leaves none of them waiting', async () => {
    const { world, engines, first } = await opened(open);
    const { create, time, settle } = first;
    const tasks = [];
    for (const _ of numbers(6)) tasks.push(await create({}, { threadKey: 'telegram:chat:-100', actor: owner }));
    const chatId = tasks[0]?.chatId ?? '';
    const note = async (status: 'out' | 'member') =>
      void (await world.another().noteMember({ chatId, userId: owner, status, checkedAt: time.now() }));
    for (let round = 0; round < 8; round += 1) {
      await note('out');
      await time.advance(hour);
      const step = async ({ rooms }: Engine) => void (await rooms.scheduler.step(time.now(), 2));
      const { codes: refused } = await together(engines, [step, step, step, () => note('member'), step, step]);
      expect(refused).toEqual([]);
      await settle();
      expect(await world.query(`select id from tasks where state <> 'active'`)).toEqual([]);
    }
  });
}

describe('on SQLite', () => {
  chatRaceTests(worldsOf('sqlite'));
});

describe('on Postgres', () => {
  chatRaceTests(worldsOf('postgres'));
});
