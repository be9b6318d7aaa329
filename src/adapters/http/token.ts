import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { AppError } from '../../domain/errors.ts';

/** Compares digests, which have one length, in a time that tells nothing about the token. */
export function requireToken(token: string): MiddlewareHandler {
  const expected = digestOf(token);
  return async (c, next) => {
    const given = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (given === undefined || !timingSafeEqual(digestOf(given), expected)) {
      throw new AppError('unauthorized', 'Send the API token in the header Authorization: Bearer <token>.');
    }
    await next();
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
