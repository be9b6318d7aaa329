import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/verbs.ts';
import type { Changed } from '../../app/ports/tasks.ts';
import type { MissedAnswer } from '../../app/ports/questions.ts';
import { durationMs } from '../../domain/duration.ts';
import { AppError } from '../../domain/errors.ts';
import { serve } from '../operation.ts';
import type { TaskRoutes } from './tasks.ts';
import { iso, wireTask, wireTaskRun } from './wire.ts';

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
  serve(app, api.runTaskNow, async ({ params: { task_id: taskId }, idempotencyKey, traceId }) => {
    const { task, taskRun } = await tasks.runNow({ taskId, actor, idempotencyKey, traceId });
    return { status: 200, body: { task: wireTask(task), task_run: wireTaskRun(taskRun) } };
  });
  serve(app, api.cancelTask, async ({ params: { task_id: taskId }, traceId }) =>
    told(await tasks.cancel({ taskId, actor, traceId })),
  );
  serve(app, api.answerTask, async ({ params: { task_id: taskId }, body, traceId }) =>
    told(await tasks.answer({ taskId, actor, traceId }, choiceOf(body))),
  );
}

function choiceOf(body: api.MissedChoice): MissedAnswer {
  if ('answer' in body) return body.answer;
  return body.run ? 'all' : 'none';
}

function servePausing(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, api.pauseTask, async ({ params: { task_id: taskId }, body, traceId }) => {
    const until = body?.until === undefined ? null : Date.parse(body.until);
    return told(await tasks.pause({ taskId, actor, traceId }, until));
  });
  serve(app, api.resumeTask, async ({ params: { task_id: taskId }, traceId }) =>
    told(await tasks.resume({ taskId, actor, traceId })),
  );
}

function serveSkipping(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, api.skipTask, async ({ params: { task_id: taskId }, body: { count, from }, idempotencyKey, traceId }) => {
    const skip = { count, from: from === undefined ? null : Date.parse(from) };
    return told(await tasks.skip({ taskId, actor, idempotencyKey, traceId }, skip));
  });
  serve(app, api.unskipTask, async ({ params: { task_id: taskId }, traceId }) =>
    told(await tasks.unskip({ taskId, actor, traceId })),
  );
  serve(app, api.snoozeTask, async ({ params: { task_id: taskId }, body, idempotencyKey, traceId }) =>
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
  serve(app, api.restoreTask, async ({ params: { task_id: taskId }, traceId }) =>
    told(await tasks.restore({ taskId, actor, traceId })),
  );
  serve(app, api.undoTask, async ({ params: { task_id: taskId }, body, traceId }) => {
    const changed = await tasks.undo({ taskId, actor, traceId }, body.entry_id ?? null);
    const { id, verb: what, at } = changed.undone;
    return {
      status: 200,
      body: { ...told(changed).body, undone: { entry_id: id, verb: what, at: iso(at) } },
    };
  });
}
