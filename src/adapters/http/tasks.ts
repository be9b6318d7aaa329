import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { TaskQuery } from '../../app/task-store.ts';
import type { Tasks } from '../../app/tasks/tasks.ts';
import type { Actor } from '../../domain/actor.ts';
import { parseThreadKey, type Thread } from '../../domain/thread.ts';
import { deleted, oneTask, ranNow, taskPage, writtenTask } from './answers.ts';
import { serve } from './operation.ts';
import {
  createBody,
  noBody,
  patchBody,
  presentOf,
  taskParams,
  tasksQuery,
  threadParams,
  threadTasksQuery,
} from './schemas.ts';
import { wireTask, wireTaskRun } from './wire.ts';

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
  serveVerbs(app, needs);
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
    {
      id: 'updateTask',
      tag,
      summary: 'Change the named fields of a task',
      method: 'patch',
      path,
      params,
      body: patchBody,
      answer: writtenTask,
      refuses: ['schedule_exhausted'],
    },
    async ({ params: { task_id: taskId }, body }) => {
      const { schedule, ...rest } = body;
      const patch = schedule === undefined ? rest : { ...rest, schedule: presentOf(schedule) };
      const { task, warnings } = await tasks.edit(taskId, patch, actor);
      return { status: 200, body: { task: wireTask(task), warnings: warnings.map((warning) => ({ ...warning })) } };
    },
  );
  serve(
    app,
    { id: 'deleteTask', tag, summary: 'Delete a task', method: 'delete', path, params, answer: deleted },
    async (received) => {
      await tasks.delete(received.params.task_id, actor);
      return { status: 200, body: { deleted: true as const } };
    },
  );
}

function serveVerbs(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  const verb = { tag, method: 'post', params: taskParams, body: noBody } as const;
  serve(
    app,
    {
      ...verb,
      id: 'runTaskNow',
      summary: 'Run a task now, beside its schedule',
      path: '/v1/tasks/{task_id}/run-now',
      idempotent: true,
      answer: ranNow,
      refuses: ['run_in_progress'],
    },
    async ({ params: { task_id: taskId }, idempotencyKey }) => {
      const { task, taskRun } = await tasks.runNow(taskId, actor, idempotencyKey);
      return { status: 200, body: { task: wireTask(task), task_run: wireTaskRun(taskRun) } };
    },
  );
  serve(
    app,
    { ...verb, id: 'pauseTask', summary: 'Pause a task', path: '/v1/tasks/{task_id}/pause', answer: oneTask },
    async ({ params: { task_id: taskId } }) => ({
      status: 200,
      body: { task: wireTask(await tasks.pause(taskId, actor)) },
    }),
  );
  serve(
    app,
    {
      ...verb,
      id: 'resumeTask',
      summary: 'Let a paused task go on',
      path: '/v1/tasks/{task_id}/resume',
      answer: oneTask,
      refuses: ['schedule_exhausted'],
    },
    async ({ params: { task_id: taskId } }) => ({
      status: 200,
      body: { task: wireTask(await tasks.resume(taskId, actor)) },
    }),
  );
}
