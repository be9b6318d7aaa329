import type { Quota } from '../../app/ports/tasks.ts';
import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import type { Task } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { count } from '../engine/fields.ts';
import { forShare, raw, sql } from '../engine/sql.ts';
import { hold, insert, one, select } from '../engine/statements.ts';

interface Counted {
  readonly chatId: string;
  readonly owner: string;
  readonly createdBy: string;
}

/** Only tasks that can still run count. The quota of a user is for what they made themselves: a token that makes tasks in their chat has none. */
export function* checkQuota(quota: Quota, { chatId, owner, createdBy }: Counted): Script<void> {
  yield* checkChatQuota(quota, chatId);
  if (createdBy !== owner) return;
  const ofUser = yield* one(
    select({ count })`from tasks where owner_id = ${owner} and created_by = ${owner} and state in ('active', 'paused')`,
  );
  if ((ofUser?.count ?? 0) >= quota.user) throw quotaExceeded('user', quota.user);
}

export function* checkChatQuota(quota: Quota, chatId: string): Script<void> {
  const inChat = yield* one(select({ count })`from tasks where chat_id = ${chatId} and state in ('active', 'paused')`);
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
  yield* hold(sql`select id from chats where id = ${chatId} ${keeping}`);
  yield* hold(sql`select id from users where id = ${ownerId} ${keeping}`);
}

/** The row of a principal, made when it is seen for the first time, under its lock. */
export function* lockUser(id: Actor, now: number): Script<void> {
  const role = id.startsWith('system') ? 'system' : 'user';
  yield* insert('users', { id, role, createdAt: now, updatedAt: now }, raw('on conflict (id) do nothing'));
  yield* hold(sql`select id from users where id = ${id} ${keeping}`);
}

const keeping = forShare();
