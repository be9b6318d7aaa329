import { expect, test } from 'vitest';
import type { Claimable } from '../../../src/app/ports/processes.ts';
import { bootId, minute, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { claimParts, nextPart, show, withReadyTask, withRunningTask } from '../scenes.ts';

const long = 3_600_000;
const over = -1;

const enrol = (
  { store }: World,
  id: string,
  {
    leaseMs = long,
    alone = false,
    role = 'worker',
    kinds = ['message', 'http'],
  }: { leaseMs?: number; alone?: boolean; role?: 'worker' | 'api'; kinds?: string[] } = {},
) => store.enrol({ id, role, release: '1', kinds, host: 'garden', pid: 7, connections: 12, at: null, leaseMs }, alone);

const idsOf = async ({ store }: World, since: number | null = null) =>
  (await store.listProcesses(since)).map(({ id, endedAt }) => (endedAt === null ? id : `${id} ended`));

/** Leases, by the clock of the database, and what becomes of the rows of a process that is gone. */
export function processTests(open: OpenWorld): void {
  test('a process is known from its start to its end, with what it does', async () => {
    const world = await open();
    const before = await world.store.databaseTime();
    const { at, heldSince, isAnyGone } = await enrol(world, 'boot-a');
    expect(at).toBeGreaterThanOrEqual(before);
    expect([heldSince, isAnyGone]).toEqual([at, false]);
    expect(await world.store.listProcesses(null)).toEqual([
      {
        id: 'boot-a',
        role: 'worker',
        release: '1',
        kinds: ['message', 'http'],
        host: 'garden',
        pid: 7,
        startedAt: at,
        seenAt: at,
        leaseUntil: at + long,
        endedAt: null,
        connections: 12,
      },
    ]);
    await world.store.retire('boot-a', null);
    expect(await idsOf(world)).toEqual([]);
    expect(await idsOf(world, 0)).toEqual(['boot-a ended']);
    expect(await idsOf(world, at + long)).toEqual([]);
  });

  test('it is known when a process that works was last seen', async () => {
    const world = await open();
    await enrol(world, 'boot-0', { role: 'api' });
    expect(await world.store.lastWorker()).toBeNull();
    const { at } = await enrol(world, 'boot-a');
    expect(await world.store.lastWorker()).toEqual({ seenAt: at, agoMs: 0 });
    await world.store.retire('boot-a', at - 61_000);
    const last = await world.store.lastWorker();
    expect(last?.seenAt).toBe(at - 61_000);
    expect(last?.agoMs).toBeGreaterThanOrEqual(61_000);
  });

  test('the worker that has held its lease for the longest time is the keeper, until it is gone', async () => {
    const world = await open();
    expect(await enrol(world, 'boot-0', { role: 'api' })).toMatchObject({ isKeeper: false });
    expect(await enrol(world, 'boot-a')).toMatchObject({ isKeeper: true });
    const later = await enrol(world, 'boot-b');
    expect(later).toMatchObject({ isKeeper: false });
    expect(await world.store.renewLease('boot-b', long, false)).toMatchObject({ isKeeper: false });
    await world.store.renewLease('boot-a', over, false);
    // Until it has been ended, it may come back.
    expect(await world.store.renewLease('boot-b', long, false)).toMatchObject({ isKeeper: false });
    await world.store.rescueLeft('boot-b');
    expect(await world.store.renewLease('boot-b', long, false)).toMatchObject({ isKeeper: true });
    // It was away, so it comes last, unless all of this was done within a millisecond.
    while ((await world.store.databaseTime()) <= later.at);
    expect(await world.store.renewLease('boot-a', long, false)).toMatchObject({ isKeeper: false });
    await world.store.retire('boot-b', null);
    expect(await world.store.renewLease('boot-a', long, false)).toMatchObject({ isKeeper: true });
  });

  test('what a process holds whose lease is over is let go, once, and what others hold is left alone', async () => {
    const { world, started } = await withRunningTask(open);
    await enrol(world, bootId);
    await enrol(world, 'boot-b');
    expect(await world.store.renewLease('boot-b', long, false)).toMatchObject({ isAnyGone: false });
    expect(await world.store.rescueLeft('boot-b')).toEqual({ ended: [], runs: 0, parts: 0 });
    expect(await startEvery(world, nine, 'boot-b')).toEqual([]);

    await world.store.renewLease(bootId, over, false);
    expect(await world.store.renewLease('boot-b', long, false)).toMatchObject({ isAnyGone: true });
    expect(await world.store.rescueLeft('boot-b')).toEqual({ ended: [bootId], runs: 1, parts: 0 });
    expect(await world.store.rescueLeft('boot-b')).toEqual({ ended: [], runs: 0, parts: 0 });
    expect(await world.store.renewLease('boot-b', long, false)).toMatchObject({ isAnyGone: false });
    expect(await world.store.nextRunAt(nine)).toBe(nine);
    expect(await startEvery(world, nine + minute, 'boot-b')).toMatchObject([
      { run: { id: started.run.id, interruptions: 1 }, attempt: 2, fence: 2 },
    ]);
  });

  test('a part that a process was sending whose lease is over is in doubt', async () => {
    const { world, task } = await withReadyTask(open);
    for (const boot of ['boot-a', 'boot-b']) await enrol(world, boot);
    await show(world, task, [world.make.part()]);
    const part = await nextPart(world, { boot: 'boot-a' });
    expect(await claimParts(world, { now: nine + minute })).toEqual([]);
    expect(await world.query(`select status from deliveries where id = ?t`, part.id)).toEqual([{ status: 'sending' }]);

    await world.store.renewLease('boot-a', over, false);
    expect(await world.store.rescueLeft('boot-b')).toEqual({ ended: ['boot-a'], runs: 0, parts: 1 });
    expect(await claimParts(world, { now: nine + minute })).toEqual([]);
    expect(await world.query(`select status from deliveries where id = ?t`, part.id)).toEqual([{ status: 'unknown' }]);
  });

  test('a process that begins ends a lease that is over, unless all are, because then the database may have been away', async () => {
    const { world, started } = await withRunningTask(open);
    await enrol(world, bootId, { leaseMs: over });
    expect(await enrol(world, 'boot-b')).toMatchObject({ isAnyGone: true });
    // Processes that begin within one millisecond stand in the order of their ids.
    expect((await idsOf(world, 0)).toSorted()).toEqual(['boot-b', bootId].toSorted());
    expect(await startEvery(world, nine, 'boot-b')).toEqual([]);
    expect(await enrol(world, 'boot-c')).toMatchObject({ isAnyGone: false });
    expect((await idsOf(world, 0)).toSorted()).toEqual(['boot-b', 'boot-c', `${bootId} ended`].toSorted());
    expect(await startEvery(world, nine, 'boot-c')).toMatchObject([{ run: { id: started.run.id }, attempt: 2 }]);
  });

  test('a process that was ended while it stood still comes back under its id, and knows it', async () => {
    const world = await open();
    const { heldSince } = await enrol(world, 'boot-a');
    await enrol(world, 'boot-b');
    const renewed = await world.store.renewLease('boot-a', over, false);
    expect(renewed?.heldSince).toBe(heldSince);
    await world.store.rescueLeft('boot-b');
    expect(await idsOf(world, 0)).toEqual(['boot-a ended', 'boot-b']);

    const back = await world.store.renewLease('boot-a', long, false);
    expect(back?.heldSince).toBeGreaterThanOrEqual(renewed?.at ?? 0);
    expect(await idsOf(world, 0)).toEqual(['boot-a', 'boot-b']);
    expect(await world.store.renewLease('boot-a', long, false)).toMatchObject({ heldSince: back?.heldSince });
    expect(await world.store.renewLease('nobody', long, false)).toBeNull();
  });

  test('a process that stood still and claims before it knows loses that to the next one as well', async () => {
    const { world, started } = await withRunningTask(open);
    for (const boot of [bootId, 'boot-b']) await enrol(world, boot, { leaseMs: boot === bootId ? over : long });
    await world.store.rescueLeft('boot-b');
    // Its claim commits after its end.
    expect(await startEvery(world, nine, bootId)).toMatchObject([{ run: { id: started.run.id }, attempt: 2 }]);
    expect(await world.store.renewLease('boot-b', long, false)).toMatchObject({ isAnyGone: true });
    expect(await world.store.rescueLeft('boot-b')).toEqual({ ended: [], runs: 1, parts: 0 });
  });

  test('a process that has the database for itself takes over all that others have left', async () => {
    const { world, started } = await withRunningTask(open);
    await enrol(world, 'boot-b');
    expect(await startEvery(world, nine, 'boot-c')).toMatchObject([{ run: { id: started.run.id } }]);
    expect(await enrol(world, 'boot-d', { alone: true })).toMatchObject({ isKeeper: true, isAnyGone: false });
    expect(await idsOf(world, 0)).toEqual(['boot-b ended', 'boot-d']);
    expect(await startEvery(world, nine, 'boot-d')).toMatchObject([{ attempt: 3 }]);
  });

  test('what a process still holds when it ends well is free at once', async () => {
    const { world, started } = await withRunningTask(open);
    await enrol(world, bootId);
    await world.store.retire(bootId, nine);
    expect(await world.store.listProcesses(0)).toMatchObject([{ id: bootId, endedAt: nine, seenAt: nine }]);
    expect(await startEvery(world, nine, 'boot-b')).toMatchObject([{ run: { id: started.run.id }, attempt: 2 }]);
  });

  test('a process takes up kinds that it does, and of others only those that nobody does any more', async () => {
    const world = await open();
    await enrol(world, bootId);
    await enrol(world, 'boot-new', { kinds: ['message', 'flow'] });
    const kindOf = new Map<string, string>();
    for (const kind of ['message', 'http', 'flow', 'gone']) {
      const { runId } = await world.store.addRun(world.make.newRun());
      await world.query('update runs set action_kind = ?t where id = ?t', kind, runId);
      kindOf.set(runId, kind);
    }
    const claim = async (claimable: Claimable) => {
      const taken: string[] = [];
      await world.store.startRuns({ now: nine + minute, limit: 9, claimable }, bootId, (runs) => {
        taken.push(...runs.map(({ id }) => kindOf.get(id) ?? ''));
        return [];
      });
      return taken.toSorted();
    };
    const own = ['message', 'http'];
    expect(await claim({ own: null, never: [] })).toEqual(['flow', 'gone', 'http', 'message']);
    expect(await claim({ own, never: [] })).toEqual(['gone', 'http', 'message']);
    expect(await claim({ own: ['http'], never: ['message'] })).toEqual(['gone', 'http']);

    await startEvery(world, nine + minute);
    await world.store.letRunsGo(bootId, []);
    expect(await claim({ own: ['http'], never: ['message'] })).toEqual(['gone', 'http']);
    const now = nine + minute;
    expect(await world.store.nextRunAt(now, { own: ['http'], never: ['message', 'gone', 'http'] })).toBeNull();
    expect(await world.store.nextRunAt(now, { own: ['http'], never: [] })).toBe(now);
    await world.store.retire('boot-new', null);
    expect(await claim({ own, never: [] })).toEqual(['flow', 'gone', 'http', 'message']);
  });
}
