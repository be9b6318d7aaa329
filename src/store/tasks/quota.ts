import type { Quota } from '../../app/ports/tasks.ts';
import { AppError } from '../../domain/errors.ts';
import type { Task } from '../../domain/task.ts';
import { row, type Script, rows } from '../engine/engine.ts';

interface Counted {
  readonly chatId: string;
  readonly owner: string;
  readonly createdBy: string;
}

/** Only tasks that can still run count. The quota of a user is for what they made themselves: a token that makes tasks in their chat has none. */
export function* checkQuota(quota: Quota, { chatId, owner, createdBy }: Counted): Script<void> {
  yield* checkChatQuota(quota, chatId);
  if (createdBy !== owner) return;
  const ofUser = yield* row<{ count: number }>(
    `select count(*) as count from tasks where owner_id = ?t and created_by = ?t and state in ('active', 'paused')`,
    owner,
    owner,
  );
  if ((ofUser?.count ?? 0) >= quota.user) throw quotaExceeded('user', quota.user);
}

export function* checkChatQuota(quota: Quota, chatId: string): Script<void> {
  const inChat = yield* row<{ count: number }>(
    `select count(*) as count from tasks where chat_id = ?t and state in ('active', 'paused')`,
    chatId,
  );
  if ((inChat?.count ?? 0) >= quota.chat) throw quotaExceeded('chat', quota.chat);
}

function quotaExceeded(whose: 'chat' | 'user', limit: number): AppError {
  return new AppError(
    'quota_exceeded',
    `This ${whose} has ${limit} tasks, which is the limit. Delete one that is no longer needed, or raise QUOTA_PER_${whose.toUpperCase()}.`,
    { details: { quota: whose, limit } },
  );
}

/** The same rows that a creation locks, so that neither can overtake the other at the edge of a quota. */
export function* lockOwner({ chatId, ownerId }: Pick<Task, 'chatId' | 'ownerId'>): Script<void> {
  yield* row(`select id from chats where id = ?t [for no key update]`, chatId);
  yield* row(`select id from users where id = ?t [for no key update]`, ownerId);
}

/** The row of a principal, made when it is seen for the first time, under its lock. */
export function* lockUser(id: string, now: number): Script<void> {
  const role = id.startsWith('system') ? 'system' : 'user';
  yield* rows(
    `insert into users (id, role, created_at, updated_at) values (?t, ?t, ?i, ?i) on conflict (id) do nothing`,
    id,
    role,
    now,
    now,
  );
  yield* row(`select id from users where id = ?t [for no key update]`, id);
}
