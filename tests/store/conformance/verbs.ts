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

/** The verbs of people and clients, over a real database of each kind; their promises are proved through the pipeline. */
export function personVerbTests(open: OpenWorld): void {
  test('a task lives through its verbs, and goes with its thread', async () => {
    const world = await open();
    const { rooms, create, pass, story, time } = engineOn(world);
    const task = await create({}, { threadKey: 'telegram:chat:-5:topic:7' });
    await rooms.tasks.skip(target(task), { count: 3, from: nine });
    await rooms.tasks.pause(target(task), nine + minute);
    await time.advance(31 * minute);
    expect((await rooms.tasks.unskip(target(task))).task.nextAt).toBe(nine + hour);
    expect((await deeds(world)).slice(2)).toEqual([
      'pause active -> paused',
      'resume paused -> active',
      'unskip active -> active',
    ]);
    await pass(hour);
    expect(await story(task)).toEqual(['0 skipped skip', '60 succeeded']);
    await rooms.tasks.edit(target(task), { title: 'Sit down' });
    expect((await rooms.tasks.versions(task.id)).map(({ version }) => version).length).toBeGreaterThan(1);
    const ofChat = { thread: { provider: 'telegram', address: '-5', topic: null } } as const;
    await create({ title: 'Lie down' }, { threadKey: 'telegram:chat:-5:topic:7' });
    const counts = await rooms.bulk.count(ofChat);
    expect(counts).toMatchObject({ active: 2, liveRuns: 0 });
    expect(await rooms.bulk.purge(ofChat, { actor, expected: 1 })).toEqual({ counts, isDone: false });
    expect(await rooms.bulk.purge(ofChat, { actor, expected: 2 })).toEqual({ counts, isDone: true });
    expect(await rooms.bulk.count(ofChat)).toMatchObject({ active: 0 });
    expect((await deeds(world)).slice(-2)).toEqual(['delete active -> deleted', 'delete active -> deleted']);
    expect((await rooms.tasks.restore(target(task))).task.state).toBe('active');
  });

  test('a snooze that was moved away leaves its instant to the slots of another timing', async () => {
    const world = await open();
    const { rooms, create, pass, story } = engineOn(world);
    const task = await create({ schedule: hourly });
    for (const at of [nine + 10 * minute, nine + 30 * minute, nine + 40 * minute])
      await rooms.tasks.snooze(target(task), at);
    await rooms.tasks.edit(target(task), { schedule: { ...hourly, cron: '30 * * * *' } });
    for (let turn = 0; turn < 6; turn += 1) await pass(10 * minute);
    expect(await story(task)).toEqual(['10 snooze skipped replaced', '30 succeeded', '40 snooze pending']);
  });
}
