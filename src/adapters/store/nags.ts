import type { NagDecision } from '../../app/acks/store.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import type { View } from '../../domain/shown.ts';
import type { DueRow } from './acks-due.ts';
import { row, rows, write, type Script, type Value } from './engine.ts';
import { idAt } from './time-ids.ts';

/** The messages by which somebody is reminded: each takes the place of the one before, and none outlives its reason. */

/** Words about a run that come after its end count from here on, apart from those that come with it. */
const firstPart = 10;
/** The line that nobody has said Done follows every reminder that there can be. */
const lastPart = 1000;

interface Word {
  readonly id: string;
  readonly part: number;
  readonly content: View;
}

export function* insertNag(
  { due, text, slotAt, ...one }: DueRow,
  { deliveryId, number }: Extract<NagDecision, { is: 'nag' }>,
  now: number,
): Script<void> {
  const { occurrenceId } = due;
  const content: View = { view: 'nag', occurrenceId, text, dueAt: slotAt, number };
  yield* insertInTopic(one, { id: deliveryId, part: firstPart + number, content }, now);
}

/** Quiet hours were asked about when it was decided, so nothing holds it any more. */
function* insertInTopic(
  { taskId, runId, chatId }: Pick<DueRow, 'taskId' | 'runId' | 'chatId'>,
  { id, part, content }: Word,
  now: number,
): Script<void> {
  yield* write(
    `insert into deliveries (id, run_id, task_id, chat_id, lane, rank, kind, part, status, ready_at, content,
       unknown_policy, fence, sends, put_offs, settles, created_at, goes_to, urgent)
     values (?t, ?t, ?t, ?t, ?t, ?i, 'notice', ?i, 'pending', ?i, ?t, 'resend', 0, 0, 0, 0, ?i, 'task', 1)
     on conflict do nothing`,
    id,
    runId,
    taskId,
    chatId,
    `task:${taskId}`,
    outboxRanks.result,
    part,
    now,
    JSON.stringify(content),
    now,
  );
}

interface NagRow {
  readonly status: string;
  readonly created_at: number;
  readonly chat_id: string;
  readonly task_id: string | null;
  readonly message_thread_id: number | null;
  readonly message_id: number | null;
}

/** A reminder that has come is removed, once, and one that is still to come is not sent any more. */
export function* settleNag(deliveryId: string | null, now: number): Script<void> {
  if (deliveryId === null) return;
  yield* rows(
    `update deliveries set status = 'failed', error = 'moot: nobody has to be reminded any more', ready_at = null
     where id = ?t and status in ('pending', 'blocked')`,
    deliveryId,
  );
  const nag = yield* row<NagRow>(
    `select status, created_at, chat_id, task_id, message_thread_id, message_id from deliveries where id = ?t`,
    deliveryId,
  );
  if (nag?.status !== 'delivered' || nag.message_id === null) return;
  yield* insertAside(
    nag,
    { id: idAt(nag.created_at, `settled:${deliveryId}`), kind: 'remove', edits: nag.message_id, content: { text: '' } },
    now,
  );
}

interface Aside {
  readonly id: string;
  readonly kind: 'remove' | 'notice';
  readonly edits: number | null;
  readonly content: object;
}

/** To a thread of a chat, in the lane of such words there. */
function* insertAside(
  place: Pick<NagRow, 'chat_id' | 'task_id' | 'message_thread_id'>,
  { id, kind, edits, content }: Aside,
  now: number,
): Script<void> {
  const { chat_id: chatId, task_id: taskId, message_thread_id: topic } = place;
  const values: readonly Value[] = [
    id,
    taskId,
    chatId,
    `${kind === 'notice' ? 'notice' : 'answer'}:${chatId}:${topic ?? ''}`,
    kind === 'notice' ? outboxRanks.result : outboxRanks.answer,
    kind,
    now,
    JSON.stringify(content),
    now,
    topic,
    edits,
  ];
  yield* write(
    `insert into deliveries (id, task_id, chat_id, lane, rank, kind, part, status, ready_at, content, unknown_policy,
       fence, sends, put_offs, settles, created_at, goes_to, to_topic, edits, urgent)
     values (?t, ?t, ?t, ?t, ?i, ?t, 1, 'pending', ?i, ?t, 'resend', 0, 0, 0, 0, ?i, 'thread', ?i, ?i, 1)
     on conflict do nothing`,
    ...values,
  );
}

/** A line in the topic, and a word to somebody who can do more than be reminded. */
export function* escalate(
  { due, slotAt, nags, ...one }: DueRow,
  { lineId, wordId }: Extract<NagDecision, { is: 'giveUp' }>,
  now: number,
): Script<void> {
  const content: View = { view: 'escalated', occurrenceId: due.occurrenceId, dueAt: slotAt, nags };
  yield* insertInTopic(one, { id: lineId, part: lastPart, content }, now);
  const chatId = (yield* adminChatOf(one.chatId)) ?? one.chatId;
  const place = { chat_id: chatId, task_id: one.taskId, message_thread_id: null };
  yield* insertAside(place, { id: wordId, kind: 'notice', edits: null, content }, now);
}

const actorLength = 'telegram:user:'.length;

/**
 * The private chat of whoever approved the group, or else of an admin of it; null where none is known. A bot can write to
 * those alone who have begun, and whoever has was answered.
 */
function* adminChatOf(chatId: string): Script<string | null> {
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
    const own = yield* row<{ id: string }>(
      `select c.id from chats c where c.provider = 'telegram' and c.address = ?t and c.state not in ('refused', 'gone')
         and exists (select 1 from deliveries d where d.platform_chat_id = c.address and d.message_id is not null)`,
      actor.slice(actorLength),
    );
    if (own !== undefined) return own.id;
  }
  return null;
}
