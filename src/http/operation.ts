import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { z } from 'zod';
import { nothing } from '../api/fields.ts';
import type { AnswerStatus, Operation } from '../api/operation.ts';
import { describe } from './docs/describing.ts';
import { readBody, readIdempotencyKey, readParams, readQuery } from './reading.ts';
import { keyed, oneKey, toldOnce } from './repeats.ts';
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
    const received = await receive(c, operation);
    const { params, query, body, idempotencyKey } = received;
    const { target, payload } = keyed(params, body);
    const request = { operation: operation.id, target, payload: [query, payload], key: idempotencyKey };
    const told = await toldOnce(c, request, async () => {
      const answer = await handle(received);
      return { status: answer.status, body: JSON.stringify(answer.body) };
    });
    const status = (operation.statuses ?? []).find((one) => one === told.status) ?? 200;
    return c.body(told.body, status, { 'content-type': 'application/json' });
  });
}

async function receive<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  c: Context,
  { params, query, body, idempotent, open }: Operation<P, Q, B, A>,
): Promise<Received<z.output<P>, z.output<Q>, z.output<B>>> {
  // Each reader answers the output of the schema it is given; an absent schema stands for a part that is empty.
  const read = {
    params: (params === undefined ? {} : readParams(c, params)) as z.output<P>,
    // A probe may carry anything: refusing it would look like an outage.
    query: (open === true ? {} : readQuery(c, query ?? nothing)) as z.output<Q>,
    body: (body === undefined ? undefined : await readBody(c, body)) as z.output<B>,
  };
  return {
    ...read,
    idempotencyKey: idempotent === undefined ? null : oneKey(readIdempotencyKey(c), read.body),
    traceId: traceOf(c),
  };
}
