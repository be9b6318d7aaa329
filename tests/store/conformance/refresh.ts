import { expect, test } from 'vitest';
import type { Task } from '../../../src/domain/task.ts';
import { hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { engineOn, failing, target, type Engine } from './verbs.ts';

const daily = { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' } as const;
const atNine = { kind: 'once', once_at: new Date(nine).toISOString(), timezone: 'UTC' } as const;
const policies = { refresh_after: 'PT2H' } as const;

/** A task that has succeeded at nine, two hours later. */
async function grownOld(engine: Engine, input: Parameters<Engine['create']>[0] = {}): Promise<Task> {
  const task = await engine.create({ schedule: daily, ...input, policies: { ...policies, ...input.policies } });
  await engine.pass(30 * minute);
  await engine.time.advance(2 * hour);
  return task;
}

/** Results that are kept fresh by the policy `refresh_after`. */
export function refreshTests(open: OpenWorld): void {
  test('a result that has grown too old gets one run beside the schedule, behind all tasks', async () => {
    const world = await open();
    const engine = engineOn(world);
    const { rooms, settle, story, time, pass } = engine;
    const refresh = () => rooms.scheduler.refresh(time.now(), 100);
    const task = await engine.create({ schedule: daily, policies: { ...policies, priority: 1, max_runs: 5 } });
    await pass(30 * minute);
    expect(await world.store.readTask(task.id)).toMatchObject({ staleAt: nine + 2 * hour });
    await time.advance(2 * hour - 1);
    expect(await refresh()).toEqual({ taken: 0, more: false, decided: [] });
    await time.advance(1);
    expect(await refresh()).toMatchObject({ taken: 1, more: false });
    expect(await refresh()).toMatchObject({ taken: 0 });
    expect(await world.query('select rank from runs order by id')).toEqual([{ rank: 9 }, { rank: 10 }]);
    await settle();
    expect(await refresh()).toMatchObject({ taken: 0 });
    expect(await story(task)).toEqual(['0 succeeded', '120 stale_refresh succeeded']);
    expect(await world.store.readTask(task.id)).toMatchObject({
      nextAt: nine + 24 * hour,
      staleAt: nine + 4 * hour,
      counters: { runs: 2, boundedRuns: 1 },
    });
  });

  test('a result is tried for again until one succeeds, and no limit keeps a task from running for it', async () => {
    const world = await open();
    const engine = engineOn(world);
    const task = await grownOld(engine);
    await engine.rooms.tasks.edit(target(task), { action: failing });
    for (let hours = 0; hours < 2; hours += 1) {
      await engine.rooms.scheduler.refresh(engine.time.now(), 100);
      await engine.pass(hour);
    }
    expect(await engine.story(task)).toEqual(['0 succeeded', '120 stale_refresh failed', '180 stale_refresh failed']);
    expect(await world.store.readTask(task.id)).toMatchObject({ staleAt: nine + 2 * hour });
  });

  test.each<[string, (engine: Engine) => Promise<unknown>]>([
    ['is paused', async (engine) => engine.rooms.tasks.pause(target(await grownOld(engine)), null)],
    ['is deleted', async (engine) => engine.rooms.tasks.delete(target(await grownOld(engine)))],
    ['has a run', async (engine) => engine.rooms.tasks.runNow(target(await grownOld(engine)))],
    [
      'has another run beside it',
      async (engine) => engine.rooms.tasks.runNow(target(await grownOld(engine, { policies: { overlap: 'allow' } }))),
    ],
    [
      'has a run that waits',
      async (engine) => {
        const task = await grownOld(engine, { policies: { overlap: 'queue' } });
        for (let runs = 0; runs < 2; runs += 1) await engine.rooms.tasks.runNow(target(task));
      },
    ],
    [
      'is due',
      async (engine) => {
        await grownOld(engine, { schedule: { ...daily, cron: '0 * * * *' }, policies: { refresh_after: 'PT1H' } });
      },
    ],
    ['has never succeeded', async (engine) => grownOld(engine, { action: failing })],
    [
      'runs once',
      async (engine) => {
        const task = await grownOld(engine, { schedule: atNine });
        const later = { ...atNine, once_at: new Date(nine + 9 * hour).toISOString() };
        await engine.rooms.tasks.edit(target(task), { schedule: later });
      },
    ],
    [
      'has lost its right to run',
      async (engine) => {
        const { id: taskId } = await grownOld(engine);
        const all = { thread: null, ownerId: null, state: null, limit: 9, cursor: null };
        const [grant] = (await engine.rooms.tasks.listGrants({ ...all, taskId })).items;
        await engine.rooms.tasks.revoke(grant?.id ?? '', target({ id: taskId }));
      },
    ],
    [
      'has no such policy',
      async (engine) => engine.rooms.tasks.edit(target(await grownOld(engine)), { policies: { refresh_after: null } }),
    ],
  ])('a task that %s gets none', async (_why, given) => {
    const world = await open();
    const engine = engineOn(world);
    await given(engine);
    await engine.rooms.scheduler.refresh(engine.time.now(), 100);
    expect(await world.query(`select id from occurrences where source = 'stale_refresh'`)).toEqual([]);
  });

  test('a row that cannot be read is set aside, and the others get their runs', async () => {
    const world = await open();
    const engine = engineOn(world);
    const [bad, good] = [await engine.create({ schedule: daily, policies }), await grownOld(engine)];
    await world.query(`update tasks set cron = 'broken', policies = '{' where id = ?t`, bad.id);
    expect(await engine.rooms.scheduler.refresh(engine.time.now(), 100)).toMatchObject({ taken: 2, more: false });
    await engine.settle();
    expect(await engine.story(good)).toEqual(['0 succeeded', '120 stale_refresh succeeded']);
    expect(await world.store.readTask(bad.id)).toMatchObject({ state: 'paused' });
  });
}
