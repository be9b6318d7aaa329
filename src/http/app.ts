import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { matchedRoutes } from 'hono/route';
import { operations, type OperationId } from '../api/operations.ts';
import { silentMeter, type Meter } from '../app/ports/metering.ts';
import type { Ids, Log, Stopwatch } from '../app/ports/outside.ts';
import { AppError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import type { Role } from '../domain/processes/process.ts';
import { neededScope, refusalsWith } from './docs/describing.ts';
import { describeApi } from './docs/openapi.ts';
import { serveDocs } from './docs/page.ts';
import { faultOf } from './errors.ts';
import { serveEventStream, streamEndOf, type EventStreams } from './events.ts';
import { actionHandlers } from './handlers/actions.ts';
import { operationHandlers } from './handlers/operations.ts';
import { runHandlers } from './handlers/runs.ts';
import { secretHandlers } from './handlers/secrets.ts';
import { spendingHandlers } from './handlers/spending.ts';
import { taskHandlers } from './handlers/tasks.ts';
import { verbHandlers } from './handlers/verbs.ts';
import { checkTarget } from './reading.ts';
import { serve, trace, traceOf, replayedHeader, type CallerRooms, type Handlers, type HttpRooms } from './serving.ts';
import { limitRate, principalFor, requireToken } from './token.ts';

export interface HttpDeps extends Omit<HttpRooms, 'description' | 'principal' | 'actor' | keyof CallerRooms> {
  /** API_TOKEN. */
  readonly token: string;
  readonly roomsOf: (principal: Principal) => CallerRooms;
  readonly log: Log;
  readonly stopwatch: Stopwatch;
  readonly ids: Ids;
  /** Absent where no client stays long enough to listen; then events come in pages alone. */
  readonly streams?: EventStreams;
  /** Requests a second; 0, and absent, is no limit. */
  readonly apiRate?: number;
  /** Null where the API is served; else the role of the process, which tells how it is and no more. */
  readonly withoutApi?: Role | null;
  /** Absent where nothing is measured. */
  readonly meter?: Meter;
  readonly metrics?: PageOfMetrics;
}

const handlers = {
  ...taskHandlers,
  ...secretHandlers,
  ...spendingHandlers,
  ...actionHandlers,
  ...verbHandlers,
  ...runHandlers,
  ...operationHandlers,
} satisfies Handlers;

/** The API: what comes in is checked against one schema, handed to a use case, and told in the words of the contract. */
export function createHttpApp(deps: HttpDeps): OpenAPIHono {
  const { stopwatch, version, apiRate = 0, streams, withoutApi = null } = deps;
  const app = new OpenAPIHono();
  app.onError((error, c) => answerFault(deps, error, c));
  const methodsAt = methodsOf(app);
  app.notFound((c) => {
    const answer = withoutApi === null ? unserved(c, methodsAt) : servedElsewhere(withoutApi);
    return answer instanceof AppError ? answerFault(deps, answer, c) : answer;
  });
  app.use(logged(deps));
  app.use(async (c, next) => {
    checkTarget(c.req.url);
    await next();
  });
  const guard = requireToken(deps);
  app.use('/v1/*', guard);
  app.use('/v1/*', limitRate(apiRate, stopwatch));
  if (streams !== undefined && withoutApi === null) serveEventStream(app, streams, deps.roomsOf);
  const shared = { ...deps, description: () => describeApi(app, version, deps.kinds.forms) };
  const roomsOf = (principal: Principal): HttpRooms => ({
    ...shared,
    ...deps.roomsOf(principal),
    principal,
    actor: principal.actor,
  });
  const ids = withoutApi === null ? (Object.keys(operations) as OperationId[]) : probeIds;
  for (const id of ids) serve(app, id, handlers, roomsOf);
  serveMetrics(app, deps, guard);
  if (withoutApi === null) serveDocs(app, deps);
  return app;
}

/** Served by every process. */
const probeIds: readonly OperationId[] = ['isLive', 'isHealthy', 'isReady', 'getVersion'];

function servedElsewhere(role: Role): AppError {
  return new AppError(
    'not_found',
    `This process has the role ${role}, and tells how it is: /livez, /readyz, /version and /metrics. Ask one with the role api or all.`,
  );
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS']);
const probes = new Set(['/livez', '/readyz', '/healthz', '/metrics']);

/** One line for each request. The route is its pattern: paths and queries hold what people wrote. */
function logged({ log, clock, stopwatch, ids, meter = silentMeter }: HttpDeps): MiddlewareHandler {
  return async (c, next) => {
    const started = stopwatch.elapsed();
    const requestId = trace(c, () => ids.next());
    c.header('cache-control', 'no-store');
    // The clock of a sandbox may be days ahead, and clients count from it.
    c.header('date', new Date(clock.now()).toUTCString());
    c.header('x-content-type-options', 'nosniff');
    await next();
    const route = routeOf(c);
    const facts = { method: c.req.method, route, status: c.res.status, request_id: requestId };
    // Series are bounded, whatever clients send: methods of a closed list, and patterns of our own.
    const method = methods.has(facts.method) ? facts.method : 'other';
    meter.count('http_requests_total', { method, route, status: String(facts.status) });
    meter.took('http_request_duration_seconds', { route }, stopwatch.elapsed() - started);
    if (c.res.headers.has(replayedHeader)) meter.count('requests_deduplicated_total', { via: 'http' });
    const write = (more: object = {}) => {
      const line = { ...facts, ms: Math.round(stopwatch.elapsed() - started), ...more };
      if (probes.has(route)) log.debug('http_request', line);
      else log.info('http_request', line);
    };
    // A stream is told of when it has ended.
    const ended = streamEndOf(c);
    if (ended === null) write();
    else void ended.then(write);
  };
}

function routeOf(c: Context): string {
  return matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path ?? 'none';
}

function answerFault({ log, ids }: HttpDeps, error: Error, c: Context): Response {
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
    // Why a store is away is told once; the line of each request shows that it was.
    if (fault.status === 503) log.debug('http_fault', facts);
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

/** The methods that a path takes, for a client that used another one. */
type MethodsOf = (path: string) => readonly string[];

/** Reads the routes once all of them are there, with the first question. */
function methodsOf(app: OpenAPIHono): MethodsOf {
  let routes: { readonly shape: RegExp; readonly method: string }[] | undefined;
  return (path) => {
    routes ??= app.routes
      .filter(({ method }) => method !== 'ALL')
      .map((route) => ({ shape: shapeOf(route.path), method: route.method }));
    const found = routes.filter(({ shape }) => shape.test(path)).map(({ method }) => method);
    if (found.length === 0) return [];
    return [...new Set([...found, ...(found.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])].toSorted();
  };
}

function shapeOf(path: string): RegExp {
  const text = path.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/:\w+/g, '[^/]+');
  return new RegExp(`^${text}$`);
}

const shownMax = 100;

/** Nothing serves this request: the path takes other methods, or there is no such path. */
function unserved(c: Context, methodsAt: MethodsOf): AppError | Response {
  const { method, path } = c.req;
  const allowed = methodsAt(path);
  if (allowed.length > 0) {
    c.header('allow', allowed.join(', '));
    if (method === 'OPTIONS') return c.body(null, 204);
    return new AppError('method_not_allowed', `This path takes ${allowed.join(', ')}, and not ${method.slice(0, 20)}.`);
  }
  const bare = path.replace(/\/+$/, '');
  const hint = bare !== path && methodsAt(bare).length > 0 ? ' It is there without the slash at the end.' : '';
  return new AppError('not_found', `There is no route ${method.slice(0, 20)} ${path.slice(0, shownMax)}.${hint}`);
}

/** The page that tells what was measured. */
export interface PageOfMetrics {
  readonly contentType: string;
  page(): Promise<string>;
}

/** Series count the work of all chats together. */
const metricsScope = 'read';

function ofSomeChats(): AppError {
  return new AppError(
    'forbidden',
    'Metrics tell of the whole server, and this token holds for some chats. Ask for one with the scope read that names no chats.',
    { details: { scope: metricsScope } },
  );
}

/** For Prometheus, which brings the token as its `authorization` setting says. It is text, so it is no operation of the API. */
function serveMetrics(app: OpenAPIHono, { metrics }: Pick<HttpDeps, 'metrics'>, guard: MiddlewareHandler): void {
  if (metrics === undefined) return;
  app.use('/metrics', guard);
  app.openAPIRegistry.registerPath({
    operationId: 'getMetrics',
    tags: ['operations'],
    summary: 'How the server does, in the text format of Prometheus',
    method: 'get',
    path: '/metrics',
    ...neededScope(metricsScope),
    responses: {
      200: { description: 'Done.', content: { 'text/plain': { schema: { type: 'string' } } } },
      ...refusalsWith(['unauthorized', 'forbidden', 'rate_limited', 'internal']),
    },
  });
  app.get('/metrics', async (c) => {
    if (principalFor(c, metricsScope).chats !== null) throw ofSomeChats();
    return c.body(await metrics.page(), 200, { 'content-type': metrics.contentType });
  });
}
