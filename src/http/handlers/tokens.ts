import { wire } from '../../api/wire.ts';
import type { TokenView } from '../../app/use-cases/tokens.ts';
import { threadKeyOf } from '../../domain/thread.ts';
import type { Handlers } from '../serving.ts';
import { instantOf } from './wire.ts';

/** Named tokens of the API. */
export const tokenHandlers = {
  listTokens: async ({ query: { limit, cursor = null } }, { tokens }) => {
    const { items, next } = await tokens.list({ limit, cursor });
    return { tokens: items.map(wireToken), next_cursor: next };
  },
  createToken: async ({ body, traceId }, { tokens, principal }) => {
    const { name, scopes, thread_keys: threadKeys = null, expires_at: expires } = body;
    const wish = { name, scopes, threadKeys, expiresAt: instantOf(expires) };
    const { token, text, entryId } = await tokens.create(wish, { principal, traceId });
    return { ...wireToken(token), token: text, entry_id: entryId };
  },
  revokeToken: async ({ params, traceId }, { tokens, actor }) => {
    const { tasks, entryId } = await tokens.revoke({ id: params.token_id, by: actor, traceId });
    return { revoked: true as const, tasks, entry_id: entryId };
  },
} satisfies Partial<Handlers>;

function wireToken({ id, threads, scopes, ...token }: TokenView) {
  return { ...wire(token), token_id: id, scopes: [...scopes], thread_keys: threads?.map(threadKeyOf) ?? null };
}
