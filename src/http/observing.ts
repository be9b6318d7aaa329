import type { Meter } from '../app/ports/metering.ts';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { refusalsWith } from './docs/describing.ts';

/** The page that tells what was measured. */
export interface PageOfMetrics {
  readonly contentType: string;
  page(): Promise<string>;
}

interface Served {
  readonly method: string;
  /** The pattern of the route, or `none`. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** An earlier request with the same key had the effect. */
  readonly isReplay: boolean;
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS']);

/** Whatever a client sends, there are only so many series: methods of a closed list, and patterns of our own. */
export function countServed(meter: Meter, { method, route, status, ms, isReplay }: Served): void {
  const known = methods.has(method) ? method : 'other';
  meter.count('http_requests_total', { method: known, route, status: String(status) });
  meter.took('http_request_duration_seconds', { route }, ms);
  if (isReplay) meter.count('requests_deduplicated_total', { via: 'http' });
}

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
