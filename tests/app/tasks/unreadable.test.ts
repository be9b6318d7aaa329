import { expect, it } from 'vitest';
import { actor, hour, minute, start, withTask } from '../../support/pipeline.ts';
import { find, hourly, inGroup, newsOf, once, story, target } from './world.ts';

/** A task whose row cannot be read any more, found and marked by the scheduler. */
async function anUnreadable() {
  const { p, task } = await withTask({ schedule: hourly });
  p.database.exec(`update tasks set cron = 'nonsense'`);
  await p.pass(hour);
  expect(await find(p, task)).toMatchObject({
    state: 'paused',
    pausedReason: expect.stringMatching(/^unreadable/) as string,
  });
  return { p, task };
}

it('an unreadable task is refused what would need its schedule, with what to do', async () => {
  const { p, task } = await anUnreadable();
  const { bulk, tasks } = p.rooms;
  const { verbs } = await newsOf(p, async () => {
    for (const deed of [
      () => tasks.pause(target(task), p.time.now() + hour),
      () => tasks.resume(target(task)),
      () => tasks.edit(target(task), { title: 'New' }),
      () => tasks.edit(target(task), { enabled: true }),
    ])
      await expect(deed()).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(/Give it a new schedule, or delete it/) as string,
      });
    await expect(tasks.skip(target(task), { count: 1, from: null })).rejects.toMatchObject({ code: 'nothing_to_skip' });
    expect((await tasks.pause(target(task), null)).entryId).toBeNull();
    expect(await bulk.resume(inGroup, { actor })).toEqual({ changed: 0, left: 1 });
  });
  expect(verbs).toEqual([]);
});

it('an unreadable task is deleted, and comes back as it was', async () => {
  const { p, task } = await anUnreadable();
  await p.rooms.tasks.delete(target(task));
  expect((await p.rooms.tasks.restore(target(task))).task).toMatchObject({
    state: 'paused',
    pausedReason: expect.stringMatching(/^unreadable/) as string,
  });
});

it('an unreadable task is mended by a new schedule, and by nothing less', async () => {
  const { p, task } = await anUnreadable();
  await p.rooms.tasks.edit(target(task), { schedule: once(5) });
  const { task: mended } = await p.rooms.tasks.resume(target(task));
  expect(mended).toMatchObject({ state: 'active', pausedReason: null, nextAt: start + 5 * hour });
  await p.pass(4 * hour);
  expect(await story(p, task)).toEqual(['300 succeeded']);
});

it('a snooze of a task whose schedule cannot be read runs at its time, because it needs none, and holds up nobody', async () => {
  const { p, task } = await anUnreadable();
  const other = await p.create({ schedule: hourly });
  await p.rooms.tasks.snooze(target(task), p.time.now() + 10 * minute);
  await p.pass(10 * minute);
  expect(await p.history(task.id)).toMatchObject([{ source: 'snooze', status: 'succeeded' }]);
  await p.pass(50 * minute);
  expect(await story(p, other)).toEqual(['120 succeeded']);
});

it('a task that turns unreadable while its pause lasts stays paused at its end, once', async () => {
  const { p, task } = await withTask({ schedule: hourly });
  await p.rooms.tasks.pause(target(task), start + 30 * minute);
  p.database.exec(`update tasks set cron = 'nonsense'`);
  await p.pass(30 * minute);
  expect(await find(p, task)).toMatchObject({
    state: 'paused',
    resumeAt: null,
    pausedReason: expect.stringMatching(/^unreadable/) as string,
  });
  expect(await p.rooms.scheduler.nextAt(p.time.now())).toBeNull();
});
