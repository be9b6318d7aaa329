import type { OpenAPIHono } from '@hono/zod-openapi';
import * as schedulesApi from '../../api/schedules.ts';
import * as api from '../../api/tasks.ts';
import * as verbsApi from '../../api/verbs.ts';
import type { MissedAnswer } from '../../app/ports/questions.ts';
import type { TaskQuery, Changed, GrantView } from '../../app/ports/tasks.ts';
import type { TaskInput, TaskInWords } from '../../app/tasks/definition.ts';
import type { GrantChanged } from '../../app/tasks/grants.ts';
import type { AskedPreview, PreviewRequest } from '../../app/tasks/preview.ts';
import type { Tasks } from '../../app/tasks/tasks.ts';
import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import { durationMs } from '../../domain/schedule/time/duration.ts';
import { parseThreadKey, type Thread, threadKeyOf } from '../../domain/thread.ts';
import { serve } from '../serving.ts';
import { wireChanges, wireTask, wireVersion, wirePreview, iso, wireTaskRun, isoOrNull } from './wire.ts';

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
    const made = await tasks.create({
      threadKey: params.thread_key,
      input: inputOf({ ...body, policies }),
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

export function serveSchedules(app: OpenAPIHono, preview: (request: PreviewRequest) => AskedPreview): void {
  serve(app, schedulesApi.previewSchedule, async ({ body }) => ({
    status: 200,
    body: wirePreview(preview(requestOf(body))),
  }));
}

/** The shape of the body says that it is one of the two. */
function inputOf({
  schedule,
  when = '',
  timezone = '',
  instructions,
  ...fields
}: api.CreateBody): TaskInput | TaskInWords {
  if (schedule === undefined) return { ...fields, when, timezone, instructions };
  return { ...fields, schedule: presentOf(schedule), instructions: instructions ?? '' };
}

/** The use cases know no null: a field that is null was not sent. */
function presentOf(schedule: schedulesApi.ScheduleInput) {
  const text = (value: string | null | undefined) => value ?? undefined;
  const { kind, once_at, cron: fields, rrule: rule, interval: every, start_at, from } = schedule;
  return {
    kind,
    once_at: text(once_at),
    cron: text(fields),
    rrule: text(rule),
    interval: text(every),
    start_at: text(start_at),
    from: from ?? undefined,
    timezone: schedule.timezone,
  };
}

function requestOf({
  schedule,
  after,
  when = '',
  timezone = '',
  now,
  count,
}: schedulesApi.PreviewBody): PreviewRequest {
  const instant = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  if (schedule !== undefined) return { schedule: presentOf(schedule), after: instant(after), count };
  return { when, timezone, now: instant(now), count };
}

/** What can be done to a task besides changing its definition. */
export function serveVerbs(app: OpenAPIHono, needs: TaskRoutes): void {
  serveRunning(app, needs);
  servePausing(app, needs);
  serveSkipping(app, needs);
  serveUndoing(app, needs);
}

function told({ task, entryId }: Changed) {
  return { status: 200, body: { task: wireTask(task), entry_id: entryId } } as const;
}

function serveRunning(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, verbsApi.runTaskNow, async ({ params: { task_id: taskId }, idempotencyKey, traceId }) => {
    const { task, taskRun } = await tasks.runNow({ taskId, actor, idempotencyKey, traceId });
    return { status: 200, body: { task: wireTask(task), task_run: wireTaskRun(taskRun) } };
  });
  serve(app, verbsApi.cancelTask, async ({ params: { task_id: taskId }, traceId }) =>
    told(await tasks.cancel({ taskId, actor, traceId })),
  );
  serve(app, verbsApi.answerTask, async ({ params: { task_id: taskId }, body, traceId }) =>
    told(await tasks.answer({ taskId, actor, traceId }, choiceOf(body))),
  );
}

function choiceOf(body: verbsApi.MissedChoice): MissedAnswer {
  if ('answer' in body) return body.answer;
  return body.run ? 'all' : 'none';
}

function servePausing(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, verbsApi.pauseTask, async ({ params: { task_id: taskId }, body, traceId }) => {
    const until = body?.until === undefined ? null : Date.parse(body.until);
    return told(await tasks.pause({ taskId, actor, traceId }, until));
  });
  serve(app, verbsApi.resumeTask, async ({ params: { task_id: taskId }, traceId }) =>
    told(await tasks.resume({ taskId, actor, traceId })),
  );
}

function serveSkipping(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(
    app,
    verbsApi.skipTask,
    async ({ params: { task_id: taskId }, body: { count, from }, idempotencyKey, traceId }) => {
      const skip = { count, from: from === undefined ? null : Date.parse(from) };
      return told(await tasks.skip({ taskId, actor, idempotencyKey, traceId }, skip));
    },
  );
  serve(app, verbsApi.unskipTask, async ({ params: { task_id: taskId }, traceId }) =>
    told(await tasks.unskip({ taskId, actor, traceId })),
  );
  serve(app, verbsApi.snoozeTask, async ({ params: { task_id: taskId }, body, idempotencyKey, traceId }) =>
    told(await tasks.snooze({ taskId, actor, idempotencyKey, traceId }, endOf(body))),
  );
}

function endOf(body: { readonly for?: string | undefined; readonly until?: string | undefined }) {
  if (body.until !== undefined) return Date.parse(body.until);
  try {
    return { forMs: durationMs(body.for ?? '') };
  } catch {
    throw new AppError('invalid_request', 'for: a snooze lasts for a duration such as PT10M, PT2H or P1D.', {
      details: { field: 'for' },
    });
  }
}

function serveUndoing(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, verbsApi.restoreTask, async ({ params: { task_id: taskId }, traceId }) =>
    told(await tasks.restore({ taskId, actor, traceId })),
  );
  serve(app, verbsApi.undoTask, async ({ params: { task_id: taskId }, body, traceId }) => {
    const changed = await tasks.undo({ taskId, actor, traceId }, body.entry_id ?? null);
    const { id, verb: what, at } = changed.undone;
    return {
      status: 200,
      body: { ...told(changed).body, undone: { entry_id: id, verb: what, at: iso(at) } },
    };
  });
}

export function serveGrants(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, api.listGrants, async ({ query }) => {
    const { thread_key: key, owner, task_id: taskId, state, limit, cursor } = query;
    const page = await tasks.listGrants({
      thread: key === undefined ? null : parseThreadKey(key),
      ownerId: owner ?? null,
      taskId: taskId ?? null,
      state: state ?? null,
      limit,
      cursor: cursor ?? null,
    });
    return { status: 200, body: { grants: page.items.map(wireGrant), next_cursor: page.next } };
  });
  serve(app, api.createGrant, async ({ body, idempotencyKey, traceId }) => {
    const { task_id: taskId, expires_at: expiry, scopes = null } = body;
    const wish = { scopes, expiresAt: expiry === undefined ? null : Date.parse(expiry) };
    return { status: 201, body: changed(await tasks.grant({ taskId, actor, idempotencyKey, traceId }, wish)) };
  });
  serve(app, api.revokeGrant, async ({ params: { grant_id: grantId }, traceId }) => ({
    status: 200,
    body: changed(await tasks.revoke(grantId, { actor, traceId })),
  }));
}

function changed({ grant, entryId }: GrantChanged) {
  return { grant: wireGrant(grant), entry_id: entryId };
}

function wireGrant(grant: GrantView) {
  return {
    grant_id: grant.id,
    task_ids: [...grant.taskIds],
    owner_user_key: grant.ownerId,
    thread_key: threadKeyOf(grant.thread),
    scopes: [...grant.scopes],
    expires_at: isoOrNull(grant.expiresAt),
    revoked_at: isoOrNull(grant.revokedAt),
    revoked_by: grant.revokedBy,
    created_at: iso(grant.createdAt),
    created_by: grant.createdBy,
  };
}
