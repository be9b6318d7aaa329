import { describe, expect, it } from 'vitest';
import { createScheduler } from '../../../src/app/pipeline/scheduler.ts';
import { scopesOf } from '../../support/actions.ts';
import { countingIds } from '../../support/fakes.ts';
import {
  actor,
  aPipeline,
  group,
  hour,
  minute,
  start,
  runServiceOf,
  hourly,
  texts,
  withTask,
  afterAnHour,
  restarted,
} from '../../support/pipeline.ts';
const echo = (settings: object) => ({ kind: 'echo', ...settings }) as const;

describe('a failing run', () => {
  it('is tried three times with a growing pause, each try its own row', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly, action: echo({ fail_attempts: 9 }) });
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
    expect(texts(p)).toEqual(['[failed]']);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({ lastRunAt: start + hour, lastRunId: run?.runId });
    const events = p.database.prepare(`select data from events where kind in ('run.started', 'run.backoff')`).pluck();
    const attempts = (events.all() as string[]).map((data) => (JSON.parse(data) as { attempt: number }).attempt);
    expect(attempts).toEqual([1, 1, 2, 2, 3]);
  });

  it('waits longer before each try by the factor of its policy, up to the cap', async () => {
    const p = await aPipeline();
    const retry = { attempts: 5, base: 'PT1S', factor: 3, cap: 'PT10S', jitter: 0 };
    const task = await p.create({ schedule: hourly, action: echo({ fail_attempts: 9 }), policies: { retry } });
    await p.pass(hour);
    for (let seconds = 0; seconds < 30; seconds += 1) await p.pass(1000);
    const starts = (await p.history(task.id))[0]?.attempts.map(({ startedAt }) => (startedAt - start - hour) / 1000);
    expect(starts).toEqual([0, 1, 4, 13, 23]);
  });

  it('succeeds when a later try does, and delivers once', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly, action: echo({ fail_attempts: 1 }) });
    await p.pass(30_000);
    expect(await p.history(task.id)).toMatchObject([
      { status: 'succeeded', attempts: [{ status: 'failed' }, { status: 'succeeded' }] },
    ]);
    expect(p.chat.shown).toHaveLength(1);
  });

  it('is not tried again when the fault is final', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly, action: echo({ fail_attempts: 9, error: 'final' }) });
    expect(await p.history(task.id)).toMatchObject([{ status: 'failed', attempts: [{ status: 'failed' }] }]);
  });

  it('ends on time even when its action does not listen', async () => {
    const { p, task } = await afterAnHour({
      schedule: hourly,
      action: echo({ delay_ms: 60_000 }),
      policies: { timeout: 'PT10S', retry: { attempts: 2, base: 'PT1S', jitter: 0 } },
    });
    await p.pass(10_000);
    await p.pass(1000);
    await p.pass(10_000);
    const [run] = await p.history(task.id);
    expect(run?.attempts.map(({ status }) => status)).toEqual(['timed_out', 'timed_out']);
    expect(run).toMatchObject({ status: 'failed', error: 'no answer within 10 s' });
  });

  it('is not repeated after a timeout when nobody knows what it did', async () => {
    const { p, task } = await afterAnHour({
      schedule: hourly,
      action: echo({ delay_ms: 60_000, repeatable: false }),
      policies: { timeout: 'PT10S' },
    });
    await p.pass(10_000);
    expect(await p.history(task.id)).toMatchObject([
      { status: 'failed', error: 'no answer within 10 s, effects unknown', attempts: [{ status: 'timed_out' }] },
    ]);
  });
});

describe('failing again and again', () => {
  const failing = { schedule: hourly, action: echo({ fail_attempts: 9, error: 'final' }), policies: { auto_pause: 3 } };

  it('pauses the task with a reason of its own', async () => {
    const { p, task } = await withTask(failing);
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
    const { p, task } = await afterAnHour(failing);
    await p.pass(hour);
    await p.rooms.tasks.edit({ taskId: task.id, actor }, { action: echo({}) });
    await p.pass(hour);
    await p.rooms.tasks.edit({ taskId: task.id, actor }, { action: failing.action });
    await p.pass(hour);
    await p.pass(hour);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({
      state: 'active',
      counters: { consecutiveFailures: 2, failures: 4, runs: 5 },
    });
    await p.pass(hour);
    expect((await p.rooms.tasks.resume({ taskId: task.id, actor })).task.counters.consecutiveFailures).toBe(0);
    await p.pass(hour);
    expect((await p.rooms.tasks.get(task.id)).state).toBe('active');
  });

  it('counts the catch-ups of one outage once', async () => {
    const { p, task } = await withTask({ ...failing, policies: { auto_pause: 3, missed: 'all' } });
    await p.pass(8 * hour + 30 * minute);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({
      state: 'active',
      counters: { consecutiveFailures: 1, failures: 8 },
    });
  });

  it('never pauses when that is switched off', async () => {
    const { p, task } = await withTask({ ...failing, policies: { auto_pause: 0 } });
    for (let turn = 0; turn < 12; turn += 1) await p.pass(hour);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({ state: 'active', counters: { consecutiveFailures: 12 } });
  });
});

describe('a process that dies while an attempt runs', () => {
  it('leaves an interrupted attempt, and repeatable work is done again without using a retry', async () => {
    const { p, task } = await afterAnHour({
      schedule: hourly,
      action: echo({ delay_ms: 5000 }),
      policies: { retry: { attempts: 1 } },
    });
    const next = await restarted(p);
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
    const { p, task } = await afterAnHour({ schedule: hourly, action: echo({ delay_ms: 5000 }) });
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
    const { p, task } = await afterAnHour({ schedule: hourly, action: echo({ delay_ms: 5000, repeatable: false }) });
    const next = await restarted(p);
    expect(await next.history(task.id)).toMatchObject([
      { status: 'failed', error: 'interrupted, effects unknown', attempts: [{ status: 'interrupted' }] },
    ]);
    expect(await next.history(task.id)).toMatchObject([{ errorCode: 'interrupted', actionKind: 'echo', runNumber: 1 }]);
    const last = { lastRunStatus: 'failed', lastRunAt: start + hour };
    expect(await next.rooms.tasks.get(task.id)).toMatchObject({ counters: { failures: 1 }, ...last });
  });

  it('is not followed for ever: work that takes the process down three times ends', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly, action: echo({ delay_ms: 5000 }) });
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
    const { p, task } = await afterAnHour({ schedule: hourly, action: echo({ delay_ms: 20_000 }) });
    for (let turn = 0; turn < 10; turn += 1) await p.pass(1000);
    expect((await p.history(task.id))[0]?.attempts).toMatchObject([{ status: 'running' }]);
  });

  it('a slot that was recorded but not started is started by the next process', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 10);
    const next = await restarted(p);
    expect(await next.history(task.id)).toMatchObject([{ status: 'succeeded', deliveries: [{ status: 'delivered' }] }]);
  });
});

describe('what the database refuses for a reason of its own', () => {
  it('in the end of one run holds up no other, and that run ends with the reason', async () => {
    const { p, task: bad } = await withTask({ schedule: hourly });
    const fine = await p.create({ schedule: hourly });
    p.database.exec(
      `create trigger refuse before insert on deliveries when new.task_id = '${bad.id}' begin select raise(abort, 'no'); end`,
    );
    await p.pass(hour);
    expect(await p.history(fine.id)).toMatchObject([{ status: 'succeeded', deliveries: [{ status: 'delivered' }] }]);
    expect(await p.history(bad.id)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('could not be written') as string },
    ]);
  });

  it('in the claim of one task pauses that one, and takes up the others', async () => {
    const { p, task: fine } = await withTask({ schedule: hourly });
    const bad = await p.create({ schedule: hourly });
    const last = await p.create({ schedule: hourly });
    p.database.exec(
      `create trigger refuse before insert on occurrences when new.task_id = '${bad.id}' begin select raise(abort, 'no'); end`,
    );
    await p.pass(hour);
    for (const task of [fine, last]) expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded' }]);
    expect(await p.rooms.tasks.get(bad.id)).toMatchObject({
      state: 'paused',
      pausedReason: expect.stringContaining('unreadable') as string,
    });
  });

  it('is never blamed on a task that only stands next in line', async () => {
    const { p, task: bad } = await withTask({ schedule: hourly });
    const innocent = await p.create({ schedule: hourly });
    p.database.exec(
      `create trigger refuse before insert on occurrences when new.task_id = '${bad.id}' begin select raise(abort, 'no'); end`,
    );
    await p.time.advance(hour);
    const claimDue = p.store.claimDue.bind(p.store);
    let calls = 0;
    // Between the refusal and the marking the task that was refused is deleted by somebody else.
    const store = {
      ...p.store,
      claimDue: (...given: Parameters<typeof claimDue>) => {
        calls += 1;
        if (calls === 3) p.database.exec(`update tasks set state = 'deleted', next_at = null where id = '${bad.id}'`);
        return claimDue(...given);
      },
    };
    const scheduler = createScheduler({
      store,
      runs: runServiceOf(p),
      ids: countingIds('x'),
      scopesOf,
      log: p.log,
      bell: { ring: () => undefined },
      processes: { isAlone: true },
    });
    await scheduler.step(p.time.now(), 10);
    expect((await p.rooms.tasks.get(innocent.id)).state).not.toBe('paused');
  });

  it('a database that is away for a moment is nobody\u2019s fault', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.time.advance(hour);
    p.database.pragma('query_only = on');
    await expect(p.rooms.scheduler.step(p.time.now(), 10)).rejects.toMatchObject({ code: 'store_unavailable' });
    p.database.pragma('query_only = off');
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded' }]);
  });

  it('a run whose input is broken, or readable but wrong, ends, and the runner goes on', async () => {
    const { p, task: broken } = await withTask({ schedule: hourly }, { threadKey: `${group}:topic:3` });
    const wrong = await p.create({ schedule: hourly });
    const odd = await p.create({ schedule: hourly });
    const fine = await p.create({ schedule: hourly });
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 100);
    for (const [input, { id }] of [
      ['{', broken],
      ['{}', wrong],
    ] as const)
      p.database.prepare('update runs set input = ? where task_id = ?').run(input, id);
    p.database
      .prepare(`update runs set input = json_set(input, '$.policies', json('{"timeout":"x"}')) where task_id = ?`)
      .run(odd.id);
    await p.settle();
    for (const task of [wrong, odd]) expect(await p.history(task.id)).toMatchObject([{ status: 'failed' }]);
    expect(await p.history(broken.id)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('unreadable') as string },
    ]);
    expect(await p.history(fine.id)).toMatchObject([{ status: 'succeeded' }]);
  });
});

describe('a run that is asked to stop', () => {
  it('while its failed attempt is being written ends, and is not tried again', async () => {
    const { p, task } = await afterAnHour({
      schedule: hourly,
      action: echo({ delay_ms: 1000, fail_attempts: 1 }),
      policies: { overlap: 'replace' },
    });
    p.database.exec(`update runs set cancel_requested_at = 1, cancel_reason = 'replaced'`);
    await p.time.advance(1000);
    await p.rooms.runner.idle();
    expect(await p.history(task.id)).toMatchObject([{ status: 'cancelled', reason: 'replaced' }]);
  });
});

describe('stopping while the store is away', () => {
  it('gives up after its grace, and the next process settles what is left', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly, action: echo({ delay_ms: 1000 }) });
    p.database.pragma('query_only = on');
    const stopped = p.rooms.runner.stop(5000);
    await p.time.advance(1000);
    await p.time.advance(6000);
    await stopped;
    p.database.pragma('query_only = off');
    const next = await restarted(p);
    await next.pass(1000);
    expect(await next.history(task.id)).toMatchObject([
      { status: 'succeeded', attempts: [{ status: 'interrupted' }, { status: 'succeeded' }] },
    ]);
  });
});

describe('rights', () => {
  it('are checked when the slot is taken up: a revoked grant skips it with that reason', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    p.database.prepare('update grants set revoked_at = ?').run(start + minute);
    await p.pass(hour);
    expect(await p.history(task.id)).toMatchObject([{ status: 'skipped', reason: 'grant_revoked', runId: null }]);
    expect((await p.rooms.tasks.get(task.id)).state).toBe('active');
  });

  it('that are gone use up no bound', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { max_runs: 1 } });
    p.database.prepare('update grants set revoked_at = ?').run(start + minute);
    await p.pass(hour);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({ state: 'active', counters: { boundedRuns: 0 } });
  });

  it('are checked again when the run starts', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 10);
    p.database.prepare('update grants set expires_at = ?').run(p.time.now());
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([{ status: 'skipped', reason: 'grant_expired', attempts: [] }]);
  });

  it('are checked again before each attempt, and that is said', async () => {
    const { p, id: taskId } = await afterAnHour({ schedule: hourly, action: echo({ fail_attempts: 2 }) });
    const all = { thread: null, ownerId: null, state: null, limit: 9, cursor: null };
    const [grant] = (await p.rooms.tasks.listGrants({ ...all, taskId })).items;
    await p.rooms.tasks.revoke(grant?.id ?? '', { actor });
    await p.pass(5 * minute);
    expect(await p.history(taskId)).toMatchObject([
      { status: 'skipped', reason: 'grant_revoked', attempts: [{ status: 'failed' }] },
    ]);
    expect(texts(p)).toEqual(['[mayNotRun]']);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
  });
});

describe('a kind of action that is gone', () => {
  it('has its slots skipped, which is told once, and pauses nobody', async () => {
    const { p, id } = await withTask({ schedule: hourly, action: echo({}), policies: { auto_pause: 3 } });
    const next = p.restart({ ECHO_ACTION: false });
    for (let slot = 0; slot < 4; slot += 1) await next.pass(hour);
    const history = await next.history(id);
    expect(history.map(({ status, reason }) => [status, reason])).toEqual(Array(4).fill(['skipped', 'gone_kind']));
    expect(texts(next)).toEqual(['[mayNotRun]']);
    const counters = { runs: 0, failures: 0, consecutiveFailures: 0 };
    expect(await next.rooms.tasks.get(id)).toMatchObject({ state: 'active', nextAt: start + 5 * hour, counters });
    const by = { taskId: id, actor } as const;
    await next.rooms.tasks.edit(by, { title: 'Other name', policies: { auto_pause: 4 } });
    expect(await next.rooms.tasks.get(id)).toMatchObject({ title: 'Other name', policies: { auto_pause: 4 } });
    await expect(next.rooms.tasks.edit(by, { action: echo({}) })).rejects.toMatchObject({ code: 'invalid_action' });
    const back = next.restart({ ECHO_ACTION: true });
    await back.pass(hour);
    expect((await back.history(id)).at(-1)).toMatchObject({ status: 'succeeded' });
  });

  it('leaves a run that may have done something failed, and does not say that it was left out', async () => {
    const { p, id } = await afterAnHour({ schedule: hourly, action: echo({ delay_ms: 20_000 }) });
    const next = p.restart({ ECHO_ACTION: false });
    await next.settle();
    expect(await next.history(id)).toMatchObject([{ status: 'failed', attempts: [{ status: 'interrupted' }] }]);
  });
});

describe('stopping', () => {
  it('waits for what runs, and leaves open what does not end in time', async () => {
    const { p, task: quick } = await withTask({ schedule: hourly, action: echo({ delay_ms: 2000 }) });
    const slow = await p.create({ schedule: hourly, action: echo({ delay_ms: 25_000 }) });
    await p.pass(hour);
    const stopped = p.rooms.runner.stop(10_000);
    await p.time.advance(10_000);
    await stopped;
    expect(await p.history(quick.id)).toMatchObject([{ status: 'succeeded' }]);
    expect(await p.history(slow.id)).toMatchObject([{ status: 'dispatched', attempts: [{ status: 'running' }] }]);
    const next = await restarted(p);
    await next.pass(25_000);
    expect(await next.history(slow.id)).toMatchObject([
      { status: 'succeeded', attempts: [{ status: 'interrupted' }, { status: 'succeeded' }] },
    ]);
  });
});
