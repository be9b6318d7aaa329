import type { OpenAPIHono } from '@hono/zod-openapi';
import type { z } from 'zod';
import type { Changed } from '../../app/task-store.ts';
import type { MissedAnswer } from '../../app/questions.ts';
import { durationMs } from '../../domain/duration.ts';
import { AppError } from '../../domain/errors.ts';
import { changedTask, ranNow, undoneTask } from './answers.ts';
import { serve } from './operation.ts';
import { answerBody, noBody, pauseBody, skipBody, snoozeBody, taskParams, undoBody } from './schemas.ts';
import type { TaskRoutes } from './tasks.ts';
import { iso, wireTask, wireTaskRun } from './wire.ts';

const verb = { tag: 'tasks', method: 'post', params: taskParams } as const;
const path = '/v1/tasks/{task_id}';

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
  serve(
    app,
    {
      ...verb,
      id: 'runTaskNow',
      summary: 'Run a task now, beside its schedule',
      path: `${path}/run-now`,
      body: noBody,
      idempotent: true,
      answer: ranNow,
      refuses: ['run_in_progress'],
    },
    async ({ params: { task_id: taskId }, idempotencyKey }) => {
      const { task, taskRun } = await tasks.runNow({ taskId, actor, idempotencyKey });
      return { status: 200, body: { task: wireTask(task), task_run: wireTaskRun(taskRun) } };
    },
  );
  serve(
    app,
    {
      ...verb,
      id: 'cancelTask',
      summary: 'Call off what a task runs now',
      path: `${path}/cancel`,
      body: noBody,
      answer: changedTask,
    },
    async ({ params: { task_id: taskId } }) => told(await tasks.cancel({ taskId, actor })),
  );
  serve(
    app,
    {
      ...verb,
      id: 'answerTask',
      summary: 'Say whether missed slots run after all (policy missed: ask)',
      path: `${path}/answer`,
      body: answerBody,
      answer: changedTask,
      refuses: ['nothing_to_answer'],
    },
    async ({ params: { task_id: taskId }, body }) => told(await tasks.answer({ taskId, actor }, choiceOf(body))),
  );
}

function choiceOf(body: z.output<typeof answerBody>): MissedAnswer {
  if ('answer' in body) return body.answer;
  return body.run ? 'all' : 'none';
}

function servePausing(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(
    app,
    { ...verb, id: 'pauseTask', summary: 'Pause a task', path: `${path}/pause`, body: pauseBody, answer: changedTask },
    async ({ params: { task_id: taskId }, body }) => {
      const until = body?.until === undefined ? null : Date.parse(body.until);
      return told(await tasks.pause({ taskId, actor }, until));
    },
  );
  serve(
    app,
    {
      ...verb,
      id: 'resumeTask',
      summary: 'Let a paused task go on',
      path: `${path}/resume`,
      body: noBody,
      answer: changedTask,
      refuses: ['schedule_exhausted'],
    },
    async ({ params: { task_id: taskId } }) => told(await tasks.resume({ taskId, actor })),
  );
}

function serveSkipping(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(
    app,
    {
      ...verb,
      id: 'skipTask',
      summary: 'Skip the next runs of a task',
      path: `${path}/skip`,
      body: skipBody,
      idempotent: true,
      answer: changedTask,
      refuses: ['nothing_to_skip'],
    },
    async ({ params: { task_id: taskId }, body: { count, from }, idempotencyKey }) => {
      const skip = { count, from: from === undefined ? null : Date.parse(from) };
      return told(await tasks.skip({ taskId, actor, idempotencyKey }, skip));
    },
  );
  serve(
    app,
    {
      ...verb,
      id: 'unskipTask',
      summary: 'Take back what was skipped in advance',
      path: `${path}/unskip`,
      body: noBody,
      answer: changedTask,
    },
    async ({ params: { task_id: taskId } }) => told(await tasks.unskip({ taskId, actor })),
  );
  serve(
    app,
    {
      ...verb,
      id: 'snoozeTask',
      summary: 'Run a task once more later, beside its schedule',
      path: `${path}/snooze`,
      body: snoozeBody,
      idempotent: true,
      answer: changedTask,
    },
    async ({ params: { task_id: taskId }, body, idempotencyKey }) =>
      told(await tasks.snooze({ taskId, actor, idempotencyKey }, endOf(body))),
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
  serve(
    app,
    {
      ...verb,
      id: 'restoreTask',
      summary: 'Bring a deleted task back, within a day',
      path: `${path}/restore`,
      body: noBody,
      answer: changedTask,
      refuses: ['too_late', 'quota_exceeded'],
    },
    async ({ params: { task_id: taskId } }) => told(await tasks.restore({ taskId, actor })),
  );
  serve(
    app,
    {
      ...verb,
      id: 'undoTask',
      summary: 'Take back a change of a task, within a day',
      path: `${path}/undo`,
      body: undoBody,
      answer: undoneTask,
      refuses: ['nothing_to_undo', 'too_late', 'schedule_exhausted', 'quota_exceeded', 'invalid_schedule'],
    },
    async ({ params: { task_id: taskId }, body }) => {
      const changed = await tasks.undo({ taskId, actor }, body.entry_id ?? null);
      const { id, verb: what, at } = changed.undone;
      return {
        status: 200,
        body: { ...told(changed).body, undone: { entry_id: id, verb: what, at: iso(at) } },
      };
    },
  );
}
