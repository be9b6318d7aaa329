import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import type { Stopwatch } from '../app/ports/outside.ts';
import { AppError } from '../domain/errors.ts';

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

/**
 * Wrong tokens that an address may send in a minute. At this pace nobody finds a token of 16 characters in a lifetime, and a
 * program that was set up wrong, behind the same proxy as others, does not lock them out.
 */
export const guessesMax = 600;
/** An address from which the right token came is trusted for so long: a neighbour behind the same proxy must not lock it out. */
const trustedMs = 60 * 60_000;
/** Addresses remembered; of more the ones that were quiet longest are forgotten. */
export const addressesMax = 10_000;

interface Taken {
  /** 0 when it was given. */
  readonly waitMs: number;
  /** Whole tokens that are left. */
  readonly left: number;
}

/** A bucket of tokens that fills evenly with time: what is asked for takes one, or waits until there is one. */
interface Bucket {
  /** Takes one, if there is one. */
  take(): Taken;
  /** How long until there is one. */
  waitMs(): number;
}

interface Filling {
  readonly perSecond: number;
  readonly burst: number;
}

export function createBucket({ perSecond, burst }: Filling, stopwatch: Stopwatch): Bucket {
  let level = burst;
  let filledAt = stopwatch.elapsed();
  const fill = () => {
    const now = stopwatch.elapsed();
    level = Math.min(burst, level + (Math.max(0, now - filledAt) * perSecond) / 1000);
    filledAt = now;
  };
  const waitMs = () => {
    fill();
    return level >= 1 ? 0 : ((1 - level) / perSecond) * 1000;
  };
  return {
    waitMs,
    take: () => {
      const wait = waitMs();
      if (wait === 0) level -= 1;
      return { waitMs: wait, left: Math.floor(level) };
    },
  };
}

/** Who guesses at the token, by the address from which it comes. */
interface Guesses {
  /** Refuses whoever has guessed too often, before the guess is looked at. */
  check(address: string): void;
  /** Notes a guess, and refuses it by itself when it was one too many. */
  wrong(address: string): void;
  right(address: string): void;
}

interface Known {
  readonly guesses: Bucket;
  trustedUntil: number;
}

export function createGuesses(stopwatch: Stopwatch): Guesses {
  const known = new Map<string, Known>();
  const recall = (address: string): Known => {
    const found = known.get(address);
    if (found !== undefined) return found;
    const made = {
      guesses: createBucket({ perSecond: guessesMax / 60, burst: guessesMax }, stopwatch),
      trustedUntil: -1,
    };
    const [oldest] = known.keys();
    if (known.size >= addressesMax && oldest !== undefined) known.delete(oldest);
    known.set(address, made);
    return made;
  };
  /** Whoever was heard last is forgotten last. */
  const refresh = (address: string, one: Known) => {
    known.delete(address);
    known.set(address, one);
  };
  return {
    check: (address) => {
      const found = known.get(address);
      if (found === undefined || found.trustedUntil > stopwatch.elapsed()) return;
      const waitMs = found.guesses.waitMs();
      if (waitMs > 0) throw tooManyGuesses(waitMs);
    },
    wrong: (address) => {
      const one = recall(address);
      refresh(address, one);
      const { waitMs } = one.guesses.take();
      if (waitMs > 0) throw tooManyGuesses(waitMs);
    },
    right: (address) => {
      const one = recall(address);
      const now = stopwatch.elapsed();
      // Once in a while is enough: this is on the way of every request.
      if (one.trustedUntil - now < trustedMs / 2) {
        one.trustedUntil = now + trustedMs;
        refresh(address, one);
      }
    },
  };
}

function tooManyGuesses(waitMs: number): AppError {
  return tooOften('Too many wrong tokens came from this address. Wait, and check the token.', waitMs);
}

function tooOften(message: string, waitMs: number): AppError {
  return new AppError('rate_limited', message, {
    details: { retry_after_seconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  });
}

/** One caller often holds a whole network of the newer kind, so its first half stands for it. */
export function callerOf(address: string | undefined): string {
  if (address === undefined) return 'here';
  const four = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (four !== undefined || !address.includes(':')) return four ?? address;
  const [head = '', rest] = address.split('::');
  const first = head.split(':').filter((part) => part !== '');
  const last = rest === undefined ? [] : rest.split(':').filter((part) => part !== '');
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const groups = rest === undefined ? first : [...first, ...zeros, ...last];
  return groups.slice(0, 4).join(':');
}
