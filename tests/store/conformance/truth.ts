import { expect, test } from 'vitest';
import type { TruthQuery, TruthRows } from '../../../src/app/ports/why.ts';
import type { TaskInput } from '../../../src/app/tasks/definition.ts';
import type { Reason } from '../../../src/domain/occurrence.ts';
import type { Task, TaskState } from '../../../src/domain/task.ts';
import { aTask, claimAll, endOf, hour, minute, nine, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { claimParts, withRunningTask, withTask } from '../scenes.ts';
import { actor, engineOn, failing, target, type Engine } from './verbs.ts';

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
  deedTests(open);
}

function slotTests(open: OpenWorld): void {
  test('there is nothing to tell about a task that never was', async () => {
    const { store } = await open();
    expect(await store.readTruth({ taskId: 'none', from: 0, to: 1, limit: 1 })).toBeNull();
  });

  test('a slot is told with its run, its attempts and its deliveries', async () => {
    const { world, task, started } = await withRunningTask(open);
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
    const { world, task } = await withTask(open);
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
  /** A task to which something was done every hour from nine on. */
  const changed = async (world: World, verbs: readonly (readonly [number, string, TaskState, TaskState])[]) => {
    const task = await aTask(world);
    await note(world, task.id, [
      { at: nine - hour, verb: 'create', states: [null, 'active'] },
      ...verbs.map(([at, verb, ...states]) => ({ at, verb, states })),
    ]);
    return task;
  };

  test('what people did without a change of the state is passed over, a second pause is not', async () => {
    const world = await open();
    const task = await changed(world, [
      [nine, 'run_now', 'active', 'active'],
      [nine + 1, 'pause', 'active', 'paused'],
      [nine + 2, 'pause', 'paused', 'paused'],
      [nine + 3, 'edit', 'paused', 'paused'],
      [nine + 4, 'resume', 'paused', 'active'],
    ]);
    expect(names(await readTruth(world, task.id))).toEqual(['create', 'pause', 'pause', 'resume']);
  });

  test('what was done after the clock was set back rules the time that came twice', async () => {
    const world = await open();
    const task = await changed(world, [
      [nine + 3 * hour, 'pause', 'active', 'paused'],
      [nine + hour, 'resume', 'paused', 'active'],
      [nine + 2 * hour, 'delete', 'active', 'deleted'],
      [nine + 5 * hour, 'restore', 'deleted', 'active'],
    ]);
    await world.store.setBack({ id: 'back', byMs: 0, twice: { from: nine + hour, to: nine + 3 * hour } });
    await world.store.setBack({ id: 'other', byMs: 0, twice: { from: nine + 2 * hour, to: nine + 2.5 * hour } });
    // Of a time that came twice all is read, and the first thing that was done after it.
    const all = ['create', 'pause', 'resume', 'delete', 'restore'];
    for (const from of [nine + 10, nine + 90 * minute, nine + 4 * hour]) {
      const rows = await readTruth(world, task.id, { from, to: from + 10 });
      expect([from, names(rows)]).toEqual([from, from < nine + hour ? all : all.slice(1)]);
      expect([rows.reachesNow, rows.twice]).toEqual([false, [{ from: nine + hour, to: nine + 3 * hour }]]);
    }
    const late = await readTruth(world, task.id, { from: nine + 6 * hour, to: nine + 7 * hour });
    expect([names(late), late.reachesNow]).toEqual([['restore'], true]);
  });

  test('set-backs of the clock are kept, but not without end', async () => {
    const world = await open();
    for (let index = 0; index < 103; index += 1)
      await world.store.setBack({ id: `back-${index}`, byMs: 0, twice: { from: nine + index, to: nine + index } });
    const { twice } = await readTruth(world, (await aTask(world)).id);
    expect([twice.length, twice[0]]).toEqual([100, { from: nine + 3, to: nine + 3 }]);
  });

  test('what is planned depends on what was skipped, on what waits and on what runs', async () => {
    const world = await open();
    const task = await aTaskWithSlots(world, 3);
    expect(await world.store.readPlanned('none')).toBeNull();
    await world.query(`update tasks set next_at = ?i`, nine + hour);
    await world.query(`update occurrences set status = 'skipped', reason = 'skip' where slot_at <> ?i`, nine + hour);
    await world.query(`update occurrences set status = 'pending', reason = null where slot_at = ?i`, nine + hour);
    const ahead = { skipped: [nine + 2 * hour], reserved: 1, awaitsEnd: false, rightEndsAt: null };
    expect(await world.store.readPlanned(task.id)).toMatchObject({ task: { id: task.id }, ahead });
    expect((await readTruth(world, task.id)).ahead).toEqual(ahead);
    await world.query(`update grants set expires_at = ?i`, nine + 5 * hour);
    expect((await world.store.readPlanned(task.id))?.ahead.rightEndsAt).toBe(nine + 5 * hour);
    await world.query(`update grants set revoked_at = ?i`, nine);
    expect((await world.store.readPlanned(task.id))?.ahead.rightEndsAt).toBe(0);
    await world.query(`update tasks set state = 'paused', next_at = null`);
    expect((await world.store.readPlanned(task.id))?.ahead.skipped).toEqual([]);
  });

  test('what retention has removed, it has noted', async () => {
    const { world, task } = await withTask(open);
    expect((await readTruth(world, task.id)).removedBefore).toBeNull();
    await world.store.writeNote('retention', JSON.stringify({ before: new Date(nine).toISOString() }), nine);
    expect((await readTruth(world, task.id)).removedBefore).toBe(nine);
  });

  test('the last slot is told for every change that found the task completed, and for now', async () => {
    const world = await open();
    const task = await aTaskWithSlots(world, 4);
    await note(world, task.id, [{ at: nine + 90 * minute, verb: 'edit', states: ['completed', 'active'] }]);
    await world.query(`update tasks set state = 'completed', next_at = null`);
    const { changes, lastSlotAt } = await readTruth(world, task.id);
    expect([changes[0]?.lastSlotAt, lastSlotAt]).toEqual([nine + hour, nine + 3 * hour]);
  });

  test('versions begin with the one in force and end with the next one', async () => {
    const { world, task } = await withTask(open);
    await world.query('delete from task_versions');
    const definition = `{"schedule":{"kind":"cron","cron":"0 * * * *","timezone":"UTC"},"policies":{},"action":{"kind":"message"}}`;
    for (const [version, at, text] of [
      [1, nine + hour, definition],
      [2, nine + 2 * hour, definition],
      [3, nine + 3 * hour, 'x'],
      [4, nine + 4 * hour, definition],
    ] as const) {
      await world.query(
        `insert into task_versions (task_id, version, at, actor, definition) values (?t, ?i, ?i, 'system', ?t)`,
        task.id,
        version,
        at,
        text,
      );
    }
    const versionsIn = async (from: number, to: number) =>
      (await readTruth(world, task.id, { from, to })).versions.map(({ version }) => version);
    expect(await versionsIn(nine + 70 * minute, nine + 80 * minute)).toEqual([1, 2]);
    expect(await versionsIn(nine + 90 * minute, nine + 4 * hour)).toEqual([1, 2, 4]);
    expect(await versionsIn(nine, nine + 1)).toEqual([1]);
  });

  test('rows that lie are no obstacle', async () => {
    const { world, task } = await withTask(open);
    await world.query(`update audit set before = '{', after = '[]'`);
    await world.query(`update tasks set policies = '[', action = ''`);
    const { changes, slots } = await readTruth(world, task.id);
    expect([changes[0]?.before, changes[0]?.after, slots]).toEqual([null, null, []]);
  });

  test('a run whose row is gone leaves its slot', async () => {
    const { world, task } = await withRunningTask(open);
    await world.query('delete from attempts');
    await world.query('delete from runs');
    expect((await readTruth(world, task.id)).slots).toMatchObject([{ status: 'dispatched', run: null }]);
    await startOne(world, nine).catch(() => undefined);
  });
}

/** Who did what to the slots of a task, oldest first. */
async function doers(world: World, { id }: Pick<Task, 'id'>): Promise<string[]> {
  const { slots } = await readTruth(world, id, { to: nine + 72 * hour });
  return slots.map(({ source, status, reason, deed, asker }) =>
    [
      source,
      status,
      reason ?? '',
      deed === null ? '' : `deed ${deed.verb}`,
      asker === null ? '' : `asked ${asker.verb}`,
    ]
      .filter((word) => word !== '')
      .join(' '),
  );
}

type Life = Engine & Pick<World, 'store' | 'query'> & { readonly task: Task };

const run = async ({ store, task }: Life) =>
  (await store.listTaskRuns({ taskId: task.id, status: null, limit: 99, cursor: null })).items.at(-1)?.runId ?? '';

const deeds: Readonly<Record<string, (life: Life) => Promise<unknown>>> = {
  skip: ({ rooms, task }) => rooms.tasks.skip(target(task), { count: 1, from: null }),
  snooze: ({ rooms, task }) => rooms.tasks.snooze(target(task), { forMs: hour }),
  undo: ({ rooms, task }) => rooms.tasks.undo(target(task), null),
  no: ({ rooms, task }) => rooms.tasks.answer(target(task), 'none'),
  yes: ({ rooms, task }) => rooms.tasks.answer(target(task), 'all'),
  pause: ({ rooms, task }) => rooms.tasks.pause(target(task), null),
  delete: ({ rooms, task }) => rooms.tasks.delete(target(task)),
  runNow: ({ rooms, task }) => rooms.tasks.runNow(target(task)),
  cancel: ({ rooms, task }) => rooms.tasks.cancel(target(task)),
  cancelRun: async (life) => life.rooms.tasks.cancelRun(await run(life), actor),
  cancelThread: ({ rooms }) => rooms.runs.cancelThread('cli:default', { actor }),
  retry: async (life) => life.rooms.tasks.repeat('retry', await run(life), { actor }),
  replay: async (life) => life.rooms.tasks.repeat('replay', await run(life), { actor }),
  /** Its next failure is one too many. */
  failing: ({ query }) => query('update tasks set consecutive_failures = 9'),
  minute: ({ pass }) => pass(minute),
  nine: ({ pass }) => pass(30 * minute),
  outage: ({ pass }) => pass(75 * minute),
  /** The slot comes while nothing is run. */
  slot: async ({ time, rooms }) => {
    await time.advance(30 * minute);
    await rooms.scheduler.step(time.now(), 10);
  },
};

const queue = { policies: { overlap: 'queue' } } as const;
const ask = { policies: { missed: 'ask' } } as const;

/** What is written when it is done need not be guessed later. */
function deedTests(open: OpenWorld): void {
  test.each<[string, Partial<TaskInput>, string[]]>([
    ['skip', {}, ['schedule skipped skip deed skip']],
    ['snooze undo', {}, ['snooze skipped undone deed undo asked snooze']],
    ['outage no', ask, ['catch_up skipped declined deed answer']],
    ['outage yes minute', ask, ['catch_up succeeded asked answer']],
    ['runNow slot pause', queue, ['run_now dispatched asked run_now', 'schedule skipped paused deed pause']],
    [
      'runNow slot delete',
      queue,
      ['run_now cancelled deleted deed delete asked run_now', 'schedule cancelled deleted deed delete'],
    ],
    [
      'runNow slot failing minute',
      { ...queue, action: failing },
      ['run_now failed asked run_now', 'schedule skipped paused deed pause'],
    ],
    ['runNow cancel', {}, ['run_now cancelled cancelled deed cancel asked run_now']],
    ['runNow cancelRun', {}, ['run_now cancelled cancelled deed cancel asked run_now']],
    ['runNow cancelThread', {}, ['run_now cancelled cancelled deed cancel asked run_now']],
    [
      'nine minute retry minute replay',
      { action: failing },
      ['schedule failed', 'retry failed asked retry', 'replay dispatched asked replay'],
    ],
  ])('a slot knows whose deed it was after: %s', async (verbs, input, told) => {
    const world = await open();
    const engine = engineOn(world);
    const task = await engine.create(input);
    for (const verb of verbs.split(' ')) await deeds[verb]?.({ ...engine, ...world, task });
    expect(await doers(world, task)).toEqual(told);
  });
}
