import { gapBeforePause, type Gap } from '../../domain/due.ts';
import { policyOf } from '../../domain/policy.ts';
import { each, row, rows, write, type Script, type Tuple } from '../engine/engine.ts';
import { idAt } from '../engine/queries.ts';
import { closeAcks } from '../questions/nags.ts';
import { nameDeed, recordVerbs, tellEvents } from '../records/journal.ts';
import { dueColumns, dueSource, readDue, type DueRow } from './codec.ts';

/** Pauses those of the tasks that have failed too often in a row. */
export function autoPause(taskIds: readonly string[], now: number): Script<readonly string[]> {
  const guard = 'auto_pause > 0 and consecutive_failures >= auto_pause';
  return pauseTasks(taskIds, { reason: 'auto:consecutive_failures', guard }, now);
}

interface Pause {
  readonly reason: string;
  /** What must hold of a task besides being active. */
  readonly guard: string;
}

/** Pauses by the product itself. Slots that are due by then get their gap first. Answers which tasks were paused. */
export function* pauseTasks(
  taskIds: readonly string[],
  { reason, guard }: Pause,
  now: number,
): Script<readonly string[]> {
  for (const id of taskIds) yield* recordDue(id, guard, now);
  const paused = yield* each(
    `update tasks set state = 'paused', next_at = null, paused_reason = ?t, paused_at = ?i, paused_by = 'system',
       resume_at = null, version = version + 1
     where id = ?t and state = 'active' and ${guard}`,
    taskIds.map((id): Tuple => [reason, now, id]),
  );
  const stopped = taskIds.filter((_id, index) => paused[index]);
  const deeds = yield* recordVerbs(
    stopped.map((taskId) => ({
      at: now,
      actor: 'system',
      verb: 'pause',
      taskId,
      stateBefore: 'active',
      stateAfter: 'paused',
      after: { reason },
    })),
  );
  for (const [index, id] of stopped.entries())
    yield* nameDeed('deed_id', deeds[index], yield* endWaiting(id, 'paused', now));
  return stopped;
}

function* recordDue(taskId: string, guard: string, now: number): Script<void> {
  const due = yield* row<DueRow>(
    `select ${dueColumns} from ${dueSource}
     where t.id = ?t and t.state = 'active' and ${guard}
       and t.next_at <= ?i [for update of t]`,
    taskId,
    now,
  );
  const gap = due === undefined ? null : gapOfRow(due, now);
  if (gap === null) return;
  const id = idAt(now, taskId);
  const made = yield* write(
    `insert into gaps (id, task_id, from_at, to_at, count, reason, created_at) values (?t, ?t, ?i, ?i, ?i, ?t, ?i)
     on conflict (task_id, from_at) do nothing`,
    id,
    taskId,
    gap.fromAt,
    gap.toAt,
    gap.count,
    gap.reason,
    now,
  );
  const { count, reason } = gap;
  if (made) yield* tellEvents([{ kind: 'gap.recorded', at: now, taskId, ref: id, data: { count, reason } }]);
}

/** A row that cannot be read has no slots that anybody could count. */
function gapOfRow(due: DueRow, now: number): Gap | null {
  const task = readDue(due);
  if ('unreadable' in task) return null;
  try {
    return gapBeforePause(
      { ...task, policy: policyOf(task.policies, { actionKind: task.action.kind, minGapMs: task.minGapMs }) },
      now,
    );
  } catch {
    return null;
  }
}

/** Occurrences that wait for admission, and questions, end with the reason. Answers which. */
export function* endWaiting(taskId: string, reason: string, now: number): Script<string[]> {
  const status = reason === 'deleted' ? 'cancelled' : 'skipped';
  // What a newer run replaces is what waited for its turn; a question to a person stays open, and so does a snooze.
  const questions = reason === 'replaced' ? `and decide_by is null and source <> 'snooze'` : '';
  const ended = yield* rows<{ id: string }>(
    `update occurrences set status = ?t, reason = ?t, updated_at = ?i
     where task_id = ?t and status = 'pending' ${questions} returning id`,
    status,
    reason,
    now,
    taskId,
  );
  yield* tellEvents(
    ended.map(({ id }) => ({ kind: `occurrence.${status}` as const, at: now, taskId, ref: id, data: { reason } })),
  );
  // What goes on after a pause asks anew with its next run.
  if (reason === 'paused' || reason === 'deleted') yield* closeAcks(taskId, 'dropped', now);
  return ended.map(({ id }) => id);
}
