import { describe, expect, test } from 'vitest';
import type { StartPlan } from '../../src/app/ports/pipeline.ts';
import { noChange } from '../../src/app/ports/tasks.ts';
import type { Engine, Script } from '../../src/store/engine/engine.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { changeLocked } from '../../src/store/tasks/changes.ts';
import { ample, bootId, claimAll, hour, minute, nine } from '../support/builders.ts';
import { worldsOf, type World } from '../support/store-worlds.ts';
import { rows } from '../support/texts.ts';
import { engineOn, target } from './conformance/verbs.ts';
import { nextPart, putOff, removed, show, withTask, withReadyTask } from './scenes.ts';

/** Something that goes on beside a transaction, and whether it has ended. */
function beside(work: Promise<unknown>) {
  const state = { over: false };
  const end = () => {
    state.over = true;
  };
  return { work: work.finally(end), state };
}

/** Asks the server until the other one waits for a row of this transaction, or has found another way. */
function* untilItWaits({ state }: ReturnType<typeof beside>): Script<void> {
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while (!state.over && (yield* rows(waiting)).length === 0) yield* rows('select pg_stat_clear_snapshot()');
}

describe('on Postgres', () => {
  const open = worldsOf('postgres');

  test('a verb does not pass by a pause that is over while somebody else holds its task', async () => {
    const world = await open();
    const { rooms, create, story, time } = engineOn(world);
    const task = await create();
    await rooms.tasks.pause(target(task), nine + 30 * minute);
    await time.advance(3 * hour);
    let deletion = beside(Promise.resolve());
    await world.engine.transact(function* (): Script<void> {
      yield* rows('select id from tasks where id = ?t for update', task.id);
      deletion = beside(rooms.tasks.delete(target(task)));
      yield* untilItWaits(deletion);
    });
    await deletion.work;

    expect((await story(task)).map((line) => line.split(' ')[0])).toEqual(['60', '120']);
  });

  test('a definition that takes the place of another one does not, either', async () => {
    const world = await open();
    const { rooms, create, story, time } = engineOn(world);
    const task = await create({ title: 'One', subject: 'the same' });
    await rooms.tasks.pause(target(task), nine + 30 * minute);
    await time.advance(3 * hour);
    let upsert = beside(Promise.resolve());
    await world.engine.transact(function* (): Script<void> {
      yield* rows('select id from tasks where id = ?t for update', task.id);
      const schedule = { kind: 'cron', cron: '0 0 1 1 *', timezone: 'UTC' } as const;
      upsert = beside(create({ title: 'One', subject: 'the same', schedule }, { onExisting: 'upsert' }));
      yield* untilItWaits(upsert);
    });
    await upsert.work;

    expect((await story(task)).map((line) => line.split(' ')[0])).toEqual(['60', '120']);
  });

  test('a part that comes back to the outbox while its task is deleted is not sent any more', async () => {
    const { world, task } = await withReadyTask(open);
    await show(world, task, [world.make.part()]);
    const back = putOff(await nextPart(world));
    let ending = beside(Promise.resolve());
    await world.engine.transact(function* (): Script<void> {
      yield* changeLocked({ taskId: task.id, actor: 'system', at: nine, quota: ample }, () => ({
        ...noChange,
        ...removed,
      }));
      ending = beside(world.store.endParts([back], nine + minute));
      yield* untilItWaits(ending);
    });
    await ending.work;

    expect(await world.query(`select status from deliveries where id = ?t`, back.id)).toEqual([{ status: 'failed' }]);
  });

  /** A store that tells how often it had to begin a transaction: once, unless the database broke it off. */
  function countedStore({ engine }: World) {
    const begun: string[] = [];
    const counted: Engine = {
      ...engine,
      transact: (script) =>
        engine.transact(() => {
          begun.push('begun');
          return script();
        }),
    };
    return { begun, store: createStore(counted) };
  }

  test('a run that may not start leaves its task to the verb that holds it, and ends the next time', async () => {
    const { world, task } = await withTask(open);
    await claimAll(world, { now: nine, limit: 10 });
    const { begun, store } = countedStore(world);
    const end = { does: 'end', interrupted: false, status: 'failed', occurrence: 'failed', reason: null } as const;
    const start = () =>
      store.startRuns({ now: nine, limit: 10 }, bootId, (found) =>
        found.map(({ id }): StartPlan => ({ runId: id, ...end, error: 'no grant', errorCode: 'not_allowed' })),
      );
    let starting = beside(Promise.resolve());
    const answers: unknown[] = [];
    await world.engine.transact(function* (): Script<void> {
      yield* rows('select id from tasks where id = ?t for update', task.id);
      starting = beside(start().then((answer) => answers.push(answer)));
      yield* untilItWaits(starting);
      // A verb takes the runs of its task after the task.
      yield* rows('select id from runs where task_id = ?t for update', task.id);
    });
    await starting.work;
    await start();

    expect([begun.length, answers]).toEqual([2, [{ taken: 0, more: true, started: [] }]]);
    expect(await world.query('select status from runs')).toEqual([{ status: 'failed' }]);
    expect(await world.query('select failures from tasks')).toEqual([{ failures: 1 }]);
  });
});
