import { z } from 'zod';
import { scopeLengthMax, scopesMax } from '../domain/limits.ts';
import { cursor, instant, instantSent, page, strict, text } from './fields.ts';
import { operation } from './operation.ts';
import { entryId } from './tasks.ts';

/** The rights under which tasks run. */

const grantAnswer = strict({
  grant_id: z.string(),
  task_ids: z.array(z.string()).meta({ description: 'Empty once another grant has taken its place.' }),
  owner_user_key: z.string(),
  thread_key: z.string().meta({ description: 'The chat in which it holds.' }),
  scopes: z.array(z.string()),
  expires_at: instant.nullable(),
  revoked_at: instant.nullable(),
  revoked_by: text.meta({
    description:
      'system:left ends when its owner comes back, system:deleted when the task is restored; else it is for good.',
  }),
  created_at: instant,
  created_by: z.string(),
}).meta({ id: 'Grant' });

const changedGrant = strict({ grant: grantAnswer, entry_id: entryId });
const path = '/v1/grants';
const tag = 'grants';

export const listGrants = operation({
  id: 'listGrants',
  tag,
  summary: 'List grants, newest first',
  method: 'get',
  path,
  query: strict({
    thread_key: z.string().optional(),
    owner: z.string().max(64).optional().meta({ description: 'The user key of the owner.' }),
    task_id: z.string().max(64).optional(),
    state: z.enum(['active', 'revoked', 'expired']).optional(),
    ...page,
  }),
  answer: strict({ grants: z.array(grantAnswer), next_cursor: cursor }),
});

export const createGrant = operation({
  id: 'createGrant',
  tag,
  summary: 'Give a task a fresh grant; the one that it had is revoked',
  method: 'post',
  path,
  body: strict({
    task_id: z.string().max(64).meta({ example: '0198c5f0-7a3e-7d51-9b1c-3f6f0a4be210' }),
    expires_at: instantSent.optional().meta({ description: 'From then on its slots are skipped; never without it.' }),
    scopes: z
      .array(z.string().max(scopeLengthMax))
      .min(1)
      .max(scopesMax)
      .optional()
      .meta({ description: 'Such as action:message, or action:*. What the action of the task needs without it.' }),
  }).meta({ id: 'GrantCreate' }),
  idempotent: true,
  answer: changedGrant,
  statuses: [201],
  refuses: ['not_found', 'owner_left'],
});

export const revokeGrant = operation({
  id: 'revokeGrant',
  tag,
  summary: 'Revoke a grant for good: the slots of its task are skipped from then on',
  method: 'delete',
  path: `${path}/{grant_id}`,
  params: strict({ grant_id: z.string() }),
  answer: changedGrant,
});
