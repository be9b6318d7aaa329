import type { Policy } from '../../domain/policy.ts';
import { isDelay, nextSlots } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import type { TaskRun, TaskRunQuery, Page } from '../ports/runs.ts';
import type { Planned } from '../ports/why.ts';

/**
 * The coming slots of a task: the next one as it is planned, or the first one after a pause that ends by itself, then those
 * that follow, within its bounds and without those that were skipped in advance.
 */
export function upcoming({ task, ahead }: Planned, count: number): readonly number[] {
  const policy = policyFor(task);
  const taken = task.counters.boundedRuns + ahead.reserved;
  const left = policy.maxRuns === null ? count : Math.min(count, Math.max(0, policy.maxRuns - taken));
  if (left === 0) return [];
  // A delay after the last finish knows only its next slot, and not even that one while its work goes on.
  if (isDelay(task.schedule)) return ahead.awaitsEnd ? [] : comingOf(task, policy, 1);
  const skipped = new Set(ahead.skipped);
  return comingOf(task, policy, left + skipped.size)
    .filter((slot) => !skipped.has(slot))
    .slice(0, left);
}

/** Slots that will run: without a right they are skipped. */
export function underRight(slots: readonly number[], { rightEndsAt }: Pick<Planned['ahead'], 'rightEndsAt'>) {
  return rightEndsAt === null ? slots : slots.filter((slot) => slot < rightEndsAt);
}

/** Slots from a later instant on, for a task that comes so often that its slots are not all looked at before that. */
export function upcomingAfter({ task, ahead }: Planned, after: number, count: number): readonly number[] {
  const skipped = new Set(ahead.skipped);
  return nextSlots(task.schedule, after, { count: count + skipped.size, bounds: policyFor(task) })
    .filter((slot) => !skipped.has(slot))
    .slice(0, count);
}

function comingOf({ nextAt, resumeAt, schedule }: Task, bounds: Policy, count: number): number[] {
  if (nextAt !== null) return [nextAt, ...nextSlots(schedule, nextAt, { count: count - 1, bounds })];
  if (resumeAt === null) return [];
  // A delay begins anew at the end of a pause; any other schedule may have a slot at that very instant.
  return nextSlots(schedule, isDelay(schedule) ? resumeAt : resumeAt - 1, { count, bounds });
}

/** As many as one word can skip, so that the nearest are among them. */
const lookedAt = 100;

/** The runs ahead that a person has skipped, earliest first. Those that lie farthest ahead are the newest rows. */
export async function skippedAhead(
  list: (query: TaskRunQuery) => Promise<Page<TaskRun>>,
  taskId: string,
  now: number,
): Promise<readonly number[]> {
  const { items } = await list({ taskId, status: 'skipped', limit: lookedAt, cursor: null });
  return items
    .filter(({ slotAt, reason }) => slotAt > now && reason === 'skip')
    .map(({ slotAt }) => slotAt)
    .toSorted((a, b) => a - b);
}
