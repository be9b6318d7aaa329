import { readFacts } from '../tasks/codec.ts';
import type { Script } from '../engine/engine.ts';
import { insertPart, placeOf, type ShownRow } from '../outbox/new-parts.ts';
import { idAt } from '../engine/time-ids.ts';

/** The message that asked something, as it was delivered. */
export interface QuestionRow extends ShownRow {
  readonly id: string;
  readonly message_id: number | null;
  readonly content: string;
  readonly created_at: number;
}

export const questionColumns = 'id, chat_id, task_id, message_thread_id, message_id, content, created_at';

/** Nobody has answered in time, and the question says so by itself, once. */
export function* sayExpired(question: QuestionRow | undefined, now: number): Script<void> {
  if (question === undefined || question.message_id === null) return;
  const { id, created_at: createdAt, message_id: edits } = question;
  const content = { ...readFacts(question.content), isOver: true };
  const part = { ...placeOf(question), id: idAt(createdAt, `expired:${id}`), kind: 'notice', edits, content } as const;
  yield* insertPart(part, now);
}
