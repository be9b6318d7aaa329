import { expect, test } from 'vitest';
import { type NewTask } from '../../../src/app/ports/tasks.ts';
import { aTask, claimAll, hour, minute, nine, startEvery } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { slotsOf, standings, change, withTask } from '../scenes.ts';

const due = { now: nine, limit: 100 };

/** Due tasks become occurrences, runs and gaps. */
export function slotTests(open: OpenWorld): void {
  test('a due slot becomes one occurrence, one run and the next slot, together', async () => {
    const { world, task } = await withTask(open);

    expect(await claimAll(world, due)).toEqual({ taken: 1, more: false });

    expect((await world.store.readTask(task.id))?.nextAt).toBe(nine + hour);
    const items = await slotsOf(world, task);
    expect(items).toMatchObject([{ slotAt: nine, status: 'dispatched', source: 'schedule' }]);
    expect(await world.store.readRun(items[0]?.runId ?? '')).toMatchObject({ status: 'queued', taskId: task.id });
  });

  test('a second claim of the same instant finds nothing', async () => {
    const world = await open();
    await aTask(world);
    await claimAll(world, due);

    expect(await claimAll(world, due)).toEqual({ taken: 0, more: false });
    expect(await world.query('select id from occurrences')).toHaveLength(1);
  });

  test('due tasks are claimed oldest first, up to the limit, and more is told', async () => {
    const world = await open();
    for (const late of [1, 3, 2]) await aTask(world, { title: `late ${late}`, nextAt: nine - late * minute });
    const seen: string[] = [];
    const facts = ({ title }: { title: string }) => {
      seen.push(title);
      return {};
    };

    expect(await claimAll(world, { now: nine, limit: 2 }, facts)).toEqual({ taken: 2, more: true });
    expect(await claimAll(world, { now: nine, limit: 2 }, facts)).toEqual({ taken: 1, more: false });
    expect(seen).toEqual(['late 3', 'late 2', 'late 1']);
  });

  test('a task whose next slot is in the past again leaves more to do', async () => {
    const world = await open();
    await aTask(world);

    expect(await claimAll(world, due, () => ({ nextAt: nine - 1 }))).toEqual({ taken: 1, more: true });
  });

  test('a plan that throws changes nothing, and the slots stay due', async () => {
    const { world, task } = await withTask(open);
    const failing = world.store.claimDue(due, () => {
      throw new Error('a fault of the plan');
    });

    await expect(failing).rejects.toMatchObject({ code: 'internal' });
    expect((await world.store.readTask(task.id))?.nextAt).toBe(nine);
    expect(await claimAll(world, due)).toMatchObject({ taken: 1 });
  });

  test('a statement that fails undoes those before it', async () => {
    const { world, task } = await withTask(open);
    // The status does not exist, so the occurrence is refused after the next slot has moved.
    const occurrence = { ...world.make.occurrence(), status: 'nonsense' as 'pending' };

    await expect(claimAll(world, due, () => ({ occurrences: [occurrence] }))).rejects.toMatchObject({
      code: 'internal',
    });
    expect((await world.store.readTask(task.id))?.nextAt).toBe(nine);
    expect(await world.query('select id from runs')).toEqual([]);
  });

  test('a claim whose slot has moved meanwhile writes nothing, and the others of its batch are written', async () => {
    const world = await open();
    const [moved, other] = [await aTask(world), await aTask(world)];
    await claimAll(world, due, ({ id }) => (id === moved.id ? { expectNextAt: nine - minute } : {}));

    expect((await world.store.readTask(moved.id))?.nextAt).toBe(nine);
    expect(await world.query('select task_id from occurrences')).toEqual([{ task_id: other.id }]);
    expect(await world.query('select task_id from runs')).toEqual([{ task_id: other.id }]);
  });

  test('a slot that has its row keeps it, and makes no second run', async () => {
    const { world, task } = await withTask(open);
    await claimAll(world, due);
    await world.query('update tasks set next_at = ?i where id = ?t', nine, task.id);
    await claimAll(world, due);

    expect(await world.query('select id from occurrences')).toHaveLength(1);
    expect(await world.query('select id from runs')).toHaveLength(1);
    expect(await world.store.readTask(task.id)).toMatchObject({ nextAt: nine + hour });
  });

  test('a run whose key is taken ends its occurrence as failed, so that nothing waits for ever', async () => {
    const { world, task } = await withTask(open);
    await world.store.addRun(world.make.taskRun(task, nine, { exclusive: false }));
    await claimAll(world, due);

    const runs = await world.store.listTaskRuns({ taskId: task.id, status: null, limit: 10, cursor: null });
    expect(runs.items).toMatchObject([{ status: 'failed', error: 'a run with this key exists already' }]);
  });

  test('a due task tells how many of its runs live and how many occurrences wait, questions apart', async () => {
    const world = await open();
    const { id, chatId, version } = await aTask(world);
    await world.store.addRun(world.make.taskRun({ id, chatId, version }, nine - hour));
    await world.store.addRun(world.make.taskRun({ id, chatId, version }, nine - 2 * hour, { exclusive: false }));
    await claimAll(world, due, () => ({
      occurrences: [
        world.make.occurrence({ slotAt: nine - 1 }),
        world.make.occurrence({ slotAt: nine - 2, decideBy: nine + hour }),
      ],
      runs: [],
      nextAt: nine,
    }));
    const seen: unknown[] = [];
    await claimAll(world, due, ({ live, waiting }) => {
      seen.push({ live, waiting });
      return { occurrences: [], runs: [] };
    });

    expect(seen).toEqual([{ live: 2, waiting: 1 }]);
  });

  test('a due task is read back as it was created', async () => {
    const world = await open();
    const facts: Partial<NewTask> = {
      title: 'Ärger mit 🌧️ "und" \\ Zeilen\n',
      schedule: { kind: 'interval', interval: 'PT1H', startAt: nine, from: 'completion', timezone: 'Europe/Berlin' },
      policies: { overlap: 'queue', max_runs: 3 },
      subject: 'garden',
      tags: ['a', 'b "c"'],
      context: { seen: [1, null] },
      minGapMs: null,
    };
    await aTask(world, facts);
    const seen: unknown[] = [];
    await claimAll(world, due, (task) => {
      seen.push(task);
      return {};
    });

    const { title, schedule, policies, subject, tags, context, minGapMs } = facts;
    expect(seen).toMatchObject([{ title, schedule, policies, subject, tags, context, minGapMs }]);
    expect(seen).toMatchObject([
      { grant: { scopes: ['action:message'], revokedAt: null }, provider: 'telegram', number: 1 },
    ]);
  });
}

/** Replacing, rows that cannot be read, questions and new rules of time. */
export function specialSlotTests(open: OpenWorld): void {
  test('with replace, the live run gives way and so do those that waited', async () => {
    const { world, task } = await withTask(open);
    await claimAll(world, due);
    const waiting = world.make.occurrence({ slotAt: nine + hour, reason: 'overlap' });
    await claimAll(world, { ...due, now: nine + hour }, () => ({ occurrences: [waiting], runs: [] }));
    const next = world.make.occurrence({ slotAt: nine + 2 * hour, reason: 'overlap' });
    await claimAll(world, { ...due, now: nine + 2 * hour }, () => ({ occurrences: [next], runs: [], replaces: true }));

    expect(await standings(world, task)).toEqual(['pending overlap', 'skipped replaced', 'cancelled replaced']);
    expect(await world.query('select status from runs')).toEqual([{ status: 'cancelled' }]);
  });

  test('with replace, a run that is executing is asked to stop', async () => {
    const world = await open();
    await aTask(world);
    await claimAll(world, due);
    const [started] = await startEvery(world, nine, 'boot-1');
    const next = world.make.occurrence({ slotAt: nine + hour });
    await claimAll(world, { ...due, now: nine + hour }, () => ({ occurrences: [next], runs: [], replaces: true }));

    expect(await world.store.cancelRequested('boot-1')).toEqual([started?.run.id]);
    expect(await world.store.cancelRequested('boot-2')).toEqual([]);
  });

  test.each([
    ['action', '{"kind":'],
    ['action', '{}'],
    ['policies', '[]'],
    ['context', 'null'],
    ['tags', '[1]'],
    ['schedule_kind', 'once'],
  ])('a task whose %s is %s is paused with the reason, and the others of its batch go on', async (column, value) => {
    const world = await open();
    const [bad, good] = [await aTask(world), await aTask(world)];
    // A kind without its payload is refused by the table itself, so that case takes the payload that lies.
    const set =
      column === 'schedule_kind'
        ? `schedule_kind = 'interval', cron = null, interval = 'PT1H', start_at = 1, interval_from = 'start', tags = '{'`
        : `${column} = ?t`;
    await world.query(`update tasks set ${set} where id = ?t`, ...(column === 'schedule_kind' ? [] : [value]), bad.id);
    await world.store.claimDue(due, (rows) =>
      rows.map((row) =>
        'unreadable' in row ? { taskId: row.id, quarantine: `unreadable: ${row.unreadable}` } : world.make.claim(row),
      ),
    );

    expect(await world.store.readTask(bad.id)).toMatchObject({ state: 'paused', nextAt: null });
    expect((await world.store.readTask(bad.id))?.pausedReason).toMatch(/^unreadable: /);
    expect(await world.store.readTask(good.id)).toMatchObject({ state: 'active', nextAt: nine + hour });
    expect(await world.query(`select actor, task_id from audit where verb = 'quarantine'`)).toEqual([
      { actor: 'system', task_id: bad.id },
    ]);
    expect(await claimAll(world, due)).toEqual({ taken: 0, more: false });
  });

  test('the next instant of the scheduler is the nearest slot or the nearest end of a question', async () => {
    const world = await open();
    expect(await world.store.nextDueAt(nine)).toBeNull();
    await aTask(world, { nextAt: nine + hour });
    expect(await world.store.nextDueAt(nine)).toBe(nine + hour);
    await aTask(world);
    expect(await world.store.nextDueAt(nine)).toBe(nine);
    const question = world.make.occurrence({ reason: 'ask', decideBy: nine + minute });
    await claimAll(world, due, () => ({ occurrences: [question], runs: [] }));
    expect(await world.store.nextDueAt(nine)).toBe(nine + minute);
  });

  test('a question that nobody answers in time ends as skipped, once', async () => {
    const { world, task } = await withTask(open);
    const asked = [1, 2, 3].map((n) => world.make.occurrence({ slotAt: nine - n, decideBy: nine + n * minute }));
    await claimAll(world, due, () => ({ occurrences: asked, runs: [] }));

    const at = { now: nine + 2 * minute, limit: 1 };
    expect(await world.store.expireQuestions(at)).toEqual({ taken: 1, more: true });
    expect(await world.store.expireQuestions({ ...at, limit: 5 })).toEqual({ taken: 1, more: false });
    expect(await world.store.expireQuestions({ ...at, limit: 5 })).toEqual({ taken: 0, more: false });
    expect(await standings(world, task)).toEqual(['skipped ask_expired', 'skipped ask_expired', 'pending']);
  });

  test('tasks are planned again page by page, and only by compare-and-set', async () => {
    const world = await open();
    const [paused, first, second] = [await aTask(world), await aTask(world), await aTask(world)];
    await change(world, paused, { set: { state: 'paused', nextAt: null } });
    const seen: string[] = [];
    const page = (after: string | null, expectNextAt: number) =>
      world.store.replanTasks(after, { now: nine, limit: 1 }, (rows) =>
        rows.map((row) => {
          seen.push(row.id);
          return { taskId: row.id, expectNextAt, nextAt: nine + minute };
        }),
      );

    const one = await page(null, nine);
    const two = await page(one.last, nine - 1);
    expect([one, two, await page(two.last, nine)]).toEqual([
      { seen: 1, changed: 1, last: first.id },
      { seen: 1, changed: 0, last: second.id },
      { seen: 0, changed: 0, last: null },
    ]);
    expect(seen).toEqual([first.id, second.id]);
    expect((await world.store.readTask(first.id))?.nextAt).toBe(nine + minute);
    expect((await world.store.readTask(second.id))?.nextAt).toBe(nine);
  });
}
