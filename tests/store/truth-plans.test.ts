import { expect, onTestFinished, test } from 'vitest';
import { sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { aTask, claimAll, hour, minute, nine } from '../support/builders.ts';
import { freshSqlite, watched } from '../support/fresh-sqlite.ts';
import { worldOver } from '../support/store-worlds.ts';

test('no question about the past reads a whole table', async () => {
  const connection = await freshSqlite();
  onTestFinished(() => void connection.close());
  const world = worldOver(sqliteEngine(connection), () => sqliteEngine(connection));
  const task = await aTask(world);
  await claimAll(world, { now: nine, limit: 1 });
  await world.query(`update tasks set state = 'completed', next_at = null`);
  const { selects, planOf } = watched(connection);

  const asked = { taskId: task.id, limit: 10 };
  await world.store.readTruth({ ...asked, from: nine - hour, to: nine + hour });
  await world.store.readTruth({ ...asked, from: nine + minute, to: nine + minute });
  await world.store.readPlanned(task.id);
  await world.store.readAudit({ ...asked, cursor: null });
  await world.store.readAudit({ ...asked, taskId: null, cursor: null });
  const { next } = await world.store.readEvents({ ...asked, after: null });
  await world.store.readEvents({ ...asked, after: 'latest' });
  await world.store.readEvents({ ...asked, after: next });
  await world.store
    .readEvents({ ...asked, after: Buffer.from('event:0:99').toString('base64url') })
    .catch(() => undefined);
  await world.store.openDowntime('d', nine, null);
  await world.store.lastDowntime();
  await world.store.isDecided(nine);
  await world.store.costOf({ id: 'd', from: nine, to: nine + hour });
  await world.store.listDowntimes(10);

  const scans = selects()
    .flatMap(planOf)
    .filter((detail) => /^SCAN (?!latest|CONSTANT|cost|made|\(subquery)/.test(detail))
    // A list in the order of its index stops at its limit; the index of open downtimes holds nothing else.
    .filter((detail) => !detail.startsWith('SCAN downtimes USING INDEX'))
    // Of set-backs a hundred are kept.
    .filter((detail) => detail !== 'SCAN set_backs');
  expect(selects().length).toBeGreaterThan(18);
  expect(scans).toEqual([]);
});
