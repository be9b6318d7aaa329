import type { NagDecision } from '../../app/ports/questions.ts';
import { isView, type View } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, mapped, pick } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { list, raw, sql } from '../engine/sql.ts';
import { all, one, select, update } from '../engine/statements.ts';
import { insertPart, placeOf, shownFieldsOf } from '../outbox/new-parts.ts';
import { numberHere, shownOf } from '../outbox/part-rows.ts';
import { insertInTopic, lastPart, type DueRow } from './nags.ts';

/** Escalations tell an admin, who can do more about it, that no person said Done after all reminders. */

type Escalated = Extract<View, { view: 'escalated' }>;

/**
 * A line in the topic, and a word to an admin; in the group itself where none can be written to. In a private chat nobody else
 * is to be told, and the line says it all.
 */
export function* escalate(
  { due, slotAt, nags, ...ack }: DueRow,
  { lineId, wordId }: Extract<NagDecision, { is: 'giveUp' }>,
  now: number,
): Script<void> {
  const group = yield* one(select(groupFields)`from chats where id = ${ack.chatId} and address like '-%'`);
  const admin = group === undefined ? null : yield* adminOf(ack.chatId, group.approvedBy);
  const content: Escalated = {
    view: 'escalated',
    occurrenceId: due.occurrenceId,
    dueAt: slotAt,
    nags,
    ...(admin === null ? {} : { told: admin.name }),
  };
  yield* insertInTopic(ack, { id: lineId, part: lastPart, content }, now);
  if (group === undefined) return;
  const place = { chatId: admin?.chatId ?? ack.chatId, taskId: ack.taskId, thread: { topic: null } };
  yield* insertPart({ ...place, id: wordId, kind: 'notice', content }, now);
}

const groupFields = pick(columns.chats, 'approvedBy');

interface Admin {
  readonly chatId: string;
  readonly name: string;
}

const actorLength = 'telegram:user:'.length;

/**
 * The approver of the group, or else an admin of it, with the private chat in which they can be told; null where there is
 * none. A bot can write only to people who have begun, and whoever has was answered.
 */
function* adminOf(chatId: string, approvedBy: string | null): Script<Admin | null> {
  const admins = yield* all(
    select(pick(columns.members, 'userId'))`from members
      where chat_id = ${chatId} and status = 'admin' and user_id like 'telegram:user:%' order by checked_at desc, user_id`,
  );
  for (const actor of [approvedBy ?? '', ...admins.map(({ userId }) => userId)]) {
    if (!actor.startsWith('telegram:user:')) continue;
    const own = yield* one(
      select(adminFields)`from chats c left join users u on u.id = ${actor}
        where c.provider = 'telegram' and c.address = ${actor.slice(actorLength)} and c.state not in ('refused', 'gone')
          and exists (select 1 from deliveries d where d.platform_chat_id = c.address and d.message_id is not null)`,
    );
    if (own !== undefined) return { chatId: own.id, name: own.name ?? 'an admin' };
  }
  return null;
}

const adminFields = { id: columnsOf('chats', 'c').id, name: columnsOf('users', 'u').name };

const d = columnsOf('deliveries', 'd');
const toldFields = {
  id: d.id,
  content: mapped(d.content, shownOf),
  task: pick(columnsOf('tasks', 't'), 'id', 'chatId'),
};

/** An admin who cannot be written to any more has heard nothing, so the group is told in their place, and so is the line. */
export function* tellGroupInstead(deliveryIds: readonly string[], now: number): Script<void> {
  if (deliveryIds.length === 0) return;
  const found = yield* all(
    select(toldFields)`from deliveries d join tasks t on t.id = d.task_id
      where d.id in ${list(deliveryIds)} and d.kind = 'notice' and d.run_id is null and d.edits is null
        and d.chat_id <> t.chat_id`,
  );
  for (const { id, content, task } of found) {
    if (content === null || !isView(content) || content.view !== 'escalated') continue;
    const { told: _notHim, ...shown } = content;
    const error = raw(`coalesce(error, '') || ' (told in the group instead)'`);
    yield* update(
      'deliveries',
      { status: 'failed', error, readyAt: null },
      sql`id = ${id} and status in ('blocked', 'failed')`,
    );
    const place = { chatId: task.chatId, taskId: task.id, thread: { topic: null } };
    yield* insertPart({ ...place, id: idAt(now, `instead:${id}`), kind: 'notice', content: shown }, now);
    yield* rewriteLine(shown, now);
  }
}

const lineFields = { ...shownFieldsOf(d), ...pick(d, 'id'), messageId: numberHere(d) };

/** The line in the topic names whoever was told. */
function* rewriteLine(shown: Escalated, now: number): Script<void> {
  const line = yield* one(
    select(
      lineFields,
    )`from acks a join deliveries d on d.run_id = a.run_id and d.kind = 'notice' and d.part = ${lastPart}
      where a.occurrence_id = ${shown.occurrenceId}`,
  );
  if (line === undefined) return;
  yield* update('deliveries', { content: JSON.stringify(shown) }, sql`id = ${line.id}`);
  if (line.messageId === null) return;
  const edit = { id: idAt(now, `line:${line.id}`), kind: 'notice', edits: line.messageId, content: shown } as const;
  yield* insertPart({ ...placeOf(line), ...edit }, now);
}
