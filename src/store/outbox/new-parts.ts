import type { MessageAbout, NewMessage } from '../../app/ports/chats.ts';
import { outboxRanks, type DeliveryKind } from '../../domain/delivery.ts';
import type { Word } from '../../domain/shown.ts';
import { isDeliverable } from '../../domain/thread.ts';
import { chatOf } from '../chats/rows.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, pick, type Answer } from '../engine/fields.ts';
import { allOf, raw, sql } from '../engine/sql.ts';
import { insert, offer, one, run, select, update } from '../engine/statements.ts';
import { taskLane, tidyLane, wordLane } from './lanes.ts';
import { forgetAnswered, standAsWord, standWhereSaid } from './standing.ts';

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
  /** Lane and rank are those of the thread, or of the task, where none are named. */
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
  const { run: of = { id: null, part: 1 }, readyAt = at, expiresAt = null, edits = null } = part;
  const { id, taskId, chatId, kind, onlyFor } = part;
  yield* insert(
    'deliveries',
    {
      id,
      runId: of.id,
      taskId,
      chatId,
      kind,
      ...placed(part),
      part: of.part,
      status: 'pending',
      readyAt,
      content: JSON.stringify(part.content),
      unknownPolicy: 'resend',
      expiresAt,
      fence: 0,
      sends: 0,
      putOffs: 0,
      settles: 0,
      createdAt: at,
      edits,
      urgent: part.isUrgent === true ? 1 : 0,
      silent: part.isSilent === true ? 1 : 0,
      onlyFor: onlyFor === undefined ? null : JSON.stringify(onlyFor),
    },
    raw('on conflict do nothing'),
  );
  yield* offer({ chats: [chatId] });
  yield* standAsWord(part, at);
}

function placed(part: NewPart) {
  const { thread, lane = laneOf(part), rank = isAnswer(part) ? outboxRanks.answer : outboxRanks.result } = part;
  return { lane, rank, goesTo: thread === undefined ? 'task' : 'thread', toTopic: thread?.topic ?? null } as const;
}

/** A message is removed when the answers before it have been given. */
function laneOf(part: NewPart): string {
  const { thread, taskId, chatId } = part;
  if (thread === undefined) return taskLane(String(taskId));
  return wordLane(isAnswer(part) ? 'answer' : 'notice', chatId, thread.topic);
}

function isAnswer({ kind }: NewPart): boolean {
  return kind === 'answer' || kind === 'remove' || kind === 'removeTopic';
}

/** A message of ours that was shown somewhere, as far as words beside it need that. */
export function shownFieldsOf(d: typeof columns.deliveries) {
  return pick(d, 'chatId', 'taskId', 'messageThreadId');
}

export const shownFields = shownFieldsOf(columns.deliveries);

export function placeOf(row: Answer<typeof shownFields>): Pick<NewPart, 'chatId' | 'taskId' | 'thread'> {
  return { chatId: row.chatId, taskId: row.taskId, thread: { topic: row.messageThreadId } };
}

/** Messages that belong to no run, and which words were said already. */
export const messageStore = { addMessages, tellOnce, isTold, messageAt };

export function* addMessages(messages: readonly NewMessage[], at: number): Script<void> {
  for (const message of messages) {
    // Messages that are delivered nowhere have no reader.
    if (!isDeliverable(message.thread)) continue;
    const { id: chatId } = yield* chatOf(message.thread, message.id, at);
    yield* insertMessage(message, chatId, at);
  }
}

function* insertMessage(message: NewMessage, chatId: string, at: number): Script<void> {
  const { shown: content, silent: isSilent = false, isTidying = false, stands, ...part } = message;
  const aside = isTidying ? { lane: tidyLane(chatId), rank: outboxRanks.card } : {};
  const made: NewPart = { ...part, ...aside, chatId, content, isSilent };
  if (message.kind === 'answer' && message.edits !== null) yield* dropWaitingEdits(made, message.edits);
  yield* insertPart(made, at);
  if (message.edits !== null) yield* forgetAnswered(message.thread.address, message.edits);
  const { id: deliveryId, edits } = message;
  if (stands !== undefined) yield* standWhereSaid(stands, { chatId, deliveryId, edits }, at);
}

/** Quick taps bring a message through states that nobody has seen yet: of those that wait, only the last one goes out. */
function* dropWaitingEdits(part: NewPart, messageId: number): Script<void> {
  const waiting = sql`lane = ${laneOf(part)} and status = 'pending' and edits = ${messageId} and kind = 'answer' and sends = 0`;
  yield* update(
    'standing',
    { deliveryId: part.id },
    sql`delivery_id in (select d.id from deliveries d where ${waiting})`,
  );
  yield* run(sql`delete from deliveries where ${waiting}`);
}

const d = columnsOf('deliveries', 'd');
const aboutFields = {
  deliveryId: d.id,
  ...pick(d, 'taskId', 'runId'),
  occurrenceId: columnsOf('runs', 'r').occurrenceId,
};

/** A card, a result and a word about a task name it, and an answer to a person names none. Any message of an album will do. */
function* messageAt(address: string, messageId: number): Script<MessageAbout | null> {
  const found = yield* one(
    select(aboutFields)`from deliveries d left join runs r on r.id = d.run_id
      where d.platform_chat_id = ${address} and d.message_id = ${messageId} and d.message_id is not null and d.message_id > 0
      order by d.id limit 1`,
  );
  return found ?? (yield* albumAt(address, messageId)) ?? null;
}

function* albumAt(address: string, messageId: number): Script<MessageAbout | undefined> {
  return yield* one(
    select(
      aboutFields,
    )`from album_messages a join deliveries d on d.id = a.delivery_id left join runs r on r.id = d.run_id
      where a.platform_chat_id = ${address} and a.message_id = ${messageId} order by d.id limit 1`,
  );
}

export function* tellOnce(word: Word, message: NewMessage, at: number): Script<boolean> {
  if (!isDeliverable(message.thread)) return false;
  const { id: chatId } = yield* chatOf(message.thread, message.id, at);
  if (!(yield* isNews(chatId, word, at))) return false;
  yield* insertMessage(message, chatId, at);
  return true;
}

const told = columns.told;

function* isTold(chatId: string, word: Word['word'], reason: string, taskId?: string): Script<boolean> {
  const ofTask = taskId === undefined ? undefined : sql`task_id = ${taskId}`;
  const said = allOf(sql`chat_id = ${chatId} and word = ${word} and reason = ${reason}`, ofTask);
  return (yield* one(select(pick(told, 'chatId'))`from told where ${said} limit 1`)) !== undefined;
}

/** True when it was not said there before; from now on it was. */
export function* isNews(chatId: string, word: Word, at: number): Script<boolean> {
  const row = { chatId, reason: '', taskId: '', about: '', ...word, at };
  return yield* insert('told', row, raw('on conflict (chat_id, word, reason, task_id, about) do nothing'));
}
