import type { OpenAPIHono } from '@hono/zod-openapi';
import type { ThreadCounts } from '../../app/task-store.ts';
import type { Threads } from '../../app/tasks/threads.ts';
import type { Actor } from '../../domain/actor.ts';
import { bulkAnswer, purgeAnswer } from './answers.ts';
import { serve } from './operation.ts';
import { noBody, pauseBody, purgeQuery, threadParams } from './schemas.ts';

export interface ThreadRoutes {
  readonly threads: Threads;
  readonly actor: Actor;
}

const tag = 'threads';
const path = '/v1/threads/{thread_key}';
const params = threadParams;

/** What is done to all tasks of a thread. */
export function serveThreads(app: OpenAPIHono, { threads, actor }: ThreadRoutes): void {
  serve(
    app,
    {
      id: 'purgeThread',
      tag,
      summary: 'Delete all tasks of a thread; dry_run=true counts first',
      method: 'delete',
      path: `${path}/tasks`,
      params,
      query: purgeQuery,
      answer: purgeAnswer,
    },
    async ({ params: { thread_key: key }, query }) => {
      const isDry = query.dry_run === 'true';
      const counts = isDry ? await threads.count(key) : await threads.purge(key, actor);
      return { status: 200, body: { deleted: !isDry, counts: wireCounts(counts) } };
    },
  );
  serve(
    app,
    {
      id: 'pauseThread',
      tag,
      summary: 'Pause all tasks of a thread',
      method: 'post',
      path: `${path}/pause`,
      params,
      body: pauseBody,
      answer: bulkAnswer,
    },
    async ({ params: { thread_key: key }, body }) => {
      const until = body?.until === undefined ? null : Date.parse(body.until);
      return { status: 200, body: { ...(await threads.pause(key, actor, until)) } };
    },
  );
  serve(
    app,
    {
      id: 'resumeThread',
      tag,
      summary: 'Let all tasks of a thread go on that a person paused',
      method: 'post',
      path: `${path}/resume`,
      params,
      body: noBody,
      answer: bulkAnswer,
    },
    async ({ params: { thread_key: key } }) => ({ status: 200, body: { ...(await threads.resume(key, actor)) } }),
  );
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
