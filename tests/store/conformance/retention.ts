import { expect, test } from 'vitest';
import { noChange } from '../../../src/app/ports/tasks.ts';
import type { Shelf } from '../../../src/app/ports/upkeep.ts';
import { retentionKeptRuns, taskVersionsKept } from '../../../src/domain/limits.ts';
import { processesKept } from '../../../src/domain/processes/limits.ts';
import type { Task } from '../../../src/domain/task.ts';
import { aTask, claimAll, endOf, hour, minute, nine, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aReadyTask, claimParts, withTask, withReadyTask } from '../scenes.ts';

const later = nine + 1000 * hour;
export const retentionMs = 90 * 24 * hour;

/** Walks a shelf to its end, and answers what was removed. */
export async function prune(
  { store }: World,
  shelf: Shelf,
  before = later,
  limit = 3,
): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  let after: string | null = null;
  for (let pages = 0; pages === 0 || after !== null; pages += 1) {
    if (pages > 1000) throw new Error('the walk does not end');
    const pruned = await store.prune({ shelf, after, now: before + retentionMs, before, limit });
    for (const [table, count] of Object.entries(pruned.removed)) removed[table] = (removed[table] ?? 0) + count;
    after = pruned.next;
  }
  return removed;
}

/** So many slots that ran, each with an attempt, a delivered part and what it consumed. */
export async function ran(world: World, count: number, first = nine): Promise<void> {
  const { store, make } = world;
  for (let now = first; now < first + count * hour; now += hour) {
    await claimAll(world, { now, limit: 1 });
    const started = await startOne(world, now);
    const usage = [{ kind: 'tokens' as const, quantity: 5 }];
    await store.finishRuns([endOf(started, { finishedAt: now + 1000, deliveries: [make.part()], usage })]);
    const [part] = await claimParts(world, { now: now + minute });
    const ids = { chatId: '-100', threadId: 77, messageId: 1 };
    const end = { status: 'delivered', ids, at: now + minute, evidence: null, pinId: null } as const;
    await store.endParts([{ id: part?.id ?? '', fence: part?.fence ?? 0, ...end }], now + minute);
  }
}

export const count = async (world: World, table: string) =>
  Number((await world.query<{ n: number }>(`select count(*) as n from ${table}`))[0]?.n);

export async function slotsOf(world: World, task: Task): Promise<number[]> {
  const rows = await world.query<{ slot_at: number }>(
    'select slot_at from occurrences where task_id = ?t order by slot_at',
    task.id,
  );
  return rows.map(({ slot_at }) => (slot_at - nine) / hour);
}

/** What is old goes, with everything that hangs on it; what goes on stays. */
export function retentionTests(open: OpenWorld): void {
  test('rows of processes go that have ended long ago, or are more than anybody looks through', async () => {
    const world = await open();
    const rows = async (from: number, to: number, endedAt: number | null) => {
      const values = Array.from({ length: to - from }, (_, index) => {
        const id = `boot-${String(from + index).padStart(6, '0')}`;
        return `('${id}', 'worker', '1', 'http', 'garden', 7, ${nine}, ${nine}, ${nine}, ${nine}, ${endedAt ?? 'null'})`;
      });
      const columns = 'id, role, release, kinds, host, pid, started_at, seen_at, lease_until, held_since, ended_at';
      await world.query(`insert into processes (${columns}) values ${values.join()}`);
    };
    await rows(0, 1, null);
    await rows(1, 3, nine);
    await rows(3, 5, later);
    expect(await prune(world, 'processes')).toEqual({ processes: 2 });
    expect(await count(world, 'processes')).toBe(3);
    await rows(5, processesKept + 5, later);
    expect(await prune(world, 'processes', later, 1000)).toEqual({ processes: 2 });
    expect(await world.query('select id from processes order by id limit 2')).toEqual([
      { id: 'boot-000000' },
      { id: 'boot-000005' },
    ]);
  });

  test('old occurrences go with their runs, attempts, deliveries and usage, but for the last ten of a task', async () => {
    const { world, task } = await withReadyTask(open);
    await ran(world, retentionKeptRuns + 4);

    expect(await prune(world, 'occurrences')).toEqual({
      occurrences: 4,
      acks: 0,
      runs: 4,
      attempts: 4,
      deliveries: 4,
      usage: 4,
      blob_refs: 0,
    });
    expect(await slotsOf(world, task)).toEqual(Array.from({ length: retentionKeptRuns }, (_one, index) => index + 4));
    for (const table of ['runs', 'attempts', 'deliveries', 'usage where attempt > 0'])
      expect([table, await count(world, table)]).toEqual([table, retentionKeptRuns]);
    expect(await prune(world, 'occurrences')).toEqual({ occurrences: 0 });
  });

  test('a slot that was skipped in advance stays for a living task too, whatever stands after it', async () => {
    const { world, task } = await withReadyTask(open);
    await ran(world, 3);
    const ahead = Array.from({ length: retentionKeptRuns + 2 }, (_one, index) => later + index * hour);
    for (const slotAt of ahead)
      await world.query(
        `insert into occurrences (id, task_id, slot_at, source, status, reason, late_ms, created_at, updated_at)
         values (?t, ?t, ?i, 'schedule', 'skipped', 'skip', 0, ?i, ?i)`,
        `0${slotAt}`,
        task.id,
        slotAt,
        nine,
        nine,
      );

    await prune(world, 'occurrences');
    expect(await slotsOf(world, task)).toEqual(ahead.map((slotAt) => (slotAt - nine) / hour));
  });

  test('a run that was tried again may go before its second try, which can be read as before', async () => {
    const { world, task } = await withReadyTask(open);
    await ran(world, 2);
    await world.query(
      `update occurrences set replay_of = (select min(id) from occurrences), source = 'retry', updated_at = ?i where slot_at > ?i`,
      later,
      nine,
    );
    await world.query(`update tasks set state = 'deleted', next_at = null`);
    await prune(world, 'occurrences');

    expect(await slotsOf(world, task)).toEqual([1]);
    const query = { taskId: task.id, status: null, limit: 10, cursor: null };
    expect((await world.store.listTaskRuns(query)).items).toMatchObject([{ source: 'retry', status: 'succeeded' }]);
  });

  const gone = `update tasks set state = 'deleted', next_at = null, deleted_at = ${nine}`;
  test.each<[what: string, ran: number, damage: string, before: number, left: number[]]>([
    ['is younger than the limit, to the millisecond,', 4, gone, nine + 2 * hour, [2, 3]],
    ['ended late', 2, `update occurrences set updated_at = ${later} where slot_at = ${nine}`, later, [0]],
    ['is still to come', 1, `update occurrences set slot_at = ${later + hour}`, later, [1001]],
    ['has a live run', 1, `update runs set status = 'waiting', finished_at = null`, later, [0]],
    ['has an open delivery', 1, `update deliveries set status = 'unknown', delivered_at = null`, later, [0]],
    ['has no final status', 1, `update occurrences set status = 'pending', run_id = null`, later, [0]],
  ])('an occurrence that %s stays, even of a deleted task', async (_what, number, damage, before, left) => {
    const { world, task } = await withReadyTask(open);
    await ran(world, number);
    await world.query(gone);
    await world.query(damage);
    await prune(world, 'occurrences', before);

    expect(await slotsOf(world, task)).toEqual(left);
  });

  test('runs without an occurrence go when they have ended, and those of an occurrence that stays do not', async () => {
    const world = await open();
    await aReadyTask(world);
    await ran(world, 1);
    await world.store.addRun(world.make.newRun({ createdAt: nine + hour }));
    await world.store.finishRuns([endOf(await startOne(world, nine + hour))]);
    await world.store.addRun(world.make.newRun({ createdAt: nine + hour }));

    expect(await prune(world, 'runs')).toEqual({ runs: 1, attempts: 1, deliveries: 0, usage: 0, blob_refs: 0 });
    expect(await world.query('select status, occurrence_id is null as alone from runs order by id')).toMatchObject([
      { status: 'succeeded' },
      { status: 'queued' },
    ]);
  });

  test('final deliveries go when their run is gone', async () => {
    const world = await open();
    await aReadyTask(world);
    await ran(world, 3);
    await world.query(`delete from runs where occurrence_id in (select id from occurrences where slot_at > ?i)`, nine);
    await world.query(
      `update deliveries set status = 'blocked', delivered_at = null where created_at > ?i`,
      nine + 2 * hour,
    );

    expect(await prune(world, 'deliveries')).toEqual({ deliveries: 1 });
    expect(await count(world, 'deliveries')).toBe(2);
  });
}

/** Records that stand alone, and what is left of a task that was deleted. */
export function recordRetentionTests(open: OpenWorld): void {
  test('events and the audit go from the front, but never their newest row, nor what says where a task stands', async () => {
    const world = await open();
    await aTask(world);
    await aTask(world);
    const [events, audit] = [await count(world, 'events'), await count(world, 'audit')];
    expect([events, audit]).toEqual([2, 2]);

    expect(await prune(world, 'events')).toEqual({ events: events - 1 });
    expect(await prune(world, 'audit')).toEqual({ audit: 0 });
    await world.query(`update tasks set state = 'deleted', next_at = null, deleted_at = 1`);
    expect(await prune(world, 'audit')).toEqual({ audit: 0 });
    await world.query('delete from tasks');
    expect(await prune(world, 'audit')).toEqual({ audit: audit - 1 });
    expect(await prune(world, 'events')).toEqual({ events: 0 });
    const newest = await world.query<{ id: number }>('select max(id) as id from events');
    await aTask(world);
    const next = await world.query<{ id: number }>('select max(id) as id from events');
    expect(next[0]?.id).toBeGreaterThan(newest[0]?.id ?? 0);
  });

  test('of what was done to a task the last change of its state before the limit stays, however old', async () => {
    const { world, task } = await withTask(open, { at: nine });
    const deed = (verb: string, at: number, [before, after]: readonly [string, string]) =>
      world.query(
        `insert into audit (at, actor, verb, task_id, state_before, state_after) values (?i, 'x', ?t, ?t, ?t, ?t)`,
        at,
        verb,
        task.id,
        before,
        after,
      );
    await deed('edit', nine + 1, ['active', 'active']);
    await deed('pause', nine + 2, ['active', 'paused']);
    await deed('edit', nine + 3, ['paused', 'paused']);
    // Made by a clock that was set back in between: the order is the one in which they were made.
    await deed('resume', nine + 1, ['paused', 'active']);
    await deed('edit', nine + hour, ['active', 'active']);
    await deed('pause', later, ['active', 'paused']);
    await deed('edit', later, ['paused', 'paused']);
    await prune(world, 'audit');

    const left = await world.query<{ verb: string; at: number }>('select verb, at from audit order by id');
    expect(left).toEqual([
      { verb: 'resume', at: nine + 1 },
      { verb: 'pause', at: later },
      { verb: 'edit', at: later },
    ]);
  });

  const gap = (id: string, at: number) => `('${id}', '${id}', ${at - 1}, ${at}, 1, 'late', ${at})`;
  test.each<[Shelf, key: string, columns: string, rows: readonly string[], left: readonly unknown[]]>([
    // Whatever their name, because some are named after their task.
    [
      'gaps',
      'id',
      'id, task_id, from_at, to_at, count, reason, created_at',
      [gap('zz', nine), gap('aa', later + 1), gap('bb', nine + 1)],
      ['aa'],
    ],
    [
      'downtimes',
      'id',
      'id, from_at, to_at, report',
      [`('a', ${nine}, ${nine}, '{}')`, `('b', ${nine}, ${nine}, null)`],
      ['b'],
    ],
    [
      'inbox',
      'update_id',
      'update_id, status, received_at, payload, attempts',
      [
        `(7, 'done', ${nine}, '{}', 1)`,
        `(8, 'received', ${nine}, '{}', 1)`,
        `(9, 'failed', ${nine}, '{}', 1)`,
        `(10, 'done', ${later}, '{}', 1)`,
      ],
      [8, 10],
    ],
  ])('of %s only old ones go that are done with', async (shelf, key, columns, rows, left) => {
    const world = await open();
    await world.query(`insert into ${shelf} (${columns}) values ${rows.join(', ')}`);

    expect(await prune(world, shelf, later, 1)).toEqual({ [shelf]: rows.length - left.length });
    expect(await world.query(`select ${key} as id from ${shelf} order by ${key}`)).toEqual(left.map((id) => ({ id })));
  });
}

/** What is left of tasks that change and go, and what has said when it ends. */
export function remainsTests(open: OpenWorld): void {
  test('of a living task the newest versions stay, of a task that is gone none', async () => {
    const { world, task } = await withTask(open);
    await world.query('delete from task_versions');
    const version = (id: string, number: number) =>
      world.query(
        `insert into task_versions (task_id, version, at, actor, definition) values (?t, ?i, 0, 'system', '{}')`,
        id,
        number,
      );
    for (let number = 1; number <= taskVersionsKept + 5; number += 1) await version(task.id, number);
    for (const number of [1, 2]) await version('gone', number);

    expect(await prune(world, 'task_versions', later, 7)).toEqual({ task_versions: 7 });
    expect(
      await world.query('select task_id, min(version) as first, count(*) as n from task_versions group by task_id'),
    ).toEqual([{ task_id: task.id, first: 6, n: taskVersionsKept }]);
  });

  test('a grant in whose place another was given goes when that was long ago; one that a task has stays', async () => {
    const world = await open();
    const [replaced, young, revoked] = [await aTask(world), await aTask(world), await aTask(world)];
    const grantOf = async ({ id }: { readonly id: string }) =>
      (await world.query<{ grant_id: string }>(`select grant_id from tasks where id = ?t`, id))[0]?.grant_id ?? '';
    const give = (task: Pick<Task, 'id' | 'ownerId'>, at: number, id: string) =>
      world.store.changeTask({ taskId: task.id, actor: 'system', at, once: null, quota: { chat: 9, user: 9 } }, () => ({
        ...noChange,
        grant: {
          is: 'given',
          id,
          ownerId: task.ownerId,
          standIn: null,
          scopes: ['action:message'],
          unconfirmed: [],
          expiresAt: null,
        },
      }));
    const [old, kept] = [await grantOf(replaced), await grantOf(young)];
    await give(replaced, nine, 'zz-1');
    await give(young, later, 'zz-2');
    await world.query(`update grants set revoked_at = 1, revoked_by = 'system' where id = ?t`, await grantOf(revoked));

    expect(await prune(world, 'grants')).toEqual({ grants: 1 });
    const left = (await world.query<{ id: string }>('select id from grants')).map(({ id }) => id);
    expect([left.includes(old), left.includes(kept), left.length]).toEqual([false, true, 4]);
  });

  test('a task that was deleted long ago goes with its grant when nothing of it is left', async () => {
    const { world, task: gone } = await withReadyTask(open);
    await ran(world, 1);
    const living = await aTask(world, { tags: ['home'] });
    const young = await aTask(world);
    await world.query(`insert into task_tags (task_id, tag) values (?t, 'home')`, gone.id);
    await world.query(
      `update tasks set state = 'deleted', next_at = null, deleted_at = ?i where id = ?t`,
      nine,
      gone.id,
    );
    await world.query(
      `update tasks set state = 'deleted', next_at = null, deleted_at = ?i where id = ?t`,
      later,
      young.id,
    );

    expect(await prune(world, 'tasks')).toEqual({ tasks: 0 });
    await prune(world, 'occurrences');
    expect(await prune(world, 'tasks')).toEqual({ tasks: 1 });
    expect(await prune(world, 'task_versions')).toEqual({ task_versions: 1 });
    expect(await prune(world, 'grants')).toEqual({ grants: 1 });
    expect((await world.query('select id from tasks order by id')).map(({ id }) => id)).toEqual([living.id, young.id]);
    expect(await count(world, 'grants')).toBe(2);
    expect(await world.query('select task_id from task_tags')).toEqual([{ task_id: living.id }]);
  });

  test('a grant that another task uses stays', async () => {
    const { world, task: gone } = await withTask(open);
    const living = await aTask(world);
    await world.query(
      'update tasks set grant_id = (select grant_id from tasks where id = ?t) where id = ?t',
      gone.id,
      living.id,
    );
    await world.query(
      `update tasks set state = 'deleted', next_at = null, deleted_at = ?i where id = ?t`,
      nine,
      gone.id,
    );

    expect(await prune(world, 'tasks')).toEqual({ tasks: 1 });
    expect(await prune(world, 'grants')).toEqual({ grants: 1 });
    expect(await world.query('select t.id from tasks t join grants g on g.id = t.grant_id')).toEqual([
      { id: living.id },
    ]);
  });

  test('keys, drafts and notes go when they have expired, a bounded number at a time', async () => {
    const world = await open();
    for (const [key, expires] of [
      ['a', nine],
      ['b', nine + 1],
      ['c', nine + hour],
    ] as const) {
      await world.query(
        `insert into idempotency_keys (scope, target, key, payload_hash, result, created_at, expires_at) values ('s', '', ?t, 'h', 'r', 0, ?i)`,
        key,
        expires,
      );
      await world.query(
        `insert into drafts (id, chat_id, user_id, step, body, expires_at, created_at, updated_at) values (?t, 'c', 'u', 's', '{}', ?i, 0, 0)`,
        key,
        // Kept for a day, so that its buttons can say that it is over.
        expires - 24 * hour,
      );
      await world.query(
        `insert into kv (scope, key, value, expires_at, updated_at) values ('s', ?t, 'v', ?i, 0)`,
        key,
        expires,
      );
    }
    await world.store.writeNote('for ever', 'x', nine);
    const drop = () => world.store.dropExpired({ now: nine + 1, limit: 1 });

    expect(await drop()).toMatchObject({ removed: { idempotency_keys: 1, drafts: 1, kv: 1 }, more: true });
    await drop();
    expect(await drop()).toMatchObject({ removed: { idempotency_keys: 0, drafts: 0, kv: 0 }, more: false });
    expect(await world.query('select key from idempotency_keys')).toEqual([{ key: 'c' }]);
    expect(await world.store.readNote('for ever')).toBe('x');
  });
}
