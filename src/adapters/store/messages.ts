import type { ChatStore, MessageAbout, NewMessage } from '../../app/chat-store.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import { isDeliverable } from '../../domain/thread.ts';
import { chatOf, findChat, telegram } from './chat-rows.ts';
import { row, rows, write, type Engine, type Script } from './engine.ts';

/** Messages that belong to no run, and which words were said already. */
export function messageStore(engine: Engine): Pick<ChatStore, 'addMessages' | 'tellOnce' | 'forgetTold' | 'messageAt'> {
  return {
    addMessages: (messages, at) => engine.transact(() => insertMessages(messages, at)),
    tellOnce: (key, message, at) => engine.transact(() => tellOnce(key, message, at)),
    messageAt: (address, messageId) => engine.transact(() => messageAt(address, messageId)),
    forgetTold: (address, keyPrefix) => engine.transact(() => forgetTold(address, keyPrefix)),
  };
}

/**
 * Answers and notices of a thread are served in lanes of their own, so that nobody waits for the answer to a press because
 * some notice cannot be sent.
 */
export function* insertMessages(messages: readonly NewMessage[], at: number): Script<void> {
  for (const message of messages) {
    // What is delivered nowhere has nobody to read it.
    if (!isDeliverable(message.thread)) continue;
    const { id: chatId } = yield* chatOf(message.thread, message.id, at);
    yield* insertMessage(message, chatId, at);
  }
}

function* insertMessage(message: NewMessage, chatId: string, at: number): Script<void> {
  const { id, kind, thread, taskId, shown, edits, expiresAt } = message;
  yield* write(
    `insert into deliveries (id, task_id, chat_id, lane, rank, kind, part, status, ready_at, content, unknown_policy,
       expires_at, fence, sends, put_offs, settles, created_at, goes_to, to_topic, edits, silent, only_for)
     values (?t, ?t, ?t, ?t, ?i, ?t, 1, 'pending', ?i, ?t, 'resend', ?i, 0, 0, 0, 0, ?i, 'thread', ?i, ?i, ?i, ?t)`,
    id,
    taskId,
    chatId,
    // What is removed is so when what was said before it has been said.
    `${kind === 'notice' ? kind : 'answer'}:${chatId}:${thread.topic ?? ''}`,
    kind === 'notice' ? outboxRanks.result : outboxRanks.answer,
    kind,
    message.readyAt ?? at,
    JSON.stringify(shown),
    expiresAt,
    at,
    thread.topic,
    edits,
    message.silent === true ? 1 : 0,
    message.onlyFor === undefined ? null : JSON.stringify(message.onlyFor),
  );
}

/** A card, a result and a word about a task name it, and an answer to a person names none. */
function* messageAt(address: string, messageId: number): Script<MessageAbout | null> {
  const found = yield* row<MessageAbout>(
    `select d.id as "deliveryId", d.task_id as "taskId", d.run_id as "runId", r.occurrence_id as "occurrenceId"
     from deliveries d left join runs r on r.id = d.run_id
     where d.platform_chat_id = ?t and d.message_id = ?i and d.message_id is not null and d.message_id > 0
     order by d.id limit 1`,
    address,
    messageId,
  );
  return found ?? null;
}

export function toldScope(chatId: string): string {
  return `told:${chatId}`;
}

export function* tellOnce(key: string, message: NewMessage, at: number): Script<boolean> {
  if (!isDeliverable(message.thread)) return false;
  const { id: chatId } = yield* chatOf(message.thread, message.id, at);
  const isNew = yield* rows(
    `insert into kv (scope, key, value, updated_at) values (?t, ?t, '', ?i) on conflict (scope, key) do nothing returning key`,
    toldScope(chatId),
    key,
    at,
  );
  if (isNew.length === 0) return false;
  yield* insertMessage(message, chatId, at);
  return true;
}

function* forgetTold(address: string, keyPrefix: string): Script<void> {
  const chat = yield* findChat({ provider: telegram, address });
  if (chat !== undefined) yield* forgetToldOf(chat.id, keyPrefix);
}

/** What begins with one of the kept prefixes stays told. */
export function* forgetToldOf(chatId: string, keyPrefix: string, kept: readonly string[] = []): Script<void> {
  yield* rows(
    `delete from kv where scope = ?t and substr(key, 1, length(?t)) = ?t
     ${kept.map(() => 'and substr(key, 1, length(?t)) <> ?t').join(' ')}`,
    toldScope(chatId),
    keyPrefix,
    keyPrefix,
    ...kept.flatMap((prefix) => [prefix, prefix]),
  );
}
