import type { SlotPlan } from '../../app/ports/pipeline.ts';
import type { AnsweredQuestion, OpenQuestion } from '../../app/ports/questions.ts';
import type { View } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, count, greatest, least, mapped, pick, type Answer } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { raw, sql } from '../engine/sql.ts';
import { insert, one, returning, select } from '../engine/statements.ts';
import { insertPart, placeOf, shownFields } from '../outbox/new-parts.ts';
import { numberHere } from '../outbox/part-rows.ts';
import { readFacts } from '../tasks/codec.ts';

/** Missed slots about which a task asks. They wait as occurrences with an instant by which somebody must have decided. */
export const questionStore = { readQuestion, lastAnswer };

const { occurrences } = columns;

const openFields = {
  from: least(occurrences.slotAt),
  to: greatest(occurrences.slotAt),
  count,
  decideBy: greatest(occurrences.decideBy),
};

function* readQuestion(taskId: string): Script<OpenQuestion | null> {
  const found = yield* one(
    select(openFields)`from occurrences where task_id = ${taskId} and status = 'pending' and decide_by is not null`,
  );
  if (found === undefined) return null;
  const { from, to, decideBy } = found;
  return from === null || to === null || decideBy === null ? null : { ...found, from, to, decideBy };
}

const { audit } = columns;
const answerFields = { by: audit.actor, at: audit.at, facts: mapped(audit.after, readFacts) };

function* lastAnswer(taskId: string, since: number): Script<AnsweredQuestion | null> {
  const found = yield* one(
    select(answerFields)`from audit where task_id = ${taskId} and at >= ${since} and verb = 'answer'
      order by at desc, id desc limit 1`,
  );
  if (found === undefined) return null;
  const { by, at, facts } = found;
  const choice = facts?.['answer'];
  return { by, at, choice: choice === 'latest' || choice === 'all' ? choice : 'none' };
}

/** One word in the topic for all that the task asks about by then, in the transaction in which its slots are taken up. */
export function* askAboutMissed(claims: readonly SlotPlan[], now: number): Script<void> {
  for (const { taskId, questionId } of claims) {
    if (questionId === undefined) continue;
    const open = yield* readQuestion(taskId);
    const task = yield* one(select(pick(columns.tasks, 'chatId'))`from tasks where id = ${taskId}`);
    if (open === null || task === undefined) continue;
    const content: View = { view: 'missed', ...open };
    const part = { id: questionId, taskId, chatId: task.chatId, expiresAt: open.decideBy };
    yield* insertPart({ ...part, kind: 'notice', content }, now);
    yield* insert(
      'kv',
      { scope: askedScope, key: taskId, value: questionId, updatedAt: now },
      raw('on conflict (scope, key) do update set value = excluded.value, updated_at = excluded.updated_at'),
    );
  }
}

/** The message that asked last about the missed slots of a task. */
const askedScope = 'missed';

/** The last question of each task says by itself that nobody answered in time, once nothing of it is open any more. */
export function* tellNobodyAnswered(taskIds: readonly string[], now: number): Script<void> {
  for (const taskId of new Set(taskIds)) {
    if ((yield* readQuestion(taskId)) !== null) continue;
    const asked = yield* one(
      returning(pick(columns.kv, 'value'), sql`delete from kv where scope = ${askedScope} and key = ${taskId}`),
    );
    const question = yield* one(
      select(questionFields)`from deliveries where id = ${asked?.value ?? ''} and status = 'delivered'`,
    );
    yield* sayExpired(question, now);
  }
}

/** The message that asked something, as it was delivered. */
export const questionFields = {
  ...shownFields,
  ...pick(columns.deliveries, 'id', 'content', 'createdAt'),
  messageId: numberHere(columns.deliveries),
};

/** The question says by itself, once, that nobody has answered in time. */
export function* sayExpired(question: Answer<typeof questionFields> | undefined, now: number): Script<void> {
  if (question === undefined || question.messageId === null) return;
  const { id, createdAt, messageId: edits } = question;
  const content = { ...readFacts(question.content), isOver: true };
  const part = { ...placeOf(question), id: idAt(createdAt, `expired:${id}`), kind: 'notice', edits, content } as const;
  yield* insertPart(part, now);
}
