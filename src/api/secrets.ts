import { z } from 'zod';
import { instant, noBody, operation, strict, text } from './operation.ts';

/** Secrets: values go in and never come out. */

const tag = 'secrets';

const threadKey = z
  .string()
  .optional()
  .meta({ description: 'The chat whose secrets they are; without it those of the operator.' });
const query = strict({ thread_key: threadKey });

const secret = strict({
  name: z.string(),
  from: z.enum(['stored', 'environment']).meta({ description: 'Those of the environment are changed there alone.' }),
  hosts: z.array(z.string()).meta({
    description:
      'Where it may go. None: of a chat wherever the grant allows, of the operator the hosts that the grant names.',
  }),
  chats: z.array(z.string()).meta({
    description: 'Of one of the operator: chats whose tasks may use it, besides those of owners.',
  }),
  set_by: text,
  updated_at: instant.nullable(),
  last_used_at: instant.nullable().meta({ description: 'To the minute.' }),
  used_by: z.array(z.string()).meta({ description: 'Tasks of the chat whose grants name it.' }),
}).meta({ id: 'Secret' });

const path = '/v1/secrets';
const params = strict({
  name: z.string().max(200).meta({
    description: 'Up to 64 capital letters, digits and underscores, of which the first is a letter.',
    example: 'WEATHER_KEY',
  }),
});

export const secretOperations = {
  listSecrets: operation('get', path, {
    scope: 'read',
    tag,
    summary: 'List the names of secrets, never their values',
    query,
    answer: strict({ secrets: z.array(secret) }),
  }),
  setSecret: operation('put', `${path}/{name}`, {
    scope: 'manage',
    tag,
    summary: 'Set the value of a secret; nothing shows it again',
    params,
    query,
    body: strict({
      value: z.string().meta({ description: '4 to 8,192 bytes.', example: 'the-key-as-the-service-showed-it' }),
      hosts: z
        .array(z.string().max(300))
        .optional()
        .meta({
          description: 'Written as in EGRESS_ALLOW; without it they stay as they are.',
          example: ['api.example.com'],
        }),
      chats: z
        .array(z.string().max(40))
        .optional()
        .meta({ description: 'Of one of the operator: ids of chats.', example: ['-1001234567890'] }),
    }).meta({ example: { value: 'the-key-as-the-service-showed-it', hosts: ['api.example.com'] } }),
    answer: strict({ secret }),
    refuses: ['quota_exceeded', 'secrets_unavailable', 'request_in_progress'],
  }),
  deleteSecret: operation('delete', `${path}/{name}`, {
    scope: 'manage',
    tag,
    summary: 'Delete a secret; tasks that use it are skipped until it is set again',
    params,
    query,
    answer: strict({ deleted: z.literal(true) }),
  }),
  rotateSecrets: operation('post', '/v1/rotate-secrets', {
    scope: 'admin',
    tag,
    summary: 'Seal all secrets under a new key, a step at a time',
    query: strict({
      after: z
        .string()
        .max(64)
        .optional()
        .meta({ description: 'The next of the step before; absent to begin, or to begin again.' }),
    }),
    body: noBody,
    answer: strict({
      sealed: z.int().meta({ description: 'Secrets that this step has sealed anew.' }),
      left: z.int().meta({ description: 'Secrets that are still sealed under a former key.' }),
      unreadable: z.int().meta({ description: 'Secrets whose key is not there.' }),
      next: text.meta({ description: 'Where to go on; null at the end.' }),
    }),
    refuses: ['nothing_to_rotate', 'secrets_unavailable'],
  }),
} as const;
