import { describe, expect, test } from 'vitest';
import { noChange } from '../../src/app/ports/tasks.ts';
import type { Script } from '../../src/store/engine/engine.ts';
import { finishRuns } from '../../src/store/runs/ends.ts';
import { cancelLive } from '../../src/store/runs/thread-runs.ts';
import { changeLocked } from '../../src/store/tasks/changes.ts';
import { ample, aTask, bootId, claimAll, endOf, failureOf, nine, startAll } from '../support/builders.ts';
import { worldsOf, type World } from '../support/store-worlds.ts';
import { rows } from '../support/texts.ts';
import { numbers, untilSomebodyWaits } from './at-once.ts';
import { removed, withRunningTask } from './scenes.ts';

/** Runs a script, and counts how often the engine had to begin it: once, unless the database broke it off. */
function counted(world: World) {
  const begun: string[] = [];
  const run = <T>(name: string, script: () => Script<T>): Promise<T> =>
    world.engine.transact(() => {
      begun.push(name);
      return script();
    });
  return { begun, run };
}

describe('on Postgres', () => {
  const open = worldsOf('postgres');

  test('the end of a run waits for a verb on its task without holding the run that the verb calls off', async () => {
    const { world, task, started } = await withRunningTask(open);
    const { begun, run } = counted(world);
    let ending: Promise<unknown> = Promise.resolve();
    await run('verb', function* (): Script<void> {
      yield* rows('select id from tasks where id = ?t for update', task.id);
      ending = run('end', () => finishRuns([endOf(started)]));
      yield* untilSomebodyWaits();
      yield* cancelLive([task.id], 'cancelled', nine);
    });
    await ending;

    expect(begun).toEqual(['verb', 'end']);
    expect(await world.query('select status from runs')).toEqual([{ status: 'cancelled' }]);
  });

  test('60 ends of runs beside the deletion or replacement of their tasks never wait for each other', async () => {
    const world = await open();
    for (const _task of numbers(60)) await aTask(world);
    await claimAll(world, { now: nine, limit: 100 });
    const { started } = await world.store.startRuns({ now: nine, limit: 100 }, bootId, startAll);
    expect(started).toHaveLength(60);
    const { begun, run } = counted(world);
    // Six ends at a time, in an order that is not that of the tasks, so that batches and verbs meet in the middle.
    const batches = numbers(10).map((batch) => started.filter((_one, index) => (index * 7) % 10 === batch));
    const ends = batches.map((batch, index) =>
      run('end', () => finishRuns(batch.map((one) => (index % 2 === 0 ? endOf(one) : failureOf(one))))),
    );
    const verbs = started.map(({ run: { taskId } }, index) => {
      const request = { taskId: taskId ?? '', actor: 'system' as const, at: nine, quota: ample };
      return index % 2 === 0
        ? run('verb', () => changeLocked(request, () => ({ ...noChange, ...removed })))
        : run('verb', () => changeLocked(request, () => ({ ...noChange, cancelLive: true })));
    });
    await Promise.all([...ends, ...verbs]);

    expect(begun).toHaveLength(ends.length + verbs.length);
    expect(await world.query(`select id from runs where status not in ('succeeded', 'failed', 'cancelled')`)).toEqual(
      [],
    );
  });
});
