import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, start } from '../support/pipeline.ts';

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;
const echo = (settings: object) => ({ kind: 'echo', ...settings }) as const;

describe('a failing run', () => {
  it('is tried three times with a growing pause, each try its own row', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, action: echo({ fail_attempts: 9 }) });
    await p.pass(hour);
    await p.pass(29_999);
    expect((await p.history(task.id))[0]?.attempts).toHaveLength(1);
    await p.pass(1);
    await p.pass(minute);
    const [run] = await p.history(task.id);
    expect(run).toMatchObject({ status: 'failed', error: 'echo fails attempt 3' });
    expect(run?.attempts.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [3, 'failed'],
    ]);
    expect(run?.attempts.map(({ startedAt }) => startedAt - start - hour)).toEqual([0, 30_000, 90_000]);
    expect(p.chat.shown).toEqual([]);
  });

  it('succeeds when a later try does, and delivers once', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, action: echo({ fail_attempts: 1 }) });
    await p.pass(hour);
    await p.pass(30_000);
    expect(await p.history(task.id)).toMatchObject([
      { status: 'succeeded', attempts: [{ status: 'failed' }, { status: 'succeeded' }] },
    ]);
    expect(p.chat.shown).toHaveLength(1);
  });

  it('is not tried again when the fault is final', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, action: echo({ fail_attempts: 9, error: 'final' }) });
    await p.pass(hour);
    expect(await p.history(task.id)).toMatchObject([{ status: 'failed', attempts: [{ status: 'failed' }] }]);
  });

  it('ends on time even when its action does not listen', async () => {
    const p = await aPipeline();
    const task = await p.create({
      schedule: hourly,
      action: echo({ delay_ms: 60_000 }),
      policies: { timeout: 'PT10S', retry: { attempts: 2, base: 'PT1S', jitter: 0 } },
    });
    await p.pass(hour);
    await p.pass(10_000);
    await p.pass(1000);
    await p.pass(10_000);
    const [run] = await p.history(task.id);
    expect(run?.attempts.map(({ status }) => status)).toEqual(['timed_out', 'timed_out']);
    expect(run).toMatchObject({ status: 'failed', error: 'no answer within 10 s' });
  });

  it('is not repeated after a timeout when nobody knows what it did', async () => {
    const p = await aPipeline();
    const task = await p.create({
      schedule: hourly,
      action: echo({ delay_ms: 60_000, repeatable: false }),
      policies: { timeout: 'PT10S' },
    });
    await p.pass(hour);
    await p.pass(10_000);
    expect(await p.history(task.id)).toMatchObject([
      { status: 'failed', error: 'no answer within 10 s, effects unknown', attempts: [{ status: 'timed_out' }] },
    ]);
  });
});

describe('failing again and again', () => {
  const failing = { schedule: hourly, action: echo({ fail_attempts: 9, error: 'final' }), policies: { auto_pause: 3 } };

  it('pauses the task with a reason of its own', async () => {
    const p = await aPipeline();
    const task = await p.create(failing);
    for (let turn = 0; turn < 5; turn += 1) await p.pass(hour);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({
      state: 'paused',
      nextAt: null,
      pausedReason: 'auto:consecutive_failures',
      paused: { by: 'system' },
    });
    expect(await p.history(task.id)).toHaveLength(3);
    expect(
      p.database.prepare(`select count(*) from audit where verb = 'pause' and actor = 'system'`).pluck().get(),
    ).toBe(1);
  });

  it('starts counting anew after a success and after resuming', async () => {
    const p = await aPipeline();
    const task = await p.create(failing);
    await p.pass(hour);
    await p.pass(hour);
    await p.rooms.tasks.edit(task.id, { action: echo({}) }, actor);
    await p.pass(hour);
    await p.rooms.tasks.edit(task.id, { action: failing.action }, actor);
    await p.pass(hour);
    await p.pass(hour);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({
      state: 'active',
      counters: { consecutiveFailures: 2, failures: 4, runs: 5 },
    });
    await p.pass(hour);
    expect((await p.rooms.tasks.resume(task.id, actor)).counters.consecutiveFailures).toBe(0);
    await p.pass(hour);
    expect((await p.rooms.tasks.get(task.id)).state).toBe('active');
  });

  it('counts the catch-ups of one outage once', async () => {
    const p = await aPipeline();
    const task = await p.create({ ...failing, policies: { auto_pause: 3, missed: 'all' } });
    await p.pass(8 * hour + 30 * minute);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({
      state: 'active',
      counters: { consecutiveFailures: 1, failures: 8 },
    });
  });

  it('never pauses when that is switched off', async () => {
    const p = await aPipeline();
    const task = await p.create({ ...failing, policies: { auto_pause: 0 } });
    for (let turn = 0; turn < 12; turn += 1) await p.pass(hour);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({ state: 'active', counters: { consecutiveFailures: 12 } });
  });
});

describe('a process that dies while an attempt runs', () => {
  it('leaves an interrupted attempt, and repeatable work is done again without using a retry', async () => {
    const p = await aPipeline();
    const task = await p.create({
      schedule: hourly,
      action: echo({ delay_ms: 5000 }),
      policies: { retry: { attempts: 1 } },
    });
    await p.pass(hour);
    const next = p.restart();
    await next.settle();
    await next.pass(5000);
    expect(await next.history(task.id)).toMatchObject([
      {
        status: 'succeeded',
        attempts: [
          { attempt: 1, status: 'interrupted', durationMs: null },
          { attempt: 2, status: 'succeeded' },
        ],
      },
    ]);
    expect(next.chat.shown).toHaveLength(1);
  });

  it('does not hear what the dead process says later', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, action: echo({ delay_ms: 5000 }) });
    await p.pass(hour);
    const next = p.restart();
    await next.rooms.runner.step(next.time.now(), 10);
    await p.time.advance(5000);
    await p.rooms.runner.idle();
    await next.settle();
    expect(p.log.lines.map(({ event }) => event)).toContain('late_results_dropped');
    expect((await next.history(task.id))[0]?.attempts.map(({ status }) => status)).toEqual([
      'interrupted',
      'succeeded',
    ]);
    expect(next.chat.shown).toHaveLength(1);
  });

  it('ends work whose effects are unknown, and says so', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, action: echo({ delay_ms: 5000, repeatable: false }) });
    await p.pass(hour);
    const next = p.restart();
    await next.settle();
    expect(await next.history(task.id)).toMatchObject([
      { status: 'failed', error: 'interrupted, effects unknown', attempts: [{ status: 'interrupted' }] },
    ]);
    expect(await next.rooms.tasks.get(task.id)).toMatchObject({ counters: { failures: 1 }, lastRunStatus: 'failed' });
  });

  it('is not followed for ever: work that takes the process down three times ends', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, action: echo({ delay_ms: 5000 }) });
    await p.pass(hour);
    let next = p;
    for (let crash = 0; crash < 3; crash += 1) {
      next = next.restart();
      await next.settle();
    }
    expect(await next.history(task.id)).toMatchObject([
      { status: 'failed', error: 'interrupted 3 times', attempts: [{}, {}, {}] },
    ]);
  });

  it('never takes away its own live attempt', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, action: echo({ delay_ms: 20_000 }) });
    await p.pass(hour);
    for (let turn = 0; turn < 10; turn += 1) await p.pass(1000);
    expect((await p.history(task.id))[0]?.attempts).toMatchObject([{ status: 'running' }]);
  });

  it('a slot that was recorded but not started is started by the next process', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 10);
    const next = p.restart();
    await next.settle();
    expect(await next.history(task.id)).toMatchObject([{ status: 'succeeded', deliveries: [{ status: 'delivered' }] }]);
  });
});

describe('rights', () => {
  it('are checked when the slot is taken up: a revoked grant skips it with that reason', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    p.database.prepare('update grants set revoked_at = ?').run(start + minute);
    await p.pass(hour);
    expect(await p.history(task.id)).toMatchObject([{ status: 'skipped', reason: 'grant_revoked', runId: null }]);
    expect((await p.rooms.tasks.get(task.id)).state).toBe('active');
  });

  it('are checked again when the run starts', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 10);
    p.database.prepare('update grants set expires_at = ?').run(p.time.now());
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([{ status: 'skipped', reason: 'grant_expired', attempts: [] }]);
  });
});

describe('stopping', () => {
  it('waits for what runs, and leaves open what does not end in time', async () => {
    const p = await aPipeline();
    const quick = await p.create({ schedule: hourly, action: echo({ delay_ms: 2000 }) });
    const slow = await p.create({ schedule: hourly, action: echo({ delay_ms: 25_000 }) });
    await p.pass(hour);
    const stopped = p.rooms.runner.stop(10_000);
    await p.time.advance(10_000);
    await stopped;
    expect(await p.history(quick.id)).toMatchObject([{ status: 'succeeded' }]);
    expect(await p.history(slow.id)).toMatchObject([{ status: 'dispatched', attempts: [{ status: 'running' }] }]);
    const next = p.restart();
    await next.settle();
    await next.pass(25_000);
    expect(await next.history(slow.id)).toMatchObject([
      { status: 'succeeded', attempts: [{ status: 'interrupted' }, { status: 'succeeded' }] },
    ]);
  });
});
