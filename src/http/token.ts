import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import type { Stopwatch } from '../app/ports/outside.ts';
import { AppError } from '../domain/errors.ts';
import { callerOf, createBucket, createGuesses, tooOften } from './rate.ts';

interface Needs {
  readonly token: string;
  readonly stopwatch: Stopwatch;
}

/** Compares digests, which have one length, in a time that tells nothing about the token. */
export function requireToken({ token, stopwatch }: Needs): MiddlewareHandler {
  const expected = digestOf(token);
  const guesses = createGuesses(stopwatch);
  return async (c, next) => {
    const given = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    // Whoever sends none does not guess.
    if (given === undefined) throw unauthorized();
    const caller = callerOf(remoteAddress(c));
    guesses.check(caller);
    if (!timingSafeEqual(digestOf(given), expected)) {
      guesses.wrong(caller);
      throw unauthorized();
    }
    guesses.right(caller);
    await next();
  };
}

function unauthorized(): AppError {
  return new AppError('unauthorized', 'Send the API token in the header Authorization: Bearer <token>.');
}

/** Absent where the request came over no network. */
function remoteAddress(c: Context): string | undefined {
  const { incoming } = (c.env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  return incoming?.socket?.remoteAddress;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** As many requests at once as come in this many seconds. */
export const burstSeconds = 2;

/** Keeps one client from taking all of the server: there is one token, and so there is one bucket. 0 is no limit. */
export function limitRate(perSecond: number, stopwatch: Stopwatch): MiddlewareHandler {
  if (perSecond === 0) return async (_c, next) => next();
  const burst = perSecond * burstSeconds;
  const bucket = createBucket({ perSecond, burst }, stopwatch);
  return async (c, next) => {
    const { waitMs, left } = bucket.take();
    c.header('ratelimit-limit', String(burst));
    c.header('ratelimit-remaining', String(left));
    // Until it is full again, as the draft of these headers wants it.
    c.header('ratelimit-reset', String(Math.ceil((burst - left) / perSecond)));
    if (waitMs > 0) throw tooOften(`More than ${perSecond} requests a second. Wait a moment and go on slower.`, waitMs);
    await next();
  };
}
