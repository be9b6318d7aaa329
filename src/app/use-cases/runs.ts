import type { Actor } from '../../domain/access.ts';
import { AppError, missing } from '../../domain/errors.ts';
import { cancelBatchMax, runLooksMax } from '../../domain/limits.ts';
import { liveStatuses } from '../../domain/run.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import type { Timer, World } from '../ports/outside.ts';
import type { RunQuery, RunView, Page } from '../ports/runs.ts';
import type { TaskStore } from '../ports/tasks.ts';

interface By {
  readonly actor: Actor;
  readonly traceId?: string | null | undefined;
}

interface CalledOff {
  readonly cancelled: number;
  /** Runs that ended by themselves before they could be called off. */
  readonly left: number;
}

type RunsDeps = Pick<World, 'clock' | 'timer' | 'bell'> & {
  readonly store: Pick<TaskStore, 'listRuns' | 'readRun' | 'liveRunsOf' | 'cancelRuns'>;
};

/** Runs of the present and the past, whatever asked for them. */
export type Runs = ReturnType<typeof createRuns>;

export function createRuns(deps: RunsDeps) {
  return {
    list: list.bind(null, deps),
    result: result.bind(null, deps),
    cancelThread: cancelThread.bind(null, deps),
  };
}

/** How a run has ended; one that lives is refused with its status. */
async function result({ store }: RunsDeps, runId: string): Promise<RunView> {
  const run = await store.readRun(runId);
  if (run === null) throw missing('run');
  if (!liveStatuses.includes(run.status)) return run;
  const details = { run_id: runId, status: 'running', state: run.status };
  throw new AppError('not_finished', 'This run has not ended yet. Ask again later, or cancel it.', { details });
}

function list({ store, timer }: RunsDeps, query: RunQuery): Promise<Page<RunView>> {
  return filled(timer, query, { most: runLooksMax, look: (part) => store.listRuns(part) });
}

interface Looks<Q, T> {
  readonly look: (query: Q) => Promise<Page<T>>;
  /** Looks that one page may take; a search through a large table ends there, and hands its cursor on. */
  readonly most: number;
}

/** One look of the store may find less than a page; several are worth a request, and others have their turn between. */
export async function filled<T, Q extends Pick<RunQuery, 'limit' | 'cursor'>>(
  timer: Timer,
  query: Q,
  { look, most }: Looks<Q, T>,
): Promise<Page<T>> {
  const items: T[] = [];
  let { cursor } = query;
  for (let looks = 1; ; looks += 1) {
    const page = await look({ ...query, cursor, limit: query.limit - items.length });
    items.push(...page.items);
    cursor = page.next;
    if (cursor === null || items.length >= query.limit || looks >= most) return { items, next: cursor };
    await timer.yield();
  }
}

/** Calls off whatever the thread has under way: what its tasks run, and messages that wait. */
async function cancelThread({ store, clock, timer, bell }: RunsDeps, threadKey: string, by: By): Promise<CalledOff> {
  const thread = parseThreadKey(threadKey);
  let [cancelled, left] = [0, 0];
  for (;;) {
    const runIds = await store.liveRunsOf(thread, cancelBatchMax);
    if (runIds.length === 0) break;
    const stopped = await store.cancelRuns({ runIds, ...by, at: clock.now() });
    cancelled += stopped;
    left += runIds.length - stopped;
    if (runIds.length < cancelBatchMax) break;
    await timer.yield();
  }
  // Runs that waited behind them have their turn, and those that run are told by their runner.
  if (cancelled > 0) for (const loop of ['runner', 'scheduler', 'deliverer'] as const) bell.ring(loop);
  return { cancelled, left };
}
