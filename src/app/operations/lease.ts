import { errorText } from '../../domain/errors.ts';
import type { Hints } from '../ports/hints.ts';
import type { World } from '../ports/outside.ts';
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
  readonly name: string;
}

/** A holder that dies is replaced within this; its lease is renewed so often that one slow answer costs nothing. */
const leaseMs = 15_000;
const renewMs = 10_000;
const answerMs = 3000;
/** The work stops so long before others may begin it. */
const marginMs = 1000;
const failedPauseMs = 1000;

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
function createHold({ store, clock, stopwatch, timer, log, bootId, name }: LeaseDeps) {
  const held = createHeldSince({ stopwatch, clock });
  let failures = 0;
  /** How long to wait until the next look; null where the lease is this process's. */
  const ask = async (): Promise<number | null> => {
    const now = clock.now();
    const began = stopwatch.elapsed();
    let callOff = () => {};
    const late = new Promise<never>((_resolve, reject) => {
      callOff = timer.after(answerMs, () => reject(new Error('the database does not answer')));
    });
    try {
      const { isMine, until } = await Promise.race([store.holdLease(name, bootId, { now, ms: leaseMs }), late]);
      failures = 0;
      if (!isMine) return Math.max(until - clock.now(), 0) + 1;
      held.renewed(began);
      return null;
    } catch (error) {
      failures += 1;
      if (failures === 1) log.warn('lease_not_held', { lease: name, error: errorText(error) });
      return failedPauseMs;
    } finally {
      callOff();
    }
  };
  return { ask, isHeld: () => held.isWithin(leaseMs - marginMs) };
}

export function createLease(deps: LeaseDeps) {
  const { store, timer, log, bootId, hints, name } = deps;
  const { ask, isHeld } = createHold(deps);
  const freed = `changed:lease:${name}` as const;
  let wake = () => {};

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const callOff = timer.after(ms, () => wake());
      wake = () => {
        callOff();
        wake = () => {};
        resolve();
      };
    });
  return {
    /** Does the work whenever this process has the lease, until it is stopped. */
    run: async (stop: AbortSignal, work: (leased: Leased) => Promise<void>): Promise<void> => {
      const unhear = hints.on(freed, () => wake());
      stop.addEventListener('abort', () => wake());
      while (!stop.aborted) {
        const waitMs = await ask();
        if (waitMs !== null) {
          if (!stop.aborted) await sleep(waitMs);
          continue;
        }
        log.info('lease_taken', { lease: name });
        const over = new AbortController();
        const working = work({ signal: over.signal, isHeld, doubt: () => wake() });
        for (let isMine = true; isMine && !stop.aborted;) {
          await sleep(renewMs);
          if (!stop.aborted) isMine = (await ask()) === null;
        }
        over.abort();
        log.info('lease_left', { lease: name });
        await working;
      }
      unhear();
      await store.endLease(name, bootId).then(
        () => hints.publish(freed),
        // The lease is over by itself.
        (error: unknown) => log.warn('lease_not_ended', { lease: name, error: errorText(error) }),
      );
    },
  };
}
