import { sleepMaxMs } from '../../domain/limits.ts';

/** What a step looks for: what was named, or what became due by itself. */
interface Which {
  readonly only?: readonly string[];
  readonly queuedBefore?: number;
}

/**
 * When a loop looks for itself. Where nobody hands out jobs it does so at every step. Where jobs name what is ready it looks when something
 * becomes due by time, and now and then for what no job has named, or whose job was lost; until then a step without a job asks the
 * database nothing.
 */
export function createLooks(hasJobs: boolean) {
  let at = -Infinity;
  let [isStale, isForCancels, isOtherTurn] = [true, true, false];
  const isLook = (now: number, named: readonly unknown[]) => now >= at && !(isOtherTurn && named.length > 0);
  return {
    isDue: (now: number, named: readonly unknown[]): boolean => !hasJobs || named.length > 0 || now >= at,
    which: (now: number, named: readonly string[]): Which => {
      if (!hasJobs) return {};
      isStale = true;
      // What is named and what is due take turns, so that neither waits for the end of the other.
      isOtherTurn = isLook(now, named);
      if (!isOtherTurn) return { only: named };
      at = now + sleepMaxMs;
      return { queuedBefore: now - sleepMaxMs };
    },
    /** When to make the next step; `next` asks what is due by time. */
    nextAt: async (now: number, next: () => Promise<number | null>): Promise<number | null> => {
      if (hasJobs && !isStale && now < at) return at;
      isStale = false;
      const due = await next();
      at = Math.min(due ?? Infinity, now + sleepMaxMs);
      return due;
    },
    /** Something may become due sooner. */
    later: (): void => {
      isStale = true;
    },
    /** The next step looks, whatever is due. */
    now: (): void => {
      [at, isForCancels] = [-Infinity, true];
    },
    /** Where jobs are handed out, those who hold a run are told that it is to stop; elsewhere each step looks. */
    isForCancels: (now: number): boolean => {
      const is = !hasJobs || isForCancels || now >= at;
      isForCancels = false;
      return is;
    },
  };
}
