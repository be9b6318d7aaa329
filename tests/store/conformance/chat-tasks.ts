import { expect, test } from 'vitest';
import type { ChatTasksQuery } from '../../../src/app/chat-store.ts';
import { aTask, hour, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { owner, someone, threadOf } from './chat-builders.ts';
import { aReadyTask } from './outbox.ts';

const everything = { filter: 'all', ownerId: null, text: null, offset: 0, limit: 20 } as const;

/** Tasks as a chat sees them. */
export function chatTaskTests(open: OpenWorld): void {
  const list = async ({ store }: World, query: Partial<ChatTasksQuery> & { readonly chatId: string }) => {
    const { tasks, total } = await store.chatTasks({ ...everything, ...query });
    return [tasks.map(({ number }) => number), total];
  };

  test('a task is found by its number, in its own chat alone', async () => {
    const world = await open();
    const task = await aTask(world);
    const other = await aTask(world, { home: threadOf('-5') });

    expect(await world.store.taskByNumber(task.chatId, 1)).toMatchObject({ id: task.id });
    expect(await world.store.taskByNumber(other.chatId, 1)).toMatchObject({ id: other.id });
    expect(await world.store.taskByNumber(task.chatId, 2)).toBeNull();
  });

  test('a task is found by its own topic, also when it was deleted', async () => {
    const world = await open();
    const task = await aReadyTask(world);
    expect(await world.store.taskByTopic(task.chatId, 77)).toMatchObject({ id: task.id });
    await world.query(`update tasks set state = 'deleted', next_at = null`);

    expect(await world.store.taskByTopic(task.chatId, 77)).toMatchObject({ id: task.id, state: 'deleted' });
    expect(await world.store.taskByTopic(task.chatId, 78)).toBeNull();
    expect(await world.store.taskByTopic('another', 77)).toBeNull();
  });

  test('a list has what fails first, then what is next, in pages with a total', async () => {
    const world = await open();
    const { chatId } = await aTask(world, { nextAt: nine + 2 * hour });
    await aTask(world, { nextAt: nine + hour });
    const ids = [await aTask(world), await aTask(world), await aTask(world), await aTask(world)].map(({ id }) => id);
    await aTask(world, { home: threadOf('-5') });
    const set = (index: number, sets: string) =>
      world.query(`update tasks set ${sets} where id = ?t`, ids[index] ?? '');
    await set(0, `state = 'paused', next_at = null, paused_reason = 'auto:consecutive_failures'`);
    await set(1, `state = 'paused', next_at = null, paused_reason = 'manual'`);
    await set(2, `consecutive_failures = 2, next_at = ${nine + 9 * hour}`);
    await set(3, `state = 'deleted', next_at = null`);

    expect(await list(world, { chatId })).toEqual([[5, 3, 2, 1, 4], 5]);
    expect(await list(world, { chatId, offset: 1, limit: 2 })).toEqual([[3, 2], 5]);
    expect(await list(world, { chatId, filter: 'failing' })).toEqual([[5, 3], 2]);
    expect(await list(world, { chatId, filter: 'active' })).toEqual([[5, 2, 1], 3]);
    expect(await list(world, { chatId, filter: 'paused' })).toEqual([[3, 4], 2]);
    expect(await list(world, { chatId, filter: 'completed' })).toEqual([[], 0]);
    expect(await list(world, { chatId: 'no such chat' })).toEqual([[], 0]);
  });

  test('a list can be of one owner, or of what holds a text as it stands', async () => {
    const world = await open();
    const { chatId } = await aTask(world, { title: 'Water at 100%' });
    await aTask(world, { instructions: 'Pay the RENT', ownerIfNone: someone, actor: someone });

    expect(await list(world, { chatId, ownerId: owner })).toEqual([[1], 1]);
    expect(await list(world, { chatId, ownerId: someone })).toEqual([[2], 1]);
    expect(await list(world, { chatId, text: 'rent' })).toEqual([[2], 1]);
    expect(await list(world, { chatId, text: '100%' })).toEqual([[1], 1]);
    expect(await list(world, { chatId, text: '1_0' })).toEqual([[], 0]);
  });
}
