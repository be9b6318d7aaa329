import { expect, test } from 'vitest';
import { aRunningTask, aTask, bootId, endOf, minute, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { claimParts, nextPart, putOff, show, withRunningTask, withTask, withReadyTask } from '../scenes.ts';

/** Claims that nobody holds, or that become sends later, and the way on for them. */
export function lostClaimTests(open: OpenWorld): void {
  test('a run that is let go is taken up like one of a process that is gone', async () => {
    const { world, started } = await withRunningTask(open);
    const { started: other } = await aRunningTask(world);
    expect(await startEvery(world, nine)).toEqual([]);

    expect(await world.store.letRunsGo('another-boot', [])).toBe(0);
    expect(await world.store.letRunsGo(bootId, [other.run.id])).toBe(1);
    expect(await world.store.letRunsGo(bootId, [other.run.id])).toBe(0);
    expect(await startEvery(world, nine + minute)).toMatchObject([
      { run: { id: started.run.id, interruptions: 1 }, attempt: 2, fence: 2 },
    ]);
    expect((await world.store.readRun(started.run.id))?.attempts).toMatchObject([
      { attempt: 1, status: 'interrupted' },
      { attempt: 2, status: 'running' },
    ]);
  });

  test('a run that has ended is not let go, and one that was let go ends no more', async () => {
    const world = await open();
    const [{ started }, { started: lost }] = [await aRunningTask(world), await aRunningTask(world)];
    await world.store.finishRuns([endOf(started)]);
    expect(await world.store.letRunsGo(bootId, [])).toBe(1);
    await startEvery(world, nine + minute);

    expect(await world.store.finishRuns([endOf(lost)])).toMatchObject({ written: 0 });
    expect((await world.store.readRun(started.run.id))?.status).toBe('succeeded');
  });

  test('a part that is let go is settled by evidence like one of a process that is gone', async () => {
    const { world, task } = await withReadyTask(open);
    await show(world, task, [world.make.part()]);
    const [part] = await claimParts(world);
    expect(await world.store.letPartsGo(bootId, [part?.id ?? ''])).toBe(0);

    expect(await world.store.letPartsGo(bootId, [])).toBe(1);
    expect(await claimParts(world, { now: nine + 2 * minute })).toEqual([]);
    expect(await claimParts(world, { now: nine + 3 * minute })).toMatchObject([{ id: part?.id, status: 'unknown' }]);
  });

  test('the part that waited for its topic leaves with it, and only as long as it waits', async () => {
    const { world, task } = await withTask(open);
    const [first, second] = [world.make.part(), world.make.part()];
    for (const part of [first, second]) await show(world, task, [part]);
    const [part] = await claimParts(world);
    const { id = '', fence = 0 } = part ?? {};
    await world.store.beginTopic({ taskId: task.id, name: task.title }, bootId, nine);
    const ready = { taskId: task.id, state: 'ready', id: 77, cardId: 'c', remadeId: 'r', at: nine } as const;
    const row = () =>
      world.query(`select status, sends, put_offs, sent_at from deliveries where id = ?t`, id).then(([found]) => found);
    expect(await world.store.endTopic({ ...ready, first: { id, fence: fence + 1 } })).toBe(false);
    expect(await row()).toMatchObject({ status: 'pending', sends: 0 });
    expect(await world.store.endTopic({ ...ready, first: { id, fence } })).toBe(true);
    expect(await row()).toMatchObject({ status: 'sending', sends: 1, sent_at: nine });

    await world.query(`update deliveries set status = 'failed' where id = ?t`, id);
    expect(await world.store.endTopic({ ...ready, first: { id, fence } })).toBe(false);
    expect(await row()).toMatchObject({ status: 'failed' });
  });

  test('a part that waited for its topic in vain has used up no send', async () => {
    const world = await open();
    await show(world, await aTask(world), [world.make.part()]);
    const part = await nextPart(world);
    await world.store.endParts([putOff(part)], nine);
    expect(await world.query(`select status, sends, put_offs from deliveries`)).toEqual([
      { status: 'pending', sends: 0, put_offs: 0 },
    ]);
  });
}
