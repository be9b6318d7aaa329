import { expect, test } from 'vitest';
import { oneOffTopicsOffered } from '../../../src/domain/limits.ts';
import type { Task } from '../../../src/domain/task.ts';
import { aTask, bootId, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aReadyTask, change, delivered, nextPart, outbox, show } from '../scenes.ts';

const once = { kind: 'once', onceAt: nine + minute, timezone: 'UTC' } as const;

/** One-offs of a chat in which they come together. */
async function oneOffs(world: World, count: number): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let index = 0; index < count; index += 1) tasks.push(await aTask(world, { schedule: once }));
  await world.store.changeChat(tasks[0]?.chatId ?? '', { settings: { oneOffs: 'together' } }, nine);
  return tasks;
}

const ready = (world: World, taskId: string, id = 42) =>
  world.store.endTopic({ taskId, state: 'ready', id, cardId: world.make.id(), remadeId: world.make.id(), at: nine });

async function topics({ store }: World, tasks: readonly Task[]) {
  const read = await Promise.all(tasks.map(({ id }) => store.readTask(id)));
  return read.map((task) => [task?.topicState, task?.topicId, task?.isTopicShared]);
}

/** One topic for the one-offs of a chat. */
export function sharedTopicTests(open: OpenWorld): void {
  test('a one-off without a topic is told to share where its chat wants that, and all other tasks are not', async () => {
    const world = await open();
    const [own] = await oneOffs(world, 1);
    const series = await aTask(world);
    const old = await aReadyTask(world, { schedule: once });
    const shares: unknown[] = [];
    for (const task of [own, series, old]) {
      if (task === undefined) continue;
      await show(world, task, [world.make.part()]);
      const { topic, id, fence, resultOf } = await nextPart(world);
      shares.push([topic?.isShared, topic?.name, resultOf?.isTopicShared]);
      await world.query(`update deliveries set status = 'failed' where id = ?t`, id);
      expect(fence).toBeGreaterThan(0);
    }
    expect(shares).toEqual([
      [true, 'Reminders', true],
      [false, series.title, false],
      [false, old.title, false],
    ]);
  });

  test('the first that needs it makes it, the others see to that, and have it when it is there', async () => {
    const world = await open();
    const tasks = await oneOffs(world, 3);
    const [first = '', second = '', third = ''] = tasks.map(({ id }) => id);
    expect(await world.store.joinTopic(first)).toMatchObject({ is: 'wanted', maker: { taskId: first, state: 'none' } });
    await world.store.beginTopic({ taskId: first, name: 'Reminders' }, bootId, nine);
    const seen = { is: 'wanted', maker: { taskId: first, state: 'creating', askedAt: nine, askedName: 'Reminders' } };
    expect(await world.store.joinTopic(second)).toMatchObject(seen);
    await ready(world, first);
    expect(await world.store.joinTopic(third)).toEqual({ is: 'ready', id: 42, lostAt: null });
    expect(await topics(world, tasks)).toEqual(tasks.map(() => ['ready', 42, true]));
    expect(await outbox(world, 'kind')).toEqual([]);
    const [one] = tasks;
    expect(await world.store.taskByTopic(one?.chatId ?? '', 42)).toBeNull();
    expect(await world.store.isTopicTaken('-100', 42)).toBe(true);
    await world.query(`update tasks set topic_id = null, topic_state = 'none'`);
    expect(await world.store.isTopicTaken('-100', 42)).toBe(true);
  });

  test('it is lost for all of them at once, and made again by another one, which tells why', async () => {
    const world = await open();
    const tasks = await oneOffs(world, 3);
    const [first = '', second = '', third = ''] = tasks.map(({ id }) => id);
    await world.store.joinTopic(first);
    await world.store.beginTopic({ taskId: first, name: 'Reminders' }, bootId, nine);
    await ready(world, first);
    await world.store.joinTopic(second);
    await world.store.endTopic({ taskId: second, state: 'none', lost: 1, at: nine });
    expect(await topics(world, tasks.slice(0, 2))).toEqual([
      ['none', null, true],
      ['none', null, true],
    ]);
    const again = { taskId: third, state: 'none', lostAt: nine };
    expect(await world.store.joinTopic(third)).toMatchObject({ is: 'wanted', maker: again });
    await world.store.beginTopic({ taskId: third, name: 'Reminders' }, bootId, nine);
    await ready(world, third, 43);
    expect(await topics(world, tasks)).toEqual(tasks.map(() => ['ready', 43, true]));
    const [told] = await outbox<{ content: string }>(world, 'content', `kind = 'notice'`);
    expect(told?.content).toContain('topicRemade');
    expect(await world.query('select id from tasks where topic_lost is not null')).toEqual([]);
  });

  test('a doubt about it is one doubt, whichever of them is asked about', async () => {
    const world = await open();
    const tasks = await oneOffs(world, 2);
    const [first = '', second = ''] = tasks.map(({ id }) => id);
    await world.store.joinTopic(first);
    await world.store.beginTopic({ taskId: first, name: 'Reminders' }, bootId, nine);
    await world.store.endTopic({ taskId: first, state: 'blocked', cause: 'topic_in_doubt' });
    const cause = async () => {
      const joined = await world.store.joinTopic(second);
      return joined.is === 'wanted' ? [joined.maker.taskId, joined.maker.cause] : joined;
    };
    expect(await cause()).toEqual([first, 'topic_in_doubt']);
    await world.store.retryBlocked({ chatId: null, taskId: second, inDoubt: true }, nine);
    expect(await cause()).toEqual([first, null]);
  });

  test('a one-off that becomes a series shares it no more', async () => {
    const world = await open();
    const task = await aTask(world, { schedule: once });
    const taskId = task.id;
    await world.store.joinTopic(taskId);
    await world.store.beginTopic({ taskId, name: 'Reminders' }, bootId, nine);
    await ready(world, taskId);
    expect(await world.store.unbindTopic({ taskId, topicId: 42, actor: 'system', at: nine })).toBe('none');
    const schedule = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;
    await change(world, task, { set: { schedule, nextAt: nine + minute } });
    expect(await topics(world, [task])).toEqual([['none', null, false]]);
  });

  test('topics of finished tasks are counted, and closed or let go of together, if there are as many as were told', async () => {
    const world = await open();
    const over = [await aReadyTask(world), await aReadyTask(world), await aReadyTask(world)];
    const active = await aReadyTask(world);
    const [first, second, gone] = over.map(({ id }) => id);
    const { chatId } = active;
    await world.query(
      `update tasks set topic_id = number, state = 'completed', next_at = null where id <> ?t`,
      active.id,
    );
    await world.query(`update tasks set state = 'deleted' where id = ?t`, gone ?? '');
    const count = () => world.store.finishedTopics(chatId);
    const clean = (id: string, deed: 'close' | 'removeTopic', expected: number) => {
      const thread = { topic: null };
      return world.store.cleanTopics({ id, chatId, deed, expected, limit: 9, actor: 'system', at: nine, thread });
    };
    expect(await count()).toEqual({ all: 3, open: 2 });
    expect(await clean('a', 'close', 3)).toBe(false);
    expect(await outbox(world, 'id')).toEqual([]);
    expect(await clean('a', 'close', 2)).toBe(true);
    expect(await outbox(world, 'kind, task_id')).toEqual([
      { kind: 'close', task_id: first },
      { kind: 'close', task_id: second },
      { kind: 'notice', task_id: null },
    ]);
    expect(await count()).toEqual({ all: 3, open: 0 });
    // The word leaves last, when all else has ended.
    for (const kind of ['close', 'close', 'notice']) {
      const part = await nextPart(world);
      expect([part.kind, part.isOneOfMany]).toEqual([kind, true]);
      await world.store.endParts([delivered(part)], nine);
    }
    expect(await world.store.cleanedTopics('a')).toEqual({ done: 2, failed: [] });
    expect(await clean('b', 'removeTopic', 3)).toBe(true);
    expect(await count()).toEqual({ all: 0, open: 0 });
    expect(await topics(world, over)).toEqual(over.map(() => ['none', null, false]));
    await world.query(`update deliveries set status = 'failed', error = 'no' where to_topic = 1`);
    const name = `#1 ${over[0]?.title}`;
    expect(await world.store.cleanedTopics('b')).toMatchObject({ failed: [{ name, error: 'no' }, {}, {}] });
    expect(await world.query(`select verb from audit where verb = 'unbind'`)).toHaveLength(3);
  });

  test('sharing is offered once, when topics of one-offs that are over have piled up', async () => {
    const world = await open();
    const offers = async () => (await outbox(world, 'id', `content like '%oneOffs%'`)).length;
    for (let index = 1; index <= oneOffTopicsOffered + 2; index += 1) {
      const { id } = await aTask(world, { schedule: once });
      await world.query(`update tasks set state = 'completed', next_at = null where id = ?t`, id);
      await world.store.beginTopic({ taskId: id, name: 'once' }, bootId, nine);
      await ready(world, id, 100 + index);
      expect(await offers()).toBe(index < oneOffTopicsOffered ? 0 : 1);
    }
  });
}
