import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { TaskQuery } from '../../app/task-store.ts';
import type { Tasks } from '../../app/tasks/tasks.ts';
import type { Actor } from '../../domain/actor.ts';
import { parseThreadKey, type Thread } from '../../domain/thread.ts';
import { deleted, editedTask, oneTask, taskPage, versionList, writtenTask } from './answers.ts';
import { serve } from './operation.ts';
import { createBody, patchBody, presentOf, taskParams, tasksQuery, threadParams, threadTasksQuery } from './schemas.ts';
import { wireChanges, wireTask, wireVersion } from './wire.ts';

export interface TaskRoutes {
  readonly tasks: Tasks;
  /** As whom the bearer of the token acts. */
  readonly actor: Actor;
}

const tag = 'tasks';

export function serveTasks(app: OpenAPIHono, needs: TaskRoutes): void {
  serveCreate(app, needs);
  serveLists(app, needs);
  serveOne(app, needs);
  serveUpdate(app, needs);
}

function serveCreate(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(
    app,
    {
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
    },
    async ({ params, body, idempotencyKey }) => {
      const { on_existing: onExisting, ...policies } = body.policies ?? {};
      const input = { ...body, schedule: presentOf(body.schedule), policies };
      const made = await tasks.create({ threadKey: params.thread_key, input, onExisting, actor, idempotencyKey });
      return {
        status: made.created || made.replayed ? 201 : 200,
        body: { task: wireTask(made.task), warnings: made.warnings.map((warning) => ({ ...warning })) },
      };
    },
  );
}

function serveLists(app: OpenAPIHono, { tasks }: TaskRoutes): void {
  const list = async (thread: Thread | null, query: z.output<typeof threadTasksQuery>) => {
    const page = await tasks.list(listQuery(thread, query));
    return { status: 200, body: { tasks: page.items.map(wireTask), next_cursor: page.next } } as const;
  };
  serve(
    app,
    {
      id: 'listTasks',
      tag,
      summary: 'List tasks, newest first',
      method: 'get',
      path: '/v1/tasks',
      query: tasksQuery,
      answer: taskPage,
    },
    ({ query: { thread_key: key, ...query } }) => list(key === undefined ? null : parseThreadKey(key), query),
  );
  serve(
    app,
    {
      id: 'listThreadTasks',
      tag,
      summary: 'List the tasks of a thread, newest first',
      method: 'get',
      path: '/v1/threads/{thread_key}/tasks',
      params: threadParams,
      query: threadTasksQuery,
      answer: taskPage,
    },
    async ({ params, query }) => list(parseThreadKey(params.thread_key), query),
  );
}

function listQuery(thread: Thread | null, query: z.output<typeof threadTasksQuery>): TaskQuery {
  const { state, q, tag: label, subject, limit, cursor } = query;
  return {
    thread,
    state,
    text: q ?? null,
    tag: label ?? null,
    subject: subject ?? null,
    limit,
    cursor: cursor ?? null,
  };
}

function serveOne(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  const path = '/v1/tasks/{task_id}';
  const params = taskParams;
  serve(
    app,
    { id: 'getTask', tag, summary: 'Read a task', method: 'get', path, params, answer: oneTask },
    async (received) => {
      const task = await tasks.get(received.params.task_id);
      return { status: 200, body: { task: wireTask(task) } };
    },
  );
  serve(
    app,
    { id: 'deleteTask', tag, summary: 'Delete a task', method: 'delete', path, params, answer: deleted },
    async (received) => {
      await tasks.delete({ taskId: received.params.task_id, actor });
      return { status: 200, body: { deleted: true as const } };
    },
  );
  serve(
    app,
    {
      id: 'listTaskVersions',
      tag,
      summary: 'List what a task was told to do, newest first',
      method: 'get',
      path: `${path}/versions`,
      params,
      answer: versionList,
    },
    async (received) => {
      const versions = await tasks.versions(received.params.task_id);
      return { status: 200, body: { versions: versions.map(wireVersion) } };
    },
  );
}

function serveUpdate(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(
    app,
    {
      id: 'updateTask',
      tag,
      summary: 'Change the named fields of a task',
      method: 'patch',
      path: '/v1/tasks/{task_id}',
      params: taskParams,
      body: patchBody,
      answer: editedTask,
      refuses: ['schedule_exhausted'],
    },
    async ({ params: { task_id: taskId }, body }) => {
      const { schedule, ...rest } = body;
      const patch = schedule === undefined ? rest : { ...rest, schedule: presentOf(schedule) };
      const edited = await tasks.edit({ taskId, actor }, patch);
      return {
        status: 200,
        body: {
          task: wireTask(edited.task),
          warnings: edited.warnings.map((warning) => ({ ...warning })),
          changes: wireChanges(edited.changes),
          entry_id: edited.entryId,
        },
      };
    },
  );
}
