import { expect, onTestFinished, test } from 'vitest';
import type { RunQuery } from '../../src/app/ports/runs.ts';
import { liveStatuses } from '../../src/domain/run.ts';
import { sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { aRunningTask, aTask, claimAll, endOf, nine } from '../support/builders.ts';
import { freshSqlite, watched } from '../support/fresh-sqlite.ts';
import { worldOver } from '../support/store-worlds.ts';

const base = { provider: 'telegram', address: '-100', topic: null };

const queries: Readonly<Record<string, Partial<RunQuery>>> = {
  all: {},
  ended: { states: ['failed'] },
  live: { states: liveStatuses },
  task: { taskId: 'of the test', states: ['succeeded'] },
  thread: { thread: base },
  topic: { thread: { ...base, topic: 7 } },
  words: { text: 'water', source: 'task' },
  labels: { subject: 'plants', tags: ['home', 'daily'] },
  time: { from: nine, to: nine },
};

test('no question about runs, and no look for what a thread has under way, reads a whole table or sorts one', async () => {
  const connection = await freshSqlite();
  onTestFinished(() => void connection.close());
  const world = worldOver(sqliteEngine(connection), () => sqliteEngine(connection));
  const task = await aTask(world);
  await claimAll(world, { now: nine, limit: 1 });
  const { selects, planOf } = watched(connection);

  for (const query of Object.values(queries)) {
    const taskId = query.taskId === undefined ? null : task.id;
    const nothing = { states: null, thread: null, source: null, subject: null, tags: [], text: null };
    await world.store.listRuns({ ...nothing, from: null, to: null, limit: 10, cursor: null, ...query, taskId });
  }
  await world.store.liveRunsOf(base, 100);
  await world.store.liveRunsOf({ ...base, topic: 7 }, 100);

  // The parts of a page are put in order for each of its runs, and the newest page of all runs is read from the end of their ids.
  const isPage = (detail: string) => /^SCAN r USING (?:COVERING )?INDEX sqlite_autoindex_runs_1/.test(detail);
  const faults = selects()
    .flatMap(planOf)
    .filter((detail) => /^SCAN |TEMP B-TREE FOR ORDER BY/.test(detail) && !isPage(detail));
  expect(selects().length).toBeGreaterThan(10);
  expect(faults).toEqual([]);
});

test('the last success is found from the end of the slots of its task', async () => {
  const connection = await freshSqlite();
  onTestFinished(() => void connection.close());
  const world = worldOver(sqliteEngine(connection), () => sqliteEngine(connection));
  const { started } = await aRunningTask(world);
  const { selects, planOf } = watched(connection);
  await world.store.finishRuns([endOf(started, { output: { text: 'one' }, ifUnchanged: 'skip' })]);

  const [plan = []] = selects()
    .filter((text) => text.includes('replay'))
    .map(planOf);
  expect(plan.filter((detail) => /^(?:SCAN|SEARCH|USE)/.test(detail))).toEqual([
    expect.stringMatching(/^SEARCH o USING INDEX occurrences_slot/),
    expect.stringMatching(/^SEARCH r USING INDEX sqlite_autoindex_runs_1/),
    'SCAN last',
    expect.stringMatching(/^SEARCH mine USING INDEX sqlite_autoindex_occurrences_1/),
  ]);
});

test('a run that is called off is counted by its key, however many tasks there are', async () => {
  const connection = await freshSqlite();
  onTestFinished(() => void connection.close());
  const world = worldOver(sqliteEngine(connection), () => sqliteEngine(connection));
  await aTask(world);
  await claimAll(world, { now: nine, limit: 1 });
  const [run] = await world.query<{ id: string }>('select id from runs');
  const { statements, planOf } = watched(connection);

  await world.store.cancelRun({ runId: run?.id ?? '', actor: 'system:api', at: nine });

  const counting = [...statements].filter((text) => text.includes('bounded_runs + 1'));
  expect(counting).toHaveLength(1);
  expect(counting.flatMap(planOf).filter((detail) => detail.startsWith('SCAN'))).toEqual([]);
});

test('stale results are found by their age, oldest first, and no other task is looked at', async () => {
  const connection = await freshSqlite();
  onTestFinished(() => void connection.close());
  const world = worldOver(sqliteEngine(connection), () => sqliteEngine(connection));
  const { selects, planOf } = watched(connection);
  await world.store.refreshStale({ now: nine, limit: 10 }, () => []);

  const plan = selects().flatMap(planOf);
  expect(plan).toContainEqual(expect.stringMatching(/^SEARCH t USING INDEX tasks_stale \(<expr><\?\)/));
  expect(plan.filter((detail) => /^SCAN |TEMP B-TREE FOR ORDER BY/.test(detail))).toEqual([]);
});

test('what a task keeps is looked up along the slots of that task, and the tasks along their ids', async () => {
  const connection = await freshSqlite();
  onTestFinished(() => void connection.close());
  const world = worldOver(sqliteEngine(connection), () => sqliteEngine(connection));
  const { started } = await aRunningTask(world, { policies: { keep: { runs: 1 } } });
  await world.store.finishRuns([endOf(started)]);
  const { statements, planOf } = watched(connection);
  const request = { shelf: 'history', after: null, now: nine, before: 0, limit: 10 } as const;
  expect((await world.store.prune(request)).removed).toEqual({ occurrences: 0 });

  const plan = [...statements].filter((text) => /from tasks t|occurrences/.test(text)).map(planOf);
  expect(plan).toHaveLength(3);
  const searches = plan.flat().filter((detail) => !/SUBQUERY|REUSE|INDEX 1/.test(detail));
  expect(searches.filter((detail) => /SCAN|TEMP B-TREE/.test(detail))).toEqual([]);
  expect(searches.slice(0, 3)).toEqual([
    'SEARCH t USING INDEX sqlite_autoindex_tasks_1 (id>?)',
    'SEARCH c USING INDEX sqlite_autoindex_chats_1 (id=?)',
    'SEARCH occurrences USING INDEX occurrences_slot (task_id=?)',
  ]);
  expect(searches).toContain('SEARCH occurrences USING INDEX occurrences_slot (task_id=? AND slot_at<?)');
});
