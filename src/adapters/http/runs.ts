import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Tasks } from '../../app/tasks/tasks.ts';
import { nextRuns, runAnswer, taskRunPage } from './answers.ts';
import { serve } from './operation.ts';
import { nextQuery, runParams, runsQuery, taskParams } from './schemas.ts';
import { upcoming } from '../../app/upcoming.ts';
import { iso, wireRun, wireTaskRun } from './wire.ts';

const tag = 'runs';

/** What has run, and what is coming. */
export function serveRuns(app: OpenAPIHono, tasks: Tasks): void {
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
      const task = await tasks.get(params.task_id);
      return { status: 200, body: { next: upcoming(task, query.count).map(iso) } };
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
