import { expect, test } from 'vitest';
import type { Admission, Quarantine, WaitingOccurrence } from '../../../src/app/ports/pipeline.ts';
import type { Task } from '../../../src/domain/task.ts';
import { aTask, endOf, hour, nine, readable } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { slotsOf, withRunningTask, withTask } from '../scenes.ts';

const later = { now: nine + 2 * hour, limit: 100 };

/** Puts one waiting occurrence for each slot into the task, whatever its schedule says. */
async function wait(world: World, task: Task, slots: readonly number[], facts = {}): Promise<void> {
  await world.query('update tasks set next_at = ?i where id = ?t', nine, task.id);
  await world.store.claimDue({ now: nine, limit: 100 }, (due) =>
    due
      .filter(({ id }) => id === task.id)
      .map((row) => ({
        ...world.make.claim(readable(row)),
        occurrences: slots.map((slotAt) => world.make.occurrence({ slotAt, reason: 'overlap', ...facts })),
        runs: [],
        nextAt: nine + 24 * hour,
      })),
  );
}

function admission(world: World, waiting: WaitingOccurrence): Admission {
  const task = readable(waiting.task);
  const run = world.make.taskRun(task, waiting.slotAt, { occurrenceId: waiting.id });
  return { occurrenceId: waiting.id, taskId: task.id, run };
}

/** Occurrences that wait behind a live run of their task. */
export function admissionTests(open: OpenWorld): void {
  const admitAll = (world: World) =>
    world.store.admitWaiting(later, (waiting) => waiting.map((one) => admission(world, one)));
  const statuses = async (world: World, task: Task) => {
    const items = await slotsOf(world, task);
    return items.map(({ status }) => status).toReversed();
  };

  test('an occurrence waits while a run of its task lives, and is admitted once when that run has ended', async () => {
    const { world, task, started } = await withRunningTask(open);
    await wait(world, task, [nine + 1]);
    expect(await admitAll(world)).toEqual({ taken: 0, more: false });

    await world.store.finishRuns([endOf(started)]);
    expect(await admitAll(world)).toEqual({ taken: 1, more: true });
    expect(await admitAll(world)).toEqual({ taken: 0, more: false });
    expect(await statuses(world, task)).toEqual(['succeeded', 'dispatched']);
  });

  test.each(['queued', 'running', 'backoff'])('a run that is %s keeps its task busy', async (status) => {
    const { world, task, started } = await withRunningTask(open);
    await world.query('update runs set status = ?t, exclusive = 0 where id = ?t', status, started.run.id);
    await wait(world, task, [nine + 1]);

    expect(await admitAll(world)).toEqual({ taken: 0, more: false });
  });

  test('one occurrence of each task is admitted, the oldest, and the tasks that waited longest come first', async () => {
    const world = await open();
    const [first, second, third] = [await aTask(world), await aTask(world), await aTask(world)];
    await wait(world, first, [nine + 5, nine + 6]);
    await wait(world, second, [nine + 1, nine + 2]);
    await wait(world, third, [nine + 3]);
    const seen: (readonly [string, number])[] = [];
    const counts = await world.store.admitWaiting({ ...later, limit: 2 }, (waiting) => {
      seen.push(...waiting.map((one) => [readable(one.task).id, one.slotAt] as const));
      return waiting.map((one) => admission(world, one));
    });

    expect(counts).toEqual({ taken: 2, more: true });
    expect(seen).toEqual([
      [second.id, nine + 1],
      [third.id, nine + 3],
    ]);
    expect(await statuses(world, second)).toEqual(['dispatched', 'pending']);
  });

  test('an occurrence that may not run is skipped with its reason', async () => {
    const { world, task } = await withTask(open);
    await wait(world, task, [nine + 1]);
    await world.store.admitWaiting(later, ([one]) => [
      { occurrenceId: one?.id ?? '', taskId: task.id, skip: 'grant_revoked' },
    ]);

    const { items } = await world.store.listTaskRuns({ taskId: task.id, status: 'skipped', limit: 10, cursor: null });
    expect(items).toMatchObject([{ reason: 'grant_revoked', runId: null }]);
    expect(await world.query('select id from runs')).toEqual([]);
  });

  test('what waits for a task that cannot be read fails with the reason, and the others are admitted', async () => {
    const world = await open();
    const [bad, good] = [await aTask(world), await aTask(world)];
    await wait(world, bad, [nine + 1, nine + 2]);
    await wait(world, good, [nine + 3]);
    await world.query(`update tasks set policies = 'x' where id = ?t`, bad.id);
    const decide = (one: WaitingOccurrence): Admission | Quarantine =>
      'unreadable' in one.task ? { taskId: one.task.id, quarantine: one.task.unreadable } : admission(world, one);
    const step = () => world.store.admitWaiting(later, (waiting) => waiting.map(decide));

    expect(await step()).toMatchObject({ taken: 2 });
    expect(await step()).toMatchObject({ taken: 0 });
    expect(await statuses(world, bad)).toEqual(['failed', 'failed']);
    expect(await statuses(world, good)).toEqual(['dispatched']);
    expect(await world.store.readTask(bad.id)).toMatchObject({ state: 'paused', pausedReason: 'policies is no JSON' });
  });

  test('a plan that throws admits nobody', async () => {
    const { world, task } = await withTask(open);
    await wait(world, task, [nine + 1]);
    const failing = world.store.admitWaiting(later, () => {
      throw new Error('a fault of the plan');
    });

    await expect(failing).rejects.toMatchObject({ code: 'internal' });
    expect(await statuses(world, task)).toEqual(['pending']);
  });

  test('an occurrence of a task that is completed by now is admitted all the same', async () => {
    const { world, task } = await withTask(open);
    await wait(world, task, [nine + 1]);
    await world.query(`update tasks set state = 'completed', next_at = null where id = ?t`, task.id);

    expect(await admitAll(world)).toMatchObject({ taken: 1 });
    expect(await statuses(world, task)).toEqual(['dispatched']);
  });
}
