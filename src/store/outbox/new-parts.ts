import type { ChatStore, MessageAbout, NewMessage } from '../../app/ports/chats.ts';
import { outboxRanks, type DeliveryKind } from '../../domain/delivery.ts';
import { isDeliverable } from '../../domain/thread.ts';
import { chatOf, findChat, telegram } from '../chats/rows.ts';
import { write, type Script, row, rows, type Engine } from '../engine/engine.ts';

/** A message that is put into the outbox by itself. What a run brings goes in with its end, many at once. */
interface NewPart {
  readonly id: string;
  readonly chatId: string;
  readonly taskId: string | null;
  /** With its part, it is there once. */
  readonly run?: { readonly id: string | null; readonly part: number };
  readonly kind: DeliveryKind;
  readonly content: object;
  /** A thread of the chat; the topic of the task, whichever that is by then, without it. */
  readonly thread?: { readonly topic: number | null };
  /** Those of the thread, or of the task, without them. */
  readonly lane?: string;
  readonly rank?: number;
  readonly readyAt?: number;
  readonly expiresAt?: number | null;
  /** The message of ours that it changes, removes or pins. */
  readonly edits?: number | null;
  readonly isUrgent?: boolean;
  readonly isSilent?: boolean;
  readonly onlyFor?: object;
}

/** A second one of the same id, or of the same run and part, changes nothing. */
export function* insertPart(part: NewPart, at: number): Script<void> {
  const { run = { id: null, part: 1 }, readyAt = at, expiresAt = null, edits = null } = part;
  const { lane, rank, goesTo, topic } = placed(part);
  yield* write(
    `insert into deliveries (id, run_id, task_id, chat_id, lane, rank, kind, part, status, ready_at, content, unknown_policy,
       expires_at, fence, sends, put_offs, settles, created_at, goes_to, to_topic, edits, urgent, silent, only_for)
     values (?t, ?t, ?t, ?t, ?t, ?i, ?t, ?i, 'pending', ?i, ?t, 'resend', ?i, 0, 0, 0, 0, ?i, ?t, ?i, ?i, ?i, ?i, ?t)
     on conflict do nothing`,
    part.id,
    run.id,
    part.taskId,
    part.chatId,
    lane,
    rank,
    part.kind,
    run.part,
    readyAt,
    JSON.stringify(part.content),
    expiresAt,
    at,
    goesTo,
    topic,
    edits,
    part.isUrgent === true ? 1 : 0,
    part.isSilent === true ? 1 : 0,
    part.onlyFor === undefined ? null : JSON.stringify(part.onlyFor),
  );
}

function placed(part: NewPart) {
  const { thread, lane = laneOf(part), rank = isAnswer(part) ? outboxRanks.answer : outboxRanks.result } = part;
  return { lane, rank, goesTo: thread === undefined ? 'task' : 'thread', topic: thread?.topic ?? null };
}

/**
 * Answers and notices of a thread are served in lanes of their own, so that nobody waits for the answer to a press because
 * some notice cannot be sent. What is removed is so when what was said before it has been said.
 */
function laneOf(part: NewPart): string {
  const { thread, taskId, chatId } = part;
  if (thread === undefined) return `task:${taskId}`;
  return `${isAnswer(part) ? 'answer' : 'notice'}:${chatId}:${thread.topic ?? ''}`;
}

function isAnswer({ kind }: NewPart): boolean {
  return kind === 'answer' || kind === 'remove' || kind === 'removeTopic';
}

/** A message of ours that was shown somewhere, as far as words beside it need that. */
export interface ShownRow {
  readonly chat_id: string;
  readonly task_id: string | null;
  readonly message_thread_id: number | null;
}

export function placeOf(row: ShownRow): Pick<NewPart, 'chatId' | 'taskId' | 'thread'> {
  return { chatId: row.chat_id, taskId: row.task_id, thread: { topic: row.message_thread_id } };
}

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
