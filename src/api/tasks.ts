import { z } from 'zod';
import * as limits from '../domain/limits.ts';
import {
  duration,
  facts,
  instant,
  instantSent,
  cursor,
  page,
  searchText,
  strict,
  taskParams,
  text,
  threadParams,
} from './fields.ts';
import { operation } from './operation.ts';
import { scheduleAnswer, scheduleInput, warning } from './schedules.ts';

export const taskAnswer = strict({
  task_id: z.string(),
  number: z.int().meta({ description: 'Counts per chat.' }),
  version: z.int().meta({ description: 'Counts the changes.' }),
  title: z.string(),
  instructions: z.string(),
  action: z.looseObject({ kind: z.string() }),
  schedule: scheduleAnswer,
  enabled: z.boolean(),
  state: z.enum(['active', 'paused', 'completed', 'deleted']),
  next_run_at: instant.nullable(),
  creator_thread_key: z.string(),
  execution_thread_key: text.meta({ description: 'Null until the first result needs the topic.' }),
  delivery_target: strict({
    provider: z.string(),
    route: strict({ chat_id: z.string(), message_thread_id: z.int().optional() }),
    metadata: strict({ creator_message_thread_id: z.int().optional() }),
  }),
  owner_user_key: z.string(),
  policies: facts.meta({ description: 'The policies that were chosen; the others follow their defaults.' }),
  context: facts,
  subject: text,
  tags: z.array(z.string()),
  counters: strict({ runs: z.int(), failures: z.int(), consecutive_failures: z.int(), bounded_runs: z.int() }),
  paused_reason: text,
  resume_at: instant.nullable().meta({ description: 'When the pause ends by itself.' }),
  created_at: instant,
  updated_at: instant,
  last_run_at: instant.nullable(),
  last_run_status: z.enum(['succeeded', 'failed', 'cancelled']).nullable(),
  last_error_message: text,
}).meta({ id: 'Task' });

const policyShape = {
  missed: z.enum(['skip', 'once', 'all', 'ask']),
  missed_limit: z.int().min(1).max(limits.missedLimitMax),
  grace: duration,
  unknown: z.enum(['resend', 'ask']),
  overlap: z.enum(['skip', 'queue', 'replace', 'allow']),
  retry: strict({
    attempts: z.int().min(1).max(limits.retryAttemptsMax).optional(),
    base: duration.optional(),
    factor: z.number().min(1).max(limits.retryFactorMax).optional(),
    cap: duration.optional(),
    jitter: z.number().min(0).max(limits.retryJitterMax).optional(),
  }),
  timeout: duration,
  auto_pause: z
    .int()
    .min(0)
    .max(limits.autoPauseMax)
    .meta({ description: `0 (off) or ${limits.autoPauseMin} to ${limits.autoPauseMax}.` }),
  start_at: instantSent,
  until: instantSent,
  max_runs: z.int().min(1).max(limits.maxRunsMax),
  max_age: duration,
  jitter: duration,
  priority: z.int().min(1).max(10),
  approval: z.enum(['none', 'required']),
  quiet: strict({
    from: z.string().max(5).optional(),
    to: z.string().max(5).optional(),
    mode: z.enum(['hold', 'silent', 'off']),
  }).meta({ description: 'Clock times such as 22:00 in the zone of the task; `off` is heard at any time.' }),
  ack: strict({
    nag_every: duration.optional(),
    nag_limit: z.int().min(0).max(limits.nagLimitMax).optional(),
  }).meta({ description: 'Somebody must say that it is done, and is reminded until they do.' }),
};

const onExisting = z.enum(['fail', 'upsert', 'add']);

type Resettable = { [K in keyof typeof policyShape]: z.ZodOptional<z.ZodNullable<(typeof policyShape)[K]>> };
const resettable = Object.fromEntries(
  Object.entries(policyShape).map(([name, policy]) => [name, policy.nullish()]),
) as Resettable;

const action = z
  .looseObject({ kind: z.string().meta({ example: 'message' }) })
  .meta({ id: 'Action', description: 'What a run does; the settings beside kind belong to the kind.' });
const title = z.string().meta({ maxLength: limits.titleLengthMax });
const instructions = z.string().meta({ maxLength: limits.instructionsLengthMax });
const subject = z.string().nullable().meta({ maxLength: limits.subjectLengthMax });
const tags = z.array(z.string().meta({ maxLength: limits.tagLengthMax })).meta({ maxItems: limits.tagsMax });

const createBody = strict({
  title: title.optional(),
  instructions,
  action: action.optional(),
  schedule: scheduleInput,
  policies: strict({ ...policyShape, on_existing: onExisting })
    .partial()
    .optional(),
  subject: subject.optional(),
  tags: tags.optional(),
  context: facts.optional(),
}).meta({ id: 'TaskCreate' });

const patchBody = strict({
  title,
  instructions,
  action,
  schedule: scheduleInput,
  policies: strict(resettable),
  subject,
  tags,
  context: facts,
  enabled: z.boolean(),
})
  .partial()
  .refine((patch) => Object.keys(patch).length > 0, { error: 'name at least one field to change' })
  .meta({ id: 'TaskPatch', description: 'The fields to change; a policy that is null goes back to its default.' });

const filters = {
  state: z.enum(['all', 'enabled', 'disabled']).default('all'),
  q: searchText.optional().meta({ description: 'Text in the title or the instructions.' }),
  tag: searchText.optional(),
  subject: searchText.optional(),
};
const threadTasksQuery = strict({ ...filters, ...page });
export type TasksFilter = z.output<typeof threadTasksQuery>;
const tasksQuery = strict({ thread_key: z.string().optional(), ...filters, ...page });

export const oneTask = strict({ task: taskAnswer });
export const entryId = text.meta({ description: 'The entry of the audit, to undo it by; null when nothing changed.' });
export const changedTask = strict({ task: taskAnswer, entry_id: entryId });
const changes = z
  .record(z.string(), strict({ before: z.unknown(), after: z.unknown() }))
  .meta({ description: 'Each field that is not what it was.' });
export const editedTask = strict({ task: taskAnswer, warnings: z.array(warning), changes, entry_id: entryId });
const versionList = strict({
  versions: z.array(
    strict({
      version: z.int(),
      at: instant,
      actor: z.string(),
      definition: strict({
        title: z.string(),
        instructions: z.string(),
        action: z.looseObject({ kind: z.string() }),
        schedule: scheduleAnswer,
        policies: facts,
        subject: text,
        tags: z.array(z.string()),
      }).meta({ id: 'Definition' }),
    }),
  ),
});
const writtenTask = strict({ task: taskAnswer, warnings: z.array(warning) });
const taskPage = strict({ tasks: z.array(taskAnswer), next_cursor: cursor });

const tag = 'tasks';
const path = '/v1/tasks/{task_id}';

export const createTask = operation({
  id: 'createTask',
  tag,
  summary: 'Create a task',
  method: 'post',
  path: '/v1/threads/{thread_key}/tasks',
  params: threadParams,
  body: createBody,
  idempotent: true,
  answer: writtenTask,
  statuses: [201, 200],
  refuses: ['task_exists', 'schedule_exhausted', 'quota_exceeded'],
});

export const listTasks = operation({
  id: 'listTasks',
  tag,
  summary: 'List tasks, newest first',
  method: 'get',
  path: '/v1/tasks',
  query: tasksQuery,
  answer: taskPage,
});

export const listThreadTasks = operation({
  id: 'listThreadTasks',
  tag,
  summary: 'List the tasks of a thread, newest first',
  method: 'get',
  path: '/v1/threads/{thread_key}/tasks',
  params: threadParams,
  query: threadTasksQuery,
  answer: taskPage,
});

export const getTask = operation({
  id: 'getTask',
  tag,
  summary: 'Read a task',
  method: 'get',
  path,
  params: taskParams,
  answer: oneTask,
});

export const deleteTask = operation({
  id: 'deleteTask',
  tag,
  summary: 'Delete a task',
  method: 'delete',
  path,
  params: taskParams,
  answer: strict({ deleted: z.literal(true) }),
});

export const listTaskVersions = operation({
  id: 'listTaskVersions',
  tag,
  summary: 'List what a task was told to do, newest first',
  method: 'get',
  path: `${path}/versions`,
  params: taskParams,
  answer: versionList,
});

export const updateTask = operation({
  id: 'updateTask',
  tag,
  summary: 'Change the named fields of a task',
  method: 'patch',
  path,
  params: taskParams,
  body: patchBody,
  answer: editedTask,
  refuses: ['schedule_exhausted'],
});
