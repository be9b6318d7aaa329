import { expect, test } from 'vitest';
import { tellEvents } from '../../../src/store/records/journal.ts';
import { aTask, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { withTask } from '../scenes.ts';
import { addGap, aTaskWithSlots, note } from './truth.ts';

/** Events become readable when no older transaction is open on the server, and other tests have databases there, too. */
async function untilSettled(world: World): Promise<void> {
  for (;;) {
    const { events } = await world.store.readEvents({ after: null, taskId: null, limit: 500 });
    const [all] = await world.query<{ count: number }>('select count(*) as count from events');
    if (events.length === all?.count) return;
  }
}

export function feedTests(open: OpenWorld): void {
  const tell = async (world: World, count: number, taskId: string | null = null) => {
    await world.engine.transact(() =>
      tellEvents(
        Array.from({ length: count }, (_none, index) => ({
          kind: 'run.started',
          at: nine + index,
          taskId,
          ref: `run-${index}`,
          ...(index === 0 ? { data: { attempt: 2 } } : {}),
        })),
      ),
    );
    await untilSettled(world);
  };

  test('events are read to the end, page by page, and the cursor waits for what comes next', async () => {
    const world = await open();
    const everything = { after: null, taskId: null, limit: 2 };
    const nothing = await world.store.readEvents(everything);
    expect(nothing.events).toEqual([]);
    await tell(world, 3);

    const first = await world.store.readEvents({ ...everything, after: nothing.next });
    expect(first.events).toMatchObject([
      { kind: 'run.started', at: nine, taskId: null, ref: 'run-0', data: { attempt: 2 } },
      { ref: 'run-1', data: null },
    ]);
    expect(first.next).toBe(first.events.at(-1)?.cursor);
    const second = await world.store.readEvents({ ...everything, after: first.next });
    expect(second.events.map(({ ref }) => ref)).toEqual(['run-2']);
    expect(await world.store.readEvents({ ...everything, after: second.next })).toEqual({
      events: [],
      next: second.next,
    });
    await tell(world, 1);
    expect((await world.store.readEvents({ ...everything, after: second.next })).events).toHaveLength(1);
    expect((await world.store.readEvents({ ...everything, limit: 10 })).events).toHaveLength(4);
  });

  test('a reader may begin at the end', async () => {
    const world = await open();
    const read = (after: string) => world.store.readEvents({ after, taskId: null, limit: 10 });
    const empty = await read('latest');
    await tell(world, 2);
    const { events, next } = await read('latest');
    expect(events).toEqual([]);
    await tell(world, 1);
    expect((await read(next)).events).toHaveLength(1);
    expect((await read(empty.next)).events).toHaveLength(3);
  });

  test('the events of one task are told alone', async () => {
    const world = await open();
    await tell(world, 2, 'a');
    await tell(world, 2, 'b');
    await tell(world, 1, 'a');
    const first = await world.store.readEvents({ after: null, taskId: 'a', limit: 2 });
    expect(first.events.map(({ taskId }) => taskId)).toEqual(['a', 'a']);
    const second = await world.store.readEvents({ after: first.next, taskId: 'a', limit: 2 });
    expect(second.events).toHaveLength(1);
    expect((await world.store.readEvents({ after: second.next, taskId: 'a', limit: 2 })).events).toEqual([]);
  });

  test('the audit is told newest first, of one task or of all', async () => {
    const world = await open();
    const [one, other] = [await aTask(world), await aTask(world)];
    await note(world, one.id, [
      { at: nine, verb: 'create', states: [null, 'active'] },
      { at: nine + 2, verb: 'skip', states: ['active', 'active'], before: { a: 1 }, after: { b: 2 } },
    ]);
    await note(world, other.id, [
      { at: nine + 1, verb: 'create' },
      { at: nine + 2, verb: 'pause' },
      { at: nine + 2, verb: 'resume' },
    ]);
    const verbs = async (taskId: string | null, limit: number) => {
      const found: string[] = [];
      for (let cursor: string | null = null; ;) {
        const page = await world.store.readAudit({ taskId, limit, cursor });
        found.push(...page.items.map(({ verb }) => verb));
        if (page.next === null) return found;
        cursor = page.next;
      }
    };
    for (const limit of [1, 2, 50]) {
      expect(await verbs(one.id, limit)).toEqual(['skip', 'create']);
      expect(await verbs(other.id, limit)).toEqual(['resume', 'pause', 'create']);
      expect(await verbs(null, limit)).toEqual(['resume', 'pause', 'create', 'skip', 'create']);
    }
    expect((await world.store.readAudit({ taskId: one.id, limit: 1, cursor: null })).items).toMatchObject([
      { stateBefore: 'active', stateAfter: 'active', before: { a: 1 }, after: { b: 2 }, actor: 'telegram:user:7' },
    ]);
  });

  test('a cursor from a newer copy of the database is refused, and the one of an event that was removed is not', async () => {
    const world = await open();
    await tell(world, 4);
    const { events } = await world.store.readEvents({ after: null, taskId: null, limit: 9 });
    const [first, second] = events.map(({ cursor }) => cursor);
    await world.query(`delete from events where ref = 'run-0'`);
    const read = (after: string) => world.store.readEvents({ after, taskId: null, limit: 9 });
    expect((await read(first ?? '')).events).toHaveLength(3);
    expect((await read(second ?? '')).events).toHaveLength(2);
    await world.query(`delete from events where ref = 'run-3'`);
    await expect(read(events[3]?.cursor ?? '')).rejects.toMatchObject({ code: 'invalid_cursor' });
    expect((await read(events[2]?.cursor ?? '')).events).toEqual([]);
  });

  test('a cursor of another list, or of nobody, is refused', async () => {
    const world = await open();
    await tell(world, 1);
    const { next } = await world.store.readEvents({ after: null, taskId: null, limit: 1 });
    const refused = { code: 'invalid_cursor' };
    for (const cursor of ['x', 'aGVsbG8', `${next}=`]) {
      await expect(world.store.readEvents({ after: cursor, taskId: null, limit: 1 })).rejects.toMatchObject(refused);
    }
    for (const cursor of [next, 'x', Buffer.from('audit:a').toString('base64url')]) {
      await expect(world.store.readAudit({ taskId: null, limit: 1, cursor })).rejects.toMatchObject(refused);
      await expect(world.store.readAudit({ taskId: 'a', limit: 1, cursor })).rejects.toMatchObject(refused);
    }
  });
}

export function downtimeTests(open: OpenWorld): void {
  const counts = { missed: 3, late: 1, asked: 0, skipped: 0 };

  test('a downtime is reported once, with its event', async () => {
    const world = await open();
    await world.store.markAlive(nine);
    await world.store.openDowntime('d1', nine + hour, null);
    expect(await world.store.listDowntimes(5)).toEqual([
      { id: 'd1', from: nine, to: nine + hour, cause: null, counts: null, reportedAt: null },
    ]);
    await world.store.reportDowntime({ id: 'd1', counts, at: nine + 2 * hour, messages: [] });
    await world.store.reportDowntime({ id: 'd1', counts, at: nine + 3 * hour, messages: [] });
    expect(await world.store.listDowntimes(5)).toMatchObject([{ id: 'd1', counts, reportedAt: nine + 2 * hour }]);
    expect(await world.store.lastDowntime()).toBeNull();
    await untilSettled(world);
    const { events } = await world.store.readEvents({ after: null, taskId: null, limit: 5 });
    expect(events).toMatchObject([{ kind: 'downtime.reported', ref: 'd1', data: counts }]);
  });

  test('a time in which nothing could be written is known as that, also to the truth about a task', async () => {
    const { world, task } = await withTask(open);
    await world.store.markAlive(nine);
    await world.store.openDowntime('d1', nine + hour, 'database');
    expect(await world.store.lastDowntime()).toEqual({ id: 'd1', from: nine, to: nine + hour, cause: 'database' });
    const truth = await world.store.readTruth({ taskId: task.id, from: nine, to: nine, limit: 5 });
    expect(truth?.unwritable).toEqual([{ from: nine, to: nine + hour }]);
  });

  test('a time is decided when no slot of it is due any more', async () => {
    const { world, task } = await withTask(open);
    expect(await world.store.isDecided(nine - 1)).toBe(true);
    expect(await world.store.isDecided(nine)).toBe(false);
    await world.query(`update tasks set state = 'paused', next_at = null, resume_at = ?i`, nine);
    expect(await world.store.isDecided(nine)).toBe(false);
    await world.query(`update tasks set resume_at = null where id = ?t`, task.id);
    expect(await world.store.isDecided(nine)).toBe(true);
  });

  test('what a downtime cost is counted by task, from what was made of its time since', async () => {
    const world = await open();
    const known = await aTaskWithSlots(world, 2);
    await world.query('update tasks set next_at = next_at * 2');
    const id = world.make.id();
    const task = await aTaskWithSlots(world, 4);
    await world.query(`update occurrences set status = 'skipped' where task_id = ?t and slot_at = ?i`, task.id, nine);
    await world.query(`update occurrences set decide_by = 1 where task_id = ?t and slot_at = ?i`, task.id, nine + hour);
    await world.query(
      `update occurrences set status = 'succeeded', late_ms = 999 where task_id = ?t and slot_at = ?i`,
      task.id,
      nine + 2 * hour,
    );
    for (const task_ of [known, task]) await addGap(world, task_.id, nine - 2 * hour, nine - minute);
    await world.query(`update gaps set id = '0' where task_id = ?t`, known.id);
    const cost = { thread: task.home, isMute: false, number: task.number, title: task.title };
    const costs = async (from: number, to: number) =>
      (await world.store.costOf({ id, from, to })).toSorted((a, b) => (a.became < b.became ? -1 : 1));
    expect(await costs(nine, nine + 3 * hour)).toEqual([
      { ...cost, became: 'asked', count: 1 },
      { ...cost, became: 'missed', count: 7 },
      { ...cost, became: 'skipped', count: 1 },
    ]);
    await world.query(`update occurrences set late_ms = 1000 where status = 'succeeded'`);
    await world.query(`update chats set state = 'gone'`);
    expect(await costs(nine + 2 * hour, nine + 4 * hour)).toMatchObject([
      { became: 'late', isMute: true, count: 1 },
      { became: 'missed', count: 1 },
    ]);
  });
}
