import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/runs.ts';
import type { Runs } from '../../app/use-cases/runs.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import { serve } from '../operation.ts';
import type { TaskRoutes } from './tasks.ts';
import type { TruthRoutes } from './truth.ts';
import { iso, wireResult, wireRun, wireTask, wireTaskRun } from './wire.ts';

export interface RunRoutes {
  readonly runs: Runs;
}

/** What has run, and what is coming. */
export function serveRuns(app: OpenAPIHono, needs: TaskRoutes & TruthRoutes & RunRoutes): void {
  serveList(app, needs);
  serveReading(app, needs);
  serveCancel(app, needs);
  serveRepeats(app, needs);
}

function serveList(app: OpenAPIHono, { runs }: RunRoutes): void {
  serve(app, api.listRuns, async ({ query }) => {
    const { thread_key: threadKey, from, to } = query;
    const page = await runs.list({
      status: query.status ?? null,
      taskId: query.task_id ?? null,
      thread: threadKey === undefined ? null : parseThreadKey(threadKey),
      source: query.source ?? null,
      subject: query.subject ?? null,
      tags: query.tag,
      text: query.q ?? null,
      from: from === undefined ? null : Date.parse(from),
      to: to === undefined ? null : Date.parse(to),
      limit: query.limit,
      cursor: query.cursor ?? null,
    });
    return { status: 200, body: { runs: page.items.map(wireRun), next_cursor: page.next } };
  });
  serve(app, api.getRunResult, async ({ params }) => ({
    status: 200,
    body: wireResult(await runs.result(params.run_id)),
  }));
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
  serve(app, api.cancelRun, async ({ params, traceId }) => {
    const { cancelled, run } = await tasks.cancelRun(params.run_id, actor, traceId);
    return { status: 200, body: { cancelled, run: wireRun(run) } };
  });
}

const repeats = { retry: api.retryRun, replay: api.replayRun } as const;

function serveRepeats(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  for (const kind of ['retry', 'replay'] as const) {
    serve(app, repeats[kind], async ({ params, idempotencyKey, traceId }) => {
      const { task, taskRun } = await tasks.repeat(kind, params.run_id, { actor, idempotencyKey, traceId });
      return { status: 200, body: { task: wireTask(task), task_run: wireTaskRun(taskRun) } };
    });
  }
}
