import { sleepMaxMs } from '../../domain/limits.ts';
import { seldomLookMs } from '../../domain/processes/limits.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { Processes } from '../ports/processes.ts';

/**
 * When a loop looks for itself. Where nobody hands out jobs it does so at every step. Where jobs name what is ready it looks when something
 * becomes due by time, and now and then for what no job has named, or whose job was lost; until then a step without a job asks the
 * database nothing. Where the renewals of a process look for it, it does so seldom: `restMs` at most after the last time.
 */
export function createLooks(hasJobs: boolean, restMs: number) {
  let at = -Infinity;
  let [isStale, isForCancels, isOtherTurn] = [true, true, false];
  /** The look under way, and the one to come, is also for what has jobs of its own. */
  let [isAll, isAllNext] = [false, false];
  const isLook = (now: number, isAnyNamed: boolean) => now >= at && !(isOtherTurn && isAnyNamed);
  return {
    isDue: (now: number, isAnyNamed: boolean): boolean => !hasJobs || isAnyNamed || now >= at,
    /** Whether this step looks by itself, and not for what was named: the two take turns, so that neither waits for the end of the other. */
    begin: (now: number, isAnyNamed: boolean): boolean => {
      if (!hasJobs) return true;
      isStale = true;
      isOtherTurn = isLook(now, isAnyNamed);
      if (isOtherTurn) [at, isAll, isAllNext] = [now + restMs, isAllNext, false];
      return isOtherTurn;
    },
    /** Runs that were queued later than this have jobs of their own. */
    queuedBefore: (now: number): { readonly queuedBefore?: number } =>
      hasJobs && !isAll ? { queuedBefore: now - sleepMaxMs } : {},
    /** The instant of the next step; `next` asks what is due by time. */
    nextAt: async (now: number, next: () => Promise<number | null>): Promise<number | null> => {
      if (hasJobs && !isStale && now < at) return at;
      isStale = false;
      try {
        const due = await next();
        at = Math.min(due ?? Infinity, now + restMs);
        return due;
      } catch (error) {
        isStale = true;
        throw error;
      }
    },
    /** Something may become due sooner. */
    later: (): void => {
      isStale = true;
    },
    /** The next step looks, whatever is due; with `all` also for what has jobs of its own, as they may have come in vain. */
    now: (all?: 'all'): void => {
      [at, isForCancels, isAllNext] = [-Infinity, true, isAllNext || all === 'all'];
    },
    /** The look has left something: the next step looks for more of the same. */
    again: (): void => {
      [at, isAllNext] = [-Infinity, isAllNext || isAll];
    },
    /** Whether this step looks for cancelled runs: at every step, unless jobs are handed out, because then a hint tells of them. */
    isForCancels: (now: number): boolean => {
      const is = !hasJobs || isForCancels || now >= at;
      isForCancels = false;
      return is;
    },
  };
}

/** How often a loop looks for itself at least: seldom where the renewals of its process do so for all loops. */
export function lookEveryMs({ isAlone }: Pick<Processes, 'isAlone'>): number {
  return isAlone ? sleepMaxMs : seldomLookMs;
}

/** Work without jobs, which looks when somebody rings, when something becomes due by time, and seldom besides. */
export function lookingSeldom<W extends Work>(work: W, restMs: number): W & { readonly rung: () => void } {
  const looks = createLooks(true, restMs);
  const nothing: Counts = { taken: 0, more: false };
  return {
    ...work,
    rung: looks.now,
    step: async (now, limit) => {
      if (!looks.isDue(now, false)) return nothing;
      looks.begin(now, false);
      try {
        const made = await work.step(now, limit);
        if (made.more) looks.now();
        return made;
      } catch (error) {
        looks.now();
        throw error;
      }
    },
    nextAt: (now) => looks.nextAt(now, () => work.nextAt(now)),
  };
}

interface Work {
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
}
