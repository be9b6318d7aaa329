import { expect, test } from 'vitest';
import type { RunEnd, StartedRun } from '../../../src/app/ports/pipeline.ts';
import { noChange } from '../../../src/app/ports/tasks.ts';
import type { Task } from '../../../src/domain/task.ts';
import {
  ample,
  aTask,
  claimAll,
  endOf,
  failureOf,
  hour,
  minute,
  nine,
  readable,
  runInput,
  startEvery,
  startOne,
} from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { withRunningTask, withTask } from '../scenes.ts';

/** Runs several slots of one task at once, as `overlap: allow` and catching up do. */
async function runningSlots(world: World, task: Task, count: number, late = false): Promise<readonly StartedRun[]> {
  await world.store.claimDue({ now: nine, limit: 1 }, ([due]) => {
    const row = readable(due ?? { id: task.id, unreadable: 'not due' });
    const input = { ...runInput, late };
    const made = Array.from({ length: count }, (_slot, index) =>
      world.make.dispatched(row, nine - index, { exclusive: false, input, inputText: JSON.stringify(input) }),
    );
    const source = late ? 'catch_up' : 'schedule';
    return [
      {
        ...world.make.claim(row),
        occurrences: made.map(({ occurrence }) => ({ ...occurrence, source })),
        runs: made.map(({ run }) => run),
      },
    ];
  });
  // What is ready at one instant starts in no order of its own.
  return (await startEvery(world, nine)).toSorted((one, other) => (one.run.id < other.run.id ? -1 : 1));
}

const slotsOf = async (world: World, task: Task) =>
  (await world.store.listTaskRuns({ taskId: task.id, status: null, limit: 100, cursor: null })).items;
const countersOf = async (world: World, task: Task) => (await world.store.readTask(task.id))?.counters;

/** The ends of attempts: run, occurrence, counters, context, usage and deliveries in one transaction. */
export function endTests(open: OpenWorld): void {
  test('a success ends the attempt, the run, the occurrence and the count, with its result and its deliveries', async () => {
    const { world, task, started } = await withRunningTask(open);
    const part = world.make.part({ expiresAt: nine + hour });
    const end = endOf(started, {
      output: { type: 'message', text: 'done' },
      context: { seen: 1 },
      deliveries: [part],
      httpStatus: 200,
    });

    expect(await world.store.finishRuns([end])).toEqual({ written: 1, autoPaused: [] });
    expect(await slotsOf(world, task)).toMatchObject([
      {
        status: 'succeeded',
        reason: null,
        attempts: [{ status: 'succeeded', finishedAt: nine + 1000, durationMs: 1000, httpStatus: 200 }],
        deliveries: [{ id: part.id, part: 1, status: 'pending' }],
      },
    ]);
    expect(await world.store.readRun(started.run.id)).toMatchObject({
      status: 'succeeded',
      output: { type: 'message', text: 'done' },
      finishedAt: nine + 1000,
    });
    expect(await world.store.readTask(task.id)).toMatchObject({
      context: { seen: 1 },
      counters: { runs: 1, failures: 0, consecutiveFailures: 0 },
      lastRunId: started.run.id,
      lastRunAt: nine,
      lastRunStatus: 'succeeded',
      lastOutcome: 'succeeded',
      lastError: null,
    });
  });

  test('the same end written again changes nothing', async () => {
    const { world, task, started } = await withRunningTask(open);
    const end = endOf(started, { deliveries: [world.make.part()], usage: [{ kind: 'tokens' as const, quantity: 7 }] });
    await world.store.finishRuns([end, end]);

    expect(await world.store.finishRuns([end])).toEqual({ written: 0, autoPaused: [] });
    expect(await countersOf(world, task)).toMatchObject({ runs: 1 });
    expect(await world.query('select quantity from usage')).toEqual([{ quantity: 7 }]);
    expect(await world.query('select id from deliveries')).toHaveLength(1);
  });

  test('an end under an old fence writes nothing at all, and the others of its batch are written', async () => {
    const { world, task } = await withTask(open);
    const [stale, good] = await runningSlots(world, task, 2);
    if (stale === undefined || good === undefined) throw new Error('two runs are needed');
    const full = {
      deliveries: [world.make.part()],
      usage: [{ kind: 'tokens' as const, quantity: 7 }],
      context: { lost: true },
    };

    expect(
      await world.store.finishRuns([endOf(stale, { ...full, fence: stale.fence + 1 }), endOf(good)]),
    ).toMatchObject({
      written: 1,
    });
    expect(await world.store.readRun(stale.run.id)).toMatchObject({
      status: 'running',
      attempts: [{ status: 'running' }],
    });
    expect(await world.store.readTask(task.id)).toMatchObject({ context: {}, counters: { runs: 1 } });
    expect(await world.query('select id from deliveries')).toEqual([]);
    expect(await world.query('select run_id from usage')).toEqual([]);
  });

  test('a delivery that cannot be stored leaves the run as it was', async () => {
    const { world, task, started } = await withRunningTask(open);
    const twice = [world.make.part(), world.make.part()];

    await expect(world.store.finishRuns([endOf(started, { deliveries: twice })])).rejects.toMatchObject({
      code: 'internal',
    });
    expect(await world.store.readRun(started.run.id)).toMatchObject({
      status: 'running',
      attempts: [{ status: 'running' }],
    });
    expect(await countersOf(world, task)).toMatchObject({ runs: 0 });
  });

  test.each(['failed', 'cancelled'] as const)('a run that ends %s leaves the context unchanged', async (status) => {
    const { world, task, started } = await withRunningTask(open, { context: { kept: true } });
    await world.store.finishRuns([
      endOf(started, { status, attemptStatus: status, error: status, context: { kept: false } }),
    ]);

    expect(await world.store.readTask(task.id)).toMatchObject({ context: { kept: true }, lastRunStatus: status });
    expect(await world.store.readRun(started.run.id)).toMatchObject({ errorCode: status });
    expect(await slotsOf(world, task)).toMatchObject([
      { status, error: status, reason: status === 'cancelled' ? 'cancelled' : null },
    ]);
  });

  test('several ends of one task are counted together, and a success takes the streak back', async () => {
    const { world, task } = await withTask(open);
    await world.query('update tasks set consecutive_failures = 5 where id = ?t', task.id);
    const [a, b, c, d] = await runningSlots(world, task, 4);
    if (!a || !b || !c || !d) throw new Error('four runs are needed');
    await world.store.finishRuns([failureOf(a), endOf(b, { context: { from: 'b' } }), failureOf(c), failureOf(d)]);

    expect(await world.store.readTask(task.id)).toMatchObject({
      counters: { runs: 4, failures: 3, consecutiveFailures: 2 },
      context: { from: 'b' },
      lastRunStatus: 'failed',
    });
  });

  test('an attempt that is tried again leaves the occurrence and the counters alone', async () => {
    const { world, task, started } = await withRunningTask(open);
    await world.store.finishRuns([
      failureOf(started, { status: 'backoff', readyAt: nine + minute, context: { wrong: 1 } }),
    ]);

    expect(await slotsOf(world, task)).toMatchObject([
      { status: 'dispatched', attempts: [{ status: 'failed', error: 'it broke' }] },
    ]);
    expect(await world.store.readTask(task.id)).toMatchObject({
      context: {},
      counters: { runs: 0 },
      lastRunStatus: null,
    });
    expect(await world.store.nextRunAt(nine)).toBe(nine + minute);
  });
}

/** Results that equal the one before, as far as their tasks ask to be spared them. */
export function repeatTests(open: OpenWorld): void {
  /** Later slots first, as `runningSlots` makes them; each ends a second after the one before it. */
  async function endedInTurn(world: World, task: Task, ends: readonly Partial<RunEnd>[]): Promise<void> {
    const started = (await runningSlots(world, task, ends.length)).toReversed();
    const ack = { nagEveryMs: minute, nagLimit: 3 };
    const made = started.map((one, index) =>
      endOf(one, { finishedAt: nine + index * 1000, deliveries: [world.make.part()], ack, ...ends[index] }),
    );
    expect(await world.store.finishRuns(made)).toMatchObject({ written: ends.length });
  }
  const output = (text: string) => ({ output: { type: 'message', text } });
  const told = async (world: World, task: Task) =>
    (await slotsOf(world, task))
      .toReversed()
      .map(({ status, reason, deliveries, ack }) => [status, reason, deliveries.length, ack?.status ?? null]);

  test('is left out of a batch as well, in the order of their ends, with the question about it', async () => {
    const { world, task } = await withTask(open);
    const skip = { ifUnchanged: 'skip' } as const;
    await endedInTurn(world, task, [
      { ...output('one'), ...skip },
      { ...output('one'), ...skip },
      { status: 'failed', attemptStatus: 'failed', error: 'it broke', deliveries: [], ...skip },
      { ...output('one'), ...skip },
      { ...output('two'), ...skip },
      output('two'),
    ]);
    expect(await told(world, task)).toEqual([
      ['succeeded', null, 1, 'superseded'],
      ['succeeded', 'unchanged', 0, null],
      ['failed', null, 0, null],
      ['succeeded', 'unchanged', 0, null],
      ['succeeded', null, 1, 'superseded'],
      ['succeeded', null, 1, 'open'],
    ]);
  });

  test('comes without a sound where its task wants that, and is asked about like any other', async () => {
    const { world, task } = await withTask(open);
    const silent = { ...output('one'), ifUnchanged: 'silent' } as const;
    await endedInTurn(world, task, [silent, silent]);
    expect(await told(world, task)).toEqual([
      ['succeeded', null, 1, 'superseded'],
      ['succeeded', 'unchanged', 1, 'open'],
    ]);
    expect(await world.query('select silent from deliveries order by created_at')).toEqual([
      { silent: 0 },
      { silent: 1 },
    ]);
  });

  test.each([
    [2, 'of a replay', `update occurrences set source = 'replay' where slot_at < ${nine}`],
    [2, 'that could not be delivered', `update deliveries set status = 'failed'`],
    [1, 'that somebody discarded', `update deliveries set status = 'failed', decision = '{}'`],
    [2, 'that retention has removed', 'delete from occurrences'],
    [2, 'of another task', `update occurrences set task_id = 'another'`],
  ])('is shown %i times in all after one %s', async (times, _which, damage) => {
    const { world, task } = await withTask(open);
    const skip = { ...output('one'), ifUnchanged: 'skip' } as const;
    const [second, first] = await runningSlots(world, task, 2);
    if (first === undefined || second === undefined) throw new Error('two runs are needed');
    await world.store.finishRuns([endOf(first, { ...skip, deliveries: [world.make.part()] })]);
    await world.query(damage);
    await world.store.finishRuns([
      endOf(second, { ...skip, finishedAt: nine + minute, deliveries: [world.make.part()] }),
    ]);
    expect(await world.query('select id from deliveries')).toHaveLength(times);
  });
}

/** The automatic pause, delays after the last finish, usage. */
export function afterEndTests(open: OpenWorld): void {
  test('a task whose run was harmful is paused with the reason, at once', async () => {
    const { world, task, started } = await withRunningTask(open, { policies: { auto_pause: 0 } });

    expect(await world.store.finishRuns([failureOf(started, { isHarmful: true })])).toEqual({
      written: 1,
      autoPaused: [task.id],
    });
    expect(await world.store.readTask(task.id)).toMatchObject({ state: 'paused', pausedReason: 'harmful_template' });
  });

  test('failures of slots that one outage made late count once towards the pause', async () => {
    const { world, task } = await withTask(open);
    const started = await runningSlots(world, task, 3, true);
    for (const one of started) await world.store.finishRuns([failureOf(one)]);

    expect(await countersOf(world, task)).toMatchObject({ runs: 3, failures: 3, consecutiveFailures: 1 });
  });

  test('the end of a run does not move the next slot of a task that was edited, paused, or follows the clock', async () => {
    const world = await open();
    const schedule = {
      kind: 'interval',
      interval: 'PT1H',
      startAt: nine,
      from: 'completion',
      timezone: 'UTC',
    } as const;
    const [edited, paused, clock] = [
      await aTask(world, { schedule }),
      await aTask(world, { schedule }),
      await aTask(world),
    ];
    await claimAll(world, { now: nine, limit: 10 });
    const change = (taskId: string, set: object) =>
      world.store.changeTask({ taskId, actor: 'system', at: nine, once: null, quota: ample }, () => ({
        ...noChange,
        set,
      }));
    await change(edited.id, { nextAt: nine + 5 * hour, schedule: { ...schedule, interval: 'PT5H' } });
    await change(paused.id, { state: 'paused', nextAt: null });
    const started = await startEvery(world, nine);
    await world.store.finishRuns(
      started.map((one) => endOf(one, { follows: { schedule, nextAt: nine + 90 * minute } })),
    );

    const next = async ({ id }: Task) => (await world.store.readTask(id))?.nextAt;
    expect([await next(edited), await next(paused), await next(clock)]).toEqual([nine + 5 * hour, null, nine + hour]);
  });

  test('usage is booked for each attempt, kind and source, once however often its end is told', async () => {
    const { world, task, started } = await withRunningTask(open);
    const usage = [
      { kind: 'tokens', quantity: 5, source: 'a' },
      { kind: 'requests', quantity: 1 },
      { kind: 'tokens', quantity: 2, source: 'b' },
    ] as const;
    await world.store.finishRuns([failureOf(started, { status: 'backoff', readyAt: nine, usage })]);
    await world.store.finishRuns([
      endOf(await startOne(world, nine), { usage: [{ kind: 'tokens' as const, quantity: 3 }] }),
    ]);

    expect(
      await world.query(
        'select kind, quantity, task_id, owner_id, chat_id from usage order by kind, attempt desc, source',
      ),
    ).toEqual(
      [
        ['requests', 1],
        ['tokens', 3],
        ['tokens', 5],
        ['tokens', 2],
      ].map(([kind, quantity]) => ({
        kind,
        quantity,
        task_id: task.id,
        owner_id: 'telegram:user:7',
        chat_id: task.chatId,
      })),
    );
  });

  test('an error text with a sign that no database stores does not lose the end of the run', async () => {
    const { world, started } = await withRunningTask(open);

    expect(await world.store.finishRuns([failureOf(started, { error: 'answer: \0\0 ok' })])).toMatchObject({
      written: 1,
    });
    expect(await world.store.readRun(started.run.id)).toMatchObject({ status: 'failed' });
  });

  test('attempts that the policy does not count are counted apart', async () => {
    const { world, started: first } = await withRunningTask(open);
    const waits = { status: 'backoff', readyAt: nine + minute } as const;
    await world.store.finishRuns([failureOf(first, { ...waits, isFree: true })]);
    const second = await startOne(world, nine + minute);
    await world.store.finishRuns([failureOf(second, waits)]);
    const third = await startOne(world, nine + minute);
    expect([first, second, third].map(({ run, attempt }) => [run.freeAttempts, attempt])).toEqual([
      [0, 1],
      [1, 2],
      [1, 3],
    ]);
  });
}
