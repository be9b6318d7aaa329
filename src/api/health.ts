import { z } from 'zod';
import { strict } from './fields.ts';
import { operation } from './operation.ts';

/** What watchers ask without a token. None of it names a task, a chat or a secret. */

const healthAnswer = z.looseObject({ ok: z.boolean() }).meta({ id: 'Health' });
const versionAnswer = strict({
  name: z.literal('cronogram'),
  version: z.string(),
  node: z.string().meta({ description: 'The version of Node that runs it.' }),
});
const document = z.looseObject({ openapi: z.string() });

const probe = { tag: 'health', method: 'get', open: true } as const;
const state = { ...probe, answer: healthAnswer, statuses: [200, 503] } as const;

export const isLive = operation({ ...state, id: 'isLive', summary: 'Whether the process turns', path: '/livez' });
export const isHealthy = operation({ ...state, id: 'isHealthy', summary: 'The same as /livez', path: '/healthz' });
export const isReady = operation({
  ...state,
  id: 'isReady',
  summary: 'Whether work can be done now',
  path: '/readyz',
});
export const getVersion = operation({
  ...probe,
  id: 'getVersion',
  summary: 'Which version this is',
  path: '/version',
  answer: versionAnswer,
});
export const getDescription = operation({
  ...probe,
  id: 'getDescription',
  summary: 'This document',
  path: '/openapi.json',
  answer: document,
});
