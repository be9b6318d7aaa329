import type { Actor } from '../../domain/access.ts';
import { checks, type Finding } from '../../domain/audit.ts';
import { isSpent } from '../../domain/due.ts';
import { errorText } from '../../domain/errors.ts';
import { reconcileMax } from '../../domain/limits.ts';
import { isDelay } from '../../domain/schedule/schedule.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import type { Runner } from '../pipeline/runner.ts';
import { slotFromNow } from '../pipeline/slot-plans.ts';
import type { World } from '../ports/outside.ts';
import type { DueTask, Unreadable } from '../ports/pipeline.ts';
import type { HousekeepingStore, Replanned } from '../ports/upkeep.ts';
import { slotName, type Audit, type Seen } from './audit.ts';

interface ReconcileRequest {
  /** False only tells what was found. */
  readonly fix: boolean;
  readonly actor: Actor;
}

interface Reconciled {
  readonly findings: readonly Finding[];
  readonly fixed: readonly Fixed[];
}

type Fixed = Seen['faults'][number] & { readonly did: string };

export type Reconcile = (request: ReconcileRequest) => Promise<Reconciled>;

interface ReconcileDeps extends Pick<World, 'clock' | 'timer' | 'ids' | 'bell' | 'log'> {
  readonly audit: Pick<Audit, 'look'>;
  readonly store: Pick<HousekeepingStore, 'repair' | 'recordMissing'>;
  readonly runner: Pick<Runner, 'worksOn'>;
  readonly bootId: string;
}

/**
 * The explicit act that mends what a look of its own finds, item by item, each in a transaction of its own with a row in the
 * audit. What cannot be mended safely is only told. Done twice, it finds nothing the second time.
 */
export function createReconcile(deps: ReconcileDeps): Reconcile {
  return async ({ fix, actor }) => {
    const seen = await deps.audit.look();
    if (!fix) return { findings: seen.findings, fixed: [] };
    const fixed: Fixed[] = [];
    for await (const one of repairs(deps, seen, actor)) fixed.push(one);
    if (fixed.length > 0) {
      deps.log.warn('reconciled', { actor, fixed: fixed.length });
      for (const loop of ['scheduler', 'runner', 'deliverer'] as const) deps.bell.ring(loop);
    }
    return { findings: seen.findings, fixed };
  };
}

async function* repairs(deps: ReconcileDeps, seen: Seen, actor: Actor): AsyncGenerator<Fixed> {
  const { store, clock, timer, ids, bootId, runner } = deps;
  const faults = seen.faults.filter(({ check }) => check !== 'slot_unaccounted' && checks[check].mended);
  for (const { check, id } of faults.slice(0, reconcileMax)) {
    // A run that is worked on here ends by its own attempt, whatever its rows look like.
    if (check === 'running_without_attempt' && runner.worksOn(id)) continue;
    const now = clock.now();
    const did = await store.repair({
      check,
      id,
      now,
      actor,
      bootId,
      plan: (task, decided) => planned(task, { decided, now }),
    });
    if (did !== null) yield { check, id, did };
    await timer.yield();
  }
  for (const missing of seen.missing.slice(0, Math.max(reconcileMax - faults.length, 0))) {
    const did = await store.recordMissing({ ...missing, id: ids.next(), now: clock.now(), actor });
    if (did !== null) yield { check: 'slot_unaccounted', id: slotName(missing), did };
    await timer.yield();
  }
}

/**
 * The next slot of an enabled task that has lost it, or whose one is wrong. Slots that passed meanwhile are taken up as after
 * an outage. A task that cannot be planned is paused, so that people see it.
 */
function planned(
  task: DueTask | Unreadable,
  { decided, now }: { readonly decided: number; readonly now: number },
): Replanned {
  if ('unreadable' in task) return { pause: `unreadable: ${task.unreadable}` };
  try {
    const policy = policyFor(task);
    const from = isDelay(task.schedule) ? now : decided;
    return { nextAt: isSpent(policy, task.boundedRuns) ? null : slotFromNow(task, from) };
  } catch (error) {
    return { pause: `unreadable: ${errorText(error)}` };
  }
}
