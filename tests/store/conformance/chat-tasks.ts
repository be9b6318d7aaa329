import { expect, test } from 'vitest';
import type { ChatTasksQuery } from '../../../src/app/ports/chats.ts';
import { noChange } from '../../../src/app/ports/tasks.ts';
import type { Actor } from '../../../src/domain/access.ts';
import type { TaskVerb } from '../../../src/domain/event.ts';
import type { Thread } from '../../../src/domain/thread.ts';
import { aTask, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { owner, someone, threadOf, withTask, withReadyTask } from '../scenes.ts';

const everything = { filter: 'all', ownerId: null, text: null, offset: 0, limit: 20 } as const;

/** Tasks as a chat sees them. */
export function chatTaskTests(open: OpenWorld): void {
  togetherTests(open);
  const list = async ({ store }: World, query: Partial<ChatTasksQuery> & { readonly chatId: string }) => {
    const { tasks, total } = await store.chatTasks({ ...everything, ...query });
    return [tasks.map(({ number }) => number), total];
  };

  test('a task is found by its number, in its own chat alone', async () => {
    const { world, task } = await withTask(open);
    const other = await aTask(world, { home: threadOf('-5') });

    expect(await world.store.taskByNumber(task.chatId, 1)).toMatchObject({ id: task.id });
    expect(await world.store.taskByNumber(other.chatId, 1)).toMatchObject({ id: other.id });
    expect(await world.store.taskByNumber(task.chatId, 2)).toBeNull();
  });

  test('the tasks about subjects are listed, and each subject is told as it is spelled', async () => {
    const { world, task } = await withTask(open, { subject: 'Anna' });
    await aTask(world, { subject: 'anna' });
    await aTask(world, { subject: 'Ben' });
    await aTask(world, {});
    const { chatId } = task;
    expect((await world.store.subjectsIn(chatId)).toSorted()).toEqual(['Anna', 'Ben', 'anna']);
    expect(await list(world, { chatId, subjects: ['Anna', 'anna'] })).toEqual([[1, 2], 2]);
    expect(await list(world, { chatId, subjects: ['Ann'] })).toEqual([[], 0]);
    const any = { thread: null, state: 'all', text: null, tag: null, limit: 9, cursor: null } as const;
    const found = async (thread: Thread | null) =>
      (await world.store.listTasks({ ...any, thread, subject: ['Anna', 'Ben'] })).items.map(({ subject }) => subject);
    // Whoever looks for a subject means it in small letters and in capitals.
    expect(await found(null)).toEqual(['Ben', 'anna', 'Anna']);
    expect(await found(task.home)).toEqual(['Ben', 'anna', 'Anna']);
  });

  test('a task is found by its own topic, also when it was deleted', async () => {
    const { world, task } = await withReadyTask(open);
    expect(await world.store.taskByTopic(task.chatId, 77)).toMatchObject({ id: task.id });
    await world.query(`update tasks set state = 'deleted', next_at = null`);

    expect(await world.store.taskByTopic(task.chatId, 77)).toMatchObject({ id: task.id, state: 'deleted' });
    expect(await world.store.taskByTopic(task.chatId, 78)).toBeNull();
    expect(await world.store.taskByTopic('another', 77)).toBeNull();
  });

  test('a task is found by its title, whatever its case and spaces, while it may still run', async () => {
    const { world, task: first } = await withTask(open, { title: 'Köche  anrufen' });
    await aTask(world, { title: 'KÖCHE anrufen' });
    const other = await aTask(world, { home: threadOf('-5'), title: 'Tea' });
    const find = (chatId: string, title: string) => world.store.taskByTitle(chatId, title);

    expect(await find(first.chatId, ' köche Anrufen\n')).toMatchObject({ id: first.id });
    expect(await find(first.chatId, 'köche')).toBeNull();
    expect(await find(first.chatId, 'tea')).toBeNull();
    expect(await find(other.chatId, 'tea')).toMatchObject({ id: other.id });
    await world.query(`update tasks set state = 'deleted', next_at = null where number = 1`);
    expect(await find(first.chatId, 'KÖCHE ANRUFEN')).toMatchObject({ number: 2 });
    await world.query(`update tasks set state = 'completed', next_at = null where number = 2`);
    expect(await find(first.chatId, 'KÖCHE ANRUFEN')).toBeNull();
    expect(await find(other.chatId, 'tea')).toBeNull();
  });

  test('a task that has run for the last time and is snoozed still comes', async () => {
    const { world, task } = await withTask(open);
    const over = await aTask(world);
    await snooze(world, task.id, nine + hour);
    await world.query(`update tasks set state = 'completed', next_at = null`);

    const { chatId } = task;
    expect(await list(world, { chatId, filter: 'open' })).toEqual([[task.number], 1]);
    expect(await list(world, { chatId, filter: 'completed' })).toEqual([[over.number], 1]);
  });

  test('titles are told of all tasks of a chat that are not long deleted', async () => {
    const { world, task: first } = await withTask(open, { title: 'Retro' });
    await aTask(world, { title: 'Tea' });
    await aTask(world, { title: 'Bread' });
    await aTask(world, { home: threadOf('-5'), title: 'Elsewhere' });
    await world.query(`update tasks set state = 'deleted', next_at = null, deleted_at = ${nine} where number = 2`);
    const told = async (deletedSince: number | null, limit = 9) =>
      (await world.store.titlesIn({ chatId: first.chatId, deletedSince, limit })).map(({ number, title, state }) => [
        number,
        title,
        state,
      ]);

    expect(await told(nine)).toEqual([
      [1, 'Retro', 'active'],
      [2, 'Tea', 'deleted'],
      [3, 'Bread', 'active'],
    ]);
    expect((await told(nine + 1)).map(([number]) => number)).toEqual([1, 3]);
    expect((await told(null)).map(([number]) => number)).toEqual([1, 3]);
    await world.query(`update tasks set state = 'completed', next_at = null where number = 3`);
    expect((await told(nine, 1)).map(([number]) => number)).toEqual([1]);
    expect((await told(nine, 2)).map(([number]) => number)).toEqual([1, 3]);
  });

  test('a list has what fails first, then what is next, in pages with a total', async () => {
    const world = await open();
    const { chatId } = await aTask(world, { nextAt: nine + 2 * hour });
    await aTask(world, { nextAt: nine + hour });
    const ids = [await aTask(world), await aTask(world), await aTask(world), await aTask(world)].map(({ id }) => id);
    await aTask(world, { home: threadOf('-5') });
    const set = (index: number, sets: string) =>
      world.query(`update tasks set ${sets} where id = ?t`, ids[index] ?? '');
    await set(0, `state = 'paused', next_at = null, paused_reason = 'auto:consecutive_failures'`);
    await set(1, `state = 'paused', next_at = null, paused_reason = 'manual'`);
    await set(2, `consecutive_failures = 2, next_at = ${nine + 9 * hour}`);
    await set(3, `state = 'deleted', next_at = null`);

    expect(await list(world, { chatId })).toEqual([[5, 3, 2, 1, 4], 5]);
    expect(await list(world, { chatId, offset: 1, limit: 2 })).toEqual([[3, 2], 5]);
    expect(await list(world, { chatId, filter: 'failing' })).toEqual([[5, 3], 2]);
    expect(await list(world, { chatId, filter: 'active' })).toEqual([[5, 2, 1], 3]);
    expect(await list(world, { chatId, filter: 'paused' })).toEqual([[3, 4], 2]);
    expect(await list(world, { chatId, filter: 'completed' })).toEqual([[], 0]);
    expect(await list(world, { chatId: 'no such chat' })).toEqual([[], 0]);
  });

  test('a list can be of one owner, or of what holds a text as it stands', async () => {
    const world = await open();
    const { chatId } = await aTask(world, { title: 'Water at 100%' });
    await aTask(world, { instructions: 'Pay the RENT', ownerIfNone: someone, actor: someone });

    expect(await list(world, { chatId, ownerId: owner })).toEqual([[1], 1]);
    expect(await list(world, { chatId, ownerId: someone })).toEqual([[2], 1]);
    expect(await list(world, { chatId, text: 'rent' })).toEqual([[2], 1]);
    expect(await list(world, { chatId, text: '100%' })).toEqual([[1], 1]);
    expect(await list(world, { chatId, text: '1_0' })).toEqual([[], 0]);
  });

  test('what is snoozed is told for each task, and for the chat soonest first', async () => {
    const { world, task: first } = await withTask(open);
    const second = await aTask(world);
    const other = await aTask(world, { home: threadOf('-5') });
    for (const [index, task] of [first, second, other].entries())
      await snooze(world, task.id, nine + (3 - index) * hour);

    const told = await world.store.snoozesOf([first.id, second.id, 'no such task']);
    expect(new Map(told)).toEqual(
      new Map([
        [first.id, [{ at: nine + 3 * hour, isHeld: false }]],
        [second.id, [{ at: nine + 2 * hour, isHeld: false }]],
      ]),
    );
    expect(await world.store.snoozesOf([])).toEqual(new Map());
    const soon = await world.store.snoozedBefore(first.chatId, nine + 3 * hour, 10);
    expect(soon.map(({ task, at }) => [task.number, at])).toEqual([
      [2, nine + 2 * hour],
      [1, nine + 3 * hour],
    ]);
    expect(await world.store.snoozedBefore(first.chatId, nine + hour, 10)).toEqual([]);
    expect(await world.store.snoozedBefore(first.chatId, nine + 3 * hour, 1)).toHaveLength(1);
  });

  test('what was snoozed before a pause is held by it, and what is snoozed meanwhile is not', async () => {
    const { world, task } = await withTask(open);
    await snooze(world, task.id, nine + hour);
    await world.query(`update tasks set state = 'paused', next_at = null, paused_at = ${nine + minute}`);
    await snooze(world, task.id, nine + 2 * hour);
    await world.query(`update occurrences set created_at = ${nine + 2 * minute} where slot_at = ${nine + 2 * hour}`);
    const told = async () => (await world.store.snoozesOf([task.id])).get(task.id)?.map(({ isHeld }) => isHeld);

    expect(await told()).toEqual([true, false]);
    expect(await world.store.snoozedBefore(task.chatId, nine + 3 * hour, 10)).toHaveLength(1);
    const news = { chatId: task.chatId, since: nine, except: '', limit: 10 };
    expect((await world.store.chatNews(news)).snoozed).toMatchObject([{ at: nine + 2 * hour }]);
    await world.query(`update tasks set state = 'active', next_at = ${nine + 5 * hour}`);
    expect(await told()).toEqual([false, false]);
    expect(await world.store.snoozedBefore(task.chatId, nine + 3 * hour, 10)).toHaveLength(2);
  });

  test('what may run before an instant is found soonest first, also after a pause that ends by itself', async () => {
    const world = await open();
    const { chatId } = await aTask(world, { nextAt: nine + 2 * hour });
    const paused = await aTask(world, { nextAt: nine });
    const forEver = await aTask(world, { nextAt: nine });
    await aTask(world, { nextAt: nine + 5 * hour });
    await aTask(world, { nextAt: nine, home: threadOf('-5') });
    const pause = `update tasks set state = 'paused', next_at = null`;
    await world.query(`${pause}, resume_at = ${nine + hour} where id = ?t`, paused.id);
    await world.query(`${pause} where id = ?t`, forEver.id);

    const found = await world.store.plannedBefore(chatId, nine + 3 * hour, 10);
    expect(found.map(({ task }) => task.number)).toEqual([2, 1]);
    expect(found[0]?.ahead).toEqual({ skipped: [], reserved: 0, awaitsEnd: false, rightEndsAt: null });
    expect(await world.store.plannedBefore(chatId, nine + 3 * hour, 1)).toHaveLength(1);
  });

  test('the last change of somebody in a chat is the latest that was not taken back', async () => {
    const world = await open();
    const { id: taskId, chatId } = await aTask(world);
    const other = await aTask(world, { home: threadOf('-5') });
    const [older, newer] = [await deed(world, taskId, 'pause'), await deed(world, taskId, 'resume')];
    await deed(world, taskId, 'pause', { actor: someone });
    await deed(world, taskId, 'run_now');
    await deed(world, other.id, 'pause');
    const query = { chatId, actor: owner, verbs: ['pause', 'resume'], since: nine, key: 'word 2' } as const;

    expect(await world.store.lastChange(query)).toEqual({ taskId, entryId: newer, verb: 'resume' });
    await deed(world, taskId, 'undo', { undoes: newer, key: 'word 1' });
    expect(await world.store.lastChange(query)).toEqual({ taskId, entryId: older, verb: 'pause' });
    // Asked about the same word again, it is the change that this word has taken back.
    expect(await world.store.lastChange({ ...query, key: 'word 1' })).toEqual({ taskId, entryId: newer, verb: 'undo' });
    // What somebody else took back is taken back all the same.
    await deed(world, taskId, 'undo', { undoes: older, actor: someone });
    expect(await world.store.lastChange(query)).toBeNull();
    expect(await world.store.lastChange({ ...query, since: nine + 1 })).toBeNull();
  });
}

function togetherTests(open: OpenWorld): void {
  test('changes that one word has made are found by each of them, and no others', async () => {
    const world = await open();
    const tasks = [await aTask(world), await aTask(world), await aTask(world)];
    const [first, second, alone] = tasks.map(({ id: taskId }, index) => ({ taskId, entryId: `entry-${index}` }));
    for (const [index, { id }] of tasks.entries()) {
      await world.query(
        `insert into idempotency_keys (scope, target, key, payload_hash, result, created_at, expires_at)
         values ('pause', '${id}', 'telegram:update:${index < 2 ? 1 : 2}', '', '{"entryId":"entry-${index}"}', ${nine}, ${nine + hour})`,
      );
    }
    const chatId = tasks[0]?.chatId ?? '';
    if (first === undefined || second === undefined || alone === undefined) throw new Error('there are three');
    for (const one of [first, second]) expect(await world.store.changesWith(chatId, one)).toEqual([first, second]);
    expect(await world.store.changesWith(chatId, alone)).toEqual([alone]);
    expect(await world.store.changesWith(chatId, { ...first, entryId: 'another' })).toMatchObject([
      { entryId: 'another' },
    ]);
  });
}

async function snooze({ store }: World, taskId: string, until: number): Promise<void> {
  const request = { taskId, actor: owner, at: nine, once: null, quota: { chat: 500, user: 50 } } as const;
  const occurrence = {
    id: `snoozed-${taskId}-${until}`,
    slotAt: until,
    source: 'snooze',
    status: 'pending',
    reason: null,
    decideBy: null,
    runId: null,
    lateMs: 0,
  } as const;
  await store.changeTask(request, () => ({ ...noChange, manual: { occurrence, run: null } }));
}

interface Deed {
  readonly actor?: Actor;
  readonly undoes?: string;
  readonly key?: string;
}

async function deed(
  { store }: World,
  taskId: string,
  verb: TaskVerb,
  { actor = owner, undoes, key }: Deed = {},
): Promise<string> {
  const once =
    key === undefined ? null : { scope: verb, target: taskId, key, payloadHash: 'hash', expiresAt: nine + hour };
  const request = { taskId, actor, at: nine, once, quota: { chat: 500, user: 50 } };
  const audit = { verb, before: null, after: undoes === undefined ? null : { undoes } };
  const { entryId } = await store.changeTask(request, () => ({ ...noChange, audit }));
  return entryId ?? '';
}
