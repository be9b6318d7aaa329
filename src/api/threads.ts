import { z } from 'zod';
import { cursor, operation, noBody, page, strict, text, threadParams, searchText, taskParams } from './operation.ts';
import { changedTask } from './tasks.ts';
import { pauseBody, pauseEnd } from './verbs.ts';

/** Verbs on all tasks of a thread. */

const dryRun = z.enum(['true', 'false']).default('false').meta({ description: 'true only counts what would go.' });
const bulkAnswer = strict({
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
  }).meta({ description: 'Of what was deleted, as it stood in that moment; with dry_run of what would be.' }),
});

const thread = { tag: 'threads', params: threadParams } as const;
const threadVerb = { ...thread, idempotent: true } as const;
const path = '/v1/threads/{thread_key}';

/** Verbs on all tasks of a subject or a tag. */

const chosen = {
  subject: searchText.min(1).optional().meta({ description: 'Tasks of this subject, in small letters or capitals.' }),
  tag: searchText.min(1).optional().meta({ description: 'Tasks that bear this tag.' }),
  thread_key: z.string().optional().meta({ description: 'Only those of this chat or thread.' }),
};

/** All tasks of a thread have operations of their own; all tasks of the server are not to be changed by one slip. */
function isNamed({ subject, tag }: { readonly subject?: string | undefined; readonly tag?: string | undefined }) {
  return subject !== undefined || tag !== undefined;
}
const example = { tag: 'team' };
const unnamed = { error: 'name a subject or a tag; for all tasks of a thread, see /v1/threads/{thread_key}' };
const chosenBody = strict(chosen).refine(isNamed, unnamed).meta({ id: 'Chosen', example });
const pauseChosenBody = strict({ ...chosen, until: pauseEnd })
  .refine(isNamed, unnamed)
  .meta({ id: 'PauseChosen', example });

const bulk = {
  tag: 'tasks',
  idempotent: true,
  query: strict({
    dry_run: z.enum(['true', 'false']).default('false').meta({ description: 'true only counts what would change.' }),
  }),
  answer: bulkAnswer,
} as const;

const knownThread = strict({
  thread_key: z.string().meta({ example: 'telegram:chat:-1001234' }),
  title: text.meta({ description: 'The title of the group, or how the person of a private chat is called.' }),
  state: z
    .enum(['new', 'approved', 'refused', 'gone'])
    .meta({ description: 'new is not let in yet; gone can be reached no more.' }),
  timezone: text.meta({ description: 'The zone in which words are read there; null where nobody has named one.' }),
}).meta({ id: 'Thread' });

export const threadOperations = {
  listThreads: operation('get', '/v1/threads', {
    scope: 'read',
    tag: 'threads',
    summary: 'List the chats that are known, newest first',
    query: strict({
      thread_key: z.string().optional().meta({ description: 'Only the chat of this thread.' }),
      ...page,
    }),
    answer: strict({ threads: z.array(knownThread), next_cursor: cursor }),
    refuses: ['invalid_thread_key', 'invalid_cursor'],
  }),
  purgeThread: operation('delete', `${path}/tasks`, {
    scope: 'manage',
    ...thread,
    summary: 'Delete all tasks of a thread; dry_run=true counts first',
    query: strict({ dry_run: dryRun }),
    answer: purgeAnswer,
  }),
  purgePerson: operation('delete', '/v1/people/{actor}/tasks', {
    scope: 'manage',
    tag: 'tasks',
    summary: 'Delete all tasks of a person, in all chats or in one; dry_run=true counts first',
    params: strict({
      actor: z.string().meta({ description: 'The owner of the tasks.', example: 'telegram:user:1001' }),
    }),
    query: strict({
      thread_key: z.string().optional().meta({ description: 'Only those of this chat or thread.' }),
      dry_run: dryRun,
    }),
    answer: purgeAnswer,
  }),
  pauseThread: operation('post', `${path}/pause`, {
    scope: 'manage',
    ...threadVerb,
    summary: 'Pause all tasks of a thread',
    body: pauseBody,
    answer: bulkAnswer,
  }),
  cancelThread: operation('post', `${path}/cancel`, {
    scope: 'run',
    ...threadVerb,
    summary: 'Call off everything that a thread has under way: what its tasks run, and messages that wait',
    body: noBody,
    answer: strict({
      thread_key: z.string(),
      cancelled: z.boolean().meta({ description: 'False when there was nothing under way.' }),
      runs: z.int().meta({ description: 'Runs that were called off.' }),
      left: z.int().meta({ description: 'Runs that ended by themselves before they could be called off.' }),
    }),
  }),
  resumeThread: operation('post', `${path}/resume`, {
    scope: 'manage',
    ...threadVerb,
    summary: 'Resume all tasks of a thread that a person paused',
    body: noBody,
    answer: bulkAnswer,
  }),
  pauseTasks: operation('post', '/v1/tasks/pause', {
    scope: 'manage',
    ...bulk,
    summary: 'Pause all tasks of a subject or a tag; dry_run=true counts first',
    body: pauseChosenBody,
  }),
  resumeTasks: operation('post', '/v1/tasks/resume', {
    scope: 'manage',
    ...bulk,
    summary: 'Resume all tasks of a subject or a tag that a person paused',
    body: chosenBody,
  }),
  cancelTasks: operation('post', '/v1/tasks/cancel', {
    scope: 'run',
    ...bulk,
    summary: 'Call off what the tasks of a subject or a tag run now',
    body: chosenBody,
  }),
  attachTask: operation('post', '/v1/tasks/{task_id}/attach', {
    scope: 'manage',
    tag: 'tasks',
    summary: 'Give a task a chat, or another one while nothing of it is in its own',
    params: taskParams,
    body: strict({
      thread_key: z.string().meta({
        description: 'telegram:chat:<id> or telegram:chat:<id>:topic:<n>. Results go to a topic of the task itself.',
        example: 'telegram:chat:-1001234',
      }),
    }).meta({ example: { thread_key: 'telegram:chat:-1001234' } }),
    idempotent: true,
    answer: changedTask,
    refuses: ['invalid_thread_key', 'not_found', 'run_in_progress', 'not_attachable', 'quota_exceeded'],
  }),
} as const;
