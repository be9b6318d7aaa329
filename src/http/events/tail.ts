import type { Timer } from '../../app/ports/outside.ts';
import type { EventPage, EventQuery } from '../../app/ports/why.ts';
import { eventPageMax } from '../../domain/limits.ts';

/** Another process may write to the same database, and it does not ring here. */
const lookMs = 1000;
/** Several commits in a row are told by one look. */
const soonMs = 10;

/** What came after `from`. Every piece has a number, one more than the piece before. */
export interface News {
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
