import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Stopwatch } from '../app/ports/outside.ts';
import { AppError } from '../domain/errors.ts';

/**
 * Wrong tokens that are looked at in a minute, from all clients together. At this pace a token of 16 characters is not found
 * in a lifetime. The right one is never refused, so that guesses of others do not keep its owner out.
 */
export const guessesMax = 600;

/** Compares digests, which have one length, in a time that tells nothing about the token. */
export function requireToken(token: string, stopwatch: Stopwatch): MiddlewareHandler {
  const expected = digestOf(token);
  const guesses = createBucket({ perSecond: guessesMax / 60, burst: guessesMax }, stopwatch);
  return async (c, next) => {
    const given = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (given !== undefined && timingSafeEqual(digestOf(given), expected)) return next();
    // A request without a token does not guess.
    const waitMs = given === undefined ? 0 : guesses.take().waitMs;
    if (waitMs > 0) throw tooOften('Too many wrong tokens have come. Wait, and check the token.', waitMs);
    throw new AppError('unauthorized', 'Send the API token in the header Authorization: Bearer <token>.');
  };
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
