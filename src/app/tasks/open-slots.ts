import { nextSlot } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import { policyFor } from '../pipeline/requests.ts';

/** The first slot after an instant that has no row of its own: a person may have skipped some in advance. */
export function nextOpenSlot(
  task: Pick<Task, 'schedule' | 'policies' | 'action' | 'minGapMs'>,
  after: number,
  taken: ReadonlySet<number>,
): number | null {
  const { startAt, until } = policyFor(task);
  let next = nextSlot(task.schedule, after, { startAt, until });
  while (next !== null && taken.has(next)) next = nextSlot(task.schedule, next, { startAt, until });
  return next;
}
