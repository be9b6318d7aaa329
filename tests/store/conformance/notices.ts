import { expect, test } from 'vitest';
import type { EndNotices, RunEnd } from '../../../src/app/ports/pipeline.ts';
import type { Shown } from '../../../src/domain/shown.ts';
import type { Task } from '../../../src/domain/task.ts';
import { aTask, endOf, failureOf, hour, minute, nine, startEvery, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';

/** Words about how runs ended. */
export function noticeTests(open: OpenWorld): void {
  const notice = (world: World, part: number, content: Shown) => world.make.part({ kind: 'notice', part, content });

  const noticesOf = (world: World, error: string | null, byHand = false): EndNotices => ({
    byHand,
    failed: error === null ? null : notice(world, 1, { view: 'failed', runId: 'r', slotAt: null, attempts: 1, error }),
    autoPaused: error === null ? null : notice(world, 2, { view: 'autoPaused', reason: '', failures: 0, error }),
    recovered: error === null ? notice(world, 1, { view: 'recovered', since: 0, failures: 0 }) : null,
  });

  const aRun = async (world: World, task: Task) => {
    await world.store.addRun(world.make.newRun({ taskId: task.id, taskVersion: 1, chatId: task.chatId }));
    return startOne(world, nine);
  };
  const fails = async (world: World, task: Task, error: string, facts: Partial<RunEnd> & { byHand?: boolean } = {}) => {
    const { byHand = false, ...end } = facts;
    const started = await aRun(world, task);
    return world.store.finishRuns([failureOf(started, { error, notices: noticesOf(world, error, byHand), ...end })]);
  };
  const succeeds = async (world: World, task: Task) =>
    world.store.finishRuns([endOf(await aRun(world, task), { notices: noticesOf(world, null) })]);
  const said = async (world: World) =>
    (await world.query<{ content: string }>(`select content from deliveries where kind = 'notice' order by id`)).map(
      ({ content }) => JSON.parse(content) as Shown,
    );

  test('the first failure is told, and the success after it with since when and how often', async () => {
    const world = await open();
    const task = await aTask(world, { policies: { auto_pause: 0 } });
    await fails(world, task, 'dns', { finishedAt: nine + minute });
    await fails(world, task, 'dns', { finishedAt: nine + 2 * minute });
    await fails(world, task, 'http 404', { finishedAt: nine + 3 * minute });
    await fails(world, task, 'http 404', { finishedAt: nine + 4 * minute });
    expect(await said(world)).toMatchObject([{ view: 'failed', error: 'dns' }]);
    await succeeds(world, task);
    await succeeds(world, task);

    expect((await said(world)).slice(1)).toEqual([{ view: 'recovered', since: nine + minute, failures: 4 }]);
    await fails(world, task, 'dns');
    expect(await said(world)).toHaveLength(3);
    await succeeds(world, task);
    expect((await said(world)).at(-1)).toMatchObject({ view: 'recovered', failures: 1 });
  });

  test('ends of one task that are written together are told in the order in which they happened', async () => {
    const world = await open();
    const task = await aTask(world, { policies: { auto_pause: 0 } });
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

  test('a run that was called off tells nothing', async () => {
    const world = await open();
    const task = await aTask(world);
    const started = await aRun(world, task);
    await world.store.cancelRun({ runId: started.run.id, actor: 'telegram:user:7', at: nine });
    await world.store.finishRuns([failureOf(started, { notices: noticesOf(world, 'dns') })]);

    expect(await said(world)).toEqual([]);
    expect(await world.query('select incident_at from tasks')).toEqual([{ incident_at: null }]);
  });
}
