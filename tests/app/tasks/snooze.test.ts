import { describe, expect, it } from 'vitest';
import { aPipeline, day, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';
import {
  auditOf,
  delay,
  find,
  hourly,
  iso,
  kinds,
  long,
  newsOf,
  nextIn,
  once,
  overlaps,
  running,
  slow,
  story,
  target,
} from './world.ts';

const snooze = (p: Pipeline, task: { readonly id: string }, minutes: number) =>
  p.rooms.tasks.snooze(target(task), start + minutes * minute);

describe('a snooze', () => {
  it.each(kinds)('is one more run beside the schedule, of a task of every kind: %s', async (_kind, schedule) => {
    const p = await aPipeline();
    const task = await p.create({ schedule });
    await snooze(p, task, 30);
    expect(await story(p, task)).toEqual(['30 snooze pending']);
    expect(await nextIn(p, task)).toBe(60);
    await p.pass(30 * minute);
    await p.pass(30 * minute);
    expect(await story(p, task)).toEqual(['30 snooze succeeded', '60 succeeded']);
    expect((await find(p, task)).counters).toMatchObject({ runs: 2, boundedRuns: 1 });
  });

  it('does not begin before its time, and wakes the scheduler for it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await snooze(p, task, 30);
    expect(await p.rooms.scheduler.nextAt(p.time.now())).toBe(start + 30 * minute);
    await p.pass(30 * minute - 1);
    expect(await story(p, task)).toEqual(['30 snooze pending']);
    await p.pass(1);
    expect(await story(p, task)).toEqual(['30 snooze succeeded']);
  });

  it('again moves it, with a row for what it was', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await snooze(p, task, 30);
    const { audit, events } = await newsOf(p, () => snooze(p, task, 20));
    expect(await story(p, task)).toEqual(['20 snooze pending', '30 snooze skipped replaced']);
    expect([audit[0]?.before, audit[0]?.after, events]).toEqual([
      JSON.stringify({ until: iso(start + 30 * minute) }),
      JSON.stringify({ until: iso(start + 20 * minute) }),
      ['occurrence.skipped', 'task.snooze'],
    ]);
    await p.pass(40 * minute);
    expect(await story(p, task)).toEqual(['20 snooze succeeded', '30 snooze skipped replaced']);
  });

  it('to the same end changes nothing, also where that instant was taken', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    for (const minutes of [30, 40, 30]) await snooze(p, task, minutes);
    expect(await story(p, task)).toEqual([
      '30 snooze skipped replaced',
      '30 snooze pending',
      '40 snooze skipped replaced',
    ]);
    const same = await newsOf(p, () => snooze(p, task, 30));
    expect([same.verbs, same.events]).toEqual([[], []]);
  });

  it('moves by any time that a person names, be it some seconds', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await snooze(p, task, 30);
    await p.rooms.tasks.snooze(target(task), start + 30 * minute - 5000);
    await p.pass(30 * minute - 5000);
    expect(await story(p, task)).toEqual(['29 snooze succeeded', '30 snooze skipped replaced']);
  });

  it('at exactly a slot stands beside it and takes nothing from it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await snooze(p, task, 60);
    await p.pass(hour + 1);
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([
      { slotAt: start + hour, source: 'schedule', status: 'succeeded' },
      { slotAt: start + hour + 1, source: 'snooze', status: 'succeeded' },
    ]);
  });

  it('runs after a restart, however late', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: once(9) });
    await snooze(p, task, 30);
    await p.time.advance(3 * hour);
    const later = p.restart();
    await later.settle();
    expect(await story(later, task)).toEqual(['30 snooze succeeded']);
  });

  it('runs a completed once-task once more, and leaves it completed', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: once(1) });
    await p.pass(hour);
    await snooze(p, task, 90);
    await p.pass(30 * minute);
    expect(await story(p, task)).toEqual(['60 succeeded', '90 snooze succeeded']);
    expect(await find(p, task)).toMatchObject({ state: 'completed', nextAt: null });
  });

  it('of a paused task runs in the pause, because a person asked for it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.pause(target(task), null);
    await snooze(p, task, 30);
    await p.pass(hour);
    expect(await story(p, task)).toEqual(['30 snooze succeeded']);
    expect((await find(p, task)).state).toBe('paused');
  });

  it.each([
    ['pause', '30 snooze skipped paused'],
    ['delete', '30 snooze cancelled deleted'],
  ] as const)('is ended by %s, with a row', async (verb, told) => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await snooze(p, task, 30);
    if (verb === 'pause') await p.rooms.tasks.pause(target(task), null);
    else await p.rooms.tasks.delete(target(task));
    await p.pass(40 * minute);
    expect(await story(p, task)).toEqual([told]);
  });

  it('lasts from the asking when it is a duration, and with the same key it is one', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.snooze(target(task, 'k'), { forMs: 10 * minute });
    await p.time.advance(minute);
    await p.rooms.tasks.snooze(target(task, 'k'), { forMs: 10 * minute });
    expect(await story(p, task)).toEqual(['10 snooze pending']);
    await p.rooms.tasks.snooze(target(task), { forMs: 10 * minute });
    expect(await story(p, task)).toEqual(['10 snooze skipped replaced', '11 snooze pending']);
  });

  it.each([
    ['now', 0],
    ['the past', -minute],
    ['more than a year from now', 367 * day],
  ])('is refused for %s', async (_name, ms) => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await expect(p.rooms.tasks.snooze(target(task), start + ms)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(auditOf(p)).toHaveLength(1);
  });

  it('is unknown for a deleted task', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.delete(target(task));
    await expect(snooze(p, task, 30)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('beside a live run', () => {
  it.each(overlaps)('a snooze waits for its turn or runs beside it, and is never lost: %s', async (overlap) => {
    const p = await aPipeline();
    const task = await p.create({ schedule: once(9), action: slow, policies: { ...long, overlap } });
    await running(p, task);
    await snooze(p, task, 0.5);
    await p.pass(30_000);
    expect((await story(p, task))[1]).toBe(overlap === 'allow' ? '0 snooze dispatched' : '0 snooze pending');
    for (let turn = 0; turn < 3; turn += 1) await p.pass(minute);
    expect(await story(p, task)).toEqual(['0 run_now succeeded', '0 snooze succeeded']);
  });

  it('a snooze to come takes no place in the queue and holds no slot back', async () => {
    const p = await aPipeline();
    const every = { kind: 'interval', interval: 'PT1M', timezone: 'UTC' } as const;
    const task = await p.create({ schedule: every, policies: { overlap: 'queue' } });
    await snooze(p, task, 30);
    for (let turn = 0; turn < 3; turn += 1) await p.pass(minute);
    expect(await story(p, task)).toEqual(['1 succeeded', '2 succeeded', '3 succeeded', '30 snooze pending']);
  });

  it.each(overlaps)('a snooze to come is not replaced by a slot: %s', async (overlap) => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, action: slow, policies: { ...long, overlap } });
    await snooze(p, task, 62);
    await p.pass(hour - 30_000);
    await running(p, task);
    await p.pass(30_000);
    for (let turn = 0; turn < 4; turn += 1) await p.pass(minute);
    expect((await story(p, task)).at(-1)).toBe('62 snooze succeeded');
  });

  it('a snooze of a delay moves no slot of it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: delay });
    await snooze(p, task, 30);
    await p.pass(30 * minute);
    expect([await story(p, task), await nextIn(p, task)]).toEqual([['30 snooze succeeded'], 60]);
  });
});
