import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/threads.ts';
import type { Runs } from '../../app/use-cases/runs.ts';
import type { ThreadCounts } from '../../app/ports/tasks.ts';
import type { Threads } from '../../app/tasks/threads.ts';
import type { Actor } from '../../domain/actor.ts';
import { serve } from '../operation.ts';

export interface ThreadRoutes {
  readonly threads: Threads;
  readonly runs: Runs;
  readonly actor: Actor;
}

/** What is done to all tasks of a thread. */
export function serveThreads(app: OpenAPIHono, { threads, runs, actor }: ThreadRoutes): void {
  serve(app, api.purgeThread, async ({ params: { thread_key: key }, query, traceId }) => {
    const isDry = query.dry_run === 'true';
    const counts = isDry ? await threads.count(key) : await threads.purge(key, { actor, traceId });
    return { status: 200, body: { deleted: !isDry, counts: wireCounts(counts) } };
  });
  serve(app, api.pauseThread, async ({ params: { thread_key: key }, body, traceId }) => {
    const until = body?.until === undefined ? null : Date.parse(body.until);
    return { status: 200, body: { ...(await threads.pause(key, { actor, traceId }, until)) } };
  });
  serve(app, api.cancelThread, async ({ params: { thread_key: key }, traceId }) => ({
    status: 200,
    body: { ...(await runs.cancelThread(key, { actor, traceId })) },
  }));
  serve(app, api.resumeThread, async ({ params: { thread_key: key }, traceId }) => ({
    status: 200,
    body: { ...(await threads.resume(key, { actor, traceId })) },
  }));
}

function wireCounts({ active, paused, completed, liveRuns, openDeliveries }: ThreadCounts) {
  return {
    tasks: active + paused + completed,
    active,
    paused,
    completed,
    live_runs: liveRuns,
    open_deliveries: openDeliveries,
  };
}
