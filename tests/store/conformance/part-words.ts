import { expect, test } from 'vitest';
import type { NewUpdate } from '../../../src/app/ports/chats.ts';
import type { OutboxPart, PartEnd } from '../../../src/app/ports/outbox.ts';
import type { BlockedCause, Word } from '../../../src/domain/shown.ts';
import type { Task } from '../../../src/domain/task.ts';
import { aTask, bootId, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import {
  aChat,
  aMessage,
  aReadyTask,
  blocked,
  claimParts,
  delivered,
  lost,
  nextPart,
  only,
  outbox,
  putOff,
  refused,
  show,
  threadOf,
  withReadyTask,
} from '../scenes.ts';

/** Blocked, with the word about it that people are told. */
function stuck(world: World, part: Pick<OutboxPart, 'id' | 'fence'>, cause: BlockedCause = 'topics_off'): PartEnd {
  const shown = { view: 'blocked', cause, error: 'refused' } as const;
  return blocked(part, { cause, guidance: aMessage(world, { kind: 'notice', shown }) });
}

/** The parts of results that can be claimed now, past all that comes before them. */
async function results(world: World, now = nine + minute): Promise<readonly OutboxPart[]> {
  for (;;) {
    const parts = await claimParts(world, { now });
    const found = parts.filter(({ kind }) => kind === 'result');
    if (found.length > 0 || parts.length === 0) return found;
  }
}

async function aResult(world: World, task: Task, now = nine + minute): Promise<OutboxPart> {
  await show(world, task, [world.make.part()]);
  return only(await results(world, now));
}

const guidances = (world: World) => outbox(world, 'id', `kind = 'notice'`);

/** What people are told about parts that cannot go out. */
export function guidanceTests(open: OpenWorld): void {
  test('what to mend is told once for each cause, until something reaches the topic of a task and nothing waits', async () => {
    const world = await open();
    const [first, second, third] = [await aReadyTask(world), await aReadyTask(world), await aReadyTask(world)];
    for (const task of [first, second]) {
      await world.store.endParts([stuck(world, await aResult(world, task))], nine);
    }
    expect(await guidances(world)).toHaveLength(1);
    await world.store.endParts([stuck(world, await aResult(world, third), 'no_topic_right')], nine);
    expect(await guidances(world)).toHaveLength(2);
    await world.query(`update deliveries set status = 'failed' where kind = 'notice'`);

    await world.store.endParts([delivered(only(await results(world, nine + 2 * hour)))], nine);
    await world.store.endParts([stuck(world, only(await results(world, nine + 2 * hour)))], nine);
    // The other trouble of the same kind lasts, so that one result gets through does not make it news.
    expect(await guidances(world)).toHaveLength(2);

    for (const messageId of [6001, 6002]) {
      const [mended] = await results(world, nine + 4 * hour);
      if (mended !== undefined) await world.store.endParts([delivered(mended, messageId)], nine + hour);
    }
    await world.store.endParts([stuck(world, await aResult(world, first, nine + 4 * hour))], nine + hour);
    expect(await guidances(world)).toHaveLength(3);
  });

  test('a trouble that is over is news again, although another one lasts', async () => {
    const world = await open();
    const result = async () => aResult(world, await aReadyTask(world));
    await world.store.endParts([stuck(world, await result(), 'no_topic_right')], nine);
    await world.store.endParts([stuck(world, await result())], nine);
    await world.query(`update deliveries set status = 'failed' where kind = 'notice' or cause = 'topics_off'`);

    await world.store.endParts([delivered(await result())], nine);
    await world.store.endParts([stuck(world, await result(), 'no_topic_right')], nine);
    expect(await guidances(world)).toHaveLength(2);
    await world.store.endParts([stuck(world, await result())], nine);
    expect(await guidances(world)).toHaveLength(3);
  });

  test('words are said once for a chat and what they are about; a part that gets through makes what to mend news there', async () => {
    const world = await open();
    const tell = (word: Word, address = '-100') =>
      world.store.tellOnce(word, aMessage(world, { kind: 'notice', thread: threadOf(address) }), nine);
    const trouble: Word = { word: 'blocked', reason: 'other', about: '' };
    const told = async () => [await tell(trouble), await tell({ word: 'not_pinned' }), await tell(trouble, '-5')];
    expect(await told()).toEqual([true, true, true]);
    expect(await told()).toEqual([false, false, false]);
    expect(await outbox(world, 'id')).toHaveLength(3);
    await world.query(`update deliveries set status = 'failed'`);
    await world.store.endParts([delivered(await aResult(world, await aReadyTask(world)))], nine);
    expect(await told()).toEqual([true, false, false]);
  });

  test('a card that cannot be pinned is told once in a chat; other words about a failure once for each part', async () => {
    const world = await open();
    const fail = async (shown: 'notPinned' | 'words') => {
      const part = await aResult(world, await aReadyTask(world));
      const guidance = aMessage(world, {
        kind: 'notice',
        shown: shown === 'words' ? { text: 'no' } : { view: 'notPinned' },
      });
      await world.store.endParts([refused(part, { guidance })], nine);
      await world.query(`update deliveries set status = 'failed' where kind = 'notice'`);
    };
    await fail('notPinned');
    await fail('notPinned');
    expect(await guidances(world)).toHaveLength(1);
    await fail('words');
    await fail('words');
    expect(await guidances(world)).toHaveLength(3);
  });

  test('a person is asked each time that nobody knows whether a part arrived', async () => {
    const world = await open();
    const part = await aResult(world, await aReadyTask(world));
    const shown = { view: 'inDoubt', deliveryId: part.id, sentAt: nine } as const;
    const ask = (one: Pick<OutboxPart, 'id' | 'fence'>) => lost(one, null, aMessage(world, { kind: 'notice', shown }));
    await world.store.endParts([ask(part)], nine);
    await world.store.settleByHand(part.id, false, nine);
    const [second] = (await claimParts(world)).filter(({ id }) => id === part.id);
    await world.query(`update deliveries set status = 'failed' where kind = 'notice'`);
    const resent = second ?? (await results(world))[0];
    if (resent === undefined) throw new Error('the part is needed');
    await world.store.endParts([ask(resent)], nine);

    expect(await guidances(world)).toHaveLength(2);
  });

  test('an answer that is delivered does not show that anything was mended', async () => {
    const world = await open();
    const [first, second] = [await aReadyTask(world), await aReadyTask(world)];
    await world.store.endParts([stuck(world, await aResult(world, first))], nine);
    await world.store.endParts([delivered(await nextPart(world))], nine);
    await world.store.endParts([stuck(world, await aResult(world, second))], nine);

    expect(await guidances(world)).toHaveLength(1);
  });
}

/** Parts of which nobody knows whether they arrived. */
export function doubtTests(open: OpenWorld): void {
  test('a send after one that got no answer says so, until something settles that', async () => {
    const { world, task } = await withReadyTask(open);
    const first = await aResult(world, task);
    expect([first.isResent, first.doubtSince]).toEqual([false, null]);
    await world.store.endParts([lost(first)], nine);
    const [look] = await results(world, nine + 2 * minute);
    expect(look).toMatchObject({ status: 'unknown', isResent: false, doubtSince: nine + minute });
    await world.store.endParts([putOff(look ?? first, { unsent: false, inDoubt: true })], nine);

    const [second] = await results(world, nine + 3 * minute);
    expect(second).toMatchObject({ status: 'sending', isResent: true, doubtSince: nine + minute, sends: 2 });
    await world.store.endParts([lost(second ?? first)], nine);
    const [lookAgain] = await results(world, nine + 4 * minute);
    expect(lookAgain).toMatchObject({ status: 'unknown', isResent: true, doubtSince: nine + minute });
    await world.store.endParts([putOff(lookAgain ?? first, { unsent: false, inDoubt: false })], nine);
    expect(await results(world, nine + 5 * minute)).toMatchObject([{ isResent: false, doubtSince: null }]);
  });

  test('a part that a person has seen ends, without counting as delivered', async () => {
    const world = await open();
    const part = await aResult(world, await aReadyTask(world));
    expect(await world.store.settleByHand(part.id, true, nine)).toBe(false);
    await world.store.endParts([lost(part, null)], nine);

    expect(await world.store.settleByHand(part.id, true, nine + hour)).toBe(true);
    expect(await world.store.settleByHand(part.id, false, nine + hour)).toBe(false);
    expect(await outbox(world, 'status, error', `id = '${part.id}'`)).toEqual([
      { status: 'failed', error: 'unconfirmed: a person says that it arrived' },
    ]);
  });

  test('a part that a person misses is sent again, and a look that is under way has nothing more to say', async () => {
    const world = await open();
    const part = await aResult(world, await aReadyTask(world));
    await world.store.endParts([lost(part)], nine);
    const [look] = await results(world, nine + minute);
    expect(await world.store.settleByHand(part.id, false, nine + minute)).toBe(true);
    expect(await world.store.endParts([delivered(look ?? part)], nine)).toBe(0);

    expect(await results(world)).toMatchObject([{ id: part.id, status: 'sending', isResent: false, doubtSince: null }]);
  });

  test('what is blocked is looked at again, in one chat, of one task, or everywhere', async () => {
    const world = await open();
    const [here, beside] = [await aReadyTask(world), await aReadyTask(world)];
    const there = await aReadyTask(world, { home: threadOf('-5') });
    for (const task of [here, beside, there]) {
      await show(world, task, [world.make.part(), world.make.part({ part: 2 })]);
    }
    await world.query(`update deliveries set status = 'blocked', ready_at = ?i where part = 1`, nine + hour);
    const retry = (chatId: string | null, taskId: string | null) =>
      world.store.retryBlocked({ chatId, taskId, inDoubt: false }, nine);

    expect(await retry(null, here.id)).toBe(1);
    expect(await retry(here.chatId, null)).toBe(1);
    expect(await retry(null, null)).toBe(1);
    expect(await retry(null, null)).toBe(0);
    expect(await results(world)).toHaveLength(2);
  });

  test('a topic that may exist is made when a person says so, and not before', async () => {
    const world = await open();
    const task = await aTask(world);
    await show(world, task, [world.make.part()]);
    const [part] = await results(world);
    await world.store.beginTopic({ taskId: task.id, name: 'x' }, bootId, nine);
    await world.store.endTopic({ taskId: task.id, state: 'blocked', cause: 'topic_in_doubt' });
    await world.store.endParts([stuck(world, part ?? { id: '', fence: 0 }, 'topic_in_doubt')], nine);
    const retry = (inDoubt: boolean) => world.store.retryBlocked({ chatId: task.chatId, taskId: null, inDoubt }, nine);

    expect(await retry(false)).toBe(0);
    expect(await world.store.readTask(task.id)).toMatchObject({ topicState: 'blocked' });
    expect(await retry(true)).toBe(1);
    const [again] = await results(world);
    // Since when it was asked for is kept, so that it is looked for once more before another one is made.
    expect(again?.topic).toMatchObject({ state: 'blocked', cause: null, askedAt: nine, askedName: 'x' });
    expect(await world.store.beginTopic({ taskId: task.id, name: 'x' }, bootId, nine + minute)).toBe(true);
  });
}

/** What is known of the messages of a chat. */
export function traceTests(open: OpenWorld): void {
  const told = (id: number, messageId: number | null, address = '-100', payload = '{}'): NewUpdate => ({
    id,
    payload,
    address,
    messageId,
    lane: null,
  });

  test('the last message that existed before an instant is told by updates and by sends', async () => {
    const world = await open();
    expect(await world.store.lastMessageBefore('-100', nine)).toBeNull();
    await world.store.receiveUpdates([told(1, 40), told(2, 41), told(3, 900, '-5'), told(4, null)], nine);
    await world.store.receiveUpdates([told(5, 44)], nine + hour);
    const part = await aResult(world, await aReadyTask(world));
    await world.store.endParts([delivered(part, 43)], nine + minute);

    const at = (now: number) => world.store.lastMessageBefore('-100', now);
    expect(await at(nine - 1)).toBeNull();
    // Nothing older is known, so one of the same instant is better than none.
    expect(await at(nine)).toBe(41);
    expect([await at(nine + minute), await at(nine + minute + 1)]).toEqual([41, 43]);
    expect([await at(nine + hour), await at(nine + hour + 1)]).toEqual([43, 44]);
  });

  test('messages after one that an update or a send explains are told in order, each once', async () => {
    const world = await open();
    await world.store.receiveUpdates([told(1, 44), told(2, 41), told(3, 44), told(4, 42, '-5')], nine);
    const part = await aResult(world, await aReadyTask(world));
    await world.store.endParts([delivered(part, 43)], nine);

    expect(await world.store.explainedAfter('-100', 41, 9)).toEqual([43, 44]);
    expect(await world.store.explainedAfter('-100', 40, 2)).toEqual([41, 43]);
    expect(await world.store.explainedAfter('-100', 44, 9)).toEqual([]);
  });

  test('other parts of the chat that are in doubt are told, the oldest send first', async () => {
    const world = await open();
    const parts: OutboxPart[] = [];
    for (const now of [nine + 2 * minute, nine + minute]) {
      const part = await aResult(world, await aReadyTask(world), now);
      await world.store.endParts([lost(part, null)], nine);
      parts.push(part);
    }
    await world.store.addMessages([aMessage(world, { thread: threadOf('-100', 5) })], nine);
    const answer = await nextPart(world);
    await world.store.endParts([lost(answer, null)], nine);

    expect(await world.store.unknownParts('-100', parts[0]?.id ?? '')).toEqual([
      {
        deliveryId: parts[1]?.id,
        topic: 77,
        shown: { text: 'Water the plants.' },
        taskId: parts[1]?.taskId,
        sentAt: nine + minute,
      },
      { deliveryId: answer.id, topic: 5, shown: { text: 'Here you are.' }, taskId: null, sentAt: nine + minute },
    ]);
    expect(await world.store.unknownParts('-5', '')).toEqual([]);
  });

  test('topics that a bot made since an instant and that belong to no task are found by their name', async () => {
    const world = await open();
    await aReadyTask(world);
    const made = (id: number, facts: { topic?: number; name?: string; bot?: boolean; chat?: number } = {}) => {
      const { topic = 100 + id, name = 'Plants', bot = true, chat = -100 } = facts;
      const message = {
        message_id: topic,
        message_thread_id: topic,
        chat: { id: chat },
        from: { is_bot: bot },
        forum_topic_created: { name },
      };
      return told(id, topic, String(chat), JSON.stringify({ update_id: id, message }));
    };
    await world.store.receiveUpdates([made(1)], nine - 1);
    await world.store.receiveUpdates(
      [made(2), made(3, { name: 'Other' }), made(4, { bot: false }), made(5, { chat: -5 }), made(6, { topic: 77 })],
      nine,
    );
    await world.store.receiveUpdates([made(7), told(8, 9, '-100', '{"forum_topic_created":')], nine + minute);

    expect(await world.store.orphanTopics('-100', 'Plants', nine)).toEqual([
      { topicId: 102, at: nine },
      { topicId: 107, at: nine + minute },
    ]);
  });

  test('holds last until their end, the later one of two, over a restart and a clock that is set back', async () => {
    const world = await open();
    const { id } = await aChat(world);
    await world.store.writeHold(id, nine + minute, nine);
    await world.store.writeHold(id, nine + 1000, nine);
    await world.store.writeHold(null, nine + hour, nine);

    const byChat = (found: Awaited<ReturnType<typeof world.store.readHolds>>) =>
      found.toSorted((a, b) => a.until - b.until);
    expect(byChat(await world.store.readHolds(nine))).toEqual([
      { chatId: id, until: nine + minute },
      { chatId: null, until: nine + hour },
    ]);
    expect(await world.store.readHolds(nine + minute)).toEqual([{ chatId: null, until: nine + hour }]);
    await world.store.setBack({ id: 'back', byMs: -hour, twice: { from: nine, to: nine } });
    expect(await world.store.readHolds(nine - hour + minute)).toEqual([{ chatId: null, until: nine }]);
  });

  test('what was sent lately, and which topics were asked for, is told by chat', async () => {
    const world = await open();
    const task = await aTask(world);
    await world.store.addMessages([aMessage(world), aMessage(world, { thread: threadOf('-5') })], nine);
    await claimParts(world, { now: nine });
    await world.store.beginTopic({ taskId: task.id, name: 'x' }, bootId, nine + minute);
    await world.store.endTopic({ taskId: task.id, state: 'none', lost: null, at: 0 });
    const other = await world.store.findChat('-5');

    expect(await world.store.sentSince(nine)).toHaveLength(3);
    expect(await world.store.sentSince(nine)).toContainEqual({
      chatId: other?.id,
      address: '-5',
      at: nine,
      messages: 1,
    });
    expect(await world.store.sentSince(nine + 1)).toEqual([
      { chatId: task.chatId, address: '-100', at: nine + minute, messages: 1 },
    ]);
  });

  test('results that wait for the platform are counted for a chat, those that wait for a person are not', async () => {
    const world = await open();
    const task = await aTask(world);
    await show(world, task, [world.make.part(), world.make.part({ part: 2 }), world.make.part({ part: 3 })]);
    const [first] = await outbox<{ id: string; created_at: number }>(world, 'id, created_at', `status = 'pending'`);
    const at = first?.created_at ?? 0;

    expect(await world.store.waitingResults(task.chatId, at)).toEqual({
      count: 3,
      oldestAt: at,
      thread: threadOf('-100'),
    });
    expect(await world.store.waitingResults(task.chatId, at - 1)).toBeNull();
    await world.query(`update deliveries set status = 'blocked' where id = '${first?.id}'`);
    expect(await world.store.waitingResults(task.chatId, at)).toMatchObject({ count: 2 });
    expect(await world.store.waitingResults('another', at)).toBeNull();
  });
}
