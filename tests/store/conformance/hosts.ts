import { expect, test } from 'vitest';
import type { PlaceAsked, PlaceLeft } from '../../../src/app/ports/outbound.ts';
import type { StartPlan, StartedRun } from '../../../src/app/ports/pipeline.ts';
import { keptMs } from '../../../src/domain/outbound/hosts.ts';
import { aProcess, endOf, hour, minute, nine, runInput } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';

const host = 'api.example.com';
const rules = { concurrency: 2, perSecond: 10 };

/** Two processes, and runs that want to call one host. */
async function together(open: OpenWorld, ...runIds: string[]) {
  const world = await open();
  for (const id of ['boot-a', 'boot-b']) await world.store.enrol({ id, ...aProcess }, false);
  for (const id of runIds) await add(world, id);
  return world;
}

async function add({ store, make }: World, id: string): Promise<void> {
  const input = { ...runInput, action: { kind: 'http' } };
  await store.addRun(make.newRun({ id, input }));
}

function placeOf(runId: string, more: Partial<PlaceAsked> = {}): PlaceAsked {
  return { is: 'asked', host, turn: `task of ${runId}`, rules, ...more };
}

async function start({ store }: World, bootId: string, runIds: readonly string[], now = nine): Promise<StartedRun[]> {
  const { started } = await store.startRuns({ now, limit: 10, only: runIds }, bootId, (runs) =>
    runs.map(({ id }): StartPlan => ({ runId: id, does: 'start', interrupted: false, place: placeOf(id) })),
  );
  return [...started];
}

const ids = (started: readonly StartedRun[]) => started.map(({ run }) => run.id);

function left({ run, fence }: StartedRun, more: Partial<PlaceLeft> = {}): PlaceLeft {
  return { host, runId: run.id, fence, end: 'good', heldUntil: 0, ...more };
}

/** Places at hosts that several processes share. */
export function hostTests(open: OpenWorld): void {
  test('a host gives no more places than it has, whoever asks, and what waits is told why', async () => {
    const world = await together(open, 'a', 'b', 'c');
    expect(await start(world, 'boot-a', ['a'])).toMatchObject([{ placeAt: host, fence: 1 }]);
    expect(ids(await start(world, 'boot-b', ['b', 'c']))).toEqual(['b']);
    expect(await world.store.readRun('c')).toMatchObject({
      status: 'backoff',
      error: 'api.example.com is busy: 2 calls at once are the most',
      attempts: [],
    });
    expect(await world.store.nextRunAt(nine)).toBe(nine + 30_000);
  });

  test('an end that one process tells wakes the run that another has put off, and keeps a place for it', async () => {
    const world = await together(open, 'a', 'b', 'c', 'd');
    const [a] = await start(world, 'boot-a', ['a', 'b']);
    await start(world, 'boot-b', ['c', 'd']);
    if (a === undefined) throw new Error('nothing was started');
    expect(await world.store.leaveHosts([left(a)], [], { now: nine + 50, rules })).toEqual({
      woken: 1,
      next: [{ host, at: nine + 50 + keptMs }],
    });
    expect(ids(await start(world, 'boot-a', ['d'], nine + 60))).toEqual([]);
    expect(ids(await start(world, 'boot-b', ['c'], nine + 60))).toEqual(['c']);
  });

  test('a place that is kept for a run which does not take it is another one’s a while later', async () => {
    const world = await together(open, 'a', 'b', 'c', 'd');
    const [a] = await start(world, 'boot-a', ['a', 'b']);
    await start(world, 'boot-b', ['c', 'd']);
    if (a === undefined) throw new Error('nothing was started');
    await world.store.leaveHosts([left(a)], [], { now: nine, rules });
    expect(await world.store.leaveHosts([], [host], { now: nine + keptMs - 1, rules })).toMatchObject({ woken: 0 });
    expect(await world.store.leaveHosts([], [host], { now: nine + keptMs, rules })).toMatchObject({ woken: 1 });
    expect(ids(await start(world, 'boot-b', ['d'], nine + keptMs))).toEqual(['d']);
  });

  test('a run that was called off while it waited has no turn', async () => {
    const world = await together(open, 'a', 'b', 'c', 'd');
    const [a] = await start(world, 'boot-a', ['a', 'b']);
    await start(world, 'boot-b', ['c', 'd']);
    if (a === undefined) throw new Error('nothing was started');
    await world.store.cancelRun({ runId: 'c', actor: 'system:api', at: nine });
    expect(await world.store.leaveHosts([left(a)], [], { now: nine, rules })).toMatchObject({ woken: 1 });
    expect(ids(await start(world, 'boot-b', ['d'], nine + 1))).toEqual(['d']);
  });

  test('places of a process that is gone are free, and what it tells later gives nothing back', async () => {
    const world = await together(open, 'a', 'b', 'c', 'd');
    const [a, b] = await start(world, 'boot-a', ['a', 'b']);
    await start(world, 'boot-b', ['c', 'd']);
    if (a === undefined || b === undefined) throw new Error('nothing was started');
    expect(await world.store.hostsLeft()).toEqual([]);
    await world.store.retire('boot-a', nine + 1);
    expect(await world.store.hostsLeft()).toEqual([host]);
    expect(await world.store.leaveHosts([], [host], { now: nine + 2, rules })).toMatchObject({ woken: 2 });
    const taken = await start(world, 'boot-b', ['c', 'd'], nine + 3);
    expect(ids(taken)).toEqual(['c', 'd']);
    await add(world, 'e');
    const late = [left(a, { end: 'bad', heldUntil: nine + hour }), left(b)];
    expect(await world.store.leaveHosts(late, [], { now: nine + 4, rules })).toMatchObject({ woken: 0 });
    expect(ids(await start(world, 'boot-b', ['e'], nine + 5))).toEqual([]);
    expect(await world.store.readRun('e')).toMatchObject({ error: expect.stringContaining('is busy') as string });
  });

  test('a run that is taken over has its place anew, and the attempt before it gives that back no more', async () => {
    const world = await together(open, 'a', 'b');
    const [first] = await start(world, 'boot-a', ['a']);
    if (first === undefined) throw new Error('nothing was started');
    await world.store.letRunsGo('boot-a', []);
    const { started } = await world.store.startRuns({ now: nine + 1, limit: 1 }, 'boot-b', () => [
      { runId: 'a', does: 'start', interrupted: true, place: placeOf('a', { rules: { ...rules, concurrency: 1 } }) },
    ]);
    expect(started).toMatchObject([{ fence: 2, placeAt: host }]);
    await world.store.leaveHosts([left(first)], [], { now: nine + 2, rules });
    const one = { concurrency: 1, perSecond: 10 };
    const entering = { host, runId: 'b', turn: 'b', fence: 1, bootId: 'boot-b', rules: one, isLast: true };
    expect(await world.store.enterHost(entering, nine + 3)).toEqual({ is: 'held', because: 'busy', until: null });
  });

  test('a run that has ended holds its place until its end is told, and once it is told no longer', async () => {
    const world = await together(open, 'a', 'b', 'c');
    const [a] = await start(world, 'boot-a', ['a', 'b']);
    if (a === undefined) throw new Error('nothing was started');
    await world.store.finishRuns([endOf(a)]);
    expect(ids(await start(world, 'boot-b', ['c']))).toEqual([]);
    expect(await world.store.leaveHosts([left(a)], [], { now: nine, rules })).toMatchObject({ woken: 1 });
    expect(ids(await start(world, 'boot-b', ['c']))).toEqual(['c']);
  });

  test('what nobody needs to know of a host any more is forgotten', async () => {
    const world = await together(open, 'a');
    const [a] = await start(world, 'boot-a', ['a']);
    if (a === undefined) throw new Error('nothing was started');
    const known = () => world.query('select host from hosts union all select host from host_calls');
    await world.store.dropExpired({ now: nine + minute, limit: 10 });
    expect(await known()).toHaveLength(2);
    await world.store.leaveHosts([left(a)], [], { now: nine, rules });
    await world.store.dropExpired({ now: nine + minute - 1, limit: 10 });
    expect(await known()).toHaveLength(1);
    await world.store.dropExpired({ now: nine + minute, limit: 10 });
    expect(await known()).toEqual([]);
  });
}
