import { expect, test } from 'vitest';
import { aProcess, bootId, minute, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { nextPart, show, withReadyTask, withRunningTask } from '../scenes.ts';

const kinds = ['message'];
const enrol = ({ store }: World, id: string, role: 'all' | 'worker' | 'bot' | 'api' = 'worker') =>
  store.enrol({ ...aProcess, id, role, kinds }, false);

const dueIn = async ({ store }: World, id = 'boot-b') => (await store.renewLease(id, minute, false))?.due;

/** Long ago by any clock. */
const past = 1;

/** Findings beside a renewal: loops that are due without a word, who polls, and the sign of life. */
export function dueTests(open: OpenWorld): void {
  test('a renewal names the scheduler for each instant that has come, and nothing to a process that does no work', async () => {
    const { world, task } = await withReadyTask(open);
    await enrol(world, 'boot-b');
    await enrol(world, 'boot-api', 'api');
    expect(await dueIn(world)).toEqual([]);
    const own = `where id = '${task.id}'`;
    for (const instant of ['next_at', 'resume_at']) {
      const [before] = await world.query<{ at: number | null }>(`select ${instant} as at from tasks ${own}`);
      await world.query(`update tasks set ${instant} = ${past} ${own}`);
      expect([instant, await dueIn(world)]).toEqual([instant, ['scheduler']]);
      expect(await dueIn(world, 'boot-api')).toEqual([]);
      await world.query(`update tasks set ${instant} = ${before?.at ?? 'null'} ${own}`);
    }
    expect(await dueIn(world)).toEqual([]);
  });

  test('a renewal names the scheduler for what waits once the run before it has ended, and for a question that nobody answers', async () => {
    const { world, task, started } = await withRunningTask(open);
    for (const id of [bootId, 'boot-b']) await enrol(world, id);
    await world.query(`insert into occurrences (id, task_id, slot_at, source, status, decide_by, late_ms, created_at, updated_at)
      select 'waits', task_id, slot_at + 1, source, 'pending', null, 0, created_at, updated_at from occurrences limit 1`);
    expect(await dueIn(world)).toEqual([]);
    await world.query(`update runs set status = 'succeeded' where id = '${started.run.id}'`);
    expect(await dueIn(world)).toEqual(['scheduler']);
    await world.query(`update occurrences set decide_by = ${nine * 2} where id = 'waits'`);
    expect(await dueIn(world)).toEqual([]);
    await world.query(`update occurrences set decide_by = ${past} where id = 'waits'`);
    expect(await dueIn(world)).toEqual(['scheduler']);
    expect(task.id).toBe(started.run.taskId);
  });

  test('a renewal names the runner for runs that nobody has begun, that were left, or that were called off in its own hands', async () => {
    const { world, started } = await withRunningTask(open);
    for (const id of [bootId, 'boot-b']) await enrol(world, id);
    const own = `where id = '${started.run.id}'`;
    expect(await dueIn(world)).toEqual([]);
    await world.query(`update runs set cancel_requested_at = ${past} ${own}`);
    expect([await dueIn(world), await dueIn(world, bootId)]).toEqual([[], ['runner']]);
    await world.query(`update runs set cancel_requested_at = null, boot_id = 'lost:gone' ${own}`);
    expect(await dueIn(world)).toEqual(['runner']);
    await world.query(`update runs set status = 'queued', ready_at = ${past}, boot_id = null ${own}`);
    expect(await dueIn(world)).toEqual(['runner']);
    await world.query(`update runs set ready_at = ${await world.store.databaseTime()} ${own}`);
    // Its job is on the way.
    expect(await dueIn(world)).toEqual([]);
    await world.query(`update runs set ready_at = ${past} ${own}`);
    expect(await startEvery(world, nine, 'boot-b')).toHaveLength(1);
    expect(await dueIn(world)).toEqual([]);
  });

  test('a renewal names the deliverer for parts that wait, are in doubt or were left, and the reminders', async () => {
    const { world, task } = await withReadyTask(open);
    for (const id of [bootId, 'boot-b']) await enrol(world, id);
    await show(world, task, [world.make.part()]);
    const all = (set: string) => world.query(`update deliveries set ${set} where kind = 'result'`);
    await world.query(`update deliveries set ready_at = ${nine}`);
    await world.query(`update standing set due_at = null`);
    expect(await dueIn(world)).toEqual([]);
    await all(`ready_at = ${past}`);
    expect(await dueIn(world)).toEqual(['deliverer']);
    await nextPart(world, { boot: bootId, now: nine });
    expect(await dueIn(world)).toEqual([]);
    await all(`boot_id = 'lost:gone'`);
    expect(await dueIn(world)).toEqual(['deliverer']);
    await all(`status = 'unknown', ready_at = ${past}`);
    expect(await dueIn(world)).toEqual(['deliverer']);
    await all(`ready_at = null`);
    expect(await dueIn(world)).toEqual([]);
  });

  test('whoever polls is known from each renewal, which holds on the lease where processes share the database', async () => {
    const world = await open();
    const { store } = world;
    for (const id of ['boot-a', 'boot-b']) await enrol(world, id, 'bot');
    const pollingOf = async (id: string) => (await store.renewLease(id, minute, false))?.polling;
    expect(await pollingOf('boot-b')).toBeNull();
    const now = await store.databaseTime();
    const { until } = await store.holdLease('polling', 'boot-a', { now, ms: 5000 });
    expect(await pollingOf('boot-b')).toEqual({ holder: 'boot-a', until });
    const held = await pollingOf('boot-a');
    expect(held?.holder).toBe('boot-a');
    if (world.engine.dialect === 'postgres') expect(held?.until).toBeGreaterThan(until + 10_000);
    // A lease that is over is not brought back, because another may have it by now.
    await world.query(`update kv set expires_at = ${past} where scope = 'lease'`);
    expect(await pollingOf('boot-a')).toEqual({ holder: 'boot-a', until: past });
    await store.retire('boot-a', null);
    expect(await pollingOf('boot-b')).toBeNull();
  });

  test('the sign of life is left with a renewal that signs, once somebody has begun it', async () => {
    const world = await open();
    await enrol(world, 'boot-a');
    const signOf = async () =>
      (await world.query<{ value: string }>(`select value from kv where key = 'alive_at'`))[0]?.value;
    await world.store.renewLease('boot-a', minute, true);
    expect(await signOf()).toBeUndefined();
    await world.store.markAlive(past);
    await world.store.renewLease('boot-a', minute, false);
    expect(await signOf()).toBe(String(past));
    const renewed = await world.store.renewLease('boot-a', minute, true);
    if (world.engine.dialect === 'postgres')
      expect(Number(await signOf())).toBeGreaterThanOrEqual((renewed?.at ?? 0) - 1);
  });

  test('the signs of alarms differ after whatever one could come of, and after nothing else', async () => {
    const { world, task } = await withReadyTask(open);
    const { store } = world;
    let before = await store.alarmSigns();
    const isNews = async () => {
      const found = await store.alarmSigns();
      const is = found !== before;
      before = found;
      return is;
    };
    await store.markAlive(nine);
    await store.ping(nine);
    expect(await isNews()).toBe(false);
    await store.writeNote('audit', '{}', nine);
    expect(await isNews()).toBe(true);
    await world.query(
      `update tasks set state = 'paused', next_at = null, paused_reason = 'auto:consecutive_failures', paused_at = ${nine} where id = '${task.id}'`,
    );
    expect(await isNews()).toBe(true);
    await enrol(world, 'boot-a');
    expect(await isNews()).toBe(true);
    await store.noteUser({ id: 'telegram:user:77', name: 'Eve' }, nine);
    expect(await isNews()).toBe(false);
    await world.query(`update users set role = 'owner' where id = 'telegram:user:77'`);
    expect(await isNews()).toBe(true);
  });
}
