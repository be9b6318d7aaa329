import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { createRecent } from '../app/operations/recent.ts';
import type { Stopwatch } from '../app/ports/outside.ts';
import { apiOperator, type Judged, type Tokens } from '../app/use-cases/tokens.ts';
import { AppError } from '../domain/errors.ts';
import { holdsScope, type Principal, type TokenScope } from '../domain/principal.ts';

/**
 * Wrong tokens that are looked at in a minute, from all clients together. At this pace a token of 16 characters is not found
 * in a lifetime. The right one is never refused, so that guesses of others do not keep its owner out.
 */
export const guessesMax = 600;

/** Whoever asks, and whether they still may, for answers that last. */
interface Caller {
  readonly principal: Principal;
  readonly isHeld: () => Promise<boolean>;
}

interface Door {
  /** API_TOKEN, which may do everything. */
  readonly token: string;
  readonly tokens: Pick<Tokens, 'judge'>;
  readonly stopwatch: Stopwatch;
}

/** Compares digests, which have one length, in a time that tells nothing about the token. */
export function isToken(given: string, token: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(token));
}

export function requireToken({ token, tokens, stopwatch }: Door): MiddlewareHandler {
  const guesses = createBucket({ perSecond: guessesMax / 60, burst: guessesMax }, stopwatch);
  const judge = async (given: string): Promise<Judged> =>
    isToken(given, token) ? { is: 'holds', principal: apiOperator } : tokens.judge(given);
  return async (c, next) => {
    const given = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    const judged = given === undefined ? null : await judge(given);
    if (given !== undefined && judged?.is === 'holds') {
      const { principal } = judged;
      c.set('caller', { principal, isHeld: async () => (await judge(given)).is === 'holds' } satisfies Caller);
      return next();
    }
    // A request without a token does not guess. One with a token that is over costs a look as well.
    const waitMs = judged === null ? 0 : guesses.take().waitMs;
    if (waitMs > 0) throw tooOften('Too many wrong tokens have come. Wait, and check the token.', waitMs);
    const why = judged?.is === 'over' ? judged.why : 'Send the API token in the header Authorization: Bearer <token>.';
    throw new AppError('unauthorized', why);
  };
}

/** Nobody: an open operation is told to whoever asks, and reaches nothing. */
const nobody: Principal = { actor: 'system', scopes: [], chats: [], endsAt: null };

function callerOf(c: Context): Caller | undefined {
  return c.get('caller') as Caller | undefined;
}

/** The principal of a request, which may do what the operation asks for; judged before anything of its body is read. */
export function principalFor(c: Context, needed: TokenScope | 'open'): Principal {
  const { principal = nobody } = callerOf(c) ?? {};
  if (needed === 'open' || holdsScope(principal, needed)) return principal;
  const held = principal.scopes.join(', ') || 'none';
  throw new AppError(
    'forbidden',
    `This needs a token with the scope ${needed}, and this one has ${held}. Ask an owner of the server for one: cronogram token create <name> --scope ${needed}.`,
    { details: { scope: needed, scopes: principal.scopes } },
  );
}

/** Whether the token of a request holds still. */
export function stillHolds(c: Context): () => Promise<boolean> {
  return callerOf(c)?.isHeld ?? (async () => false);
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** As many requests at once as come in this many seconds. */
export const burstSeconds = 2;
/** Principals whose pace is remembered. One that is forgotten begins anew, which needs as many others to ask meanwhile. */
const bucketsMax = 1000;

/** Keeps one client from taking all of the server: each principal has a bucket of its own. 0 is no limit. */
export function limitRate(perSecond: number, stopwatch: Stopwatch): MiddlewareHandler {
  if (perSecond === 0) return async (_c, next) => next();
  const burst = perSecond * burstSeconds;
  const buckets = createRecent<ReturnType<typeof createBucket>>(bucketsMax);
  return async (c, next) => {
    const { actor } = principalFor(c, 'open');
    const bucket = buckets.get(actor) ?? createBucket({ perSecond, burst }, stopwatch);
    buckets.put(actor, bucket);
    const { waitMs, left } = bucket.take();
    c.header('ratelimit-limit', String(burst));
    c.header('ratelimit-remaining', String(left));
    // Until it is full again, as the draft of these headers wants it.
    c.header('ratelimit-reset', String(Math.ceil((burst - left) / perSecond)));
    if (waitMs > 0) throw tooOften(`More than ${perSecond} requests a second. Wait a moment and go on slower.`, waitMs);
    await next();
  };
}

interface Filling {
  readonly perSecond: number;
  readonly burst: number;
}

/** Fills evenly with time. */
export function createBucket({ perSecond, burst }: Filling, stopwatch: Stopwatch) {
  let level = burst;
  let filledAt = stopwatch.elapsed();
  return {
    /** Takes one, if there is one: then `waitMs` is 0. `left` counts the whole ones that are left. */
    take: () => {
      const now = stopwatch.elapsed();
      level = Math.min(burst, level + (Math.max(0, now - filledAt) * perSecond) / 1000);
      filledAt = now;
      const waitMs = level >= 1 ? 0 : ((1 - level) / perSecond) * 1000;
      if (waitMs === 0) level -= 1;
      return { waitMs, left: Math.floor(level) };
    },
  };
}

function tooOften(message: string, waitMs: number): AppError {
  return new AppError('rate_limited', message, {
    details: { retry_after_seconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  });
}
