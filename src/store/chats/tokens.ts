import type { Page, PageQuery } from '../../app/ports/runs.ts';
import {
  tokensMax,
  tokenUsedEveryMs,
  type KnownToken,
  type NewToken,
  type TokenChange,
  type TokenCounts,
  type TokenView,
} from '../../app/use-cases/tokens.ts';
import type { Actor } from '../../domain/access.ts';
import { AppError, invalid } from '../../domain/errors.ts';
import { tokenScopes, type TokenScope } from '../../domain/principal.ts';
import { threadKeyOf, type Thread } from '../../domain/thread.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, mapped, pick, type Answer } from '../engine/fields.ts';
import { page, positionOf, writeCursor } from '../engine/queries.ts';
import { allOf, limit as limited, list, raw, sql } from '../engine/sql.ts';
import { all, insert, insertAll, one, run, select, update } from '../engine/statements.ts';
import { recordAccess } from '../records/journal.ts';
import { readTexts } from '../tasks/codec.ts';
import { chatOf, findChat } from './rows.ts';

/** Named tokens: their rows, and the chats for which each of them holds. */
export const tokenStore = { makeToken, listTokens, revokeToken, tokenBy, countTokens };

const k = columnsOf('tokens', 'k');
const c = columnsOf('chats', 'c');

const viewedFields = {
  ...pick(k, 'id', 'name', 'prefix'),
  scopes: mapped(k.scopes, scopesIn),
  ...pick(k, 'confined', 'expiresAt', 'lastUsedAt', 'revokedAt', 'revokedBy', 'createdAt', 'createdBy'),
};

/** A token whose scopes cannot be read may do nothing. */
function scopesIn(text: string): readonly TokenScope[] {
  try {
    const known = readTexts('scopes', text);
    return tokenScopes.filter((scope) => known.includes(scope));
  } catch {
    return [];
  }
}

const held = raw('revoked_at is null');

function* makeToken({ threads, newChatIds, by, at, traceId, ...token }: NewToken): Script<TokenChange> {
  const live = yield* one(select({ count })`from tokens where ${held}`);
  if ((live?.count ?? 0) >= tokensMax) throw tooMany();
  const chats: string[] = [];
  for (const [index, thread] of (threads ?? []).entries()) {
    chats.push(yield* chatFor(thread, newChatIds[index] ?? '', at));
  }
  const { scopes, ...row } = token;
  const confined = threads === null ? 0 : 1;
  const made = { ...row, scopes: JSON.stringify(scopes), confined, createdAt: at, createdBy: by };
  if (!(yield* insert('tokens', made, raw('on conflict do nothing')))) throw nameTaken(token.name);
  yield* insertAll(
    'tokenChats',
    [...new Set(chats)].map((chatId) => ({ tokenId: token.id, chatId })),
  );
  const view = yield* viewOf(token.id);
  const entryId = yield* recordAccess({
    at,
    actor: by,
    verb: 'make_token',
    chatId: null,
    after: factsOf(view),
    traceId,
  });
  return { token: view, entryId, tasks: 0 };
}

/** Threads that nothing is delivered to may be named before anything is in them; a chat of Telegram must be known. */
function* chatFor(thread: Thread, newId: string, at: number): Script<string> {
  const chat = thread.provider === 'telegram' ? yield* findChat(thread) : yield* chatOf(thread, newId, at);
  if (chat !== undefined) return chat.id;
  const key = threadKeyOf(thread);
  throw invalid('thread_keys', `thread_keys: there is no chat ${key} here. Add the bot to it, or leave it out.`);
}

function nameTaken(name: string): AppError {
  return invalid('name', `name: there is a token called ${name} already. Revoke that one, or take another name.`);
}

function tooMany(): AppError {
  return new AppError('quota_exceeded', `There are ${tokensMax} tokens, which is the most. Revoke one of them first.`);
}

function factsOf({ id, name, scopes, threads, expiresAt }: TokenView) {
  return {
    token_id: id,
    name,
    scopes,
    chats: threads?.map(({ provider, address }) => `${provider}:${address}`) ?? null,
    expires_at: expiresAt,
  };
}

type Viewed = Answer<typeof viewedFields>;

const selectTokens = select(viewedFields);

function* listTokens({ limit, cursor }: PageQuery): Script<Page<TokenView>> {
  const where = allOf(cursor === null ? undefined : sql`k.id < ${positionOf('token', cursor)}`);
  const { rows, next } = yield* page({
    limit,
    found: (max) => all(selectTokens`from tokens k where ${where} order by k.id desc ${limited(max)}`),
    keyOf: ({ id }) => id,
  });
  return { items: yield* withThreads(rows), next: next === null ? null : writeCursor('token', next) };
}

const chatFields = { tokenId: columnsOf('tokenChats', 'h').tokenId, provider: c.provider, address: c.address };

function* withThreads(rows: readonly Viewed[]): Script<TokenView[]> {
  const named = yield* all(
    select(chatFields)`from token_chats h join chats c on c.id = h.chat_id
      where h.token_id in ${list(rows.map(({ id }) => id))} order by c.provider, c.address`,
  );
  return rows.map(({ confined, ...token }) => {
    const own = named.filter(({ tokenId }) => tokenId === token.id);
    const threads = own.map(({ provider, address }) => ({ provider, address, topic: null }));
    return { ...token, threads: confined === 0 ? null : threads };
  });
}

function* viewOf(id: string): Script<TokenView> {
  const [view] = yield* withThreads(yield* all(selectTokens`from tokens k where k.id = ${id}`));
  if (view === undefined) throw new Error(`the token ${id} vanished`);
  return view;
}

interface Revoking {
  readonly id: string;
  readonly by: Actor;
  readonly at: number;
  readonly traceId: string | null;
}

/** For good: nothing brings a token back. */
function* revokeToken({ id, by, at, traceId }: Revoking): Script<TokenChange | null> {
  const known = yield* one(select(pick(columns.tokens, 'id'))`from tokens where id = ${id}`);
  if (known === undefined) return null;
  const isNew = yield* update('tokens', { revokedAt: at, revokedBy: by }, sql`id = ${id} and ${held}`);
  const token = yield* viewOf(id);
  const actor: Actor = `api:token:${id}`;
  const made = yield* one(select({ count })`from tasks where created_by = ${actor} and state in ('active', 'paused')`);
  const tasks = made?.count ?? 0;
  if (!isNew) return { token, entryId: null, tasks };
  const entryId = yield* recordAccess({
    at,
    actor: by,
    verb: 'revoke_token',
    chatId: null,
    after: factsOf(token),
    traceId,
  });
  return { token, entryId, tasks };
}

const judgedFields = {
  ...pick(k, 'id', 'hash', 'confined', 'expiresAt', 'revokedAt'),
  scopes: mapped(k.scopes, scopesIn),
};

function* tokenBy(prefix: string): Script<KnownToken | null> {
  const found = yield* one(select(judgedFields)`from tokens k where k.prefix = ${prefix}`);
  if (found === undefined) return null;
  const { confined, ...token } = found;
  if (confined === 0) return { ...token, chats: null };
  const chats = yield* all(select(pick(columns.tokenChats, 'chatId'))`from token_chats where token_id = ${token.id}`);
  return { ...token, chats: chats.map(({ chatId }) => chatId) };
}

/** It can be noted again, so nobody waits for the disk. */
export function* markTokenUsed(id: string, at: number): Script<void> {
  yield* run(sql`update tokens set last_used_at = ${at}
    where id = ${id} and (last_used_at is null or last_used_at <= ${at - tokenUsedEveryMs})`);
}

function* countTokens(now: number): Script<TokenCounts> {
  const live = yield* one(select({ count })`from tokens where ${held} and (expires_at is null or expires_at > ${now})`);
  const known = yield* one(select({ count })`from tokens where ${held}`);
  return { live: live?.count ?? 0, expired: (known?.count ?? 0) - (live?.count ?? 0) };
}
