import type { RunEnd } from '../../app/ports/pipeline.ts';
import type { CancelRunsRequest, OpenThread } from '../../app/ports/runs.ts';
import { threadLane } from '../../domain/run.ts';
import type { Thread } from '../../domain/thread.ts';
import { chatOf, findChat } from '../chats/rows.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, maybe, pick } from '../engine/fields.ts';
import { seen } from '../engine/reach.ts';
import {
  allOf,
  forUpdate,
  forUpdateOf,
  joined,
  limit as limited,
  list,
  nothing,
  raw,
  sql,
  text,
  type Sql,
} from '../engine/sql.ts';
import { all, hold, offer, one, select, update, updateAll, updateReturning } from '../engine/statements.ts';
import { nameDeed, recordVerbs, tellComplete, tellEvents } from '../records/journal.ts';

/** Threads: talk without a task, and all runs that are under way there. */

/** Open to whoever may ask at all, as it is for tasks; but not where the bot was sent away, or is no more. */
export function* openThread(thread: Thread, newId: string, at: number): Script<OpenThread | null> {
  const known = yield* findChat(thread);
  if (known?.state === 'refused' || known?.state === 'gone') return null;
  const chat = known ?? (yield* chatOf(thread, newId, at));
  return { chatId: chat.id, approvedBy: chat.approvedBy };
}

const live = raw(`r.status in ('queued', 'running', 'backoff', 'waiting') and r.cancel_requested_at is null`);
const { runs } = columns;

/**
 * A base thread stands for its whole chat; a topic for what was asked for in it, and for what is shown there. The runs of
 * tasks are found by the two partial indexes of what lives, and messages by that of the lanes.
 */
export function* liveRunsOf(thread: Thread, limit: number): Script<readonly string[]> {
  const chat = yield* findChat(thread);
  if (chat === undefined) return [];
  const { topic } = thread;
  const ofTopic = topic === null ? nothing : sql`and (t.home_topic = ${topic} or t.topic_id = ${topic})`;
  const lane = topic === null ? nothing : sql`and r.lane = ${threadLane(chat.id, topic)}`;
  const ofTasks = (kind: Sql) =>
    // Crossed, because one of the engines would otherwise look for the runs of every task of the chat.
    sql`select r.id from runs r cross join tasks t
      where r.task_id >= '' and ${kind} and ${live} and t.id = r.task_id and t.chat_id = ${chat.id} ${ofTopic}`;
  const found = yield* all(
    select(pick(runs, 'id'))`from (${ofTasks(raw('r.exclusive = 1'))} union all ${ofTasks(raw('r.exclusive = 0'))}
        union all select r.id from runs r where r.lane is not null and ${live} and r.chat_id = ${chat.id} ${lane}
      ) found ${limited(limit)}`,
  );
  return found.map(({ id }) => id);
}

const liveFields = {
  ...pick(columnsOf('runs', 'r'), 'id', 'taskId', 'occurrenceId'),
  state: maybe(columnsOf('tasks', 't').state),
};

/** In the order of their ids, as everybody takes more than one of them. */
export function* cancelRuns({ runIds, actor, at, traceId }: CancelRunsRequest): Script<number> {
  const mine = yield* seen(raw('r.chat_id'));
  if (runIds.length === 0) return 0;
  // Tasks before runs, as every verb does, or the two would wait for each other.
  yield* hold(sql`select id from tasks
    where id in (select r.task_id from runs r where r.id in ${list(runIds)}) order by id ${forUpdate}`);
  const which = allOf(sql`r.id in ${list(runIds)}`, live, mine);
  const found = yield* all(
    select(liveFields)`from runs r left join tasks t on t.id = r.task_id
      where ${which} order by r.id ${forUpdateOf('r')}`,
  );
  yield* callOff(found, 'cancelled', at);
  for (const { id, taskId, occurrenceId, state } of found) {
    if (taskId === null || state === null) continue;
    const states = { stateBefore: state, stateAfter: state };
    const [deedId] = yield* recordVerbs([
      { at, actor, verb: 'cancel', taskId, ...states, after: { run_id: id }, traceId },
    ]);
    yield* nameDeed('deedId', deedId, occurrenceId === null ? [] : [occurrenceId]);
  }
  return found.length;
}

/** The live runs of tasks by way of their two partial indexes: every other way to them reads the history of all runs. */
export function liveOf(columns: Sql, whose: Sql): Sql {
  return joined(
    ['exclusive = 1', 'exclusive = 0'].map(
      (kind) => sql`select ${columns} from runs
        where ${whose} and ${raw(kind)} and status in ('queued', 'running', 'backoff', 'waiting')`,
    ),
    raw(' union all '),
  );
}

/** Calls off all live runs of the tasks. Answers those that were not called off before. */
export function* cancelLive(taskIds: readonly string[], reason: string, now: number): Script<RunOfTask[]> {
  const found = yield* all(
    select(
      pick(runs, 'id', 'taskId', 'occurrenceId'),
    )`from (${liveOf(raw('id, task_id, occurrence_id'), sql`task_id in ${list(taskIds)}`)}) live`,
  );
  return yield* callOff(found, reason, now);
}

/** Places in `max_runs` that the live runs of a task hold. Those that an earlier timing asked for hold none. */
export function* placesHeld(taskId: string): Script<number> {
  const held = yield* one(
    select({ count })`from (${liveOf(raw('occurrence_id, task_version'), sql`task_id = ${taskId}`)}) live
      join occurrences o on o.id = live.occurrence_id join tasks t on t.id = o.task_id
      where o.source in ('schedule', 'catch_up') and live.task_version >= t.bounded_since`,
  );
  return held?.count ?? 0;
}

/** Places that occurrences hold which wait for their run. */
export function* placesReserved(taskId: string): Script<number> {
  const reserved = yield* one(
    select({ count })`from occurrences
      where task_id = ${taskId} and status = 'pending' and decide_by is null and source in ('schedule', 'catch_up')`,
  );
  return reserved?.count ?? 0;
}

/** Tasks that have a live run which was not called off yet. */
export function* tasksAtWork(taskIds: readonly string[]): Script<ReadonlySet<string>> {
  const mine = yield* seen(raw('chat_id'));
  if (taskIds.length === 0) return new Set();
  const whose = allOf(sql`task_id in ${list(taskIds)} and cancel_requested_at is null`, mine);
  const found = yield* all(select(pick(runs, 'taskId'))`from (${liveOf(raw('task_id'), whose)}) live`);
  return new Set(found.flatMap(({ taskId }) => taskId ?? []));
}

interface RunOfTask {
  readonly id: string;
  readonly taskId: string | null;
  readonly occurrenceId: string | null;
}

/** Runs that no worker holds end at once; a running one is asked, and ends with its attempt. */
export function* callOff(runs: readonly RunOfTask[], reason: string, now: number): Script<RunOfTask[]> {
  const ended = yield* updateAll('runs', runs, {
    set: () => ({
      status: 'cancelled',
      error: reason,
      errorCode: 'cancelled',
      finishedAt: now,
      cancelRequestedAt: now,
      cancelReason: reason,
      reservedAt: null,
    }),
    where: ({ id }) => sql`id = ${id} and status in ('queued', 'backoff', 'waiting')`,
  });
  yield* updateAll('occurrences', ended, {
    set: () => ({ status: 'cancelled', reason: text(reason), updatedAt: now }),
    where: ({ id }) => sql`id = (select r.occurrence_id from runs r where r.id = ${id}) and status = 'dispatched'`,
  });
  const asked = yield* updateAll('runs', runs, {
    set: () => ({ cancelRequestedAt: now, cancelReason: reason }),
    where: ({ id }) => sql`id = ${id} and status = 'running' and cancel_requested_at is null`,
  });
  if (asked.length > 0) yield* offer({ isCancel: true });
  yield* tellEvents(ended.map(({ id, taskId }) => ({ kind: 'run.cancelled', at: now, taskId, ref: id })));
  yield* countBegun(
    ended.map(({ id }) => id),
    now,
  );
  return [...ended, ...asked];
}

/**
 * The count for `max_runs`: runs that slots asked for since the timing last changed. Each holds a place from its admission on.
 * It is counted when it ends after it has begun; one that never began just lets its place go.
 */

export interface Spent {
  readonly id: string;
  readonly boundedRuns: number;
}

/** Counts runs that have ended otherwise than by an attempt, those of them that had begun. Their tasks are locked. Answers which of them are complete. */
export function* countBegun(runIds: readonly string[], now: number): Script<Spent[]> {
  const counted: string[] = [];
  for (const id of runIds) {
    const tasks = yield* updateReturning(
      'tasks',
      { boundedRuns: raw('bounded_runs + 1') },
      // Two looks for one run, as a look that names the task is made for every task that there is.
      sql`id = (select r.task_id from runs r join occurrences o on o.id = r.occurrence_id
          where r.id = ${id} and r.attempts > 0 and o.source in ('schedule', 'catch_up'))
        and bounded_since <= (select r.task_version from runs r where r.id = ${id})`,
      pick(columns.tasks, 'id'),
    );
    counted.push(...tasks.map((task) => task.id));
  }
  return yield* completeSpent(counted, now);
}

/** Tasks whose last allowed run has ended are completed. Answers which, with the count. */
export function* completeSpent(taskIds: readonly string[], now: number): Script<Spent[]> {
  if (taskIds.length === 0) return [];
  // Few are, and to look is half the work of an update that changes nothing.
  const found = yield* all(
    select(pick(columns.tasks, 'id', 'boundedRuns'))`from tasks
      where id in ${list(taskIds)} and state = 'active' and bounded_runs >= max_runs`,
  );
  const spent = yield* updateAll('tasks', found, {
    set: () => ({ state: 'completed', nextAt: null }),
    where: ({ id }) => sql`id = ${id} and state = 'active'`,
  });
  yield* tellComplete(
    spent.map(({ id }) => id),
    now,
  );
  return spent;
}

/**
 * A delay after the last finish: the stand-in gives way to the real next slot, unless the schedule was edited meanwhile.
 * Without a next slot the task is completed.
 */
export function* moveFollowers(ends: readonly RunEnd[]): Script<void> {
  for (const { run, follows, finishedAt } of ends) {
    if (follows === null || run.taskId === null || follows.schedule.kind !== 'interval') continue;
    const { schedule, nextAt } = follows;
    const { interval, startAt, timezone } = schedule;
    const moved = yield* update(
      'tasks',
      { nextAt, state: nextAt === null ? 'completed' : 'active' },
      sql`id = ${run.taskId} and state = 'active' and interval_from = 'completion' and interval = ${interval}
        and start_at = ${startAt} and timezone = ${timezone}`,
    );
    if (moved && nextAt === null) yield* tellComplete([run.taskId], finishedAt);
  }
}
