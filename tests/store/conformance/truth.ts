import { expect, test } from 'vitest';
import { tellEvents } from '../../../src/adapters/store/journal.ts';
import type { DowntimeReport, TruthQuery, TruthRows } from '../../../src/app/truth/store.ts';
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
async function note(world: World, taskId: string, changes: readonly Change[]): Promise<void> {
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

async function addGap(world: World, taskId: string, fromAt: number, toAt: number): Promise<string> {
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
async function aTaskWithSlots(world: World, hours: number) {
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

/** Events become readable when no older transaction is open on the server, and other tests have databases there, too. */
async function untilSettled({ store, query }: World): Promise<void> {
  for (;;) {
    const { events } = await store.readEvents({ after: null, taskId: null, limit: 500 });
    const [all] = await query<{ count: number }>('select count(*) as count from events');
    if (events.length === all?.count) return;
  }
}

export function feedTests(open: OpenWorld): void {
  const tell = async (world: World, count: number, taskId: string | null = null) => {
    await world.engine.transact(() =>
      tellEvents(
        Array.from({ length: count }, (_none, index) => ({
          kind: 'run.started',
          at: nine + index,
          taskId,
          ref: `run-${index}`,
          ...(index === 0 ? { data: { attempt: 2 } } : {}),
        })),
      ),
    );
    await untilSettled(world);
  };

  test('events are read to the end, page by page, and the cursor waits for what comes next', async () => {
    const world = await open();
    const { store } = world;
    const everything = { after: null, taskId: null, limit: 2 };
    const nothing = await store.readEvents(everything);
    expect(nothing.events).toEqual([]);
    await tell(world, 3);

    const first = await store.readEvents({ ...everything, after: nothing.next });
    expect(first.events).toMatchObject([
      { kind: 'run.started', at: nine, taskId: null, ref: 'run-0', data: { attempt: 2 } },
      { ref: 'run-1', data: null },
    ]);
    expect(first.next).toBe(first.events.at(-1)?.cursor);
    const second = await store.readEvents({ ...everything, after: first.next });
    expect(second.events.map(({ ref }) => ref)).toEqual(['run-2']);
    expect(await store.readEvents({ ...everything, after: second.next })).toEqual({ events: [], next: second.next });
    await tell(world, 1);
    expect((await store.readEvents({ ...everything, after: second.next })).events).toHaveLength(1);
    expect((await store.readEvents({ ...everything, limit: 10 })).events).toHaveLength(4);
  });

  test('a reader may begin at the end', async () => {
    const world = await open();
    const read = (after: string) => world.store.readEvents({ after, taskId: null, limit: 10 });
    const empty = await read('latest');
    await tell(world, 2);
    const { events, next } = await read('latest');
    expect(events).toEqual([]);
    await tell(world, 1);
    expect((await read(next)).events).toHaveLength(1);
    expect((await read(empty.next)).events).toHaveLength(3);
  });

  test('the events of one task are told alone', async () => {
    const world = await open();
    await tell(world, 2, 'a');
    await tell(world, 2, 'b');
    await tell(world, 1, 'a');
    const first = await world.store.readEvents({ after: null, taskId: 'a', limit: 2 });
    expect(first.events.map(({ taskId }) => taskId)).toEqual(['a', 'a']);
    const second = await world.store.readEvents({ after: first.next, taskId: 'a', limit: 2 });
    expect(second.events).toHaveLength(1);
    expect((await world.store.readEvents({ after: second.next, taskId: 'a', limit: 2 })).events).toEqual([]);
  });

  test('the audit is told newest first, of one task or of all', async () => {
    const world = await open();
    const [one, other] = [await aTask(world), await aTask(world)];
    await note(world, one.id, [
      { at: nine, verb: 'create', states: [null, 'active'] },
      { at: nine + 2, verb: 'skip', states: ['active', 'active'], before: { a: 1 }, after: { b: 2 } },
    ]);
    await note(world, other.id, [
      { at: nine + 1, verb: 'create' },
      { at: nine + 2, verb: 'pause' },
      { at: nine + 2, verb: 'resume' },
    ]);
    const verbs = async (taskId: string | null, limit: number) => {
      const found: string[] = [];
      for (let cursor: string | null = null; ;) {
        const page = await world.store.readAudit({ taskId, limit, cursor });
        found.push(...page.items.map(({ verb }) => verb));
        if (page.next === null) return found;
        cursor = page.next;
      }
    };
    for (const limit of [1, 2, 50]) {
      expect(await verbs(one.id, limit)).toEqual(['skip', 'create']);
      expect(await verbs(other.id, limit)).toEqual(['resume', 'pause', 'create']);
      expect(await verbs(null, limit)).toEqual(['resume', 'pause', 'create', 'skip', 'create']);
    }
    expect((await world.store.readAudit({ taskId: one.id, limit: 1, cursor: null })).items).toMatchObject([
      { stateBefore: 'active', stateAfter: 'active', before: { a: 1 }, after: { b: 2 }, actor: 'telegram:user:7' },
    ]);
  });

  test('a cursor of another list, or of nobody, is refused', async () => {
    const world = await open();
    await tell(world, 1);
    const { next } = await world.store.readEvents({ after: null, taskId: null, limit: 1 });
    const refused = { code: 'invalid_cursor' };
    for (const cursor of ['x', 'aGVsbG8', `${next}=`]) {
      await expect(world.store.readEvents({ after: cursor, taskId: null, limit: 1 })).rejects.toMatchObject(refused);
    }
    for (const cursor of [next, 'x', Buffer.from('audit:a').toString('base64url')]) {
      await expect(world.store.readAudit({ taskId: null, limit: 1, cursor })).rejects.toMatchObject(refused);
      await expect(world.store.readAudit({ taskId: 'a', limit: 1, cursor })).rejects.toMatchObject(refused);
    }
  });
}

export function downtimeTests(open: OpenWorld): void {
  const report: DowntimeReport = {
    counts: { missed: 3, late: 1, asked: 0, skipped: 0 },
    threads: [],
    moreThreads: 0,
  };

  test('a downtime reaches from the last sign of life to the start', async () => {
    const { store } = await open();
    expect(await store.openDowntime('d1', nine)).toEqual({ is: 'first' });
    await store.markAlive(nine + minute);
    expect(await store.openDowntime('d2', nine + hour)).toEqual({
      is: 'opened',
      downtime: { id: 'd2', from: nine + minute, to: nine + hour },
    });
    expect(await store.openDowntime('d3', nine + 2 * hour)).toMatchObject({ downtime: { from: nine + hour } });
    expect(await store.openDowntime('d4', nine)).toEqual({ is: 'clockBack', aliveAt: nine + 2 * hour });
    expect((await store.openDowntimes()).map(({ id }) => id)).toEqual(['d2', 'd3']);
  });

  test('a downtime is reported once, with its event', async () => {
    const world = await open();
    const { store } = world;
    await store.markAlive(nine);
    await store.openDowntime('d1', nine + hour);
    expect(await store.listDowntimes(5)).toEqual([
      { id: 'd1', from: nine, to: nine + hour, report: null, reportedAt: null },
    ]);
    expect(await store.reportDowntime('d1', report, nine + 2 * hour)).toBe(true);
    expect(await store.reportDowntime('d1', report, nine + 3 * hour)).toBe(false);
    expect(await store.listDowntimes(5)).toMatchObject([{ id: 'd1', report, reportedAt: nine + 2 * hour }]);
    expect(await store.openDowntimes()).toEqual([]);
    await untilSettled(world);
    const { events } = await store.readEvents({ after: null, taskId: null, limit: 5 });
    expect(events).toMatchObject([{ kind: 'downtime.reported', ref: 'd1', data: report.counts }]);
  });

  test('a time is decided when no slot of it is due any more', async () => {
    const world = await open();
    const task = await aTask(world);
    expect(await world.store.isDecided(nine - 1)).toBe(true);
    expect(await world.store.isDecided(nine)).toBe(false);
    await world.query(`update tasks set state = 'paused', next_at = null, resume_at = ?i`, nine);
    expect(await world.store.isDecided(nine)).toBe(false);
    await world.query(`update tasks set resume_at = null where id = ?t`, task.id);
    expect(await world.store.isDecided(nine)).toBe(true);
  });

  test('what was made since is read in pages, with the threads of its tasks', async () => {
    const world = await open();
    const after = world.make.id();
    const task = await aTaskWithSlots(world, 3);
    await world.query(`update occurrences set status = 'skipped' where slot_at = ?i`, nine);
    await world.query(`update occurrences set decide_by = 1 where slot_at = ?i`, nine + hour);
    const gap = await addGap(world, task.id, nine, nine + hour);
    const first = await world.store.madeSince('occurrences', after, 2);
    const second = await world.store.madeSince('occurrences', first.at(-1)?.id ?? '', 2);
    expect([...first, ...second]).toMatchObject([
      { taskId: task.id, slotAt: nine, lastAt: nine, became: 'skipped', count: 1 },
      { slotAt: nine + hour, became: 'asked' },
      { slotAt: nine + 2 * hour, became: 'missed' },
    ]);
    expect(await world.store.madeSince('gaps', after, 2)).toEqual([
      { id: gap, taskId: task.id, slotAt: nine, lastAt: nine + hour, became: 'missed', count: 7 },
    ]);
    expect(await world.store.homesOf([task.id, 'none'])).toEqual(new Map([[task.id, 'telegram:chat:-100']]));
  });
}
