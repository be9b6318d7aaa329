import { outboxRanks, type DeliveryKind } from '../../domain/delivery.ts';
import { write, type Script } from '../engine/engine.ts';

/** A message that is put into the outbox by itself. What a run brings goes in with its end, many at once. */
export interface NewPart {
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
