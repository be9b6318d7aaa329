import { isActor, type Actor } from '../../domain/actor.ts';
import { AppError } from '../../domain/errors.ts';
import { usageDefaultMs } from '../../domain/limits.ts';
import { parseThreadKey, type Thread } from '../../domain/thread.ts';
import type { ChatUsage } from '../ports/chat-facts.ts';
import type { Clock } from '../ports/outside.ts';

/** What ran, was shown and was consumed, of a chat, of a person, or of the whole server. Nothing of it decides anything. */

/** Every condition that is given must hold; the stretch holds its beginning and not its end. */
export interface UsageQuery {
  readonly thread: Thread | null;
  readonly ownerId: Actor | null;
  readonly from: number;
  readonly to: number;
}

/** Tasks that can still run, against what they are counted; null where nothing was named. */
export interface QuotaCounts {
  readonly chat: number | null;
  readonly user: number | null;
}

export interface UsageStore {
  usageOf(query: UsageQuery): Promise<ChatUsage>;
  countQuota(query: Pick<UsageQuery, 'thread' | 'ownerId'>): Promise<QuotaCounts>;
}

export interface UsageRequest {
  readonly threadKey: string | null;
  readonly userKey: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

interface Used {
  readonly used: number;
  readonly limit: number;
}

export interface Usage extends ChatUsage {
  readonly from: number;
  readonly to: number;
  readonly quota: { readonly chat: Used | null; readonly user: Used | null };
}

interface Needs {
  readonly store: UsageStore;
  readonly clock: Clock;
  /** Tasks that can still run, at most. */
  readonly quota: { readonly chat: number; readonly user: number };
}

export function createUsage({ store, clock, quota }: Needs): (request: UsageRequest) => Promise<Usage> {
  return async ({ threadKey, userKey, ...stretch }) => {
    const to = stretch.to ?? clock.now() + 1;
    const from = stretch.from ?? to - usageDefaultMs;
    if (from >= to) throw bad('from', 'from: it must lie before to.');
    const thread = threadKey === null ? null : parseThreadKey(threadKey);
    const ownerId = userKey === null ? null : actorOf(userKey);
    const usage = await store.usageOf({ thread, ownerId, from, to });
    const { chat, user } = await store.countQuota({ thread, ownerId });
    return { ...usage, from, to, quota: { chat: used(chat, quota.chat), user: used(user, quota.user) } };
  };
}

function used(count: number | null, limit: number): Used | null {
  return count === null ? null : { used: count, limit };
}

function actorOf(userKey: string): Actor {
  if (isActor(userKey)) return userKey;
  throw bad('user_key', 'user_key: it looks like telegram:user:1234, or system:api.');
}

function bad(field: string, message: string): AppError {
  return new AppError('invalid_request', message, { details: { field } });
}
