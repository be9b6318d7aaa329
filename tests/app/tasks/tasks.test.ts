import { describe, expect, it } from 'vitest';
import { aPipeline, hour, minute, start, withTask, afterAnHour } from '../../support/pipeline.ts';
import { hourly, target } from './world.ts';

describe('running by hand', () => {
  it('dispatches at once, moves no slot, and is not late', async () => {
    const p = await aPipeline({ now: start + minute });
    const task = await p.create({ schedule: hourly });
    const { taskRun } = await p.rooms.tasks.runNow(target(task));
    expect(taskRun).toMatchObject({ status: 'dispatched', source: 'run_now', slotAt: start + minute });
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded' }]);
    expect((await p.rooms.tasks.get(task.id)).nextAt).toBe(start + hour);
  });

  it('twice in one millisecond gives two occurrences, where the policy lets them live together', async () => {
    const p = await aPipeline({ now: start + minute });
    const task = await p.create({ schedule: hourly, policies: { overlap: 'allow' } });
    const [first, second] = await Promise.all([p.rooms.tasks.runNow(target(task)), p.rooms.tasks.runNow(target(task))]);
    expect([first.taskRun.slotAt, second.taskRun.slotAt]).toEqual([start + minute, start + minute + 1]);
  });

  it('never takes the place of a slot', async () => {
    const p = await aPipeline({ now: start + hour });
    const task = await p.create({ schedule: hourly });
    p.time.setWall(start + 2 * hour - 1);
    await p.rooms.tasks.runNow(target(task));
    await p.settle();
    p.time.setWall(start + 2 * hour);
    const { taskRun } = await p.rooms.tasks.runNow(target(task));
    await p.settle();
    expect(taskRun.slotAt).toBe(start + 2 * hour + 1);
    expect((await p.history(task.id)).map(({ slotAt, source }) => [slotAt - start - 2 * hour, source])).toEqual([
      [-1, 'run_now'],
      [0, 'schedule'],
      [1, 'run_now'],
    ]);
  });

  it('is refused by name while a run excludes it, and queues or replaces where that is the policy', async () => {
    const p = await aPipeline();
    const slow = { schedule: hourly, action: { kind: 'echo', delay_ms: 5000 } } as const;
    const task = await p.create(slow);
    const { taskRun } = await p.rooms.tasks.runNow(target(task));
    await expect(p.rooms.tasks.runNow(target(task))).rejects.toMatchObject({
      code: 'run_in_progress',
      details: { run_id: taskRun.runId },
    });
    const queued = await p.create({ ...slow, policies: { overlap: 'queue' } });
    await p.rooms.tasks.runNow(target(queued));
    expect((await p.rooms.tasks.runNow(target(queued))).taskRun.status).toBe('pending');
    const replaced = await p.create({ ...slow, policies: { overlap: 'replace' } });
    await p.rooms.tasks.runNow(target(replaced));
    await p.rooms.tasks.runNow(target(replaced));
    await p.settle();
    await p.pass(5000);
    await p.pass(5000);
    expect((await p.history(queued.id)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    expect((await p.history(replaced.id)).map(({ status }) => status)).toEqual(['cancelled', 'succeeded']);
  });
});

describe('deleting', () => {
  it('drops for good what was still to be sent, and makes no topic for it', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 10);
    await p.rooms.runner.step(p.time.now(), 10);
    await p.rooms.runner.idle();
    await p.rooms.tasks.delete(target(task));
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([
      { status: 'succeeded', deliveries: [{ status: 'failed', error: 'the task was deleted' }] },
    ]);
    await p.rooms.tasks.restore(target(task));
    await p.settle();
    expect([p.chat.calls, p.chat.shown]).toEqual([[], []]);
  });
});

describe('creating the same again', () => {
  it('fails for a subject by default, and names the task that is there', async () => {
    const { p, task } = await withTask({ title: 'T', subject: 's' });
    await expect(p.create({ title: 'T', subject: 's' })).rejects.toMatchObject({
      code: 'task_exists',
      details: { task_id: task.id },
    });
    expect((await p.create({ title: 'T', subject: 'other' })).number).toBe(2);
  });

  it('replaces the definition on upsert, and starts the count again only when the timing changed', async () => {
    const { p, task } = await afterAnHour({ title: 'T', schedule: hourly, policies: { max_runs: 5 } });
    const same = await p.create(
      { title: 'T', schedule: hourly, policies: { max_runs: 5 }, instructions: 'other' },
      { onExisting: 'upsert' },
    );
    expect(same).toMatchObject({
      id: task.id,
      instructions: 'other',
      nextAt: start + 2 * hour,
      counters: { boundedRuns: 1 },
    });
    const moved = await p.create(
      { title: 'T', schedule: { ...hourly, cron: '15 * * * *' }, policies: { max_runs: 5 } },
      { onExisting: 'upsert' },
    );
    expect(moved).toMatchObject({ id: task.id, nextAt: start + hour + 15 * minute, counters: { boundedRuns: 0 } });
  });

  it('with the same Idempotency-Key is one task, and another payload under it is refused', async () => {
    const { p, task: first } = await withTask({}, { idempotencyKey: 'k' });
    expect((await p.create({}, { idempotencyKey: 'k' })).id).toBe(first.id);
    await expect(p.create({ instructions: 'else' }, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
    await p.pass(25 * hour);
    expect((await p.create({ instructions: 'else' }, { idempotencyKey: 'k' })).id).not.toBe(first.id);
  });
});

describe('repeating an idempotent creation', () => {
  it('finds the task although its only slot is past by now', async () => {
    const p = await aPipeline();
    const once = { schedule: { kind: 'once', once_at: '2026-11-18T10:00:00Z', timezone: 'UTC' } } as const;
    const first = await p.create(once, { idempotencyKey: 'k' });
    await p.pass(2 * hour);
    expect((await p.create(once, { idempotencyKey: 'k' })).id).toBe(first.id);
  });
});

describe('the clock', () => {
  it('that goes back an hour gives no slot twice, and goes on when it has caught up', async () => {
    const { p, task } = await withTask();
    await p.pass(10 * minute);
    p.time.setWall(start - 50 * minute);
    await p.settle();
    for (let turn = 0; turn < 13; turn += 1) await p.pass(5 * minute);
    expect((await p.history(task.id)).map(({ slotAt }) => (slotAt - start) / minute)).toEqual([5, 10, 15]);
  });

  it('that goes back while a task is edited keeps the row of a slot that has one', async () => {
    const { p, task } = await withTask();
    await p.pass(5 * minute);
    p.time.setWall(start);
    await p.rooms.tasks.edit(target(task), { schedule: { kind: 'cron', cron: '*/5 9-10 * * *', timezone: 'UTC' } });
    await p.pass(5 * minute);
    await p.pass(5 * minute);
    expect((await p.history(task.id)).map(({ slotAt, status }) => [(slotAt - start) / minute, status])).toEqual([
      [5, 'succeeded'],
      [10, 'succeeded'],
    ]);
  });

  it('that jumps a day ahead is an outage like any other', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    p.time.setWall(start + 24 * hour + 30 * minute);
    await p.settle();
    const rows = await p.history(task.id);
    expect(rows).toHaveLength(24);
    expect(rows.filter(({ status }) => status === 'succeeded')).toHaveLength(1);
  });
});
