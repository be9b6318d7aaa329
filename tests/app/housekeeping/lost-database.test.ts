import { describe, expect, it } from 'vitest';
import { createClockWatch, followZoneRules } from '../../../src/app/pipeline/scheduler.ts';
import { aPipeline, hour, minute, start, withTask } from '../../support/pipeline.ts';

describe('a clock that was set back', () => {
  it('does not lengthen the pause before a retry', async () => {
    const p = await aPipeline();
    const watch = createClockWatch({ store: p.store, clock: p.time, stopwatch: p.time, log: p.log });
    const task = await p.create({ action: { kind: 'echo', fail_attempts: 1 } });
    await p.pass(5 * minute);
    p.time.setWall(p.time.now() - hour);
    await watch.check();
    await p.pass(30_000);
    expect(await p.history(task.id)).toMatchObject([
      { status: 'succeeded', attempts: [{ status: 'failed' }, { status: 'succeeded' }] },
    ]);
    expect(p.log.lines.filter(({ event }) => event === 'clock_was_set')).toHaveLength(1);
  });

  it('by a little, as clocks are disciplined, is let alone', async () => {
    const p = await aPipeline();
    const watch = createClockWatch({ store: p.store, clock: p.time, stopwatch: p.time, log: p.log });
    await p.time.advance(minute);
    p.time.setWall(p.time.now() - 1500);
    await watch.check();
    expect(p.log.lines).toEqual([]);
  });

  it('tells a gap once that comes twice', async () => {
    const { p, task } = await withTask({
      schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' },
      policies: { missed: 'skip' },
    });
    await p.pass(5 * hour);
    p.time.setWall(start + minute / 2);
    await p.rooms.tasks.pause({ taskId: task.id, actor: 'system' }, null);
    await p.rooms.tasks.resume({ taskId: task.id, actor: 'system' });
    await p.pass(6 * hour);
    expect(p.database.prepare('select count from gaps').pluck().all()).toEqual([359]);
  });
});

describe('rules of time that changed', () => {
  const follow = (p: Awaited<ReturnType<typeof aPipeline>>, version: string) =>
    followZoneRules({ store: p.store, scheduler: p.rooms.scheduler, clock: p.time, log: p.log, version, batchMax: 2 });

  it('make every next slot be computed again, and the log says how many moved', async () => {
    const p = await aPipeline();
    const tasks = [];
    for (let index = 0; index < 5; index += 1)
      tasks.push(await p.create({ schedule: { kind: 'cron', cron: '0 12 * * *', timezone: 'Africa/Casablanca' } }));
    await follow(p, '2025c');
    p.database.exec(`update tasks set next_at = next_at + ${hour} where number in (2, 4)`);
    await follow(p, '2026a');
    for (const task of tasks) expect((await p.rooms.tasks.get(task.id)).nextAt).toBe(task.nextAt);
    expect(p.log.lines.filter(({ event }) => event === 'zone_rules_changed').map(({ facts }) => facts)).toEqual([
      { from: '2025c', to: '2026a', moved: 2 },
    ]);
  });

  it('leave a slot that is due already, and are not followed twice', async () => {
    const p = await aPipeline();
    await follow(p, '2025c');
    const task = await p.create();
    await p.time.advance(6 * minute);
    await follow(p, '2026a');
    expect((await p.rooms.tasks.get(task.id)).nextAt).toBe(start + 5 * minute);
    await follow(p, '2026a');
    expect(p.log.lines.filter(({ event }) => event === 'zone_rules_changed')).toHaveLength(1);
  });
});
