import { expect, test } from 'vitest';
import { meteredStore } from '../../../src/app/operations/metered-store.ts';
import type { Meter } from '../../../src/app/ports/metering.ts';
import {
  aTask,
  bootId,
  claimAll,
  endOf,
  hour,
  minute,
  nine,
  runInput,
  startAll,
  startOne,
} from '../../support/builders.ts';
import { manualTime } from '../../support/fakes.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { aReadyTask, claimParts, show } from '../scenes.ts';

const many = 1000;
const nothing = { count: 0, since: null };

/** What the meter reads, and what it counts on the way. */
export function workloadTests(open: OpenWorld): void {
  test('an empty place has nothing to do', async () => {
    const { store } = await open();
    expect(await store.workload(nine, many)).toEqual({
      due: nothing,
      pending: 0,
      runs: { queued: nothing, running: nothing, backoff: nothing },
      deliveries: { pending: nothing, sending: nothing, unknown: nothing, blocked: nothing },
      byKind: [],
      inbox: nothing,
      oldestWorkAt: null,
      databaseBytes: expect.any(Number) as number,
    });
    expect(await store.taskTally('', many)).toEqual({ counts: [], last: null });
  });

  test('slots that have come, and runs of both kinds, are counted by their state and with the age of the oldest', async () => {
    const world = await open();
    const { store, make } = world;
    await aTask(world, { nextAt: nine, minGapMs: hour });
    await aTask(world, { nextAt: nine + minute });
    await aTask(world, { nextAt: nine + hour });
    expect((await store.workload(nine + 2 * minute, many)).due).toEqual({ count: 2, since: nine });

    await claimAll(world, { now: nine + 2 * minute, limit: 1 });
    await store.addRun(make.newRun({ createdAt: nine - hour, readyAt: nine - hour }));
    const queued = await store.workload(nine + 2 * minute, many);
    expect([queued.due.count, queued.runs.queued, queued.oldestWorkAt]).toEqual([
      1,
      { count: 2, since: nine - hour },
      nine - hour,
    ]);
    const { started } = await store.startRuns({ now: nine + 2 * minute, limit: 1 }, bootId, startAll);
    await store.finishRuns(
      started.map((one) => endOf(one, { attemptStatus: 'failed', status: 'backoff', readyAt: nine + hour })),
    );
    await store.startRuns({ now: nine + 2 * minute, limit: 1 }, bootId, startAll);
    const { runs } = await store.workload(nine + 2 * minute, many);
    expect([runs.queued.count, runs.running.count, runs.backoff.count]).toEqual([0, 1, 1]);
  });

  test('a part is late only from when it could go out, and one that is done is no work', async () => {
    const world = await open();
    const { store, make } = world;
    const task = await aReadyTask(world);
    await show(world, task, [make.part(), make.part({ part: 2 })]);
    const before = await store.workload(nine + minute, many);
    expect([before.deliveries.pending, before.oldestWorkAt]).toEqual([{ count: 2, since: nine }, nine]);
    await world.query(`update deliveries set ready_at = ?i where part = 2`, nine + hour);
    expect((await store.workload(nine + minute, many)).deliveries.pending).toEqual({ count: 2, since: nine });
    await world.query(`update deliveries set ready_at = ?i`, nine + hour);
    expect((await store.workload(nine + minute, many)).deliveries.pending).toEqual({ count: 2, since: null });
    await world.query(`update deliveries set ready_at = ?i`, nine);
    await world.query(`update deliveries set kind = 'pin'`);
    expect((await store.workload(nine + minute, many)).deliveries.pending).toEqual({ count: 2, since: null });
    await world.query(`update deliveries set kind = 'result'`);
    await claimParts(world);
    const { deliveries } = await store.workload(nine + minute, many);
    expect([deliveries.pending.count, deliveries.sending.count]).toEqual([1, 1]);
    await world.query(`update deliveries set status = 'failed'`);
    const after = await store.workload(nine + minute, many);
    expect([after.deliveries.pending.count, after.deliveries.sending.count, after.oldestWorkAt]).toEqual([0, 0, null]);
  });

  test('nothing is counted beyond the limit, so that no look costs more than that', async () => {
    const world = await open();
    for (let count = 0; count < 5; count += 1) {
      await aTask(world, { nextAt: nine });
      await world.store.addRun(world.make.newRun());
    }
    const work = await world.store.workload(nine, 3);
    expect([work.due.count, work.runs.queued.count]).toEqual([3, 3]);
  });

  test('work is counted by what is to be done as well', async () => {
    const world = await open();
    const { store, make } = world;
    const http = { kind: 'http', url: 'https://api.example.com' };
    await aTask(world, { nextAt: nine });
    await aTask(world, { nextAt: nine, action: http });
    await store.addRun(make.newRun({ input: { ...runInput, action: http } }));
    const { byKind } = await store.workload(nine, many);
    expect(byKind.toSorted((a, b) => `${a.state} ${a.kind}`.localeCompare(`${b.state} ${b.kind}`))).toEqual([
      { state: 'due', kind: 'http', count: 1 },
      { state: 'due', kind: 'message', count: 1 },
      { state: 'queued', kind: 'http', count: 1 },
    ]);
  });

  test('tasks are counted page by page, by state, kind of schedule and kind of action', async () => {
    const world = await open();
    const once = { kind: 'once', onceAt: nine + hour, timezone: 'UTC' } as const;
    for (let count = 0; count < 3; count += 1) await aTask(world);
    await aTask(world, { schedule: once, nextAt: nine + hour });
    const first = await world.store.taskTally('', 3);
    expect(first.counts).toEqual([{ state: 'active', schedule: 'cron', action: 'message', count: 3 }]);
    expect(await world.store.taskTally(first.last ?? '', 3)).toEqual({
      counts: [{ state: 'active', schedule: 'once', action: 'message', count: 1 }],
      last: null,
    });
  });

  test('updates that are stored and not done stand in the inbox', async () => {
    const { store } = await open();
    await store.receiveUpdates([{ id: 7, payload: '{}', address: null, messageId: null, lane: null }], nine);
    expect((await store.workload(nine, many)).inbox).toEqual({ count: 1, since: nine });
  });

  test('what is counted on the way is what was written', async () => {
    const world = await open();
    const counted: string[] = [];
    const meter: Meter = {
      count: (name, labels, by = 1) => counted.push(`${name} ${Object.values(labels).join(' ')} ${by}`),
      took: (name, labels, ms) => counted.push(`${name} ${Object.values(labels).join(' ')} ${ms}`),
    };
    const clock = manualTime(nine + minute);
    const store = meteredStore(world.store, { meter, clock });
    const metered = { ...world, store };
    const run = world.make.newRun();
    await store.addRun(run);
    await store.addRun({ ...run, id: world.make.id() });
    const started = await startOne(metered, nine);
    await store.finishRuns([endOf(started, { status: 'succeeded', durationMs: 5, finishedAt: nine + 10 })]);
    await store.finishRuns([endOf(started)]);
    expect(counted).toEqual([
      'requests_deduplicated_total run 1',
      'slot_start_lateness_seconds on_time 60000',
      'attempts_total 1 succeeded 1',
      'attempt_duration_seconds message 5',
      'runs_total message succeeded 1',
      'run_duration_seconds message 10',
      'late_results_total  1',
    ]);
  });
}
