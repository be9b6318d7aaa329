import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import type { z } from 'zod';
import { type AnswerStatus, type Operation, nothing } from '../api/operation.ts';
import type { KeptAnswer, Once, Repeatable, Told, TellOnce } from '../app/use-cases/kept-answers.ts';
import { AppError } from '../domain/errors.ts';
import { describe } from './docs/describing.ts';
import { readBody, readIdempotencyKey, readParams, readQuery } from './reading.ts';

interface Received<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Under which the effect is to commit; null where the client named no key. */
  readonly idempotencyKey: Once | null;
  /** The id of the request, under which everything that it brings about can be found. */
  readonly traceId: string;
}

interface Answer<A> {
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
    const { key, ...received } = await receive(c, operation);
    const { target, payload } = keyed(received.params, received.body);
    const request = { operation: operation.id, target, payload: [received.query, payload], key };
    const told = await toldOnce(c, request, async (idempotencyKey) => {
      const answer = await handle({ ...received, idempotencyKey });
      return { status: answer.status, body: JSON.stringify(answer.body) };
    });
    const status = (operation.statuses ?? []).find((one) => one === told.status) ?? 200;
    return c.body(told.body, status, { 'content-type': 'application/json' });
  });
}

async function receive<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  c: Context,
  { params, query, body, idempotent, open }: Operation<P, Q, B, A>,
): Promise<Omit<Received<z.output<P>, z.output<Q>, z.output<B>>, 'idempotencyKey'> & { readonly key: string | null }> {
  // Each reader answers the output of the schema it is given; an absent schema stands for a part that is empty.
  const read = {
    params: (params === undefined ? {} : readParams(c, params)) as z.output<P>,
    // A probe may carry anything: refusing it would look like an outage.
    query: (open === true ? {} : readQuery(c, query ?? nothing)) as z.output<Q>,
    body: (body === undefined ? undefined : await readBody(c, body)) as z.output<B>,
  };
  return {
    ...read,
    key: idempotent === undefined ? null : oneKey(readIdempotencyKey(c), read.body),
    traceId: traceOf(c),
  };
}

const requestIdHeader = 'x-request-id';
const requestIdShape = /^[\w.:-]{1,128}$/;

/** Gives the request the id that its client named, or a new one, and tells it. */
export function trace(c: Context, newId: () => string): string {
  const given = c.req.header(requestIdHeader);
  const id = given !== undefined && requestIdShape.test(given) ? given : newId();
  c.set('traceId', id);
  c.header(requestIdHeader, id);
  return id;
}

export function traceOf(c: Context): string {
  return String(c.get('traceId'));
}

/** Says that an answer is the one to an earlier request with the same key. */
export const replayedHeader = 'idempotency-replayed';

/** Puts within reach of every operation what it needs to tell the same again. */
export function repeats(tellOnce: TellOnce): MiddlewareHandler {
  return async (c, next) => {
    c.set('tellOnce', tellOnce);
    await next();
  };
}

/** Without a key everything is told anew. */
async function toldOnce(
  c: Context,
  request: Omit<Repeatable, 'key'> & { readonly key: string | null },
  tell: (once: Once | null) => Promise<KeptAnswer>,
): Promise<Told> {
  const { key } = request;
  if (key === null) return { ...(await tell(null)), isRepeated: false };
  const tellOnce = c.get('tellOnce') as TellOnce;
  const told = await tellOnce({ ...request, key }, tell);
  if (told.isRepeated) c.header(replayedHeader, 'true');
  return told;
}

/** A client that cannot set headers may send the key with its body, where there is a field for it. */
function oneKey(inHeader: string | null, body: unknown): string | null {
  const inBody = textIn(body, 'idempotency_key');
  if (inHeader === null || inBody === null || inHeader === inBody) return inHeader ?? inBody;
  throw new AppError(
    'idempotency_key_mismatch',
    'The header Idempotency-Key and the field idempotency_key name different keys. Send one of them, or the same twice.',
    { details: { field: 'idempotency_key' } },
  );
}

/** What belongs to the key, and what the key is for: it says the same in either place, and each source has keys of its own. */
function keyed(params: unknown, body: unknown): Pick<Repeatable, 'target' | 'payload'> {
  const source = textIn(body, 'source');
  const target = source === null ? params : [params, source];
  // An absent body asks for the same as an empty one.
  if (typeof body !== 'object' || body === null) return { target, payload: {} };
  const { idempotency_key: _key, ...payload } = body as Readonly<Record<string, unknown>>;
  return { target, payload };
}

function textIn(body: unknown, name: string): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const value = (body as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : null;
}
