import { expect, test } from 'vitest';
import type { OutboxPart, PartEnd } from '../../../src/app/ports/outbox.ts';
import type { Task } from '../../../src/domain/task.ts';
import { aTask, claimAll, failureOf, hour, minute, nine, startEvery, aRunningTask } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import {
  aReadyTask,
  blocked,
  change,
  claimParts,
  eventsOf,
  lost,
  nextPart,
  putOff,
  removed,
  show,
  threadOf,
  paused,
  withReadyTask,
} from '../scenes.ts';
import { actor, deeds, engineOn, failing, target } from './verbs.ts';

const unreadable = (world: World, { id }: Pick<Task, 'id'>) =>
  world.query(`update tasks set action = '{}' where id = ?t`, id);

/** What is written down about ends that nobody asked for. */
export function toldTests(open: OpenWorld): void {
  test('a row that cannot be read and is not active is no news', async () => {
    const world = await open();
    const { rooms, create, pass, story } = engineOn(world);
    const task = await create();
    await rooms.tasks.pause(target(task), null);
    await rooms.tasks.snooze(target(task), nine);
    await unreadable(world, task);
    const before = await deeds(world);
    await pass(hour);
    expect(await story(task)).toEqual(['0 snooze failed']);
    expect(await deeds(world)).toEqual(before);
    expect(await eventsOf(world, task, 'task.quarantine')).toEqual([]);
    expect((await world.store.readTask(task.id))?.pausedReason).toBe('manual');
  });

  test('a timed pause that outlived the last slot ends in a completed task, and that is told', async () => {
    const world = await open();
    const { rooms, create, pass } = engineOn(world);
    const task = await create({
      schedule: { kind: 'once', once_at: new Date(nine).toISOString(), timezone: 'UTC' },
    });
    await rooms.tasks.pause(target(task), nine + minute);
    await pass(hour);
    expect((await world.store.readTask(task.id))?.state).toBe('completed');
    expect((await eventsOf(world, task, 'task.%')).slice(2)).toEqual(['task.resume', 'task.complete']);
  });

  test('new rules of time that leave a task nothing to run are told as its completion, if they moved it', async () => {
    const world = await open();
    const [lost, moved] = [await aTask(world), await aTask(world)];
    await world.store.replanTasks(null, { now: nine, limit: 10 }, () => [
      { taskId: lost.id, expectNextAt: nine, nextAt: null },
      { taskId: moved.id, expectNextAt: nine - 1, nextAt: null },
    ]);
    expect(await eventsOf(world, lost, 'task.complete')).toEqual(['task.complete']);
    expect(await eventsOf(world, moved, 'task.complete')).toEqual([]);
  });

  test('the gap before an automatic pause has an id that counts up with time, and is told', async () => {
    const world = await open();
    const [second, first] = [
      await aTask(world, { policies: { auto_pause: 1 } }),
      await aTask(world, { policies: { auto_pause: 1 } }),
    ];
    await claimAll(world, { now: nine, limit: 10 });
    const started = await startEvery(world, nine);
    for (const [task, finishedAt] of [
      [first, nine + 3 * hour],
      [second, nine + 4 * hour],
    ] as const) {
      const mine = started.filter(({ run }) => run.taskId === task.id);
      const { autoPaused } = await world.store.finishRuns(mine.map((one) => failureOf(one, { finishedAt })));
      expect(autoPaused).toEqual([task.id]);
    }

    const gaps = await world.query<{ id: string; task_id: string; count: number }>(
      'select id, task_id, count from gaps order by id',
    );
    expect(gaps.map(({ task_id, count }) => [task_id, count])).toEqual([
      [first.id, 3],
      [second.id, 4],
    ]);
    // The front of the id is the time, as it is in the ids of everything else.
    const time = (at: number) => at.toString(16).padStart(12, '0');
    expect(gaps.map(({ id }) => id.slice(0, 13).replace('-', ''))).toEqual([
      time(nine + 3 * hour),
      time(nine + 4 * hour),
    ]);
    expect(await world.query(`select ref from events where kind = 'gap.recorded' order by id`)).toEqual(
      gaps.map(({ id }) => ({ ref: id })),
    );
  });

  test('what waits for a task that is deleted is told as cancelled, and what waits for one that is paused as skipped', async () => {
    const world = await open();
    for (const [end, made] of [
      ['cancelled', removed],
      ['skipped', paused],
    ] as const) {
      const { task } = await aRunningTask(world);
      const waiting = world.make.occurrence({ slotAt: nine + hour, reason: 'overlap' });
      await claimAll(world, { now: nine + hour, limit: 10 }, () => ({ occurrences: [waiting], runs: [] }));
      await change(world, task, made);
      expect((await world.store.readTaskRun(waiting.id))?.status).toBe(end);
      expect(await eventsOf(world, task, 'occurrence.%')).toEqual([`occurrence.${end}`]);
    }
  });
}

/** What was begun for a task outlives neither its deletion nor its own beginning. */
export function leftOverTests(open: OpenWorld): void {
  test.each<[string, (part: OutboxPart) => PartEnd]>([
    ['not sent', (part) => putOff(part)],
    ['proved absent', (part) => putOff(part, { unsent: false, error: 'absent', evidence: '{}' })],
    ['blocked', (part) => blocked(part)],
    ['left to a person', (part) => lost(part, null)],
  ])('a part that comes back %s to a task that was deleted meanwhile fails', async (_how, end) => {
    const world = await open();
    const [gone, there] = [await aReadyTask(world), await aReadyTask(world, { home: threadOf('-200') })];
    await show(world, gone, [world.make.part(), world.make.part({ part: 2 })]);
    await show(world, there, [world.make.part()]);
    const parts = await claimParts(world);
    await change(world, gone, removed);
    const ends = parts.map(end);
    expect(await world.store.endParts(ends, nine + minute)).toBe(2);

    const found = await world.query(
      `select status, error, ready_at from deliveries where task_id = ?t and kind = 'result'`,
      gone.id,
    );
    const dropped = { status: 'failed', error: 'the task was deleted', ready_at: null };
    expect(found).toEqual([dropped, dropped]);
    expect(await world.query('select status from deliveries where task_id = ?t', there.id)).toEqual([
      { status: ends.at(-1)?.status },
    ]);
    expect(await eventsOf(world, gone, 'delivery.failed')).toHaveLength(2);
    expect((await claimParts(world, { now: nine + hour })).filter(({ taskId }) => taskId === gone.id)).toEqual([]);
  });

  test('a part whose look for evidence is still to come stays in doubt when its task is deleted', async () => {
    const { world, task } = await withReadyTask(open);
    await show(world, task, [world.make.part()]);
    const part = await nextPart(world);
    await change(world, task, removed);
    await world.store.endParts([lost(part, hour)], nine);
    expect(await claimParts(world, { now: nine + hour })).toMatchObject([{ id: part.id, status: 'unknown' }]);
  });

  test('a retry finds the retry of its chain when the first run of the chain is gone', async () => {
    const world = await open();
    const { rooms, create, settle } = engineOn(world);
    const task = await create({ action: failing });
    const retry = async (of: string) => (await rooms.tasks.repeat('retry', of, { actor })).taskRun;
    const first = (await rooms.tasks.runNow(target(task))).taskRun;
    await settle();
    const second = await retry(first.runId ?? '');
    await settle();
    const third = await retry(second.runId ?? '');
    for (const table of ['attempts', 'usage', 'deliveries'])
      await world.query(`delete from ${table} where run_id = ?t`, first.runId);
    await world.query('delete from runs where id = ?t', first.runId);
    await world.query('delete from occurrences where id = ?t', first.id);

    expect((await retry(second.runId ?? '')).id).toBe(third.id);
    await settle();
    expect(await world.query('select count(*) as runs from runs')).toEqual([{ runs: 2 }]);
  });
}

/** A clock that an administrator, or a wrong time server, set back. */
export function setBackTests(open: OpenWorld): void {
  test('undo takes back what was done last, whatever the clock said', async () => {
    const { rooms, create, time } = engineOn(await open());
    const task = await create({ title: 'One' });
    await rooms.tasks.edit(target(task), { title: 'Two' });
    time.setWall(time.now() - hour);
    await rooms.tasks.edit(target(task), { title: 'Three' });
    expect((await rooms.tasks.undo(target(task), null)).task.title).toBe('Two');
    expect((await rooms.tasks.undo(target(task), null)).task.title).toBe('One');
  });

  test.each([
    ['skip', 2],
    ['allow', 3],
  ] as const)('a slot that has its row already uses up none of max_runs, overlap %s, %i runs', async (overlap, max) => {
    const world = await open();
    const { rooms, create, pass, settle, story, time } = engineOn(world);
    const task = await create({ policies: { max_runs: max, overlap } });
    for (let run = 1; run < max; run += 1) await pass(run === 1 ? 30 * minute : hour);
    const last = nine + (max - 2) * hour;
    expect((await world.store.readTask(task.id))?.nextAt).toBe(last + hour);
    time.setWall(last - minute);
    await rooms.scheduler.replan(time.now(), 100);
    await pass(minute);
    expect(await world.store.readTask(task.id)).toMatchObject({ state: 'active', nextAt: last + hour });
    expect(await eventsOf(world, task, 'task.complete')).toEqual([]);
    await pass(hour);
    await settle();
    expect(await story(task)).toEqual(Array.from({ length: max }, (_run, index) => `${index * 60} succeeded`));
    expect(await world.store.readTask(task.id)).toMatchObject({ state: 'completed', nextAt: null });
    expect(await eventsOf(world, task, 'task.complete')).toEqual(['task.complete']);
  });
}
