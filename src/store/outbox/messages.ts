import type { ChatStore, MessageAbout, NewMessage } from '../../app/ports/chats.ts';
import { isDeliverable } from '../../domain/thread.ts';
import { chatOf, findChat, telegram } from '../chats/rows.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { insertPart } from './new-parts.ts';

/** Messages that belong to no run, and which words were said already. */
export function messageStore(engine: Engine): Pick<ChatStore, 'addMessages' | 'tellOnce' | 'forgetTold' | 'messageAt'> {
  return {
    addMessages: (messages, at) => engine.transact(() => insertMessages(messages, at)),
    tellOnce: (key, message, at) => engine.transact(() => tellOnce(key, message, at)),
    messageAt: (address, messageId) => engine.transact(() => messageAt(address, messageId)),
    forgetTold: (address, keyPrefix) => engine.transact(() => forgetTold(address, keyPrefix)),
  };
}

export function* insertMessages(messages: readonly NewMessage[], at: number): Script<void> {
  for (const message of messages) {
    // What is delivered nowhere has nobody to read it.
    if (!isDeliverable(message.thread)) continue;
    const { id: chatId } = yield* chatOf(message.thread, message.id, at);
    yield* insertMessage(message, chatId, at);
  }
}

function* insertMessage(message: NewMessage, chatId: string, at: number): Script<void> {
  const { shown: content, silent: isSilent = false, ...part } = message;
  yield* insertPart({ ...part, chatId, content, isSilent }, at);
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
