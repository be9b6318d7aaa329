import { describe, expect, it } from 'vitest';
import { aPipeline, hour, minute, start, type Pipeline, withTask } from '../../support/pipeline.ts';
import {
  auditOf,
  delay,
  entryOf,
  find,
  hourly,
  iso,
  kinds,
  long,
  newsOf,
  nextIn,
  once,
  recurring,
  running,
  slow,
  story,
  target,
} from './world.ts';

const skip = (p: Pipeline, task: { readonly id: string }, count = 1, from: number | null = null) =>
  p.rooms.tasks.skip(target(task), { count, from });

describe('skipping', () => {
  it.each(recurring)('gives the next slots their rows at once and moves the next run: %s', async (_kind, schedule) => {
    const { p, task } = await withTask({ schedule });
    const { task: skipped } = await skip(p, task, 2);
    expect(await story(p, task)).toEqual(['60 skipped skip', '120 skipped skip']);
    expect(skipped).toMatchObject({ state: 'active', nextAt: start + 3 * hour });
    for (let turn = 0; turn < 6; turn += 1) await p.pass(30 * minute);
    expect(await story(p, task)).toEqual(['60 skipped skip', '120 skipped skip', '180 succeeded']);
  });

  it('of a hundred slots of an interval follows its end', async () => {
    const p = await aPipeline();
    const until = iso(start + 40 * minute);
    const schedule = { kind: 'interval', interval: 'PT1M', timezone: 'UTC' } as const;
    const task = await p.create({ schedule, policies: { until } });
    const { task: skipped } = await skip(p, task, 100);
    expect(skipped).toMatchObject({ state: 'completed', nextAt: null });
    expect(await p.history(task.id)).toHaveLength(40);
  });

  it('writes one row in the audit with the slots, and one event', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    const { verbs, events, audit } = await newsOf(p, () => skip(p, task, 2));
    expect([verbs, events]).toEqual([['skip'], ['occurrence.skipped', 'occurrence.skipped', 'task.skip']]);
    expect(audit[0]?.after).toBe(JSON.stringify({ count: 2, slots: [iso(start + hour), iso(start + 2 * hour)] }));
  });

  it('follows the clock of the zone over an hour that comes twice', async () => {
    const p = await aPipeline({ now: Date.UTC(2027, 9, 30, 12) });
    const daily = { kind: 'cron', cron: '30 2 * * *', timezone: 'Europe/Madrid' } as const;
    const task = await p.create({ schedule: daily });
    // The clocks go back on 31 October 2027: half past two comes twice, and counts once, the first time.
    await skip(p, task, 2);
    expect((await p.history(task.id)).map(({ slotAt }) => iso(slotAt))).toEqual([
      '2027-10-31T00:30:00.000Z',
      '2027-11-01T01:30:00.000Z',
    ]);
    expect((await find(p, task)).nextAt).toBe(Date.UTC(2027, 10, 2, 1, 30));
  });
});

describe('a skipped slot', () => {
  it.each(kinds)('stays skipped through a pause and a resume: %s', async (_kind, schedule) => {
    const { p, task } = await withTask({ schedule, policies: { until: iso(start + 9 * hour) } });
    await skip(p, task);
    await p.rooms.tasks.pause(target(task), null);
    await p.rooms.tasks.resume(target(task)).catch(() => undefined);
    for (let turn = 0; turn < 2; turn += 1) await p.pass(30 * minute);
    expect(await story(p, task)).toEqual(['60 skipped skip']);
  });

  it('is dropped by an upsert with another timing alone', async () => {
    const { p, task } = await withTask({ title: 'T', schedule: hourly });
    await skip(p, task);
    await p.create({ title: 'T', schedule: hourly, instructions: 'other' }, { onExisting: 'upsert' });
    expect(await nextIn(p, task)).toBe(120);
    await p.create({ title: 'T', schedule: { ...hourly, cron: '15 * * * *' } }, { onExisting: 'upsert' });
    expect([await nextIn(p, task), await story(p, task)]).toEqual([15, []]);
  });

  it('never replaces a run that is live', async () => {
    const { p, task } = await withTask({ schedule: hourly, action: slow, policies: { ...long, overlap: 'replace' } });
    await skip(p, task, 2);
    await p.rooms.tasks.pause(target(task), start + 59 * minute);
    await p.pass(59 * minute + 30_000);
    await running(p, task);
    await p.pass(30_000);
    expect((await story(p, task)).slice(0, 2)).toEqual(['59 run_now dispatched', '60 skipped skip']);
    await p.pass(30_000);
    expect((await story(p, task))[0]).toBe('59 run_now succeeded');
  });

  it('holds no place in the queue', async () => {
    const { p, task } = await withTask({ schedule: hourly, action: slow, policies: { ...long, overlap: 'queue' } });
    await skip(p, task, 12);
    await running(p, task);
    const { taskRun } = await p.rooms.tasks.runNow(target(task));
    expect(taskRun.status).toBe('pending');
  });
});

describe('unskipping', () => {
  it('revives a completed task only within the quota', async () => {
    const p = await aPipeline({ settings: { QUOTA_PER_CHAT: 1 } });
    const task = await p.create({ schedule: once(1) });
    await skip(p, task);
    await p.create();
    await expect(p.rooms.tasks.unskip(target(task))).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(await story(p, task)).toEqual(['60 skipped skip']);
  });

  it('of one press among several brings back the slots of that press', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    const first = await skip(p, task);
    await skip(p, task);
    await p.rooms.tasks.undo(target(task), entryOf(first));
    expect([await nextIn(p, task), await story(p, task)]).toEqual([60, ['120 skipped skip']]);
    for (let turn = 0; turn < 3; turn += 1) await p.pass(hour);
    expect(await story(p, task)).toEqual(['60 succeeded', '120 skipped skip', '180 succeeded']);
    expect(auditOf(p).map(({ verb }) => verb)).toEqual(['create', 'skip', 'skip', 'undo']);
  });
});

describe('skipping a stretch of time', () => {
  const within = (p: Pipeline, task: { readonly id: string }, from: number, to: number, count = 100) =>
    p.rooms.tasks.skip(target(task), { count, from: null, within: { from: start + from, to: start + to } });

  it('leaves out its slots alone, and what comes before them stays next', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    const skipped = await within(p, task, 2 * hour, 4 * hour);
    expect(skipped.slots).toEqual([start + 2 * hour, start + 3 * hour]);
    expect(skipped.task.nextAt).toBe(start + hour);
    for (let turn = 0; turn < 4; turn += 1) await p.pass(hour);
    expect(await story(p, task)).toEqual(['60 succeeded', '120 skipped skip', '180 skipped skip', '240 succeeded']);
  });

  it('that begins before the next slot moves that, and one after another takes no slot twice', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await within(p, task, 2 * hour, 3 * hour);
    const first = await within(p, task, 0, 4 * hour);
    expect(first.slots).toEqual([start + hour, start + 3 * hour]);
    expect(first.task.nextAt).toBe(start + 4 * hour);
    const { undone } = await p.rooms.tasks.undo(target(task), first.entryId);
    expect(undone.verb).toBe('skip');
    expect(await nextIn(p, task)).toBe(60);
  });

  it('without a slot in it is refused, and so is what nobody can know yet', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await expect(within(p, task, 61 * minute, 119 * minute)).rejects.toThrow('no run in that time');
    const waiting = await p.create({ schedule: delay });
    await expect(within(p, waiting, 20 * hour, 30 * hour)).rejects.toThrow('no run in that time');
  });

  it('takes as many as were asked for at most', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    expect((await within(p, task, 0, 500 * hour, 3)).slots).toHaveLength(3);
  });
});
