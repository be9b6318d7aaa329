import { z } from 'zod';
import type { ErrorCode } from '../domain/errors.ts';
import { facts, strict } from './fields.ts';

/**
 * One thing that can be asked over HTTP: what it reads, what it answers, and how it is described. The server that answers,
 * the document that tells of it, and the client that asks all come from this one value.
 */
export interface Operation<
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  A extends z.ZodType = z.ZodType,
> {
  readonly id: string;
  readonly tag: 'tasks' | 'threads' | 'runs' | 'schedules' | 'grants' | 'operations' | 'health';
  readonly summary: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  /** Needs no token. */
  readonly open?: true;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Takes an Idempotency-Key. */
  readonly idempotent?: true;
  readonly answer: A;
  /** 200 when absent. */
  readonly statuses?: readonly AnswerStatus[];
  /** What it answers instead to whoever takes server-sent events. */
  readonly stream?: string;
  /** What else it may refuse with, besides what every operation of its kind does. */
  readonly refuses?: readonly ErrorCode[];
}

export type AnswerStatus = 200 | 201 | 202 | 503;

/** Says what it is, and leaves the schemas their own types. An absent schema stands for a part that is empty. */
export function operation<
  A extends z.ZodType,
  P extends z.ZodType = z.ZodObject<Record<string, never>, z.core.$strict>,
  Q extends z.ZodType = z.ZodObject<Record<string, never>, z.core.$strict>,
  B extends z.ZodType = z.ZodUndefined,
>(one: Operation<P, Q, B, A>): Operation<P, Q, B, A> {
  return one;
}

export const errorAnswer = strict({
  error: strict({ code: z.string(), message: z.string(), details: facts.optional() }),
}).meta({ id: 'Error' });
