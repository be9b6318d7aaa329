import { expect, test } from 'vitest';
import type { Store } from '../../../src/app/ports/store.ts';
import type { CreateRequest } from '../../../src/app/tasks/create.ts';
import type { TaskInput } from '../../../src/app/tasks/definition.ts';
import { composeRooms, type Rooms, type RoomSettings } from '../../../src/compose/assembly.ts';
import type { Task } from '../../../src/domain/task.ts';
import { hour, minute, nine } from '../../support/builders.ts';
import { faultyTransport, manualTime, memoryLog, type ManualTime } from '../../support/fakes.ts';
import { settings } from '../../support/pipeline.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';

export const actor = 'telegram:user:7';
const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;
export const failing = { kind: 'echo', fail_attempts: 99, error: 'final' } as const;

/** The whole pipeline over one of the engines, at half past eight, with its clock in the hands of the test. */
export interface Engine {
  readonly time: ManualTime;
  readonly rooms: Rooms;
  readonly create: (input?: Partial<TaskInput>, request?: Partial<CreateRequest>) => Promise<Task>;
  /** Steps scheduler and runner until neither has anything left to do. */
  readonly settle: () => Promise<void>;
  readonly pass: (ms: number) => Promise<void>;
  /** Every occurrence in one line: minutes from nine, and what became of it. */
  readonly story: (task: Pick<Task, 'id'>) => Promise<string[]>;
}

export function engineOn(
  { make, store: first }: World,
  store: Store = first,
  time = manualTime(nine - 30 * minute),
  own: Partial<RoomSettings> = {},
): Engine {
  const ids = { next: () => make.id(), chance: () => 0.5 };
  const world = { clock: time, stopwatch: time, timer: time, ids, log: memoryLog() };
  const chat = faultyTransport();
  const rooms = composeRooms({ ...settings, ...own }, world, { store, transport: (budget) => chat.within(budget) });
  const settle = async () => {
    for (let idle = 0; idle < 2;) {
      const scheduled = await rooms.scheduler.step(time.now(), 100);
      const ran = await rooms.runner.step(time.now(), 100);
      await rooms.runner.idle();
      idle = scheduled.taken + ran.taken === 0 ? idle + 1 : 0;
    }
  };
  return {
    time,
    rooms,
    settle,
    pass: async (ms) => {
      await time.advance(ms);
      await settle();
    },
    create: async (input = {}, request = {}) =>
      (
        await rooms.tasks.create({
          threadKey: 'cli:default',
          actor,
          idempotencyKey: null,
          input: { instructions: 'Stand up!', schedule: hourly, ...input },
          ...request,
        })
      ).task,
    story: async ({ id }) =>
      (await store.listTaskRuns({ taskId: id, status: null, limit: 100, cursor: null })).items
        .toReversed()
        .map(({ slotAt, source, status, reason }) =>
          [Math.floor((slotAt - nine) / minute), source === 'schedule' ? [] : source, status, reason ?? []]
            .flat()
            .join(' '),
        ),
  };
}

export function target({ id }: Pick<Task, 'id'>, idempotencyKey: string | null = null) {
  return { taskId: id, actor, idempotencyKey } as const;
}

/** The verbs of the audit with the states around them. */
export async function deeds(world: World): Promise<string[]> {
  const rows = await world.query<{ verb: string; state_before: string | null; state_after: string }>(
    'select verb, state_before, state_after from audit order by id',
  );
  return rows.map((one) => `${one.verb} ${one.state_before ?? 'nothing'} -> ${one.state_after}`);
}

/** The verbs of people and clients, over a real database of each kind. */
export function personVerbTests(open: OpenWorld): void {
  test('a pause until an instant ends by itself, and the slot at its end counts', async () => {
    const world = await open();
    const { rooms, create, pass, story } = engineOn(world);
    const task = await create();
    await rooms.tasks.pause(target(task), nine + hour);
    expect(await rooms.scheduler.nextAt(nine)).toBe(nine + hour);
    await pass(90 * minute);
    expect(await story(task)).toEqual(['60 succeeded']);
    expect(await deeds(world)).toEqual([
      'create nothing -> active',
      'pause active -> paused',
      'resume paused -> active',
    ]);
  });

  test('skipped slots have their rows, survive a pause, and come back', async () => {
    const { rooms, create, pass, story } = engineOn(await open());
    const task = await create();
    await rooms.tasks.skip(target(task), { count: 3, from: nine });
    await rooms.tasks.skip(target(task), { count: 3, from: nine });
    await rooms.tasks.pause(target(task), null);
    await rooms.tasks.resume(target(task));
    await pass(30 * minute);
    expect((await rooms.tasks.unskip(target(task))).task.nextAt).toBe(nine + hour);
    expect(await story(task)).toEqual(['0 skipped skip']);
  });

  test('a snooze is moved, runs at its time, and is ended by a pause', async () => {
    const { rooms, create, pass, story } = engineOn(await open());
    const task = await create();
    await rooms.tasks.snooze(target(task), nine + 20 * minute);
    await rooms.tasks.snooze(target(task), nine + 10 * minute);
    await pass(40 * minute);
    await rooms.tasks.snooze(target(task), nine + 30 * minute);
    await rooms.tasks.pause(target(task), null);
    expect(await story(task)).toEqual([
      '0 succeeded',
      '10 snooze succeeded',
      '20 snooze skipped replaced',
      '30 snooze skipped paused',
    ]);
  });

  test('a retry is found by every run of its chain, and a replay is another call', async () => {
    const { rooms, create, settle, time, story } = engineOn(await open());
    const task = await create({ action: failing });
    const first = (await rooms.tasks.runNow(target(task))).taskRun.runId ?? '';
    await settle();
    const repeat = (kind: 'retry' | 'replay', of: string) => rooms.tasks.repeat(kind, of, { actor });
    const second = (await repeat('retry', first)).taskRun.runId ?? '';
    await settle();
    const third = (await repeat('retry', second)).taskRun;
    for (const one of [first, second]) expect((await repeat('retry', one)).taskRun.id).toBe(third.id);
    await settle();
    await time.advance(minute);
    const replayed = (await repeat('replay', first)).taskRun.runId ?? '';
    await settle();
    await repeat('retry', replayed);
    await settle();
    expect((await story(task)).map((line) => line.split(' ').slice(1).join(' '))).toEqual([
      'run_now failed',
      'retry failed',
      'retry failed',
      'replay failed',
      'retry failed',
    ]);
  });

  test('what is live is called off once, and what waits has its turn', async () => {
    const world = await open();
    const { rooms, create, settle, story } = engineOn(world);
    const task = await create({ policies: { overlap: 'queue' } });
    const { taskRun } = await rooms.tasks.runNow(target(task));
    await rooms.tasks.runNow(target(task));
    await rooms.tasks.cancel(target(task));
    expect((await rooms.tasks.cancel(target(task))).entryId).toBeNull();
    expect((await rooms.tasks.cancelRun(taskRun.runId ?? '', actor)).cancelled).toBe(true);
    await settle();
    expect(await story(task)).toEqual(['-30 run_now cancelled cancelled', '-30 run_now succeeded']);
    expect(await world.query(`select task_id from events where kind = 'run.cancelled'`)).toEqual([
      { task_id: task.id },
    ]);
  });

  test('an edit is undone exactly, and its versions stay', async () => {
    const { rooms, create } = engineOn(await open());
    const task = await create({ title: 'One', policies: { grace: 'PT1M' }, subject: 's', tags: ['a'] });
    const schedule = { kind: 'interval', interval: 'PT2H', timezone: 'Europe/Madrid' } as const;
    await rooms.tasks.edit(target(task), {
      title: 'Two',
      schedule,
      policies: { grace: null, max_runs: 3 },
      subject: null,
    });
    const { task: back } = await rooms.tasks.undo(target(task), null);
    expect(back).toMatchObject({
      title: 'One',
      schedule: task.schedule,
      policies: task.policies,
      subject: 's',
      nextAt: task.nextAt,
      minGapMs: task.minGapMs,
    });
    expect((await rooms.tasks.versions(task.id)).map(({ definition }) => definition.title)).toEqual([
      'One',
      'Two',
      'One',
    ]);
  });

  test('a task is deleted, restored and purged with its thread', async () => {
    const world = await open();
    const { rooms, create, settle } = engineOn(world);
    const task = await create();
    await create({}, { threadKey: 'telegram:chat:-5:topic:7' });
    const other = await create({}, { threadKey: 'telegram:chat:-5' });
    await rooms.tasks.runNow(target(other));
    await rooms.tasks.delete(target(task));
    expect((await rooms.tasks.restore(target(task))).task).toMatchObject({
      state: 'active',
      nextAt: nine,
      deleted: null,
    });
    const thread = { provider: 'telegram', address: '-5', topic: null } as const;
    const counts = { active: 2, paused: 0, completed: 0, liveRuns: 1, openDeliveries: 0 };
    expect(await rooms.bulk.count(thread)).toEqual(counts);
    expect(await rooms.bulk.purge(thread, { actor })).toEqual(counts);
    expect(await rooms.bulk.count(thread)).toMatchObject({ active: 0, liveRuns: 0 });
    await settle();
    expect(await world.query(`select status from runs`)).toEqual([{ status: 'cancelled' }]);
  });

  test('a question is answered, late or never', async () => {
    const { rooms, create, pass, story, settle } = engineOn(await open());
    const [yes, no] = [await create({ policies: { missed: 'ask' } }), await create({ policies: { missed: 'ask' } })];
    await pass(50 * minute);
    await rooms.tasks.answer(target(yes), 'all');
    await rooms.tasks.answer(target(no), 'none');
    await settle();
    expect([await story(yes), await story(no)]).toEqual([['0 catch_up succeeded'], ['0 catch_up skipped declined']]);
  });

  test('a run of a deleted task that ends later brings nothing to be sent', async () => {
    const world = await open();
    const { rooms, create, time } = engineOn(world);
    const task = await create({ action: { kind: 'echo', delay_ms: 1000 } }, { threadKey: 'telegram:chat:-5' });
    await rooms.tasks.runNow(target(task));
    await rooms.runner.step(time.now(), 10);
    await rooms.tasks.delete(target(task));
    await time.advance(1000);
    await rooms.runner.idle();
    expect(await world.query('select status, error from runs')).toEqual([{ status: 'cancelled', error: 'deleted' }]);
    expect(await world.query('select id from deliveries')).toEqual([]);
  });

  test('a verb that changes nothing writes neither a row nor an event', async () => {
    const world = await open();
    const { rooms, create } = engineOn(world);
    const { tasks } = rooms;
    const task = await create({ title: 'One' });
    const before = await world.store.readTask(task.id);
    await tasks.resume(target(task));
    await tasks.unskip(target(task));
    await tasks.cancel(target(task));
    await tasks.restore(target(task));
    await tasks.edit(target(task), { title: 'One', schedule: hourly });
    await create({ title: 'One' }, { onExisting: 'upsert' });
    expect(await deeds(world)).toEqual(['create nothing -> active']);
    expect(await world.query('select kind from events')).toEqual([{ kind: 'task.create' }]);
    expect(await world.store.readTask(task.id)).toEqual(before);
  });
}
