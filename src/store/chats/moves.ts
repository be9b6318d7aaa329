import type { ChatState } from '../../app/ports/chats.ts';
import { threadLane, type MessageInput } from '../../domain/run.ts';
import type { Script } from '../engine/engine.ts';
import { columns, mapped, pick } from '../engine/fields.ts';
import { raw, sql } from '../engine/sql.ts';
import { all, insert, run, select, update, updateAll } from '../engine/statements.ts';
import { laneIn } from '../outbox/lanes.ts';
import { mergeBudgets } from '../spending/limits.ts';
import { readFacts } from '../tasks/codec.ts';
import { applyMembership } from './people.ts';
import { lockChat, telegram, type ChatRow } from './rows.ts';
import { mergeSecrets } from './secrets.ts';
import { merged } from './survivors.ts';

/**
 * A group became a supergroup. The old address stays as an alias, so whoever comes with it finds the chat. When an update
 * of the supergroup came first, the supergroup has a row of its own already, and the two become one.
 */
export function* moveChat(from: string, to: string, at: number): Script<void> {
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
    // Another writer made a row for the new address at this moment.
    const made = yield* lockChat({ provider: telegram, address: to });
    if (made !== undefined) yield* joinChats(old, made, { from, to, at });
  }
}

function* addAlias(address: string, chatId: string, at: number): Script<boolean> {
  return yield* insert(
    'chatAliases',
    { address, provider: telegram, chatId, createdAt: at },
    raw('on conflict (provider, address) do nothing'),
  );
}

function* setAddress(chatId: string, address: string, at: number): Script<void> {
  yield* update('chats', { address, updatedAt: at }, sql`id = ${chatId}`);
  yield* forgetSaid(chatId);
}

/** The supergroup counts its messages anew: words that are edited there are none of those with which drafts began. */
function* forgetSaid(chatId: string): Script<void> {
  yield* update('drafts', { messageId: null }, sql`chat_id = ${chatId}`);
}

function* joinChats(
  old: ChatRow,
  young: ChatRow,
  { from, to, at }: { readonly from: string; readonly to: string; readonly at: number },
): Script<void> {
  if (old.id !== young.id) return yield* mergeChats(old, young, at);
  // Known already. Only a chat that still bears the old address takes the new one, for it may have moved on since.
  yield* update('chats', { address: to, updatedAt: at }, sql`id = ${old.id} and address = ${from}`);
}

/** The old chat survives with its numbers; the tasks of the young one are numbered after them. */
function* mergeChats(old: ChatRow, young: ChatRow, at: number): Script<void> {
  const ofYoung = sql`chat_id = ${young.id}`;
  yield* forgetSaid(old.id);
  yield* update('tasks', { chatId: old.id, number: sql`number + ${old.lastNumber}` }, ofYoung);
  yield* mergeLanes(old.id, young.id);
  for (const table of followers) yield* update(table, { chatId: old.id }, ofYoung);
  yield* update('grants', { accountId: old.id }, sql`account_id = ${young.id}`);
  yield* mergeDeliveries(old.id, young.id);
  yield* mergeNotes(old.id, young.id);
  yield* mergeBlobs(old.id, young.id);
  yield* mergeSecrets(old.id, young.id);
  yield* mergeBudgets(old.id, young.id);
  yield* mergeMembers(old.id, young.id, at);
  yield* mergeTokens(old.id, young.id);
  yield* update('chatAliases', { chatId: old.id }, ofYoung);
  yield* run(sql`delete from chats where id = ${young.id}`);
  yield* insert('chatAliases', { address: young.id, provider: merged, chatId: old.id, createdAt: at });
  yield* writeMerged(old, young, at);
}

/** Tables whose rows the old chat takes over as they are. */
const followers = [
  ...(['grants', 'runs', 'audit', 'usage', 'drafts', 'acks', 'standing', 'occurrences', 'gaps', 'attempts'] as const),
  ...(['taskTags', 'taskVersions', 'events', 'watches', 'blobRefs', 'albumMessages', 'credentials'] as const),
] as const;

/** Bytes that both chats have are kept once. */
function* mergeBlobs(oldId: string, youngId: string): Script<void> {
  yield* run(sql`insert into blobs (chat_id, sha256, mime, size, is_whole, put_at, expires_at)
    select ${oldId}, sha256, mime, size, is_whole, put_at, expires_at from blobs where chat_id = ${youngId}
    on conflict (chat_id, sha256) do update set
      is_whole = case when excluded.is_whole = 1 then 1 else blobs.is_whole end,
      expires_at = case when excluded.expires_at is null or blobs.expires_at is null then null
        when excluded.expires_at > blobs.expires_at then excluded.expires_at else blobs.expires_at end`);
  yield* run(sql`insert into blob_chunks (chat_id, sha256, chunk, bytes)
    select ${oldId}, sha256, chunk, bytes from blob_chunks where chat_id = ${youngId}
    on conflict (chat_id, sha256, chunk) do nothing`);
  for (const table of ['blob_chunks', 'blobs'] as const)
    yield* run(sql`delete from ${raw(table)} where chat_id = ${youngId}`);
}

const lanedFields = { id: columns.runs.id, topic: mapped(columns.runs.input, topicIn) };

function topicIn(input: string): number | null {
  return (readFacts(input)?.['message'] as Partial<MessageInput> | undefined)?.topic ?? null;
}

/** Runs that wait in order go on in order. */
function* mergeLanes(oldId: string, youngId: string): Script<void> {
  const laned = yield* all(
    select(lanedFields)`from runs
      where lane is not null and status in ('queued', 'running', 'backoff', 'waiting') and chat_id = ${youngId}`,
  );
  yield* updateAll('runs', laned, {
    set: ({ topic }) => ({ lane: threadLane(oldId, topic) }),
    where: ({ id }) => sql`id = ${id}`,
  });
}

function* mergeDeliveries(oldId: string, youngId: string): Script<void> {
  yield* update('deliveries', { chatId: oldId, lane: laneIn(oldId) }, sql`chat_id = ${youngId}`);
}

/** Words said in either chat are said; the later end of two holds binds. */
function* mergeNotes(oldId: string, youngId: string): Script<void> {
  yield* run(sql`insert into told (chat_id, word, reason, task_id, about, at)
    select ${oldId}, word, reason, task_id, about, at from told where chat_id = ${youngId}
    on conflict (chat_id, word, reason, task_id, about) do nothing`);
  yield* run(sql`delete from told where chat_id = ${youngId}`);
  yield* run(sql`insert into kv (scope, key, value, expires_at, updated_at)
    select scope, ${oldId}, value, expires_at, updated_at from kv where scope = 'hold' and key = ${youngId}
    on conflict (scope, key) do update set expires_at = excluded.expires_at where kv.expires_at < excluded.expires_at`);
  yield* run(sql`delete from kv where scope = 'hold' and key = ${youngId}`);
}

/** A token of either chat holds for the one that both have become. */
function* mergeTokens(oldId: string, youngId: string): Script<void> {
  yield* run(sql`insert into token_chats (token_id, chat_id)
    select token_id, ${oldId} from token_chats where chat_id = ${youngId} on conflict (token_id, chat_id) do nothing`);
  yield* run(sql`delete from token_chats where chat_id = ${youngId}`);
}

/** Of two answers about a person the later one holds, and so do their grants. */
function* mergeMembers(oldId: string, youngId: string, at: number): Script<void> {
  yield* run(sql`insert into members (chat_id, user_id, status, checked_at)
    select ${oldId}, user_id, status, checked_at from members where chat_id = ${youngId}
    on conflict (chat_id, user_id) do update set status = excluded.status, checked_at = excluded.checked_at
    where members.checked_at < excluded.checked_at`);
  yield* run(sql`delete from members where chat_id = ${youngId}`);
  const known = yield* all(
    select(pick(columns.members, 'userId', 'status'))`from members where chat_id = ${oldId} order by user_id`,
  );
  for (const { userId, status } of known) {
    yield* applyMembership({ chatId: oldId, userId, isOut: status === 'out', at });
  }
}

function* writeMerged(old: ChatRow, young: ChatRow, at: number): Script<void> {
  yield* update(
    'chats',
    {
      address: young.address,
      title: young.title ?? undefined,
      kind: young.kind ?? undefined,
      state: mergedState(old, young),
      stateBefore: null,
      timezone: old.timezone ?? young.timezone,
      settings: JSON.stringify(Object.keys(old.settings).length === 0 ? young.settings : old.settings),
      approvedBy: old.approvedBy ?? young.approvedBy,
      approvedAt: old.approvedBy === null ? young.approvedAt : old.approvedAt,
      lastNumber: old.lastNumber + young.lastNumber,
      sharedTopic: old.sharedTopic ?? young.sharedTopic,
      updatedAt: at,
    },
    sql`id = ${old.id}`,
  );
}

/** The chat can be reached, or it would not have told that it moved; what was allowed or refused in either stays so. */
function mergedState(old: ChatRow, young: ChatRow): ChatState {
  const states = [old, young].map(({ state, stateBefore: before }) => (state === 'gone' ? before : state));
  return (['approved', 'refused'] as const).find((state) => states.includes(state)) ?? 'new';
}
