import { describe, expect, it } from 'vitest';
import type { TaskPatch } from '../../../src/app/tasks/edit.ts';
import type { Task } from '../../../src/domain/task.ts';
import { aPipeline, day, hour, minute, start, type Pipeline, withTask, afterAnHour } from '../../support/pipeline.ts';
import {
  auditOf,
  delay,
  entryOf,
  find,
  hourly,
  iso,
  kinds,
  newsOf,
  nextIn,
  once,
  recurring,
  story,
  target,
} from './world.ts';

const undo = (p: Pipeline, task: { readonly id: string }, entryId: string | null = null) =>
  p.rooms.tasks.undo(target(task), entryId);

/** What a person would compare: everything but the counting and the stamps. */
function told(task: Task) {
  const { title, instructions, action, schedule, policies, subject, tags, context } = task;
  const { state, nextAt, pausedReason, resumeAt, minGapMs } = task;
  return {
    title,
    instructions,
    action,
    schedule,
    policies,
    subject,
    tags,
    context,
    state,
    nextAt,
    pausedReason,
    resumeAt,
    minGapMs,
  };
}

describe('undoing an edit', () => {
  const full = {
    title: 'T',
    subject: 's',
    tags: ['a'],
    context: { seen: 1 },
    policies: { grace: 'PT1M', overlap: 'queue', missed: 'all', retry: { attempts: 2 } },
  } as const;

  it.each<[string, TaskPatch]>([
    ['the title', { title: 'New' }],
    ['the text', { instructions: 'New' }],
    ['the action', { action: { kind: 'echo', delay_ms: 5 } }],
    ['a policy that was set', { policies: { grace: 'PT5M', retry: { attempts: 5 } } }],
    ['a policy that was not', { policies: { max_runs: 3, auto_pause: 5, start_at: '2026-11-18T12:00:00Z' } }],
    ['a policy taken away', { policies: { grace: null, overlap: null } }],
    ['the subject', { subject: null }],
    ['the tags', { tags: [] }],
    ['everything', { title: 'New', subject: 'x', tags: ['b'], schedule: once(5), policies: { missed: 'skip' } }],
  ])('brings back exactly what was there: %s', async (_name, patch) => {
    const { p, task } = await withTask({ ...full, schedule: hourly });
    const { entryId } = await p.rooms.tasks.edit(target(task), patch);
    expect(told(await find(p, task))).not.toEqual(told(task));
    await p.pass(minute);
    const undone = await undo(p, task, entryId);
    expect(undone.undone).toMatchObject({ id: entryId, verb: 'edit' });
    expect(told(undone.task)).toEqual(told(task));
  });

  it.each(kinds)('brings back the schedule, its anchor and its next slot: %s', async (kind, schedule) => {
    const { p, task } = await withTask({ schedule });
    await p.pass(10 * minute);
    await p.rooms.tasks.edit(target(task), { schedule: { ...hourly, cron: '30 * * * *' } });
    await p.pass(minute);
    const { task: back } = await undo(p, task);
    expect(back.schedule).toEqual(task.schedule);
    // A delay has no slot of its own; it begins where the schedule comes back.
    expect(await nextIn(p, task)).toBe(kind === 'interval from completion' ? 71 : 60);
  });

  it('of a rule with a count brings back its end', async () => {
    const p = await aPipeline();
    const schedule = { kind: 'rrule', rrule: 'FREQ=HOURLY;COUNT=3', timezone: 'UTC' } as const;
    const task = await p.create({ schedule });
    await p.rooms.tasks.edit(target(task), { schedule: hourly });
    expect((await undo(p, task)).task.schedule).toEqual(task.schedule);
    for (let turn = 0; turn < 4; turn += 1) await p.pass(hour);
    expect((await find(p, task)).state).toBe('completed');
  });

  it('of an upsert brings the old definition back', async () => {
    const { p, task } = await withTask({ ...full, schedule: hourly });
    await p.create(
      { title: 'T', subject: 's', schedule: { ...hourly, cron: '30 * * * *' }, instructions: 'else' },
      { onExisting: 'upsert' },
    );
    expect(told((await undo(p, task)).task)).toEqual(told(task));
  });

  it.each<[string, TaskPatch]>([
    ['a new time', { schedule: once(5) }],
    ['another kind of schedule', { schedule: hourly, title: 'New' }],
  ])('that gave a completed task something to do brings back its end: %s', async (_name, patch) => {
    const { p, task } = await afterAnHour({ schedule: once(1), action: { kind: 'echo' } });
    const before = await find(p, task);
    expect((await p.rooms.tasks.edit(target(task), { ...patch, action: { kind: 'message' } })).task.state).toBe(
      'active',
    );
    expect(told((await undo(p, task)).task)).toEqual(told(before));
    await p.pass(6 * hour);
    expect(await story(p, task)).toEqual(['60 succeeded']);
    await expect(p.rooms.tasks.resume(target(task))).rejects.toMatchObject({ code: 'schedule_exhausted' });
  });

  it('of a wider bound of a completed task completes it again', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly, policies: { max_runs: 1 } });
    await p.rooms.tasks.edit(target(task), { policies: { max_runs: 5, auto_pause: 3 } });
    expect((await undo(p, task)).task).toMatchObject({ state: 'completed', nextAt: null, policies: { max_runs: 1 } });
    expect(p.database.prepare('select auto_pause from tasks').pluck().get()).toBe(10);
  });
});

describe('undoing a switch', () => {
  it.each(recurring)('a pause: the task goes on with the next slot: %s', async (_kind, schedule) => {
    const { p, task } = await withTask({ schedule });
    await p.rooms.tasks.pause(target(task), start + 5 * hour);
    expect((await undo(p, task)).task).toMatchObject({
      state: 'active',
      resumeAt: null,
      pausedReason: null,
      nextAt: start + hour,
    });
  });

  it.each(['verb', 'edit'] as const)('a resume: the pause is back with its reason and its end: by %s', async (by) => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.rooms.tasks.pause(target(task), start + 90 * minute);
    p.database.exec(`update tasks set paused_reason = 'auto:consecutive_failures'`);
    await (by === 'verb' ? p.rooms.tasks.resume(target(task)) : p.rooms.tasks.edit(target(task), { enabled: true }));
    expect((await undo(p, task)).task).toMatchObject({
      state: 'paused',
      pausedReason: 'auto:consecutive_failures',
      resumeAt: start + 90 * minute,
    });
  });

  it('an edit that also paused: both are taken back', async () => {
    const { p, task } = await withTask({ title: 'T', schedule: hourly });
    await p.rooms.tasks.edit(target(task), { title: 'New', enabled: false });
    expect((await undo(p, task)).task).toMatchObject({ title: 'T', state: 'active', nextAt: start + hour });
  });

  it('a pause that the system made for failures', async () => {
    const p = await aPipeline();
    const action = { kind: 'echo', fail_attempts: 9, error: 'final' };
    const task = await p.create({ schedule: hourly, action, policies: { auto_pause: 3 } });
    for (let turn = 0; turn < 3; turn += 1) await p.pass(hour);
    expect((await undo(p, task)).task).toMatchObject({ state: 'active', counters: { consecutiveFailures: 0 } });
  });
});

describe('undoing a skip or a snooze', () => {
  it.each([
    [
      'that was moved since',
      async (p: Pipeline, task: Task) => void (await p.rooms.tasks.snooze(target(task), start + 40 * minute)),
    ],
    ['that has run', (p: Pipeline) => p.pass(35 * minute)],
  ])('a snooze %s is left alone', async (_name, happens) => {
    const { p, task } = await withTask({ schedule: hourly });
    const first = entryOf(await p.rooms.tasks.snooze(target(task), start + 30 * minute));
    await happens(p, task);
    const before = await story(p, task);
    const { verbs } = await newsOf(p, () => undo(p, task, first));
    expect([verbs, await story(p, task)]).toEqual([[], before]);
  });

  it('a timing of which every run was skipped comes back with nothing left, also when the one after it is over', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { until: iso(start + hour) } });
    await p.rooms.tasks.skip(target(task), { count: 1, from: null });
    const entry = entryOf(
      await p.rooms.tasks.edit(target(task), { schedule: { ...once(0), once_at: iso(start + 5 * minute) } }),
    );
    await p.pass(10 * minute);
    const { task: back } = await undo(p, task, entry);
    expect(back).toMatchObject({ state: 'completed', nextAt: null, schedule: { kind: 'cron' } });
  });
});

describe('undoing', () => {
  it('one entry twice has one effect', async () => {
    const { p, task } = await withTask({ title: 'One', schedule: hourly });
    const entry = entryOf(await p.rooms.tasks.edit(target(task), { title: 'Two' }));
    await undo(p, task, entry);
    await p.rooms.tasks.edit(target(task), { title: 'Three' });
    const { verbs, events } = await newsOf(p, async () => {
      expect(await undo(p, task, entry)).toMatchObject({
        task: { title: 'Three' },
        entryId: null,
        undone: { id: entry },
      });
    });
    expect([verbs, events]).toEqual([[], []]);
  });

  it('writes one row that names what it took back', async () => {
    const { p, task } = await withTask({ title: 'One', schedule: hourly });
    const entry = entryOf(await p.rooms.tasks.edit(target(task), { title: 'Two' }));
    const { verbs, events, audit } = await newsOf(p, () => undo(p, task));
    expect([verbs, events]).toEqual([['undo'], ['task.undo']]);
    expect(JSON.parse(audit[0]?.after ?? '')).toEqual({ title: 'One', undoes: entry, undone: 'edit' });
  });

  it('works for 24 hours to the millisecond, and then no more', async () => {
    const p = await aPipeline();
    const tasks = [
      await p.create({ title: 'A', schedule: delay }),
      await p.create({ title: 'B', schedule: delay }),
    ] as const;
    for (const task of tasks) await p.rooms.tasks.edit(target(task), { title: 'New' });
    await p.time.advance(day);
    expect((await undo(p, tasks[0])).task.title).toBe('A');
    await p.time.advance(1);
    await expect(undo(p, tasks[1])).rejects.toMatchObject({ code: 'too_late' });
    expect((await find(p, tasks[1])).title).toBe('New');
  });

  it('an entry of another task, or none at all, is nothing to undo', async () => {
    const p = await aPipeline();
    const [task, other] = [await p.create({ schedule: hourly }), await p.create({ schedule: hourly })];
    const entry = entryOf(await p.rooms.tasks.edit(target(other), { title: 'New' }));
    for (const id of [entry, 'x', '', '99999'])
      await expect(undo(p, task, id), id).rejects.toMatchObject({ code: 'nothing_to_undo' });
    await expect(undo(p, { id: 'none' })).rejects.toMatchObject({ code: 'task_not_found' });
    // For a task that is gone nothing exists but its way back.
    await p.rooms.tasks.delete(target(other));
    await expect(undo(p, other, entry)).rejects.toMatchObject({ code: 'task_not_found' });
  });

  it('finds its entry among many others', async () => {
    const { p, task } = await withTask({ title: 'One', schedule: hourly });
    await p.rooms.tasks.edit(target(task), { title: 'Two' });
    for (let turn = 0; turn < 60; turn += 1) await p.rooms.tasks.runNow(target(task)).then(() => p.settle());
    expect((await undo(p, task)).task.title).toBe('One');
    expect(auditOf(p).at(-1)?.before).toContain('Two');
    expect(iso((await find(p, task)).updated.at)).toBe(iso(start));
  });
});
