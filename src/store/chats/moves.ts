import type { ChatState } from '../../app/ports/chats.ts';
import type { Actor } from '../../domain/access.ts';
import { row, rows, write, type Script } from '../engine/engine.ts';
import { toldScope } from '../outbox/new-parts.ts';
import { applyMembership } from './people.ts';
import { lockChat, telegram, type ChatRow } from './rows.ts';

export interface Move {
  readonly from: string;
  readonly to: string;
  readonly at: number;
}

/**
 * A group became a supergroup. The old address stays as an alias, so whoever comes with it finds the chat. When an update
 * of the supergroup came first, the supergroup has a row of its own already, and the two become one.
 */
export function* moveChat({ from, to, at }: Move): Script<void> {
  if (from === to) return;
  const old = yield* lockChat({ provider: telegram, address: from });
  const young = yield* lockChat({ provider: telegram, address: to });
  if (old === undefined) {
    if (young !== undefined) yield* addAlias(from, young.id, at);
    return;
  }
  if (young !== undefined) yield* joinChats(old, young, { from, to, at });
  else if (yield* addAlias(to, old.id, at)) yield* setAddress(old.id, to, at);
  else {
    // Somebody else made a row for the new address at this moment.
    const made = yield* lockChat({ provider: telegram, address: to });
    if (made !== undefined) yield* joinChats(old, made, { from, to, at });
  }
}

function* addAlias(address: string, chatId: string, at: number): Script<boolean> {
  return yield* write(
    `insert into chat_aliases (provider, address, chat_id, created_at) values (?t, ?t, ?t, ?i)
     on conflict (provider, address) do nothing`,
    telegram,
    address,
    chatId,
    at,
  );
}

function* setAddress(chatId: string, address: string, at: number): Script<void> {
  yield* write(`update chats set address = ?t, updated_at = ?i where id = ?t`, address, at, chatId);
}

function* joinChats(old: ChatRow, young: ChatRow, { from, to, at }: Move): Script<void> {
  if (old.id !== young.id) return yield* mergeChats(old, young, at);
  // Known already. Only a chat that still bears the old address takes the new one, for it may have moved on since.
  yield* write(`update chats set address = ?t, updated_at = ?i where id = ?t and address = ?t`, to, at, old.id, from);
}

/** Aliases of this provider name rows that are gone: what was under way for them finds the chat that took them in. */
const merged = 'merged';

export function* survivorOf(chatId: string): Script<string | null> {
  const found = yield* row<{ chat_id: string }>(
    `select chat_id from chat_aliases where provider = '${merged}' and address = ?t`,
    chatId,
  );
  return found?.chat_id ?? null;
}

/** The old chat survives with its numbers; the tasks of the young one are numbered after them. */
function* mergeChats(old: ChatRow, young: ChatRow, at: number): Script<void> {
  yield* rows(
    `update tasks set chat_id = ?t, number = number + ?i where chat_id = ?t`,
    old.id,
    old.last_number,
    young.id,
  );
  // What waits in order goes on in order.
  yield* rows(
    `update runs set lane = replace(lane, ?t, ?t)
     where lane is not null and status in ('queued', 'running', 'backoff', 'waiting') and chat_id = ?t`,
    `:${young.id}:`,
    `:${old.id}:`,
    young.id,
  );
  for (const table of ['grants', 'runs', 'audit', 'usage', 'drafts', 'acks']) {
    yield* rows(`update ${table} set chat_id = ?t where chat_id = ?t`, old.id, young.id);
  }
  yield* mergeDeliveries(old.id, young.id);
  yield* mergeNotes(old.id, young.id);
  yield* mergeMembers(old.id, young.id, at);
  yield* rows(`update chat_aliases set chat_id = ?t where chat_id = ?t`, old.id, young.id);
  yield* rows(`delete from chats where id = ?t`, young.id);
  yield* rows(
    `insert into chat_aliases (provider, address, chat_id, created_at) values ('${merged}', ?t, ?t, ?i)`,
    young.id,
    old.id,
    at,
  );
  yield* writeMerged(old, young, at);
}

/** Lanes of tasks name the task alone; the others name the chat. */
function* mergeDeliveries(oldId: string, youngId: string): Script<void> {
  yield* rows(
    `update deliveries set chat_id = ?t,
       lane = case when lane like 'task:%' or lane like 'card:%' then lane else replace(lane, ?t, ?t) end
     where chat_id = ?t`,
    oldId,
    `:${youngId}`,
    `:${oldId}`,
    youngId,
  );
}

/** What was said in either is said; the later end of two holds binds. */
function* mergeNotes(oldId: string, youngId: string): Script<void> {
  yield* rows(
    `insert into kv (scope, key, value, expires_at, updated_at)
     select ?t, key, value, expires_at, updated_at from kv where scope = ?t
     on conflict (scope, key) do nothing`,
    toldScope(oldId),
    toldScope(youngId),
  );
  yield* rows(`delete from kv where scope = ?t`, toldScope(youngId));
  yield* rows(
    `insert into kv (scope, key, value, expires_at, updated_at)
     select scope, ?t, value, expires_at, updated_at from kv where scope = 'hold' and key = ?t
     on conflict (scope, key) do update set expires_at = excluded.expires_at
     where kv.expires_at < excluded.expires_at`,
    oldId,
    youngId,
  );
  yield* rows(`delete from kv where scope = 'hold' and key = ?t`, youngId);
}

/** Of two answers about a person the later one holds, and so do their grants. */
function* mergeMembers(oldId: string, youngId: string, at: number): Script<void> {
  yield* rows(
    `insert into members (chat_id, user_id, status, checked_at)
     select ?t, user_id, status, checked_at from members where chat_id = ?t
     on conflict (chat_id, user_id) do update set status = excluded.status, checked_at = excluded.checked_at
     where members.checked_at < excluded.checked_at`,
    oldId,
    youngId,
  );
  yield* rows(`delete from members where chat_id = ?t`, youngId);
  const all = yield* rows<{ user_id: Actor; status: 'admin' | 'member' | 'out' }>(
    `select user_id, status from members where chat_id = ?t order by user_id`,
    oldId,
  );
  for (const { user_id: userId, status } of all) {
    yield* applyMembership({ chatId: oldId, userId, isOut: status === 'out', at });
  }
}

function* writeMerged(old: ChatRow, young: ChatRow, at: number): Script<void> {
  yield* rows(
    `update chats set address = ?t, title = coalesce(?t, title), kind = coalesce(?t, kind), state = ?t, state_before = null,
       timezone = coalesce(timezone, ?t), settings = ?t, approved_by = coalesce(approved_by, ?t), last_number = ?i,
       updated_at = ?i
     where id = ?t`,
    young.address,
    young.title,
    young.kind,
    mergedState(old, young),
    young.timezone,
    old.settings === '{}' ? young.settings : old.settings,
    young.approved_by,
    old.last_number + young.last_number,
    at,
    old.id,
  );
}

/** The chat can be reached, or it would not have told that it moved; what was allowed or refused in either stays so. */
function mergedState(old: ChatRow, young: ChatRow): ChatState {
  const states = [old, young].map(({ state, state_before: before }) => (state === 'gone' ? before : state));
  return (['approved', 'refused'] as const).find((state) => states.includes(state)) ?? 'new';
}
