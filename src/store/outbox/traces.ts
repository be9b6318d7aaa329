import type { ChatStore, UnknownPart } from '../../app/ports/chats.ts';
import { findChat, telegram } from '../chats/rows.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { shownOf } from './part-rows.ts';

type Traces = Pick<ChatStore, 'lastMessageBefore' | 'explainedAfter' | 'unknownParts' | 'orphanTopics'>;

/** What is known of the messages of a chat, by the updates that came and by what was sent. */
export function traceStore(engine: Engine): Traces {
  return {
    lastMessageBefore: (address, at) => engine.transact(() => lastMessageBefore(address, at)),
    explainedAfter: (address, messageId, limit) => engine.transact(() => explainedAfter({ address, messageId, limit })),
    unknownParts: (address, except) => engine.transact(() => unknownParts(address, except)),
    orphanTopics: (address, name, since) => engine.transact(() => orphanTopics({ address, name, since })),
  };
}

/** What is known since the very same millisecond may have come after the call that left in it, so it is the last resort. */
function* lastMessageBefore(address: string, at: number): Script<number | null> {
  return (yield* lastMessageBy(address, at - 1)) ?? (yield* lastMessageBy(address, at));
}

/** Each side walks down from the highest id and stops at the first that is old enough. */
function* lastMessageBy(address: string, at: number): Script<number | null> {
  const told = yield* row<{ id: number }>(
    `select message_id as id from inbox where address = ?t and message_id is not null and message_id > 0 and received_at <= ?i
     order by message_id desc limit 1`,
    address,
    at,
  );
  const sent = yield* row<{ id: number }>(
    // A message that one person alone sees has the number 0, and says nothing of where the chat is.
    `select message_id as id from deliveries where platform_chat_id = ?t and message_id is not null and message_id > 0
       and delivered_at <= ?i order by message_id desc limit 1`,
    address,
    at,
  );
  const known = [told, sent].flatMap((one) => one?.id ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

interface After {
  readonly address: string;
  readonly messageId: number;
  readonly limit: number;
}

/** A change of a message, asked for by a press on it, does not tell which send it came from: that one may be in doubt. */
function* explainedAfter({ address, messageId, limit }: After): Script<number[]> {
  const found = yield* rows<{ id: number }>(
    `select message_id as id from inbox where address = ?t and message_id > ?i
     union
     select message_id as id from deliveries where platform_chat_id = ?t and message_id > ?i and edits is null
     order by id limit ?i`,
    address,
    messageId,
    address,
    messageId,
    limit,
  );
  return found.map(({ id }) => id);
}

interface UnknownRow {
  readonly id: string;
  readonly task_id: string | null;
  readonly content: string;
  readonly sent_at: number;
  readonly topic: number | null;
}

function* unknownParts(address: string, except: string): Script<UnknownPart[]> {
  const chat = yield* findChat({ provider: telegram, address });
  if (chat === undefined) return [];
  const found = yield* rows<UnknownRow>(
    `select d.id, d.task_id, d.content, coalesce(d.doubted_at, d.sent_at, d.created_at) as sent_at,
       case when d.goes_to = 'thread' then d.to_topic else t.topic_id end as topic
     from deliveries d left join tasks t on t.id = d.task_id
     where d.status = 'unknown' and d.chat_id = ?t and d.id <> ?t order by sent_at, d.id`,
    chat.id,
    except,
  );
  return found.flatMap(({ id, task_id: taskId, topic, sent_at: sentAt, content }) => {
    const shown = shownOf(content);
    return shown === null ? [] : [{ deliveryId: id, topic, shown, taskId, sentAt }];
  });
}

interface Orphans {
  readonly address: string;
  readonly name: string;
  readonly since: number;
}

type Orphan = Awaited<ReturnType<ChatStore['orphanTopics']>>[number];

function* orphanTopics({ address, name, since }: Orphans): Script<Orphan[]> {
  const told = yield* rows<{ payload: string; received_at: number }>(
    `select payload, received_at from inbox
     where address = ?t and message_id is not null and received_at >= ?i and payload like '%forum_topic_created%'
     order by update_id`,
    address,
    since,
  );
  const made = told.flatMap(({ payload, received_at: at }) => {
    const topicId = topicMadeIn(payload, address, name);
    return topicId === null ? [] : [{ topicId, at }];
  });
  const orphans: Orphan[] = [];
  for (const one of made) if (!(yield* isTaken(address, one.topicId))) orphans.push(one);
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
  const { message } = readUpdate(payload);
  if (message?.from?.is_bot !== true || String(message.chat?.id) !== address) return null;
  return message.forum_topic_created?.name === name ? (message.message_thread_id ?? null) : null;
}

function readUpdate(payload: string): TopicUpdate {
  try {
    const update = JSON.parse(payload) as TopicUpdate | null;
    return update ?? {};
  } catch {
    // What cannot be read tells of no topic; handling the update has reported it.
    return {};
  }
}

function* isTaken(address: string, topicId: number): Script<boolean> {
  const task = yield* row(
    `select t.id from chat_aliases a join tasks t on t.chat_id = a.chat_id
     where a.provider = 'telegram' and a.address = ?t and t.topic_id = ?i limit 1`,
    address,
    topicId,
  );
  return task !== undefined;
}
