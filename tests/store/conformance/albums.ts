import { expect, test } from 'vitest';
import type { Shown } from '../../../src/domain/shown.ts';
import { bootId, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, delivered, nextPart, show, withReadyTask } from '../scenes.ts';
import { count, prune, ran } from './retention.ts';

const item = { kind: 'photo', fileId: 'AgAC', caption: 'one' } as const;
const album: Shown = { text: '', album: [item, item, item] };

const ids = { chatId: '-100', threadId: 77, messageId: 501, more: [502, 504] };

/** A result whose three photos stand in their topic. */
async function delivery(open: OpenWorld) {
  const { world, task } = await withReadyTask(open);
  await show(world, task, [world.make.part({ content: album })]);
  const part = await nextPart(world);
  await world.store.endParts([delivered(part, 501, { ids })], nine + minute);
  return { world, task, part };
}

const messagesOf = (world: World) =>
  world.query('select position, chat_id, platform_chat_id, message_id from album_messages order by position');

/** Messages of albums: each is known as ours, by its own number. */
export function albumTests(open: OpenWorld): void {
  test('all ids of an album are kept with its end, and are of its chat', async () => {
    const { world, task, part } = await delivery(open);
    const place = { chat_id: task.chatId, platform_chat_id: '-100' };
    expect(await messagesOf(world)).toEqual([
      { ...place, position: 2, message_id: 502 },
      { ...place, position: 3, message_id: 504 },
    ]);
    expect(await world.query('select status, message_id, messages from deliveries where id = ?t', part.id)).toEqual([
      { status: 'delivered', message_id: 501, messages: 3 },
    ]);
    // A second word about it changes nothing.
    await world.store.endParts([delivered(part, 601, { ids: { ...ids, messageId: 601, more: [602] } })], nine);
    expect(await messagesOf(world)).toHaveLength(2);
  });

  test('its run is told with the numbers of all of them', async () => {
    const { world, part } = await delivery(open);
    const run = await world.store.readRun(part.runId ?? '');
    expect(run?.deliveries).toMatchObject([{ messageId: 501, messageIds: [501, 502, 504] }]);
  });

  test('any message of an album tells of its task and its run', async () => {
    const { world, task, part } = await delivery(open);
    for (const messageId of [501, 502, 504])
      expect(await world.store.messageAt('-100', messageId)).toMatchObject({ deliveryId: part.id, taskId: task.id });
    expect(await world.store.messageAt('-100', 503)).toBeNull();
    expect(await world.store.messageAt('-200', 502)).toBeNull();
  });

  test('the messages of an album are explained, and its last one says how far the chat has come', async () => {
    const { world } = await delivery(open);
    expect(await world.store.explainedAfter('-100', 500, 10)).toEqual([501, 502, 504]);
    expect(await world.store.explainedAfter('-100', 502, 10)).toEqual([504]);
    expect(await world.store.lastMessageBefore('-100', nine + hour)).toBe(504);
    expect(await world.store.lastMessageBefore('-100', nine)).toBeNull();
  });

  test('an album counts as all of its messages in what was sent, before its end and after it', async () => {
    const { world, task } = await withReadyTask(open);
    await show(world, task, [world.make.part({ content: album })]);
    const part = await nextPart(world);
    const sent = async () => (await world.store.sentSince(nine + 1)).map(({ messages }) => messages);
    expect(await sent()).toEqual([3]);
    // One of them was refused.
    await world.store.endParts([delivered(part, 501, { ids: { ...ids, more: [502] } })], nine + minute);
    expect(await sent()).toEqual([2]);
  });

  test('they come along where two chats become one', async () => {
    const { world, task } = await delivery(open);
    const young = await aChat(world, '-100777');
    await world.query('update album_messages set chat_id = ?t where position = 3', young.id);
    await world.store.moveChat('-100', '-100777', nine);
    const chats = (await messagesOf(world)).map((row) => row['chat_id']);
    expect(chats).toEqual([task.chatId, task.chatId]);
  });

  test('an album of which an id is missing is found by the audit', async () => {
    const { world, part } = await delivery(open);
    const audit = async () => {
      const at = { table: 'deliveries', below: null, limit: 10, now: nine + hour, bootId } as const;
      return (await world.store.auditPage(at)).found.filter(({ check }) => check === 'delivered_without_id');
    };
    expect(await audit()).toEqual([]);
    await world.query('delete from album_messages where position = 3');
    expect(await audit()).toEqual([{ check: 'delivered_without_id', ids: [part.id] }]);
  });

  test('they go with their delivery, whether that goes by itself or with its run', async () => {
    const { world } = await withReadyTask(open);
    await ran(world, 12);
    await world.query(
      `insert into album_messages (delivery_id, position, chat_id, platform_chat_id, message_id)
        select id, 2, chat_id, '-100', 2 from deliveries where kind = 'result'`,
    );
    await prune(world, 'occurrences');
    expect(await count(world, 'album_messages')).toBe(10);
    await world.query(`update deliveries set run_id = null where kind = 'result'`);
    await prune(world, 'deliveries');
    expect(await count(world, 'album_messages')).toBe(0);
  });
}
