import type { OpenAPIHono } from '@hono/zod-openapi';
import { cancelledRun, nextRuns, ranNow, runAnswer, taskRunPage } from './answers.ts';
import { serve } from './operation.ts';
import { nextQuery, noBody, runParams, runsQuery, taskParams } from './schemas.ts';
import type { TaskRoutes } from './tasks.ts';
import type { TruthRoutes } from './truth.ts';
import { iso, wireRun, wireTask, wireTaskRun } from './wire.ts';

const tag = 'runs';

/** What has run, and what is coming. */
export function serveRuns(app: OpenAPIHono, needs: TaskRoutes & TruthRoutes): void {
  serveReading(app, needs);
  serveCancel(app, needs);
  serveRepeats(app, needs);
}

function serveReading(app: OpenAPIHono, { tasks, truth }: TaskRoutes & TruthRoutes): void {
  serve(
    app,
    {
      id: 'listTaskRuns',
      tag,
      summary: 'List the runs of a task, latest slot first',
      method: 'get',
      path: '/v1/tasks/{task_id}/runs',
      params: taskParams,
      query: runsQuery,
      answer: taskRunPage,
    },
    async ({ params, query }) => {
      const { status = null, limit, cursor = null } = query;
      const page = await tasks.listRuns({ taskId: params.task_id, status, limit, cursor });
      return { status: 200, body: { task_runs: page.items.map(wireTaskRun), next_cursor: page.next } };
    },
  );
  serve(
    app,
    {
      id: 'listNextRuns',
      tag,
      summary: 'When a task runs next',
      method: 'get',
      path: '/v1/tasks/{task_id}/next',
      params: taskParams,
      query: nextQuery,
      answer: nextRuns,
    },
    async ({ params, query }) => {
      const next = await truth.upcoming(params.task_id, query.count);
      return { status: 200, body: { next: next.map(iso) } };
    },
  );
  serve(
    app,
    {
      id: 'getRun',
      tag,
      summary: 'Read a run',
      method: 'get',
      path: '/v1/runs/{run_id}',
      params: runParams,
      answer: runAnswer,
    },
    async ({ params }) => ({ status: 200, body: wireRun(await tasks.getRun(params.run_id)) }),
  );
}

function serveCancel(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(
    app,
    {
      id: 'cancelRun',
      tag,
      summary: 'Call off a run',
      method: 'post',
      path: '/v1/runs/{run_id}/cancel',
      params: runParams,
      body: noBody,
      answer: cancelledRun,
    },
    async ({ params }) => {
      const { cancelled, run } = await tasks.cancelRun(params.run_id, actor);
      return { status: 200, body: { cancelled, run: wireRun(run) } };
    },
  );
}

const summaries = {
  retry: 'Make good a run that failed, as the same call for its target',
  replay: 'Do a run once more with what it was given, as a new call for its target',
} as const;

function serveRepeats(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  for (const kind of ['retry', 'replay'] as const) {
    serve(
      app,
      {
        id: `${kind}Run`,
        tag,
        summary: summaries[kind],
        method: 'post',
        path: `/v1/runs/{run_id}/${kind}`,
        params: runParams,
        body: noBody,
        idempotent: true,
        answer: ranNow,
        refuses: ['run_in_progress', 'not_repeatable'],
      },
      async ({ params, idempotencyKey }) => {
        const { task, taskRun } = await tasks.repeat(kind, params.run_id, { actor, idempotencyKey });
        return { status: 200, body: { task: wireTask(task), task_run: wireTaskRun(taskRun) } };
      },
    );
  }
}
