import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, withTask, afterAnHour } from '../../support/pipeline.ts';
import {
  delay,
  ended,
  eventsOf,
  find,
  hourly,
  long,
  newsOf,
  once,
  overlaps,
  queued,
  running,
  runOf,
  slow,
  story,
  target,
} from './world.ts';

describe('cancelling a run', () => {
  it('that is queued ends it at once, with its occurrence', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    const runId = await queued(p, task);
    expect(await p.rooms.tasks.cancelRun(runId, actor)).toMatchObject({
      cancelled: true,
      run: { status: 'cancelled', attempts: [] },
    });
    expect(await story(p, task)).toEqual(['0 run_now cancelled cancelled']);
    await p.settle();
    expect(p.chat.shown).toEqual([]);
  });

  it('between two attempts ends it at once, and no attempt follows', async () => {
    const { p, task } = await withTask({ schedule: once(9), action: { kind: 'echo', fail_attempts: 1 } });
    const runId = await ended(p, task);
    expect(runOf(p, runId).status).toBe('backoff');
    await p.rooms.tasks.cancelRun(runId, actor);
    await p.pass(hour);
    expect(await p.history(task.id)).toMatchObject([
      { status: 'cancelled', reason: 'cancelled', attempts: [{ status: 'failed' }] },
    ]);
  });

  it('that is running aborts its action at once, and nothing of it is shown', async () => {
    const { p, task } = await withTask({ schedule: once(9), action: slow, policies: long });
    const runId = await running(p, task);
    await p.time.advance(1000);
    expect(await p.rooms.tasks.cancelRun(runId, actor)).toMatchObject({ cancelled: true, run: { status: 'running' } });
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([
      {
        status: 'cancelled',
        reason: 'cancelled',
        deliveries: [],
        attempts: [{ status: 'cancelled', durationMs: 1000 }],
      },
    ]);
    await p.pass(2 * minute);
    expect([p.chat.shown, await p.rooms.tasks.getRun(runId)]).toMatchObject([[], { output: null }]);
  });

  it('leaves the context, the counters of failures and the automatic pause alone', async () => {
    const p = await aPipeline();
    const action = { ...slow, context: { seen: 2 } };
    const task = await p.create({
      schedule: once(9),
      action,
      policies: { ...long, auto_pause: 3 },
      context: { seen: 1 },
    });
    for (let turn = 0; turn < 4; turn += 1) {
      await p.rooms.tasks.cancelRun(await running(p, task), actor);
      await p.settle();
    }
    expect(await find(p, task)).toMatchObject({
      state: 'active',
      context: { seen: 1 },
      counters: { failures: 0, consecutiveFailures: 0 },
    });
  });

  it('twice is the same: one row in the audit, one event, and the same answer', async () => {
    const { p, task } = await withTask({ schedule: once(9), action: slow, policies: long });
    const runId = await running(p, task);
    await p.rooms.tasks.cancelRun(runId, actor);
    const twice = await newsOf(p, async () => {
      expect((await p.rooms.tasks.cancelRun(runId, actor)).cancelled).toBe(true);
      await p.settle();
      expect((await p.rooms.tasks.cancelRun(runId, actor)).cancelled).toBe(true);
    });
    expect([twice.verbs, twice.events]).toEqual([[], ['run.cancelled']]);
  });

  it.each([
    ['succeeded', { kind: 'message' }],
    ['failed', { kind: 'echo', fail_attempts: 9, error: 'final' }],
  ])('that has %s says no, and changes nothing', async (status, action) => {
    const { p, task } = await withTask({ schedule: once(9), action });
    const runId = await ended(p, task);
    const { verbs } = await newsOf(p, async () => {
      expect(await p.rooms.tasks.cancelRun(runId, actor)).toMatchObject({ cancelled: false, run: { status } });
    });
    expect([verbs, (await p.history(task.id))[0]?.status]).toEqual([[], status]);
  });

  it('that never was is not found', async () => {
    const p = await aPipeline();
    await expect(p.rooms.tasks.cancelRun('never-was', actor)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('tells of itself by its task, so that whoever follows the task hears of it', async () => {
    const { p, task } = await withTask({ schedule: once(9) });
    const runId = await queued(p, task);
    await p.rooms.tasks.cancelRun(runId, actor);
    expect(eventsOf(p).filter(({ ref }) => ref === runId)).toMatchObject([{ kind: 'run.cancelled', task_id: task.id }]);
  });

  it('of a delay lets the next slot come', async () => {
    const { p, task } = await afterAnHour({ schedule: delay, action: slow, policies: long });
    const [run] = await p.history(task.id);
    await p.rooms.tasks.cancelRun(run?.runId ?? '', actor);
    await p.settle();
    await p.pass(hour);
    expect(await story(p, task)).toEqual(['60 cancelled cancelled', '120 dispatched']);
  });
});

it('a run that was called off ends as its caller was told, even when its work was done before anybody could stop it', async () => {
  const { p, task } = await withTask({ action: { kind: 'echo', delay_ms: 5000 }, policies: { overlap: 'allow' } });
  const runId = await running(p, task);
  expect((await p.rooms.tasks.cancelRun(runId, actor)).cancelled).toBe(true);
  await p.time.advance(5000);
  await p.settle();
  expect(await p.history(task.id)).toMatchObject([
    { status: 'cancelled', reason: 'cancelled', attempts: [{ status: 'succeeded' }], deliveries: [] },
  ]);
  expect(p.chat.shown).toEqual([]);
});

describe('cancelling what a task runs', () => {
  it.each(overlaps)('calls off what is live, and what waits has its turn: %s', async (overlap) => {
    const { p, task } = await afterAnHour({ schedule: hourly, action: slow, policies: { ...long, overlap } });
    await p.rooms.tasks.runNow(target(task)).catch(() => undefined);
    await p.rooms.runner.step(p.time.now(), 100);
    await p.rooms.tasks.cancel(target(task));
    await p.settle();
    await p.pass(minute);
    const told = {
      skip: ['60 cancelled cancelled'],
      queue: ['60 cancelled cancelled', '60 run_now succeeded'],
      replace: ['60 cancelled replaced', '60 run_now succeeded'],
      allow: ['60 cancelled cancelled', '60 run_now cancelled cancelled'],
    };
    expect(await story(p, task)).toEqual(told[overlap]);
  });

  it('names the runs in the audit, and a second time changes nothing', async () => {
    const { p, task } = await withTask({ schedule: hourly, action: slow, policies: long });
    const runId = await running(p, task);
    const first = await newsOf(p, () => p.rooms.tasks.cancel(target(task)));
    expect([first.audit[0]?.after, first.events]).toEqual([JSON.stringify({ run_ids: [runId] }), ['task.cancel']]);
    const second = await newsOf(p, async () => {
      expect((await p.rooms.tasks.cancel(target(task))).entryId).toBeNull();
    });
    expect([second.verbs, second.events]).toEqual([[], []]);
  });
});
