import { expect, test } from 'vitest';
import type { RunEnd } from '../../../src/app/ports/pipeline.ts';
import { aRunningTask, endOf, failureOf, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { slotsOf, change } from '../scenes.ts';

const schedule = { kind: 'interval', interval: 'PT1H', startAt: nine, from: 'completion', timezone: 'UTC' } as const;

/** A run of a delay after the last finish that was asked to stop and goes on. */
async function calledOff(world: World) {
  const { task, started } = await aRunningTask(world, { schedule, context: { kept: true } });
  await change(world, task, { cancelLive: true }, { at: nine + 1 });
  return { task, started };
}

const brought: Partial<RunEnd> = {
  context: { kept: false },
  usage: [{ kind: 'tokens' as const, quantity: 7 }],
  follows: { schedule, nextAt: nine + 90 * minute },
};

/** Runs that somebody called off, and whose attempt came to an end of its own before it could be stopped. */
export function calledOffTests(open: OpenWorld): void {
  test.each([
    ['succeeds', { attemptStatus: 'succeeded', status: 'succeeded', error: null }],
    ['fails', { attemptStatus: 'failed', status: 'failed', error: 'it broke' }],
    ['times out', { attemptStatus: 'timed_out', status: 'failed', error: 'no answer within 10 s' }],
    ['asks for another try', { attemptStatus: 'failed', status: 'backoff', error: 'it broke', readyAt: nine + minute }],
  ] as const)('a run that was called off and whose attempt then %s ends cancelled', async (_how, facts) => {
    const world = await open();
    const { task, started } = await calledOff(world);
    const end = endOf(started, { ...brought, ...facts, deliveries: [world.make.part()] });

    expect(await world.store.finishRuns([end])).toEqual({ written: 1, autoPaused: [] });
    expect(await world.store.readRun(started.run.id)).toMatchObject({
      status: 'cancelled',
      output: null,
      finishedAt: nine + 1000,
      attempts: [{ status: facts.attemptStatus, error: facts.error, finishedAt: nine + 1000 }],
    });
    expect(await slotsOf(world, task)).toMatchObject([{ status: 'cancelled', reason: 'cancelled', deliveries: [] }]);
    expect(await world.query('select kind, quantity from usage')).toEqual([{ kind: 'tokens', quantity: 7 }]);
    expect(await world.store.readTask(task.id)).toMatchObject({
      context: { kept: true },
      nextAt: nine + 90 * minute,
      counters: { failures: 0, consecutiveFailures: 0 },
    });
    expect(await world.query(`select kind from events where kind like 'run.%' order by id`)).toEqual([
      { kind: 'run.started' },
      { kind: 'run.cancelled' },
    ]);
    expect(await world.store.nextRunAt(nine)).toBeNull();
  });

  test('the end of a run that was called off is written once', async () => {
    const world = await open();
    const { task, started } = await calledOff(world);
    const end = failureOf(started, brought);
    await world.store.finishRuns([end]);

    expect(await world.store.finishRuns([end])).toEqual({ written: 0, autoPaused: [] });
    expect(await world.query('select quantity from usage')).toEqual([{ quantity: 7 }]);
    expect((await world.store.readTask(task.id))?.counters.runs).toBe(1);
  });
}
