import { expect, test } from 'vitest';
import type { Store } from '../../src/app/ports/store.ts';
import { faultyTransport, hour, manualTime } from '../support/fakes.ts';
import { aFleet } from '../support/fleet.ts';
import { actor, group, hourly, start } from '../support/pipeline.ts';
import { worldsOf } from '../support/store-worlds.ts';

const open = worldsOf('postgres');
const tasks = 90;
const batch = 10;

/** Counts claims that are under way at the same time. */
function counting() {
  let [now, most] = [0, 0];
  const storeOf = (store: Store): Store => ({
    ...store,
    claimDue: async (...asked) => {
      most = Math.max(most, (now += 1));
      return store.claimDue(...asked).finally(() => (now -= 1));
    },
  });
  return { storeOf, most: () => most };
}

test('while more is due than one batch holds, two processes claim several at once, and each slot is taken up once', async () => {
  const world = await open();
  const time = manualTime(start);
  const claims = counting();
  const settings = { QUOTA_PER_CHAT: tasks, QUOTA_PER_USER: tasks };
  const { storeOf } = claims;
  const fleet = await aFleet(world, 2, { time, storeOf, settings, transport: () => faultyTransport() });
  const [first] = fleet.members;
  for (let index = 0; index < tasks; index += 1)
    await first?.rooms.tasks.create({
      threadKey: group,
      actor,
      idempotencyKey: null,
      input: { instructions: `Stand up, ${index}!`, schedule: hourly },
    });
  await time.advance(hour);
  const until = async (isOver: () => Promise<boolean>) => {
    while (!(await isOver()))
      await Promise.all(fleet.members.map(({ rooms }) => rooms.scheduler.step(time.now(), batch)));
  };
  const count = async (table: string) => Number((await world.query(`select count(*) as n from ${table}`))[0]?.['n']);
  await until(async () => (await count('occurrences')) >= tasks);
  expect(claims.most()).toBeGreaterThan(2);
  expect([await count('occurrences'), await count('runs')]).toEqual([tasks, tasks]);
});
