import { policyOf } from '../domain/policy.ts';
import { nextSlots } from '../domain/schedule/schedule.ts';
import type { Task } from '../domain/task.ts';

/** What is coming for a task: the next slot as it is planned, then those that follow, within its bounds. */
export function upcoming(task: Task, count: number): readonly number[] {
  if (task.nextAt === null) return [];
  const { startAt, until, maxRuns } = policyOf(task.policies, {
    actionKind: task.action.kind,
    minGapMs: task.minGapMs,
  });
  const left = maxRuns === null ? count : Math.min(count, Math.max(0, maxRuns - task.counters.boundedRuns));
  if (left === 0) return [];
  // A delay after the last finish knows only its next slot: the others depend on when the work ends.
  if (task.schedule.kind === 'interval' && task.schedule.from === 'completion') return [task.nextAt];
  return [task.nextAt, ...nextSlots(task.schedule, task.nextAt, { count: left - 1, bounds: { startAt, until } })];
}
