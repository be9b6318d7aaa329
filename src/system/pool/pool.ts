import { silentMeter, type Meter } from '../../app/ports/metering.ts';
import type { Log, Stopwatch, Timer } from '../../app/ports/outside.ts';
import { errorText } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import { startChild, type Child, type Kind, type Kinds, type Reply } from './child.ts';

export interface PoolDeps {
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly log: Log;
  /** Absent where nobody watches. */
  readonly meter?: Meter;
  readonly start?: () => Child;
}

export interface Work<K extends Kind> {
  readonly kind: K;
  readonly ask: Kinds[K]['ask'];
  /** The person at whose expense it is done; null for work of the product itself. */
  readonly owner: string | null;
  /** A child that takes longer is ended. */
  readonly maxMs: number;
}

/**
 * `died`: the work took its child down. `late`: it took too long. `lost`: somebody else ended the child. `spent`: its owner
 * has used up what one person may use, until then. `away`: no child can be started, or none was free in time, or the pool is
 * closed.
 */
export type Worked<T> =
  | { readonly is: 'done'; readonly answer: T }
  | { readonly is: 'died' | 'late' | 'lost' | 'away' }
  | { readonly is: 'spent'; readonly afterMs: number };

/** Evaluates what people write in child processes, because no limit within a process holds everything that they can do to it. */
export interface Pool {
  /** Never throws. */
  readonly run: <K extends Kind>(work: Work<K>) => Promise<Worked<Kinds[K]['answer']>>;
  readonly jobs: () => PoolJobs;
  /** Ends the children; open questions are answered with `away`. */
  close(): void;
}

/** Work that waits for a child, and that is being done. */
export interface PoolJobs {
  readonly waiting: number;
  readonly working: number;
}

interface Job extends Work<Kind> {
  readonly askedAt: number;
  readonly end: (worked: Worked<unknown>) => void;
}

export function createPool(deps: PoolDeps): Pool {
  const { stopwatch, timer, meter = silentMeter } = deps;
  const shares = createShares(stopwatch);
  const queue = createQueue(shares, stopwatch);
  const starts: Starts = { lastAt: Number.NEGATIVE_INFINITY, awayUntil: Number.NEGATIVE_INFINITY };
  const places = Array.from({ length: limits.poolSize }, () => createPlace({ ...deps, meter, shares, starts }));
  let callOffWake: (() => void) | null = null;
  let isClosed = false;

  /** A free place whose child lives or may be started now. */
  const ready = (): Place | undefined => {
    const free = places.filter((place) => place.job() === null);
    const pauseMs = starts.lastAt + limits.poolRestartMs - stopwatch.elapsed();
    const place = free.find(({ has }) => has() === 'child') ?? free.find(({ has }) => has() === 'room' || pauseMs <= 0);
    if (place === undefined && free.length > 0) {
      callOffWake ??= timer.after(pauseMs, () => {
        callOffWake = null;
        pump();
      });
    }
    return place;
  };

  const pump = (): void => {
    while (!isClosed && !queue.isEmpty()) {
      const place = ready();
      // No owner has all the places.
      const job = place && queue.take((owner) => places.filter((one) => one.job()?.owner === owner).length);
      if (place === undefined || job === undefined) return;
      void place.serve(job).then(pump);
    }
  };

  return {
    run: <K extends Kind>(asked: Work<K>) =>
      new Promise((resolve) => {
        // The program answers each kind with what belongs to it.
        const end = (worked: Worked<unknown>) => {
          const { is } = worked;
          if (is === 'away' || is === 'spent') meter.count('pool_refusals_total', { reason: is });
          resolve(worked as Worked<Kinds[K]['answer']>);
        };
        if (isClosed) return end({ is: 'away' });
        queue.add({ ...asked, askedAt: stopwatch.elapsed(), end });
        pump();
      }),
    jobs: () => ({ waiting: queue.size(), working: places.filter((place) => place.job() !== null).length }),
    close: () => {
      isClosed = true;
      callOffWake?.();
      queue.endAll();
      for (const place of places) place.close();
    },
  };
}

/** Jobs that wait. Their owners take turns. */
function createQueue(shares: Shares, stopwatch: Stopwatch) {
  const waiting = new Map<string | null, Job[]>();
  /** Those that have not waited for too long; the others are told so. */
  const inTime = (jobs: readonly Job[]): Job[] => {
    const since = stopwatch.elapsed() - limits.poolWaitMaxMs;
    for (const job of jobs) if (job.askedAt < since) job.end({ is: 'away' });
    return jobs.filter(({ askedAt }) => askedAt >= since);
  };
  return {
    isEmpty: () => waiting.size === 0,
    size: () => [...waiting.values()].reduce((sum, jobs) => sum + jobs.length, 0),
    add: (job: Job): void => {
      const jobs = waiting.get(job.owner) ?? [];
      jobs.push(job);
      waiting.set(job.owner, jobs);
    },
    /** The next job of somebody who has not all the places but one; whoever has nothing left of their share is told so. */
    take: (placesOf: (owner: string | null) => number): Job | undefined => {
      for (const [owner, all] of waiting) {
        if (placesOf(owner) >= limits.poolSize - 1) continue;
        waiting.delete(owner);
        const jobs = inTime(all);
        if (jobs.length === 0) continue;
        const afterMs = shares.waitOf(owner);
        if (afterMs === 0) {
          const job = jobs.shift();
          if (jobs.length > 0) waiting.set(owner, jobs);
          return job;
        }
        // One after the other: all at once they would use up ten tries in vain.
        for (const [index, job] of jobs.entries())
          job.end({ is: 'spent', afterMs: afterMs + index * Math.min(afterMs, limits.poolTurnMs) });
      }
      return undefined;
    },
    endAll: (): void => {
      for (const job of [...waiting.values()].flat()) job.end({ is: 'away' });
      waiting.clear();
    },
  };
}

/** Starts of children, wherever they are. */
interface Starts {
  lastAt: number;
  /** The last one failed, and until then there is no other. */
  awayUntil: number;
}

interface PlaceDeps extends PoolDeps {
  readonly meter: Meter;
  readonly shares: Shares;
  readonly starts: Starts;
}

type Place = ReturnType<typeof createPlace>;

/** Room for one child, which does one job at a time. */
function createPlace(deps: PlaceDeps) {
  const { stopwatch, timer, log, meter, starts, start = startChild } = deps;
  const loaded = new Set<Kind>();
  /** Stays when it is gone; null before the first one, and when it was ended because nobody asked. */
  let child: Child | null = null;
  let job: Job | null = null;
  let callOffIdle = () => {};
  let isClosed = false;

  /** A child with the kind loaded, or why there is none. */
  const childFor = async (kind: Kind): Promise<Child | string> => {
    try {
      if (child === null || child.isGone()) {
        starts.lastAt = stopwatch.elapsed();
        loaded.clear();
        child = start();
        meter.count('pool_children_started_total', {});
      }
      const one = child;
      const fault = loaded.has(kind) ? null : await load(timer, one, kind);
      loaded.add(kind);
      return fault ?? one;
    } catch (error) {
      return errorText(error);
    }
  };

  const work = async (asked: Job): Promise<Worked<unknown>> => {
    const { kind, ask, maxMs } = asked;
    if (stopwatch.elapsed() < starts.awayUntil) return { is: 'away' };
    const one = await childFor(kind);
    if (isClosed) return { is: 'away' };
    if (typeof one === 'string') {
      starts.awayUntil = stopwatch.elapsed() + limits.poolAwayMs;
      log.warn('pool_away', { kind, error: one });
      return { is: 'away' };
    }
    const reply = await within(timer, maxMs, one.tell({ kind, ask }));
    if (isClosed) return { is: 'away' };
    if (reply?.is !== 'answer') one.end();
    return workedOf(deps, asked, reply);
  };

  const close = () => {
    callOffIdle();
    child?.end();
    child = null;
  };

  return {
    job: () => job,
    has: () => (child === null ? 'room' : child.isGone() ? 'dead' : 'child'),
    serve: async (next: Job): Promise<void> => {
      callOffIdle();
      job = next;
      const worked = await work(next);
      job = null;
      next.end(worked);
      if (!isClosed) callOffIdle = timer.after(limits.poolIdleMs, close);
    },
    close: () => {
      isClosed = true;
      close();
    },
  };
}

/** Null, or why it cannot; then the child is ended. */
async function load(timer: Timer, child: Child, kind: Kind): Promise<string | null> {
  const reply = await within(timer, limits.poolStartMaxMs, child.tell({ kind }));
  if (reply?.is === 'answer') return null;
  child.end();
  return reply === null ? 'it took too long to start' : reply.how;
}

/** Why no child can be started that evaluates all kinds; null when one can. It is ended again. */
export async function childFault(timer: Timer, start: () => Child = startChild): Promise<string | null> {
  try {
    const child = start();
    for (const kind of ['template', 'slots', 'selection', 'difference'] as const) {
      const fault = await load(timer, child, kind);
      if (fault !== null) return fault;
    }
    child.end();
    return null;
  } catch (error) {
    return errorText(error);
  }
}

/** The owner pays for it, unless somebody else ended the child. */
function workedOf({ log, meter, shares }: PlaceDeps, { kind, owner }: Job, reply: Reply | null): Worked<unknown> {
  if (reply?.is === 'answer') {
    shares.charge(owner, reply.cpuMs);
    return { is: 'done', answer: reply.answer };
  }
  const is = reply === null ? 'late' : reply.isOwnFault ? 'died' : 'lost';
  if (is !== 'lost') shares.charge(owner, limits.poolEndCostMs);
  meter.count('pool_children_ended_total', { reason: is });
  log.warn('pool_child_ended', { kind, owner, is, how: reply?.how });
  return { is };
}

/** Null when it takes longer. An answer that came while this process was busy itself came in time. */
function within(timer: Timer, ms: number, reply: Promise<Reply>): Promise<Reply | null> {
  return new Promise((resolve) => {
    const callOff = timer.after(ms, () => void timer.yield().then(() => resolve(null)));
    void reply.then((told) => {
      callOff();
      resolve(told);
    });
  });
}

/** People whose use is remembered; above that those go who have used nothing lately. */
const sharesKept = 1000;

type Shares = ReturnType<typeof createShares>;

/** The use of each owner, which is forgiven as time goes by: work costs its time, and a child that is ended much more. */
function createShares(stopwatch: Stopwatch) {
  const used = new Map<string, { readonly ms: number; readonly at: number }>();
  const usedBy = (owner: string): number => {
    const { ms, at } = used.get(owner) ?? { ms: 0, at: 0 };
    return Math.max(0, ms - (stopwatch.elapsed() - at) * limits.poolShareRate);
  };
  return {
    charge: (owner: string | null, ms: number): void => {
      if (owner === null) return;
      used.set(owner, { ms: usedBy(owner) + ms, at: stopwatch.elapsed() });
      if (used.size <= sharesKept) return;
      for (const each of used.keys()) if (usedBy(each) === 0) used.delete(each);
    },
    /** Zero while there is something left of it. */
    waitOf: (owner: string | null): number => {
      const over = owner === null ? -1 : usedBy(owner) - limits.poolShareMs;
      return over < 0 ? 0 : Math.ceil((over + 1) / limits.poolShareRate);
    },
  };
}
