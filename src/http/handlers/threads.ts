import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/threads.ts';
import type { ThreadCounts } from '../../app/ports/tasks.ts';
import type { Bulk, Chosen } from '../../app/tasks/bulk.ts';
import type { Runs } from '../../app/use-cases/runs.ts';
import type { Actor } from '../../domain/access.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import { serve } from '../serving.ts';
import type { TaskRoutes } from './tasks.ts';
import { wireTask } from './wire.ts';

export interface ThreadRoutes {
  readonly bulk: Bulk;
  readonly runs: Runs;
  readonly actor: Actor;
}

/** What is done to all tasks of a thread. */
export function serveThreads(app: OpenAPIHono, { bulk, runs, actor }: ThreadRoutes): void {
  serve(app, api.purgeThread, async ({ params: { thread_key: key }, query, traceId }) => {
    const isDry = query.dry_run === 'true';
    const thread = parseThreadKey(key);
    const counts = await (isDry ? bulk.count(thread) : bulk.purge(thread, { actor, traceId }));
    return { status: 200, body: { deleted: !isDry, counts: wireCounts(counts) } };
  });
  serve(app, api.pauseThread, async ({ params: { thread_key: key }, body, traceId }) => {
    const until = body?.until === undefined ? null : Date.parse(body.until);
    return { status: 200, body: { ...(await bulk.pause(chosenBy({ thread_key: key }), { actor, traceId }, until)) } };
  });
  serve(app, api.cancelThread, async ({ params: { thread_key: key }, traceId }) => ({
    status: 200,
    body: { ...(await runs.cancelThread(key, { actor, traceId })) },
  }));
  serve(app, api.resumeThread, async ({ params: { thread_key: key }, traceId }) => ({
    status: 200,
    body: { ...(await bulk.resume(chosenBy({ thread_key: key }), { actor, traceId })) },
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

export function serveAttach(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, api.attachTask, async ({ params: { task_id: taskId }, body, idempotencyKey, traceId }) => {
    const { task, entryId } = await tasks.attach({ taskId, actor, idempotencyKey, traceId }, body.thread_key);
    return { status: 200, body: { task: wireTask(task), entry_id: entryId } };
  });
}

export interface BulkRoutes {
  readonly bulk: Bulk;
  readonly actor: Actor;
}

interface Named {
  readonly subject?: string | undefined;
  readonly tag?: string | undefined;
  readonly thread_key?: string | undefined;
}

export function serveBulk(app: OpenAPIHono, { bulk, actor }: BulkRoutes): void {
  const by = (query: { readonly dry_run: string }, traceId: string) => {
    return { actor, traceId, isDry: query.dry_run === 'true' };
  };
  serve(app, api.pauseTasks, async ({ body, query, traceId }) => {
    const until = body.until === undefined ? null : Date.parse(body.until);
    return { status: 200, body: { ...(await bulk.pause(chosenBy(body), by(query, traceId), until)) } };
  });
  serve(app, api.resumeTasks, async ({ body, query, traceId }) => ({
    status: 200,
    body: { ...(await bulk.resume(chosenBy(body), by(query, traceId))) },
  }));
  serve(app, api.cancelTasks, async ({ body, query, traceId }) => ({
    status: 200,
    body: { ...(await bulk.cancel(chosenBy(body), by(query, traceId))) },
  }));
}

function chosenBy({ subject, tag, thread_key: key }: Named): Chosen {
  return { thread: key === undefined ? null : parseThreadKey(key), subject: subject ?? null, tag: tag ?? null };
}
