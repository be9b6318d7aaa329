import { expect, test } from 'vitest';
import { threadLane } from '../../../src/domain/run.ts';
import { aTask, claimAll, minute, nine, runInput, startEvery } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, owner, threadOf } from '../scenes.ts';

const group = threadOf('-100');
const cancel = { actor: 'api:token:default', at: nine + minute, traceId: 'trace-1' } as const;

async function aMessageRun({ store, make }: World, chatId: string, topic: number | null = null) {
  const input = { ...runInput, message: { topic, mode: 'normal' as const } };
  return (await store.addRun(make.newRun({ chatId, lane: threadLane(chatId, topic), input }))).runId;
}

/** A task in the base thread, one that was asked for in a topic, and a message in each of both. */
async function aBusyChat(world: World) {
  const base = await aTask(world);
  const there = await aTask(world, { home: threadOf('-100', 7) });
  await claimAll(world, { now: nine, limit: 100 });
  const runOf = async (taskId: string) =>
    (await world.query<{ id: string }>('select id from runs where task_id = ?t', taskId))[0]?.id ?? '';
  return {
    base: { task: base, run: await runOf(base.id), message: await aMessageRun(world, base.chatId) },
    topic: { task: there, run: await runOf(there.id), message: await aMessageRun(world, base.chatId, 7) },
  };
}

/** Threads into which something is said, and what they have under way. */
export function threadRunTests(open: OpenWorld): void {
  test.each([['refused'], ['gone']] as const)('a chat that is %s is no thread', async (state) => {
    const world = await open();
    const { id } = await aChat(world);
    await world.store.changeChat(id, { state }, nine);

    expect(await world.store.openThread(group, 'unused', nine)).toBeNull();
  });

  test('a chat that was approved is one in each of its topics, and belongs to whoever let us in', async () => {
    const world = await open();
    const { id } = await aChat(world);
    await world.store.changeChat(id, { state: 'approved', approvedBy: owner }, nine);

    for (const topic of [null, 7]) {
      expect(await world.store.openThread(threadOf('-100', topic), 'unused', nine)).toEqual({
        chatId: id,
        approvedBy: owner,
      });
    }
  });

  test('a base thread has under way whatever its chat has, and a topic what belongs to it', async () => {
    const world = await open();
    const { base, topic } = await aBusyChat(world);
    const elsewhere = await aChat(world, '-200');
    await aMessageRun(world, elsewhere.id);
    const live = async (thread = group) => (await world.store.liveRunsOf(thread, 100)).toSorted();

    expect(await live()).toEqual([base.run, topic.run, base.message, topic.message].toSorted());
    expect(await live(threadOf('-100', 7))).toEqual([topic.run, topic.message].toSorted());
    expect(await live(threadOf('-100', 9))).toEqual([]);
    expect(await live(threadOf('-300'))).toEqual([]);
    expect(await world.store.liveRunsOf(group, 1)).toHaveLength(1);
    await world.query('update tasks set topic_id = 9 where id = ?t', base.task.id);
    expect(await live(threadOf('-100', 9))).toEqual([base.run]);
  });

  test('runs are called off together, each once, and those of tasks with a row in the audit', async () => {
    const world = await open();
    const { base, topic } = await aBusyChat(world);
    await startEvery(world, nine);
    const waiting = await aMessageRun(world, base.task.chatId);
    const runIds = [base.run, topic.message, waiting];

    expect(await world.store.cancelRuns({ ...cancel, runIds })).toBe(3);
    expect(await world.store.cancelRuns({ ...cancel, runIds })).toBe(0);
    expect(await world.store.readRun(waiting)).toMatchObject({ status: 'cancelled', finishedAt: nine + minute });
    expect((await world.store.cancelRequested('boot-here')).toSorted()).toEqual([base.run, topic.message].toSorted());
    expect((await world.store.liveRunsOf(group, 100)).toSorted()).toEqual([topic.run, base.message].toSorted());
    expect(await world.query(`select actor, task_id, after, trace_id from audit where verb = 'cancel'`)).toEqual([
      { actor: cancel.actor, task_id: base.task.id, after: JSON.stringify({ run_id: base.run }), trace_id: 'trace-1' },
    ]);
    expect(await world.store.cancelRuns({ ...cancel, runIds: ['none'] })).toBe(0);
    expect(await world.store.cancelRuns({ ...cancel, runIds: [] })).toBe(0);
  });
}
