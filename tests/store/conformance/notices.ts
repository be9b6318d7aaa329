import { expect, test } from 'vitest';
import type { EndNotices } from '../../../src/app/ports/pipeline.ts';
import type { Shown } from '../../../src/domain/shown.ts';
import type { Task } from '../../../src/domain/task.ts';
import { endOf, failureOf, hour, minute, nine, startEvery, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { withTask } from '../scenes.ts';

/** Words about how runs ended. */
export function noticeTests(open: OpenWorld): void {
  const notice = (world: World, part: number, content: Shown) => world.make.part({ kind: 'notice', part, content });

  const noticesOf = (world: World, error: string | null, byHand = false): EndNotices => ({
    byHand,
    failed: error === null ? null : notice(world, 1, { view: 'failed', runId: 'r', slotAt: null, attempts: 1, error }),
    autoPaused: error === null ? null : notice(world, 2, { view: 'autoPaused', reason: '', failures: 0, error }),
    recovered: error === null ? notice(world, 1, { view: 'recovered', since: 0, failures: 0 }) : null,
    completed: null,
  });

  const aRun = async (world: World, task: Task) => {
    await world.store.addRun(world.make.newRun({ taskId: task.id, taskVersion: 1, chatId: task.chatId }));
    return startOne(world, nine);
  };
  const said = async (world: World) =>
    (await world.query<{ content: string }>(`select content from deliveries where kind = 'notice' order by id`)).map(
      ({ content }) => JSON.parse(content) as Shown,
    );

  test('a success after failures is told once, with since when and how often', async () => {
    const { world, task } = await withTask(open, { policies: { auto_pause: 0 } });
    for (const at of [nine + minute, nine + 2 * minute])
      await world.store.finishRuns([
        failureOf(await aRun(world, task), { finishedAt: at, notices: noticesOf(world, 'dns') }),
      ]);
    for (const _again of [1, 2])
      await world.store.finishRuns([endOf(await aRun(world, task), { notices: noticesOf(world, null) })]);

    expect(await said(world)).toMatchObject([
      { view: 'failed', error: 'dns' },
      { view: 'recovered', since: nine + minute, failures: 2 },
    ]);
  });

  test('ends of one task that are written together are told in the order in which they happened', async () => {
    const { world, task } = await withTask(open, { policies: { auto_pause: 0 } });
    for (const _run of [1, 2, 3]) {
      await world.store.addRun(world.make.newRun({ taskId: task.id, taskVersion: 1, chatId: task.chatId }));
    }
    const [a, b, c] = await startEvery(world, nine);
    if (!a || !b || !c) throw new Error('three runs are needed');
    await world.store.finishRuns([
      endOf(b, { finishedAt: nine + hour, notices: noticesOf(world, null) }),
      failureOf(c, { finishedAt: nine + 2 * minute, notices: noticesOf(world, 'dns') }),
      failureOf(a, { finishedAt: nine + minute, notices: noticesOf(world, 'dns') }),
    ]);

    const contents = await said(world);
    expect(contents).toHaveLength(2);
    expect(contents).toContainEqual({ view: 'recovered', since: nine + minute, failures: 2 });
    expect(await world.query('select incident_at from tasks')).toEqual([{ incident_at: null }]);
  });
}
