import { expect, test } from 'vitest';
import type { Draft, NewUpdate, UpdateEnd } from '../../../src/app/ports/chats.ts';
import { hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, aMessage, claimParts, outbox, owner, someone, threadOf, withTask } from '../scenes.ts';

function updates(...ids: number[]): NewUpdate[] {
  return ids.map((id) => ({ id, payload: `{"update_id":${id}}`, address: '-100', messageId: 10 + id, lane: null }));
}

function endOf(id: number, facts: Partial<UpdateEnd> = {}): UpdateEnd {
  return { id, status: 'done', error: null, messages: [], draft: null, at: nine, ...facts };
}

const draft = (chatId: string, facts: Partial<Draft> = {}): Draft => ({
  id: 'draft-1',
  chatId,
  userId: owner,
  topic: null,
  messageId: null,
  step: 'when',
  body: { text: 'water' },
  expiresAt: nine + hour,
  ...facts,
});

/** Updates of the platform, and what handling them brings. */
export function inboxTests(open: OpenWorld): void {
  test('updates are stored once, however often they come, and are open until they are done', async () => {
    const { store } = await open();
    expect(await store.receiveUpdates(updates(1, 2, 3), nine)).toBe(3);
    expect(await store.receiveUpdates(updates(3, 3, 4), nine + 1)).toBe(1);
    expect(await store.receiveUpdates(updates(1, 2), nine + 2)).toBe(0);

    expect(await store.openUpdates(0, 2)).toEqual([
      { id: 1, payload: '{"update_id":1}', attempts: 0, receivedAt: nine },
      { id: 2, payload: '{"update_id":2}', attempts: 0, receivedAt: nine },
    ]);
    expect((await store.openUpdates(2, 9)).map(({ id }) => id)).toEqual([3, 4]);
    await store.endUpdate(endOf(3));
    expect((await store.openUpdates(2, 9)).map(({ id }) => id)).toEqual([4]);
  });

  test('a number that comes again days later is another update, unless the one before is not done yet', async () => {
    const { store } = await open();
    await store.receiveUpdates(updates(7, 8), nine);
    await store.beginUpdate(7, 'boot');
    await store.endUpdate(endOf(7, { status: 'failed', error: 'no', bootId: 'boot' }));
    const other = updates(7, 8).map((update) => ({ ...update, payload: '{"other":1}', messageId: 99 }));

    expect(await store.receiveUpdates(other, nine + 47 * hour)).toBe(0);
    expect(await store.receiveUpdates(other, nine + 49 * hour)).toBe(1);
    expect(await store.openUpdates(0, 9)).toEqual([
      { id: 7, payload: '{"other":1}', attempts: 0, receivedAt: nine + 49 * hour },
      { id: 8, payload: '{"update_id":8}', attempts: 0, receivedAt: nine },
    ]);
  });

  test('attempts are counted before they are made, and not of an update that is done', async () => {
    const { store } = await open();
    await store.receiveUpdates(updates(1), nine);

    expect([await store.beginUpdate(1, 'boot'), await store.beginUpdate(1, 'boot')]).toEqual([1, 2]);
    expect(await store.openUpdates(0, 1)).toMatchObject([{ attempts: 2 }]);
    await store.endUpdate(endOf(1, { bootId: 'boot' }));
    expect([await store.beginUpdate(1, 'boot'), await store.beginUpdate(2, 'boot')]).toEqual([0, 0]);
  });

  test('an update is done once, together with its answers and its draft; again nothing of it is written', async () => {
    const world = await open();
    const chat = await aChat(world);
    await world.store.receiveUpdates(updates(1), nine);
    const message = aMessage(world, { thread: threadOf('-100', 5), edits: 31, expiresAt: nine + hour });
    const end = endOf(1, { messages: [message], draft: { is: 'put', draft: draft(chat.id) } });

    expect(await world.store.endUpdate(end)).toBe(true);
    expect(
      await world.store.endUpdate({ ...end, messages: [aMessage(world)], draft: { is: 'drop', draftId: 'draft-1' } }),
    ).toBe(false);
    expect(await world.store.readDraft('draft-1')).toEqual(draft(chat.id));
    expect(await claimParts(world, { now: nine })).toMatchObject([
      {
        id: message.id,
        kind: 'answer',
        status: 'sending',
        taskId: null,
        shown: message.shown,
        edits: 31,
        expiresAt: nine + hour,
        route: { provider: 'telegram', address: '-100', topic: 5 },
        topic: null,
        home: null,
      },
    ]);
    expect(await outbox(world, 'id')).toHaveLength(1);
  });

  test('of the changes of a message that wait, the last one goes out, and none that is on its way is lost', async () => {
    const world = await open();
    await aChat(world);
    const edit = (edits: number | null, topic = 5) => aMessage(world, { thread: threadOf('-100', topic), edits });
    const [sent, waiting] = [edit(31), edit(31)];
    await world.store.addMessages([sent], nine);
    expect(await claimParts(world, { now: nine })).toMatchObject([{ id: sent.id }]);
    const others = [edit(32), edit(31, 6), edit(null)];
    const last = edit(31);
    await world.store.addMessages([waiting, ...others, last], nine);
    expect(await outbox(world, 'id')).toEqual([sent, ...others, last].map(({ id }) => ({ id })));
  });

  test('an update that failed keeps its reason', async () => {
    const world = await open();
    await world.store.receiveUpdates(updates(1), nine);
    await world.store.endUpdate(endOf(1, { status: 'failed', error: 'it broke', at: nine + minute }));

    expect(await world.query('select status, error, done_at from inbox')).toEqual([
      { status: 'failed', error: 'it broke', done_at: nine + minute },
    ]);
  });
}

/** Drafts: a task being made. */
export function draftTests(open: OpenWorld): void {
  const put = async ({ store }: World, id: number, one: Draft, drops?: string) => {
    await store.receiveUpdates(updates(id), nine);
    await store.endUpdate(endOf(id, { draft: { is: 'put', draft: one, drops } }));
  };

  test('the newest draft of a person in a thread is open, and the others stay but for the one whose place it takes', async () => {
    const world = await open();
    const { id: chatId } = await aChat(world);
    await put(world, 1, draft(chatId));
    await put(world, 2, draft(chatId, { id: 'elsewhere', topic: 5 }));
    await put(world, 3, draft(chatId, { id: 'another', userId: someone }));
    await put(world, 4, draft(chatId, { id: 'draft-2' }));
    await put(world, 5, draft(chatId, { id: 'draft-3', step: 'zone' }), 'draft-2');

    expect(await world.store.readDraft('draft-1')).not.toBeNull();
    expect(await world.store.readDraft('draft-2')).toBeNull();
    expect(await world.store.openDraft(chatId, owner, null, nine)).toMatchObject({ id: 'draft-3', step: 'zone' });
    expect(await world.store.openDraft(chatId, owner, 5, nine)).toMatchObject({ id: 'elsewhere' });
    expect(await world.store.openDraft(chatId, someone, null, nine)).toMatchObject({ id: 'another' });
    expect(await world.store.openDraft(chatId, someone, 5, nine)).toBeNull();
  });

  test('a draft is found by the message that began it, also after a step that was pressed', async () => {
    const world = await open();
    const { id: chatId } = await aChat(world);
    await put(world, 1, draft(chatId, { messageId: 8 }));
    await put(world, 2, draft(chatId, { messageId: null, step: 'time' }));

    expect(await world.store.draftOfWords(chatId, owner, 8)).toMatchObject({
      id: 'draft-1',
      messageId: 8,
      step: 'time',
    });
    expect(await world.store.draftOfWords(chatId, someone, 8)).toBeNull();
    expect(await world.store.draftOfWords(chatId, owner, 9)).toBeNull();
  });

  test('a draft goes on step by step, expires, and is dropped', async () => {
    const world = await open();
    const { id: chatId } = await aChat(world);
    await put(world, 1, draft(chatId));
    await put(world, 2, draft(chatId, { step: 'done', body: { text: 'milk' }, expiresAt: nine + minute }));

    expect(await world.store.openDraft(chatId, owner, null, nine)).toMatchObject({
      step: 'done',
      body: { text: 'milk' },
    });
    expect(await world.store.openDraft(chatId, owner, null, nine + minute)).toBeNull();
    await world.store.receiveUpdates(updates(3), nine);
    await world.store.endUpdate(endOf(3, { draft: { is: 'drop', draftId: 'draft-1' } }));
    expect(await world.store.readDraft('draft-1')).toBeNull();
  });
}

/** Messages without a run. */
export function messageTests(open: OpenWorld): void {
  test('an answer goes where the person is, at once, whatever the topic of its task is doing', async () => {
    const { world, task } = await withTask(open);
    await world.store.addMessages([aMessage(world, { taskId: task.id })], nine);

    expect(await claimParts(world, { now: nine })).toMatchObject([
      { taskId: task.id, status: 'sending', topic: null, route: { topic: null }, home: threadOf('-100') },
    ]);
  });

  test('an answer goes before a notice of the same thread, and does not wait for one that is held back', async () => {
    const world = await open();
    const [notice, answer] = [aMessage(world, { kind: 'notice' }), aMessage(world)];
    await world.store.addMessages([notice, answer], nine);
    await world.query(`update deliveries set status = 'blocked', ready_at = ?i where id = ?t`, nine + hour, notice.id);

    expect(await claimParts(world, { now: nine })).toMatchObject([{ id: answer.id, kind: 'answer' }]);
  });

  test('answers of one thread go out in order, those of another one do not wait for them', async () => {
    const world = await open();
    const messages = [aMessage(world), aMessage(world), aMessage(world, { thread: threadOf('-100', 5) })];
    await world.store.addMessages(messages, nine);
    await world.query(
      `update deliveries set status = 'blocked', ready_at = ?i where id = ?t`,
      nine + hour,
      messages[0]?.id ?? '',
    );

    expect(await claimParts(world, { now: nine })).toMatchObject([{ id: messages[2]?.id }]);
    expect(await claimParts(world, { now: nine })).toEqual([]);
  });

  test('a message to a chat that nobody knows makes its chat, and one to nowhere is not kept', async () => {
    const world = await open();
    await world.store.addMessages(
      [
        aMessage(world, { thread: threadOf('55') }),
        aMessage(world, { thread: { provider: 'cli', address: 'x', topic: null } }),
      ],
      nine,
    );

    expect(await claimParts(world, { now: nine })).toMatchObject([{ route: { address: '55' } }]);
    expect(await outbox(world, 'id')).toHaveLength(1);
    expect(await world.store.findChat('55')).toMatchObject({ state: 'new' });
  });
}
