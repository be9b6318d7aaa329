import { describe, expect, it } from 'vitest';
import {
  actor,
  aPipeline,
  hour,
  minute,
  start,
  type Pipeline,
  hourly,
  withTask,
  afterAnHour,
} from '../../support/pipeline.ts';
import { said, story, why } from './asking.ts';
const by = ({ id }: { readonly id: string }) => ({ taskId: id, actor }) as const;

/** What is coming, in hours since the start. */
const coming = async ({ rooms }: Pipeline, { id }: { readonly id: string }, count = 3) =>
  (await rooms.truth.upcoming(id, count)).map((slot) => (slot - start) / hour);

const planned = async (p: Pipeline, task: { readonly id: string }) =>
  (await story(p, task, { from: p.time.now(), to: start + 9 * hour }))
    .filter(({ decision }) => decision === 'planned')
    .map(({ at }) => ((at ?? 0) - start) / hour);

describe('what is coming', () => {
  it('lies within the bounds of the task', async () => {
    const p = await aPipeline();
    expect(await coming(p, await p.create({ schedule: hourly }))).toEqual([1, 2, 3]);
    expect(await coming(p, await p.create({ schedule: hourly, policies: { max_runs: 2 } }))).toEqual([1, 2]);
    expect(await coming(p, await p.create({ schedule: hourly, policies: { until: '2026-11-18T10:00Z' } }))).toEqual([
      1,
    ]);
    await expect(p.rooms.truth.upcoming('none', 3)).rejects.toMatchObject({ code: 'task_not_found' });
  });

  it('leaves out what was skipped in advance, which uses up no run', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { max_runs: 2 } });
    const first = await p.rooms.tasks.skip(by(task), { count: 1, from: null });
    await p.pass(1000);
    await p.rooms.tasks.skip(by(task), { count: 1, from: null });
    await p.pass(1000);
    await p.rooms.tasks.undo(by(task), first.entryId);
    expect(await coming(p, task)).toEqual([1, 3]);
    expect(await planned(p, task)).toEqual([1, 3]);
    expect(await said(p, task, start + 4 * hour)).toBe(
      'no_slot, max_runs: Wed 18 Nov 13:00: nothing is planned, as with max_runs (2) the run of Wed 18 Nov 12:00 may be the last one, if nothing is skipped before it; the time before it is 11:00 (skipped).',
    );
    for (let hours = 0; hours < 4; hours += 1) await p.pass(hour);
    expect((await p.history(task.id)).map(({ status }) => status)).toEqual(['succeeded', 'skipped', 'succeeded']);
  });

  it('leaves a place in max_runs to what still waits', async () => {
    const { p, task } = await afterAnHour({
      schedule: hourly,
      action: { kind: 'echo', fail_attempts: 1, repeatable: true },
      policies: { max_runs: 2, overlap: 'queue', retry: { attempts: 2, base: 'PT3H', cap: 'PT3H', jitter: 0 } },
    });
    await p.pass(hour);
    expect(await coming(p, task)).toEqual([]);
    expect(await planned(p, task)).toEqual([]);
    expect(await said(p, task, start + 3 * hour)).toContain('what waits or runs by now may be the last of it');
  });

  it('begins after a pause that ends by itself, and keeps its bounds', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { max_runs: 2 } });
    await p.rooms.tasks.pause(by(task), start + 3 * hour);
    expect(await coming(p, task)).toEqual([3, 4]);
    expect(await planned(p, task)).toEqual([3, 4]);
    expect((await why(p, task, start + 5 * hour)).cause).toBe('max_runs');
    await p.rooms.tasks.pause(by(task), null);
    expect(await coming(p, task)).toEqual([]);
  });

  it('is not known of a delay after the last finish while its run goes on', async () => {
    const p = await aPipeline();
    const schedule = { kind: 'interval', interval: 'PT30M', from: 'completion', timezone: 'UTC' } as const;
    const action = { kind: 'echo', fail_attempts: 1, repeatable: true };
    const policies = { retry: { attempts: 2, base: 'PT20M', jitter: 0 } };
    const task = await p.create({ schedule, action, policies });
    expect(await coming(p, task)).toEqual([0.5]);
    await p.pass(30 * minute);
    expect(await coming(p, task)).toEqual([]);
    expect(await planned(p, task)).toEqual([]);
    const standIn = (await p.store.readTask(task.id))?.nextAt ?? 0;
    expect(await said(p, task, standIn)).toBe(
      'no_slot, no_slot: Wed 18 Nov 10:00: not a time of this task (30 minutes after each run has ended, from 2026-11-18 09:00); the time before it is 09:30 (running); when the next run is depends on when the one ends that is under way.',
    );
    await p.pass(20 * minute);
    expect(await coming(p, task)).toEqual([80 / 60]);
    await p.rooms.tasks.pause(by(task), start + 2 * hour);
    expect(await coming(p, task)).toEqual([2.5]);
  });

  it('is told to be left out from the end of the right to run on, and no more when that is renewed', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, grantExpiresAt: start + 2 * hour + 20 * minute });
    const asked = () => said(p, task, start + 2 * hour, start + 3 * hour, start + 30 * hour);
    const [is, words] = ['planned, grant_expired:', 'planned, but it will be skipped: the grant of the task'];
    expect(await asked()).toBe(
      [
        'planned, schedule: Wed 18 Nov 11:00: planned.',
        `${is} Wed 18 Nov 12:00: ${words}, which is its right to run, ends before that, at 11:20.`,
        `${is} Thu 19 Nov 15:00: ${words}, which is its right to run, ends before that, on Wed 18 Nov 11:20.`,
      ].join('\n'),
    );
    await p.rooms.tasks.grant(by(task), { scopes: null, expiresAt: start + 4 * hour });
    expect((await why(p, task, start + 3 * hour)).cause).toBe('schedule');
    expect((await why(p, task, start + 4 * hour)).cause).toBe('grant_expired');
    const { grantId } = await p.rooms.tasks.get(task.id);
    await p.rooms.tasks.revoke(grantId, { actor });
    expect(await said(p, task, start + hour)).toBe(
      `planned, grant_revoked: Wed 18 Nov 10:00: ${words}, which is its right to run, was revoked.`,
    );
  });
});
