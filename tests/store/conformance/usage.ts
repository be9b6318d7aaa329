import { expect, test } from 'vitest';
import type { UsageQuery } from '../../../src/app/operations/status.ts';
import { aRunningTask, aTask, endOf, failureOf, hour, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { aMessage, owner, someone, threadOf, withRunningTask } from '../scenes.ts';

const all: UsageQuery = { thread: null, ownerId: null, from: nine, to: nine + hour };
const none = { runs: 0, failures: 0, messages: 0, isCapped: false, spent: [] };

/** What was used, of whom, and when. */
export function usageTests(open: OpenWorld): void {
  test('runs, failures, messages and what was spent are told of a chat, a topic, a person and everybody', async () => {
    const world = await open();
    const { task, started } = await aRunningTask(world, { home: threadOf('-100', 7) });
    await world.store.finishRuns([endOf(started, { usage: [{ kind: 'requests', quantity: 3 }] })]);
    const other = await aRunningTask(world, { home: threadOf('-5'), ownerIfNone: someone, actor: someone });
    await world.store.finishRuns([failureOf(other.started)]);
    await world.store.addMessages([aMessage(world)], nine);
    await world.query(
      `update deliveries set status = 'delivered', sent_at = ${nine}, delivered_at = ${nine}, message_id = 5
       where kind = 'answer'`,
    );
    const spent = [{ kind: 'requests', quantity: 3, currency: null }];
    const brought = await world.store.broughtBack(started.run.id);
    expect(brought).toEqual({ chatId: task.chatId, output: null, usage: spent });
    expect(await world.store.broughtBack('nothing')).toBeNull();
    expect(await world.store.usageOf(all)).toEqual({ ...none, runs: 2, failures: 1, messages: 1, spent });
    const inChat = { ...all, thread: threadOf('-100') };
    expect(await world.store.usageOf(inChat)).toEqual({ ...none, runs: 1, messages: 1, spent });
    expect(await world.store.usageOf({ ...all, thread: threadOf('-100', 7) })).toEqual({ ...none, runs: 1, spent });
    expect(await world.store.usageOf({ ...all, thread: threadOf('-100', 8) })).toEqual(none);
    expect(await world.store.usageOf({ ...all, ownerId: someone })).toEqual({ ...none, runs: 1, failures: 1 });
    expect(await world.store.usageOf({ ...inChat, ownerId: someone })).toEqual(none);
    expect(await world.store.usageOf({ ...inChat, to: nine })).toEqual(none);
    expect(await world.store.usageOf({ ...inChat, from: nine + 1 })).toEqual(none);
  });

  test('a quota counts what can still run: of a chat whoever made it, of a person what they made', async () => {
    const world = await open();
    await aTask(world, { home: threadOf('-100') });
    await aTask(world, { home: threadOf('-100'), actor: 'api:token:default' });
    const over = await aTask(world, { home: threadOf('-100') });
    await world.query(`update tasks set state = 'completed', next_at = null where id = ?t`, over.id);
    const place = { thread: threadOf('-100'), ownerId: owner } as const;
    expect(await world.store.countQuota(place)).toEqual({ chat: 2, user: 1 });
    expect(await world.store.countQuota({ thread: null, ownerId: null })).toEqual({ chat: null, user: null });
    expect(await world.store.countQuota({ thread: threadOf('-404'), ownerId: someone })).toEqual({ chat: 0, user: 0 });
  });

  test('tasks at work are those with a live run that nobody has called off', async () => {
    const { world, task } = await withRunningTask(open);
    const idle = await aTask(world, { nextAt: nine + hour });
    const found = () => world.store.tasksAtWork([task.id, idle.id]);
    expect(await found()).toEqual(new Set([task.id]));
    await world.query(`update runs set cancel_requested_at = 1`);
    expect(await found()).toEqual(new Set());
    expect(await world.store.tasksAtWork([])).toEqual(new Set());
  });
}
