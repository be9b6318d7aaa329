import { describe, expect, it } from 'vitest';
import { snoozesMax } from '../../../src/domain/limits.ts';
import type { Task } from '../../../src/domain/task.ts';
import { day, hour, minute, start, type Pipeline, withTask } from '../../support/pipeline.ts';
import {
  auditOf,
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
    const { p, task } = await withTask({ schedule });
    await snooze(p, task, 30);
    expect(await story(p, task)).toEqual(['30 snooze pending']);
    expect(await nextIn(p, task)).toBe(60);
    await p.pass(30 * minute);
    await p.pass(30 * minute);
    expect(await story(p, task)).toEqual(['30 snooze succeeded', '60 succeeded']);
    expect((await find(p, task)).counters).toMatchObject({ runs: 2, boundedRuns: 1 });
  });

  it('wakes the scheduler for its time', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await snooze(p, task, 30);
    expect(await p.rooms.scheduler.nextAt(p.time.now())).toBe(start + 30 * minute);
  });

  it('again moves it, with a row for what it was', async () => {
    const { p, task } = await withTask({ schedule: hourly });
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

  it('of another result stands beside it, and of the same one moves it', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.pass(hour);
    await p.pass(hour);
    const [first, second] = (await p.history(task.id)).map(({ id }) => id);
    const put = (minutes: number, of: string | null = null) =>
      p.rooms.tasks.snooze(target(task), start + minutes * minute, of);
    expect(await put(150, first)).toMatchObject({ until: start + 150 * minute, movedFrom: null });
    expect(await put(140, second)).toMatchObject({ movedFrom: null });
    // Nothing named, it is the latest result.
    expect(await put(145)).toMatchObject({ movedFrom: start + 140 * minute });
    expect(await put(145)).toMatchObject({ entryId: null, movedFrom: null });
    expect(await put(155, first)).toMatchObject({ movedFrom: start + 150 * minute });
    const { entryId } = await put(130, second);
    await p.rooms.tasks.undo(target(task), entryId);
    for (let turn = 0; turn < 4; turn += 1) await p.pass(10 * minute);
    expect((await story(p, task)).filter((line) => line.includes('snooze succeeded'))).toEqual([
      '145 snooze succeeded',
      '155 snooze succeeded',
    ]);
  });

  it('is one of twenty at most', async () => {
    const { p, task } = await withTask({ schedule: { ...hourly, cron: '* * * * *' }, action: { kind: 'message' } });
    for (let turn = 0; turn <= snoozesMax; turn += 1) await p.pass(minute);
    const runs = (await p.history(task.id)).map(({ id }) => id);
    for (const id of runs.slice(0, snoozesMax)) await p.rooms.tasks.snooze(target(task), { forMs: day }, id);
    const last = p.rooms.tasks.snooze(target(task), { forMs: day }, runs[snoozesMax] ?? '');
    await expect(last).rejects.toMatchObject({ code: 'invalid_request' });
    await p.rooms.tasks.snooze(target(task), { forMs: hour }, runs[0] ?? '');
  });

  it('is held by a pause, and comes when that ends before it', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await snooze(p, task, 30);
    await p.time.advance(minute);
    await p.rooms.tasks.pause(target(task), null);
    expect(await story(p, task)).toEqual(['30 snooze pending']);
    await p.rooms.tasks.resume(target(task));
    await p.pass(29 * minute);
    expect(await story(p, task)).toEqual(['30 snooze succeeded']);
  });

  it('that passes in a pause is skipped for it, with its reason', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await snooze(p, task, 30);
    await p.time.advance(minute);
    await p.rooms.tasks.pause(target(task), start + 40 * minute);
    for (let turn = 0; turn < 6; turn += 1) await p.pass(10 * minute);
    expect(await story(p, task)).toEqual(['30 snooze skipped paused', '60 succeeded']);
  });

  it('at exactly a slot stands beside it and takes nothing from it', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await snooze(p, task, 60);
    await p.pass(hour + 1);
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([
      { slotAt: start + hour, source: 'schedule', status: 'succeeded' },
      { slotAt: start + hour + 1, source: 'snooze', status: 'succeeded' },
    ]);
  });

  it('runs after a restart, however late', async () => {
    const { p, task } = await withTask({ schedule: once(9) });
    await snooze(p, task, 30);
    await p.time.advance(3 * hour);
    const later = p.restart();
    await later.settle();
    expect(await story(later, task)).toEqual(['30 snooze succeeded']);
  });

  it('lasts from the asking when it is a duration, and with the same key it is one', async () => {
    const { p, task } = await withTask({ schedule: hourly });
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
    const { p, task } = await withTask({ schedule: hourly });
    await expect(p.rooms.tasks.snooze(target(task), start + ms)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(auditOf(p)).toHaveLength(1);
  });
});

describe('beside a live run', () => {
  it.each(overlaps)('a snooze waits for its turn or runs beside it, and is never lost: %s', async (overlap) => {
    const { p, task } = await withTask({ schedule: once(9), action: slow, policies: { ...long, overlap } });
    await running(p, task);
    await snooze(p, task, 0.5);
    await p.pass(30_000);
    expect((await story(p, task))[1]).toBe(overlap === 'allow' ? '0 snooze dispatched' : '0 snooze pending');
    for (let turn = 0; turn < 3; turn += 1) await p.pass(minute);
    expect(await story(p, task)).toEqual(['0 run_now succeeded', '0 snooze succeeded']);
  });

  it.each(overlaps)('a snooze to come is not replaced by a slot: %s', async (overlap) => {
    const { p, task } = await withTask({ schedule: hourly, action: slow, policies: { ...long, overlap } });
    await snooze(p, task, 62);
    await p.pass(hour - 30_000);
    await running(p, task);
    await p.pass(30_000);
    for (let turn = 0; turn < 4; turn += 1) await p.pass(minute);
    expect((await story(p, task)).at(-1)).toBe('62 snooze succeeded');
  });
});

describe('a snooze that ended before it ran', () => {
  const halfPast = { ...hourly, cron: '30 * * * *' };

  it.each([
    ['was replaced', 'edit', (p: Pipeline, task: Task) => snooze(p, task, 20)],
    ['was replaced', 'upsert', (p: Pipeline, task: Task) => snooze(p, task, 20)],
    ['was undone', 'edit', (p: Pipeline, task: Task) => p.rooms.tasks.undo(target(task), null)],
  ] as const)('and %s gives way to a slot of another timing: %s', async (_how, by, end) => {
    const { p, task } = await withTask({ schedule: hourly });
    await snooze(p, task, 30);
    await end(p, task);
    await (by === 'edit'
      ? p.rooms.tasks.edit(target(task), { schedule: halfPast })
      : p.create({ title: task.title, schedule: halfPast }, { onExisting: 'upsert' }));
    expect(await nextIn(p, task)).toBe(30);
    for (let turn = 0; turn < 3; turn += 1) await p.pass(10 * minute);
    expect((await story(p, task)).at(-1)).toBe('30 succeeded');
  });

  it('gives way to the slot that another timing has made of its instant since', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await snooze(p, task, 30);
    await p.rooms.tasks.edit(target(task), { schedule: halfPast });
    expect(await nextIn(p, task)).toBe(90);
    await snooze(p, task, 20);
    expect(await nextIn(p, task)).toBe(30);
    for (let turn = 0; turn < 3; turn += 1) await p.pass(10 * minute);
    expect(await story(p, task)).toEqual(['20 snooze succeeded', '30 succeeded']);
  });

  it('keeps its row where no slot comes to be', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await snooze(p, task, 31);
    await snooze(p, task, 20);
    await p.rooms.tasks.edit(target(task), { schedule: halfPast });
    expect(await story(p, task)).toEqual(['20 snooze pending', '31 snooze skipped replaced']);
  });
});
