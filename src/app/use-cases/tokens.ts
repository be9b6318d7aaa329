import { apiPrincipal, type Actor } from '../../domain/access.ts';
import { errorText, invalid, missing } from '../../domain/errors.ts';
import { holdsScope, tokenScopes, type Principal, type TokenScope } from '../../domain/principal.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { parseThreadKey, threadKeyOf, type Thread } from '../../domain/thread.ts';
import type { World } from '../ports/outside.ts';
import type { Page, PageQuery } from '../ports/runs.ts';

/**
 * Named tokens. Each acts as a principal of its own, which may do what its scopes say in the chats that it names, until it
 * expires or is revoked. Its text is made here, told once to whoever asked for it, and kept by nobody: the database has its
 * hash. What it was used for stays when it is gone: tasks belong to the owner who approved their chat.
 */
export interface TokenView {
  readonly id: string;
  readonly name: string;
  /** The beginning of its text, by which people recognize it. */
  readonly prefix: string;
  readonly scopes: readonly TokenScope[];
  /** Null where it holds for all chats. */
  readonly threads: readonly Thread[] | null;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  readonly revokedBy: Actor | null;
  readonly createdAt: number;
  readonly createdBy: Actor;
}

/** A token as it is judged. */
export interface KnownToken extends Pick<TokenView, 'id' | 'scopes' | 'expiresAt' | 'revokedAt'> {
  readonly hash: string;
  readonly chats: Principal['chats'];
}

export interface NewToken extends Pick<TokenView, 'id' | 'name' | 'prefix' | 'scopes' | 'threads' | 'expiresAt'> {
  readonly hash: string;
  readonly by: Actor;
  readonly at: number;
  readonly traceId: string | null;
  /** New ids for threads that are seen for the first time. */
  readonly newChatIds: readonly string[];
}

export interface TokenChange {
  readonly token: TokenView;
  /** The row of the audit; null when nothing changed. */
  readonly entryId: string | null;
  /** Tasks that it made and that can still run. */
  readonly tasks: number;
}

/** How many there are that hold, and that have expired and were not revoked. */
export interface TokenCounts {
  readonly live: number;
  readonly expired: number;
}

export interface TokenStore {
  /** Refused where another one that was not revoked bears the name, and for a thread that is not known. */
  makeToken(token: NewToken): Promise<TokenChange>;
  /** The newest first. */
  listTokens(query: PageQuery): Promise<Page<TokenView>>;
  /** Null where there is no such token. */
  revokeToken(asked: Revoking & { readonly at: number }): Promise<TokenChange | null>;
  tokenBy(prefix: string): Promise<KnownToken | null>;
  markTokenUsed(id: string, at: number): Promise<void>;
  countTokens(now: number): Promise<TokenCounts>;
}

/** Far more than there are programs; a list of them is still read by people. */
export const tokensMax = 200;
/** The last use of a token is noted to the minute, because a write for each request would cost more than the request. */
export const tokenUsedEveryMs = 60_000;

interface Revoking {
  readonly id: string;
  readonly by: Actor;
  readonly traceId: string | null;
}

/** Chance and digests, which the rooms above have none of. */
export interface TokenCraft {
  /** A new token: 256 random bits behind the prefix that names it. */
  make(): { readonly prefix: string; readonly text: string };
  /** Compares in a time that tells nothing of either. */
  isSame(one: string, other: string): boolean;
}

export interface TokenWish {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** Null for all chats. */
  readonly threadKeys: readonly string[] | null;
  readonly expiresAt: number | null;
}

/** What the bearer of a text is. A token that is over is told so: only whoever holds all of it hears that. */
export type Judged =
  | { readonly is: 'holds'; readonly principal: Principal }
  | { readonly is: 'over'; readonly why: string }
  | { readonly is: 'wrong' };

/** The bearer of API_TOKEN. */
export const apiOperator: Principal = { actor: apiPrincipal, scopes: ['admin'], chats: null, endsAt: null };

type TokensDeps = Pick<World, 'clock' | 'ids' | 'digest' | 'log'> & {
  readonly store: TokenStore;
  readonly craft: TokenCraft;
};

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens(deps: TokensDeps) {
  const { store, clock, log } = deps;
  const usedAt = new Map<string, number>();
  const noteUse = (id: string, now: number) => {
    if (now - (usedAt.get(id) ?? Number.NEGATIVE_INFINITY) < tokenUsedEveryMs) return;
    usedAt.set(id, now);
    store.markTokenUsed(id, now).catch((error: unknown) => {
      log.warn('token_use_not_noted', { token_id: id, error: errorText(error) });
    });
  };
  return {
    list: (query: PageQuery) => store.listTokens(query),
    create: create.bind(null, deps),
    revoke: async (asked: Revoking): Promise<TokenChange> => {
      const revoked = await store.revokeToken({ ...asked, at: clock.now() });
      if (revoked === null) throw missing('token');
      if (revoked.entryId !== null) log.info('token_revoked', { token_id: asked.id, by: asked.by });
      return revoked;
    },
    /** Looked up anew for each request, so that it ends with the moment in which it is revoked. */
    judge: async (text: string): Promise<Judged> => {
      const known = await find(deps, text);
      if (known === null) return { is: 'wrong' };
      const now = clock.now();
      const why = overSince(known, now);
      if (why !== null) return { is: 'over', why };
      noteUse(known.id, now);
      return { is: 'holds', principal: principalOf(known) };
    },
  };
}

const shape = /^cgm_([a-z0-9]{8})_[\w-]{43}$/;

async function find({ store, digest, craft }: TokensDeps, text: string): Promise<KnownToken | null> {
  const prefix = shape.exec(text)?.[1];
  if (prefix === undefined) return null;
  const known = await store.tokenBy(prefix);
  return known !== null && craft.isSame(known.hash, digest.of(text)) ? known : null;
}

function overSince({ expiresAt, revokedAt }: KnownToken, now: number): string | null {
  if (revokedAt !== null)
    return `This token was revoked at ${iso(revokedAt)}. Ask an owner of the server for a new one.`;
  if (expiresAt === null || expiresAt > now) return null;
  return `This token expired at ${iso(expiresAt)}. Ask an owner of the server for a new one.`;
}

function principalOf({ id, scopes, chats, expiresAt }: KnownToken): Principal {
  return { actor: `api:token:${id}`, scopes, chats, endsAt: expiresAt };
}

interface Making {
  readonly principal: Principal;
  readonly traceId: string | null;
}

export interface MadeToken extends TokenChange {
  /** Told here, and never again. */
  readonly text: string;
}

async function create(deps: TokensDeps, wish: TokenWish, { principal, traceId }: Making): Promise<MadeToken> {
  const { store, clock, ids, digest, craft, log } = deps;
  const at = clock.now();
  check(wish, at);
  checkMaker(wish, principal);
  const threads = wish.threadKeys?.map(wholeChat) ?? null;
  const { prefix, text } = craft.make();
  const made = await store.makeToken({
    id: ids.next(),
    name: wish.name,
    prefix,
    hash: digest.of(text),
    scopes: tokenScopes.filter((scope) => wish.scopes.includes(scope)),
    threads,
    expiresAt: wish.expiresAt,
    by: principal.actor,
    at,
    traceId,
    newChatIds: (threads ?? []).map(() => ids.next()),
  });
  log.info('token_made', { token_id: made.token.id, prefix, by: principal.actor });
  return { ...made, text };
}

function check({ name, scopes, threadKeys, expiresAt }: TokenWish, now: number): void {
  if (!/^[\w.-]{1,64}$/.test(name))
    throw invalid('name', 'name: it has 1 to 64 of the letters a to z, digits, "_", "." and "-", such as ci-deploy.');
  if (expiresAt !== null && expiresAt <= now)
    throw invalid('expires_at', 'expires_at: it lies in the past; name an instant to come, or leave it out.');
  // What the scope admin adds is about the server, and so about all chats.
  if (threadKeys !== null && holdsScope({ scopes }, 'admin'))
    throw invalid(
      'thread_keys',
      'thread_keys: the scope admin holds for the whole server; take manage for some chats.',
    );
}

/** Nobody gives more than they have. A maker has the scope admin, which reaches all chats. */
function checkMaker({ scopes, expiresAt }: TokenWish, { scopes: own, endsAt }: Principal): void {
  const beyond = scopes.find((scope) => !holdsScope({ scopes: own }, scope));
  if (beyond !== undefined) throw invalid('scopes', `scopes: the token that asks does not have ${beyond} itself.`);
  if (endsAt === null || (expiresAt !== null && expiresAt <= endsAt)) return;
  const message = `expires_at: the token that asks expires at ${iso(endsAt)}, and makes none that lasts longer.`;
  throw invalid('expires_at', message);
}

function wholeChat(key: string): Thread {
  const thread = parseThreadKey(key);
  if (thread.topic === null) return thread;
  const whole = threadKeyOf({ ...thread, topic: null });
  throw invalid('thread_keys', `thread_keys: a token holds for whole chats: name ${whole}, without the topic.`);
}
