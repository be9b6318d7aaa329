import { expect, test } from 'vitest';
import { auditedTables, type RepairRequest } from '../../../src/app/ports/upkeep.ts';
import type { CheckName } from '../../../src/domain/audit.ts';
import { aRunningTask, aTask, bootId, claimAll, hour, minute, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aReadyTask, claimParts, show, withTask } from '../scenes.ts';

const now = nine + hour;

type Found = Partial<Record<CheckName, readonly string[]>>;

/** What all checks find, page by page. */
export async function audit({ store }: World, limit = 2): Promise<Found> {
  const found: Partial<Record<CheckName, string[]>> = {};
  for (const table of auditedTables) {
    let below: string | null = null;
    for (let pages = 0; pages === 0 || below !== null; pages += 1) {
      if (pages > 100) throw new Error('the walk does not end');
      const page = await store.auditPage({ table, below, limit, now, bootId });
      for (const { check, ids } of page.found) found[check] = [...(found[check] ?? []), ...ids];
      below = page.next;
    }
  }
  return found;
}

export function repair(world: World, check: CheckName, id: string, facts: Partial<RepairRequest> = {}) {
  const plan = () => ({ nextAt: now + hour });
  return world.store.repair({ check, id, now, actor: 'api:token:default', bootId, plan, ...facts });
}

/** Takes a constraint or a unique index away for the length of a test; the damage must be gone before it comes back. */
async function without(
  world: World,
  name: { constraint: string; table: string } | { index: string },
  use: () => Promise<void>,
) {
  const isIndex = 'index' in name;
  if (world.engine.dialect === 'sqlite') {
    await world.query(isIndex ? `drop index ${name.index}` : 'pragma ignore_check_constraints = on');
    return use();
  }
  const [kept] = isIndex
    ? await world.query<{ text: string }>(`select indexdef as text from pg_indexes where indexname = ?t`, name.index)
    : await world.query<{ text: string }>(
        `select pg_get_constraintdef(oid) as text from pg_constraint where conname = ?t`,
        name.constraint,
      );
  await world.query(
    isIndex ? `drop index ${name.index}` : `alter table ${name.table} drop constraint ${name.constraint}`,
  );
  try {
    await use();
  } finally {
    for (const table of ['attempts', 'deliveries', 'runs', 'occurrences', 'tasks'])
      await world.query(`delete from ${table}`);
    await world.query(
      isIndex ? (kept?.text ?? '') : `alter table ${name.table} add constraint ${name.constraint} ${kept?.text}`,
    );
  }
}

/** A run of a task with a part to be shown, all of it sound. */
async function aShownTask(world: World) {
  const task = await aReadyTask(world);
  await show(world, task, [world.make.part()]);
  await world.query('update tasks set next_at = ?i', now + hour);
  const [part] = await world.query<{ id: string }>('select id from deliveries');
  return { task, partId: part?.id ?? '' };
}

async function dispatchedTask(world: World) {
  const running = await aRunningTask(world, { nextAt: nine });
  await world.query('update tasks set next_at = ?i', now + hour);
  await world.query('update runs set started_at = ?i', now);
  return { ...running, runId: running.started.run.id, occurrenceId: running.started.run.occurrenceId ?? '' };
}

/** What must never be, and how it is mended. */
export function auditTests(open: OpenWorld): void {
  test('a place that is in order has no findings, whatever the pages', async () => {
    const world = await open();
    await dispatchedTask(world);
    await aShownTask(world);
    await world.query(`update deliveries set boot_id = null where status = 'pending'`);

    expect(await audit(world, 1)).toEqual({});
    expect(await audit(world, 100)).toEqual({});
    const page = await world.store.auditPage({ table: 'tasks', below: null, limit: 1, now, bootId });
    expect([page.seen, page.next === null]).toEqual([1, false]);
  });

  test('an enabled task without a next slot is found and planned anew, completed or paused', async () => {
    const world = await open();
    await without(world, { constraint: 'tasks_next', table: 'tasks' }, async () => {
      const ids = [];
      for (let index = 0; index < 3; index += 1) ids.push((await aTask(world)).id);
      await world.query('update tasks set next_at = null');
      expect(await audit(world, 100)).toEqual({ enabled_without_next: ids });

      const [first = '', second = '', third = ''] = ids;
      expect(await repair(world, 'enabled_without_next', first)).toBe('planned anew: 2027-01-04T11:00:00.000Z');
      expect(await repair(world, 'enabled_without_next', second, { plan: () => ({ nextAt: null }) })).toContain(
        'completed',
      );
      expect(await repair(world, 'enabled_without_next', third, { plan: () => ({ pause: 'broken' }) })).toBe(
        'paused: broken',
      );
      expect(await world.query('select state, next_at, paused_reason from tasks order by id')).toEqual([
        { state: 'active', next_at: now + hour, paused_reason: null },
        { state: 'completed', next_at: null, paused_reason: null },
        { state: 'paused', next_at: null, paused_reason: 'broken' },
      ]);
      expect(await audit(world)).toEqual({});
      expect(await repair(world, 'enabled_without_next', first)).toBeNull();
    });
  });

  test('slots, questions and pauses that are overdue are found, but not in the first minutes', async () => {
    const { world, task: slot } = await withTask(open, { nextAt: now - 6 * minute });
    const early = await aTask(world, { nextAt: now - 4 * minute });
    const paused = await aTask(world);
    await world.query(
      `update tasks set state = 'paused', next_at = null, resume_at = ?i where id = ?t`,
      now - 6 * minute,
      paused.id,
    );
    const question = world.make.occurrence({ slotAt: nine - hour, reason: 'ask', decideBy: now - 6 * minute });
    await claimAll(world, { now: now - 6 * minute, limit: 1 }, () => ({
      occurrences: [question],
      runs: [],
      nextAt: now - 6 * minute,
    }));

    expect(await audit(world)).toEqual({
      slot_overdue: [slot.id],
      pause_overdue: [paused.id],
      question_overdue: [question.id],
    });
    expect(early.nextAt).toBe(now - 4 * minute);
    expect(await repair(world, 'slot_overdue', slot.id)).toBeNull();
    expect(await repair(world, 'question_overdue', question.id)).toBe('skipped: nobody answered in time');
    expect(await world.store.readTaskRun(question.id)).toMatchObject({ status: 'skipped', reason: 'ask_expired' });
  });

  test('a topic in the making for too long is found, while something waits for it', async () => {
    const { world, task } = await withTask(open, { nextAt: now + hour });
    await world.store.beginTopic({ taskId: task.id, name: 'x' }, bootId, now - 11 * minute);
    expect(await audit(world)).toEqual({});
    await show(world, task, [world.make.part()]);
    await world.query('update tasks set next_at = ?i', now + hour);
    expect(await audit(world)).toEqual({ topic_stuck: [task.id] });
    await world.query(`update deliveries set status = 'failed', ready_at = null`);
    expect(await audit(world)).toEqual({});
    await world.query(`update deliveries set status = 'blocked', ready_at = 1`);
    await world.query('update tasks set topic_asked_at = ?i', now - 9 * minute);

    expect(await audit(world)).toEqual({});
  });

  test('an occurrence that waits for a deleted task is cancelled', async () => {
    const { world, task } = await withTask(open);
    const waiting = world.make.occurrence();
    await claimAll(world, { now: nine, limit: 1 }, () => ({ occurrences: [waiting], runs: [] }));
    await world.query(`update tasks set state = 'deleted', next_at = null`);
    expect(await audit(world)).toEqual({ pending_of_deleted: [waiting.id] });

    expect(await repair(world, 'pending_of_deleted', waiting.id)).toContain('cancelled');
    expect(await world.store.readTaskRun(waiting.id)).toMatchObject({ status: 'cancelled', reason: 'deleted' });
    expect(await audit(world)).toEqual({});
    expect(await world.query(`select actor, verb, task_id, before, after from audit where verb = 'reconcile'`)).toEqual(
      [
        {
          actor: 'api:token:default',
          verb: 'reconcile',
          task_id: task.id,
          before: JSON.stringify({ check: 'pending_of_deleted', id: waiting.id, status: 'pending' }),
          after: JSON.stringify({ status: 'cancelled', reason: 'deleted' }),
        },
      ],
    );
    expect(await world.query(`select task_id from events where kind = 'task.reconcile'`)).toEqual([
      { task_id: task.id },
    ]);
  });

  test('an occurrence whose run is missing fails, and one whose run has ended ends like it', async () => {
    const world = await open();
    const missing = await dispatchedTask(world);
    const ended = await dispatchedTask(world);
    await world.query('delete from attempts');
    await world.query('delete from runs where id = ?t', missing.runId);
    await world.query(
      `update runs set status = 'cancelled', boot_id = null, finished_at = ?i where id = ?t`,
      now,
      ended.runId,
    );
    expect(await audit(world)).toEqual({ dispatched_without_run: [missing.occurrenceId, ended.occurrenceId] });

    for (const id of [missing.occurrenceId, ended.occurrenceId])
      expect(await repair(world, 'dispatched_without_run', id)).not.toBeNull();
    expect(await world.store.readTaskRun(missing.occurrenceId)).toMatchObject({
      status: 'failed',
      error: 'reconciled: its run is missing',
    });
    expect(await world.store.readTaskRun(ended.occurrenceId)).toMatchObject({ status: 'cancelled' });
    expect(await audit(world)).toEqual({});
  });
}

/** Files of runs. */
export function fileAuditTests(open: OpenWorld): void {
  test('files are found that are referred to and not there, and those that nothing refers to and that never go', async () => {
    const world = await open();
    const { runId } = await dispatchedTask(world);
    const blob = (sha256: string, isWhole: number, expiresAt: string) =>
      world.query(`insert into blobs (chat_id, sha256, mime, size, is_whole, put_at, expires_at)
        values ('c', '${sha256}', '', 1, ${isWhole}, 1, ${expiresAt})`);
    const ref = (id: string, sha256: string) =>
      world.query(`insert into blob_refs (run_id, sha256, role, chat_id) values ('${id}', '${sha256}', 'output', 'c')`);
    await blob('there', 1, 'null');
    await ref(runId, 'there');
    await blob('on its way', 0, '5');
    expect(await audit(world)).toEqual({});
    await blob('half', 0, 'null');
    await ref(runId, 'half');
    expect(await audit(world)).toEqual({ file_without_bytes: [runId] });
    await world.query(`update blobs set is_whole = 1, expires_at = 5 where sha256 = 'half'`);
    expect(await audit(world)).toEqual({ file_without_bytes: [runId] });
    await world.query(`delete from blob_refs where sha256 = 'half'`);
    await blob('forgotten', 1, 'null');
    for (const limit of [1, 100]) expect(await audit(world, limit)).toEqual({ file_unreferred: ['forgotten'] });
    await ref('zzz', 'forgotten');
    for (const limit of [1, 100]) expect(await audit(world, limit)).toEqual({ file_of_no_run: ['zzz'] });
  });
}

/** Runs, attempts and deliveries that do not fit together, and how they are mended. */
export function workAuditTests(open: OpenWorld): void {
  test('a run without an attempt is let go, and taken up again', async () => {
    const world = await open();
    const { runId } = await dispatchedTask(world);
    await world.query('delete from attempts');
    expect(await audit(world)).toEqual({ running_without_attempt: [runId] });

    expect(await repair(world, 'running_without_attempt', runId)).toContain('let go');
    expect(await repair(world, 'running_without_attempt', runId)).toBeNull();
    expect(await startEvery(world, now)).toMatchObject([{ run: { id: runId }, attempt: 2 }]);
    expect(await audit(world)).toEqual({});
  });

  test('an attempt whose run is not running is closed', async () => {
    const world = await open();
    const { runId, occurrenceId } = await dispatchedTask(world);
    await world.query(`update runs set status = 'failed', boot_id = null, finished_at = ?i`, now);
    await world.query(`update occurrences set status = 'failed' where id = ?t`, occurrenceId);
    expect(await audit(world)).toEqual({ attempt_without_run: [runId] });

    expect(await repair(world, 'attempt_without_run', runId)).toBe('attempt interrupted');
    expect((await world.store.readRun(runId))?.attempts).toMatchObject([{ status: 'interrupted', finishedAt: now }]);
    expect(await audit(world)).toEqual({});
  });

  test('an attempt whose run is missing is found and closed, also before the oldest run and behind the newest', async () => {
    const world = await open();
    for (let index = 0; index < 4; index += 1) await dispatchedTask(world);
    for (const id of ['!', 'zzz'])
      await world.query(
        `insert into attempts (run_id, attempt, status, boot_id, started_at) values (?t, 1, 'running', 'x', 1)`,
        id,
      );
    for (const limit of [2, 3, 100])
      expect(await audit(world, limit)).toEqual({
        attempt_without_run: ['zzz', '!'].toSorted((a, b) => (limit === 100 ? (a < b ? -1 : 1) : a < b ? 1 : -1)),
      });

    for (const id of ['!', 'zzz']) expect(await repair(world, 'attempt_without_run', id)).toBe('attempt interrupted');
    expect(await audit(world)).toEqual({});
  });

  test('a run of another boot is found when nobody has taken it over for minutes', async () => {
    const world = await open();
    const { runId } = await dispatchedTask(world);
    await world.query(`update runs set boot_id = 'gone'`);
    expect(await audit(world)).toEqual({});
    await world.query('update runs set started_at = ?i', now - 6 * minute);
    expect(await audit(world)).toEqual({ running_elsewhere: [runId] });
    await world.query('update runs set started_at = null, created_at = ?i', now - minute);
    expect(await audit(world)).toEqual({});
    await world.query('update runs set created_at = ?i', now - 6 * minute);

    expect(await audit(world)).toEqual({ running_elsewhere: [runId] });
  });

  test('a live run whose occurrence has ended ends too: at once when it waits, by its attempt when it works', async () => {
    const world = await open();
    const working = await dispatchedTask(world);
    const waiting = await dispatchedTask(world);
    await world.query(`update occurrences set status = 'skipped'`);
    await world.query(`update attempts set status = 'failed', finished_at = 1 where run_id = ?t`, waiting.runId);
    await world.query(`update runs set status = 'backoff', boot_id = null where id = ?t`, waiting.runId);
    expect(await audit(world)).toEqual({ run_of_ended_occurrence: [working.runId, waiting.runId] });

    expect(await repair(world, 'run_of_ended_occurrence', working.runId)).toBe('asked to stop');
    expect(await repair(world, 'run_of_ended_occurrence', working.runId)).toBeNull();
    expect(await repair(world, 'run_of_ended_occurrence', waiting.runId)).toContain('cancelled');
    expect(await world.store.cancelRequested(bootId)).toEqual([working.runId]);
    expect((await world.store.readRun(waiting.runId))?.status).toBe('cancelled');
  });

  test('a slot with a row of its own inside a gap is found, unless it was skipped in advance or asked for by hand', async () => {
    const { world, task } = await withTask(open);
    const slots = [
      world.make.occurrence({ slotAt: nine - 3, status: 'missed', reason: 'late' }),
      world.make.occurrence({ slotAt: nine - 2, status: 'skipped', reason: 'skip' }),
      world.make.occurrence({ slotAt: nine - 1, status: 'skipped', reason: 'overlap', source: 'run_now' }),
      world.make.occurrence({ slotAt: nine, status: 'skipped', reason: 'overlap' }),
    ];
    const gap = { id: 'g', fromAt: nine - hour, toAt: nine - 1, count: 3, reason: 'late' } as const;
    await claimAll(world, { now: nine, limit: 1 }, () => ({ occurrences: slots, runs: [], gap, nextAt: now + hour }));

    expect(await audit(world)).toEqual({ slot_in_gap: [slots[0]?.id] });
    expect(await repair(world, 'slot_in_gap', task.id)).toBeNull();
  });

  test('what the unique indexes make impossible is looked for all the same', async () => {
    const world = await open();
    await without(world, { index: 'occurrences_slot' }, async () => {
      const task = await aTask(world, { nextAt: now + hour });
      for (const id of ['o-1', 'o-2'])
        await world.query(
          `insert into occurrences (id, task_id, slot_at, source, status, late_ms, created_at, updated_at)
           values (?t, ?t, ?i, 'schedule', 'skipped', 0, 0, 0)`,
          id,
          task.id,
          nine,
        );
      expect(await audit(world, 1)).toEqual({ slot_twice: ['o-2', 'o-1'] });
    });
    const twin = await open();
    await without(twin, { index: 'runs_key' }, async () => {
      for (const id of ['r-1', 'r-2'])
        await twin.query(
          `insert into runs (id, source, idempotency_key, payload_hash, exclusive, rank, owner_id, status, ready_at, fence, attempts,
             interruptions, input, created_at) values (?t, 'api', 'k', 'h', 0, 5, 'u', 'failed', 0, 0, 0, 0, '{}', 0)`,
          id,
        );
      expect(await audit(twin, 1)).toEqual({ run_key_twice: ['r-2', 'r-1'] });
    });
    const pair = await open();
    await without(pair, { index: 'runs_exclusive' }, async () => {
      for (const id of ['r-1', 'r-2'])
        await pair.query(
          `insert into runs (id, source, idempotency_key, payload_hash, exclusive, rank, task_id, owner_id, status, ready_at, fence, attempts,
             interruptions, input, created_at) values (?t, 'api', ?t, 'h', 1, 5, 't', 'u', 'queued', 0, 0, 0, 0, '{}', 0)`,
          id,
          id,
        );
      expect(await audit(pair)).toEqual({ exclusive_twice: ['r-1', 'r-2'] });
    });
  });

  test('a delivery whose run is missing fails while it is open, and is detached in any case', async () => {
    const world = await open();
    const { partId } = await aShownTask(world);
    await world.query('delete from attempts');
    await world.query('delete from runs');
    expect(await audit(world)).toEqual({ delivery_without_run: [partId] });

    expect(await repair(world, 'delivery_without_run', partId)).toBe('failed: its run is missing');
    expect(await world.query(`select status, run_id from deliveries where kind = 'result'`)).toEqual([
      { status: 'failed', run_id: null },
    ]);
    expect(await audit(world)).toEqual({});
  });

  test('a part that is on its way is not touched by a repair', async () => {
    const world = await open();
    const { partId } = await aShownTask(world);
    await claimParts(world);
    await world.query('delete from attempts');
    await world.query('delete from runs');

    expect(await repair(world, 'delivery_without_run', partId)).toBeNull();
    expect(await repair(world, 'open_delivery_of_deleted', partId)).toBeNull();
  });

  test('what is still to be sent for a deleted task fails', async () => {
    const world = await open();
    const { partId } = await aShownTask(world);
    await world.query(`update tasks set state = 'deleted', next_at = null`);
    expect(await audit(world)).toEqual({ open_delivery_of_deleted: [partId] });

    expect(await repair(world, 'open_delivery_of_deleted', partId)).toBe('failed: its task was deleted');
    expect(await audit(world)).toEqual({});
  });

  test('a result that counts as delivered in another chat is found, and not one of a group that has moved', async () => {
    const world = await open();
    const { partId } = await aShownTask(world);
    await world.query(
      `update deliveries set status = 'delivered', message_id = 5, message_thread_id = 42,
      platform_chat_id = '-100', delivered_at = 1 where id = ?t`,
      partId,
    );
    expect(await audit(world)).toEqual({});
    await world.store.moveChat('-100', '-100777', now);
    expect(await audit(world)).toEqual({});
    await world.query(`update deliveries set platform_chat_id = '-200' where id = ?t`, partId);
    expect(await audit(world)).toEqual({ delivered_elsewhere: [partId] });
  });

  test('a result that was to go to a thread by its name, and stands in another one, is found', async () => {
    const world = await open();
    const { partId } = await aShownTask(world);
    const stands = (topic: number | null) =>
      world.query(
        `update deliveries set status = 'delivered', message_id = 5, platform_chat_id = '-100', delivered_at = 1,
        goes_to = 'thread', to_topic = null, message_thread_id = ?i where id = ?t`,
        topic,
        partId,
      );
    await stands(null);
    expect(await audit(world)).toEqual({});
    await stands(42);
    expect(await audit(world)).toEqual({ delivered_elsewhere: [partId] });
  });

  test('a delivery that counts as delivered without proof is found, and so is one that nobody sends', async () => {
    const world = await open();
    await without(world, { constraint: 'deliveries_proof', table: 'deliveries' }, async () => {
      const { partId } = await aShownTask(world);
      await world.query(`update deliveries set status = 'delivered'`);
      expect(await audit(world)).toEqual({ delivered_without_id: [partId] });
      await world.query(`update deliveries set status = 'sending', boot_id = 'gone', sent_at = ?i`, now - 6 * minute);
      expect(await audit(world)).toEqual({ sending_elsewhere: [partId] });
      await world.query(`update deliveries set sent_at = null, created_at = ?i`, now - 6 * minute);
      expect(await audit(world)).toEqual({ sending_elsewhere: [partId] });
      await world.query(`update deliveries set boot_id = ?t`, bootId);
      expect(await audit(world)).toEqual({});
    });
  });
}
