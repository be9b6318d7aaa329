import { z } from 'zod';
import * as limits from '../domain/limits.ts';
import {
  operation,
  facts,
  instant,
  cursor,
  page,
  searchText,
  strict,
  taskParams,
  text,
  threadParams,
  instantSent,
} from './operation.ts';
import { policies, policyChanges } from './policies.ts';
import { assumed, inWords, refuses, scheduleAnswer, scheduleInput, warned, wordsFault } from './schedules.ts';

const actor = z.string().meta({ description: 'A person, a token or the system.', example: 'telegram:user:7' });

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
  snoozed_to: z.array(instant).optional().meta({
    description:
      'When results that are snoozed come again, soonest first, also where the task has no run of its own any more. Told where tasks are read.',
  }),
  creator_thread_key: z.string(),
  execution_thread_key: text.meta({ description: 'Null until the first result needs the topic.' }),
  delivery_target: strict({
    provider: z.string(),
    route: strict({
      chat_id: z.string(),
      message_thread_id: z.int().optional(),
      chatId: z.int().optional().meta({ description: 'chat_id as jagc tells it; so is messageThreadId.' }),
      messageThreadId: z.int().optional(),
      threadKey: z.string().optional().meta({ description: 'Of a thread that is delivered nowhere.' }),
    }),
    metadata: strict({ creator_message_thread_id: z.int().optional() }),
  }),
  owner_user_key: z.string(),
  grant_id: z.string().meta({ description: 'The right under which its runs act.' }),
  policies: facts.meta({ description: 'The policies that were chosen; the others follow their defaults.' }),
  context: facts,
  subject: text,
  tags: z.array(z.string()),
  counters: strict({
    runs: z.int(),
    failures: z.int(),
    consecutive_failures: z.int(),
    bounded_runs: z
      .int()
      .meta({ description: 'Runs of slots that began and have ended, which max_runs bounds; runsExecuted elsewhere.' }),
  }),
  paused_reason: text,
  resume_at: instant.nullable().meta({ description: 'When the pause ends by itself.' }),
  created_at: instant,
  created_by: actor,
  updated_at: instant,
  updated_by: actor,
  paused_at: instant.nullable().meta({ description: 'The last time; so with resumed_at and deleted_at.' }),
  paused_by: actor.nullable(),
  resumed_at: instant.nullable(),
  resumed_by: actor.nullable(),
  deleted_at: instant.nullable(),
  deleted_by: actor.nullable(),
  last_run_id: text,
  last_run_at: instant.nullable().meta({ description: 'When its last run that has ended began.' }),
  last_run_status: z.enum(['succeeded', 'failed']).nullable(),
  last_outcome: z.enum(['succeeded', 'failed', 'cancelled', 'skipped', 'missed']).nullable().meta({
    description: 'What became of the last slot or run by hand that was decided, also of one that did not run.',
  }),
  last_error_message: text,
  stale_since: instant
    .nullable()
    .meta({ description: 'Since when its last good result is older than the policy refresh_after allows.' }),
}).meta({ id: 'Task' });

export const action = z
  .looseObject(
    { kind: z.string().meta({ example: 'message' }) },
    'An object with its kind and its settings, such as {"kind": "http", "url": "https://api.example.com/price"}',
  )
  .meta({ id: 'Action', description: 'What a run does; the settings beside kind belong to the kind.' });
const nameOf = (max: number) => ({ maxLength: max * limits.nameUnitsPerCharacter });
const counted = (max: number) => `At most ${max} characters as people count them.`;
const title = z.string().meta({
  ...nameOf(limits.titleLengthMax),
  description: `The name of the task and of its topic; the first line of the instructions when absent. ${counted(limits.titleLengthMax)}`,
});
const instructions = z.string().meta({
  maxLength: limits.instructionsLengthMax,
  description: 'The text of a message, a note otherwise. A template where it contains {{ or {%.',
});
const subject = z
  .string()
  .nullable()
  .meta({
    ...nameOf(limits.subjectLengthMax),
    description: `What it is about, in the words of the client: together with the title it names the task. ${counted(limits.subjectLengthMax)}`,
  });
const tags = z.array(z.string().meta(nameOf(limits.tagLengthMax))).meta({
  maxItems: limits.tagsMax,
  description: `Words by which tasks are found, and changed together. ${counted(limits.tagLengthMax)}`,
});
const context = facts.meta({ description: 'What the runs of the task know and hand on to each other.' });

const grantEnd = instantSent.nullable().meta({
  description: 'The end of its right to run: null for none. What its chat has chosen where it is absent.',
});

/** A task in fields. */
export const definition = strict({
  title: title.optional(),
  instructions,
  action: action.optional(),
  schedule: scheduleInput,
  policies: policies.optional(),
  subject: subject.optional(),
  tags: tags.optional(),
  context: context.optional(),
  grant_expires_at: grantEnd.optional(),
});

const createShape = definition.partial({ instructions: true, schedule: true }).extend(inWords);
export type CreateBody = z.output<typeof createShape>;

function createFault(body: CreateBody): [string[], string] | null {
  const { schedule, when, instructions: said, action: work } = body;
  if (schedule === undefined && when === undefined) return [['schedule'], 'it is missing'];
  // An action may do its work without them; whether it does is judged with it.
  const isSilent = when === undefined && said === undefined && work === undefined;
  return wordsFault(body) ?? (isSilent ? [['instructions'], 'it is missing'] : null);
}

const createBody = createShape.superRefine(refuses(createFault)).meta({
  id: 'TaskCreate',
  description:
    'With a schedule and instructions, or an action that needs none; or with when and timezone: a when in plain words, and the text behind it.',
  anyOf: [
    { required: ['schedule', 'instructions'] },
    { required: ['schedule', 'action'] },
    { required: ['when', 'timezone'] },
  ],
  example: {
    instructions: 'Stand up!',
    schedule: { kind: 'cron', cron: '0 9 * * 1-5', timezone: 'Europe/Madrid' },
  },
});

const patchBody = strict({
  title,
  instructions,
  action,
  schedule: scheduleInput,
  policies: policyChanges,
  subject,
  tags,
  context,
  grant_expires_at: grantEnd,
  enabled: z.boolean().meta({ description: 'false pauses the task, true resumes it.' }),
})
  .partial()
  .refine((patch) => Object.keys(patch).length > 0, { error: 'name at least one field to change' })
  .meta({
    id: 'TaskPatch',
    description: 'The fields to change; a policy that is null goes back to its default.',
    example: { title: 'Stand up, everybody', policies: { missed: 'once' } },
  });

const filters = {
  state: z
    .enum(['all', 'enabled', 'disabled', 'active', 'paused', 'completed', 'deleted'])
    .default('all')
    .meta({ description: 'all, without those that were deleted; enabled is active, disabled the rest.' }),
  q: searchText.optional().meta({ description: 'Text in the title or the instructions.' }),
  tag: searchText.optional(),
  subject: searchText.optional().meta({ description: 'The subject, in small letters or capitals.' }),
};
const threadTasksQuery = strict({ ...filters, ...page });
const tasksQuery = strict({ thread_key: z.string().optional(), ...filters, ...page });

const oneTask = strict({ task: taskAnswer });
export const entryId = text.meta({ description: 'The entry of the audit, to undo it by; null when nothing changed.' });
export const changedTask = strict({ task: taskAnswer, entry_id: entryId });
const changes = z
  .record(z.string(), strict({ before: z.unknown(), after: z.unknown() }))
  .meta({ description: 'Each field that is not what it was.' });
const editedTask = strict({ task: taskAnswer, ...warned, changes, entry_id: entryId });
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
const writtenTask = strict({ task: taskAnswer, ...warned });
const taskPage = strict({ tasks: z.array(taskAnswer), next_cursor: cursor });

const tag = 'tasks';
const path = '/v1/tasks/{task_id}';

/** The rights under which tasks run. */

const grantAnswer = strict({
  grant_id: z.string(),
  task_ids: z.array(z.string()).meta({ description: 'Empty once another grant has taken its place.' }),
  owner_user_key: z.string(),
  thread_key: z.string().meta({ description: 'The chat in which it holds.' }),
  scopes: z.array(z.string()),
  unconfirmed: z.array(z.string()).meta({
    description:
      'Those of them that no owner of the bot has vouched for: a secret of the operator that names no hosts does not go by them.',
  }),
  budget_account: z.string().meta({ description: 'Whose budget its runs spend: the thread key of a chat.' }),
  expires_at: instant.nullable(),
  revoked_at: instant.nullable(),
  revoked_by: text.meta({
    description:
      'system:left ends when its owner comes back, system:deleted when the task is restored; else it is for good.',
  }),
  created_at: instant,
  created_by: z.string(),
}).meta({ id: 'Grant' });

const contextAnswer = strict({
  context: facts,
  bytes: z.int().meta({ description: `Of its JSON; at most ${limits.contextBytesMax}.` }),
}).meta({ id: 'Context' });
const contextPath = `${path}/context`;

const changedGrant = strict({ grant: grantAnswer, entry_id: entryId });
const grantPath = '/v1/grants';
const grantTag = 'grants';

export const taskOperations = {
  createTask: operation('post', '/v1/threads/{thread_key}/tasks', {
    scope: 'manage',
    tag,
    summary: 'Create a task',
    params: threadParams,
    body: createBody,
    idempotent: true,
    answer: writtenTask.extend({ assumed: assumed.optional() }),
    statuses: [201, 200],
    refuses: ['task_exists', 'schedule_exhausted', 'quota_exceeded'],
  }),
  listTasks: operation('get', '/v1/tasks', {
    scope: 'read',
    tag,
    summary: 'List tasks, newest first',
    query: tasksQuery,
    answer: taskPage,
  }),
  listThreadTasks: operation('get', '/v1/threads/{thread_key}/tasks', {
    scope: 'read',
    tag,
    summary: 'List the tasks of a thread, newest first',
    params: threadParams,
    query: threadTasksQuery,
    answer: taskPage,
  }),
  getTask: operation('get', path, {
    scope: 'read',
    tag,
    summary: 'Read a task',
    params: taskParams,
    answer: oneTask,
  }),
  deleteTask: operation('delete', path, {
    scope: 'manage',
    tag,
    summary: 'Delete a task',
    params: taskParams,
    answer: strict({ deleted: z.literal(true) }),
  }),
  listTaskVersions: operation('get', `${path}/versions`, {
    scope: 'read',
    tag,
    summary: 'List what a task was told to do, newest first',
    params: taskParams,
    answer: versionList,
  }),
  updateTask: operation('patch', path, {
    scope: 'manage',
    tag,
    summary: 'Change the named fields of a task',
    params: taskParams,
    body: patchBody,
    answer: editedTask,
    refuses: ['schedule_exhausted', 'quota_exceeded'],
  }),
  getContext: operation('get', contextPath, {
    scope: 'read',
    tag,
    summary: 'Read what the runs of a task know',
    params: taskParams,
    answer: contextAnswer,
  }),
  changeContext: operation('patch', contextPath, {
    scope: 'manage',
    tag,
    summary: 'Set fields of the context of a task; a run that is under way keeps its own',
    params: taskParams,
    body: strict({
      context: facts.meta({ description: 'The fields to set; one that is null is taken away, and the others stay.' }),
    }).meta({ id: 'ContextPatch', example: { context: { count: 0 } } }),
    answer: contextAnswer.extend({ entry_id: entryId }),
  }),
  resetContext: operation('delete', contextPath, {
    scope: 'manage',
    tag,
    summary: 'Empty the context of a task, which nothing takes back',
    params: taskParams,
    answer: contextAnswer.extend({ entry_id: entryId }),
  }),
  listGrants: operation('get', grantPath, {
    scope: 'read',
    tag: grantTag,
    summary: 'List grants, newest first',
    query: strict({
      thread_key: z.string().optional(),
      owner: z.string().max(64).optional().meta({ description: 'The user key of the owner.' }),
      task_id: z.string().max(64).optional(),
      budget_account: z
        .string()
        .optional()
        .meta({ description: 'The thread key of the chat whose budget they spend.' }),
      state: z.enum(['active', 'revoked', 'expired']).optional(),
      ...page,
    }),
    answer: strict({ grants: z.array(grantAnswer), next_cursor: cursor }),
  }),
  createGrant: operation('post', grantPath, {
    scope: 'manage',
    tag: grantTag,
    summary: 'Give a task a fresh grant in place of its own, and resume it if it waited for its owner',
    body: strict({
      task_id: z.string().max(64).meta({ example: '0198c5f0-7a3e-7d51-9b1c-3f6f0a4be210' }),
      expires_at: instantSent.nullable().optional().meta({
        description: 'From then on its slots are skipped: null for never. What its chat has chosen where it is absent.',
      }),
      scopes: z.array(z.string().max(limits.scopeLengthMax)).min(1).max(limits.scopesMax).optional().meta({
        description:
          'Such as action:http, host:api.example.com, host:*.example.com, secret:NAME, secret:CUSTOMER_*. What the action of the task needs without it.',
      }),
    }).meta({ id: 'GrantCreate', example: { task_id: '0198c5f0-7a3e-7d51-9b1c-3f6f0a4be210' } }),
    idempotent: true,
    answer: changedGrant,
    statuses: [201],
    refuses: ['task_not_found'],
  }),
  revokeGrant: operation('delete', `${grantPath}/{grant_id}`, {
    scope: 'manage',
    tag: grantTag,
    summary: 'Revoke a grant for good: the slots of its task are skipped from then on',
    params: strict({ grant_id: z.string() }),
    answer: changedGrant,
  }),
} as const;
