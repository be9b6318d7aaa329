import { errorText } from '../../domain/errors.ts';
import { leaseRenewMs, pollingLeaseMs } from '../../domain/processes/limits.ts';
import { waitAtMost } from '../pipeline/workers.ts';
import type { Hints } from '../ports/hints.ts';
import type { Clock, World } from '../ports/outside.ts';
import type { Processes, Renewal } from '../ports/processes.ts';
import type { LeaseStore } from '../ports/upkeep.ts';

/** Work that one of several processes does at a time. */
export interface Leased {
  /** Aborted as soon as this process may not go on. */
  readonly signal: AbortSignal;
  /** Whether nobody else does it: a process that was frozen finds out before anything leaves it. */
  isHeld(): boolean;
  /** Takes note of a sign that another process does the work as well. */
  doubt(): void;
}

interface LeaseDeps extends Pick<World, 'clock' | 'stopwatch' | 'timer' | 'log'> {
  readonly store: LeaseStore;
  readonly bootId: string;
  readonly hints: Hints;
  /** Each renewal of this process holds on the lease that it has, and tells who has it. */
  readonly processes: Pick<Processes, 'onRenewal'>;
  /** The clock on the wall of this computer, which goes on while it sleeps. */
  readonly wall: Clock;
  readonly name: 'polling';
}

const answerMs = 3000;
/** The work stops so long before others may begin it. */
const marginMs = 1000;
const failedPauseMs = 1000;
/** Nothing was heard of a renewal for so long, so the lease is asked for by itself. */
const unheardMs = leaseRenewMs + 2000;

/** The time since a lease was last renewed, by two clocks, because each may stand still while its process does. */
export function createHeldSince({ stopwatch, clock }: Pick<World, 'stopwatch' | 'clock'>) {
  let since = { elapsed: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
  return {
    /** Renewed by a question that was asked at this time of the stopwatch. */
    renewed: (elapsed: number): void => {
      since = { elapsed, wall: clock.now() - (stopwatch.elapsed() - elapsed) };
    },
    isWithin: (ms: number): boolean => stopwatch.elapsed() - since.elapsed < ms && clock.now() - since.wall < ms,
  };
}

/** The lease as this process holds it, or not. */
function createHold({ store, clock, wall, stopwatch, timer, log, bootId, name }: LeaseDeps) {
  const held = createHeldSince({ stopwatch, clock: wall });
  let failures = 0;
  /** How long to wait until the next look; null where the lease is this process's. */
  const ask = async (): Promise<number | null> => {
    const now = clock.now();
    const began = stopwatch.elapsed();
    try {
      const asked = store.holdLease(name, bootId, { now, ms: pollingLeaseMs });
      const found = await waitAtMost(timer, answerMs, asked);
      if (found === 'late') throw new Error('the database does not answer');
      const { isMine, until } = found;
      failures = 0;
      if (!isMine) return Math.max(until - clock.now(), 0) + 1;
      held.renewed(began);
      return null;
    } catch (error) {
      failures += 1;
      if (failures === 1) log.warn('lease_not_held', { lease: name, error: errorText(error) });
      return failedPauseMs;
    }
  };
  return { ask, renewed: held.renewed, isHeld: () => held.isWithin(pollingLeaseMs - marginMs) };
}

export function createLease(deps: LeaseDeps) {
  const { store, clock, timer, log, bootId, hints, processes, name } = deps;
  const { ask, renewed, isHeld } = createHold(deps);
  const freed = `changed:lease:${name}` as const;
  const pause = createPause(timer);
  let isWorking = false;

  const heard = (renewal: Renewal | null, before: number) => {
    const isMine = renewal?.polling?.holder === bootId;
    if (isWorking && isMine) {
      renewed(before);
      pause.until(unheardMs);
      // It could not be renewed, or is another's.
    } else if (isWorking) pause.end();
    else if (renewal !== null) pause.until(Math.max((renewal.polling?.until ?? 0) - clock.now(), 0) + 1);
  };
  const holdOn = async (stop: AbortSignal) => {
    for (let isMine = true; isMine && !stop.aborted;) {
      await pause.begin(unheardMs);
      if (!stop.aborted) isMine = (await ask()) === null;
    }
  };
  return {
    /** Does the work whenever this process has the lease, until it is stopped. */
    run: async (stop: AbortSignal, work: (leased: Leased) => Promise<void>): Promise<void> => {
      const unhear = [hints.on(freed, pause.end), processes.onRenewal(heard)];
      stop.addEventListener('abort', pause.end);
      while (!stop.aborted) {
        const waitMs = await ask();
        if (waitMs !== null) {
          if (!stop.aborted) await pause.begin(waitMs);
          continue;
        }
        log.info('lease_taken', { lease: name });
        const over = new AbortController();
        const working = work({ signal: over.signal, isHeld, doubt: pause.end });
        isWorking = true;
        await holdOn(stop);
        isWorking = false;
        over.abort();
        log.info('lease_left', { lease: name });
        await working;
      }
      for (const end of unhear) end();
      await store.endLease(name, bootId).then(
        () => hints.publish(freed),
        // The lease is over by itself.
        (error: unknown) => log.warn('lease_not_ended', { lease: name, error: errorText(error) }),
      );
    },
  };
}

/** A pause that may be ended early, or begun anew while it lasts. */
function createPause(timer: Pick<World['timer'], 'after'>) {
  let callOff = () => {};
  let end: (() => void) | null = null;
  const until = (ms: number) => {
    if (end === null) return;
    callOff();
    callOff = timer.after(ms, end);
  };
  return {
    until,
    end: (): void => end?.(),
    begin: (ms: number) =>
      new Promise<void>((resolve) => {
        end = () => {
          callOff();
          end = null;
          resolve();
        };
        until(ms);
      }),
  };
}
