import { errorText, isAway } from '../../domain/errors.ts';
import { backoffMs, refusedRetryMs } from '../../domain/limits.ts';
import type { World } from '../ports/outside.ts';

interface Writing<T> {
  readonly write: (items: readonly T[]) => Promise<void>;
  /** The item to write instead of one that the store refused. */
  readonly instead: (item: T, error: string) => T;
}

/**
 * Gathers what has ended while the last batch was being committed and writes it together, because a durable commit is the
 * unit of cost. While the store is away nothing is dropped: the batch is tried again until it is written. What the store
 * refuses for a reason of its own is found by writing one by one, and something plainer is written in its place, so that
 * one bad result never holds up the others.
 */
export function createCollector<T>(
  { timer, log }: Pick<World, 'timer' | 'log'>,
  batchMax: number,
  { write, instead }: Writing<T>,
) {
  const items: T[] = [];
  let flushing: Promise<void> | null = null;

  const untilWritten = async (batch: readonly T[]) => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await write(batch);
      } catch (error) {
        if (!isAway(error)) throw error;
        if (failures === 1) log.error('results_not_written', { waiting: items.length, error: error.message });
        await new Promise<void>((resolve) => timer.after(backoffMs(failures), resolve));
      }
    }
  };

  const oneByOne = async (batch: readonly T[]) => {
    for (const item of batch) {
      try {
        await untilWritten([item]);
      } catch (error) {
        const reason = errorText(error);
        log.error('result_refused', { error: reason });
        const plainer = instead(item, reason);
        await untilWritten([plainer]).catch((again: unknown) => {
          // Nothing is given up: what cannot be written now is tried again when whatever is wrong may be mended.
          log.error('result_not_writable', { error: String(again) });
          timer.after(refusedRetryMs, () => add(plainer));
        });
      }
    }
  };

  const flush = async () => {
    // Ends that arrive in the same turn of the loop belong into the same commit.
    await timer.yield();
    while (items.length > 0) {
      const batch = items.slice(0, batchMax);
      await untilWritten(batch).catch(() => oneByOne(batch));
      items.splice(0, batch.length);
    }
    flushing = null;
  };

  const add = (item: T) => {
    items.push(item);
    flushing ??= flush();
  };

  return {
    add,
    /** Resolves when everything added so far is written. */
    idle: async () => {
      while (flushing !== null) await flushing;
    },
  };
}
