import { AppError } from '../../domain/errors.ts';
import { actionScope, grantFault } from '../../domain/grant.ts';
import * as limits from '../../domain/limits.ts';
import type { PlannedOccurrence } from '../../domain/due.ts';
import { isSlot } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import type { TaskScene } from '../ports/tasks.ts';

/** What every occurrence has in common that a person asks for beside the schedule. */

/** When it is asked for, and in the course of which request. */
export interface ByHand {
  readonly now: number;
  readonly traceId?: string | null | undefined;
}

/** The first free millisecond that is no slot, so that the key of a run by hand never takes the key of a slot. */
export function freeSlot({ task, taken }: TaskScene, from: number): number {
  for (let slotAt = from; slotAt < from + limits.freeSlotTriesMax; slotAt += 1) {
    if (!taken.has(slotAt) && !isSlotOf(task, slotAt)) return slotAt;
  }
  throw new AppError('run_in_progress', 'This task was run too often within one second; try again.');
}

/** A delay after the last finish has one slot to come; any other instant would do as well as it. */
function isSlotOf({ schedule, nextAt }: Pick<Task, 'schedule' | 'nextAt'>, instant: number): boolean {
  const delay = schedule.kind === 'interval' && schedule.from === 'completion';
  if (delay) return instant === nextAt;
  try {
    return isSlot(schedule, instant);
  } catch {
    // A schedule that cannot be read has no slots; running by hand is how a person finds out.
    return false;
  }
}

export type Admitted = Pick<PlannedOccurrence, 'status' | 'reason'>;

/** Dispatched, or skipped for want of the right; null when a live run excludes it. */
export function admitted(scene: TaskScene, overlap: string, now: number): Admitted | null {
  const fault = grantFault(scene.grant, actionScope(scene.task.action.kind), now);
  if (fault !== null) return { status: 'skipped', reason: fault };
  return scene.live.length === 0 || overlap === 'allow' ? { status: 'dispatched', reason: null } : null;
}

export function runInProgress({ live }: TaskScene): AppError {
  return new AppError('run_in_progress', 'This task is running now. Wait for that run to end, or cancel it.', {
    details: { run_id: live[0]?.id },
  });
}
