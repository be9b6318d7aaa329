import { expect, test } from 'vitest';
import { checks, type CheckName } from '../../../src/domain/audit.ts';
import { aTask, claimAll, hour, minute, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { repair } from './audit.ts';

const now = nine + hour;

/** Slots that nothing stands for, and what is told. */
export function accountTests(open: OpenWorld): void {
  test('a slot that nothing stands for gets a row that says so, once', async () => {
    const world = await open();
    const task = await aTask(world, { nextAt: now + hour });
    const slot = { id: 'o-1', taskId: task.id, slotAt: nine, now, actor: 'api:token:default' as const };
    expect(await world.store.recordMissing(slot)).toBe('recorded as missed');
    expect(await world.store.recordMissing({ ...slot, id: 'o-2' })).toBeNull();

    expect(await world.store.readTaskRun('o-1')).toMatchObject({
      status: 'missed',
      reason: 'unaccounted',
      slotAt: nine,
    });
    expect(await world.query(`select ref from events where kind = 'occurrence.missed'`)).toEqual([{ ref: 'o-1' }]);
    expect(await world.query(`select task_id from audit where verb = 'reconcile'`)).toEqual([{ task_id: task.id }]);
  });

  test('no row is written for a slot that is still to come, lies in a gap, or of a task that was deleted', async () => {
    const world = await open();
    const task = await aTask(world, { nextAt: now + hour });
    await world.query(
      `insert into gaps (id, task_id, from_at, to_at, count, reason, created_at) values ('g', ?t, ?i, ?i, 1, 'late', 0)`,
      task.id,
      nine,
      nine + minute,
    );
    const record = (slotAt: number) =>
      world.store.recordMissing({ id: `o-${slotAt}`, taskId: task.id, slotAt, now, actor: 'system' });
    expect([await record(now + hour), await record(nine), await record(nine + minute)]).toEqual([null, null, null]);
    expect(await record(nine + minute + 1)).toBe('recorded as missed');
    await world.query(`update tasks set state = 'deleted', next_at = null`);
    expect(await record(nine + minute + 2)).toBeNull();
  });

  test('a repair of work that no task asked for has its row in the audit too', async () => {
    const world = await open();
    await world.store.addRun(world.make.newRun());
    const [started] = await startEvery(world, nine);
    await world.query('delete from attempts');
    await repair(world, 'running_without_attempt', started?.run.id ?? '');

    expect(await world.query(`select actor, task_id from audit where verb = 'reconcile'`)).toEqual([
      { actor: 'api:token:default', task_id: null },
    ]);
  });

  test('findings are told as events', async () => {
    const world = await open();
    await world.store.tellFindings([{ check: 'slot_twice', count: 2 }], now);

    expect(await world.query(`select kind, at, task_id, ref, data from events`)).toEqual([
      { kind: 'audit.finding', at: now, task_id: null, ref: 'slot_twice', data: '{"count":2}' },
    ]);
  });

  test('nothing is done about an id that no row has', async () => {
    const world = await open();
    for (const name of Object.keys(checks) as CheckName[])
      expect([name, await repair(world, name, 'none')]).toEqual([name, null]);
    expect(await world.query('select id from audit')).toEqual([]);
  });

  test('a sample holds active tasks that stood still, with their rows and gaps of the window', async () => {
    const world = await open();
    const quiet = await aTask(world, { at: nine - 10 * hour });
    await claimAll(world, { now: nine, limit: 1 }, () => ({
      gap: { id: 'g', fromAt: nine - 3 * hour, toAt: nine - 2 * hour, count: 2, reason: 'late' },
    }));
    const edited = await aTask(world, { at: nine - 10 * hour });
    await world.query('update tasks set updated_at = ?i where id = ?t', nine, edited.id);
    const young = await aTask(world, { at: nine });
    const delay = { kind: 'interval', interval: 'PT1H', startAt: nine, from: 'completion', timezone: 'UTC' } as const;
    await aTask(world, { at: nine - 10 * hour, schedule: delay });
    const window = { from: nine - 5 * hour, through: now };
    const sample = (after: string, limit: number) => world.store.sampleTasks({ from: window.from, after, limit });
    const account = (from: number, through: number) =>
      world.store.slotAccount({ taskId: quiet.id, untouchedSince: window.from, from, through });

    const { tasks, last } = await sample('', 100);
    expect(last).toBeNull();
    expect(tasks).toMatchObject([{ id: quiet.id }]);
    const gap = { fromAt: nine - 3 * hour, toAt: nine - 2 * hour };
    expect(await account(window.from, window.through)).toEqual({ slots: [nine], gaps: [gap] });
    expect(await account(window.from, gap.fromAt)).toEqual({ slots: [], gaps: [gap] });
    expect(await account(gap.toAt, nine)).toEqual({ slots: [nine], gaps: [] });
    expect(await account(nine, window.through)).toEqual({ slots: [], gaps: [] });
    expect((await sample('', 2)).last).toBe(edited.id);
    expect((await sample(young.id, 100)).tasks).toEqual([]);
    await world.query(`insert into audit (at, actor, verb, task_id) values (?i, 'x', 'pause', ?t)`, nine, quiet.id);
    expect((await sample('', 100)).tasks).toEqual([]);
    expect(await account(window.from, window.through)).toBeNull();
  });

  test('no sample is taken while the rules of time have just changed', async () => {
    const world = await open();
    await aTask(world, { at: nine - 10 * hour });
    const request = { from: nine - 5 * hour, after: '', limit: 10 };
    expect((await world.store.sampleTasks(request)).tasks).toHaveLength(1);
    await world.store.writeNote('tz_version', '2027b', nine);

    expect(await world.store.sampleTasks(request)).toEqual({ tasks: [], last: null });
  });
}
