import type { DraftChange, NewUpdate, StoredUpdate, UpdateEnd } from '../../app/ports/chats.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { limit as limited, raw, sql } from '../engine/sql.ts';
import { all, insert, insertAll, one, run, select, update, updateReturning } from '../engine/statements.ts';
import { addMessages } from '../outbox/new-parts.ts';

/** Updates of Telegram: stored before the next one is asked for, and done together with what they brought. */
export const inboxStore = { receiveUpdates, openUpdates, beginUpdate, endUpdate };

/** Telegram keeps an update for a day; after two, the same number is another update. */
const repeatMaxMs = 2 * 86_400_000;

/**
 * After a silent week Telegram may go on with smaller numbers, so the last one is noted and not looked for, and a
 * number that was there before counts as new.
 */
function* receiveUpdates(updates: readonly NewUpdate[], now: number): Script<number> {
  const made = yield* insertAll(
    'inbox',
    distinct(updates).map(({ id: updateId, payload, address, messageId, lane }) => ({
      updateId,
      payload,
      status: 'received' as const,
      attempts: 0,
      receivedAt: now,
      address,
      messageId,
      lane,
      bootId: null,
    })),
    again,
  );
  return made.filter(Boolean).length;
}

const again = raw(`on conflict (update_id) do update set payload = excluded.payload, status = 'received', attempts = 0,
    error = null, done_at = null, received_at = excluded.received_at, address = excluded.address,
    message_id = excluded.message_id, lane = excluded.lane, boot_id = null
  where inbox.status <> 'received' and inbox.received_at < excluded.received_at - ${repeatMaxMs}`);

function distinct(updates: readonly NewUpdate[]): readonly NewUpdate[] {
  return [...new Map(updates.map((update) => [update.id, update])).values()];
}

function* openUpdates(after: number, limit: number): Script<StoredUpdate[]> {
  return yield* all(
    select(
      storedFields,
    )`from inbox where status = 'received' and update_id > ${after} order by update_id ${limited(limit)}`,
  );
}

const { inbox } = columns;
const storedFields = { id: inbox.updateId, ...pick(inbox, 'payload', 'attempts', 'receivedAt') };

/** Free is an update that no other process that lives has begun. */
const isFree = (bootId: string) =>
  sql`(boot_id is null or boot_id = ${bootId} or not exists (select 1 from processes p where p.id = boot_id and p.ended_at is null))`;

function* beginUpdate(id: number, bootId: string, isNext = false): Script<number | 'waits'> {
  const open = sql`update_id = ${id} and status = 'received' and ${isFree(bootId)}`;
  const first = sql`(${isNext ? 1 : 0} = 1 or not exists (select 1 from inbox e where e.lane = inbox.lane and e.status = 'received' and e.update_id < inbox.update_id))`;
  const change = { attempts: raw('attempts + 1'), bootId };
  const [begun] = yield* updateReturning('inbox', change, sql`${open} and ${first}`, pick(inbox, 'attempts'));
  if (begun !== undefined) return begun.attempts;
  const waiting = yield* one(select(pick(inbox, 'attempts'))`from inbox where ${open}`);
  return waiting === undefined ? 0 : 'waits';
}

function* endUpdate({ id, status, error, messages, draft, at, bootId = '' }: UpdateEnd): Script<boolean> {
  const open = sql`update_id = ${id} and status = 'received' and coalesce(boot_id, '') = ${bootId}`;
  const ended = yield* update('inbox', { status, error, doneAt: at }, open);
  if (!ended) return false;
  yield* addMessages(messages, at);
  if (draft !== null) yield* changeDraft(draft, at);
  return true;
}

function* changeDraft(change: DraftChange, at: number): Script<void> {
  if (change.is === 'drop') yield* run(sql`delete from drafts where id = ${change.draftId}`);
  else yield* putDraft(change, at);
}

function* putDraft(
  { draft: { body, ...draft }, drops = draft.id }: Extract<DraftChange, { is: 'put' }>,
  at: number,
): Script<void> {
  if (drops !== draft.id) yield* run(sql`delete from drafts where id = ${drops}`);
  yield* insert(
    'drafts',
    { ...draft, body: JSON.stringify(body), createdAt: at, updatedAt: at },
    raw(`on conflict (id) do update set topic = excluded.topic, step = excluded.step, body = excluded.body,
      message_id = coalesce(excluded.message_id, drafts.message_id), expires_at = excluded.expires_at, updated_at = excluded.updated_at`),
  );
}
