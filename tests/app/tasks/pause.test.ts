import { describe, expect, it } from 'vitest';
import { aPipeline, day, hour, minute, start, type Pipeline, withTask } from '../../support/pipeline.ts';
import { auditOf, find, hourly, iso, kinds, recurring, story, target } from './world.ts';

const pauseUntil = (p: Pipeline, task: { readonly id: string }, minutes: number) =>
  p.rooms.tasks.pause(target(task), start + minutes * minute);

describe('a pause until an instant', () => {
  it.each(recurring)('counts the slot exactly at its end: %s', async (kind, schedule) => {
    const { p, task } = await withTask({ schedule });
    await pauseUntil(p, task, 120);
    await p.pass(2 * hour);
    // A delay begins anew where the pause ends, because it has no slot of its own.
    expect(await story(p, task)).toEqual(kind === 'interval from completion' ? [] : ['120 succeeded']);
  });

  it.each(kinds)('that ends a millisecond after a slot leaves that slot out: %s', async (_kind, schedule) => {
    const { p, task } = await withTask({ schedule });
    await p.rooms.tasks.pause(target(task), start + hour + 1);
    await p.pass(hour + 1);
    expect(await story(p, task)).toEqual([]);
  });

  it.each([
    ['skip', ['60 missed late', '120 missed late']],
    ['once', ['60 missed covered', '120 catch_up succeeded']],
    ['all', ['60 catch_up succeeded', '120 catch_up succeeded']],
    ['ask', ['60 catch_up pending ask', '120 catch_up pending ask']],
  ] as const)('whose end nobody saw leaves the slots since then to the policy missed: %s', async (missed, told) => {
    const { p, task } = await withTask({ schedule: hourly, policies: { missed } });
    await pauseUntil(p, task, 45);
    await p.time.advance(2 * hour + 20 * minute);
    const later = p.restart();
    await later.settle();
    expect(await story(later, task)).toEqual(told);
    expect((await find(later, task)).nextAt).toBe(start + 3 * hour);
  });

  it('wakes the scheduler for its end, and for nothing else', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await pauseUntil(p, task, 20);
    expect(await p.rooms.scheduler.nextAt(p.time.now())).toBe(start + 20 * minute);
    await p.rooms.tasks.pause(target(task), null);
    expect(await p.rooms.scheduler.nextAt(p.time.now())).toBeNull();
  });

  it('says in the audit who and until when, and the system ends it', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.rooms.tasks.pause({ taskId: task.id, actor: 'telegram:user:7' }, start + 30 * minute);
    await p.pass(30 * minute);
    expect(auditOf(p).slice(1)).toMatchObject([
      {
        actor: 'telegram:user:7',
        verb: 'pause',
        state_before: 'active',
        state_after: 'paused',
        after: JSON.stringify({ reason: 'manual', until: iso(start + 30 * minute) }),
      },
      { actor: 'system', verb: 'resume', state_before: 'paused', state_after: 'active' },
    ]);
  });

  it.each([
    ['the present instant', 0],
    ['the past', -minute],
    ['more than five years from now', 6 * 366 * day],
  ])('is refused for %s, and nothing is paused', async (_name, ms) => {
    const { p, task } = await withTask({ schedule: hourly });
    await expect(p.rooms.tasks.pause(target(task), start + ms)).rejects.toMatchObject({
      code: 'invalid_request',
      details: { field: 'until' },
    });
    expect((await find(p, task)).state).toBe('active');
  });

  it('holds through a change of the clocks: the slot is that of the wall clock', async () => {
    const p = await aPipeline({ now: Date.UTC(2027, 2, 13, 20) });
    // Two in the morning does not exist in New York on 14 March 2027.
    const daily = { kind: 'cron', cron: '30 2 * * *', timezone: 'America/New_York' } as const;
    const task = await p.create({ schedule: daily });
    await p.rooms.tasks.pause(target(task), Date.UTC(2027, 2, 14, 6));
    await p.pass(10 * hour);
    expect((await find(p, task)).nextAt).toBe(Date.UTC(2027, 2, 14, 7));
    await p.pass(hour);
    expect(await p.history(task.id)).toMatchObject([{ slotAt: Date.UTC(2027, 2, 14, 7), status: 'succeeded' }]);
  });
});

describe('a pause for failures', () => {
  const breaking = { kind: 'echo', fail_attempts: 9, error: 'final' } as const;
  const broken = async (p: Pipeline) => {
    const task = await p.create({ schedule: hourly, action: breaking, policies: { auto_pause: 3 } });
    for (let turn = 0; turn < 4; turn += 1) await p.pass(hour);
    return task;
  };

  it('has no end of its own and stays until a person resumes, who starts the count again', async () => {
    const p = await aPipeline();
    const task = await broken(p);
    expect(await find(p, task)).toMatchObject({
      state: 'paused',
      pausedReason: 'auto:consecutive_failures',
      resumeAt: null,
    });
    await p.pass(3 * hour);
    expect((await find(p, task)).state).toBe('paused');
    const { task: resumed } = await p.rooms.tasks.resume(target(task));
    expect(resumed).toMatchObject({ state: 'active', pausedReason: null, counters: { consecutiveFailures: 0 } });
  });

  it('keeps its reason when a person gives it an end', async () => {
    const p = await aPipeline();
    const task = await broken(p);
    const { task: paused } = await p.rooms.tasks.pause(target(task), p.time.now() + hour);
    expect(paused).toMatchObject({ pausedReason: 'auto:consecutive_failures', resumeAt: p.time.now() + hour });
  });
});
