import { stepBackoffMaxMs, stepBackoffMs } from '../domain/limits.ts';
import type { Log, Timer } from './ports.ts';

/**
 * Gathers what has ended while the last batch was being committed and writes it together, because a durable commit is the
 * unit of cost. When the store is away nothing is dropped: the batch is tried again until it is written.
 */
export interface Collector<T> {
  add(item: T): void;
  /** Resolves when everything added so far is written. */
  idle(): Promise<void>;
}

interface Needs {
  readonly timer: Timer;
  readonly log: Log;
}

export function createCollector<T>(
  { timer, log }: Needs,
  batchMax: number,
  write: (items: readonly T[]) => Promise<void>,
): Collector<T> {
  const items: T[] = [];
  let flushing: Promise<void> | null = null;

  const flush = async () => {
    // Ends that arrive in the same turn of the loop belong into the same commit.
    await timer.yield();
    let backoffMs = stepBackoffMs;
    while (items.length > 0) {
      const batch = items.slice(0, batchMax);
      try {
        await write(batch);
        items.splice(0, batch.length);
        backoffMs = stepBackoffMs;
      } catch (error) {
        log.error('results_not_written', { waiting: items.length, error: String(error) });
        await new Promise<void>((resolve) => timer.after(backoffMs, resolve));
        backoffMs = Math.min(backoffMs * 2, stepBackoffMaxMs);
      }
    }
    flushing = null;
  };

  return {
    add: (item) => {
      items.push(item);
      flushing ??= flush();
    },
    idle: async () => {
      while (flushing !== null) await flushing;
    },
  };
}
