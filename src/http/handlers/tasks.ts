import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/tasks.ts';
import type { TaskQuery } from '../../app/ports/tasks.ts';
import type { Tasks } from '../../app/tasks/tasks.ts';
import type { Actor } from '../../domain/actor.ts';
import { parseThreadKey, type Thread } from '../../domain/thread.ts';
import { serve } from '../operation.ts';
import { presentOf } from './schedules.ts';
import { wireChanges, wireTask, wireVersion } from './wire.ts';

export interface TaskRoutes {
  readonly tasks: Tasks;
  /** As whom the bearer of the token acts. */
  readonly actor: Actor;
}

export function serveTasks(app: OpenAPIHono, needs: TaskRoutes): void {
  serveCreate(app, needs);
  serveLists(app, needs);
  serveOne(app, needs);
  serveUpdate(app, needs);
}

function serveCreate(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  const { createTask } = api;
  serve(app, createTask, async ({ params, body, idempotencyKey, traceId }) => {
    const { on_existing: onExisting, ...policies } = body.policies ?? {};
    const input = { ...body, schedule: presentOf(body.schedule), policies };
    const made = await tasks.create({
      threadKey: params.thread_key,
      input,
      onExisting,
      actor,
      idempotencyKey,
      traceId,
    });
    return {
      status: made.created || made.replayed ? 201 : 200,
      body: { task: wireTask(made.task), warnings: made.warnings.map((warning) => ({ ...warning })) },
    };
  });
}

function serveLists(app: OpenAPIHono, { tasks }: TaskRoutes): void {
  const list = async (thread: Thread | null, query: api.TasksFilter) => {
    const page = await tasks.list(listQuery(thread, query));
    return { status: 200, body: { tasks: page.items.map(wireTask), next_cursor: page.next } } as const;
  };
  serve(app, api.listTasks, ({ query: { thread_key: key, ...query } }) =>
    list(key === undefined ? null : parseThreadKey(key), query),
  );
  serve(app, api.listThreadTasks, async ({ params, query }) => list(parseThreadKey(params.thread_key), query));
}

function listQuery(thread: Thread | null, query: api.TasksFilter): TaskQuery {
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
  serve(app, api.getTask, async (received) => {
    const task = await tasks.get(received.params.task_id);
    return { status: 200, body: { task: wireTask(task) } };
  });
  serve(app, api.deleteTask, async (received) => {
    await tasks.delete({ taskId: received.params.task_id, actor, traceId: received.traceId });
    return { status: 200, body: { deleted: true as const } };
  });
  serve(app, api.listTaskVersions, async (received) => {
    const versions = await tasks.versions(received.params.task_id);
    return { status: 200, body: { versions: versions.map(wireVersion) } };
  });
}

function serveUpdate(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, api.updateTask, async ({ params: { task_id: taskId }, body, traceId }) => {
    const { schedule, ...rest } = body;
    const patch = schedule === undefined ? rest : { ...rest, schedule: presentOf(schedule) };
    const edited = await tasks.edit({ taskId, actor, traceId }, patch);
    return {
      status: 200,
      body: {
        task: wireTask(edited.task),
        warnings: edited.warnings.map((warning) => ({ ...warning })),
        changes: wireChanges(edited.changes),
        entry_id: edited.entryId,
      },
    };
  });
}
