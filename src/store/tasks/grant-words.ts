import type { GrantFault } from '../../domain/grant.ts';
import type { Reason } from '../../domain/occurrence.ts';
import type { View } from '../../domain/shown.ts';
import { row, rows, type Script } from '../engine/engine.ts';
import { insertPart } from '../outbox/new-parts.ts';
import { toldScope } from '../outbox/messages.ts';
import { idAt } from '../engine/time-ids.ts';

interface Skip {
  readonly taskId: string | null;
  readonly reason: Reason | null;
}

interface Place {
  readonly chat_id: string;
  readonly revoked_at: number | null;
  readonly revoked_by: string | null;
}

/** Runs that were left out because the task has no right to run any more: its chat is told once for each loss of it. */
export function* tellGrantGone(skips: readonly Skip[], now: number): Script<void> {
  const lost = new Map<string, GrantFault>();
  for (const { taskId, reason } of skips) if (taskId !== null && isGrantFault(reason)) lost.set(taskId, reason);
  for (const [taskId, reason] of lost) {
    const place = yield* row<Place>(
      `select t.chat_id, (select g.revoked_at from grants g where g.id = t.grant_id) as revoked_at,
         (select g.revoked_by from grants g where g.id = t.grant_id) as revoked_by
       from tasks t where t.id = ?t and exists (select 1 from chats c where c.id = t.chat_id and c.provider = 'telegram')`,
      taskId,
    );
    if (place !== undefined && (yield* isNews(taskId, { place, reason, now })))
      yield* insertWord(taskId, { place, reason, now });
  }
}

function isGrantFault(reason: Reason | null): reason is GrantFault {
  return reason?.startsWith('grant_') === true;
}

interface Word {
  readonly place: Place;
  readonly reason: GrantFault;
  readonly now: number;
}

function* isNews(taskId: string, { place, reason, now }: Word): Script<boolean> {
  const told = yield* rows(
    `insert into kv (scope, key, value, updated_at) values (?t, ?t, '', ?i) on conflict (scope, key) do nothing returning key`,
    toldScope(place.chat_id),
    `${reason}:${taskId}:${place.revoked_at ?? ''}`,
    now,
  );
  return told.length > 0;
}

function* insertWord(taskId: string, { place, reason, now }: Word): Script<void> {
  const content: View = { view: 'mayNotRun', reason, hasLeft: place.revoked_by === 'system:left' };
  const part = { id: idAt(now, `grant:${taskId}`), taskId, chatId: place.chat_id, thread: { topic: null } };
  yield* insertPart({ ...part, kind: 'notice', content }, now);
}
