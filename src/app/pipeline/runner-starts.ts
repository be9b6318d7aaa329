import { grantEnded } from '../../domain/grant.ts';
import * as limits from '../../domain/limits.ts';
import type { Actions } from '../actions/registry.ts';
import { noticesOf } from './end-notices.ts';
import type { Ids, Log } from '../ports/outside.ts';
import type { StartableRun, StartPlan, Unreadable } from '../ports/pipeline.ts';

interface Needs {
  readonly actions: Actions;
  readonly ids: Ids;
  readonly log: Log;
}

/** Whether a claimed run may start, or how it ends without an attempt. */
export function startPlan({ actions, ids, log }: Needs, run: StartableRun | Unreadable, now: number): StartPlan {
  if ('unreadable' in run) {
    log.error('run_unreadable', { run_id: run.id, reason: run.unreadable });
    return ended(run.id, { status: 'failed', occurrence: 'failed', error: `unreadable: ${run.unreadable}` });
  }
  const interrupted = run.status === 'running';
  const refused = refusal(actions, run, now);
  if (refused !== null) {
    const { status, error } = refused;
    const notices = noticesOf(ids, run, { status, error, attempts: run.attempts, finishedAt: now });
    return { ...ended(run.id, refused), interrupted, notices };
  }
  return { runId: run.id, does: 'start', interrupted };
}

interface Refusal {
  readonly status: 'failed' | 'cancelled';
  readonly occurrence: 'failed' | 'cancelled' | 'skipped';
  readonly reason?: Extract<StartPlan, { does: 'end' }>['reason'];
  readonly error: string;
}

function ended(runId: string, { reason = null, ...refusal }: Refusal): Extract<StartPlan, { does: 'end' }> {
  return { runId, does: 'end', interrupted: false, reason, ...refusal };
}

function refusal(actions: Actions, run: StartableRun, now: number): Refusal | null {
  if (run.cancelRequested)
    return { status: 'cancelled', occurrence: 'cancelled', reason: 'cancelled', error: 'cancelled' };
  if (run.taskState === 'deleted') {
    return { status: 'cancelled', occurrence: 'cancelled', reason: 'deleted', error: 'the task was deleted' };
  }
  const action = actions.get(run.input.action.kind);
  if (action === undefined) {
    const error = `there is no action "${run.input.action.kind}"`;
    return { status: 'failed', occurrence: 'failed', error };
  }
  const fault = run.taskId === null ? null : grantEnded(run.grant, now);
  if (fault !== null) return { status: 'cancelled', occurrence: 'skipped', reason: fault, error: fault };
  return run.status === 'running' ? afterCrash(action.repeatable(run.input.action), run) : null;
}

/** An attempt lost in a crash costs no retry, but it is repeated only if that does no harm, and not for ever. */
function afterCrash(repeatable: boolean, run: StartableRun): Refusal | null {
  if (!repeatable) return { status: 'failed', occurrence: 'failed', error: 'interrupted, effects unknown' };
  if (run.interruptions + 1 < limits.interruptionsMax) return null;
  return { status: 'failed', occurrence: 'failed', error: `interrupted ${limits.interruptionsMax} times` };
}
