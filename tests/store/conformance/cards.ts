import { expect, test } from 'vitest';
import type { OutboxPart } from '../../../src/app/ports/outbox.ts';
import type { TaskVerb } from '../../../src/domain/event.ts';
import type { Task } from '../../../src/domain/task.ts';
import { aTask, bootId, claimAll, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import {
  aReadyTask,
  blocked,
  change,
  claimParts,
  delivered,
  nextPart,
  outbox,
  refused,
  removed,
  threadOf,
  withTask,
} from '../scenes.ts';

async function topicMade({ store, make }: World, task: Task, id = 77): Promise<void> {
  await store.beginTopic({ taskId: task.id, name: task.title }, bootId, nine);
  await store.endTopic({ taskId: task.id, state: 'ready', id, cardId: make.id(), remadeId: make.id(), at: nine });
}

const next = (world: World, now = nine + minute) => nextPart(world, { now });

/** The part as it arrived, with the id of the delivery that pins it, if it is a card of its own. */
const arrived = (part: OutboxPart, messageId: number, pinId: string | null = null) =>
  delivered(part, messageId, { at: nine, pinId });

/** A task whose topic has its pinned card: message 500. */
async function aCardedTask(world: World): Promise<Task> {
  const task = await aTask(world);
  await topicMade(world, task);
  await world.store.endParts([arrived(await next(world), 500, world.make.id())], nine);
  await world.store.endParts([arrived(await next(world), 500)], nine);
  return task;
}

const audited = (verb: TaskVerb) => ({ verb, before: null, after: null }) as const;
const edited = { stamp: 'updated', audit: audited('edit') } as const;
const deleted = { ...removed, audit: audited('delete') } as const;
const restored = { set: { state: 'active', nextAt: nine }, stamp: 'restored', audit: audited('restore') } as const;

const open_ = `status in ('pending', 'blocked')`;
const kinds = async (world: World, where = open_) =>
  (await outbox<{ kind: string }>(world, 'kind', where)).map(({ kind }) => kind);

/** The pinned card of a task, and the closing and opening of its topic. */
export function cardTests(open: OpenWorld): void {
  test('a card that was delivered under a lost claim is neither kept nor pinned', async () => {
    const { world, task } = await withTask(open);
    await topicMade(world, task);
    const card = await next(world);

    expect(await world.store.endParts([arrived({ ...card, fence: card.fence - 1 }, 500, 'pin')], nine)).toBe(0);
    expect(await world.query('select card_message_id from tasks')).toEqual([{ card_message_id: null }]);
    expect(await kinds(world)).toEqual([]);
  });

  test('whatever a card shows is shown anew when it changes: one change of the message, however many there were', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    await change(world, task, edited);
    await change(world, task, edited, { at: nine + minute });
    expect(await outbox(world, 'kind, rank, unknown_policy, expires_at', open_)).toEqual([
      { kind: 'card', rank: 2, unknown_policy: 'resend', expires_at: nine + minute + hour },
    ]);
    const card = await next(world);
    expect(card).toMatchObject({ kind: 'card', edits: 500 });

    // What is on its way may show the state from before.
    await change(world, task, edited, { at: nine + minute });
    await world.store.endParts([arrived(card, 500)], nine);
    // It waits a moment for the answer to whoever made the change.
    expect(await claimParts(world, { now: nine + minute })).toEqual([]);
    expect(await next(world, nine + 2 * minute)).toMatchObject({ kind: 'card', edits: 500 });
    expect(await kinds(world, `kind = 'pin'`)).toEqual(['pin']);
  });

  test('a card that is still on its way for the first time is changed, not sent twice', async () => {
    const { world, task } = await withTask(open);
    await topicMade(world, task);
    const first = await next(world);
    await change(world, task, edited);
    await world.store.endParts([arrived(first, 500, world.make.id())], nine);

    const parts = [await next(world), await claimParts(world)];
    expect(parts).toMatchObject([{ kind: 'card', edits: 500 }, []]);
  });

  test('what does not stand on the card changes nothing', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    for (const verb of ['run_now', 'retry', 'replay', 'cancel', 'answer'] as const) {
      await change(world, task, { audit: audited(verb) });
    }

    expect(await kinds(world)).toEqual([]);
  });

  test('a task without a topic has no card, and neither has one that is delivered nowhere', async () => {
    const world = await open();
    await change(world, await aTask(world), edited);
    const nowhere = await aReadyTask(world, { home: { ...threadOf('default'), provider: 'cli' } });
    await change(world, nowhere, edited);

    expect(await kinds(world)).toEqual([]);
  });

  test('a new title waits as the name of the topic, the last one alone, and says what went wrong', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    const retitled = (title: string) =>
      change(world, task, { ...edited, audit: { ...edited.audit, before: { title: 'old' }, after: { title } } });
    await retitled('Plants');
    await retitled('Flowers');
    const names = () => outbox<{ content: string }>(world, 'content', `kind = 'rename' and ${open_}`);
    expect(await names()).toEqual([{ content: JSON.stringify({ text: 'Flowers' }) }]);
    expect(await world.store.topicNaming(task.id)).toEqual({ error: null });
    const naming = await next(world);
    expect([naming.kind, naming.route.topic, naming.shown]).toEqual(['rename', 77, { text: 'Flowers' }]);
    await world.store.endParts([blocked(naming, { error: 'CHAT_STRANGE' })], nine);
    expect(await world.store.topicNaming(task.id)).toEqual({ error: 'CHAT_STRANGE' });
    await retitled('Trees');
    expect(await names()).toEqual([{ content: JSON.stringify({ text: 'Trees' }) }]);
    expect(await world.store.topicNaming(task.id)).toEqual({ error: null });
    await world.store.endParts([arrived(await next(world), 77)], nine);
    expect(await world.store.topicNaming(task.id)).toBe(null);
  });

  test('a task that is completed shows it', async () => {
    const world = await open();
    await aCardedTask(world);
    await claimAll(world, { now: nine, limit: 9 }, () => ({ nextAt: null, occurrences: [], runs: [] }));

    expect(await kinds(world)).toEqual(['card']);
  });

  test('a restore in the instant of the deletion ends with an open topic', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    for (const one of [deleted, restored, deleted]) await change(world, task, one);

    expect(await kinds(world)).toEqual(['close', 'open', 'close']);
  });

  test('a topic that is found to be ready twice gets one card', async () => {
    const { world, task } = await withTask(open);
    await topicMade(world, task);
    await topicMade(world, task);
    expect(await kinds(world)).toEqual(['card']);

    await world.store.endTopic({ taskId: task.id, state: 'none', lost: 1, at: 0 });
    await topicMade(world, task, 88);
    expect(await kinds(world, `${open_} and kind = 'card'`)).toEqual(['card']);
  });

  test('a card that a person has removed is made anew with the next change, and not before', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    await change(world, task, edited);
    const error = 'message to edit not found';
    await world.store.endParts([refused(await next(world), { error, messageGone: 500 })], nine);
    expect(await claimParts(world)).toEqual([]);

    await change(world, task, edited, { at: nine + minute });
    expect(await next(world, nine + 2 * minute)).toMatchObject({ kind: 'card', edits: null });
  });

  test('the row of a card stays as long as the card', async () => {
    const world = await open();
    const task = await aCardedTask(world);
    const later = nine + 1000 * hour;
    const prune = () => world.store.prune({ shelf: 'deliveries', after: null, now: later, before: later, limit: 50 });
    await prune();
    expect(await kinds(world, '1 = 1')).toEqual(['card']);
    await world.store.endTopic({ taskId: task.id, state: 'none', lost: 1, at: 0 });
    await prune();
    expect(await kinds(world, '1 = 1')).toEqual([]);
  });

  test('a task that was deleted is not gone before its topic was closed', async () => {
    const world = await open();
    await change(world, await aCardedTask(world), deleted);
    const prune = () =>
      world.store.prune({ shelf: 'tasks', after: null, now: nine + hour, before: nine + hour, limit: 50 });

    expect((await prune()).removed['tasks']).toBe(0);
    await world.query(`update deliveries set status = 'failed'`);
    expect((await prune()).removed['tasks']).toBe(1);
  });
}
