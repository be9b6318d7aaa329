import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { matchedRoutes } from 'hono/route';
import type { Ids, Log, Stopwatch } from '../../app/ports.ts';
import type { Preview, PreviewRequest } from '../../app/preview.ts';
import { AppError } from '../../domain/errors.ts';
import { faultOf } from './errors.ts';
import { serveHealth, type Health } from './health.ts';
import { checkTarget } from './reading.ts';
import { serveRuns } from './runs.ts';
import { serveSchedules } from './schedules.ts';
import { serveTasks, type TaskRoutes } from './tasks.ts';
import { serveThreads, type ThreadRoutes } from './threads.ts';
import { requireToken } from './token.ts';
import { trace, traceOf } from './trace.ts';
import { serveTruth, type TruthRoutes } from './truth.ts';
import { serveUpkeep, type UpkeepRoutes } from './upkeep.ts';
import { serveVerbs } from './verbs.ts';

export interface HttpNeeds extends TaskRoutes, ThreadRoutes, UpkeepRoutes, TruthRoutes {
  readonly preview: (request: PreviewRequest) => Preview;
  readonly token: string;
  readonly health: Health;
  readonly version: string;
  readonly log: Log;
  readonly stopwatch: Stopwatch;
  readonly ids: Ids;
}

/** The API: what comes in is checked against one schema, handed to a use case, and told in the words of the contract. */
export function createHttpApp(needs: HttpNeeds): OpenAPIHono {
  const app = new OpenAPIHono();
  app.onError((error, c) => answerFault(needs, error, c));
  app.notFound((c) =>
    answerFault(needs, new AppError('not_found', `There is no route ${c.req.method} ${c.req.path.slice(0, 100)}.`), c),
  );
  app.use(logged(needs));
  app.use(async (c, next) => {
    checkTarget(c.req.url);
    await next();
  });
  app.use('/v1/*', requireToken(needs.token));
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' });
  serveTasks(app, needs);
  serveVerbs(app, needs);
  serveThreads(app, needs);
  serveRuns(app, needs);
  serveTruth(app, needs);
  serveSchedules(app, needs.preview);
  serveUpkeep(app, needs);
  serveHealth(app, needs);
  return app;
}

const probes = new Set(['/livez', '/readyz', '/healthz']);

/** One line for each request. The route is its pattern: paths and queries hold what people wrote. */
function logged({ log, stopwatch, ids }: HttpNeeds): MiddlewareHandler {
  return async (c, next) => {
    const started = stopwatch.elapsed();
    const requestId = trace(c, () => ids.next());
    c.header('cache-control', 'no-store');
    c.header('x-content-type-options', 'nosniff');
    await next();
    const route = routeOf(c);
    const facts = {
      method: c.req.method,
      route,
      status: c.res.status,
      ms: Math.round(stopwatch.elapsed() - started),
      request_id: requestId,
    };
    if (probes.has(route)) log.debug('http_request', facts);
    else log.info('http_request', facts);
  };
}

function routeOf(c: Context): string {
  return matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path ?? 'none';
}

function answerFault({ log, ids }: HttpNeeds, error: Error, c: Context): Response {
  const isTheirs = error instanceof HTTPException && error.status < 500;
  const shown = isTheirs ? new AppError('invalid_request', 'The request cannot be read.', { cause: error }) : error;
  const errorId = ids.next();
  const fault = faultOf(shown, errorId);
  if (fault.status >= 500) {
    const facts = {
      error_id: errorId,
      route: routeOf(c),
      request_id: traceOf(c),
      ...causeOf(error),
    };
    if (fault.status === 503) log.warn('http_fault', facts);
    else log.error('http_fault', facts);
  }
  return c.json(fault.body, fault.status, fault.headers);
}

/** The first line of each message and the places in the code; further lines may hold what people wrote. */
function causeOf(error: Error): Readonly<Record<string, unknown>> {
  const line = ({ name, message }: Error) => `${name}: ${message.split('\n', 1)[0] ?? ''}`.slice(0, 300);
  const places = (error.stack ?? '').split('\n').filter((text) => /^\s+at /.test(text));
  return {
    error: line(error),
    ...(error.cause instanceof Error ? { cause: line(error.cause) } : {}),
    stack: places.map((text) => text.trim()).join('\n'),
  };
}
