import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { refusalsWith } from './docs/describing.ts';
import type { PageOfMetrics } from './observing.ts';

export interface MetricsNeeds {
  /** Absent where nobody measures. */
  readonly metrics?: PageOfMetrics;
}

/** For Prometheus, which brings the token as its `authorization` setting says. It is text, so it is no operation of the API. */
export function serveMetrics(app: OpenAPIHono, { metrics }: MetricsNeeds, guard: MiddlewareHandler): void {
  if (metrics === undefined) return;
  app.use('/metrics', guard);
  app.openAPIRegistry.registerPath({
    operationId: 'getMetrics',
    tags: ['operations'],
    summary: 'How the server does, in the text format of Prometheus',
    method: 'get',
    path: '/metrics',
    security: [{ token: [] }],
    responses: {
      200: { description: 'Done.', content: { 'text/plain': { schema: { type: 'string' } } } },
      ...refusalsWith(['unauthorized', 'rate_limited', 'internal']),
    },
  });
  app.get('/metrics', async (c) => c.body(await metrics.page(), 200, { 'content-type': metrics.contentType }));
}
