import { expect, test } from 'vitest';
import { checks, type CheckName } from '../../../src/domain/audit.ts';
import { idAt } from '../../../src/store/engine/queries.ts';
import { aTask, claimAll, hour, minute, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { withTask } from '../scenes.ts';
import { repair } from './audit.ts';

const now = nine + hour;

/** Slots that nothing stands for, and what is told. */
export function accountTests(open: OpenWorld): void {
  test('a slot that nothing stands for gets a row that says so, once', async () => {
    const { world, task } = await withTask(open, { nextAt: now + hour });
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
    const { world, task } = await withTask(open, { nextAt: now + hour });
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

  test('a sample begins where it is asked to, and goes on from the front', async () => {
    const world = await open();
    const ids: string[] = [];
    for (let age = 4; age > 0; age -= 1) {
      const { id } = await aTask(world, { id: idAt(now - age * hour, 'x'), at: now - age * hour });
      ids.push(id);
    }
    await world.query(`update tasks set state = 'paused', next_at = null where id = ?t`, ids[2] ?? null);
    const [a = '', b = '', , d = ''] = ids;
    const sample = (part: number, limit: number) => world.store.sampleTasks({ part, now, limit });

    expect(await sample(0, 10)).toEqual([a, b, d]);
    expect(await sample(0.5, 10)).toEqual([d, a, b]);
    expect(await sample(0.5, 2)).toEqual([d, a]);
    expect(await sample(0.2, 1)).toEqual([b]);
  });

  test('the slots of a task that stood still are told with its gaps', async () => {
    const { world, task: quiet } = await withTask(open, { at: nine - 10 * hour });
    await claimAll(world, { now: nine, limit: 1 }, () => ({
      gap: { id: 'g', fromAt: nine - 3 * hour, toAt: nine - 2 * hour, count: 2, reason: 'late' },
    }));
    const window = { from: nine - 5 * hour, through: now };
    const account = (from: number, through: number) =>
      world.store.slotAccount({ taskId: quiet.id, untouchedSince: window.from, from, through });

    expect(await world.store.standingTask(quiet.id, window.from)).toMatchObject({ id: quiet.id });
    const gap = { fromAt: nine - 3 * hour, toAt: nine - 2 * hour };
    expect(await account(window.from, window.through)).toEqual({ slots: [nine], gaps: [gap] });
    expect(await account(window.from, gap.fromAt)).toEqual({ slots: [], gaps: [gap] });
    expect(await account(gap.toAt, nine)).toEqual({ slots: [nine], gaps: [] });
    expect(await account(nine, window.through)).toEqual({ slots: [], gaps: [] });
    await world.query(`insert into audit (at, actor, verb, task_id) values (?i, 'x', 'pause', ?t)`, nine, quiet.id);
    expect(await world.store.standingTask(quiet.id, window.from)).toBeNull();
    expect(await account(window.from, window.through)).toBeNull();
  });

  test.each([
    ['was edited', `update tasks set updated_at = ${nine}`],
    ['is young', `update tasks set created_at = ${nine}`],
    ['was resumed', `update tasks set resumed_at = ${nine}`],
    ['is paused', `update tasks set state = 'paused', next_at = null`],
    ['counts from its last end', `update tasks set interval_from = 'completion'`],
    [
      'has new rules of time',
      `insert into kv (scope, key, value, updated_at) values ('system', 'tz_version', '2027b', ${nine})`,
    ],
  ])('nobody knows the slots of the day of a task that %s', async (_what, change) => {
    const world = await open();
    const { id } = await aTask(world, { at: nine - 10 * hour });
    expect(await world.store.standingTask(id, nine - 5 * hour)).toMatchObject({ id });
    await world.query(change);

    expect(await world.store.standingTask(id, nine - 5 * hour)).toBeNull();
  });
}
