import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { list, raw, sql } from '../engine/sql.ts';
import { updateReturning } from '../engine/statements.ts';
import { tellComplete } from '../records/journal.ts';

/**
 * The count for `max_runs`: runs that slots asked for since the timing last changed. Each holds a place from its admission on.
 * It is counted when it ends after it has begun; one that never began just lets its place go.
 */

export interface Spent {
  readonly id: string;
  readonly boundedRuns: number;
}

/** Counts runs that have ended otherwise than by an attempt, those of them that had begun. Their tasks are locked. Answers which of them are complete. */
export function* countBegun(runIds: readonly string[], now: number): Script<Spent[]> {
  const counted: string[] = [];
  for (const id of runIds) {
    const tasks = yield* updateReturning(
      'tasks',
      { boundedRuns: raw('bounded_runs + 1') },
      sql`id = (select r.task_id from runs r join occurrences o on o.id = r.occurrence_id
        where r.id = ${id} and r.attempts > 0 and o.source in ('schedule', 'catch_up')
          and r.task_version >= tasks.bounded_since)`,
      pick(columns.tasks, 'id'),
    );
    counted.push(...tasks.map((task) => task.id));
  }
  return yield* completeSpent(counted, now);
}

/** Tasks whose last allowed run has ended are completed. Answers which, with the count. */
export function* completeSpent(taskIds: readonly string[], now: number): Script<Spent[]> {
  if (taskIds.length === 0) return [];
  const spent = yield* updateReturning(
    'tasks',
    { state: 'completed', nextAt: null },
    sql`id in ${list(taskIds)} and state = 'active' and bounded_runs >= max_runs`,
    pick(columns.tasks, 'id', 'boundedRuns'),
  );
  yield* tellComplete(
    spent.map(({ id }) => id),
    now,
  );
  return spent;
}
