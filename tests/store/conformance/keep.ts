import { expect, test } from 'vitest';
import type { Policies } from '../../../src/domain/policy.ts';
import { claimAll, endOf, hour, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aReadyTask, withReadyTask } from '../scenes.ts';
import { count, prune, ran, retentionMs, slotsOf } from './retention.ts';

/** The history that single tasks keep, where that is less than the server does. */
export function keepTests(open: OpenWorld): void {
  const day = 24 * hour;
  /** So many slots ran, the last of them just now; the server itself would keep all of them. */
  const history = async (world: World, limit = 50, now = nine + day) =>
    (await prune(world, 'history', now - retentionMs, limit)) as Readonly<Record<string, number>>;
  const keeping = (policies: Policies) => withReadyTask(open, { policies });

  test.each<[what: string, keep: NonNullable<Policies['keep']>, left: readonly number[]]>([
    ['a number of runs', { runs: 2 }, [4, 5]],
    ['days', { days: 1 }, [2, 3, 4, 5]],
    ['runs and days', { runs: 5, days: 1 }, [1, 2, 3, 4, 5]],
    ['days and fewer runs than they hold', { runs: 2, days: 1 }, [2, 3, 4, 5]],
    ['more runs than there are', { runs: 9, days: 1 }, [0, 1, 2, 3, 4, 5]],
    ['more days than the server does', { runs: 2, days: 36_500 }, [0, 1, 2, 3, 4, 5]],
  ])('goes beyond what a task keeps: %s', async (_what, keep, left) => {
    const { world, task } = await keeping({ keep });
    await ran(world, 6);
    await world.query(
      `insert into blob_refs (run_id, sha256, role, chat_id) select id, 'f', 'output', chat_id from runs`,
    );
    // The third of them became a day old just now.
    const now = keep.days === undefined ? nine + 2 * day : nine + day + 2 * hour;
    const removed = await history(world, 50, now);

    expect(await slotsOf(world, task)).toEqual(left);
    const gone = 6 - left.length;
    const all = {
      occurrences: gone,
      acks: 0,
      runs: gone,
      attempts: gone,
      deliveries: gone,
      usage: gone,
      blob_refs: gone,
    };
    expect(removed).toEqual(gone === 0 ? { occurrences: 0 } : all);
    for (const table of ['runs', 'attempts', 'deliveries', 'usage where attempt > 0', 'blob_refs'])
      expect([table, await count(world, table)]).toEqual([table, left.length]);
  });

  test('is no older than the server keeps anything, however many days the task names', async () => {
    const { world, task } = await keeping({ keep: { runs: 2, days: 36_500 } });
    await ran(world, 6);
    await prune(world, 'history', nine + 3 * hour);

    expect(await slotsOf(world, task)).toEqual([3, 4, 5]);
  });

  test('is what the chat wants where a task says nothing, and goes a bounded number at a time', async () => {
    const { world, task } = await keeping({});
    const own = await aReadyTask(world, { policies: { keep: { runs: 3 } } });
    const chat = await world.store.findChat('-100');
    await world.store.changeChat(chat?.id ?? '', { settings: { keep: { runs: 1, days: 1 } } }, nine);
    for (let slot = 0; slot < 4; slot += 1) {
      await claimAll(world, { now: nine + slot * hour, limit: 2 });
      const started = await startEvery(world, nine + slot * hour);
      await world.store.finishRuns(started.map((one) => endOf(one, { finishedAt: nine + slot * hour })));
    }
    const request = { shelf: 'history', now: nine + 2 * day, before: nine - day, limit: 2 } as const;
    const first = await world.store.prune({ ...request, after: null });
    expect([first.removed['occurrences'], first.next]).toEqual([2, '']);
    const second = await world.store.prune({ ...request, after: first.next });
    expect([second.removed['occurrences'], second.next]).toEqual([1, task.id]);
    const third = await world.store.prune({ ...request, after: second.next });
    expect([third.removed['occurrences'], third.next]).toEqual([1, own.id]);

    expect([await slotsOf(world, task), await slotsOf(world, own)]).toEqual([[3], [1, 2, 3]]);
    expect(await history(world, 2, nine + 2 * day)).toEqual({ occurrences: 0 });
  });

  test.each<[what: string, damage: string]>([
    ['has a live run', `update runs set status = 'waiting', finished_at = null where occurrence_id = $`],
    [
      'has an open delivery',
      `update deliveries set status = 'unknown', delivered_at = null where run_id = (select run_id from occurrences where id = $)`,
    ],
    [
      'waits for somebody to say Done',
      `insert into acks (occurrence_id, task_id, chat_id, status, nag_limit, nags, created_at, updated_at)
      select id, task_id, 'c', 'open', 3, 0, 1, 1 from occurrences where id = $`,
    ],
    ['was the last to run', `update tasks set last_run_id = (select run_id from occurrences where id = $)`],
    ['was touched within its days', `update occurrences set updated_at = ${nine + 2 * day} where id = $`],
    ['has no final status', `update occurrences set status = 'pending', run_id = null where id = $`],
  ])('is not touched where a slot %s', async (_what, damage) => {
    const { world, task } = await keeping({ keep: { runs: 1 } });
    await ran(world, 4);
    const [, second] = await world.query<{ id: string }>('select id from occurrences order by slot_at');
    await world.query(damage.replace('$', `'${second?.id}'`));
    await history(world, 50, nine + 2 * day);

    expect(await slotsOf(world, task)).toEqual([1, 3]);
  });

  test('goes with the slots that were left out around it, and counts the runs alone', async () => {
    const { world, task } = await keeping({ keep: { runs: 2 } });
    await ran(world, 5);
    await world.query(
      `update occurrences set status = 'skipped', run_id = null where slot_at in (?i, ?i)`,
      nine + hour,
      nine + 3 * hour,
    );
    await world.query('delete from runs where occurrence_id in (select id from occurrences where run_id is null)');
    await history(world, 50, nine + 2 * day);

    expect(await slotsOf(world, task)).toEqual([2, 3, 4]);
  });

  test('is told to have gone, for as long as the server would have kept it', async () => {
    const { world, task } = await keeping({ keep: { runs: 2 } });
    await ran(world, 5);
    const truth = async () =>
      (await world.store.readTruth({ taskId: task.id, from: nine, to: nine, limit: 1 }))?.lastNotKept;
    expect(await truth()).toBeNull();
    const now = nine + 2 * day;
    await history(world, 50, now);
    expect(await truth()).toBe(nine + 2 * hour);
    // A row that was held back goes later, and takes nothing of that away.
    await world.query(`update occurrences set slot_at = ?i where slot_at = ?i`, nine, nine + 3 * hour);
    await world.query(`update tasks set policies = '{"keep":{"runs":1}}'`);
    await history(world, 50, now + hour);
    expect(await truth()).toBe(nine + 2 * hour);
    for (const [later, told] of [
      [now + retentionMs, nine + 2 * hour],
      [now + retentionMs + hour, null],
    ] as const) {
      await world.store.dropExpired({ now: later, limit: 10 });
      expect(await truth()).toBe(told);
    }
  });

  test('stays as it is where nobody can read what is to be kept', async () => {
    const { world, task } = await keeping({});
    await ran(world, 3);
    for (const policies of ['{"keep":{"runs":0}}', '{"keep":{"days":0.5}}', '{"keep":{}}', '{"keep":7}', 'not JSON']) {
      await world.query(`update tasks set policies = ?t`, policies);
      expect(await history(world, 50, nine + 2 * day)).toEqual({ occurrences: 0 });
    }
    expect(await slotsOf(world, task)).toEqual([0, 1, 2]);
  });
}
