import type { Claim } from '../../app/ports/pipeline.ts';
import type { AnsweredQuestion, OpenQuestion, QuestionStore } from '../../app/ports/questions.ts';
import type { Actor } from '../../domain/access.ts';
import type { View } from '../../domain/shown.ts';
import { row, rows, write, type Engine, type Script } from '../engine/engine.ts';
import { idAt } from '../engine/queries.ts';
import { insertPart, placeOf, type ShownRow } from '../outbox/new-parts.ts';
import { readFacts } from '../tasks/codec.ts';

/** Missed slots about which a task asks. They wait as occurrences with an instant by which somebody must have decided. */
export function questionStore(engine: Engine): QuestionStore {
  return {
    readQuestion: (taskId) => engine.transact(() => openQuestion(taskId)),
    lastAnswer: (taskId, since) => engine.transact(() => lastAnswer(taskId, since)),
  };
}

function* openQuestion(taskId: string): Script<OpenQuestion | null> {
  const found = yield* row<{ from: number | null; to: number; count: number; by: number }>(
    `select min(slot_at) as "from", max(slot_at) as "to", count(*) as count, max(decide_by) as "by" from occurrences
     where task_id = ?t and status = 'pending' and decide_by is not null`,
    taskId,
  );
  if (found === undefined || found.from === null) return null;
  const { from, to, count, by: decideBy } = found;
  return { from, to, count, decideBy };
}

function* lastAnswer(taskId: string, since: number): Script<AnsweredQuestion | null> {
  const found = yield* row<{ actor: string; at: number; after: string | null }>(
    `select actor, at, after from audit where task_id = ?t and at >= ?i and verb = 'answer' order by at desc, id desc limit 1`,
    taskId,
    since,
  );
  if (found === undefined) return null;
  const { actor, at, after } = found;
  const choice = readFacts(after)?.['answer'];
  return { by: actor as Actor, at, choice: choice === 'latest' || choice === 'all' ? choice : 'none' };
}

/** One word in the topic for all that the task asks about by then, in the transaction in which its slots are taken up. */
export function* askAboutMissed(claims: readonly Claim[], now: number): Script<void> {
  for (const { taskId, questionId } of claims) {
    if (questionId === undefined) continue;
    const open = yield* openQuestion(taskId);
    const task = yield* row<{ chat_id: string }>(`select chat_id from tasks where id = ?t`, taskId);
    if (open === null || task === undefined) continue;
    const content: View = { view: 'missed', ...open };
    const part = { id: questionId, taskId, chatId: task.chat_id, expiresAt: open.decideBy };
    yield* insertPart({ ...part, kind: 'notice', content }, now);
    yield* write(
      `insert into kv (scope, key, value, updated_at) values ('${askedScope}', ?t, ?t, ?i)
       on conflict (scope, key) do update set value = excluded.value, updated_at = excluded.updated_at`,
      taskId,
      questionId,
      now,
    );
  }
}

/** Which message asked last about the missed slots of a task. */
const askedScope = 'missed';

/** Nobody has answered in time: the last question of each task says so by itself, once nothing of it is open any more. */
export function* tellNobodyAnswered(taskIds: readonly string[], now: number): Script<void> {
  for (const taskId of new Set(taskIds)) {
    if ((yield* openQuestion(taskId)) !== null) continue;
    const [asked] = yield* rows<{ value: string }>(
      `delete from kv where scope = '${askedScope}' and key = ?t returning value`,
      taskId,
    );
    const question = yield* row<QuestionRow>(
      `select ${questionColumns} from deliveries
       where id = ?t and status = 'delivered'`,
      asked?.value ?? '',
    );
    yield* sayExpired(question, now);
  }
}

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
