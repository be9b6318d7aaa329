import type { NagDecision } from '../../app/ports/questions.ts';
import type { View } from '../../domain/shown.ts';
import { listOf, row, rows, write, type Script } from '../engine/engine.ts';
import { idAt } from '../engine/queries.ts';
import { insertPart, placeOf } from '../outbox/new-parts.ts';
import { readFacts } from '../tasks/codec.ts';
import { insertInTopic, lastPart, type DueRow } from './nags.ts';

/** Nobody has said Done, however often they were reminded: somebody is told who can do more about it. */

type Escalated = Extract<View, { view: 'escalated' }>;

/** A line in the topic, and a word to an admin; in the chat itself where none can be written to. */
export function* escalate(
  { due, slotAt, nags, ...one }: DueRow,
  { lineId, wordId }: Extract<NagDecision, { is: 'giveUp' }>,
  now: number,
): Script<void> {
  const admin = yield* adminOf(one.chatId);
  const content: Escalated = {
    view: 'escalated',
    occurrenceId: due.occurrenceId,
    dueAt: slotAt,
    nags,
    ...(admin === null ? {} : { told: admin.name }),
  };
  yield* insertInTopic(one, { id: lineId, part: lastPart, content }, now);
  const place = { chatId: admin?.chatId ?? one.chatId, taskId: one.taskId, thread: { topic: null } };
  yield* insertPart({ ...place, id: wordId, kind: 'notice', content }, now);
}

interface Admin {
  readonly chatId: string;
  readonly name: string;
}

const actorLength = 'telegram:user:'.length;

/**
 * Whoever approved the group, or else an admin of it, with the private chat in which they can be told; null where there is
 * none. A bot can write to those alone who have begun, and whoever has was answered.
 */
function* adminOf(chatId: string): Script<Admin | null> {
  const group = yield* row<{ address: string; approved_by: string | null }>(
    `select address, approved_by from chats where id = ?t and address like '-%'`,
    chatId,
  );
  if (group === undefined) return null;
  const admins = yield* rows<{ user_id: string }>(
    `select user_id from members where chat_id = ?t and status = 'admin' and user_id like 'telegram:user:%'
     order by checked_at desc, user_id`,
    chatId,
  );
  for (const actor of [group.approved_by ?? '', ...admins.map(({ user_id }) => user_id)]) {
    if (!actor.startsWith('telegram:user:')) continue;
    const own = yield* row<{ id: string; name: string | null }>(
      `select c.id, (select u.name from users u where u.id = ?t) as name
       from chats c where c.provider = 'telegram' and c.address = ?t and c.state not in ('refused', 'gone')
         and exists (select 1 from deliveries d where d.platform_chat_id = c.address and d.message_id is not null)`,
      actor,
      actor.slice(actorLength),
    );
    if (own !== undefined) return { chatId: own.id, name: own.name ?? 'an admin' };
  }
  return null;
}

interface Undelivered {
  readonly id: string;
  readonly content: string;
  readonly task_id: string;
  readonly home: string;
}

/** An admin who cannot be written to any more has heard nothing, so the group is told in their place, and so is the line. */
export function* tellGroupInstead(deliveryIds: readonly string[], now: number): Script<void> {
  if (deliveryIds.length === 0) return;
  const { marks, values } = listOf(deliveryIds);
  const found = yield* rows<Undelivered>(
    `select d.id, d.content, d.task_id, t.chat_id as home from deliveries d join tasks t on t.id = d.task_id
     where d.id in (${marks}) and d.kind = 'notice' and d.run_id is null and d.edits is null
       and d.content like '{"view":"escalated"%' and d.chat_id <> t.chat_id`,
    ...values,
  );
  for (const { id, content, task_id: taskId, home } of found) {
    const { told: _notHim, ...shown } = (readFacts(content) ?? {}) as unknown as Escalated;
    yield* rows(
      `update deliveries set status = 'failed', error = coalesce(error, '') || ' (told in the group instead)', ready_at = null
       where id = ?t and status in ('blocked', 'failed')`,
      id,
    );
    const place = { chatId: home, taskId, thread: { topic: null } };
    yield* insertPart({ ...place, id: idAt(now, `instead:${id}`), kind: 'notice', content: shown }, now);
    yield* rewriteLine(shown, now);
  }
}

interface LineRow {
  readonly id: string;
  readonly chat_id: string;
  readonly task_id: string;
  readonly message_thread_id: number | null;
  readonly message_id: number | null;
}

/** The line in the topic names whoever was told. */
function* rewriteLine(shown: Escalated, now: number): Script<void> {
  const line = yield* row<LineRow>(
    `select d.id, d.chat_id, d.task_id, d.message_thread_id, d.message_id
     from acks a join deliveries d on d.run_id = a.run_id and d.kind = 'notice' and d.part = ?i
     where a.occurrence_id = ?t`,
    lastPart,
    shown.occurrenceId,
  );
  if (line === undefined) return;
  yield* write(`update deliveries set content = ?t where id = ?t`, JSON.stringify(shown), line.id);
  if (line.message_id === null) return;
  const edit = { id: idAt(now, `line:${line.id}`), kind: 'notice', edits: line.message_id, content: shown } as const;
  yield* insertPart({ ...placeOf(line), ...edit }, now);
}
