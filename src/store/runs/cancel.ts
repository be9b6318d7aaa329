import { tellEvents } from '../records/journal.ts';
import { each, listOf, rows, type Script } from '../engine/engine.ts';

/** The live runs of a task by way of their two partial indexes: every other way to them reads the history of all runs. */
const liveOfTask = `select id from runs where task_id = ?t and exclusive = 1 and status in ('queued', 'running', 'backoff', 'waiting')
     union all
     select id from runs where task_id = ?t and exclusive = 0 and status in ('queued', 'running', 'backoff', 'waiting')`;

/** Calls off all live runs of a task. Answers how many were not called off before. */
export function* cancelLive(taskId: string, reason: string, now: number): Script<number> {
  const live = yield* rows<{ id: string }>(liveOfTask, taskId, taskId);
  return yield* cancelRuns(
    live.map(({ id }) => ({ id, taskId })),
    reason,
    now,
  );
}

/** Those of the tasks that have a live run which was not called off yet. */
export function* tasksAtWork(taskIds: readonly string[]): Script<ReadonlySet<string>> {
  if (taskIds.length === 0) return new Set();
  const { marks, values } = listOf(taskIds);
  const found = yield* rows<{ task_id: string }>(
    `select task_id from runs where task_id in (${marks}) and exclusive = 1
       and status in ('queued', 'running', 'backoff', 'waiting') and cancel_requested_at is null
     union select task_id from runs where task_id in (${marks}) and exclusive = 0
       and status in ('queued', 'running', 'backoff', 'waiting') and cancel_requested_at is null`,
    ...values,
    ...values,
  );
  return new Set(found.map(({ task_id: taskId }) => taskId));
}

interface RunOfTask {
  readonly id: string;
  readonly taskId: string | null;
}

/** Runs that no worker holds end at once; a running one is asked, and ends with its attempt. */
export function* cancelRuns(runs: readonly RunOfTask[], reason: string, now: number): Script<number> {
  const ended = yield* each(
    `update runs set status = 'cancelled', error = ?t, finished_at = ?i, cancel_requested_at = ?i, cancel_reason = ?t
     where id = ?t and status in ('queued', 'backoff', 'waiting')`,
    runs.map(({ id }) => [reason, now, now, reason, id]),
  );
  const over = runs.filter((_run, index) => ended[index]);
  yield* each(
    `update occurrences set status = 'cancelled', reason = ?t, updated_at = ?i
     where id = (select r.occurrence_id from runs r where r.id = ?t) and status = 'dispatched'`,
    over.map(({ id }) => [reason, now, id]),
  );
  const asked = yield* each(
    `update runs set cancel_requested_at = ?i, cancel_reason = ?t
     where id = ?t and status = 'running' and cancel_requested_at is null`,
    runs.map(({ id }) => [now, reason, id]),
  );
  yield* tellEvents(over.map(({ id, taskId }) => ({ kind: 'run.cancelled', at: now, taskId, ref: id })));
  return over.length + asked.filter(Boolean).length;
}
