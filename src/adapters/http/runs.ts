import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/runs.ts';
import { serve } from './operation.ts';
import type { TaskRoutes } from './tasks.ts';
import type { TruthRoutes } from './truth.ts';
import { iso, wireRun, wireTask, wireTaskRun } from './wire.ts';

/** What has run, and what is coming. */
export function serveRuns(app: OpenAPIHono, needs: TaskRoutes & TruthRoutes): void {
  serveReading(app, needs);
  serveCancel(app, needs);
  serveRepeats(app, needs);
}

function serveReading(app: OpenAPIHono, { tasks, truth }: TaskRoutes & TruthRoutes): void {
  serve(app, api.listTaskRuns, async ({ params, query }) => {
    const { status = null, limit, cursor = null } = query;
    const page = await tasks.listRuns({ taskId: params.task_id, status, limit, cursor });
    return { status: 200, body: { task_runs: page.items.map(wireTaskRun), next_cursor: page.next } };
  });
  serve(app, api.listNextRuns, async ({ params, query }) => {
    const next = await truth.upcoming(params.task_id, query.count);
    return { status: 200, body: { next: next.map(iso) } };
  });
  serve(app, api.getRun, async ({ params }) => ({ status: 200, body: wireRun(await tasks.getRun(params.run_id)) }));
}

function serveCancel(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, api.cancelRun, async ({ params }) => {
    const { cancelled, run } = await tasks.cancelRun(params.run_id, actor);
    return { status: 200, body: { cancelled, run: wireRun(run) } };
  });
}

const repeats = { retry: api.retryRun, replay: api.replayRun } as const;

function serveRepeats(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  for (const kind of ['retry', 'replay'] as const) {
    serve(app, repeats[kind], async ({ params, idempotencyKey }) => {
      const { task, taskRun } = await tasks.repeat(kind, params.run_id, { actor, idempotencyKey });
      return { status: 200, body: { task: wireTask(task), task_run: wireTaskRun(taskRun) } };
    });
  }
}
