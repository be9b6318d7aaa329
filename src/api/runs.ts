import { z } from 'zod';
import * as limits from '../domain/limits.ts';
import { roles } from '../domain/processes/process.ts';
import { runErrorCodes, sounds } from '../domain/run.ts';
import {
  operation,
  cursor,
  facts,
  instant,
  instantSent,
  many,
  noBody,
  page,
  runParams,
  searchText,
  strict,
  taskParams,
  text,
  whole,
} from './operation.ts';
import { taskAnswer } from './tasks.ts';

export const attempt = strict({
  attempt: z.int(),
  status: z.enum(['running', 'succeeded', 'failed', 'timed_out', 'interrupted', 'cancelled']),
  started_at: instant,
  finished_at: instant.nullable(),
  duration_ms: z.number().nullable(),
  http_status: z.int().nullable(),
  action_kind: text,
  error_message: text,
  worker: strict({ boot_id: z.string(), role: z.enum(roles).nullable(), host: text, pid: z.int().nullable() }).meta({
    description: 'The process that made it; of one of an earlier release only its boot id is known.',
  }),
  job_id: text.meta({
    description: 'The job of the queue that brought it; null where the process found it by itself.',
  }),
}).meta({ id: 'Attempt' });

const traceId = text.meta({
  description:
    'The x-request-id of the request that asked for the run, or the run_id where none did; null where neither is there.',
});

const runNumber = z.int().nullable().meta({ description: 'Which run of its task it is, runs by hand included.' });
const errorCode = z.enum(runErrorCodes).nullable();

export const deliveryAnswer = strict({
  delivery_id: z.string(),
  part: z.int(),
  status: z.enum(['pending', 'sending', 'delivered', 'unknown', 'blocked', 'failed']),
  thread_key: z.string(),
  chat_id: text,
  message_thread_id: z.int().nullable(),
  message_id: z.int().nullable(),
  message_ids: z.array(z.int()).optional().meta({ description: 'Of an album: its messages, one for each file.' }),
  error_code: text.meta({
    description:
      'Of a blocked or failed delivery: telegram_topics_unavailable, telegram_topic_not_found, bot_blocked, chat_gone, max_age, misrouted, topic_closed, no_write_right, approval or other.',
  }),
  error_message: text,
  fallback: z.boolean().meta({
    description:
      'It goes, or went, to the thread where the task was asked for, because its topic cannot be had (policy fallback: creator).',
  }),
  created_at: instant,
  delivered_at: instant.nullable(),
  trace_id: traceId,
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
  reason: text.meta({ description: 'Why it did not simply run and show its result.' }),
  replay_of: text.meta({ description: 'The task_run that is done again.' }),
  late_ms: z.number(),
  run_number: runNumber,
  action_kind: text,
  error_message: text,
  error_code: errorCode,
  created_at: instant,
  updated_at: instant,
  trace_id: traceId,
  ...work,
}).meta({ id: 'TaskRun' });

export const runStates = ['queued', 'running', 'backoff', 'succeeded', 'failed', 'cancelled'] as const;
const standing = {
  status: z.enum(['running', 'succeeded', 'failed']).meta({ description: 'The three words of jagc; see state.' }),
  state: z.enum(runStates).meta({ description: 'The finer word for status.' }),
};
const fault = {
  error_message: text,
  error_code: errorCode,
  error: strict({ code: errorCode, message: z.string() })
    .nullable()
    .meta({ description: 'error_message and error_code once more, as jagc tells them.' }),
};

export const runAnswer = strict({
  run_id: z.string(),
  source: z.string().meta({ description: 'task:<task_id>, or what a message named.', example: 'api' }),
  idempotency_key: z.string(),
  task_id: text,
  task_run_id: text,
  thread_key: text.meta({ description: 'Where a message goes, or where the task was asked for.' }),
  user_key: text.meta({ description: 'For whom a message was put there.' }),
  ...standing,
  run_number: runNumber,
  action_kind: text,
  output: facts.nullable(),
  progress: text.meta({ description: 'The newest words of its action about how far it is.' }),
  ...fault,
  created_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
  trace_id: traceId,
  ...work,
}).meta({ id: 'Run' });
/** A run that was asked for by hand, and what keeps it from beginning at once. */
export const ranNow = strict({
  task: taskAnswer,
  task_run: taskRunAnswer,
  waits_for: strict({
    reason: z.enum(['no_worker', 'kind_paused']),
    since: instant,
    by: text.meta({ description: 'Who has paused the kind.' }),
  })
    .nullable()
    .meta({
      description:
        'What it waits for: a worker, as the scheduler is paused since then, or its kind of action, until that is resumed. Null where neither is so.',
    }),
});

const runsQuery = strict({
  status: taskRunAnswer.shape.status.optional(),
  ...page,
});

const tag = 'runs';
const path = '/v1/runs/{run_id}';

const allRunsQuery = strict({
  status: z
    .enum([...standing.status.options, 'live'])
    .optional()
    .meta({ description: 'running, or live: whatever has not ended yet. failed: also what was cancelled.' }),
  state: z
    .enum([...runStates, 'live'])
    .optional()
    .meta({ description: 'The finer word for status; live: whatever has not ended yet.' }),
  task_id: searchText.optional().meta({ description: 'The runs of one task, latest slot first.' }),
  thread_key: z.string().optional().meta({
    description: 'A base thread stands for its whole chat; a topic for what was asked for, or is shown, in it.',
    example: 'cli:default',
  }),
  source: searchText
    .optional()
    .meta({ description: 'task:<task_id>, task for those of all tasks, or what a message named.' }),
  subject: searchText.optional().meta({ description: 'The subject of its task, in small letters or capitals.' }),
  tag: many(searchText).meta({ description: 'A tag of its task. Repeat it for several: tag=a&tag=b needs both.' }),
  q: searchText.optional().meta({ description: 'Text in what it was given, or in its error.' }),
  from: instantSent.optional().meta({ description: 'Made at this instant or later.' }),
  to: instantSent.optional().meta({ description: 'Made at this instant or earlier.' }),
  ...page,
});

const repeat = {
  tag,
  params: runParams,
  body: noBody,
  idempotent: true,
  answer: ranNow,
  refuses: ['task_not_found', 'run_in_progress', 'not_repeatable'],
} as const;

const visible = new RegExp(`^[\\x21-\\x7e]{1,${limits.idempotencyKeyLengthMax}}$`);

const messageBody = strict({
  thread_key: z.string().meta({ description: 'Where it is shown.', example: 'cli:default' }),
  text: z.string().meta({
    maxLength: limits.messageLengthMax,
    example: 'The build is green.',
    description: 'Shown as it stands; it is never a template.',
  }),
  source: z.string().default('api').meta({ description: 'What asks, in lower case. Each source has keys of its own.' }),
  user_key: z
    .string()
    .min(1)
    .max(limits.userKeyLengthMax)
    .optional()
    .meta({ description: 'For whom it is, as the client calls them; kept with the run.' }),
  delivery_mode: z
    .enum(['followUp', 'steer', ...sounds])
    .default('followUp')
    .meta({
      description:
        'followUp comes behind what was said before, and so does steer, the word of clients of jagc. A word for the sound stands for followUp with that sound.',
    }),
  sound: z.enum(sounds).optional().meta({
    description:
      'normal, which it is when absent, makes none in the quiet hours of the chat; silent never makes one; urgent always does.',
  }),
  images: z.array(z.unknown()).optional().meta({ description: 'Refused with 400 images_unavailable, unless empty.' }),
  idempotency_key: z
    .string()
    .regex(visible, { error: `it has 1 to ${limits.idempotencyKeyLengthMax} visible ASCII characters` })
    .optional()
    .meta({ description: 'The same as the header Idempotency-Key; one of them is enough.' }),
}).meta({ id: 'Message', example: { thread_key: 'cli:default', text: 'The build is green.' } });

/** Clients of jagc send images with a message: so many bytes, in base64. */
const messageBytesMax = 75 * 1024 * 1024;

const place = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, { error: 'it is the place of a file in the result: 1, 2, 3 and so on' })
  .transform(Number)
  .meta({ type: 'integer', minimum: 1, example: 1, description: 'Its place in the attachments, counted from one.' });

export const runOperations = {
  listTaskRuns: operation('get', '/v1/tasks/{task_id}/runs', {
    scope: 'read',
    tag,
    summary: 'List the runs of a task, latest slot first',
    params: taskParams,
    query: runsQuery,
    answer: strict({ task_runs: z.array(taskRunAnswer), next_cursor: cursor }),
  }),
  listRuns: operation('get', '/v1/runs', {
    scope: 'read',
    tag,
    summary: 'List all runs, newest first; a page that is not full may still have a cursor for the next one',
    query: allRunsQuery,
    answer: strict({ runs: z.array(runAnswer), next_cursor: cursor }),
  }),
  getRunResult: operation('get', `${path}/result`, {
    scope: 'read',
    tag,
    summary: 'Read how a run has ended; 409 not_finished, with its status, while it lives',
    params: runParams,
    answer: strict({
      run_id: z.string(),
      ...standing,
      output: facts.nullable(),
      ...fault,
      finished_at: instant.nullable(),
    }).meta({ id: 'RunResult' }),
    refuses: ['not_finished'],
  }),
  getRunAttachment: operation('get', `${path}/attachments/{n}`, {
    scope: 'read',
    tag,
    summary: 'Read a file that a run has brought, by its place in the attachments of the result',
    params: strict({ run_id: z.string(), n: place }),
    answer: z.string().meta({ format: 'binary' }),
    bytes: 'The file, under the type and the name that it has.',
    refuses: ['not_found'],
  }),
  listNextRuns: operation('get', '/v1/tasks/{task_id}/next', {
    scope: 'read',
    tag,
    summary: 'When a task runs next',
    params: taskParams,
    query: strict({ count: whole(limits.previewCountMax, limits.previewCountDefault) }),
    answer: strict({
      next: z.array(instant),
      snoozed: z.array(instant).meta({ description: 'When results that are snoozed come again, soonest first.' }),
    }),
  }),
  getRun: operation('get', path, {
    scope: 'read',
    tag,
    summary: 'Read a run',
    params: runParams,
    answer: runAnswer,
  }),
  cancelRun: operation('post', `${path}/cancel`, {
    scope: 'run',
    tag,
    summary: 'Call off a run',
    params: runParams,
    body: noBody,
    idempotent: true,
    answer: strict({
      cancelled: z.boolean().meta({ description: 'False when it had ended in another way already.' }),
      run: runAnswer,
    }),
  }),
  retryRun: operation('post', `${path}/retry`, {
    scope: 'run',
    ...repeat,
    summary: 'Make good a run that failed: once more, from where its task stands now',
  }),
  replayRun: operation('post', `${path}/replay`, {
    scope: 'run',
    ...repeat,
    summary: 'Do a run once more with all that it was given',
  }),
  postMessage: operation('post', '/v1/messages', {
    scope: 'run',
    tag,
    summary: 'Put a text into a thread; the texts of one thread come in order',
    body: messageBody,
    bodyMax: messageBytesMax,
    large: 'images_unavailable',
    idempotent: true,
    answer: runAnswer,
    statuses: [202],
    refuses: ['invalid_thread_key', 'idempotency_key_mismatch', 'not_found', 'images_unavailable'],
  }),
} as const;
