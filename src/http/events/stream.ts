import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { z } from 'zod';
import { eventsQuery, listEvents } from '../../api/truth.ts';
import type { Log, Timer } from '../../app/ports/outside.ts';
import { AppError } from '../../domain/errors.ts';
import { eventPageDefault } from '../../domain/limits.ts';
import { readQuery } from '../reading.ts';
import {
  createReader,
  type Reader,
  type ReaderEnd,
  type Wanted,
  followTail,
  type ReadEvents,
  type Tail,
} from './reader.ts';

/** Each costs a connection, and a look of its own while it catches up; a program needs one, and a place has few programs. */
export const streamsMax = 100;
/** Streams stay open for long, so that one more is seldom possible at once. */
const tooManyRetrySeconds = 60;
/** How long a stop waits until the last words are taken. */
const goodbyeMs = 1000;

interface OpenStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly ended: Promise<ReaderEnd>;
}

/** The events as streams, each resumed behind the last event that its client has seen. */
export interface EventStreams {
  /** Refuses before anything is sent: a cursor that is none, and more streams than there may be. `drop` cuts the connection. */
  open(wanted: Wanted, drop: () => void): Promise<OpenStream>;
  /** An event was written just now, in this process. */
  readonly hint: () => void;
  /** Ends all streams, and resolves when their clients have taken the last words, or after a moment. */
  close(): Promise<void>;
}

interface StreamNeeds {
  readonly readEvents: ReadEvents;
  readonly timer: Timer;
  readonly log: Log;
}

export function createEventStreams(needs: StreamNeeds): EventStreams {
  const places = new Set<{ reader: Reader | null }>();
  let tail: Promise<Tail> | null = null;
  let isStopping = false;

  const leave = (place: { reader: Reader | null }) => {
    places.delete(place);
    if (places.size > 0) return;
    void tail?.then(({ stop }) => stop()).catch(() => undefined);
    tail = null;
  };
  return {
    open: async (wanted, drop) => {
      if (isStopping) throw new AppError('stopping', 'The server is stopping. Ask again soon.');
      if (places.size >= streamsMax) throw tooMany();
      const place: { reader: Reader | null } = { reader: null };
      places.add(place);
      try {
        tail ??= followTail(needs.readEvents, needs.timer);
        const followed = await tail;
        // After the tail, so that what is written from here on is in the one or in the other.
        const first = await needs.readEvents({ ...wanted, limit: eventPageDefault });
        place.reader = createReader({ ...needs, tail: followed, wanted, first, drop });
        if (isStopping) place.reader.stop();
        void place.reader.ended.then(() => leave(place));
        return place.reader;
      } catch (error) {
        leave(place);
        throw error;
      }
    },
    hint: () => void tail?.then(({ hint }) => hint()).catch(() => undefined),
    close: () => {
      isStopping = true;
      const readers = [...places].flatMap(({ reader }) => reader ?? []);
      for (const { stop } of readers) stop();
      return within(needs.timer, Promise.all(readers.map(({ ended }) => ended)));
    },
  };
}

function within(timer: Timer, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const callOff = timer.after(goodbyeMs, resolve);
    void work.then(() => {
      callOff();
      resolve();
    });
  });
}

function tooMany(): AppError {
  return new AppError(
    'rate_limited',
    `At most ${streamsMax} streams of events can be open at once. Close one of them.`,
    {
      details: { retry_after_seconds: tooManyRetrySeconds },
    },
  );
}

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
