import type { Actor } from '../../domain/access.ts';
import { gapBeforePause, type Gap } from '../../domain/due.ts';
import { policyOf } from '../../domain/policy.ts';
import { failuresPause } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { forUpdateOf, list, nothing, raw, sql, text, type Sql } from '../engine/sql.ts';
import { all, insert, select, updateAll, updateReturning } from '../engine/statements.ts';
import { closeAcks } from '../questions/nags.ts';
import { recordVerbs, tellEvents } from '../records/journal.ts';
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
  /** Absent where the product does it by itself. */
  readonly by?: Actor;
}

/** Pauses of many tasks at once. Slots that are due by then get their gap first. Answers which tasks were paused. */
export function* pauseTasks(
  taskIds: readonly string[],
  { reason, guard, by = 'system' }: Pause,
  now: number,
): Script<readonly string[]> {
  yield* recordDue(taskIds, { reason: 'paused', guard }, now);
  const stopped = yield* stopTasks(
    taskIds.map((taskId) => ({ taskId, reason })),
    { verb: 'pause', guard, by },
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
  { verb, guard, by = 'system' }: { readonly verb: 'pause' | 'quarantine'; readonly guard: Sql; readonly by?: Actor },
  now: number,
): Script<Stop[]> {
  const stopped = yield* updateAll('tasks', stops, {
    set: ({ reason }) => ({
      state: 'paused',
      nextAt: null,
      pausedReason: reason,
      pausedAt: now,
      pausedBy: by,
      resumeAt: null,
      version: raw('version + 1'),
    }),
    where: ({ taskId }) => sql`id = ${taskId} and state = 'active' and ${guard}`,
  });
  const states = { stateBefore: 'active', stateAfter: 'paused' } as const;
  const deeds = yield* recordVerbs(
    stopped.map(({ taskId, reason }) => ({ at: now, actor: by, verb, taskId, ...states, after: { reason } })),
  );
  const taskIds = stopped.map(({ taskId }) => taskId);
  yield* nameDeeds(deeds, taskIds, yield* endWaiting(taskIds, 'paused', now));
  return stopped;
}

/** Notes by whose deed the occurrences ended; the rows of the audit stand in the order of their tasks. */
export function* nameDeeds(
  deeds: readonly string[],
  taskIds: readonly string[],
  ended: readonly Waiting[],
): Script<void> {
  const deedOf = new Map(taskIds.map((taskId, index) => [taskId, Number(deeds[index])]));
  yield* updateAll('occurrences', ended, {
    set: ({ taskId }) => ({ deedId: deedOf.get(taskId) ?? null }),
    where: ({ id }) => sql`id = ${id}`,
  });
}

interface Ended {
  readonly reason: 'paused' | 'deleted';
  readonly guard: Sql;
}

/** Slots of active tasks that are due when the tasks end or are stopped get a gap, because nobody decides about them any more. */
export function* recordDue(taskIds: readonly string[], { reason, guard }: Ended, now: number): Script<void> {
  const due = yield* all(
    select(dueFields)`from ${dueSource}
      where t.id in ${list(taskIds)} and t.state = 'active' and ${guard} and t.next_at <= ${now} ${forUpdateOf('t')}`,
  );
  for (const row of due) {
    const gap = gapOfRow(row, now);
    if (gap === null) continue;
    const { id: taskId } = row;
    const id = idAt(now, taskId);
    const made = yield* insert(
      'gaps',
      { id, taskId, ...gap, reason, createdAt: now },
      raw('on conflict (task_id, from_at) do nothing'),
    );
    const data = { count: gap.count, reason };
    if (made) yield* tellEvents([{ kind: 'gap.recorded', at: now, taskId, ref: id, data }]);
  }
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

interface Waiting {
  readonly id: string;
  readonly taskId: string;
}

/** Occurrences that wait for admission, and questions, end with the reason. Answers which. */
export function* endWaiting(taskIds: readonly string[], reason: string, now: number): Script<Waiting[]> {
  const status = reason === 'deleted' ? 'cancelled' : 'skipped';
  // A newer run replaces only what waited for its turn; a question to a person stays open, and so does a snooze.
  const questions = reason === 'replaced' ? raw(`and decide_by is null and source <> 'snooze'`) : nothing;
  const ended = yield* updateReturning(
    'occurrences',
    { status, reason: text(reason), updatedAt: now },
    sql`task_id in ${list(taskIds)} and status = 'pending' ${questions}`,
    pick(columns.occurrences, 'id', 'taskId'),
  );
  yield* tellEvents(
    ended.map(({ id, taskId }) => ({
      kind: `occurrence.${status}` as const,
      at: now,
      taskId,
      ref: id,
      data: { reason },
    })),
  );
  // Tasks that go on after a pause ask anew with the next run.
  if (reason === 'paused' || reason === 'deleted') yield* closeAcks(taskIds, 'dropped', now);
  return ended;
}
