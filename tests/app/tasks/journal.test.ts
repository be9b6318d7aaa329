import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, type Pipeline, withTask } from '../../support/pipeline.ts';
import { auditOf, ended, eventsOf, hourly, long, newsOf, once, queued, running, slow, target } from './world.ts';

const kindsOf = async (p: Pipeline, deed: () => Promise<unknown>) => (await newsOf(p, deed)).events;

describe('what is done to a task', () => {
  it('is told from its making to its end, each time by one row and one event that names it', async () => {
    const { p, task } = await withTask({
      schedule: hourly,
      action: { kind: 'echo', fail_attempts: 9, error: 'final' },
    });
    const { tasks } = p.rooms;
    const runId = await ended(p, task);
    const deeds: Readonly<Record<string, () => Promise<unknown>>> = {
      edit: () => tasks.edit(target(task), { title: 'New' }),
      pause: () => tasks.pause(target(task), null),
      resume: () => tasks.resume(target(task)),
      skip: () => tasks.skip(target(task), { count: 1, from: null }),
      unskip: () => tasks.unskip(target(task)),
      snooze: () => tasks.snooze(target(task), { forMs: 10 * minute }),
      run_now: () => tasks.runNow(target(task)),
      cancel: () => tasks.cancel(target(task)),
      retry: () => tasks.repeat('retry', runId, { actor }).then(() => p.settle()),
      replay: () => tasks.repeat('replay', runId, { actor }),
      undo: () => tasks.undo(target(task), null),
      delete: () => tasks.delete(target(task)),
      restore: () => tasks.restore(target(task)),
      upsert: () => p.create({ title: 'New', schedule: hourly, instructions: 'x' }, { onExisting: 'upsert' }),
    };
    for (const [verb, deed] of Object.entries(deeds)) {
      const { verbs, isTold, audit } = await newsOf(p, deed);
      expect([verbs, isTold.length, audit[0]?.actor], verb).toEqual([[verb], 1, actor]);
      expect([isTold[0]?.task_id, audit[0]?.state_after === null], verb).toEqual([task.id, false]);
    }
    expect(auditOf(p)[0]).toMatchObject({ verb: 'create', state_before: null, state_after: 'active' });
  });

  it('by whoever it is, is told by name', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    for (const who of ['telegram:user:7', 'api:token:default', 'system'] as const) {
      const { audit } = await newsOf(p, () =>
        p.rooms.tasks.runNow({ taskId: task.id, actor: who }).then(() => p.settle()),
      );
      expect(audit.map((row) => row.actor)).toEqual([who]);
    }
  });
});

describe('what happens', () => {
  it('to a run is told when it starts and at the end of each attempt', async () => {
    const p = await aPipeline();
    const policies = { retry: { attempts: 3, base: 'PT1M', jitter: 0 } };
    const task = await p.create({ schedule: once(9), action: { kind: 'echo', fail_attempts: 2 }, policies });
    const runId = await queued(p, task);
    const told = await kindsOf(p, async () => {
      for (let turn = 0; turn < 4; turn += 1) await p.pass(2 * minute);
    });
    expect(told).toEqual([
      'run.started',
      'run.backoff',
      'run.started',
      'run.backoff',
      'run.started',
      'run.succeeded',
      // The result, the card of the task, and that it is pinned.
      'delivery.delivered',
      'delivery.delivered',
      'delivery.delivered',
    ]);
    const runs = eventsOf(p).filter(({ kind }) => kind.startsWith('run.'));
    expect(new Set(runs.map((event) => `${event.ref} ${event.task_id}`))).toEqual(new Set([`${runId} ${task.id}`]));
  });

  it.each([
    ['failed', { kind: 'echo', fail_attempts: 9, error: 'final' }],
    ['succeeded', { kind: 'echo' }],
  ])('to a run that has %s is told once', async (status, action) => {
    const { p, task } = await withTask({ schedule: once(9), action }, { threadKey: 'cli:default' });
    expect(await kindsOf(p, () => ended(p, task))).toEqual(['task.run_now', 'run.started', `run.${status}`]);
  });

  it.each(['queued', 'running'])('to a run that is cancelled while %s is told once', async (state) => {
    const { p, task } = await withTask({ schedule: once(9), action: slow, policies: long });
    const runId = await (state === 'queued' ? queued(p, task) : running(p, task));
    const told = await kindsOf(p, async () => {
      await p.rooms.tasks.cancelRun(runId, actor);
      await p.settle();
    });
    expect(told.toSorted()).toEqual(['run.cancelled', 'task.cancel']);
  });

  it('to a slot that does not run is told with its reason', async () => {
    const { p } = await withTask({ schedule: hourly, action: slow, policies: { ...long, missed: 'skip' } });
    const told = await kindsOf(p, async () => {
      await p.time.advance(2 * hour + 30 * minute);
      await p.settle();
    });
    expect(told).toEqual(['occurrence.missed', 'occurrence.missed']);
    const data = p.database.prepare(`select data from events where kind = 'occurrence.missed'`).pluck().all();
    expect(data).toEqual(['{"reason":"late"}', '{"reason":"late"}']);
  });

  it('to many slots at once is told as a gap', async () => {
    const { p } = await withTask({
      schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' },
      policies: { missed: 'skip' },
    });
    const told = await kindsOf(p, async () => {
      await p.time.advance(5 * hour + 50_000);
      await p.settle();
    });
    expect(told[0]).toBe('gap.recorded');
  });

  it('at the end of a task is told without anybody having done it', async () => {
    const { p, task } = await withTask({ schedule: once(1) }, { threadKey: 'cli:default' });
    const { events, verbs } = await newsOf(p, () => p.pass(hour));
    expect([events, verbs]).toEqual([['task.complete', 'run.started', 'run.succeeded'], []]);
    expect(eventsOf(p).find(({ kind }) => kind === 'task.complete')?.task_id).toBe(task.id);
  });

  it('in a transaction that is refused is not told', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    p.database.exec(`create trigger broken before insert on audit begin select raise(abort, 'the disk is full'); end`);
    await p.time.advance(hour);
    const news = await newsOf(p, async () => {
      await expect(p.rooms.tasks.pause(target(task), null)).rejects.toThrow(/the disk is full/);
    });
    expect([news.events, await p.history(task.id)]).toEqual([[], []]);
    p.database.exec('drop trigger broken');
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded' }]);
  });
});
