import type { NewMessage } from '../../app/ports/chats.ts';
import type { PartEnd } from '../../app/ports/outbox.ts';
import { isView } from '../../domain/shown.ts';
import { each, listOf, lock, row, rows, write, type Script, type Value } from '../engine/engine.ts';
import { tellGroupInstead } from '../questions/escalations.ts';
import { settleLateNags } from '../questions/nags.ts';
import { tellEvents } from '../records/journal.ts';
import { insertCardPart } from './cards.ts';
import { forgetToldOf, insertMessages, tellOnce } from './new-parts.ts';
import { dropParts } from './run-parts.ts';

/** 1 where a send was counted when the part was claimed. */
const begun = `case when status = 'sending' then 1 else 0 end`;

/**
 * An end that leaves the part open uses up the fence, because it is written again when the answer to the first write was
 * lost: then it must find nothing, or a send would be taken back twice and a look counted twice.
 */
const endText = {
  delivered: `update deliveries set status = 'delivered', platform_chat_id = ?t, message_thread_id = ?i, message_id = ?i,
      delivered_at = ?i, evidence = coalesce(?t, evidence), error = null, cause = null, ready_at = null, doubted_at = null
    where id = ?t and fence = ?i and status in ('sending', 'unknown')`,
  pending: `update deliveries set status = 'pending', sends = sends - ${begun} * ?i, put_offs = put_offs + ${begun} * ?i, ready_at = ?i, error = ?t,
      evidence = coalesce(?t, evidence), cause = null, settles = 0,
      doubted_at = case when ?i = 1 then coalesce(doubted_at, sent_at) end, fence = fence + 1
    where id = ?t and fence = ?i and status in ('sending', 'unknown', 'pending', 'blocked')`,
  blocked: `update deliveries set status = 'blocked', sends = sends - ${begun}, ready_at = ?i, cause = ?t, error = ?t,
      fence = fence + 1
    where id = ?t and fence = ?i and status in ('sending', 'pending', 'blocked')`,
  unknown: `update deliveries set status = 'unknown', ready_at = ?i, error = ?t, evidence = ?t,
      settles = case when status = 'unknown' then settles + 1 else 0 end, doubted_at = coalesce(doubted_at, sent_at),
      fence = fence + 1
    where id = ?t and fence = ?i and status in ('sending', 'unknown')`,
  failed: `update deliveries set status = 'failed', error = ?t, evidence = coalesce(?t, evidence), ready_at = null
    where id = ?t and fence = ?i and status in ('sending', 'unknown', 'pending', 'blocked')`,
} as const;

type Ended<S extends PartEnd['status']> = Extract<PartEnd, { status: S }>;

/** What became of parts, each under the fence of its claim, and what follows from it for their tasks. */
export function* endParts(ends: readonly PartEnd[], now: number): Script<number> {
  let written = 0;
  yield* lockTasks(ends);
  for (const status of ['delivered', 'pending', 'blocked', 'unknown', 'failed'] as const) {
    const mine = ends.filter((end) => end.status === status);
    const took = yield* each(
      endText[status],
      mine.map((end) => [...endValues(end, now), end.id, end.fence]),
    );
    const won = mine.filter((_end, index) => took[index]);
    written += won.length;
    const isOver = status === 'delivered' || status === 'failed';
    const gone = isOver ? new Set<string>() : yield* dropOfDeleted(won, now);
    // Nobody is asked about a part of a task that is not there any more.
    yield* followUp(
      won.filter(({ taskId }) => !gone.has(taskId ?? '')),
      now,
    );
    if (status !== 'failed')
      yield* settleLateNags(
        won.map(({ id }) => id),
        now,
      );
    if (status === 'failed' || status === 'blocked')
      yield* tellGroupInstead(
        won.map(({ id }) => id),
        now,
      );
    // Being put off says nothing to anybody; what became of a part does.
    if (status !== 'pending')
      yield* tellEvents(won.map(({ id, taskId = null }) => ({ kind: `delivery.${status}`, at: now, taskId, ref: id })));
  }
  return written;
}

function endValues(end: PartEnd, now: number): Value[] {
  switch (end.status) {
    case 'delivered':
      return [end.ids.chatId, end.ids.threadId, end.ids.messageId, end.at, end.evidence];
    case 'pending': {
      const unsent = end.unsent ? 1 : 0;
      return [unsent, unsent, now + end.afterMs, end.error, end.evidence, end.inDoubt ? 1 : 0];
    }
    case 'blocked':
      return [now + end.afterMs, end.cause, end.error];
    case 'unknown':
      return [end.afterMs === null ? null : now + end.afterMs, end.error, end.evidence];
    case 'failed':
      return [end.error, end.evidence];
  }
}

/** What comes back to the outbox must not pass by a deletion that empties it: tasks before their parts, as every verb does. */
function* lockTasks(ends: readonly PartEnd[]): Script<void> {
  const ids = ends.flatMap(({ status, taskId }) =>
    status === 'delivered' || status === 'failed' ? [] : (taskId ?? []),
  );
  if (ids.length === 0) return;
  const { marks, values } = listOf(ids);
  yield* lock(`select id from tasks where id in (${marks}) order by id for update`, ...values);
}

/** A part that comes back to the outbox of a task that was deleted meanwhile is not sent any more. */
function* dropOfDeleted(ends: readonly PartEnd[], now: number): Script<ReadonlySet<string>> {
  const ids = [...new Set(ends.flatMap(({ taskId }) => taskId ?? []))];
  if (ids.length === 0) return new Set();
  const { marks, values } = listOf(ids);
  const gone = yield* rows<{ id: string }>(
    `select id from tasks where id in (${marks}) and state = 'deleted'`,
    ...values,
  );
  for (const { id } of gone) yield* dropParts(id, now);
  return new Set(gone.map(({ id }) => id));
}

function* followUp(won: readonly PartEnd[], now: number): Script<void> {
  for (const end of won) {
    if (end.status === 'delivered' && end.pinId !== null) yield* keepCard(end, end.pinId, now);
    if (end.status === 'failed' && end.cardGone) yield* forgetCard(end, end.cardGone);
    if ('guidance' in end && end.guidance) yield* guide(end, end.guidance, now);
  }
  yield* forgetMended(won.filter((end) => end.status === 'delivered'));
}

interface NewCardRow {
  readonly task_id: string;
  readonly chat_id: string;
}

/** The task remembers its card, which is pinned next, unless its topic was deleted meanwhile and the card with it. */
function* keepCard({ id, ids }: Ended<'delivered'>, pinId: string, now: number): Script<void> {
  const card = yield* row<NewCardRow>(
    `select task_id, chat_id from deliveries where id = ?t and kind = 'card' and edits is null and task_id is not null`,
    id,
  );
  if (card === undefined) return;
  const { task_id: taskId, chat_id: chatId } = card;
  const kept = yield* write(
    `update tasks set card_message_id = ?i where id = ?t and topic_state = 'ready' and topic_id = ?i`,
    ids.messageId,
    taskId,
    ids.threadId,
  );
  if (kept)
    yield* insertCardPart({ id: pinId, taskId, chatId, at: now, expiresAt: null, kind: 'pin', edits: ids.messageId });
}

function* forgetCard({ taskId = null }: Ended<'failed'>, messageId: number): Script<void> {
  yield* write(`update tasks set card_message_id = null where id = ?t and card_message_id = ?i`, taskId, messageId);
}

type Guided = Ended<'blocked' | 'unknown' | 'failed'>;

/** A question belongs to its part and is asked each time; what to mend is told once for each place while it lasts. */
function* guide(end: Guided, guidance: NewMessage, now: number): Script<void> {
  if (end.status === 'unknown') yield* insertMessages([guidance], now);
  else yield* tellOnce(guidanceKey(end, guidance), guidance, now);
}

function guidanceKey(end: Exclude<Guided, { status: 'unknown' }>, { thread, shown }: NewMessage): string {
  // Whether a topic was made is a question about one task; what else is to be mended is so for all that wait.
  if (end.status === 'blocked')
    return `blocked:${end.cause}:${end.cause === 'topic_in_doubt' ? (end.taskId ?? '') : (thread.topic ?? '')}`;
  // The missing right to pin is one fact about the chat, whatever the topic.
  return isView(shown) && shown.view === 'notPinned' ? 'notPinned' : `failed:${end.id}`;
}

/** What reached a task's topic when nothing waits any more shows that a trouble is over, so the next one is told again. */
function* forgetMended(ends: readonly Ended<'delivered'>[]): Script<void> {
  if (ends.length === 0) return;
  const { marks, values } = listOf(ends.map(({ id }) => id));
  const chats = yield* rows<{ chat_id: string }>(
    `select distinct d.chat_id from deliveries d join kv on kv.scope = 'told:' || d.chat_id and kv.key like 'blocked:%'
     where d.id in (${marks}) and d.goes_to = 'task' and d.task_id is not null`,
    ...values,
  );
  for (const { chat_id: chatId } of chats) {
    const waiting = yield* rows<{ cause: string }>(
      `select distinct cause from deliveries where chat_id = ?t and status = 'blocked' and cause is not null`,
      chatId,
    );
    yield* forgetToldOf(
      chatId,
      'blocked:',
      waiting.map(({ cause }) => `blocked:${cause}:`),
    );
  }
}
