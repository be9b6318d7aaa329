import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { z } from 'zod';
import { errorAnswer, type AnswerStatus, type Operation } from '../../api/operation.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { statusOf } from './errors.ts';
import { readBody, readIdempotencyKey, readParams, readQuery } from './reading.ts';
import { traceOf } from './trace.ts';

export interface Received<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly idempotencyKey: string | null;
  /** The id of the request, under which everything that it brings about can be found. */
  readonly traceId: string;
}

export interface Answer<A> {
  readonly status: AnswerStatus;
  readonly body: A;
}

type Handle<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType> = (
  received: Received<z.output<P>, z.output<Q>, z.output<B>>,
) => Promise<Answer<z.output<A>>>;

/** Serves an operation and puts it into the document, so that neither can be there without the other. */
export function serve<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  app: OpenAPIHono,
  operation: Operation<P, Q, B, A>,
  handle: Handle<P, Q, B, A>,
): void {
  app.openAPIRegistry.registerPath(describe(operation));
  const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
  app.on(operation.method.toUpperCase(), path, async (c) => {
    const { status, body } = await handle(await receive(c, operation));
    return c.body(JSON.stringify(body), status, { 'content-type': 'application/json' });
  });
}

async function receive<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  c: Context,
  { params, query, body, idempotent, open }: Operation<P, Q, B, A>,
): Promise<Received<z.output<P>, z.output<Q>, z.output<B>>> {
  // Each reader answers the output of the schema it is given; an absent schema stands for a part that is empty.
  return {
    params: (params === undefined ? {} : readParams(c, params)) as z.output<P>,
    // A probe may carry anything: refusing it would look like an outage.
    query: (open === true ? {} : readQuery(c, query ?? z.strictObject({}))) as z.output<Q>,
    body: (body === undefined ? undefined : await readBody(c, body)) as z.output<B>,
    idempotencyKey: idempotent === undefined ? null : readIdempotencyKey(c),
    traceId: traceOf(c),
  };
}

function describe(operation: Operation): RouteConfig {
  const { id, tag, summary, method, path, answer } = operation;
  const answers = (operation.statuses ?? [200]).map(
    (status) => [status, described(successes[status], answer)] as const,
  );
  return {
    operationId: id,
    tags: [tag],
    summary,
    method,
    path,
    security: operation.open === true ? [] : [{ token: [] }],
    request: requestOf(operation),
    responses: { ...refusalsOf(operation), ...Object.fromEntries(answers) },
  };
}

const successes: Readonly<Record<AnswerStatus, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Taken on.',
  503: 'Not ready.',
};

function described(description: string, answer: z.ZodType) {
  return { description, content: { 'application/json': { schema: answer } } };
}

const keyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .optional()
    .meta({ description: 'The same key and request again have no second effect, for a day.' }),
});

function requestOf({ params, query, body, idempotent }: Operation): NonNullable<RouteConfig['request']> {
  return {
    ...(params === undefined ? {} : { params: params as z.ZodObject }),
    ...(query === undefined ? {} : { query: query as z.ZodObject }),
    ...(idempotent === undefined ? {} : { headers: keyHeader }),
    ...(body === undefined
      ? {}
      : { body: { required: !body.safeParse(undefined).success, content: { 'application/json': { schema: body } } } }),
  };
}

function refusalsOf(operation: Operation): RouteConfig['responses'] {
  const { open, params, body, idempotent, refuses = [] } = operation;
  const codes: ErrorCode[] = [
    'invalid_request',
    'internal',
    ...(open === true ? [] : (['unauthorized', 'store_unavailable'] as const)),
    ...(params === undefined ? [] : (['not_found'] as const)),
    ...(body === undefined ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
    ...(idempotent === undefined ? [] : (['idempotency_mismatch'] as const)),
    ...refuses,
  ];
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(statusOf[code], [...(byStatus.get(statusOf[code]) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [status, described(`Refused: ${names.join(', ')}.`, errorAnswer)]),
  );
}
