import type { ChatStore, FoundByPress, UnknownPart } from '../../app/ports/chats.ts';
import { findChat, telegram } from '../chats/rows.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, mapped, pick } from '../engine/fields.ts';
import { limit as limited, raw, sql } from '../engine/sql.ts';
import { all, one, select, updateReturning } from '../engine/statements.ts';
import { tellEvents } from '../records/journal.ts';
import { shownOf } from './part-rows.ts';

/** Traces of the messages of a chat, in the updates that came, in what was sent, and in what is pressed. */
export const traceStore = { lastMessageBefore, explainedAfter, unknownParts, orphanTopics, isTopicTaken, foundByPress };

/** A message of the very same millisecond may have come after the call that left in it, so it is the last resort. */
function* lastMessageBefore(address: string, at: number): Script<number | null> {
  return (yield* lastMessageBy(address, at - 1)) ?? (yield* lastMessageBy(address, at));
}

const { inbox, deliveries } = columns;
const a = columnsOf('albumMessages', 'a');

/** Each side walks down from the highest id and stops at the first that is old enough. */
function* lastMessageBy(address: string, at: number): Script<number | null> {
  const told = yield* one(
    select(pick(inbox, 'messageId'))`from inbox
      where address = ${address} and message_id is not null and message_id > 0 and received_at <= ${at}
      order by message_id desc limit 1`,
  );
  const sent = yield* one(
    // A message that one person alone sees has the number 0, and says nothing of where the chat is.
    select(pick(deliveries, 'messageId'))`from deliveries
      where platform_chat_id = ${address} and message_id is not null and message_id > 0 and delivered_at <= ${at}
      order by message_id desc limit 1`,
  );
  const inAlbum = yield* one(
    select(pick(a, 'messageId'))`from album_messages a join deliveries d on d.id = a.delivery_id
      where a.platform_chat_id = ${address} and d.delivered_at <= ${at} order by a.message_id desc limit 1`,
  );
  const known = [told, sent, inAlbum].flatMap((found) => found?.messageId ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

const explainedFields = { id: like(columns.inbox.updateId, raw('message_id')) };

/** A change of a message, asked for by a press on it, does not tell which send it came from: that one may be in doubt. */
function* explainedAfter(address: string, messageId: number, limit: number): Script<number[]> {
  const found = yield* all(
    select(explainedFields)`from (
        select message_id from inbox where address = ${address} and message_id > ${messageId}
        union
        select message_id from deliveries where platform_chat_id = ${address} and message_id > ${messageId} and edits is null
        union
        select message_id from album_messages where platform_chat_id = ${address} and message_id > ${messageId}
      ) explained order by message_id ${limited(limit)}`,
  );
  return found.map(({ id }) => id);
}

const d = columnsOf('deliveries', 'd');

const unknownFields = {
  deliveryId: d.id,
  topic: like(d.toTopic, raw(`case when d.goes_to = 'thread' then d.to_topic else t.topic_id end`)),
  shown: mapped(d.content, shownOf),
  taskId: d.taskId,
  sentAt: like(d.createdAt, raw('coalesce(d.doubted_at, d.sent_at, d.created_at)')),
};

function* unknownParts(address: string, except: string): Script<UnknownPart[]> {
  const chat = yield* findChat({ provider: telegram, address });
  if (chat === undefined) return [];
  const found = yield* all(
    select(unknownFields)`from deliveries d left join tasks t on t.id = d.task_id
      where d.status = 'unknown' and d.chat_id = ${chat.id} and d.id <> ${except}
      order by coalesce(d.doubted_at, d.sent_at, d.created_at), d.id`,
  );
  return found.flatMap(({ shown, ...part }) => (shown === null ? [] : [{ ...part, shown }]));
}

type Orphan = Awaited<ReturnType<ChatStore['orphanTopics']>>[number];

function* orphanTopics(address: string, name: string, since: number): Script<Orphan[]> {
  const told = yield* all(
    select(pick(inbox, 'payload', 'receivedAt'))`from inbox
      where address = ${address} and message_id is not null and received_at >= ${since} order by update_id`,
  );
  const made = told.flatMap(({ payload, receivedAt: at }) => {
    const topicId = topicMadeIn(payload, address, name);
    return topicId === null ? [] : [{ topicId, at }];
  });
  const orphans: Orphan[] = [];
  for (const one of made) if (!(yield* isTopicTaken(address, one.topicId))) orphans.push(one);
  return orphans;
}

interface TopicUpdate {
  readonly message?: {
    readonly message_thread_id?: number;
    readonly chat?: { readonly id?: number };
    readonly from?: { readonly is_bot?: boolean };
    readonly forum_topic_created?: { readonly name?: string };
  };
}

/** The topic that a bot made in the chat under the name; messages in a topic carry the same words as what they answer. */
function topicMadeIn(payload: string, address: string, name: string): number | null {
  // Most updates tell of no topic, and are not taken apart.
  if (!payload.includes('forum_topic_created')) return null;
  const { message } = readUpdate(payload);
  if (message?.from?.is_bot !== true || String(message.chat?.id) !== address) return null;
  return message.forum_topic_created?.name === name ? (message.message_thread_id ?? null) : null;
}

function readUpdate(payload: string): TopicUpdate {
  try {
    const update = JSON.parse(payload) as TopicUpdate | null;
    return update ?? {};
  } catch {
    // An update that cannot be read tells of no topic; handling it has reported it.
    return {};
  }
}

function* isTopicTaken(address: string, topicId: number): Script<boolean> {
  const task = yield* one(
    select(pick(columnsOf('tasks', 't'), 'id'))`from chat_aliases a join tasks t on t.chat_id = a.chat_id
      where a.provider = ${telegram} and a.address = ${address} and t.topic_id = ${topicId} limit 1`,
  );
  // The shared topic is there also when nothing is left of the tasks whose results stand in it.
  return task !== undefined || (yield* findChat({ provider: telegram, address }))?.sharedTopic === topicId;
}

/** A send that is on its way may have arrived before its answer; of two sends nobody can tell which one was pressed. */
const doubtful = raw(`(status = 'unknown' or (status = 'sending' and sends = 1))`);

/**
 * The part that bears the buttons of a result, while nobody knows whether it arrived. What a button carries can be made up,
 * so the message must stand in the chat and the topic of its task, be one that no other send explains, and show the words of the part. Whoever waits for the answer, or looks
 * for evidence, loses the fence.
 */
function* foundByPress(found: FoundByPress): Script<boolean> {
  const { address, topic, messageId, taskId, occurrenceId, texts, at } = found;
  const part = yield* one(
    select(pick(deliveries, 'id', 'taskId', 'content'))`from deliveries
      where run_id = (select r.id from runs r join occurrences o on o.run_id = r.id
          where o.id = ${occurrenceId} and r.occurrence_id = o.id)
        and kind = 'result' and ${doubtful} and task_id = ${taskId} and exists (select 1 from tasks t
          join chats c on c.id = t.chat_id where t.id = task_id and c.address = ${address}
            and coalesce(case goes_to when 'thread' then to_topic else t.topic_id end, 0) = ${topic ?? 0})
      order by part desc limit 1`,
  );
  if (part === undefined || !texts.some((text) => textOf(part.content) === text)) return false;
  const explained = yield* one(
    select(pick(deliveries, 'id'))`from deliveries
      where platform_chat_id = ${address} and message_id = ${messageId} and message_id is not null and edits is null`,
  );
  if (explained !== undefined) return false;
  const settled = yield* updateReturning(
    'deliveries',
    {
      status: 'delivered',
      platformChatId: address,
      messageThreadId: topic,
      messageId,
      deliveredAt: at,
      evidence: JSON.stringify({ pressed: messageId }),
      error: null,
      cause: null,
      readyAt: null,
      doubtedAt: null,
      fence: raw('fence + 1'),
    },
    sql`id = ${part.id} and ${doubtful}`,
    pick(deliveries, 'id'),
  );
  if (settled.length === 0) return false;
  yield* tellEvents([{ kind: 'delivery.delivered', at, taskId: part.taskId, ref: part.id }]);
  return true;
}

function textOf(content: string): string | null {
  const shown = shownOf(content);
  return shown !== null && 'text' in shown ? shown.text : null;
}
