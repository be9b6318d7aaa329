import type { PlannedOccurrence } from '../../domain/due.ts';
import { AppError, invalid } from '../../domain/errors.ts';
import { grantFault } from '../../domain/grant.ts';
import * as limits from '../../domain/limits.ts';
import type { Reason } from '../../domain/occurrence.ts';
import type { Policy } from '../../domain/policy.ts';
import { wallText } from '../../domain/schedule/schedule.ts';
import { iso, MINUTE_MS } from '../../domain/schedule/time/calendar.ts';
import { policyFor, requestOf, type RunnableTask } from '../pipeline/run-requests.ts';
import { isSlotOf, type SlotPlanDeps } from '../pipeline/slot-plans.ts';
import type { Ids } from '../ports/outside.ts';
import { type TaskScene, noChange, type TaskChange } from '../ports/tasks.ts';
import { refuseDeleted, type VerbScene } from './verbs.ts';

/** Slots that a person decides about alone have no question to them and cannot be late. */
export const onTime = { decideBy: null, runId: null, lateMs: 0 } as const;

/** When an occurrence is asked for beside the schedule, and in the course of which request. */
export interface ByHand {
  readonly now: number;
  readonly traceId?: string | null | undefined;
}

/** The first free millisecond that is no slot, so that the key of a run by hand never takes the key of a slot. */
export function freeSlot({ task, taken }: TaskScene, from: number): number {
  for (let slotAt = from; slotAt < from + limits.freeSlotTriesMax; slotAt += 1) {
    if (!taken.has(slotAt) && !isSlotOf(task, slotAt)) return slotAt;
  }
  throw new AppError('rate_limited', 'This task was run too often within one second; try again.', {
    details: { retry_after_seconds: limits.freeSlotRetrySeconds },
  });
}

type Admitted = Pick<PlannedOccurrence, 'status' | 'reason'>;

/** Dispatched, or skipped for want of the right; null when a live run excludes it. */
export function admitted(scene: TaskScene, scopes: readonly string[], overlap: string, now: number): Admitted | null {
  const fault = grantFault(scene.grant, scopes, now);
  if (fault !== null) return { status: 'skipped', reason: fault };
  return scene.live.length === 0 || overlap === 'allow' ? { status: 'dispatched', reason: null } : null;
}

export function runInProgress({ live }: TaskScene): AppError {
  return new AppError('run_in_progress', 'This task has a run that has not ended. Wait for its end, or cancel it.', {
    details: { run_id: live[0]?.id },
  });
}

/**
 * Runs a task by hand, now, whether it is active or not. The schedule is not touched and no bound is counted. Where the
 * overlap policy lets only one run live, a live run refuses it by name instead of swallowing it.
 */
export function planRunNow(maker: SlotPlanDeps, scene: TaskScene, { now, traceId }: ByHand): TaskChange {
  refuseDeleted(scene);
  const { task } = scene;
  const policy = policyFor(task);
  const { status, reason } =
    admitted(scene, maker.scopesOf(task.action), policy.overlap, now) ?? waiting(scene, policy.overlap);
  const replaces = status === 'pending' && policy.overlap === 'replace';
  const slotAt = freeSlot(scene, now);
  const id = maker.ids.next();
  const runnable: RunnableTask = { ...task, provider: task.home.provider };
  const request = { occurrenceId: id, slotAt, source: 'run_now' } as const;
  const asked = { ...requestOf(runnable, policy, request), traceId };
  const run = status === 'dispatched' ? maker.runs.prepare(asked, now) : null;
  return {
    ...noChange,
    manual: {
      occurrence: { ...onTime, id, slotAt, source: 'run_now', status, reason, runId: run?.id ?? null },
      run,
    },
    endWaiting: replaces ? 'replaced' : null,
    cancelLive: replaces,
    audit: { verb: 'run_now', before: null, after: { scheduled_for: iso(slotAt), status } },
  };
}

/** Behind a live run it waits where the policy has room for that; else that run is named. */
function waiting(scene: TaskScene, overlap: Policy['overlap']): Admitted {
  const hasRoom = overlap === 'replace' || (overlap === 'queue' && scene.waiting < limits.queueLengthMax);
  if (hasRoom) return { status: 'pending', reason: 'overlap' };
  throw runInProgress(scene);
}

/** A snooze as it was asked for, and what it told. */
export interface Snoozed {
  readonly until: number;
  /** The instant that it took the place of, where the same result had been put off before. */
  readonly movedFrom: number | null;
}

/**
 * Brings a result once more at a later time, beside the schedule. Each result has a snooze of its own: putting it off again
 * moves that, and to the same time changes nothing. Where no result is named the latest one is meant.
 */
export function planSnooze(ids: Ids, verbScene: VerbScene, until: number): TaskChange & { told: Snoozed } {
  const { scene, now } = verbScene;
  refuseDeleted(scene);
  refuseOutside(scene, until, now);
  const of = scene.result ?? null;
  const own = scene.snoozes.find(({ replayOf }) => replayOf === of) ?? null;
  const movedFrom = own?.slotAt ?? null;
  // The instant may have moved by a few milliseconds to one that is free, so the two are compared as they are stored.
  const others = { ...scene, taken: new Set([...scene.taken].filter((slot) => slot !== movedFrom)) };
  const slotAt = freeSlot(others, until);
  const told = { until: slotAt, movedFrom: slotAt === movedFrom ? null : movedFrom };
  if (slotAt === movedFrom) return { ...noChange, told };
  if (own === null && scene.snoozes.length >= limits.snoozesMax) throw tooManySnoozes();
  const occurrence = { ...onTime, id: ids.next(), slotAt, source: 'snooze', status: 'pending', reason: null } as const;
  return {
    ...noChange,
    ...(movedFrom === null ? {} : endingSnooze(verbScene, movedFrom, 'replaced')),
    manual: { occurrence: of === null ? occurrence : { ...occurrence, replayOf: of }, run: null },
    audit: {
      verb: 'snooze',
      before: movedFrom === null ? null : { until: iso(movedFrom) },
      after: { until: iso(slotAt), ...(of === null ? {} : { of }) },
    },
    told,
  };
}

/** A timing that came after the snooze may mean its instant: then that is a slot of the schedule again. */
export function endingSnooze({ scene: { task }, claims, nextAt }: VerbScene, slotAt: number, reason: Reason) {
  const endSnooze = { slotAt, reason };
  if (!isSlotOf(task, slotAt)) return { endSnooze };
  const isNext = nextAt !== null && slotAt < nextAt;
  return { endSnooze, unskip: [slotAt], ...(isNext ? { claims, set: { nextAt: slotAt } } : {}) };
}

function tooManySnoozes(): AppError {
  return invalid('until', `This task has ${limits.snoozesMax} snoozes already. Let one come, or move one of them.`);
}

function refuseOutside({ task }: TaskScene, until: number, now: number): void {
  if (until > now && until - now <= limits.snoozeMaxMs) return;
  const latest = wallText(now + limits.snoozeMaxMs, task.schedule.timezone);
  throw invalid('until', `A snooze ends in the future, by ${latest} at the latest.`);
}

/** A wait of whole minutes counts from the running minute, so that nothing comes amid one. */
export function afterWait(now: number, ms: number): number {
  return (ms % MINUTE_MS === 0 ? Math.floor(now / MINUTE_MS) * MINUTE_MS : now) + ms;
}
