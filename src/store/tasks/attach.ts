import type { ChangeRequest, Move, PlaceView } from '../../app/ports/tasks.ts';
import type { Actor } from '../../domain/access.ts';
import type { Task } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import { chatOf, findChat, type ChatRow } from '../chats/rows.ts';
import type { Script } from '../engine/engine.ts';
import { columns, count, pick } from '../engine/fields.ts';
import { list, raw, sql } from '../engine/sql.ts';
import { one, run, select, update, updateReturning } from '../engine/statements.ts';
import { approvalLane, cardLane, taskLane, waitsIn } from '../outbox/lanes.ts';
import { movedAway } from '../outbox/part-rows.ts';
import { dropParts } from '../outbox/run-parts.ts';
import { forgetStandingOf } from '../outbox/standing.ts';
import { closeAcks } from '../questions/nags.ts';
import { left, letGoOn, loseIfOut, replaceGrant, checkChatQuota, lockUser } from './grants.ts';

/** A task gets another place: the thread where it counts as asked for, and with another chat a number and a grant there. */

const open = raw(`('pending', 'blocked', 'sending', 'unknown')`);

/** Obstacles to the move. A pinned card that only waits is none: it is drawn for whatever topic there is by then. */
export function* placeOf(task: Task, home: Thread): Script<PlaceView> {
  const chat = yield* findChat(home);
  const lanes = sql`lane in ${list([taskLane(task.id), approvalLane(task.id), cardLane(task.id)])}`;
  const parts = yield* one(
    select({ count })`from deliveries where ${lanes} and status in ${open}
      and (lane <> ${cardLane(task.id)} or status in ('sending', 'unknown'))`,
  );
  const gone = yield* one(select(pick(columns.chats, 'id'))`from chats where id = ${task.chatId} and state = 'gone'`);
  const doubted = yield* one(
    select(pick(columns.tasks, 'id'))`from tasks where id = ${task.id} and topic_asked_at is not null`,
  );
  const isSameChat = chat?.id === task.chatId;
  return {
    is: !isSameChat ? 'elsewhere' : home.topic === task.home.topic ? 'here' : 'thisChat',
    openParts: parts?.count ?? 0,
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
  yield* update('tasks', { homeTopic: move.home.topic }, sql`id = ${task.id}`);
}

interface Moving {
  readonly move: Move;
  readonly chat: ChatRow;
}

function* changeChat(request: Request, task: Task, { move, chat }: Moving): Script<void> {
  const { at, quota } = request;
  const ownerId = task.ownerId === move.standIn ? (chat.approvedBy ?? task.ownerId) : task.ownerId;
  yield* lockUser(ownerId, at);
  if (task.state === 'active' || task.state === 'paused') yield* checkChatQuota(quota, chat.id);
  const number = yield* nextNumber(chat.id, at);
  yield* copyGrant(request, task, { move, chat, ownerId });
  yield* dropParts([task.id], at, movedAway);
  yield* closeAcks([task.id], 'dropped', at);
  yield* dropCard(task.id);
  yield* forgetStandingOf(task.id);
  // People there have not heard of anything that went wrong, so it is told anew.
  yield* update(
    'tasks',
    { chatId: chat.id, number, ...noTopic, topicCalledAt: null, topicName: null, ...noIncident },
    sql`id = ${task.id}`,
  );
  // Rows that tell of the past stay where they were.
  for (const table of ['taskTags', 'taskVersions', 'watches'] as const)
    yield* update(table, { chatId: chat.id }, sql`task_id = ${task.id}`);
  yield* update('budgets', { chatId: chat.id }, sql`account = ${task.id}`);
  yield* update('occurrences', { chatId: chat.id }, sql`task_id = ${task.id} and status = 'pending'`);
}

/** Topic columns of a task without a topic. */
export const noTopic = {
  topicState: 'none',
  topicId: null,
  topicShared: 0,
  topicBoot: null,
  topicAskedAt: null,
  topicCause: null,
  topicLost: null,
  topicLostAt: null,
  cardMessageId: null,
} as const;

const noIncident = { incidentAt: null, incidentFailures: null };

/** Numbers count in their chat. */
export function* nextNumber(chatId: string, at: number): Script<number | undefined> {
  const counting = { lastNumber: raw('last_number + 1'), updatedAt: at };
  const [chat] = yield* updateReturning('chats', counting, sql`id = ${chatId}`, pick(columns.chats, 'lastNumber'));
  return chat?.lastNumber;
}

/**
 * The same right in another chat: what somebody took away stays so, and what was lost by leaving the old chat is judged by
 * the new one.
 */
function* copyGrant(
  { actor, at }: Request,
  task: Task,
  { move: { grantId }, chat, ownerId }: Moving & { readonly ownerId: Actor },
): Script<void> {
  const kept = (column: string) => raw(`case when revoked_by = '${left}' then null else ${column} end`);
  yield* run(sql`insert into grants
      (id, owner_id, chat_id, account_id, scopes, unconfirmed, expires_at, revoked_at, revoked_by, created_at, created_by)
    select ${grantId}, ${ownerId}, ${chat.id}, ${chat.id}, scopes, unconfirmed, expires_at, ${kept('revoked_at')}, ${kept('revoked_by')}, ${at}, ${actor}
    from grants where id = (select t.grant_id from tasks t where t.id = ${task.id})`);
  yield* replaceGrant({ actor, at }, task, { grantId, ownerId });
  if (!(yield* loseIfOut(grantId, at))) yield* letGoOn(sql`id = ${task.id}`, at);
}

function* dropCard(taskId: string): Script<void> {
  yield* update(
    'deliveries',
    { status: 'failed', error: `moot: ${movedAway}`, readyAt: null },
    waitsIn(cardLane(taskId)),
  );
}
