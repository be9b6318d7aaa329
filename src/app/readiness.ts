import { readinessKeptMs } from '../domain/limits.ts';
import type { Clock, Stopwatch } from './ports.ts';
import type { UpkeepStore } from './store.ts';

/** Whether the product can do its work now, and what each part says. */
export interface Ready {
  readonly ok: boolean;
  readonly [part: string]: unknown;
}

export interface Watched {
  readonly name: string;
  readonly health: () => { readonly ok: boolean; readonly error: string | null };
}

interface Needs {
  readonly store: Pick<UpkeepStore, 'ping'>;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
}

/** Asks the loops and commits something to the database; the answer holds for a second, because anybody may ask. */
export function createReadiness({ store, clock, stopwatch }: Needs, watched: readonly Watched[]): () => Promise<Ready> {
  const ask = async (): Promise<Ready> => {
    const states = watched.map(({ name, health }) => {
      const { ok, error } = health();
      return [name, error ?? (ok ? 'ok' : 'stuck')] as const;
    });
    const database = await store.ping(clock.now()).then(
      () => 'ok',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const ok = database === 'ok' && states.every(([, state]) => state === 'ok');
    return { ok, database, ...Object.fromEntries(states) };
  };
  let asked: { readonly at: number; readonly answer: Promise<Ready> } | null = null;
  let waiting = false;
  return () => {
    const at = stopwatch.elapsed();
    // A database that does not answer is asked once, not again by everybody who wants to know.
    if (asked === null || (!waiting && at - asked.at >= readinessKeptMs)) {
      waiting = true;
      const answer = ask().finally(() => {
        waiting = false;
      });
      asked = { at, answer };
    }
    return asked.answer;
  };
}
