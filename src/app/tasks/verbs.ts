import { isSpent } from '../../domain/due.ts';
import { AppError, invalid, missing } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import { wallText, nextSlot } from '../../domain/schedule/schedule.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { ownerGonePause, type Task } from '../../domain/task.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import { planSlots, type SlotPlanDeps } from '../pipeline/slot-plans.ts';
import type { SlotPlan, DueTask } from '../ports/pipeline.ts';
import type { MissedAnswer } from '../ports/questions.ts';
import { noChange, type AuditRow, type TaskChange, type TaskScene } from '../ports/tasks.ts';

/** The simple verbs. Each is idempotent: a task that is already there stays as it is, and no audit row is written. */

export interface VerbScene extends ClaimedScene {
  readonly scene: TaskScene;
  readonly now: number;
}

/** Until a person says otherwise, or until an instant. */
export function planPause({ scene, claims, nextAt, now }: VerbScene, until: number | null): TaskChange {
  refuseDeleted(scene);
  const { task } = scene;
  if (until !== null) refusePauseUntil(task, until, now);
  if (task.state === 'paused') return repause(task, until);
  // A task that its last due slot has just completed has nothing to pause.
  if (task.state !== 'active' || nextAt === null) return { ...noChange, claims };
  return {
    ...noChange,
    claims,
    set: { state: 'paused', nextAt: null, pausedReason: 'manual', resumeAt: until },
    stamp: 'paused',
    endWaiting: 'paused',
    audit: { verb: 'pause', before: { state: 'active' }, after: { reason: 'manual', ...untilFact(until) } },
  };
}

/** A task that is paused already only gets another end of its pause, and where it waited for its owner another reason. */
function repause(task: Task, until: number | null): TaskChange {
  const waits = task.pausedReason === ownerGonePause;
  if (task.resumeAt === until && !waits) return noChange;
  if (isUnreadable(task)) throw unreadableRow(task);
  // From now on it is a person's pause, which the return of the owner does not end.
  const pausedReason = waits ? 'manual' : task.pausedReason;
  return {
    ...noChange,
    set: { resumeAt: until, pausedReason },
    stamp: 'paused',
    audit: {
      verb: 'pause',
      before: pauseFacts(task),
      after: { reason: pausedReason, ...untilFact(until) },
    },
  };
}

function refusePauseUntil({ schedule }: Task, until: number, now: number): void {
  if (until > now && until - now <= limits.pauseMaxMs) return;
  const latest = wallText(now + limits.pauseMaxMs, schedule.timezone);
  throw invalid('until', `A pause ends in the future, by ${latest} at the latest.`);
}

/** Going on never replays: the next slot is the first one after now that nobody skipped. */
export function planResume({ scene, claims, now }: VerbScene): TaskChange {
  refuseDeleted(scene);
  const { task } = scene;
  if (task.state === 'active') return { ...noChange, claims };
  if (isUnreadable(task)) throw unreadableRow(task);
  const next = openNext(scene, now);
  if (next === null) throw exhausted();
  return {
    ...noChange,
    set: goingOn(next),
    stamp: 'resumed',
    audit: {
      verb: 'resume',
      before: pauseFacts(task),
      after: { next_run_at: iso(next) },
    },
  };
}

/** Without a next slot nothing is left to run. */
export function goingOn(nextAt: number | null): TaskChange['set'] {
  const state = nextAt === null ? 'completed' : 'active';
  return { state, nextAt, pausedReason: null, resumeAt: null, consecutiveFailures: 0 };
}

export function openNext({ task, taken }: TaskScene, now: number): number | null {
  return isSpent(policyFor(task), task.counters.boundedRuns) ? null : nextOpenSlot(task, now, taken);
}

/** The row stays, so that history keeps its meaning; what waits ends, and what runs is asked to stop. */
export function planDelete({ scene, claims }: VerbScene): TaskChange {
  refuseDeleted(scene);
  const { task } = scene;
  return {
    ...noChange,
    claims,
    set: { state: 'deleted', nextAt: null, resumeAt: null },
    stamp: 'deleted',
    endWaiting: 'deleted',
    cancelLive: true,
    audit: {
      verb: 'delete',
      before: { state: task.state, ...pauseFacts(task) },
      after: { state: 'deleted' },
    },
  };
}

/**
 * Brings a deleted task back to where it stood, for a day. What it had to run meanwhile is not made up for; a task with
 * nothing left to run comes back as completed.
 */
export function planRestore({ scene, now }: VerbScene): TaskChange {
  const { task } = scene;
  if (task.state !== 'deleted' || task.deleted === null) return noChange;
  if (now - task.deleted.at > limits.undoMs) {
    throw new AppError('too_late', 'This task was deleted more than 24 hours ago. Create it again.', {
      details: { reason: 'deleted_long_ago' },
    });
  }
  const set = restoredState(scene, now);
  return {
    ...noChange,
    set,
    stamp: 'restored',
    audit: { verb: 'restore', before: { state: 'deleted' }, after: { state: set.state } },
  };
}

function restoredState(scene: TaskScene, now: number): TaskChange['set'] & { readonly state: Task['state'] } {
  const { task, recent } = scene;
  const deletion = recent.find(({ verb }) => verb === 'delete');
  const before = deletion?.stateBefore ?? 'active';
  if (isUnreadable(task)) return { state: 'paused', nextAt: null };
  if (before === 'paused') return { state: 'paused', nextAt: null, resumeAt: resumeOf(deletion, now) };
  const nextAt = before === 'active' ? openNext(scene, now) : null;
  return { state: nextAt === null ? 'completed' : 'active', nextAt };
}

/** The end of a pause that has passed meanwhile is now. */
function resumeOf(deletion: AuditRow | undefined, now: number): number | null {
  const until = deletion?.before?.['until'];
  return typeof until === 'string' ? Math.max(Date.parse(until), now) : null;
}

/** Calls off what runs now; what waits behind it has its turn. */
export function planCancel({ scene, claims }: VerbScene): TaskChange {
  refuseDeleted(scene);
  if (scene.live.length === 0) return { ...noChange, claims };
  return {
    ...noChange,
    claims,
    cancelLive: true,
    audit: { verb: 'cancel', before: null, after: { run_ids: scene.live.map(({ id }) => id) } },
  };
}

/** Says whether the slots that were missed run after all. */
export function planAnswer({ scene, claims }: VerbScene, choice: MissedAnswer): TaskChange {
  refuseDeleted(scene);
  const { questions } = scene;
  if (questions.length === 0) {
    throw new AppError('nothing_to_answer', 'No missed run of this task waits for an answer.');
  }
  const run = choice === 'all' ? questions : choice === 'latest' ? questions.slice(-1) : [];
  const skip = questions.slice(0, questions.length - run.length);
  return {
    ...noChange,
    claims,
    answer: { run, skip },
    audit: {
      verb: 'answer',
      before: null,
      after: { answer: choice, run: run.length > 0, task_run_ids: run.length > 0 ? run : skip },
    },
  };
}

/** The first slot after an instant that has no row of its own: a person may have skipped some in advance. */
export function nextOpenSlot(
  task: Pick<Task, 'schedule' | 'policies' | 'action' | 'minGapMs'>,
  after: number,
  taken: ReadonlySet<number>,
): number | null {
  const bounds = policyFor(task);
  let next = nextSlot(task.schedule, after, bounds);
  while (next !== null && taken.has(next)) next = nextSlot(task.schedule, next, bounds);
  return next;
}

export interface ClaimedScene {
  readonly claims: readonly SlotPlan[];
  /** The next slot once those are claimed; null when the task is not active, or is completed by them. */
  readonly nextAt: number | null;
}

/** A year of missed minutes is about 500 steps; more than this is a fault of the plan, not an outage. */
const stepsMax = 10_000;

/**
 * An edit keeps occurrences that are due already: whatever a person changes, the slots up to now are taken up first, in
 * the same transaction, as the scheduler would have done a moment later.
 */
export function claimsFirst(maker: SlotPlanDeps, scene: TaskScene, now: number): ClaimedScene {
  const claims: SlotPlan[] = [];
  let due = scene.due;
  while (due !== null && due.nextAt <= now && claims.length < stepsMax) {
    const claim = readablePlan(maker, due, now);
    if (claim === null) break;
    claims.push(claim);
    due = claim.nextAt === null ? null : { ...claimed(due, claim), nextAt: claim.nextAt };
  }
  return { claims, nextAt: due?.nextAt ?? null };
}

/** A task as the next claim finds it: what was dispatched lives, what was put in line waits, and both count. */
function claimed(due: DueTask, { occurrences, runs, replaces }: SlotPlan): DueTask {
  const waiting = occurrences.filter(({ status, decideBy }) => status === 'pending' && decideBy === null).length;
  return {
    ...due,
    live: due.live + runs.length,
    held: due.held + runs.length,
    // Where a newer run replaces an older one, those that waited before give way.
    waiting: replaces ? waiting : due.waiting + waiting,
    reserved: replaces ? waiting : due.reserved + waiting,
  };
}

/** Slots of a row that cannot be read are the scheduler's to report; nobody is kept from pausing or deleting it. */
function readablePlan(maker: SlotPlanDeps, due: DueTask, now: number): SlotPlan | null {
  try {
    return planSlots(maker, due, now);
  } catch {
    return null;
  }
}

/** Refusals and facts that several verbs share. */

export function refuseDeleted({ task }: TaskScene): void {
  if (task.state === 'deleted') throw missing('task');
}

export function exhausted(): AppError {
  return new AppError(
    'schedule_exhausted',
    'This task has nothing left to run. Give it a new schedule, or raise until or max_runs.',
  );
}

/** Why a task is paused, and until when: what the way back needs to know. */
export function pauseFacts({ pausedReason, resumeAt }: Pick<Task, 'pausedReason' | 'resumeAt'>) {
  return { reason: pausedReason, ...untilFact(resumeAt) };
}

function untilFact(until: number | null) {
  return until === null ? {} : { until: iso(until) };
}

export function isUnreadable({ pausedReason }: Pick<Task, 'pausedReason'>): boolean {
  return pausedReason?.startsWith('unreadable') === true;
}

export function unreadableRow({ pausedReason }: Pick<Task, 'pausedReason'>): AppError {
  return new AppError(
    'invalid_request',
    `This task cannot go on: its row is ${pausedReason ?? 'unreadable'}. Give it a new schedule, or delete it.`,
    { details: { reason: 'unreadable' } },
  );
}
