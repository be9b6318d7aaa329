import { z } from 'zod';
import { noBody, strict, threadParams } from './fields.ts';
import { operation } from './operation.ts';
import { pauseBody } from './verbs.ts';

/** What is done to all tasks of a thread. */

const purgeQuery = strict({
  dry_run: z.enum(['true', 'false']).default('false').meta({ description: 'true only counts what would go.' }),
});
export const bulkAnswer = strict({
  changed: z.int(),
  left: z.int().meta({ description: 'Tasks that stay as they are, because the verb does not fit them.' }),
});
const purgeAnswer = strict({
  deleted: z.boolean(),
  counts: strict({
    tasks: z.int(),
    active: z.int(),
    paused: z.int(),
    completed: z.int(),
    live_runs: z.int(),
    open_deliveries: z.int(),
  }),
});

const thread = { tag: 'threads', params: threadParams } as const;
const path = '/v1/threads/{thread_key}';

export const purgeThread = operation({
  ...thread,
  id: 'purgeThread',
  summary: 'Delete all tasks of a thread; dry_run=true counts first',
  method: 'delete',
  path: `${path}/tasks`,
  query: purgeQuery,
  answer: purgeAnswer,
});

export const pauseThread = operation({
  ...thread,
  id: 'pauseThread',
  summary: 'Pause all tasks of a thread',
  method: 'post',
  path: `${path}/pause`,
  body: pauseBody,
  answer: bulkAnswer,
});

export const cancelThread = operation({
  ...thread,
  id: 'cancelThread',
  summary: 'Call off everything that a thread has under way: what its tasks run, and messages that wait',
  method: 'post',
  path: `${path}/cancel`,
  body: noBody,
  answer: strict({
    cancelled: z.int(),
    left: z.int().meta({ description: 'Runs that ended by themselves before they could be called off.' }),
  }),
});

export const resumeThread = operation({
  ...thread,
  id: 'resumeThread',
  summary: 'Let all tasks of a thread go on that a person paused',
  method: 'post',
  path: `${path}/resume`,
  body: noBody,
  answer: bulkAnswer,
});
