import { describe, expect, it } from 'vitest';
import { actor, aPipeline, day, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';
import { auditOf, delay, find, hourly, iso, kinds, newsOf, nextIn, once, recurring, story, target } from './world.ts';

const pauseUntil = (p: Pipeline, task: { readonly id: string }, minutes: number) =>
  p.rooms.tasks.pause(target(task), start + minutes * minute);

describe('a pause until an instant', () => {
  it('lets its slots pass without a row, and goes on by itself with the first slot after its end', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, policies: { missed: 'all' } });
    await pauseUntil(p, task, 150);
    for (let turn = 0; turn < 8; turn += 1) await p.pass(30 * minute);
    expect(await story(p, task)).toEqual(['180 succeeded', '240 succeeded']);
    expect(await find(p, task)).toMatchObject({ state: 'active', resumeAt: null, pausedReason: null });
  });

  it.each(recurring)('counts the slot exactly at its end: %s', async (kind, schedule) => {
    const p = await aPipeline();
    const task = await p.create({ schedule });
    await pauseUntil(p, task, 120);
    await p.pass(2 * hour);
    // A delay begins anew where the pause ends, because it has no slot of its own.
    expect(await story(p, task)).toEqual(kind === 'interval from completion' ? [] : ['120 succeeded']);
  });

  it.each(kinds)('that ends a millisecond after a slot leaves that slot out: %s', async (_kind, schedule) => {
    const p = await aPipeline();
    const task = await p.create({ schedule });
    await p.rooms.tasks.pause(target(task), start + hour + 1);
    await p.pass(hour + 1);
    expect(await story(p, task)).toEqual([]);
  });

  it('of a once-task over its slot completes it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: once(1) });
    await pauseUntil(p, task, 90);
    await p.pass(90 * minute);
    expect(await find(p, task)).toMatchObject({ state: 'completed', nextAt: null, resumeAt: null });
    expect(auditOf(p).at(-1)).toMatchObject({ verb: 'resume', state_before: 'paused', state_after: 'completed' });
  });

  it('at exactly a slot gives that slot first', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.time.advance(hour);
    await pauseUntil(p, task, 90);
    await p.settle();
    expect(await story(p, task)).toEqual(['60 succeeded']);
    expect(await find(p, task)).toMatchObject({ state: 'paused', resumeAt: start + 90 * minute });
  });

  it.each([
    ['skip', ['60 missed late', '120 missed late']],
    ['once', ['60 missed covered', '120 catch_up succeeded']],
    ['all', ['60 catch_up succeeded', '120 catch_up succeeded']],
    ['ask', ['60 catch_up pending ask', '120 catch_up pending ask']],
  ] as const)('whose end nobody saw leaves the slots since then to the policy missed: %s', async (missed, told) => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, policies: { missed } });
    await pauseUntil(p, task, 45);
    await p.time.advance(2 * hour + 20 * minute);
    const later = p.restart();
    await later.settle();
    expect(await story(later, task)).toEqual(told);
    expect((await find(later, task)).nextAt).toBe(start + 3 * hour);
  });

  it('wakes the scheduler for its end, and for nothing else', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await pauseUntil(p, task, 20);
    expect(await p.rooms.scheduler.nextAt(p.time.now())).toBe(start + 20 * minute);
    await p.rooms.tasks.pause(target(task), null);
    expect(await p.rooms.scheduler.nextAt(p.time.now())).toBeNull();
  });

  it('is moved by pausing again, and the same end changes nothing', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await pauseUntil(p, task, 90);
    await p.pass(10 * minute);
    const same = await newsOf(p, () => pauseUntil(p, task, 90));
    expect([same.verbs, same.events]).toEqual([[], []]);
    const moved = await newsOf(p, () => pauseUntil(p, task, 30));
    expect(moved.audit.map(({ verb, before, after }) => [verb, before, after])).toEqual([
      [
        'pause',
        JSON.stringify({ reason: 'manual', until: iso(start + 90 * minute) }),
        JSON.stringify({ reason: 'manual', until: iso(start + 30 * minute) }),
      ],
    ]);
    await p.pass(20 * minute);
    expect(await nextIn(p, task)).toBe(60);
  });

  it('loses its end when a person pauses for good', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await pauseUntil(p, task, 30);
    await p.rooms.tasks.pause(target(task), null);
    await p.pass(3 * hour);
    expect(await find(p, task)).toMatchObject({ state: 'paused', resumeAt: null });
    expect(await story(p, task)).toEqual([]);
  });

  it.each(['resume', 'delete'] as const)('is ended by %s, and its end does nothing then', async (verb) => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await pauseUntil(p, task, 30);
    await p.rooms.tasks[verb](target(task));
    const { verbs } = await newsOf(p, () => p.pass(40 * minute));
    expect(verbs).toEqual([]);
    expect(await find(p, task)).toMatchObject({ state: verb === 'resume' ? 'active' : 'deleted', resumeAt: null });
  });

  it('says in the audit who and until when, and the system ends it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
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
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await expect(p.rooms.tasks.pause(target(task), start + ms)).rejects.toMatchObject({
      code: 'invalid_request',
      details: { field: 'until' },
    });
    expect((await find(p, task)).state).toBe('active');
  });

  it('does nothing to a completed task and is unknown for a deleted one', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: once(1) });
    await p.pass(hour);
    expect(await pauseUntil(p, task, 90)).toMatchObject({
      entryId: null,
      task: { state: 'completed', resumeAt: null },
    });
    await p.rooms.tasks.delete(target(task));
    await expect(pauseUntil(p, task, 90)).rejects.toMatchObject({ code: 'not_found' });
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

describe('a delay after the last finish', () => {
  it('that is resumed by hand begins anew', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: delay });
    await pauseUntil(p, task, 120);
    await p.pass(30 * minute);
    await p.rooms.tasks.resume(target(task));
    expect(await nextIn(p, task)).toBe(90);
  });

  it('that was paused while it ran goes on after the pause, not after the finish', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: delay, action: { kind: 'echo', delay_ms: 10_000 } });
    await p.pass(hour);
    await pauseUntil(p, task, 90);
    await p.pass(10_000);
    expect(await find(p, task)).toMatchObject({ state: 'paused', nextAt: null });
    await p.pass(30 * minute);
    expect(Math.round((await nextIn(p, task)) ?? 0)).toBe(150);
  });
});

describe('resuming', () => {
  it('a task whose slots are all past is refused, and it stays paused', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: once(1) });
    await p.rooms.tasks.pause(target(task), null);
    await p.pass(2 * hour);
    await expect(p.rooms.tasks.resume(target(task))).rejects.toMatchObject({ code: 'schedule_exhausted' });
    expect((await find(p, task)).state).toBe('paused');
  });

  it('at exactly a slot leaves that slot in the pause', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.pause(target(task), null);
    await p.time.advance(hour);
    await p.rooms.tasks.resume(target(task));
    await p.settle();
    expect(await story(p, task)).toEqual([]);
    expect(await nextIn(p, task)).toBe(120);
  });

  it.each([
    ['at the instant of the end', 60],
    ['after an end that nobody saw', 65],
  ])('by hand %s keeps the slots since the end', async (_name, minutes) => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await pauseUntil(p, task, 60);
    await p.time.advance(minutes * minute);
    await p.rooms.tasks.resume(target(task));
    await p.settle();
    expect(await story(p, task)).toEqual(['60 succeeded']);
  });

  it('by hand once the pause has ended by itself changes nothing', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await pauseUntil(p, task, 60);
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 10);
    expect((await p.rooms.tasks.resume({ taskId: task.id, actor })).entryId).toBeNull();
    await p.settle();
    expect(await story(p, task)).toEqual(['60 succeeded']);
  });
});
