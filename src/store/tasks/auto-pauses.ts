import type { Actor } from '../../domain/access.ts';
import { gapBeforePause, type Gap } from '../../domain/due.ts';
import { policyOf } from '../../domain/policy.ts';
import type { View } from '../../domain/shown.ts';
import { failuresPause, ownerGonePause } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, pick, type Answer } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { allOf, forUpdateOf, list, nothing, raw, sql, text, type Sql } from '../engine/sql.ts';
import { all, insert, one, select, updateAll, updateReturning } from '../engine/statements.ts';
import { insertPart, isNews } from '../outbox/new-parts.ts';
import { closeAcks } from '../questions/nags.ts';
import { recordVerbs, tellEvents } from '../records/journal.ts';
import { dueFields, dueSource, readDue, type DueRow } from './codec.ts';
import { left, obstaclesIn, waitsForOwner, type Skip } from './grants.ts';

/** Pauses those of the tasks that have failed too often in a row. */
export function autoPause(taskIds: readonly string[], now: number): Script<readonly string[]> {
  const guard = raw('auto_pause > 0 and consecutive_failures >= auto_pause');
  return pauseTasks(taskIds, { reason: failuresPause, guard }, now);
}

const ownerFields = pick(columnsOf('tasks', 't'), 'id', 'chatId', 'ownerId');

/**
 * Tasks of which a run was left out because their owner is out of the chat are paused until they are back. The others in
 * the chat are told once for each person, however many tasks that stops; in their private chat there is nobody to tell.
 */
export function* pauseForOwners(skips: readonly Skip[], now: number): Script<void> {
  const lost = [...obstaclesIn(skips).keys()];
  if (lost.length === 0) return;
  const found = yield* all(
    select(ownerFields)`from tasks t join grants g on g.id = t.grant_id
      where t.id in ${list(lost)} and g.revoked_by = ${left} order by t.id`,
  );
  yield* pauseTasks(
    found.map(({ id }) => id),
    { reason: ownerGonePause, guard: allOf() },
    now,
  );
  for (const task of found) yield* tellOwnerGone(task, now);
}

function* tellOwnerGone({ id, chatId, ownerId }: Answer<typeof ownerFields>, now: number): Script<void> {
  const { chats, users } = columns;
  const group = yield* one(
    select(pick(chats, 'id'))`from chats where id = ${chatId} and provider = 'telegram' and address like '-%'`,
  );
  if (group === undefined || !(yield* isNews(chatId, { word: 'owner_gone', about: ownerId }, now))) return;
  const person = yield* one(select(pick(users, 'name'))`from users where id = ${ownerId}`);
  const owned = yield* one(
    select({ count })`from tasks
      where owner_id = ${ownerId} and (state = 'active' or (${waitsForOwner})) and chat_id = ${chatId}`,
  );
  const content: View = { view: 'ownerGone', ownerId, name: person?.name ?? null, tasks: owned?.count ?? 1 };
  const part = { id: idAt(now, `gone:${id}`), taskId: null, chatId, thread: { topic: null } };
  yield* insertPart({ ...part, kind: 'notice', content }, now);
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
  if (taskIds.length === 0) return [];
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
      updatedAt: now,
      updatedBy: by,
      resumeAt: null,
      version: raw('version + 1'),
    }),
    where: ({ taskId }) => sql`id = ${taskId} and state = 'active' and ${guard}`,
  });
  if (stopped.length === 0) return [];
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
    const { id: taskId, chatId } = row;
    const id = idAt(now, taskId);
    const made = yield* insert(
      'gaps',
      { id, taskId, ...gap, reason, createdAt: now, chatId },
      raw('on conflict (task_id, from_at) do nothing'),
    );
    const data = { count: gap.count, reason };
    if (made) yield* tellEvents([{ kind: 'gap.recorded', at: now, taskId, ref: id, data, chatId }]);
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
  // A newer run replaces only what waited for its turn: a question to a person stays open. A snooze outlives all but its task.
  const questions = reason === 'replaced' ? raw(`and decide_by is null`) : nothing;
  const snoozes = reason === 'deleted' ? nothing : raw(`and source <> 'snooze'`);
  const ended = yield* updateReturning(
    'occurrences',
    { status, reason: text(reason), updatedAt: now },
    sql`task_id in ${list(taskIds)} and status = 'pending' ${questions} ${snoozes}`,
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
