import { readinessKeptMs, readinessWaitMs } from '../../domain/limits.ts';
import type { Clock, Stopwatch, Timer } from '../ports/outside.ts';
import type { UpkeepStore } from '../ports/pipeline.ts';

/** Whether the product can do its work now, and what each part says: `ok`, `stuck`, or what is wrong with it. */
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
  readonly timer: Pick<Timer, 'after'>;
}

/** Asks the loops and commits something to the database; the answer holds for a second, because anybody may ask. */
export function createReadiness(needs: Needs, watched: readonly Watched[]): () => Promise<Ready> {
  const { stopwatch } = needs;
  const look = createDatabaseLook(needs);
  const ask = async (): Promise<Ready> => {
    const database = await look();
    const states = watched.map(({ name, health }) => {
      const { ok, error } = health();
      return [name, error ?? (ok ? 'ok' : 'stuck')] as const;
    });
    const ok = database === 'ok' && states.every(([, state]) => state === 'ok');
    return { ok, database, ...Object.fromEntries(states) };
  };
  let asked: { readonly at: number; readonly answer: Promise<Ready> } | null = null;
  let waiting = false;
  return () => {
    const at = stopwatch.elapsed();
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

/** A database that does not answer is asked once, not again by everybody who wants to know; and nobody waits for it for long. */
function createDatabaseLook({ store, clock, timer }: Needs): () => Promise<string> {
  let open: Promise<string> | null = null;
  return async () => {
    open ??= store
      .ping(clock.now())
      .then(
        () => 'ok',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        open = null;
      });
    let callOff = () => {};
    const late = new Promise<string>((resolve) => {
      callOff = timer.after(readinessWaitMs, () => resolve('stuck'));
    });
    return Promise.race([open, late]).finally(() => callOff());
  };
}

const openWords: ReadonlySet<unknown> = new Set(['ok', 'stuck', 'starting', 'stopping']);

/** For whoever may ask without a token: an error of a driver can name hosts, files and people. The log tells what it was. */
export function shownToAll({ ok, ...parts }: Ready): Ready {
  const shown = Object.entries(parts).map(([part, state]) => [part, openWords.has(state) ? state : 'failing']);
  return { ok, ...(Object.fromEntries(shown) as Readonly<Record<string, unknown>>) };
}
