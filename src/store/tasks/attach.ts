import type { ChangeRequest, Move, PlaceView } from '../../app/ports/tasks.ts';
import type { Task } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import { chatOf, findChat, type ChatRow } from '../chats/rows.ts';
import { row, rows, write, type Script } from '../engine/engine.ts';
import { approvalLane, dropParts } from '../outbox/run-parts.ts';
import { closeAcks } from '../questions/nags.ts';
import { left, loseIfOut, replaceGrant } from './grants.ts';
import { checkChatQuota, lockUser } from './quota.ts';

/** A task gets another place: the thread where it counts as asked for, and with another chat a number and a grant there. */

const open = `('pending', 'blocked', 'sending', 'unknown')`;

/** What stands in the way of that. Its pinned card does not: it is drawn for whatever topic there is by then. */
export function* placeOf(task: Task, home: Thread): Script<PlaceView> {
  const chat = yield* findChat(home);
  const parts = yield* row<{ count: number }>(
    `select count(*) as count from deliveries
     where lane in (?t, ?t, ?t) and status in ${open} and (lane not like 'card:%' or status in ('sending', 'unknown'))`,
    `task:${task.id}`,
    approvalLane(task.id),
    `card:${task.id}`,
  );
  const gone = yield* row(`select id from chats where id = ?t and state = 'gone'`, task.chatId);
  const doubted = yield* row(`select id from tasks where id = ?t and topic_asked_at is not null`, task.id);
  const isSameChat = chat?.id === task.chatId;
  return {
    is: !isSameChat ? 'elsewhere' : home.topic === task.home.topic ? 'here' : 'thisChat',
    openParts: Number(parts?.count ?? 0),
    isTopicInDoubt: doubted !== undefined,
    isGone: gone !== undefined,
    isShut: chat?.state === 'refused' || chat?.state === 'gone',
  };
}

type Request = Pick<ChangeRequest, 'actor' | 'at' | 'quota'>;

export function* moveTask(request: Request, task: Task, move: Move): Script<void> {
  const { at } = request;
  const chat = yield* chatOf(move.home, move.newChatId, at);
  if (chat.id !== task.chatId) yield* changeChat(request, task, { move, chat });
  yield* write(`update tasks set home_topic = ?i where id = ?t`, move.home.topic, task.id);
}

interface Moving {
  readonly move: Move;
  readonly chat: ChatRow;
}

function* changeChat(request: Request, task: Task, { move, chat }: Moving): Script<void> {
  const { at, quota } = request;
  const ownerId = task.ownerId === move.standIn ? (chat.approved_by ?? task.ownerId) : task.ownerId;
  yield* lockUser(ownerId, at);
  if (task.state === 'active' || task.state === 'paused') yield* checkChatQuota(quota, chat.id);
  const counted = yield* row<{ last_number: number }>(
    `update chats set last_number = last_number + 1, updated_at = ?i where id = ?t returning last_number`,
    at,
    chat.id,
  );
  yield* copyGrant(request, task, { move, chat, ownerId });
  yield* dropParts(task.id, at, 'the task has moved to another chat');
  yield* closeAcks(task.id, 'dropped', at);
  yield* dropCard(task.id);
  // Nobody there has heard of anything that went wrong, so it is told anew.
  yield* write(
    `update tasks set chat_id = ?t, number = ?i, topic_state = 'none', topic_id = null, topic_boot = null,
       topic_asked_at = null, topic_called_at = null, topic_cause = null, topic_name = null, topic_lost = null,
       card_message_id = null, incident_at = null, incident_failures = null
     where id = ?t`,
    chat.id,
    counted?.last_number ?? null,
    task.id,
  );
}

/**
 * The same right in another chat: what somebody took away stays so, and what was lost by leaving the old chat is judged by
 * the new one.
 */
function* copyGrant(
  { actor, at }: Request,
  task: Task,
  { move: { grantId }, chat, ownerId }: Moving & { readonly ownerId: string },
): Script<void> {
  yield* rows(
    `insert into grants (id, owner_id, chat_id, scopes, expires_at, revoked_at, revoked_by, created_at, created_by)
     select ?t, ?t, ?t, scopes, expires_at, case when revoked_by = '${left}' then null else revoked_at end,
       case when revoked_by = '${left}' then null else revoked_by end, ?i, ?t
     from grants where id = (select t.grant_id from tasks t where t.id = ?t)`,
    grantId,
    ownerId,
    chat.id,
    at,
    actor,
    task.id,
  );
  yield* replaceGrant({ actor, at }, task, { grantId, ownerId });
  yield* loseIfOut(grantId, at);
}

function* dropCard(taskId: string): Script<void> {
  yield* write(
    `update deliveries set status = 'failed', error = 'moot: the task has moved to another chat', ready_at = null
     where lane = ?t and status in ${open} and status in ('pending', 'blocked')`,
    `card:${taskId}`,
  );
}
