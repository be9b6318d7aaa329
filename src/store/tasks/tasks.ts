import type { CancelRequest } from '../../app/ports/runs.ts';
import type { Created, NewTask, TaskChange, TaskScene, TaskStore, Unbinding, Unbound } from '../../app/ports/tasks.ts';
import type { Once } from '../../app/use-cases/kept-answers.ts';
import { AppError } from '../../domain/errors.ts';
import type { TaskState } from '../../domain/task.ts';
import { chatOf } from '../chats/rows.ts';
import { row, type Engine, type Script, rows, write } from '../engine/engine.ts';
import { nameDeed, recordVerbs } from '../records/journal.ts';
import { threadRunStore, cancelRuns, tasksAtWork } from '../runs/thread-runs.ts';
import { changeLocked, changeTask, addVersion } from './changes.ts';
import { definitionColumns, insertRow, readFacts } from './codec.ts';
import { claimOnce, resultUnder, settleOnce } from './once.ts';
import { checkQuota, lockUser } from './quota.ts';
import { taskReads } from './reads.ts';
import { taskById } from './scene.ts';

/** Tasks and what people do to them. Every method is one transaction under the lock of the rows it decides about. */
export function taskStore(engine: Engine): TaskStore {
  return {
    createTask: (task, existing) => engine.transact(() => createTask(task, existing)),
    madeUnder: (once, now) => engine.transact(() => madeUnder(once, now)),
    changeTask: (request, plan) => engine.transact(() => changeTask(request, plan)),
    cancelRun: (request) => engine.transact(() => cancelRun(request)),
    tasksAtWork: (taskIds) => engine.transact(() => tasksAtWork(taskIds)),
    unbindTopic: (unbinding) => engine.transact(() => unbindTopic(unbinding)),
    ...threadRunStore(engine),
    ...taskReads(engine),
  };
}

/** Locks the chat and the owner, in this order, so that two creators at the edge of a quota see each other. */
function* createTask(task: NewTask, existing: (scene: TaskScene) => TaskChange): Script<Created> {
  const replay = yield* claimOnce(task.once, task.at);
  if (replay !== null) return { task: yield* taskById(replay), created: false, replayed: true };
  const chat = yield* chatOf(task.home, task.newChatId, task.at);
  const owner = task.owner ?? chat.approved_by ?? task.ownerIfNone;
  yield* lockUser(owner, task.at);
  const twin = task.onExisting === 'add' ? undefined : yield* twinOf(task, chat.id);
  if (twin !== undefined) {
    if (task.onExisting === 'fail') throw taskExists(twin);
    const { actor, at, quota, traceId } = task;
    yield* changeLocked({ taskId: twin.id, actor, at, quota, traceId }, existing);
    yield* settleOnce(task.once, twin.id);
    return { task: yield* taskById(twin.id), created: false, replayed: false };
  }
  yield* checkQuota(task.quota, { chatId: chat.id, owner, createdBy: task.actor });
  yield* insertTask(task, chat.id, owner);
  yield* settleOnce(task.once, task.id);
  return { task: yield* taskById(task.id), created: true, replayed: false };
}

function* madeUnder(once: Once, now: number): Script<TaskScene['task'] | null> {
  const known = yield* resultUnder(once, now);
  return known === null ? null : yield* taskById(known);
}

interface Twin {
  readonly id: string;
  readonly number: number;
}

/** The identity of a plain task: its home chat, its title and its subject. */
function* twinOf(task: NewTask, chatId: string): Script<Twin | undefined> {
  return yield* row<Twin>(
    `select id, number from tasks where chat_id = ?t and title = ?t and coalesce(subject, '') = ?t and state <> 'deleted'
     order by number limit 1`,
    chatId,
    task.title,
    task.subject ?? '',
  );
}

function taskExists(twin: Twin): AppError {
  return new AppError(
    'task_exists',
    `Task #${twin.number} has the same title and subject here. Change that one, or create with on_existing "add" or "upsert".`,
    { details: { task_id: twin.id, number: twin.number } },
  );
}

function* insertTask(task: NewTask, chatId: string, owner: string): Script<void> {
  const counted = yield* row<{ last_number: number }>(
    `update chats set last_number = last_number + 1, updated_at = ?i where id = ?t returning last_number`,
    task.at,
    chatId,
  );
  yield* insertRow('grants', {
    id: task.grant.id,
    owner_id: owner,
    chat_id: chatId,
    scopes: JSON.stringify(task.grant.scopes),
    created_at: task.at,
    created_by: task.actor,
  });
  yield* insertRow('tasks', {
    id: task.id,
    chat_id: chatId,
    number: counted?.last_number ?? null,
    home_topic: task.home.topic,
    owner_id: owner,
    grant_id: task.grant.id,
    version: 1,
    state: 'active',
    next_at: task.nextAt,
    ...definitionColumns(task),
    min_gap_ms: task.minGapMs,
    auto_pause: task.autoPause,
    context: JSON.stringify(task.context),
    runs: 0,
    failures: 0,
    consecutive_failures: 0,
    bounded_runs: 0,
    topic_state: 'none',
    created_at: task.at,
    created_by: task.actor,
    updated_at: task.at,
    updated_by: task.actor,
  });
  yield* addVersion(task, { ...task, version: 1 });
  yield* recordVerbs([
    {
      at: task.at,
      actor: task.actor,
      verb: 'create',
      taskId: task.id,
      stateBefore: null,
      stateAfter: 'active',
      after: { title: task.title },
      traceId: task.traceId,
    },
  ]);
}

/** One run, whoever it belongs to. What has ended in another way stays as it ended. */
function* cancelRun({ runId, actor, at, traceId }: CancelRequest): Script<boolean | null> {
  const found = yield* row<CancelledRow>(
    `select status, task_id, occurrence_id, cancel_requested_at from runs where id = ?t [for update]`,
    runId,
  );
  if (found === undefined) return null;
  const isOver = ['succeeded', 'failed', 'cancelled'].includes(found.status);
  if (isOver) return found.status === 'cancelled';
  if (found.cancel_requested_at !== null) return true;
  const { task_id: taskId, occurrence_id: occurrenceId } = found;
  yield* cancelRuns([{ id: runId, taskId, occurrenceId }], 'cancelled', at);
  if (taskId === null) return true;
  const { state } = yield* taskById(taskId);
  const states = { stateBefore: state, stateAfter: state };
  const [deedId] = yield* recordVerbs([
    { at, actor, verb: 'cancel', taskId, ...states, after: { run_id: runId }, traceId },
  ]);
  yield* nameDeed('deed_id', deedId, occurrenceId === null ? [] : [occurrenceId]);
  return true;
}

interface CancelledRow {
  readonly status: string;
  readonly task_id: string | null;
  readonly occurrence_id: string | null;
  readonly cancel_requested_at: number | null;
}

interface TopicRow {
  readonly state: TaskState;
  readonly topic_state: string;
  readonly topic_id: number | null;
}

/**
 * The task has no topic any more, and its next result makes one. Nobody deleted it behind our back, so nothing is said of
 * that in the new one. The same again finds it unbound by its row in the audit.
 */
function* unbindTopic({ taskId, topicId, actor, at }: Unbinding): Script<Unbound> {
  const task = yield* row<TopicRow>(
    `select state, topic_state, topic_id from tasks where id = ?t [for update]`,
    taskId,
  );
  if (task === undefined) return 'none';
  if (task.topic_id !== topicId) return (yield* wasUnbound(taskId, topicId)) ? 'before' : 'none';
  if (task.topic_state === 'creating') return 'creating';
  yield* write(
    `update tasks set topic_state = 'none', topic_id = null, topic_cause = null, topic_boot = null, topic_asked_at = null,
       topic_lost = null, card_message_id = null where id = ?t and topic_id = ?i`,
    taskId,
    topicId,
  );
  const { state } = task;
  const before = { topic_id: topicId };
  yield* recordVerbs([{ at, actor, verb: 'unbind', taskId, stateBefore: state, stateAfter: state, before }]);
  return 'unbound';
}

function* wasUnbound(taskId: string, topicId: number): Script<boolean> {
  const found = yield* rows<{ before: string | null }>(
    `select before from audit where task_id = ?t and verb = 'unbind' order by at desc, id desc limit 10`,
    taskId,
  );
  return found.some(({ before }) => before !== null && readFacts(before)?.['topic_id'] === topicId);
}
