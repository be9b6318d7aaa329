import { z } from 'zod';
import * as limits from '../domain/limits.ts';
import { cursor, facts, instant, noBody, page, runParams, strict, taskParams, text, whole } from './fields.ts';
import { operation } from './operation.ts';
import { taskAnswer } from './tasks.ts';

const attempt = strict({
  attempt: z.int(),
  status: z.enum(['running', 'succeeded', 'failed', 'timed_out', 'interrupted', 'cancelled']),
  started_at: instant,
  finished_at: instant.nullable(),
  duration_ms: z.number().nullable(),
  http_status: z.int().nullable(),
  error_message: text,
}).meta({ id: 'Attempt' });

export const deliveryAnswer = strict({
  delivery_id: z.string(),
  part: z.int(),
  status: z.enum(['pending', 'sending', 'delivered', 'unknown', 'blocked', 'failed']),
  thread_key: z.string(),
  chat_id: text,
  message_thread_id: z.int().nullable(),
  message_id: z.int().nullable(),
  error_message: text,
  created_at: instant,
  delivered_at: instant.nullable(),
}).meta({ id: 'Delivery' });

const work = { attempts: z.array(attempt), deliveries: z.array(deliveryAnswer) };

export const taskRunAnswer = strict({
  task_run_id: z.string(),
  task_id: z.string(),
  scheduled_for: instant,
  idempotency_key: z.string(),
  run_id: text,
  status: z.enum(['pending', 'dispatched', 'succeeded', 'failed', 'skipped', 'missed', 'cancelled']),
  source: z.string().meta({ description: 'What asked for it.' }),
  reason: text.meta({ description: 'Why it did not simply run.' }),
  replay_of: text.meta({ description: 'The task_run that is done again.' }),
  late_ms: z.number(),
  error_message: text,
  created_at: instant,
  updated_at: instant,
  ...work,
}).meta({ id: 'TaskRun' });

export const runAnswer = strict({
  run_id: z.string(),
  source: z.string(),
  idempotency_key: z.string(),
  task_id: text,
  task_run_id: text,
  status: z.enum(['queued', 'running', 'backoff', 'waiting', 'succeeded', 'failed', 'cancelled']),
  output: facts.nullable(),
  error_message: text,
  created_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
  ...work,
}).meta({ id: 'Run' });
export const ranNow = strict({ task: taskAnswer, task_run: taskRunAnswer });

const runsQuery = strict({
  status: z.enum(['pending', 'dispatched', 'succeeded', 'failed', 'skipped', 'missed', 'cancelled']).optional(),
  ...page,
});

const tag = 'runs';
const path = '/v1/runs/{run_id}';

export const listTaskRuns = operation({
  id: 'listTaskRuns',
  tag,
  summary: 'List the runs of a task, latest slot first',
  method: 'get',
  path: '/v1/tasks/{task_id}/runs',
  params: taskParams,
  query: runsQuery,
  answer: strict({ task_runs: z.array(taskRunAnswer), next_cursor: cursor }),
});

export const listNextRuns = operation({
  id: 'listNextRuns',
  tag,
  summary: 'When a task runs next',
  method: 'get',
  path: '/v1/tasks/{task_id}/next',
  params: taskParams,
  query: strict({ count: whole(limits.previewCountMax, limits.previewCountDefault) }),
  answer: strict({ next: z.array(instant) }),
});

export const getRun = operation({
  id: 'getRun',
  tag,
  summary: 'Read a run',
  method: 'get',
  path,
  params: runParams,
  answer: runAnswer,
});

export const cancelRun = operation({
  id: 'cancelRun',
  tag,
  summary: 'Call off a run',
  method: 'post',
  path: `${path}/cancel`,
  params: runParams,
  body: noBody,
  answer: strict({
    cancelled: z.boolean().meta({ description: 'False when it had ended in another way already.' }),
    run: runAnswer,
  }),
});

const repeat = {
  tag,
  method: 'post',
  params: runParams,
  body: noBody,
  idempotent: true,
  answer: ranNow,
  refuses: ['run_in_progress', 'not_repeatable'],
} as const;

export const retryRun = operation({
  ...repeat,
  id: 'retryRun',
  summary: 'Make good a run that failed, as the same call for its target',
  path: `${path}/retry`,
});

export const replayRun = operation({
  ...repeat,
  id: 'replayRun',
  summary: 'Do a run once more with what it was given, as a new call for its target',
  path: `${path}/replay`,
});
