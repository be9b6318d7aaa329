import type { Log, Timer } from '../../app/ports/outside.ts';
import type { EventPage, EventQuery, EventRow } from '../../app/ports/why.ts';
import { isOfKind } from '../../domain/event.ts';
import { eventPageDefault, eventPageMax } from '../../domain/limits.ts';
import { wireEvent } from '../handlers/truth-wire.ts';

/** Proxies drop a connection that is silent for a minute or less; a client notices a dead one by the missing beat. */
export const heartbeatMs = 15_000;
/** A client that takes nothing for so long is gone or stuck. It can go on later from where it stood. */
export const slowReaderMs = 60_000;
/** When a client comes back: soon after a connection that broke; after a stop, when the next server may have started. */
const retryMs = { broken: 2000, stopping: 5000 };

export type Wanted = Pick<EventQuery, 'after' | 'taskId' | 'kind'>;

/** How a stream ended, for the log. */
export interface ReaderEnd {
  readonly ended: 'client' | 'slow' | 'stopping' | 'failed';
  readonly events: number;
}

/**
 * One stream of events. It is read as fast as its client takes it and never faster: nothing is held but the piece that is
 * on its way, and the rest stays in the database. At the end of what there is it waits for the news that the tail reads for
 * all; news that do not begin where it stands make it look for itself.
 */
export interface Reader {
  readonly body: ReadableStream<Uint8Array>;
  readonly ended: Promise<ReaderEnd>;
  /** Says when to come back, as soon as the client takes it, and ends. */
  readonly stop: () => void;
}

interface Needs {
  readonly readEvents: ReadEvents;
  readonly timer: Timer;
  readonly log: Log;
  readonly tail: Tail;
  readonly wanted: Wanted;
  readonly first: EventPage;
  readonly drop: () => void;
}

export function createReader(needs: Needs): Reader {
  const { timer, log, tail, drop } = needs;
  const state: State = { over: null, isCancelled: false, events: 0, wake: null };
  const texts = textsOf(needs, state);
  const unlisten = tail.listen((news) => state.wake?.(news));
  let resolveEnd = (_end: ReaderEnd) => {};
  const ended = new Promise<ReaderEnd>((resolve) => {
    resolveEnd = resolve;
  });
  let callOffSlow = () => {};
  const end = (why: ReaderEnd['ended']) => {
    state.over ??= why;
    unlisten();
    callOffSlow();
    state.wake?.('over');
    resolveEnd({ ended: state.over, events: state.events });
  };
  const awaitClient = () => {
    callOffSlow = timer.after(slowReaderMs, () => {
      end('slow');
      drop();
    });
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    callOffSlow();
    try {
      const { value } = await texts.next();
      if (state.isCancelled) return;
      if (value !== undefined) {
        controller.enqueue(Buffer.from(value));
        awaitClient();
        return;
      }
      end('stopping');
    } catch (error) {
      log.warn('event_stream_failed', { error: error instanceof Error ? error.message.slice(0, 300) : 'unknown' });
      end('failed');
    }
    if (!state.isCancelled) controller.close();
  };
  const cancel = () => {
    state.isCancelled = true;
    end('client');
  };
  awaitClient();
  return {
    // Nothing is made before it is asked for.
    body: new ReadableStream({ pull, cancel }, { highWaterMark: 0 }),
    ended,
    stop: () => {
      state.over ??= 'stopping';
      state.wake?.('over');
    },
  };
}

/** What wakes a stream that waits at the end. */
type Woken = News | Error | 'beat' | 'missed' | 'over';

interface State {
  over: ReaderEnd['ended'] | null;
  isCancelled: boolean;
  events: number;
  /** Set while it waits. */
  wake: ((woken: Woken) => void) | null;
}

/** What is sent, piece by piece. The id that stands behind a piece is never that of an event that was not sent yet. */
async function* textsOf(
  { readEvents, wanted, first, ...needs }: Needs,
  state: State,
): AsyncGenerator<string, undefined> {
  let position = first.next;
  state.events += first.events.length;
  yield `retry: ${retryMs.broken}\n\n${told(first.events)}id: ${position}\n\n`;
  while (state.over === null) {
    const turn = needs.tail.turn();
    const page = await readEvents({ ...wanted, after: position, limit: eventPageDefault });
    state.events += page.events.length;
    if (page.events.length > 0) yield told(page.events);
    const isEnd = page.next === position;
    position = page.next;
    if (isEnd) position = yield* attend({ ...needs, wanted, state }, { position, turn });
  }
  if (state.over === 'stopping') yield `retry: ${retryMs.stopping}\n\n`;
  return undefined;
}

interface Attending extends Pick<Needs, 'tail' | 'timer' | 'wanted'> {
  readonly state: State;
}

/** Passes on what the tail reads, until something came that it has not heard; answers where it stands then. */
async function* attend(needs: Attending, from: { position: string; turn: number }): AsyncGenerator<string, string> {
  const { state, wanted } = needs;
  let { position, turn } = from;
  for (;;) {
    const woken = await wakeUp(needs, turn);
    if (woken instanceof Error) throw woken;
    // The id spares whoever comes back the way past all that was not for them.
    if (woken === 'beat') yield `: still here\nid: ${position}\n\n`;
    else if (typeof woken === 'string' || woken.from !== position) return position;
    else {
      ({ turn } = woken);
      position = woken.page.next;
      const events = woken.page.events.filter((event) => isWanted(event, wanted));
      state.events += events.length;
      if (events.length > 0) yield told(events);
    }
  }
}

function wakeUp({ tail, timer, state }: Attending, turn: number): Promise<Woken> {
  return new Promise((resolve) => {
    if (state.over !== null) return resolve('over');
    if (tail.turn() !== turn) return resolve('missed');
    const callOff = timer.after(heartbeatMs, () => state.wake?.('beat'));
    state.wake = (woken) => {
      state.wake = null;
      callOff();
      resolve(woken);
    };
  });
}

function isWanted({ taskId, kind }: EventRow, wanted: Wanted): boolean {
  return (wanted.taskId === null || taskId === wanted.taskId) && isOfKind(kind, wanted.kind ?? null);
}

function told(events: readonly EventRow[]): string {
  return events
    .map((event) => `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${JSON.stringify(wireEvent(event))}\n\n`)
    .join('');
}

/** Another process may write to the same database, and it does not ring here. */
const lookMs = 1000;
/** Several commits in a row are told by one look. */
const soonMs = 10;

/** What came after `from`. Every piece has a number, one more than the piece before. */
interface News {
  readonly turn: number;
  readonly from: string;
  readonly page: EventPage;
}

/** The newest end of the events, read once for everybody who waits there. */
export interface Tail {
  /** The number of the latest piece: whoever noted it before a look of its own knows whether something came meanwhile. */
  readonly turn: () => number;
  /** Calls back with each piece of news, or with the fault that kept it from being read. */
  readonly listen: (heard: (news: News | Error) => void) => () => void;
  /** Something was written just now. Only a hint: without it the news are found a moment later. */
  readonly hint: () => void;
  readonly stop: () => void;
}

export type ReadEvents = (query: EventQuery) => Promise<EventPage>;

/** Begins behind the newest event there is. Whoever looks for itself after this, and then listens, misses nothing. */
export async function followTail(readEvents: ReadEvents, timer: Timer): Promise<Tail> {
  const listeners = new Set<(news: News | Error) => void>();
  const read = (after: string) => readEvents({ after, taskId: null, limit: eventPageMax });
  let { next: position } = await read('latest');
  let turn = 0;
  let isLooking = false;
  let isStopped = false;
  let isHinted = false;
  let [pauseMs, armedMs] = [lookMs, lookMs];
  let callOff = () => {};

  const tell = (news: News | Error) => {
    for (const heard of listeners) heard(news);
  };
  const look = async () => {
    isLooking = true;
    isHinted = false;
    const { page, fault } = await tried(read(position));
    const from = position;
    position = page?.next ?? position;
    // On Postgres an event is read only when all that began before it has ended, so after a hint it looks again soon.
    pauseMs = page === null || page.events.length > 0 ? lookMs : Math.min(pauseMs * 2, lookMs);
    isLooking = false;
    arm(isHinted || page?.events.length === eventPageMax ? soonMs : pauseMs);
    if (page === null) tell(fault);
    else if (page.events.length > 0) tell({ turn: (turn += 1), from, page });
  };
  const arm = (ms: number) => {
    callOff();
    armedMs = ms;
    if (!isStopped) callOff = timer.after(ms, () => void look());
  };
  arm(lookMs);
  return {
    turn: () => turn,
    listen: (heard) => {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    hint: () => {
      isHinted = true;
      pauseMs = soonMs;
      // Hints that follow each other closely must not put the look off for ever.
      if (!isLooking && armedMs !== soonMs) arm(soonMs);
    },
    stop: () => {
      isStopped = true;
      callOff();
    },
  };
}

type Tried = { readonly page: EventPage; readonly fault: null } | { readonly page: null; readonly fault: Error };

function tried(reading: Promise<EventPage>): Promise<Tried> {
  return reading.then(
    (page) => ({ page, fault: null }),
    (error: unknown) => ({ page: null, fault: error instanceof Error ? error : new Error(String(error)) }),
  );
}
