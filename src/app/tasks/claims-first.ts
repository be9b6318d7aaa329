import { claimOf, type ClaimMaker } from '../pipeline/claims.ts';
import type { Claim, DueTask } from '../ports/pipeline.ts';
import type { TaskScene } from '../ports/tasks.ts';

export type ClaimFirst = ClaimMaker;

export interface ClaimedScene {
  readonly claims: readonly Claim[];
  /** The next slot once those are claimed; null when the task is not active, or is completed by them. */
  readonly nextAt: number | null;
}

/** A year of missed minutes is about 500 steps; more than this is a fault of the plan, not an outage. */
const stepsMax = 10_000;

/**
 * An edit keeps occurrences that are due already: whatever a person changes, the slots up to now are taken up first, in
 * the same transaction, as the scheduler would have done a moment later.
 */
export function claimsFirst(maker: ClaimFirst, scene: TaskScene, now: number): ClaimedScene {
  const claims: Claim[] = [];
  let due = scene.due;
  while (due !== null && due.nextAt <= now && claims.length < stepsMax) {
    const claim = readableClaim(maker, due, now);
    if (claim === null) break;
    claims.push(claim);
    due = claim.nextAt === null ? null : { ...claimed(due, claim), nextAt: claim.nextAt };
  }
  return { claims, nextAt: due?.nextAt ?? null };
}

/** A task as the next claim finds it: what was dispatched lives, what was put in line waits, and both count. */
function claimed(due: DueTask, { occurrences, runs, replaces }: Claim): DueTask {
  const waiting = occurrences.filter(({ status, decideBy }) => status === 'pending' && decideBy === null).length;
  return {
    ...due,
    live: due.live + runs.length,
    boundedRuns: due.boundedRuns + runs.length,
    // Where a newer run replaces an older one, those that waited before give way.
    waiting: replaces ? waiting : due.waiting + waiting,
    reserved: replaces ? waiting : due.reserved + waiting,
  };
}

/** Slots of a row that cannot be read are the scheduler's to report; nobody is kept from pausing or deleting it. */
function readableClaim(maker: ClaimFirst, due: DueTask, now: number): Claim | null {
  try {
    return claimOf(maker, due, now);
  } catch {
    return null;
  }
}
