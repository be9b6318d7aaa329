import { expect, test } from 'vitest';
import type { DueTask } from '../../../src/app/ports/pipeline.ts';
import type { TaskScene } from '../../../src/app/ports/tasks.ts';
import type { Task } from '../../../src/domain/task.ts';
import { claimAll, endOf, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { change, paused, removed, slotsOf, standings, withRunningTask, withTask } from '../scenes.ts';

function dueOf(due: TaskScene['due']): DueTask {
  if (due === null) throw new Error('the task is not due');
  return due;
}

const by = 'telegram:user:9';
const under = (task: Task, key: string) =>
  ({ scope: `run-now:${task.id}`, key, payloadHash: task.id, expiresAt: nine + 24 * hour }) as const;

/** Runs the task by hand at the first free instant. */
function runNow(world: World, task: Task, key: string | null = null) {
  const plan = ({ taken, live }: TaskScene) => {
    let slotAt = nine + 1;
    while (taken.has(slotAt)) slotAt += 1;
    const { occurrence, run } = world.make.dispatched(task, slotAt);
    const busy = { ...occurrence, source: 'run_now', status: 'pending', runId: null } as const;
    if (live.length > 0) return { manual: { occurrence: busy, run: null } };
    return { manual: { occurrence: { ...occurrence, source: 'run_now' as const }, run } };
  };
  return change(world, task, plan, { actor: by, once: key === null ? null : under(task, key) });
}

/** Changes of a task under its lock. */
export function changeTests(open: OpenWorld): void {
  test('a change sets what it names, raises the version and tells who did it', async () => {
    const { world, task } = await withTask(open, { subject: 's', tags: ['a'] });
    const set = {
      title: 'New',
      instructions: 'New text',
      action: { kind: 'message', loud: true },
      schedule: { kind: 'once', onceAt: nine + hour, timezone: 'Europe/Berlin' },
      policies: { overlap: 'queue', auto_pause: 3 },
      subject: null,
      tags: ['b', 'c'],
      nextAt: nine + hour,
      minGapMs: null,
      context: { a: 1 },
      boundedRuns: 4,
      consecutiveFailures: 5,
    } as const;
    const audit = { verb: 'edit' as const, before: { title: task.title }, after: { title: 'New' } };
    const changed = await change(world, task, { set, stamp: 'updated', audit }, { actor: by });

    const { boundedRuns, consecutiveFailures, ...rest } = set;
    expect(changed).toMatchObject({ occurrenceId: null, replayed: false });
    expect(await world.store.readTask(task.id)).toMatchObject({
      ...rest,
      version: 2,
      updated: { at: nine, by },
      counters: { boundedRuns, consecutiveFailures },
    });
    expect(await world.query('select auto_pause from tasks')).toEqual([{ auto_pause: 3 }]);
    expect(await world.query(`select actor, before, after from audit where verb = 'edit'`)).toEqual([
      { actor: by, before: JSON.stringify(audit.before), after: JSON.stringify(audit.after) },
    ]);
  });

  test.each(['paused', 'resumed', 'deleted'] as const)(
    'the stamp %s is set with its time and its actor',
    async (stamp) => {
      const { world, task } = await withTask(open);
      await change(world, task, { set: { pausedReason: 'manual' }, stamp }, { actor: by });

      expect((await world.store.readTask(task.id))?.[stamp]).toEqual({ at: nine, by });
    },
  );

  test('a change that says nothing leaves the row as it is, without an audit row', async () => {
    const { world, task } = await withTask(open);
    await change(world, task, {});

    expect(await world.store.readTask(task.id)).toEqual(task);
    expect(await world.query('select verb from audit')).toEqual([{ verb: 'create' }]);
  });

  test('a plan that throws changes nothing and gives its key back', async () => {
    const { world, task } = await withTask(open);
    const failing = change(
      world,
      task,
      () => {
        throw new Error('a fault of the plan');
      },
      { once: under(task, 'k') },
    );

    await expect(failing).rejects.toMatchObject({ code: 'internal' });
    expect(await world.query('select key from idempotency_keys')).toEqual([]);
  });

  test('a change whose last statement fails undoes its claims, its fields and its occurrence', async () => {
    const { world, task } = await withTask(open);
    const broken = { ...world.make.occurrence({ slotAt: nine + 1 }), status: 'nonsense' as 'pending' };
    const failing = change(world, task, ({ due }) => ({
      claims: [world.make.claim(dueOf(due))],
      set: { title: 'New' },
      manual: { occurrence: broken, run: null },
    }));

    await expect(failing).rejects.toMatchObject({ code: 'internal' });
    expect(await world.store.readTask(task.id)).toEqual(task);
    expect(await slotsOf(world, task)).toEqual([]);
  });

  test('a task that does not exist cannot be changed', async () => {
    const world = await open();

    await expect(change(world, { id: 'none' }, () => ({}))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('slots that are due are claimed before the change, in one go', async () => {
    const { world, task } = await withTask(open);
    await change(world, task, ({ due }) => ({
      claims: [world.make.claim(dueOf(due))],
      set: { state: 'paused', nextAt: null, pausedReason: 'manual' },
      stamp: 'paused',
    }));

    expect(await slotsOf(world, task)).toMatchObject([{ slotAt: nine, status: 'dispatched' }]);
    expect(await world.store.readTask(task.id)).toMatchObject({ state: 'paused', nextAt: null });
    expect(await claimAll(world, { now: nine + hour, limit: 9 })).toEqual({ taken: 0, more: false });
  });

  test('a decision sees live runs, waiting occurrences, taken slots and the grant', async () => {
    const { world, task, started } = await withRunningTask(open);
    const waiting = world.make.occurrence({ slotAt: nine + hour });
    await claimAll(world, { now: nine + hour, limit: 9 }, () => ({ occurrences: [waiting], runs: [] }));
    const scenes: TaskScene[] = [];
    await change(world, task, (scene) => {
      scenes.push(scene);
      return {};
    });

    expect(scenes).toMatchObject([
      {
        task: { id: task.id },
        due: { id: task.id, live: 1, waiting: 1 },
        live: [{ id: started.run.id, status: 'running', occurrenceId: started.run.occurrenceId }],
        waiting: 1,
        taken: new Set([nine, nine + hour]),
        grant: { scopes: ['action:message'], revokedAt: null },
      },
    ]);
  });
}

/** Runs by hand, and changes that end what waits and what runs. */
export function verbTests(open: OpenWorld): void {
  test('a run by hand is an occurrence of its own, takes the first free instant and leaves the schedule alone', async () => {
    const { world, task } = await withTask(open);
    await claimAll(world, { now: nine, limit: 9 }, () => ({
      occurrences: [nine, nine + 1, nine + 2].map((slotAt) => world.make.occurrence({ slotAt, status: 'skipped' })),
      runs: [],
    }));
    const { occurrenceId } = await runNow(world, task);

    expect(await world.store.readTaskRun(occurrenceId ?? '')).toMatchObject({
      slotAt: nine + 3,
      source: 'run_now',
      status: 'dispatched',
      attempts: [],
    });
    expect(await world.store.readTask(task.id)).toMatchObject({
      nextAt: nine + hour,
      counters: { boundedRuns: 0 },
      version: 1,
    });
  });

  test('the same key answers which entry of the audit the first call made, so that it can be undone', async () => {
    const { world, task } = await withTask(open);
    const pause = {
      set: { state: 'paused', nextAt: null },
      audit: { verb: 'pause', before: null, after: null },
    } as const;
    const first = await change(world, task, pause, { once: under(task, 'k') });

    expect(first.entryId).not.toBeNull();
    expect(await change(world, task, pause, { once: under(task, 'k') })).toMatchObject({
      occurrenceId: null,
      entryId: first.entryId,
      replayed: true,
    });
  });

  test('pausing skips what waits, and leaves what runs alone', async () => {
    const { world, task, started } = await withRunningTask(open);
    const question = world.make.occurrence({ slotAt: nine + 1, reason: 'ask', decideBy: nine + 24 * hour });
    const waiting = world.make.occurrence({ slotAt: nine + hour });
    await claimAll(world, { now: nine + hour, limit: 9 }, () => ({ occurrences: [question, waiting], runs: [] }));
    await change(world, task, paused);

    expect(await standings(world, task)).toEqual(['skipped paused', 'skipped paused', 'dispatched']);
    expect(await world.store.finishRuns([endOf(started)])).toMatchObject({ written: 1 });
  });

  test('deleting cancels what waits and what nobody holds, and asks what runs to stop', async () => {
    const { world, task, started } = await withRunningTask(open);
    const shared = world.make.dispatched(task, nine + minute, { exclusive: false });
    const waiting = world.make.occurrence({ slotAt: nine + hour });
    await claimAll(world, { now: nine + hour, limit: 9 }, () => ({
      occurrences: [shared.occurrence, waiting],
      runs: [shared.run],
    }));
    await change(world, task, removed);

    expect(await world.store.cancelRequested('boot-here')).toEqual([started.run.id]);
    expect(await standings(world, task)).toEqual(['cancelled deleted', 'cancelled deleted', 'dispatched']);
    expect(await world.store.readRun(shared.run.id)).toMatchObject({
      status: 'cancelled',
      error: 'deleted',
      finishedAt: nine,
    });
  });

  test('asking to stop again keeps the first time', async () => {
    const { world, task } = await withRunningTask(open);
    await change(world, task, { cancelLive: true });
    await change(world, task, { cancelLive: true }, { at: nine + hour });

    expect(await world.query('select cancel_requested_at from runs')).toEqual([{ cancel_requested_at: nine }]);
  });

  test('a task with an unreadable row or grant can still be deleted', async () => {
    const { world, task } = await withTask(open);
    await world.query(`update tasks set policies = '{', action = '[]', context = '' where id = ?t`, task.id);
    await world.query(`update grants set scopes = '{'`);
    await change(world, task, ({ due, grant }) => {
      expect([due, grant]).toEqual([null, null]);
      return removed;
    });

    expect(await world.store.readTask(task.id)).toMatchObject({
      state: 'deleted',
      action: { kind: 'unreadable' },
      policies: {},
    });
  });
}
