import { expect, it } from 'vitest';
import { createClockWatch } from '../../../src/app/pipeline/scheduler.ts';
import { actor, hour, minute, start, hourly, withTask } from '../../support/pipeline.ts';
import { expectWords, said, story, told, why } from './asking.ts';

/** A task that runs every hour, and what sets its clock back as the scheduler would notice it. */
async function aLife(policies = {}) {
  const { p, task } = await withTask({ schedule: hourly, policies });
  const watch = createClockWatch({ store: p.store, clock: p.time, stopwatch: p.time, log: p.log });
  const setBack = async (to: number) => {
    await watch.check();
    p.time.setWall(to);
    await watch.check();
  };
  return { p, task, by: { taskId: task.id, actor } as const, setBack };
}

it('a time that came twice was not paused but where somebody had paused it', async () => {
  const { p, task, by, setBack } = await aLife();
  await p.pass(90 * minute);
  await p.rooms.tasks.pause(by, null);
  await p.pass(30 * minute);
  await p.rooms.tasks.resume(by);
  // At 11:00 the clock shows 09:30 again.
  await setBack(start + 30 * minute);
  await p.pass(15 * minute);
  await p.rooms.tasks.pause({ ...by, actor: 'telegram:user:1002' }, null);
  await p.pass(4 * hour + 30 * minute);
  await p.rooms.tasks.resume(by);
  for (let hours = 0; hours < 2; hours += 1) await p.pass(hour);
  const pages = async (limit: number) => (await story(p, task, { from: start, to: p.time.now(), limit })).map(told);
  const lines = await pages(3);
  await expectWords('clock-set-back', ...lines, await said(p, task, start + 3 * hour));
  for (const limit of [1, 200]) expect(await pages(limit)).toEqual(lines);
});

it('a time that came twice was the end of a task in the one of its two turns', async () => {
  const { p, task, by, setBack } = await aLife({ until: '2026-11-18T10:00:00Z' });
  await p.pass(hour);
  await p.pass(5 * hour);
  await p.rooms.tasks.edit(by, { policies: { until: null } });
  await setBack(start + 3 * hour);
  await p.rooms.tasks.delete(by);
  expect((await why(p, task, start + 2 * hour)).decision).toBe('completed');
  expect((await why(p, task, start + 4 * hour)).decision).toBe('deleted');
});

it('a time that came twice may hold what was done to a task before it was made', async () => {
  const { p, task, by, setBack } = await aLife();
  await setBack(start - 3 * hour);
  await p.rooms.tasks.pause(by, null);
  await p.pass(hour);
  expect((await why(p, task, start - 2 * hour)).decision).toBe('paused');
  expect((await why(p, task, start - 4 * hour)).decision).toBe('not_created');
});

it('a time that came twice may have a slot that a schedule names which held only in the second turn', async () => {
  const { p, task, by, setBack } = await aLife();
  await p.rooms.tasks.edit(by, { schedule: { ...hourly, cron: '5 * * * *' } });
  await p.pass(80 * minute);
  await p.rooms.tasks.edit(by, { schedule: { ...hourly, cron: '15 * * * *' } });
  await setBack(start + 50 * minute);
  await p.rooms.tasks.edit(by, { instructions: 'Sit down!' });
  for (let quarters = 0; quarters < 8; quarters += 1) await p.pass(15 * minute);
  expect((await why(p, task, start + 65 * minute)).decision).toMatch(/ran|late/);
  expect(await why(p, task, start + 75 * minute)).toMatchObject({ decision: 'unrecorded', cause: 'clock_set_back' });
  expect((await why(p, task, start + 135 * minute)).decision).toBe('ran');
});
