import type { Context } from 'hono';

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
