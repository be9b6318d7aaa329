import type { CancelRunsRequest, OpenThread } from '../../app/ports/runs.ts';
import type { TaskStore } from '../../app/ports/tasks.ts';
import { threadLane } from '../../domain/run.ts';
import type { TaskState } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import { chatOf, findChat } from '../chats/rows.ts';
import { listOf, rows, type Engine, type Script, each } from '../engine/engine.ts';
import { nameDeed, recordVerbs, tellEvents } from '../records/journal.ts';

type ThreadRuns = Pick<TaskStore, 'liveRunsOf' | 'cancelRuns' | 'openThread'>;

/** What is said in a thread without a task, and all that a thread has under way. */
export function threadRunStore(engine: Engine): ThreadRuns {
  return {
    liveRunsOf: (thread, limit) => engine.transact(() => liveRunsOf(thread, limit)),
    cancelRuns: (request) => engine.transact(() => cancelNamed(request)),
    openThread: (thread, newId, at) => engine.transact(() => openThread({ thread, newId, at })),
  };
}

/** Open to whoever may ask at all, as it is for tasks; but not where the bot was sent away, or is no more. */
function* openThread({ thread, newId, at }: { thread: Thread; newId: string; at: number }): Script<OpenThread | null> {
  const known = yield* findChat(thread);
  if (known?.state === 'refused' || known?.state === 'gone') return null;
  const chat = known ?? (yield* chatOf(thread, newId, at));
  return { chatId: chat.id, approvedBy: chat.approved_by as OpenThread['approvedBy'] };
}

const live = `r.status in ('queued', 'running', 'backoff', 'waiting') and r.cancel_requested_at is null`;

/**
 * A base thread stands for its whole chat; a topic for what was asked for in it, and for what is shown there. The runs of
 * tasks are found by the two partial indexes of what lives, and messages by that of the lanes.
 */
function* liveRunsOf(thread: Thread, limit: number): Script<readonly string[]> {
  const chat = yield* findChat(thread);
  if (chat === undefined) return [];
  const { topic } = thread;
  const ofTopic = topic === null ? '' : 'and (t.home_topic = ?i or t.topic_id = ?i)';
  const tasks = [chat.id, ...(topic === null ? [] : [topic, topic])];
  const lane = topic === null ? '' : 'and r.lane = ?t';
  const ofTasks = (exclusive: 0 | 1) =>
    // Crossed, because one of the engines would otherwise look for the runs of every task of the chat.
    `select r.id from runs r cross join tasks t
     where r.task_id >= '' and r.exclusive = ${exclusive} and ${live} and t.id = r.task_id and t.chat_id = ?t ${ofTopic}`;
  const found = yield* rows<{ id: string }>(
    `select id from (${ofTasks(1)} union all ${ofTasks(0)}
       union all select r.id from runs r where r.lane is not null and ${live} and r.chat_id = ?t ${lane}) found limit ?i`,
    ...tasks,
    ...tasks,
    chat.id,
    ...(topic === null ? [] : [threadLane(chat.id, topic)]),
    limit,
  );
  return found.map(({ id }) => id);
}

interface LiveRow {
  readonly id: string;
  readonly task_id: string | null;
  readonly occurrence_id: string | null;
  readonly state: TaskState | null;
}

/** In the order of their ids, as everybody takes more than one of them. */
function* cancelNamed({ runIds, actor, at, traceId }: CancelRunsRequest): Script<number> {
  if (runIds.length === 0) return 0;
  const { marks, values } = listOf(runIds);
  const found = yield* rows<LiveRow>(
    `select r.id, r.task_id, r.occurrence_id, t.state from runs r left join tasks t on t.id = r.task_id
     where r.id in (${marks}) and ${live} order by r.id [for update of r]`,
    ...values,
  );
  yield* cancelRuns(
    found.map(({ id, task_id: taskId, occurrence_id: occurrenceId }) => ({ id, taskId, occurrenceId })),
    'cancelled',
    at,
  );
  for (const { id, task_id: taskId, occurrence_id: occurrenceId, state } of found) {
    if (taskId === null || state === null) continue;
    const states = { stateBefore: state, stateAfter: state };
    const [deedId] = yield* recordVerbs([
      { at, actor, verb: 'cancel', taskId, ...states, after: { run_id: id }, traceId },
    ]);
    yield* nameDeed('deed_id', deedId, occurrenceId === null ? [] : [occurrenceId]);
  }
  return found.length;
}

/** The live runs of a task by way of their two partial indexes: every other way to them reads the history of all runs. */
const liveOfTask = `select id, occurrence_id from runs where task_id = ?t and exclusive = 1 and status in ('queued', 'running', 'backoff', 'waiting')
     union all
     select id, occurrence_id from runs where task_id = ?t and exclusive = 0 and status in ('queued', 'running', 'backoff', 'waiting')`;

/** Calls off all live runs of a task. Answers those that were not called off before. */
export function* cancelLive(taskId: string, reason: string, now: number): Script<RunOfTask[]> {
  const live = yield* rows<Pick<LiveRow, 'id' | 'occurrence_id'>>(liveOfTask, taskId, taskId);
  return yield* cancelRuns(
    live.map(({ id, occurrence_id: occurrenceId }) => ({ id, taskId, occurrenceId })),
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
  readonly occurrenceId: string | null;
}

/** Runs that no worker holds end at once; a running one is asked, and ends with its attempt. */
export function* cancelRuns(runs: readonly RunOfTask[], reason: string, now: number): Script<RunOfTask[]> {
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
  return runs.filter((_run, index) => ended[index] === true || asked[index] === true);
}
