import { expect, test } from 'vitest';
import type { TruthQuery, TruthRows } from '../../../src/app/ports/why.ts';
import type { Reason } from '../../../src/domain/occurrence.ts';
import type { TaskState } from '../../../src/domain/task.ts';
import { aRunningTask, aTask, claimAll, endOf, hour, minute, nine, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { claimParts } from './outbox.ts';

async function readTruth({ store }: World, taskId: string, query: Partial<TruthQuery> = {}): Promise<TruthRows> {
  const rows = await store.readTruth({ taskId, from: nine - hour, to: nine + 24 * hour, limit: 50, ...query });
  if (rows === null) throw new Error('there is no such task');
  return rows;
}

interface Change {
  readonly at: number;
  readonly verb: string;
  readonly states?: readonly [TaskState | null, TaskState | null];
  readonly before?: object;
  readonly after?: object;
}

/** Rows of the audit as they would be written; a task that was just made has none but these. */
export async function note(world: World, taskId: string, changes: readonly Change[]): Promise<void> {
  await world.query('delete from audit where task_id = ?t', taskId);
  for (const { at, verb, states = [null, null], before, after } of changes) {
    await world.query(
      `insert into audit (at, actor, verb, task_id, state_before, state_after, before, after)
       values (?i, 'telegram:user:7', ?t, ?t, ?t, ?t, ?t, ?t)`,
      at,
      verb,
      taskId,
      ...states,
      before === undefined ? null : JSON.stringify(before),
      after === undefined ? null : JSON.stringify(after),
    );
  }
}

export async function addGap(world: World, taskId: string, fromAt: number, toAt: number): Promise<string> {
  const id = world.make.id();
  const reason: Reason = 'late';
  await world.query(
    `insert into gaps (id, task_id, from_at, to_at, count, reason, created_at) values (?t, ?t, ?i, ?i, 7, ?t, ?i)`,
    id,
    taskId,
    fromAt,
    toAt,
    reason,
    toAt + 1,
  );
  return id;
}

/** A task with slots at nine, ten, eleven and so on. */
export async function aTaskWithSlots(world: World, hours: number) {
  const task = await aTask(world);
  const slots = Array.from({ length: hours }, (_none, index) => nine + index * hour);
  for (const slotAt of slots) {
    const occurrence = world.make.occurrence({ slotAt, status: 'missed', reason: 'late' });
    await claimAll(world, { now: slotAt, limit: 1 }, () => ({ occurrences: [occurrence], runs: [] }));
  }
  return task;
}

const names = (rows: Pick<TruthRows, 'changes'>) => rows.changes.map(({ verb }) => verb);

export function truthTests(open: OpenWorld): void {
  slotTests(open);
  changeTests(open);
}

function slotTests(open: OpenWorld): void {
  test('there is nothing to tell about a task that never was', async () => {
    const { store } = await open();
    expect(await store.readTruth({ taskId: 'none', from: 0, to: 1, limit: 1 })).toBeNull();
  });

  test('a slot is told with its run, its attempts and its deliveries', async () => {
    const world = await open();
    const { task, started } = await aRunningTask(world);
    const parts = [1, 2].map((part) => world.make.part({ part }));
    await world.store.finishRuns([endOf(started, { deliveries: parts, finishedAt: nine + minute })]);
    await world.query(`update tasks set topic_state = 'ready', topic_id = 5`);
    const [sent] = await claimParts(world, { now: nine + minute });
    await world.query(
      `update deliveries set status = 'blocked', cause = 'no_right', error = 'no' where id <> ?t`,
      sent?.id ?? '',
    );

    const { slots, task: found } = await readTruth(world, task.id);
    expect(found.id).toBe(task.id);
    expect(slots).toMatchObject([
      {
        slotAt: nine,
        source: 'schedule',
        status: 'succeeded',
        replayOf: null,
        replayOfSlot: null,
        run: {
          id: started.run.id,
          status: 'succeeded',
          startedAt: nine,
          attempts: [{ status: 'succeeded', error: null }],
          deliveries: [
            { part: 1, status: 'sending', thread: { provider: 'telegram', address: '-100' } },
            { part: 2, status: 'blocked', cause: 'no_right', error: 'no' },
          ],
        },
      },
    ]);
  });

  test('slots and gaps come in order, one more than asked for, and nothing beyond them is looked for', async () => {
    const world = await open();
    const task = await aTaskWithSlots(world, 6);
    await note(world, task.id, [
      { at: nine - 2 * hour, verb: 'create', states: [null, 'active'] },
      { at: nine + 90 * minute, verb: 'pause', states: ['active', 'paused'] },
      { at: nine + 4 * hour, verb: 'resume', states: ['paused', 'active'] },
      { at: nine + 5 * hour, verb: 'delete', states: ['active', 'deleted'] },
    ]);
    const page = await readTruth(world, task.id, { from: nine, limit: 2 });
    expect(page.slots.map(({ slotAt }) => (slotAt - nine) / hour)).toEqual([0, 1, 2]);
    // Before it, within it, and the one after it.
    expect(names(page)).toEqual(['create', 'pause', 'resume']);
    expect(page.reachesNow).toBe(false);
    const all = await readTruth(world, task.id, { from: nine });
    expect(all.slots).toHaveLength(6);
    expect(names(all)).toEqual(['create', 'pause', 'resume', 'delete']);
    expect(all.reachesNow).toBe(true);
    expect(all.around).toEqual({ before: null, after: null, gap: null });
  });

  test('a gap that reaches into the stretch from before it belongs to it', async () => {
    const world = await open();
    const task = await aTask(world);
    await addGap(world, task.id, nine - 9 * hour, nine - 8 * hour);
    const reaching = await addGap(world, task.id, nine - 5 * hour, nine + hour);
    const within = await addGap(world, task.id, nine + 2 * hour, nine + 3 * hour);
    const later = await addGap(world, task.id, nine + 30 * hour, nine + 31 * hour);

    const { gaps, around } = await readTruth(world, task.id, { from: nine });
    expect(gaps.map(({ id }) => id)).toEqual([reaching, within]);
    expect(gaps[0]).toMatchObject({ fromAt: nine - 5 * hour, toAt: nine + hour, count: 7, reason: 'late' });
    expect(around.gap?.id).toBe(later);
  });

  test('an instant without a slot knows the scheduled ones around it', async () => {
    const world = await open();
    const task = await aTaskWithSlots(world, 2);
    await world.query(`insert into occurrences (id, task_id, slot_at, source, status, late_ms, created_at, updated_at)
      values ('by-hand', '${task.id}', ${nine + 20 * minute}, 'run_now', 'skipped', 0, 0, 0)`);
    const at = nine + 30 * minute;
    const { slots, around } = await readTruth(world, task.id, { from: at, to: at + minute - 1 });
    expect(slots).toEqual([]);
    expect([around.before?.slotAt, around.after?.slotAt]).toEqual([nine, nine + hour]);
  });
}

function changeTests(open: OpenWorld): void {
  test('more changes than one may read are read from the front, up to an instant that is told', async () => {
    const world = await open();
    const task = await aTask(world);
    await world.query('delete from audit');
    await world.query('delete from task_versions');
    const count = 450;
    await world.query(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
       insert into audit (at, actor, verb, task_id, state_before, state_after)
       select ${nine} + i, 'system', case when i % 2 = 1 then 'pause' else 'resume' end, '${task.id}',
         case when i % 2 = 1 then 'active' else 'paused' end, case when i % 2 = 1 then 'paused' else 'active' end from n`,
    );
    const from = nine - minute;
    const page = await readTruth(world, task.id, { from, limit: 1 });
    expect(page.readTo).toBe(nine + 401);
    expect(page.changes).toHaveLength(401);
    expect(page.reachesNow).toBe(false);
    const next = await readTruth(world, task.id, { from: nine + 401, limit: 1 });
    expect(next.readTo).toBeNull();
    expect(next.changes.map(({ at }) => at - nine)).toEqual(Array.from({ length: 51 }, (_none, index) => 400 + index));
    // All of them in one instant: a page comes on, if only by a millisecond.
    await world.query('update audit set at = ?i', nine);
    expect((await readTruth(world, task.id, { from: nine })).readTo).toBe(nine + 1);

    const definition = JSON.stringify({ schedule: { kind: 'cron' }, policies: {}, action: { kind: 'message' } });
    await world.query(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 230)
       insert into task_versions (task_id, version, at, actor, definition)
       select '${task.id}', i, ${nine} + i, 'system', '${definition}' from n`,
    );
    const edited = await readTruth(world, task.id, { from: nine + 2, to: nine + hour });
    expect([edited.readTo, edited.versions[0]?.version, edited.versions.at(-1)?.version]).toEqual([nine + 202, 1, 202]);
  });

  test('what was done after the clock was set back rules the time that came twice', async () => {
    const world = await open();
    const task = await aTask(world);
    await note(world, task.id, [
      { at: nine, verb: 'create', states: [null, 'active'] },
      { at: nine + 3 * hour, verb: 'pause', states: ['active', 'paused'] },
      { at: nine + hour, verb: 'resume', states: ['paused', 'active'] },
      { at: nine + 2 * hour, verb: 'delete', states: ['active', 'deleted'] },
    ]);
    const all = await readTruth(world, task.id);
    expect(names(all)).toEqual(['create', 'pause', 'resume', 'delete']);
    expect(all.twice).toContainEqual({ from: nine + hour, to: nine + 3 * hour });
    // Whatever the stretch, what was made next is read besides what holds next.
    const early = await readTruth(world, task.id, { from: nine + 10, to: nine + 20 });
    expect(names(early)).toEqual(['create', 'pause', 'resume']);
    const late = await readTruth(world, task.id, { from: nine + 4 * hour, to: nine + 5 * hour });
    expect([names(late), late.reachesNow]).toEqual([['delete'], true]);
  });

  test('what is planned depends on what was skipped, on what waits and on what runs', async () => {
    const world = await open();
    const task = await aTaskWithSlots(world, 3);
    expect(await world.store.readPlanned('none')).toBeNull();
    await world.query(`update tasks set next_at = ?i`, nine + hour);
    await world.query(`update occurrences set status = 'skipped', reason = 'skip' where slot_at <> ?i`, nine + hour);
    await world.query(`update occurrences set status = 'pending', reason = null where slot_at = ?i`, nine + hour);
    const ahead = { skipped: [nine + 2 * hour], waiting: 1, awaitsEnd: false };
    expect(await world.store.readPlanned(task.id)).toMatchObject({ task: { id: task.id }, ahead });
    expect((await readTruth(world, task.id)).ahead).toEqual(ahead);
    await world.query(`update tasks set state = 'paused', next_at = null`);
    expect((await world.store.readPlanned(task.id))?.ahead.skipped).toEqual([]);
  });

  test('what retention has removed, it has noted', async () => {
    const { store, ...world } = await open();
    const task = await aTask({ store, ...world });
    expect((await readTruth({ store, ...world }, task.id)).removedBefore).toBeNull();
    await store.writeNote('retention', JSON.stringify({ before: new Date(nine).toISOString() }), nine);
    expect((await readTruth({ store, ...world }, task.id)).removedBefore).toBe(nine);
  });

  test('the last slot is told for every change that found the task completed, and for now', async () => {
    const world = await open();
    const task = await aTaskWithSlots(world, 4);
    await note(world, task.id, [
      { at: nine - 2 * hour, verb: 'create', states: [null, 'active'] },
      { at: nine + 90 * minute, verb: 'edit', states: ['completed', 'active'] },
    ]);
    await world.query(`update tasks set state = 'completed', next_at = null`);
    const { lastSlots, changes } = await readTruth(world, task.id);
    expect(lastSlots).toEqual([
      { deedId: changes[1]?.id, slotAt: nine + hour },
      { deedId: null, slotAt: nine + 3 * hour },
    ]);
  });

  test('what a person did to a slot is found by the instant at which it was done', async () => {
    const world = await open();
    const task = await aTask(world);
    const occurrence = world.make.occurrence({ slotAt: nine, status: 'skipped', reason: 'skip' });
    await claimAll(world, { now: nine, limit: 1 }, () => ({ occurrences: [occurrence], runs: [] }));
    await note(world, task.id, [
      { at: nine, verb: 'skip', states: ['active', 'active'], after: { count: 1 } },
      { at: nine + 1, verb: 'edit', states: ['active', 'active'] },
    ]);
    const { deeds } = await readTruth(world, task.id);
    expect(deeds).toMatchObject([{ verb: 'skip', actor: 'telegram:user:7', at: nine, after: { count: 1 } }]);
  });

  test('versions begin with the one in force and end with the next one', async () => {
    const world = await open();
    const task = await aTask(world);
    await world.query('delete from task_versions');
    const definition = (cron: string) =>
      JSON.stringify({ schedule: { kind: 'cron', cron, timezone: 'UTC' }, policies: {}, action: { kind: 'message' } });
    for (const version of [1, 2, 3, 4]) {
      await world.query(
        `insert into task_versions (task_id, version, at, actor, definition) values (?t, ?i, ?i, 'system', ?t)`,
        task.id,
        version,
        nine + version * hour,
        definition(`${version} * * * *`),
      );
    }
    const versionsIn = async (from: number, to: number) =>
      (await readTruth(world, task.id, { from, to })).versions.map(({ version }) => version);
    expect(await versionsIn(nine + 2 * hour + 1, nine + 2 * hour + 2)).toEqual([2, 3]);
    expect(await versionsIn(nine + 90 * minute, nine + 3 * hour)).toEqual([1, 2, 3, 4]);
    // Before the first one, what is known of the task stands in.
    expect(await versionsIn(nine, nine + 1)).toEqual([null, 1]);
  });

  test('rows from before states and versions were kept, and rows that lie, are no obstacle', async () => {
    const world = await open();
    const task = await aTask(world);
    await world.query('delete from task_versions');
    await note(world, task.id, [
      { at: nine - 2 * hour, verb: 'create', after: { title: 'x' } },
      { at: nine, verb: 'run_now' },
      { at: nine + 1, verb: 'edit', before: { schedule: { kind: 'cron', cron: '7 * * * *', timezone: 'UTC' } } },
      { at: nine + hour, verb: 'pause' },
    ]);
    const { changes, versions } = await readTruth(world, task.id);
    expect(changes.map(({ verb }) => verb)).toEqual(['create', 'pause']);
    expect(versions).toMatchObject([{ version: null, definition: { schedule: { cron: '7 * * * *' } } }]);

    await world.query(`update audit set before = '{', after = '[]'`);
    await world.query(`update tasks set policies = '[', action = ''`);
    await world.query(
      `insert into task_versions (task_id, version, at, actor, definition) values (?t, 1, 1, 'system', 'x')`,
      task.id,
    );
    expect((await readTruth(world, task.id)).changes[0]).toMatchObject({ before: null, after: null });
  });

  test('a change is found behind much else, and what nobody has looked through is not taken for the end', async () => {
    const world = await open();
    const task = await aTask(world);
    await note(world, task.id, [{ at: nine - 2 * hour, verb: 'create', states: [null, 'active'] }]);
    const busy = (count: number, from: number) =>
      world.query(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
         insert into audit (at, actor, verb, task_id, state_before, state_after)
         select ${from} + i, 'system', 'run_now', '${task.id}', 'active', 'active' from n`,
      );
    await busy(500, nine - hour);
    const asked = { from: nine, to: nine + 1 };
    expect(names(await readTruth(world, task.id, asked))).toEqual(['create']);
    await busy(1100, nine + hour);
    const { changes, reachesNow } = await readTruth(world, task.id, asked);
    expect([names({ changes }), reachesNow]).toEqual([['create'], false]);
  });

  test('a run whose row is gone leaves its slot', async () => {
    const world = await open();
    const { task } = await aRunningTask(world);
    await world.query('delete from attempts');
    await world.query('delete from runs');
    expect((await readTruth(world, task.id)).slots).toMatchObject([{ status: 'dispatched', run: null }]);
    await startOne(world, nine).catch(() => undefined);
  });
}
