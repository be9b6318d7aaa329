import { AppError } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import { occurrenceKey, outgoingKey } from '../../domain/occurrence.ts';
import type { Again, RunRequest } from '../../domain/run.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { isDeliverable } from '../../domain/thread.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import type { SlotPlanDeps } from '../pipeline/slot-plans.ts';
import type { EndedRun } from '../ports/runs.ts';
import { noChange, type TaskChange, type TaskScene } from '../ports/tasks.ts';
import { admitted, freeSlot, onTime, runInProgress, type ByHand } from './by-hand.ts';
import { refuseDeleted } from './verbs.ts';

/** A run of a task that has ended, and how it is to be done again. */
export interface Repeat {
  readonly kind: Again['kind'];
  readonly of: EndedRun & { readonly taskId: string; readonly occurrenceId: string };
}

/** Only a run of a task that is over can be done again, and only one that did not succeed can be retried. */
export function refuseUnrepeatable(kind: Again['kind'], run: EndedRun): asserts run is Repeat['of'] {
  if (run.taskId === null || run.occurrenceId === null) {
    throw new AppError('not_repeatable', 'This run belongs to no task. Send its text again instead.', {
      details: { reason: 'no_task' },
    });
  }
  if (!['succeeded', 'failed', 'cancelled'].includes(run.status)) {
    throw new AppError('run_in_progress', 'This run has not ended yet. Wait for its end, or cancel it.', {
      details: { run_id: run.id },
    });
  }
  if (kind === 'retry' && run.status === 'succeeded') {
    throw new AppError(
      'not_repeatable',
      'This run succeeded, so there is nothing to retry. Replay it to do it once more.',
      { details: { reason: 'run_succeeded' } },
    );
  }
}

/**
 * Does a run again with what it was given the first time. A retry makes good what failed: it bears the outgoing key of the
 * first try, and while one is under way or has succeeded, asking again makes no second. A replay is a new call.
 */
export function planAgain(
  maker: SlotPlanDeps,
  scene: TaskScene,
  { kind, of, now, traceId }: Repeat & ByHand,
): TaskChange {
  refuseDeleted(scene);
  const { task, grant } = scene;
  // Under the grant of the first time it may do the same again, whatever the task does by now; a grant that came after it has to name that.
  const isUnderAnother = grant !== null && grant.createdAt > of.createdAt;
  const scopes = maker.scopesOf(isUnderAnother ? of.input.action : task.action);
  const verdict = admitted(scene, scopes, policyFor(task).overlap, now);
  if (verdict === null) throw runInProgress(scene);
  const slotAt = freeSlot(scene, now);
  const id = maker.ids.next();
  const request = againRequest(scene, { kind, of, now, slotAt, occurrenceId: id });
  const run = verdict.status === 'dispatched' ? maker.runs.prepare({ ...request, traceId }, now) : null;
  const planned = { ...onTime, id, slotAt, source: kind, ...verdict, runId: run?.id ?? null };
  return {
    ...noChange,
    manual: { occurrence: { ...planned, replayOf: of.occurrenceId }, run },
    audit: {
      verb: kind,
      before: { run_id: of.id },
      after: { scheduled_for: iso(slotAt), run_id: run?.id },
    },
  };
}

/** A retry that is under way or has done its work; asking for it again finds it. */
export function retryUnderWay({ replays }: TaskScene): string | null {
  const done = ['pending', 'dispatched', 'succeeded'];
  return replays.find(({ source, status }) => source === 'retry' && done.includes(status))?.id ?? null;
}

interface Repeating extends Repeat {
  readonly now: number;
  readonly slotAt: number;
  readonly occurrenceId: string;
}

function againRequest({ task }: TaskScene, { kind, of, now, slotAt, occurrenceId }: Repeating): RunRequest {
  const { input } = of;
  const key =
    kind === 'replay'
      ? outgoingKey(task.id, slotAt)
      : (input.again?.outgoingKey ?? outgoingKey(task.id, input.slotAt ?? slotAt));
  return {
    source: 'task',
    idempotencyKey: occurrenceKey(task.id, slotAt),
    lane: null,
    exclusive: policyFor(task).overlap !== 'allow',
    priority: limits.priorityRunNow,
    taskId: task.id,
    taskVersion: of.taskVersion,
    occurrenceId,
    chatId: task.chatId,
    ownerId: task.ownerId,
    input: {
      ...input,
      // Its result, whatever it was given then, is shown where the task is now.
      number: task.number,
      delivers: isDeliverable(task.home),
      // A retry goes on from where the task stands now; a replay sees what the run saw, and leaves no trace there.
      context: kind === 'retry' ? task.context : input.context,
      follows: undefined,
      again: { kind, outgoingKey: key, askedAt: now },
    },
  };
}
