import { gapBeforePause, type Gap } from '../../domain/due.ts';
import { policyOf } from '../../domain/policy.ts';
import { failuresPause } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { forUpdateOf, nothing, raw, sql, text, type Sql } from '../engine/sql.ts';
import { insert, one, select, updateAll, updateReturning } from '../engine/statements.ts';
import { closeAcks } from '../questions/nags.ts';
import { nameDeed, recordVerbs, tellEvents } from '../records/journal.ts';
import { dueFields, dueSource, readDue, type DueRow } from './codec.ts';

/** Pauses those of the tasks that have failed too often in a row. */
export function autoPause(taskIds: readonly string[], now: number): Script<readonly string[]> {
  const guard = raw('auto_pause > 0 and consecutive_failures >= auto_pause');
  return pauseTasks(taskIds, { reason: failuresPause, guard }, now);
}

interface Pause {
  readonly reason: string;
  /** A condition on the task besides being active. */
  readonly guard: Sql;
}

/** Pauses by the product itself. Slots that are due by then get their gap first. Answers which tasks were paused. */
export function* pauseTasks(
  taskIds: readonly string[],
  { reason, guard }: Pause,
  now: number,
): Script<readonly string[]> {
  for (const id of taskIds) yield* recordDue(id, guard, now);
  const stopped = yield* stopTasks(
    taskIds.map((taskId) => ({ taskId, reason })),
    { verb: 'pause', guard },
    now,
  );
  return stopped.map(({ taskId }) => taskId);
}

interface Stop {
  readonly taskId: string;
  readonly reason: string;
}

/** Active tasks are paused, each for its reason, and nothing of them waits any more. Answers which. */
export function* stopTasks(
  stops: readonly Stop[],
  { verb, guard }: { readonly verb: 'pause' | 'quarantine'; readonly guard: Sql },
  now: number,
): Script<Stop[]> {
  const stopped = yield* updateAll('tasks', stops, {
    set: ({ reason }) => ({
      state: 'paused',
      nextAt: null,
      pausedReason: reason,
      pausedAt: now,
      pausedBy: 'system',
      resumeAt: null,
      version: raw('version + 1'),
    }),
    where: ({ taskId }) => sql`id = ${taskId} and state = 'active' and ${guard}`,
  });
  const states = { stateBefore: 'active', stateAfter: 'paused' } as const;
  const deeds = yield* recordVerbs(
    stopped.map(({ taskId, reason }) => ({ at: now, actor: 'system', verb, taskId, ...states, after: { reason } })),
  );
  for (const [index, { taskId }] of stopped.entries())
    yield* nameDeed('deedId', deeds[index], yield* endWaiting(taskId, 'paused', now));
  return stopped;
}

function* recordDue(taskId: string, guard: Sql, now: number): Script<void> {
  const due = yield* one(
    select(dueFields)`from ${dueSource}
      where t.id = ${taskId} and t.state = 'active' and ${guard} and t.next_at <= ${now} ${forUpdateOf('t')}`,
  );
  const gap = due === undefined ? null : gapOfRow(due, now);
  if (gap === null) return;
  const id = idAt(now, taskId);
  const made = yield* insert(
    'gaps',
    { id, taskId, ...gap, createdAt: now },
    raw('on conflict (task_id, from_at) do nothing'),
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
  // A newer run replaces only what waited for its turn; a question to a person stays open, and so does a snooze.
  const questions = reason === 'replaced' ? raw(`and decide_by is null and source <> 'snooze'`) : nothing;
  const ended = yield* updateReturning(
    'occurrences',
    { status, reason: text(reason), updatedAt: now },
    sql`task_id = ${taskId} and status = 'pending' ${questions}`,
    pick(columns.occurrences, 'id'),
  );
  yield* tellEvents(
    ended.map(({ id }) => ({ kind: `occurrence.${status}` as const, at: now, taskId, ref: id, data: { reason } })),
  );
  // Tasks that go on after a pause ask anew with the next run.
  if (reason === 'paused' || reason === 'deleted') yield* closeAcks(taskId, 'dropped', now);
  return ended.map(({ id }) => id);
}
