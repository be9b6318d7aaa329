import type { ChatStore, NewMessage } from '../../app/chat-store.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import { isDeliverable } from '../../domain/thread.ts';
import { chatOf, findChat, telegram } from './chat-rows.ts';
import { rows, write, type Engine, type Script } from './engine.ts';

/** Messages that belong to no run, and which words were said already. */
export function messageStore(engine: Engine): Pick<ChatStore, 'addMessages' | 'tellOnce' | 'forgetTold'> {
  return {
    addMessages: (messages, at) => engine.transact(() => insertMessages(messages, at)),
    tellOnce: (key, message, at) => engine.transact(() => tellOnce(key, message, at)),
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
       expires_at, fence, sends, put_offs, settles, created_at, goes_to, to_topic, edits)
     values (?t, ?t, ?t, ?t, ?i, ?t, 1, 'pending', ?i, ?t, 'resend', ?i, 0, 0, 0, 0, ?i, 'thread', ?i, ?i)`,
    id,
    taskId,
    chatId,
    `${kind}:${chatId}:${thread.topic ?? ''}`,
    kind === 'answer' ? outboxRanks.answer : outboxRanks.result,
    kind,
    at,
    JSON.stringify(shown),
    expiresAt,
    at,
    thread.topic,
    edits,
  );
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
