import { AppError } from '../../domain/errors.ts';
import { policyOf } from '../../domain/policy.ts';
import { nextSlot } from '../../domain/schedule/schedule.ts';
import type { TaskChange, TaskScene } from '../task-store.ts';
import type { ClaimedScene } from './claims-first.ts';
import { exhausted, isUnreadable, unreadableRow } from './edit.ts';

/** The simple verbs. Each is idempotent: a task that is already there stays as it is, and no audit row is written. */

interface Scene extends ClaimedScene {
  readonly scene: TaskScene;
  readonly now: number;
}

const nothing: TaskChange = {
  claims: [],
  set: {},
  stamp: null,
  manual: null,
  endWaiting: null,
  cancelLive: false,
  scopes: null,
  audit: null,
};

export function planPause({ scene, claims, nextAt }: Scene): TaskChange {
  refuseDeleted(scene);
  // A task that its last due slot has just completed has nothing to pause.
  if (scene.task.state !== 'active' || nextAt === null) return { ...nothing, claims };
  return {
    ...nothing,
    claims,
    set: { state: 'paused', nextAt: null, pausedReason: 'manual' },
    stamp: 'paused',
    endWaiting: 'paused',
    audit: { verb: 'pause', before: { state: 'active' }, after: { state: 'paused', reason: 'manual' } },
  };
}

/** Going on never replays: the next slot is the first one after now. */
export function planResume({ scene, claims, now }: Scene): TaskChange {
  refuseDeleted(scene);
  const { task } = scene;
  if (task.state === 'active') return { ...nothing, claims };
  if (isUnreadable(task)) throw unreadableRow(task);
  const policy = policyOf(task.policies, { actionKind: task.action.kind, minGapMs: task.minGapMs });
  const next = nextSlot(task.schedule, now, { startAt: policy.startAt, until: policy.until });
  const spent = policy.maxRuns !== null && task.counters.boundedRuns >= policy.maxRuns;
  if (next === null || spent) throw exhausted();
  return {
    ...nothing,
    set: { state: 'active', nextAt: next, pausedReason: null, consecutiveFailures: 0 },
    stamp: 'resumed',
    audit: { verb: 'resume', before: { state: task.state, reason: task.pausedReason }, after: { state: 'active' } },
  };
}

/** The row stays, so that history keeps its meaning; what waits ends, and what runs is asked to stop. */
export function planDelete({ scene, claims }: Scene): TaskChange {
  refuseDeleted(scene);
  return {
    ...nothing,
    claims,
    set: { state: 'deleted', nextAt: null },
    stamp: 'deleted',
    endWaiting: 'deleted',
    cancelLive: true,
    audit: { verb: 'delete', before: { state: scene.task.state }, after: { state: 'deleted' } },
  };
}

export function refuseDeleted({ task }: TaskScene): void {
  if (task.state === 'deleted') throw notFound();
}

export function notFound(): AppError {
  return new AppError('not_found', 'There is no such task.');
}
