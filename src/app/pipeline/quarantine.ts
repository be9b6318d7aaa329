import { AppError, errorText } from '../../domain/errors.ts';
import type { Log } from '../ports/outside.ts';
import type { Batch, Counts, DueTask, Quarantine, Unreadable } from '../ports/pipeline.ts';

/** Rows that cannot be read, planned or written are marked and left aside, so that they never stop the others. */

/** A batch of rows and what a plan decides about each. */
interface Planned<T, D> {
  readonly take: (at: Batch, plan: (found: readonly T[]) => readonly (D | Quarantine)[]) => Promise<Counts>;
  readonly plan: (found: readonly T[]) => readonly (D | Quarantine)[];
  readonly idOf: (one: T) => string;
}

type Decided<D> = Counts & { readonly decided: readonly (D | Quarantine)[] };

/**
 * Rows that the database refuses for a reason of its own would be refused again in every step, and all would wait behind
 * it. So the batch is taken up task by task, and the one that was refused alone is marked like a row that cannot be read.
 */
export async function takeUp<T, D>(
  { log }: { readonly log: Log },
  at: Batch,
  work: Planned<T, D>,
): Promise<Decided<D>> {
  let decided: readonly (D | Quarantine)[] = [];
  try {
    const counts = await work.take(at, (found) => (decided = work.plan(found)));
    return { ...counts, decided };
  } catch (error) {
    if (!isFault(error)) throw error;
    log.error('batch_refused', { error: error.message });
  }
  const all: (D | Quarantine)[] = [];
  let taken = 0;
  for (let left = at.limit; left > 0; left -= 1) {
    const alone = await takeOne(log, { ...at, limit: 1 }, work);
    all.push(...alone.decided);
    if (alone.taken === 0) break;
    taken += alone.taken;
  }
  return { taken, more: taken > 0, decided: all };
}

async function takeOne<T, D>(log: Log, at: Batch, { take, plan, idOf }: Planned<T, D>): Promise<Decided<D>> {
  let decided: readonly (D | Quarantine)[] = [];
  let refused: string | null = null;
  try {
    const counts = await take(at, (found) => {
      refused = found[0] === undefined ? null : idOf(found[0]);
      return (decided = plan(found));
    });
    return { ...counts, decided };
  } catch (error) {
    if (!isFault(error)) throw error;
    // Another task may stand first by now, and it is not to blame.
    const counts = await take(
      at,
      (found) =>
        (decided = found.map(idOf).flatMap((id) => (id === refused ? [quarantined(log, id, error.message)] : []))),
    );
    return { ...counts, decided };
  }
}

function isFault(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'internal';
}

function quarantined(log: Log, taskId: string, reason: string): Quarantine {
  log.error('task_quarantined', { task_id: taskId, reason });
  return { taskId, quarantine: `unreadable: ${reason}` };
}

/**
 * One bad row never stops the others. Whatever its planning throws is the row's fault: plans are pure, so nothing that
 * another try could mend can happen in them.
 */
export function isolate<T, D extends DueTask>(
  { log }: { readonly log: Log },
  task: D | Unreadable,
  plan: (task: D) => T,
): T | Quarantine {
  if ('unreadable' in task) return quarantined(log, task.id, task.unreadable);
  try {
    return plan(task);
  } catch (error) {
    return quarantined(log, task.id, errorText(error));
  }
}
