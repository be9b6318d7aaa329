import { slotsPerStepMax } from '../../domain/limits.ts';
import { nextSlots } from '../../domain/schedule/schedule.ts';
import { policyFor } from '../requests.ts';
import type { SampledTask } from './store.ts';

export interface Window {
  readonly from: number;
  readonly through: number;
}

/**
 * The slots of the window for which nothing stands: no row, no gap. Whatever lies before the next slot of a task must have
 * been decided. A row that cannot be read, or a schedule that cannot be computed, is the scheduler's to report.
 */
export function unaccountedSlots({ task, slots, gaps }: SampledTask, { from, through }: Window): readonly number[] {
  if ('unreadable' in task) return [];
  const known = new Set(slots);
  return slotsOf(task, { from, through: Math.min(through, task.nextAt - 1) }).filter(
    (slot) => !known.has(slot) && !gaps.some((gap) => gap.fromAt <= slot && slot <= gap.toAt),
  );
}

function slotsOf(task: Exclude<SampledTask['task'], { unreadable: string }>, { from, through }: Window): number[] {
  try {
    const { startAt, until } = policyFor(task);
    return nextSlots(task.schedule, from, { count: slotsPerStepMax, upTo: through, bounds: { startAt, until } });
  } catch {
    return [];
  }
}
