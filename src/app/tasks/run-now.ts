import { AppError } from '../../domain/errors.ts';
import { actionScope, grantFault } from '../../domain/grant.ts';
import * as limits from '../../domain/limits.ts';
import type { PlannedOccurrence } from '../../domain/due.ts';
import { isSlot } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import type { ClaimMaker } from '../claims.ts';
import type { TaskChange, TaskScene } from '../task-store.ts';
import { policyFor, requestOf, type RunnableTask } from '../requests.ts';
import { notFound } from './verbs.ts';

/**
 * Runs a task by hand, now, whether it is active or not. The schedule is not touched and no bound is counted. Where the
 * overlap policy lets only one run live, a live run refuses it by name instead of swallowing it.
 */
export function planRunNow(maker: ClaimMaker, scene: TaskScene, now: number): TaskChange {
  const { task } = scene;
  if (task.state === 'deleted') throw notFound();
  const policy = policyFor(task);
  const { status, reason, replaces } = admission(scene, policy.overlap, now);
  const slotAt = freeSlot(scene, now);
  const id = maker.ids.next();
  const runnable: RunnableTask = { ...task, provider: task.home.provider };
  const request = { occurrenceId: id, slotAt, late: false, priority: limits.priorityRunNow, byHand: true };
  const run = status === 'dispatched' ? maker.runs.prepare(requestOf(runnable, policy, request), now) : null;
  return {
    claims: [],
    set: {},
    stamp: null,
    manual: {
      occurrence: { id, slotAt, source: 'run_now', status, reason, decideBy: null, runId: run?.id ?? null, lateMs: 0 },
      run,
    },
    endWaiting: replaces ? 'replaced' : null,
    cancelLive: replaces,
    scopes: null,
    audit: { verb: 'run_now', before: null, after: { scheduled_for: new Date(slotAt).toISOString(), status } },
  };
}

type Admitted = Pick<PlannedOccurrence, 'status' | 'reason'> & { readonly replaces: boolean };

function admission(scene: TaskScene, overlap: string, now: number): Admitted {
  const fault = grantFault(scene.grant, actionScope(scene.task.action.kind), now);
  if (fault !== null) return { status: 'skipped', reason: fault, replaces: false };
  const [live] = scene.live;
  if (live === undefined || overlap === 'allow') return { status: 'dispatched', reason: null, replaces: false };
  if (overlap === 'replace') return { status: 'pending', reason: 'overlap', replaces: true };
  if (overlap === 'queue' && scene.waiting < limits.queueLengthMax)
    return { status: 'pending', reason: 'overlap', replaces: false };
  throw new AppError('run_in_progress', 'This task is running now. Wait for that run to end, or cancel it.', {
    details: { run_id: live.id },
  });
}

/** The first free millisecond that is no slot, so that the key of a run by hand never takes the key of a slot. */
function freeSlot({ task, taken }: TaskScene, now: number): number {
  for (let slotAt = now; slotAt < now + limits.freeSlotTriesMax; slotAt += 1) {
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
