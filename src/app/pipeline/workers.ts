import { errorText } from '../../domain/errors.ts';
import type { Log, LoopName, Timer, World } from '../ports/outside.ts';
import type { RunStore } from '../ports/pipeline.ts';
import type { Processes } from '../ports/processes.ts';
import type { Progress } from '../ports/runs.ts';

/** Workers, which are the runner and the deliverer: their work goes on after the step that took it up. */

/** A commit whose answer was not waited for any longer may come about a while after that. */
const lateMs = 30_000;

/**
 * A claim may be committed and its answer lost: then rows stand under this boot that nobody here works on, and nobody else
 * may take them, because this process lives. Steps of a loop never overlap, so at the beginning of one no claim is on its
 * way, and what its worker does not work on is lost. Let go, it is taken up like the work of a process that is gone; its fence
 * makes a late end of it harmless.
 */
export function createLostClaims(
  { stopwatch, log, processes }: Pick<World, 'stopwatch' | 'log'> & { readonly processes: Pick<Processes, 'begun'> },
  loop: LoopName,
  release: () => Promise<number>,
) {
  let looks: readonly number[] = [];
  let hasBegun = false;
  return {
    /** Makes a claim, and remembers when its answer was lost. */
    claim: async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        const now = stopwatch.elapsed();
        looks = [now, now + lateMs];
        throw error;
      }
    },
    /** Lets claimed rows go that are not worked on, because the process was away meanwhile, unless others have them by now. */
    giveUp: (): void => {
      looks = [stopwatch.elapsed()];
    },
    /** Lets go what such a claim has left behind; called at the beginning of a step. */
    letGo: async (): Promise<void> => {
      // Before its first claim the process is known to all, and what those before it have left is free.
      if (!hasBegun) await processes.begun();
      hasBegun = true;
      const [next = Infinity, ...later] = looks;
      if (next > stopwatch.elapsed()) return;
      const count = await release();
      looks = later;
      if (count > 0) log.warn('claims_let_go', { room: loop, count });
    },
  };
}

/** As fast as anybody reads; what an action says in between is overtaken by its next words. */
const progressEveryMs = 1000;
const progressLengthMax = 300;

interface ProgressDeps extends Pick<World, 'clock' | 'timer' | 'log'> {
  readonly store: Pick<RunStore, 'noteProgress'>;
}

/** How far one attempt is. The words are a hint: where they cannot be written the work goes on. */
export function createProgress({ store, clock, timer, log }: ProgressDeps, of: Pick<Progress, 'runId' | 'fence'>) {
  let newest: string | null = null;
  let [isResting, isOver] = [false, false];
  const write = () => {
    if (newest === null || isResting || isOver) return;
    const text = newest;
    [newest, isResting] = [null, true];
    store.noteProgress({ ...of, text, at: clock.now() }).catch((error: unknown) => {
      log.warn('progress_not_written', { run_id: of.runId, error: errorText(error) });
    });
    timer.after(progressEveryMs, () => {
      isResting = false;
      write();
    });
  };
  return {
    tell: (text: string): void => {
      newest = text.slice(0, progressLengthMax);
      write();
    },
    /** Words after the end of the attempt are not heard. */
    end: (): void => {
      isOver = true;
    },
  };
}

/** Waits for the work, but no longer than the time given. */
export async function waitAtMost<T>(timer: Pick<Timer, 'after'>, ms: number, work: Promise<T>): Promise<T | 'late'> {
  let callOff = () => {};
  const late = new Promise<'late'>((resolve) => {
    callOff = timer.after(ms, () => resolve('late'));
  });
  return Promise.race([work, late]).finally(() => callOff());
}

/**
 * Lines about one run and what it brought, all of which bear the same trace id: the one of the request that asked for it,
 * or the run's own. What somebody asked for is told at once; what schedules ask for is too much for every day, and is told
 * to whoever looks closely.
 */
interface Traced {
  readonly runId: string | null;
  readonly traceId: string | null;
}

type Event = 'run_started' | 'run_ended' | 'delivery_status';

export function tellTraced(log: Log, event: Event, facts: Traced & Readonly<Record<string, unknown>>): void {
  const { runId, traceId, ...rest } = facts;
  const told = { run_id: runId, trace_id: traceId ?? runId, ...rest };
  if (traceId === null) log.debug(event, told);
  else log.info(event, told);
}
