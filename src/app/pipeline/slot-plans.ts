import { openFrom, planDue, type PlannedOccurrence } from '../../domain/due.ts';
import { grantFault, type GrantFault, type ScopesOf } from '../../domain/grant.ts';
import type { Policy } from '../../domain/policy.ts';
import type { NewRun } from '../../domain/run.ts';
import { isDelay, isSlot, nextSlot, type Schedule } from '../../domain/schedule/schedule.ts';
import { isDeliverable } from '../../domain/thread.ts';
import type { Ids } from '../ports/outside.ts';
import type { SlotPlan, DueTask, NewOccurrence } from '../ports/pipeline.ts';
import { type RunService, policyFor, requestOf } from './run-requests.ts';

export interface SlotPlanDeps {
  readonly runs: Pick<RunService, 'prepare'>;
  readonly ids: Ids;
  readonly scopesOf: ScopesOf;
}

/** Decides about the due slots of one task, with the runs of those that are admitted at once. */
export function planSlots(maker: SlotPlanDeps, task: DueTask, now: number): SlotPlan {
  const { schedule, nextAt, boundedRuns, held, live, waiting, reserved, skipped } = task;
  const policy = policyFor(task);
  const fault = grantFault(task.grant, maker.scopesOf(task.action), now);
  // Slots that nobody may run use up no bound and stop no run.
  const allowed: Policy = fault === null ? policy : { ...policy, maxRuns: null, overlap: 'allow' };
  const plan = planDue({ schedule, policy: allowed, nextAt, boundedRuns, held, live, waiting, reserved, skipped }, now);
  const occurrences: NewOccurrence[] = [];
  const runs: NewRun[] = [];
  for (const planned of plan.occurrences) {
    const { slotAt, source, status, reason, decideBy } = permitted(planned, fault);
    const id = maker.ids.next();
    const request = requestOf(task, policy, {
      occurrenceId: id,
      slotAt,
      source,
    });
    const run = status === 'dispatched' ? maker.runs.prepare(request, now) : null;
    if (run !== null) runs.push(run);
    occurrences.push({ id, slotAt, source, status, reason, decideBy, runId: run?.id ?? null, lateMs: now - slotAt });
  }
  const gap = plan.gap === null ? null : { ...plan.gap, id: maker.ids.next() };
  return {
    taskId: task.id,
    expectNextAt: nextAt,
    occurrences,
    runs,
    gap,
    nextAt: plan.nextAt,
    replaces: plan.replaces,
    ...(isDeliverable(task) && occurrences.some(isQuestion) ? { questionId: maker.ids.next() } : {}),
  };
}

function isQuestion({ status, decideBy }: NewOccurrence): boolean {
  return status === 'pending' && decideBy !== null;
}

/** The next slot as the definition of a task names it, seen from now; null when there is none any more. */
export function slotFromNow(
  task: Pick<DueTask, 'schedule' | 'policies' | 'action' | 'minGapMs' | 'skipped' | 'nextAt'>,
  now: number,
): number | null {
  const { schedule, skipped, nextAt } = task;
  const policy = policyFor(task);
  // Nothing but its own slot can be meant, even one that has passed: the step decides about it.
  if (schedule.kind === 'once') return schedule.onceAt;
  if (!isDelay(schedule)) return openFrom({ schedule, policy, skipped }, nextSlot(schedule, now, policy));
  // It counts from the end of a run that nobody names any more, so only a slot too far away is none.
  const farthest = nextSlot(schedule, Math.max(now, ...skipped), { startAt: policy.startAt });
  const next = Math.min(nextAt, farthest ?? Infinity);
  return farthest === null || next > (policy.until ?? Infinity) ? null : next;
}

/** A delay after the last finish has one slot to come; any other instant would do as well as it. */
export function isSlotOf(
  { schedule, nextAt }: { readonly schedule: Schedule; readonly nextAt: number | null },
  instant: number,
): boolean {
  if (isDelay(schedule)) return instant === nextAt;
  try {
    return isSlot(schedule, instant);
  } catch {
    // A schedule that cannot be read has no slots; running by hand is how a person finds out.
    return false;
  }
}

/** The right to run is checked when the slot is taken up, and again when the run starts. */
function permitted(planned: PlannedOccurrence, fault: GrantFault | null): PlannedOccurrence {
  if (fault === null || planned.status === 'skipped' || planned.status === 'missed') return planned;
  return { ...planned, status: 'skipped', reason: fault, decideBy: null };
}
