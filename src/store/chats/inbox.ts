import type { ChatStore, Draft, DraftChange, NewUpdate, StoredUpdate, UpdateEnd } from '../../app/ports/chats.ts';
import { each, row, rows, write, type Engine, type Script } from '../engine/engine.ts';
import { insertMessages } from '../outbox/new-parts.ts';

type InboxStore = Pick<ChatStore, 'receiveUpdates' | 'openUpdates' | 'beginUpdate' | 'endUpdate'>;

/** Updates of the platform: stored before the next one is asked for, and done together with what they brought. */
export function inboxStore(engine: Engine): InboxStore {
  return {
    receiveUpdates: (updates, now) => engine.transact(() => receiveUpdates(updates, now)),
    openUpdates: (after, limit) => engine.transact(() => openUpdates(after, limit)),
    beginUpdate: (id) => engine.transact(() => beginUpdate(id)),
    endUpdate: (end) => engine.transact(() => endUpdate(end)),
  };
}

/** The platform keeps an update for a day; after two, the same number is another update. */
const repeatMaxMs = 2 * 86_400_000;

/**
 * After a silent week the platform may go on with smaller numbers, so the last one is noted and not looked for, and a
 * number that was there before counts as new.
 */
function* receiveUpdates(updates: readonly NewUpdate[], now: number): Script<number> {
  const made = yield* each(
    `insert into inbox (update_id, payload, status, attempts, received_at, address, message_id)
     values (?i, ?t, 'received', 0, ?i, ?t, ?i)
     on conflict (update_id) do update set payload = excluded.payload, status = 'received', attempts = 0, error = null,
       done_at = null, received_at = excluded.received_at, address = excluded.address, message_id = excluded.message_id
     where inbox.status <> 'received' and inbox.received_at < excluded.received_at - ${repeatMaxMs}`,
    distinct(updates).map(({ id, payload, address, messageId }) => [id, payload, now, address, messageId]),
  );
  return made.filter(Boolean).length;
}

function distinct(updates: readonly NewUpdate[]): readonly NewUpdate[] {
  return [...new Map(updates.map((update) => [update.id, update])).values()];
}

function* openUpdates(after: number, limit: number): Script<StoredUpdate[]> {
  return yield* rows<StoredUpdate>(
    `select update_id as id, payload, attempts, received_at as "receivedAt" from inbox
     where status = 'received' and update_id > ?i order by update_id limit ?i`,
    after,
    limit,
  );
}

/** Zero for one that is done, or was never stored. */
function* beginUpdate(id: number): Script<number> {
  const begun = yield* row<{ attempts: number }>(
    `update inbox set attempts = attempts + 1 where update_id = ?i and status = 'received' returning attempts`,
    id,
  );
  return begun?.attempts ?? 0;
}

function* endUpdate({ id, status, error, messages, draft, at }: UpdateEnd): Script<boolean> {
  const ended = yield* write(
    `update inbox set status = ?t, error = ?t, done_at = ?i where update_id = ?i and status = 'received'`,
    status,
    error,
    at,
    id,
  );
  if (!ended) return false;
  yield* insertMessages(messages, at);
  if (draft !== null) yield* changeDraft(draft, at);
  return true;
}

function* changeDraft(change: DraftChange, at: number): Script<void> {
  if (change.is === 'drop') yield* rows(`delete from drafts where id = ?t`, change.draftId);
  else yield* putDraft(change.draft, at);
}

function* putDraft({ id, chatId, userId, topic, step, body, expiresAt }: Draft, at: number): Script<void> {
  yield* rows(
    `delete from drafts where chat_id = ?t and user_id = ?t and coalesce(topic, 0) = ?i and id <> ?t`,
    chatId,
    userId,
    topic ?? 0,
    id,
  );
  yield* rows(
    `insert into drafts (id, chat_id, user_id, topic, step, body, expires_at, created_at, updated_at)
     values (?t, ?t, ?t, ?i, ?t, ?t, ?i, ?i, ?i)
     on conflict (id) do update set topic = excluded.topic, step = excluded.step, body = excluded.body,
       expires_at = excluded.expires_at, updated_at = excluded.updated_at`,
    id,
    chatId,
    userId,
    topic,
    step,
    JSON.stringify(body),
    expiresAt,
    at,
    at,
  );
}
