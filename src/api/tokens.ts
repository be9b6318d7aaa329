import { z } from 'zod';
import { tokenScopes } from '../domain/principal.ts';
import { cursor, instant, instantSent, operation, page, strict, text } from './operation.ts';

/** Named tokens of the API, each for some scopes and some chats. */

const scope = z.enum(tokenScopes);

const tokenAnswer = strict({
  token_id: z.string(),
  name: z.string(),
  prefix: z.string().meta({ description: 'The beginning of its text, behind cgm_.', example: 'k3m9x2pq' }),
  scopes: z.array(scope),
  thread_keys: z.array(z.string()).nullable().meta({ description: 'The chats that exist for it; null for all.' }),
  expires_at: instant.nullable(),
  last_used_at: instant.nullable().meta({ description: 'To the minute.' }),
  revoked_at: instant.nullable(),
  revoked_by: text,
  created_at: instant,
  created_by: z.string(),
}).meta({ id: 'Token' });

const createBody = strict({
  name: z.string().max(64).meta({
    description: 'How people tell it from the others; no two that hold have the same.',
    example: 'ci-deploy',
  }),
  scopes: z.array(scope).min(1).max(tokenScopes.length).meta({
    description:
      'read looks, run also runs what is there and posts messages, manage also changes tasks, admin also does what concerns the server. Each includes those before it.',
  }),
  thread_keys: z.array(z.string()).min(1).max(100).optional().meta({
    description: 'Chats, without topics: nothing else exists for it. All chats without them, and with admin.',
  }),
  expires_at: instantSent.optional().meta({ description: 'From then on it is refused; never without it.' }),
}).meta({ id: 'TokenCreate', example: { name: 'ci-deploy', scopes: ['run'] } });

const entryId = text.meta({ description: 'The entry in the audit; null when nothing changed.' });
const tag = 'tokens';
const path = '/v1/tokens';

export const tokenOperations = {
  listTokens: operation('get', path, {
    scope: 'admin',
    tag,
    summary: 'List the named tokens, newest first; none of them is told again',
    query: strict(page),
    answer: strict({ tokens: z.array(tokenAnswer), next_cursor: cursor }),
    refuses: ['invalid_cursor'],
  }),
  createToken: operation('post', path, {
    scope: 'admin',
    tag,
    summary: 'Make a named token, with no more than the one that asks has; its text is told this once',
    body: createBody,
    answer: tokenAnswer.extend({
      token: z.string().meta({
        description: 'Sent as authorization: Bearer <token>. It is kept nowhere: note it now.',
        example: 'cgm_k3m9x2pq_...',
      }),
      entry_id: entryId,
    }),
    statuses: [201],
    refuses: ['invalid_thread_key', 'quota_exceeded'],
  }),
  revokeToken: operation('delete', `${path}/{token_id}`, {
    scope: 'admin',
    tag,
    summary: 'Revoke a token for good; tasks that it made go on',
    params: strict({ token_id: z.string() }),
    answer: strict({
      revoked: z.literal(true),
      tasks: z.int().meta({ description: 'Tasks that it made and that can still run.' }),
      entry_id: entryId,
    }),
  }),
} as const;
