import { expect, test } from 'vitest';
import type { StartedRun } from '../../../src/app/ports/pipeline.ts';
import type { Task } from '../../../src/domain/task.ts';
import {
  aTask,
  bootId,
  claimAll,
  endOf,
  failureOf,
  hour,
  minute,
  nine,
  readable,
  startEvery,
} from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { change, eventsOf, outbox, withRunningTask, withTask } from '../scenes.ts';

const once = { policies: { max_runs: 1 } };
const toBackoff = { attemptStatus: 'failed', status: 'backoff', error: 'no', readyAt: nine + minute } as const;
const calledOff = (world: World, task: Task) => change(world, task, { cancelLive: true }, { at: nine + 2000 });
const lost = { does: 'end', interrupted: true, status: 'failed', occurrence: 'failed', reason: null } as const;
const leftOut = { does: 'end', interrupted: false, status: 'cancelled', occurrence: 'skipped' } as const;

/** Words about the end of a run that may have been the last one. */
const lastOf = ({ make }: World) => ({
  byHand: false,
  failed: null,
  autoPaused: null,
  recovered: null,
  completed: make.part({ kind: 'notice', part: 4, content: { view: 'completed', runs: 0 } }),
});

/** The places that plans see taken, and the count. */
async function placesOf(world: World, { id }: Task, now: number) {
  const seen: object[] = [];
  await world.store.claimDue({ now, limit: 100 }, (due) => {
    const { held, reserved } = due.map(readable).find((one) => one.id === id) ?? {};
    seen.push({ held, reserved, counted: null });
    return [];
  });
  return { ...seen[0], counted: (await world.store.readTask(id))?.counters.boundedRuns };
}

/** The count for `max_runs`: a run takes a place when it is admitted, and is counted when it ends after it began. */
export function boundTests(open: OpenWorld): void {
  test.each<[string, (world: World, started: StartedRun, task: Task) => Promise<unknown>, boolean?]>([
    ['succeeds', (world, started) => world.store.finishRuns([endOf(started, { notices: lastOf(world) })]), true],
    ['fails', (world, started) => world.store.finishRuns([failureOf(started, { notices: lastOf(world) })]), true],
    [
      'is called off before it succeeds',
      async (world, started, task) => {
        await calledOff(world, task);
        await world.store.finishRuns([endOf(started, { notices: lastOf(world) })]);
      },
      true,
    ],
    [
      'is called off between two attempts',
      async (world, started, task) => {
        await world.store.finishRuns([endOf(started, toBackoff)]);
        await calledOff(world, task);
      },
    ],
    [
      'is called off while its attempt fails',
      async (world, started, task) => {
        await calledOff(world, task);
        await world.store.finishRuns([endOf(started, toBackoff)]);
      },
    ],
    [
      'is lost in a crash, and is not repeated',
      async ({ store }, { run }) => {
        await store.letRunsGo(bootId, []);
        await store.startRuns({ now: nine + minute, limit: 9 }, 'boot-next', () => [
          { runId: run.id, ...lost, error: 'lost', errorCode: 'interrupted' },
        ]);
      },
    ],
  ])(
    'a run that %s is counted, and completes its task where it was the last one',
    async (_how, end, isTold = false) => {
      const { world, task, started } = await withRunningTask(open, once);
      expect(await world.store.readTask(task.id)).toMatchObject({ state: 'active', counters: { boundedRuns: 0 } });
      await end(world, started, task);
      const now = { state: 'completed', nextAt: null, counters: { boundedRuns: 1 } };
      expect(await world.store.readTask(task.id)).toMatchObject(now);
      expect(await eventsOf(world, task, 'task.complete')).toHaveLength(1);
      const told = await outbox<{ content: string }>(world, 'content', `kind = 'notice'`);
      expect(told.map(({ content }) => JSON.parse(content) as unknown)).toEqual(
        isTold ? [{ view: 'completed', runs: 1 }] : [],
      );
    },
  );

  test.each<[string, (world: World, task: Task) => Promise<unknown>]>([
    ['is called off in time', calledOff],
    [
      'may not run any more',
      ({ store }) =>
        store.startRuns({ now: nine, limit: 9 }, 'boot', (runs) =>
          runs.map(({ id: runId }) => ({
            runId,
            ...leftOut,
            reason: 'grant_revoked',
            error: 'no',
            errorCode: 'not_allowed',
          })),
        ),
    ],
  ])('a run that never began, as it %s, gives its place back', async (_why, end) => {
    const { world, task } = await withTask(open, once);
    await claimAll(world, { now: nine, limit: 100 });
    expect(await placesOf(world, task, nine + hour)).toEqual({ held: 1, reserved: 0, counted: 0 });
    await end(world, task);
    expect(await placesOf(world, task, nine + hour)).toEqual({ held: 0, reserved: 0, counted: 0 });
    expect(await world.store.readTask(task.id)).toMatchObject({ state: 'active', nextAt: nine + hour });
  });

  test('runs by hand take no place', async () => {
    const { world, task } = await withTask(open, once);
    const { occurrence, run } = world.make.dispatched(task, nine - minute, { input: { ...runOf(task), byHand: true } });
    const manual = { occurrence: { ...occurrence, source: 'run_now' as const }, run };
    await change(world, task, { manual }, { at: nine - minute });
    expect(await placesOf(world, task, nine)).toEqual({ held: 0, reserved: 0, counted: 0 });
    const [started] = await startEvery(world, nine);
    if (started === undefined) throw new Error('nothing started');
    await world.store.finishRuns([endOf(started)]);
    expect(await placesOf(world, task, nine)).toEqual({ held: 0, reserved: 0, counted: 0 });
  });

  test('runs that the timing before asked for are not counted, also beside newer ones in one batch', async () => {
    const world = await open();
    const task = await aTask(world, { policies: { max_runs: 2, overlap: 'allow' } });
    const beside = (slotAt: number) => (due: { readonly version: number }) => {
      const made = world.make.dispatched({ ...task, ...due }, slotAt, { exclusive: false });
      return { occurrences: [made.occurrence], runs: [made.run] };
    };
    await claimAll(world, { now: nine, limit: 9 }, beside(nine));
    await change(world, task, { set: { boundedRuns: 0 }, stamp: 'updated' });
    expect(await placesOf(world, task, nine + hour)).toEqual({ held: 0, reserved: 0, counted: 0 });
    await claimAll(world, { now: nine + hour, limit: 9 }, beside(nine + hour));
    expect(await placesOf(world, task, nine + 2 * hour)).toEqual({ held: 1, reserved: 0, counted: 0 });
    const started = await startEvery(world, nine + hour);
    await world.store.finishRuns(started.map((one) => endOf(one)));
    expect(await placesOf(world, task, nine + 2 * hour)).toEqual({ held: 0, reserved: 0, counted: 1 });
  });
}

const runOf = ({ title, instructions, action }: Task) => ({
  title,
  instructions,
  action,
  timezone: 'UTC',
  number: 1,
  slotAt: nine,
  late: false,
  delivers: true,
});
