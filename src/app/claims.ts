import { planDue, type PlannedOccurrence } from '../domain/due.ts';
import { actionScope, grantFault, type GrantFault } from '../domain/grant.ts';
import type { Policy } from '../domain/policy.ts';
import type { Ids } from './ports.ts';
import type { Claim, DueTask, NewOccurrence } from './store.ts';
import { policyFor, requestOf } from './requests.ts';
import type { RunService } from './run-service.ts';

export interface ClaimMaker {
  readonly runs: Pick<RunService, 'prepare'>;
  readonly ids: Ids;
}

/** What becomes of the due slots of one task, with the runs of those that are admitted at once. */
export function claimOf({ runs, ids }: ClaimMaker, task: DueTask, now: number): Claim {
  const policy = policyFor(task);
  const fault = grantFault(task.grant, actionScope(task.action.kind), now);
  // Slots that nobody may run use up no bound and stop no run.
  const plan = planDue(
    { ...task, policy: fault === null ? policy : { ...policy, maxRuns: null, overlap: 'allow' } },
    now,
  );
  const place = (planned: PlannedOccurrence): NewOccurrence => ({
    ...permitted(planned, fault),
    id: ids.next(),
    runId: null,
    lateMs: now - planned.slotAt,
  });
  const occurrences = plan.occurrences.map(place);
  const made = occurrences.map((occurrence) =>
    occurrence.status === 'dispatched' ? dispatch({ runs, task, policy, now }, occurrence) : { occurrence, run: null },
  );
  return {
    taskId: task.id,
    expectNextAt: task.nextAt,
    occurrences: made.map(({ occurrence }) => occurrence),
    runs: made.flatMap(({ run }) => (run === null ? [] : [run])),
    gap: plan.gap === null ? null : { ...plan.gap, id: ids.next() },
    nextAt: plan.nextAt,
    replaces: plan.replaces,
  };
}

/** The right to run is checked when the slot is taken up, and again when the run starts. */
function permitted(planned: PlannedOccurrence, fault: GrantFault | null): PlannedOccurrence {
  if (fault === null || planned.status === 'skipped' || planned.status === 'missed') return planned;
  return { ...planned, status: 'skipped', reason: fault, decideBy: null };
}

interface Dispatching {
  readonly runs: ClaimMaker['runs'];
  readonly task: DueTask;
  readonly policy: Policy;
  readonly now: number;
}

function dispatch({ runs, task, policy, now }: Dispatching, occurrence: NewOccurrence) {
  const request = requestOf(task, policy, {
    occurrenceId: occurrence.id,
    slotAt: occurrence.slotAt,
    late: occurrence.source === 'catch_up',
    priority: policy.priority,
    byHand: false,
  });
  const run = runs.prepare(request, now);
  return { occurrence: { ...occurrence, runId: run.id }, run };
}
