import type { RouteConfig } from '@hono/zod-openapi';
import { z } from 'zod';
import { errorAnswer, type AnswerStatus, type Operation } from '../../api/operation.ts';
import { type ErrorCode, missing } from '../../domain/errors.ts';
import type { TokenScope } from '../../domain/principal.ts';
import { codesOfFields, statusOf } from '../errors.ts';

/** An operation as the document tells it: what it takes, what it answers, with which headers, and how it may refuse. */
export function describe(operationId: string, operation: Operation): RouteConfig {
  const { tag, summary, method, path } = operation;
  return {
    operationId,
    tags: [tag],
    summary,
    method,
    path,
    ...(operation.scope === 'open' ? { security: [] } : neededScope(operation.scope)),
    ...(operation.bodyMax === undefined ? {} : { 'x-body-max': operation.bodyMax }),
    request: requestOf(operation),
    responses: { ...refusalsWith(codesOf(operation)), ...answersOf(operation) },
  };
}

/** A bearer token has no scopes in the words of OpenAPI, so the one that is needed stands beside it, and in the text. */
export function neededScope(scope: TokenScope) {
  return { security: [{ token: [] }], 'x-scope': scope, description: `Needs a token with the scope \`${scope}\`.` };
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
  'Idempotency-Key': z.string().optional().meta({
    example: 'order-4711',
    description:
      'The same key and request again have no second effect, and are told the same, with the header idempotency-replayed, for a day.',
  }),
});
const resumeHeader = z.object({
  'Last-Event-ID': z.string().optional().meta({
    description: 'Of a stream: the id of the last event that was seen. It goes before `after`.',
  }),
});

function requestOf({ params, query, body, idempotent, stream }: Operation): NonNullable<RouteConfig['request']> {
  const headers = idempotent === true ? keyHeader : stream === undefined ? null : resumeHeader;
  return {
    ...(params === undefined ? {} : { params: params as z.ZodObject }),
    ...(query === undefined ? {} : { query: query as z.ZodObject }),
    ...(headers === null ? {} : { headers }),
    ...(body === undefined
      ? {}
      : { body: { required: !body.safeParse(undefined).success, content: { 'application/json': { schema: body } } } }),
  };
}

const eventStream = z.string().meta({
  description: 'Blocks of id, event and data; a comment each 15 seconds while nothing happens.',
  example: 'id: ZXZlbnQ6MDoxMg\nevent: run.succeeded\ndata: {"cursor":"ZXZlbnQ6MDoxMg","kind":"run.succeeded"}\n\n',
});

function answersOf(operation: Operation): RouteConfig['responses'] {
  const { answer, bytes, stream, idempotent, scope, statuses = [200] } = operation;
  const named = [
    ...always,
    ...(scope === 'open' ? [] : limited),
    ...(idempotent === true ? ['idempotency-replayed'] : []),
  ];
  if (bytes !== undefined) return { 200: fileAnswer(bytes, answer, named) };
  return Object.fromEntries(
    statuses.map((status) => {
      const one = described(stream === undefined ? successes[status] : `${successes[status]} ${stream}`, answer);
      const content = stream === undefined ? {} : { 'text/event-stream': { schema: eventStream } };
      return [status, { ...one, headers: headersNamed(named), content: { ...one.content, ...content } }];
    }),
  );
}

function fileAnswer(description: string, schema: z.ZodType, named: readonly string[]) {
  const headers = headersNamed([...named, 'content-disposition']);
  return { description, headers, content: { 'application/octet-stream': { schema } } };
}

/** The refusals with these codes, by their status. */
export function refusalsWith(codes: readonly ErrorCode[]): RouteConfig['responses'] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    byStatus.set(statusOf[code], [...(byStatus.get(statusOf[code]) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      status,
      {
        ...described(`Refused: ${named.join(', ')}.`, errorAnswer),
        headers: headersNamed([
          ...always,
          ...(later.has(status) ? ['retry-after'] : []),
          ...(status === 401 ? ['www-authenticate'] : []),
        ]),
        'x-error-codes': named,
      },
    ]),
  );
}

/** Statuses that tell when to come back. */
const later: ReadonlySet<number> = new Set([429, 503]);

function codesOf(operation: Operation): ErrorCode[] {
  const { scope, params, query, body, idempotent, refuses = [] } = operation;
  const fields = [params, query, body].flatMap((part) => (part === undefined ? [] : namesIn(part)));
  return [
    'invalid_request',
    'internal',
    ...(scope === 'open'
      ? []
      : (['unauthorized', 'forbidden', 'rate_limited', 'store_unavailable', 'stopping'] as const)),
    ...fields.flatMap((name) => codesOfNames.get(name) ?? []),
    ...(params === undefined ? [] : namesIn(params).map(codeOfMissing)),
    ...(body === undefined ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
    ...(idempotent === undefined ? [] : (['idempotency_mismatch', 'request_in_progress'] as const)),
    ...(fields.includes('when') ? (['ambiguous_schedule', 'incomplete_schedule'] as const) : []),
    ...refuses,
  ];
}

function codeOfMissing(param: string): ErrorCode {
  return missing(param.replace(/_id$/, '')).code;
}

/** The codes of fields, with those that only the domain refuses. */
const codesOfNames: ReadonlyMap<PropertyKey | undefined, ErrorCode> = new Map([
  ...codesOfFields,
  ['when', 'invalid_schedule'],
  ['instructions', 'invalid_template'],
  ['after', 'invalid_cursor'],
]);

function namesIn(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => namesIn(option as z.ZodType));
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault;
  return isWrapped ? namesIn(schema.unwrap() as z.ZodType) : [];
}

const always = ['x-request-id'];
const limited = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];

/** The headers of answers, which the document tells once for all. */
export const answerHeaders: Readonly<Record<string, { readonly description: string; readonly schema: object }>> = {
  'x-request-id': {
    description: 'The trace id: the one that the request brought in this header, or a new one.',
    schema: { type: 'string', example: '0198c5f0-7a3e-7d51-9b1c-3f6f0a4be210' },
  },
  'idempotency-replayed': {
    description: 'true when this is the answer to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'retry-after': {
    description: 'Seconds after which the same request has a chance.',
    schema: { type: 'integer', minimum: 1 },
  },
  'ratelimit-limit': { description: 'Requests that may come at once.', schema: { type: 'integer' } },
  'ratelimit-remaining': { description: 'How many of them are left.', schema: { type: 'integer' } },
  'ratelimit-reset': { description: 'Seconds until all of them are there again.', schema: { type: 'integer' } },
  'content-disposition': { description: 'Of a file: its name.', schema: { type: 'string' } },
  'www-authenticate': { description: 'Bearer.', schema: { type: 'string' } },
};

function headersNamed(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
