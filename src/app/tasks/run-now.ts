import * as limits from '../../domain/limits.ts';
import type { Policy } from '../../domain/policy.ts';
import type { ClaimMaker } from '../pipeline/claims.ts';
import { noChange, type TaskChange, type TaskScene } from '../ports/tasks.ts';
import { policyFor, requestOf, type RunnableTask } from '../pipeline/requests.ts';
import { admitted, freeSlot, runInProgress, type Admitted, type ByHand } from './by-hand.ts';
import { refuseDeleted } from './refusals.ts';

/**
 * Runs a task by hand, now, whether it is active or not. The schedule is not touched and no bound is counted. Where the
 * overlap policy lets only one run live, a live run refuses it by name instead of swallowing it.
 */
export function planRunNow(maker: ClaimMaker, scene: TaskScene, { now, traceId }: ByHand): TaskChange {
  refuseDeleted(scene);
  const { task } = scene;
  const policy = policyFor(task);
  const { status, reason } = admitted(scene, policy.overlap, now) ?? waiting(scene, policy.overlap);
  const replaces = status === 'pending' && policy.overlap === 'replace';
  const slotAt = freeSlot(scene, now);
  const id = maker.ids.next();
  const runnable: RunnableTask = { ...task, provider: task.home.provider };
  const request = { occurrenceId: id, slotAt, late: false, priority: limits.priorityRunNow, byHand: true };
  const asked = { ...requestOf(runnable, policy, request), traceId };
  const run = status === 'dispatched' ? maker.runs.prepare(asked, now) : null;
  return {
    ...noChange,
    manual: {
      occurrence: { id, slotAt, source: 'run_now', status, reason, decideBy: null, runId: run?.id ?? null, lateMs: 0 },
      run,
    },
    endWaiting: replaces ? 'replaced' : null,
    cancelLive: replaces,
    audit: { verb: 'run_now', before: null, after: { scheduled_for: new Date(slotAt).toISOString(), status } },
  };
}

/** Behind a live run it waits where the policy has room for that; else that run is named. */
function waiting(scene: TaskScene, overlap: Policy['overlap']): Admitted {
  const hasRoom = overlap === 'replace' || (overlap === 'queue' && scene.waiting < limits.queueLengthMax);
  if (hasRoom) return { status: 'pending', reason: 'overlap' };
  throw runInProgress(scene);
}
