import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { aTask, buildersOf, nine, readable } from '../support/builders.ts';
import { storeChild } from '../support/child.ts';
import { countingIds, hour, second } from '../support/fakes.ts';
import { freshPostgres } from '../support/postgres.ts';
import { slotsOf } from './scenes.ts';

async function aDatabase() {
  const database = await freshPostgres();
  onTestFinished(() => database.drop());
  const onLost = (error: Error) => {
    throw error;
  };
  const opened = await openStore({
    url: database.url,
    holder: { pid: 1, host: 'here', since: 0 },
    shared: { onStandby: () => undefined },
    timer: systemTimer,
    onLost,
  });
  onTestFinished(() => opened.close());
  const { store } = opened;
  const make = buildersOf(countingIds());
  const claim = () => store.claimDue({ now: nine, limit: 100 }, (due) => due.map((row) => make.claim(readable(row))));
  return { url: database.url, world: { store, make }, claim };
}

test('slots that a process was claiming when it was frozen are claimed by another within seconds, and not by both', async () => {
  const { url, world, claim } = await aDatabase();
  const tasks = [await aTask(world, { nextAt: nine }), await aTask(world, { nextAt: nine })];
  const child = storeChild('freeze', url);
  expect(await child.line()).toBe('stands still');
  const from = performance.now();
  expect(await claim()).toMatchObject({ taken: 0 });
  let taken = 0;
  while (taken === 0) ({ taken } = await claim());
  expect(taken).toBe(2);
  expect(performance.now() - from).toBeLessThan(15 * second);

  child.process.kill('SIGCONT');
  expect(await child.line()).toMatch(/^refused: The database cannot be used right now/);
  for (const task of tasks) expect(await slotsOf(world, task)).toHaveLength(1);
});

test('a row for which several transactions of a frozen process wait is let go once, and not by one after the other', async () => {
  const { url, world } = await aDatabase();
  const task = await aTask(world, { nextAt: nine });
  const child = storeChild('queue', url);
  expect(await child.line()).toBe('stands still');
  const from = performance.now();
  // It waits behind all of them, longer than it may, and begins anew.
  await world.store.replanTasks(null, { now: nine, limit: 10 }, () => [
    { taskId: task.id, expectNextAt: nine, nextAt: nine + hour },
  ]);
  expect(performance.now() - from).toBeLessThan(15 * second);
  expect((await world.store.readTask(task.id))?.nextAt).toBe(nine + hour);
  child.process.kill('SIGCONT');
  const ends: string[] = [];
  for (let count = 0; count < 5; count += 1) ends.push(await child.line());
  // One that began to wait later than it may, on a machine that is busy, gets the row once.
  expect(ends.filter((end) => end === 'fulfilled').length).toBeLessThanOrEqual(1);
});
