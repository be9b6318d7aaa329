import { expect, test } from 'vitest';
import { aRunningTask, bootId, endOf, minute, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { aReadyTask, claimParts, show } from './outbox.ts';

/** Claims that nobody holds, and the way on for them. */
export function lostClaimTests(open: OpenWorld): void {
  test('a run that is let go is taken up like one of a process that is gone', async () => {
    const world = await open();
    const { started } = await aRunningTask(world);
    const claimed = await world.store.claimedRuns({ bootId, after: '', limit: 10 });
    expect(claimed).toEqual([{ id: started.run.id, fence: 1 }]);
    expect(await startEvery(world, nine)).toEqual([]);

    expect(await world.store.letRunsGo(bootId, claimed)).toBe(1);
    expect(await world.store.claimedRuns({ bootId, after: '', limit: 10 })).toEqual([]);
    expect(await startEvery(world, nine + minute)).toMatchObject([
      { run: { id: started.run.id, interruptions: 1 }, attempt: 2, fence: 2 },
    ]);
    expect((await world.store.readRun(started.run.id))?.attempts).toMatchObject([
      { attempt: 1, status: 'interrupted' },
      { attempt: 2, status: 'running' },
    ]);
  });

  test('claims are read page by page, so that none of many is left out', async () => {
    const world = await open();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push((await aRunningTask(world)).started.run.id);
    const pages: string[][] = [];
    for (let after: string | undefined = ''; after !== undefined; after = pages.at(-1)?.at(-1))
      pages.push((await world.store.claimedRuns({ bootId, after, limit: 2 })).map(({ id }) => id));

    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4), []]);
  });

  test('a run that has ended, or was claimed again, is not let go', async () => {
    const world = await open();
    const { started } = await aRunningTask(world);
    const { id } = started.run;
    expect(await world.store.letRunsGo(bootId, [{ id, fence: 2 }])).toBe(0);
    expect(await world.store.letRunsGo('another-boot', [{ id, fence: 1 }])).toBe(0);
    await world.store.finishRuns([endOf(started)]);

    expect(await world.store.letRunsGo(bootId, [{ id, fence: 1 }])).toBe(0);
    expect((await world.store.readRun(id))?.status).toBe('succeeded');
  });

  test('a part that is let go is settled by evidence like one of a process that is gone', async () => {
    const world = await open();
    const task = await aReadyTask(world);
    await show(world, task, [world.make.part()]);
    const [part] = await claimParts(world);
    const claimed = await world.store.claimedParts({ bootId, after: '', limit: 10 });
    expect(claimed).toEqual([{ id: part?.id, fence: 1 }]);
    expect(await world.store.letPartsGo(bootId, [{ id: part?.id ?? '', fence: 7 }])).toBe(0);

    expect(await world.store.letPartsGo(bootId, claimed)).toBe(1);
    expect(await claimParts(world, { now: nine + 2 * minute })).toEqual([]);
    expect(await claimParts(world, { now: nine + 3 * minute })).toMatchObject([{ id: part?.id, status: 'unknown' }]);
  });
}
