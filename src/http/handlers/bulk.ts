import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/bulk.ts';
import type { Bulk, Chosen } from '../../app/tasks/bulk.ts';
import type { Actor } from '../../domain/actor.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import { serve } from '../operation.ts';

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
