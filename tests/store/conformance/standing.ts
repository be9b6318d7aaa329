import { expect, test } from 'vitest';
import { outboxRanks } from '../../../src/domain/delivery.ts';
import type { Task } from '../../../src/domain/task.ts';
import { bootId, endOf, hour, minute, nine, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aMessage, change, claimParts, delivered, nextPart, only, outbox, refused, show } from '../scenes.ts';

const second = 1000;
const day = 24 * hour;
const look = (world: World, now: number, room = 10) => world.store.drawAnew({ now, limit: 50, after: '', room });

/** A task that rests for long, with a pinned card that was drawn at nine. */
async function aCardedTask(world: World, messageId = 500): Promise<Task> {
  const { store, make } = world;
  const { task } = await store.createTask(make.newTask({ nextAt: nine + day }), () => {
    throw new Error('there is none yet');
  });
  await store.beginTopic({ taskId: task.id, name: task.title }, bootId, nine);
  await store.endTopic({ taskId: task.id, state: 'ready', id: 77, cardId: make.id(), remadeId: make.id(), at: nine });
  const card = await nextPart(world, { now: nine });
  await store.endParts([delivered(card, messageId, { at: nine, pinId: make.id(), print: 'first' })], nine);
  await store.endParts([delivered(await nextPart(world, { now: nine }), messageId)], nine);
  // What was sent then is long ago.
  await world.query('update deliveries set sent_at = ?i', nine - hour);
  return task;
}

/** When each of them is due, so long after nine. */
const dues = async (world: World) =>
  (await world.query<{ due_at: number | null }>('select due_at from standing order by id')).map(({ due_at: due }) =>
    due === null ? null : Number(due) - nine,
  );

const drawings = (world: World) =>
  outbox<{ lane: string; kind: string; content: string }>(world, 'lane, kind, content', `rank = ${outboxRanks.redraw}`);

const edited = { stamp: 'updated', audit: { verb: 'answer', before: null, after: null } } as const;

/** Messages that tell how something stands, and when they are drawn anew. */
export function standingTests(open: OpenWorld): void {
  test('a card is drawn anew once an hour however often its task runs, at the lowest rank, and not where it looks the same', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    for (const at of [nine + minute, nine + 2 * minute, nine + 30 * minute]) await show(world, task, [], at);
    expect(await dues(world)).toEqual([hour]);
    expect(await world.store.nextRedrawAt()).toBe(nine + hour);

    expect(await look(world, nine + hour - 1)).toMatchObject({ drawn: 0 });
    expect(await look(world, nine + hour)).toMatchObject({ drawn: 1 });
    expect(await look(world, nine + 2 * hour)).toMatchObject({ drawn: 0 });
    const content = JSON.stringify({ view: 'card', unless: 'first' });
    expect(await drawings(world)).toEqual([{ lane: `card:${task.id}`, kind: 'card', content }]);

    const part = await nextPart(world, { now: nine + hour });
    expect(part).toMatchObject({ edits: 500, silent: true });
    await world.store.endParts([delivered(part, 500, { at: nine + hour, print: 'second' })], nine + hour);
    await show(world, task, [], nine + hour + minute);
    expect(await dues(world)).toEqual([2 * hour]);
    expect(await world.query('select print from standing')).toEqual([{ print: 'second' }]);
  });

  test('what people decide by is drawn soon, with a pause of a minute, and a drawing under way is hurried on by a change', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    await show(world, task, [], nine + 10 * minute);
    await change(world, task, edited, { at: nine + 20 * minute });
    expect(await dues(world)).toEqual([20 * minute + 20 * second]);
    await look(world, nine + 21 * minute);
    await change(
      world,
      task,
      { audit: { verb: 'edit', before: null, after: null }, stamp: 'updated' },
      { at: nine + 21 * minute },
    );
    expect(await drawings(world)).toEqual([]);
    const part = await nextPart(world, { now: nine + 22 * minute });
    await world.store.endParts([delivered(part, 500, { at: nine + 22 * minute, print: 'second' })], nine);
    await change(world, task, edited, { at: nine + 22 * minute });
    expect(await dues(world)).toEqual([23 * minute]);
  });

  test('nothing is drawn while anything else is on its way in the chat, or soon will be, or has used up half of its pace', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    await show(world, task, [], nine);
    const now = nine + 2 * hour;
    const isHeld = async () => (await look(world, now)).drawn === 0;

    await world.query('update tasks set next_at = ?i', now + 4 * second);
    expect(await isHeld()).toBe(true);
    await world.query('update tasks set next_at = ?i', now + 30 * second);
    expect((await look(world, now, 1)).drawn).toBe(0);
    await world.query('update tasks set next_at = ?i', now + day);

    const run = await world.store.addRun(world.make.newRun({ taskId: task.id, taskVersion: 1, chatId: task.chatId }));
    expect(await isHeld()).toBe(true);
    const started = await startOne(world, now);
    expect(started.run.id).toBe(run.runId);
    expect(await isHeld()).toBe(true);
    await world.store.finishRuns([endOf(started, { deliveries: [world.make.part()], finishedAt: now })]);
    expect(await isHeld()).toBe(true);
    const part = only((await claimParts(world, { now })).filter(({ kind }) => kind === 'result'));
    expect(await isHeld()).toBe(true);
    await world.store.endParts([delivered(part)], now);
    expect((await look(world, now, 1)).drawn).toBe(0);
    expect((await look(world, now, 2)).drawn).toBe(1);
    // One at a time, and a chat that was looked at is behind those that were not.
    expect(await world.store.drawAnew({ now, limit: 50, after: task.chatId, room: 10 })).toEqual({
      drawn: 0,
      after: '',
    });
  });

  test('the message in which a task was made stands until it is gone', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    await world.store.addMessages([aMessage(world, { edits: 40, stands: { as: 'made', taskId: task.id } })], nine);
    const made = await nextPart(world, { now: nine });
    await world.store.endParts([delivered(made, 40)], nine);
    await world.query(`update deliveries set sent_at = ?i`, nine - hour);
    await change(world, task, edited, { at: nine + hour });
    await look(world, nine + 2 * hour);
    await look(world, nine + 3 * hour);
    const [one, other] = [await nextPart(world, { now: nine + 3 * hour }), await drawings(world)];
    expect(other.map(({ lane }) => lane)).toEqual([`card:${task.id}`]);
    await world.store.endParts([delivered(one, 500, { print: 'second' })], nine);
    await world.query(`update deliveries set sent_at = ?i`, nine - hour);
    await look(world, nine + 4 * hour);
    const where = await nextPart(world, { now: nine + 4 * hour });
    expect(where).toMatchObject({ kind: 'answer', edits: 40, silent: true });
    await world.store.endParts([refused(where, { messageGone: 40 })], nine);
    expect(await world.query('select id from standing')).toEqual([{ id: `card:${task.id}` }]);
  });

  test('a card that is pressed stands where none of its task does, and the pinned one as itself alone', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    const press = (edits: number, as: 'made' | 'pressed' = 'pressed') =>
      world.store.addMessages([aMessage(world, { edits, stands: { as, taskId: task.id } })], nine);
    const standing = async () =>
      (
        await world.query(
          'select s.id, d.edits from standing s join deliveries d on d.id = s.delivery_id order by s.id',
        )
      ).filter(({ id }) => id !== `card:${task.id}`);
    await press(500);
    expect(await standing()).toEqual([]);
    await press(40);
    expect(await standing()).toEqual([{ id: `made:${task.id}`, edits: 40 }]);
    await press(41);
    expect(await standing()).toEqual([{ id: `made:${task.id}`, edits: 40 }]);
    await press(42, 'made');
    expect(await standing()).toEqual([{ id: `made:${task.id}`, edits: 42 }]);
  });

  test('with the right to pin each card is pinned that was not, once, and the word about that is drawn anew', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    expect(await world.store.pinAgain(task.chatId, nine)).toBe(false);
    const word = aMessage(world, { kind: 'notice', shown: { view: 'notPinned' } });
    await world.store.tellOnce({ word: 'not_pinned' }, word, nine);
    expect([await world.store.pinAgain(task.chatId, nine), await world.store.pinAgain(task.chatId, nine)]).toEqual([
      true,
      false,
    ]);
    expect(await outbox(world, 'task_id, edits', `kind = 'pin' and status = 'pending'`)).toEqual([
      { task_id: task.id, edits: 500 },
    ]);
    expect(await world.query(`select kind from standing where due_at is not null`)).toEqual([{ kind: 'notPinned' }]);
  });

  test('a number that was given at another address is never used', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    await change(world, task, edited, { at: nine });
    await world.store.moveChat('-100', '-100200', nine);
    expect((await look(world, nine + hour)).drawn).toBe(0);
    expect(await dues(world)).toEqual([]);
  });

  test('a word about results that wait is drawn anew when nothing waits any more, and forgotten after a month', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    await show(world, task, [world.make.part()], nine);
    const part = only((await claimParts(world)).filter(({ kind }) => kind === 'result'));
    const shown = { view: 'blocked', cause: 'topics_off', error: 'refused' } as const;
    const guidance = aMessage(world, { kind: 'notice', taskId: task.id, shown });
    const end = {
      id: part.id,
      fence: part.fence,
      status: 'blocked',
      afterMs: minute,
      cause: 'topics_off',
      error: 'refused',
    } as const;
    await world.store.endParts([{ ...end, taskId: task.id, guidance }], nine);
    expect(await world.store.isTold(task.chatId, 'blocked', 'topics_off')).toBe(true);
    const parts = await claimParts(world, { now: nine + 5 * minute });
    for (const each of parts.filter(({ kind }) => kind === 'notice'))
      await world.store.endParts([delivered(each, 60)], nine);
    const again = parts.find(({ kind }) => kind === 'result') ?? (await nextPart(world, { now: nine + 5 * minute }));
    await world.store.endParts([delivered(again, 61)], nine + 5 * minute);
    expect(await world.store.isTold(task.chatId, 'blocked', 'topics_off', task.id)).toBe(false);
    const word = await world.query<{ due_at: number }>(`select due_at from standing where kind = 'blocked'`);
    expect(word.map(({ due_at: due }) => Number(due))).toEqual([nine + 5 * minute + 20 * second]);
    expect((await world.store.dropExpired({ now: nine + 31 * day, limit: 10 })).removed).toMatchObject({ standing: 1 });
  });
}
