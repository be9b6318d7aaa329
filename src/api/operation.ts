import { z } from 'zod';
import type { ErrorCode } from '../domain/errors.ts';
import * as limits from '../domain/limits.ts';
import type { TokenScope } from '../domain/principal.ts';

/** Parts of requests and answers. The shape is checked here; the domain checks the meaning and words the refusal. */

/** An object of exactly these fields; another one is refused by name, together with what is allowed. */
export function strict<S extends z.core.$ZodShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const allowed = Object.keys(shape).join(', ') || 'none';
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `this field is not known here; known are: ${allowed}` : undefined,
  });
}

export const nothing = strict({});
export const noBody = nothing.optional();

/** An instant as clients are told it. */
export const instant = z.string().meta({
  format: 'date-time',
  description: 'ISO-8601, UTC, with milliseconds.',
  example: '2027-01-31T09:00:00.000Z',
});
export const facts = z.record(z.string(), z.unknown());
export const text = z.string().nullable();
export const cursor = text.meta({ description: 'Null on the last page.' });

/** An instant as clients send it. */
export const instantSent = z.iso
  .datetime({ offset: true, error: 'it is an instant with its offset, such as 2027-01-31T09:00:00Z' })
  .meta({ description: 'An instant with its offset.', example: '2027-01-31T09:00:00Z' });

export const duration = z
  .string()
  .max(32)
  .meta({ description: 'An ISO-8601 duration of fixed length.', example: 'PT10M' });
export const timezone = z.string().meta({ description: 'An IANA time zone.', example: 'Europe/Madrid' });

/** A number in a query is text until it is read. */
export function whole(max: number, preset: number) {
  const error = `it is a whole number from 1 to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error })
    .transform(Number)
    .pipe(z.int().min(1, { error }).max(max, { error }))
    .default(preset)
    .meta({ type: 'integer', minimum: 1, maximum: max, default: preset });
}

export const page = {
  limit: whole(limits.pageMax, limits.pageDefault),
  cursor: z.string().max(200).optional().meta({ description: 'The next_cursor of the page before.' }),
};

/** As long as the longest name; a search is not a place for a document. */
export const searchText = z.string().max(limits.subjectLengthMax * limits.nameUnitsPerCharacter);

/** A parameter of a query that may stand there several times. */
export function many<T extends z.ZodType>(one: T) {
  return z.array(one).max(10).default([]);
}

export const taskParams = strict({ task_id: z.string() });
export const runParams = strict({ run_id: z.string() });
export const threadParams = strict({
  thread_key: z.string().meta({
    description: 'telegram:chat:<id>, telegram:chat:<id>:topic:<n>, or any other prefix.',
    example: 'cli:default',
  }),
});

/**
 * One thing that can be asked over HTTP: what it reads, what it answers, and how it is described. The server that answers,
 * the document that tells of it, and the client that asks all come from this one value.
 */
export interface Operation<
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  A extends z.ZodType = z.ZodType,
> extends Described<P, Q, B, A> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
}

interface Described<P, Q, B, A> {
  readonly tag:
    | 'tasks'
    | 'threads'
    | 'runs'
    | 'schedules'
    | 'grants'
    | 'secrets'
    | 'actions'
    | 'tokens'
    | 'operations'
    | 'health';
  readonly summary: string;
  /** The scope that the token must have; `open` needs no token. */
  readonly scope: TokenScope | 'open';
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Bytes of a body, at most; the usual number where none is named. */
  readonly bodyMax?: number;
  /** How a body is refused that is larger than usual, as nothing that is built in needs one. */
  readonly large?: 'images_unavailable';
  /** Takes an Idempotency-Key. */
  readonly idempotent?: true;
  readonly answer: A;
  /** 200 when absent. */
  readonly statuses?: readonly AnswerStatus[];
  /** The answer is a file: what it is. */
  readonly bytes?: string;
  /** The answer to a client that takes server-sent events. */
  readonly stream?: string;
  /** Refusals besides those of every operation of its kind. */
  readonly refuses?: readonly ErrorCode[];
}

export type AnswerStatus = 200 | 201 | 202 | 503;

/** An operation whose schemas keep their own types. An absent schema stands for a part that is empty. */
export function operation<
  A extends z.ZodType,
  P extends z.ZodType = z.ZodObject<Record<string, never>, z.core.$strict>,
  Q extends z.ZodType = z.ZodObject<Record<string, never>, z.core.$strict>,
  B extends z.ZodType = z.ZodUndefined,
>(method: Operation['method'], path: string, described: Described<P, Q, B, A>): Operation<P, Q, B, A> {
  return { ...described, method, path };
}

export const errorAnswer = strict({
  error: strict({ code: z.string(), message: z.string(), details: facts.optional() }),
}).meta({ id: 'Error' });
