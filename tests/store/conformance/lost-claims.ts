import { expect, test } from 'vitest';
import { aRunningTask, bootId, endOf, minute, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { aReadyTask, claimParts, show } from './outbox.ts';

/** Claims that nobody holds, and the way on for them. */
export function lostClaimTests(open: OpenWorld): void {
  test('a run that is let go is taken up like one of a process that is gone', async () => {
    const world = await open();
    const { started } = await aRunningTask(world);
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
    const world = await open();
    const task = await aReadyTask(world);
    await show(world, task, [world.make.part()]);
    const [part] = await claimParts(world);
    expect(await world.store.letPartsGo(bootId, [part?.id ?? ''])).toBe(0);

    expect(await world.store.letPartsGo(bootId, [])).toBe(1);
    expect(await claimParts(world, { now: nine + 2 * minute })).toEqual([]);
    expect(await claimParts(world, { now: nine + 3 * minute })).toMatchObject([{ id: part?.id, status: 'unknown' }]);
  });
}
