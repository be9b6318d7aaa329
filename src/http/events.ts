import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { stream } from 'hono/streaming';
import type { z } from 'zod';
import { eventsQuery, truthOperations } from '../api/truth.ts';
import { waitAtMost } from '../app/pipeline/workers.ts';
import type { Log, Timer } from '../app/ports/outside.ts';
import type { EventPage, EventQuery, EventRow } from '../app/ports/why.ts';
import type { Truth } from '../app/why/truth.ts';
import { AppError, errorText } from '../domain/errors.ts';
import { eventPageDefault } from '../domain/limits.ts';
import type { Principal } from '../domain/principal.ts';
import { wireEvent } from './handlers/runs.ts';
import { readQuery } from './reading.ts';
import { principalFor, stillHolds } from './token.ts';

/** Proxies drop a connection that is silent for a minute or less; a client notices a dead one by the missing beat. */
export const heartbeatMs = 15_000;
/** A client that takes nothing for so long is gone or stuck. It can go on later from where it stood. */
export const slowReaderMs = 60_000;
/** Each costs a connection, and a read each second; a program needs one, and a place has few programs. */
export const streamsMax = 100;
/** Another process may write to the same database, and it does not ring here. */
const lookMs = 1000;
/** Several commits in a row are told by one read. */
const hintMs = 100;
/** When a client comes back: soon after a connection that broke; after a stop, when the next server may have started. */
const retryMs = { broken: 2000, stopping: 5000 };
/** Streams stay open for long, so that one more is seldom possible at once. */
const tooManyRetrySeconds = 60;
/** How long a stop waits until the last words are taken. */
const goodbyeMs = 1000;

export type Wanted = Pick<EventQuery, 'after' | 'taskId' | 'kind'>;

/** Whoever listens: what there is to be read for them, and whether they may still. */
export interface Listener {
  readonly readEvents: (query: EventQuery) => Promise<EventPage>;
  readonly isHeld: () => Promise<boolean>;
  /** Cuts the connection. */
  readonly drop: () => void;
}

/** How a stream ended, for the log. */
interface StreamEnd {
  readonly ended: 'client' | 'slow' | 'stopping' | 'failed' | 'token';
  readonly events: number;
}

/** Where a stream writes: resolves as soon as its client has room for more. */
interface Out {
  write(text: string): Promise<unknown>;
  onAbort(left: () => void): void;
  abort(): void;
}

/** The events as streams, each resumed behind the last event that its client has seen. */
export interface EventStreams {
  /** Refuses before anything is sent: a cursor that is none, and more streams than there may be. */
  open(wanted: Wanted, listener: Listener): Promise<Pick<EventStream, 'tell' | 'ended'>>;
  /** An event was written just now, in this process. Only a hint: without it the event is found a moment later. */
  readonly hint: () => void;
  /** Ends all streams, and resolves when their clients have taken the last words, or after a moment. */
  close(): Promise<void>;
}

interface StreamDeps {
  readonly timer: Timer;
  readonly log: Log;
}

export function createEventStreams(deps: StreamDeps): EventStreams {
  const { timer } = deps;
  const streams = new Set<EventStream>();
  let opening = 0;
  let [isStopping, isHinted] = [false, false];
  return {
    open: async (wanted, listener) => {
      if (isStopping) throw new AppError('stopping', 'The server is stopping. Ask again soon.');
      if (opening + streams.size >= streamsMax) throw tooMany();
      opening += 1;
      try {
        const first = await listener.readEvents({ ...wanted, limit: eventPageDefault });
        const stream = new EventStream(deps, { wanted, first, listener });
        streams.add(stream);
        if (isStopping) stream.stop();
        void stream.ended.then(() => streams.delete(stream));
        return stream;
      } finally {
        opening -= 1;
      }
    },
    hint: () => {
      if (isHinted || opening + streams.size === 0) return;
      isHinted = true;
      timer.after(hintMs, () => {
        isHinted = false;
        for (const one of streams) one.ring();
      });
    },
    close: async () => {
      isStopping = true;
      for (const one of streams) one.stop();
      await waitAtMost(timer, goodbyeMs, Promise.all([...streams].map((one) => one.ended)));
    },
  };
}

function tooMany(): AppError {
  const message = `At most ${streamsMax} streams of events can be open at once. Close one of them.`;
  return new AppError('rate_limited', message, { details: { retry_after_seconds: tooManyRetrySeconds } });
}

interface Begun {
  readonly wanted: Wanted;
  readonly first: EventPage;
  readonly listener: Listener;
}

/**
 * One stream. It is read as fast as its client takes it and never faster: nothing is held but the piece that is on its way.
 * At the end of what there is it looks again when it is rung, and each second by itself. The id that stands behind a piece
 * is never that of an event that was not sent yet.
 */
class EventStream {
  readonly ended: Promise<StreamEnd>;
  readonly #deps: StreamDeps;
  readonly #begun: Begun;
  #over: StreamEnd['ended'] | null = null;
  #isRung = false;
  #isBeatDue = false;
  #wake = () => {};
  #callOffBeat = () => {};
  #resolve: (end: StreamEnd) => void = () => {};

  constructor(deps: StreamDeps, begun: Begun) {
    this.#deps = deps;
    this.#begun = begun;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Something may have come. */
  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** Says when to come back, as soon as the client takes it, and ends. */
  stop(): void {
    this.#end('stopping');
  }

  async tell(out: Out): Promise<void> {
    out.onAbort(() => this.#end('client'));
    let events = 0;
    try {
      for await (const count of this.#pieces(out)) events += count;
    } catch (error) {
      this.#deps.log.warn('event_stream_failed', { error: errorText(error).slice(0, 300) });
      this.#end('failed');
    }
    this.#callOffBeat();
    this.#resolve({ ended: this.#over ?? 'failed', events });
  }

  /** How many events each piece has told. */
  async *#pieces(out: Out): AsyncGenerator<number> {
    const { wanted, first, listener } = this.#begun;
    let position = first.next;
    await this.#send(out, `retry: ${retryMs.broken}\n\n${textOf(first.events)}id: ${position}\n\n`);
    yield first.events.length;
    while (this.#over === null) {
      this.#isRung = false;
      // A token that is over hears no more than it had heard by then.
      if (!(await listener.isHeld())) return this.#end('token');
      const { events, next } = await listener.readEvents({ ...wanted, after: position, limit: eventPageDefault });
      const isAtEnd = next === position;
      position = next;
      if (events.length > 0) await this.#send(out, textOf(events));
      // The id spares a client that comes back the way past all that was not for it.
      else if (this.#isBeatDue) await this.#send(out, `: still here\nid: ${position}\n\n`);
      yield events.length;
      if (isAtEnd) await this.#rest();
    }
    if (this.#over === 'stopping') await this.#send(out, `retry: ${retryMs.stopping}\n\n`);
  }

  async #send(out: Out, text: string): Promise<void> {
    const { timer } = this.#deps;
    this.#callOffBeat();
    const callOff = timer.after(slowReaderMs, () => {
      this.#end('slow');
      this.#begun.listener.drop();
      out.abort();
    });
    await out.write(text);
    callOff();
    this.#isBeatDue = false;
    this.#callOffBeat = timer.after(heartbeatMs, () => {
      this.#isBeatDue = true;
      this.#wake();
    });
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isRung || this.#over !== null) return resolve();
      const callOff = this.#deps.timer.after(lookMs, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }

  #end(why: StreamEnd['ended']): void {
    this.#over ??= why;
    this.#wake();
  }
}

function textOf(events: readonly EventRow[]): string {
  return events
    .map((event) => `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${JSON.stringify(wireEvent(event))}\n\n`)
    .join('');
}

const cursorLengthMax = 200;

/** Serves streams at the path of the pages, to clients that accept one. */
export function serveEventStream(
  app: OpenAPIHono,
  streams: EventStreams,
  roomsOf: (principal: Principal) => { readonly truth: Pick<Truth, 'readEvents'> },
): void {
  app.use(truthOperations.listEvents.path, async (c: Context, next) => {
    if (!isStreamWanted(c)) return next();
    const { readEvents } = roomsOf(principalFor(c, truthOperations.listEvents.scope)).truth;
    const query = readQuery(c, eventsQuery) as z.output<typeof eventsQuery>;
    const { after = null, task_id: taskId = null, kind = null } = query;
    const resumed = c.req.header('last-event-id') ?? '';
    if (resumed.length > cursorLengthMax)
      throw new AppError('invalid_cursor', 'This Last-Event-ID is no cursor of ours.');
    c.header('content-type', 'text/event-stream; charset=utf-8');
    // Some proxies collect an answer before they pass it on.
    c.header('x-accel-buffering', 'no');
    if (c.req.method === 'HEAD') return c.body(null);
    const wanted = { after: resumed === '' ? after : resumed, taskId, kind };
    const opened = await streams.open(wanted, { readEvents, isHeld: stillHolds(c), drop: () => cut(c) });
    c.set('streamEnd', opened.ended);
    return stream(c, (out) => opened.tell(out));
  });
}

/** When the stream that answers a request has ended; null for any other answer. */
export function streamEndOf(c: Context): Promise<StreamEnd> | null {
  const end = c.get('streamEnd') as Promise<StreamEnd> | undefined;
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
