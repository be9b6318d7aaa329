import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { z } from 'zod';
import { eventsQuery, listEvents } from '../../api/truth.ts';
import { AppError } from '../../domain/errors.ts';
import type { ReaderEnd } from './reader.ts';
import type { EventStreams } from './stream.ts';
import { readQuery } from '../reading.ts';

const cursorLengthMax = 200;

/** The same path answers pages, and a stream to whoever says that it takes one. */
export function serveEventStream(app: OpenAPIHono, streams: EventStreams): void {
  app.use(listEvents.path, async (c: Context, next) => {
    if (!isStreamWanted(c)) return next();
    const {
      after = null,
      task_id: taskId = null,
      kind = null,
    } = readQuery(c, eventsQuery) as z.output<typeof eventsQuery>;
    const resumed = c.req.header('last-event-id') ?? '';
    if (resumed.length > cursorLengthMax)
      throw new AppError('invalid_cursor', 'This Last-Event-ID is no cursor of ours.');
    if (c.req.method === 'HEAD') return c.body(null, 200, streamHeaders);
    const wanted = { after: resumed === '' ? after : resumed, taskId, kind };
    const { body, ended } = await streams.open(wanted, () => cut(c));
    c.set('streamEnd', ended);
    return c.body(body, 200, streamHeaders);
  });
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Some proxies collect an answer before they pass it on.
  'x-accel-buffering': 'no',
} as const;

/** When the stream that answers a request has ended; null for any other answer. */
export function streamEndOf(c: Context): Promise<ReaderEnd> | null {
  const end = c.get('streamEnd') as Promise<ReaderEnd> | undefined;
  return end ?? null;
}

function isStreamWanted(c: Context): boolean {
  const { method } = c.req;
  const types = (c.req.header('accept') ?? '').split(',');
  return (
    (method === 'GET' || method === 'HEAD') && types.some((type) => /^\s*text\/event-stream\s*(?:;|$)/i.test(type))
  );
}

/** Closes the connection under a stream whose client takes nothing. */
function cut(c: Context): void {
  const { outgoing } = (c.env ?? {}) as { outgoing?: { destroy(): void } };
  outgoing?.destroy();
}
