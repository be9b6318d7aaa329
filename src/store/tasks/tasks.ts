import type { CancelRequest } from '../../app/ports/runs.ts';
import type {
  Created,
  NewTask,
  Purge,
  Purged,
  TaskChange,
  TaskScene,
  Unbinding,
  Unbound,
} from '../../app/ports/tasks.ts';
import { pauseFacts } from '../../app/tasks/verbs.ts';
import type { Once } from '../../app/use-cases/kept-answers.ts';
import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import { chatOf } from '../chats/rows.ts';
import type { Script } from '../engine/engine.ts';
import { columns, mapped, pick, type Answer } from '../engine/fields.ts';
import { reach, seen } from '../engine/reach.ts';
import { allOf, forUpdate, list, raw, sql } from '../engine/sql.ts';
import { all, hold, insert, one, select, update } from '../engine/statements.ts';
import { dropParts } from '../outbox/run-parts.ts';
import { nameDeed, recordVerbs } from '../records/journal.ts';
import { endPauseOf } from '../runs/slots.ts';
import { callOff, cancelLive, cancelRuns, liveRunsOf, openThread, tasksAtWork } from '../runs/thread-runs.ts';
import { followPolicy } from '../spending/limits.ts';
import { nextNumber, noTopic } from './attach.ts';
import { endWaiting, nameDeeds, recordDue } from './auto-pauses.ts';
import { changeLocked, changeTask, addVersion, insertTags } from './changes.ts';
import { definitionColumns, readFacts } from './codec.ts';
import { checkQuota, endGrants, lockUser, loseIfOut } from './grants.ts';
import { claimOnce, resultUnder, settleOnce } from './once.ts';
import { countTasks, within } from './reads.ts';
import { taskById } from './scene.ts';

/** Tasks and what people do to them. Every method is one transaction under the lock of the rows it decides about. */
export const taskStore = {
  createTask,
  madeUnder,
  changeTask,
  purgeTasks,
  cancelRun,
  cancelRuns,
  tasksAtWork,
  liveRunsOf,
  openThread,
  unbindTopic,
};

/** Locks the chat and the owner, in this order, so that two creators at the edge of a quota see each other. */
function* createTask(task: NewTask, existing: (scene: TaskScene) => TaskChange): Script<Created> {
  const made = yield* claimOnce<Made>(task.once, task.at);
  if (made !== null) return yield* toldAgain(made);
  const chat = yield* chatOf(task.home, task.newChatId, task.at);
  const owner = task.owner ?? chat.approvedBy ?? task.ownerIfNone;
  yield* lockUser(owner, task.at);
  const twin = task.onExisting === 'add' ? undefined : yield* twinOf(task, chat.id);
  if (twin !== undefined) {
    if (task.onExisting === 'fail') throw taskExists(twin);
    const changed = yield* changeLocked({ ...task, taskId: twin.id }, existing);
    return yield* settled(task, { task: changed.task, created: false });
  }
  yield* checkQuota(task.quota, { chatId: chat.id, owner, createdBy: task.actor });
  yield* insertTask(task, chat.id, owner);
  return yield* settled(task, { task: yield* taskById(task.id), created: true });
}

/** The result kept under the key of a creation. */
interface Made extends Pick<Created, 'created' | 'warnings'> {
  readonly taskId: string;
}

function* madeUnder(once: Once, now: number): Script<Created | null> {
  const made = yield* resultUnder<Made>(once, now);
  yield* reach();
  return made === null ? null : yield* toldAgain(made);
}

function* toldAgain({ taskId, created, warnings }: Made): Script<Created> {
  return { task: yield* taskById(taskId), created, warnings, replayed: true };
}

function* settled({ once, warnings }: NewTask, { task, created }: Pick<Created, 'task' | 'created'>): Script<Created> {
  const made: Made = { taskId: task.id, created, warnings };
  yield* settleOnce(once, made);
  return { task, created, warnings, replayed: false };
}

const twinFields = pick(columns.tasks, 'id', 'number');

type Twin = Answer<typeof twinFields>;

/** The identity of a plain task: its home chat, its title and its subject. */
function* twinOf({ title, subject }: NewTask, chatId: string): Script<Twin | undefined> {
  return yield* one(
    select(twinFields)`from tasks
      where chat_id = ${chatId} and title = ${title} and coalesce(subject, '') = ${subject ?? ''} and state <> 'deleted'
      order by number limit 1`,
  );
}

function taskExists(twin: Twin): AppError {
  return new AppError(
    'task_exists',
    `Task #${twin.number} has the same title and subject here. Change that one, or create with on_existing "add" or "upsert".`,
    { details: { task_id: twin.id, number: twin.number } },
  );
}

function* insertTask(task: NewTask, chatId: string, ownerId: Actor): Script<void> {
  const { id, grant, nextAt, minGapMs, at, actor } = task;
  const number = yield* nextNumber(chatId, at);
  const scopes = JSON.stringify(grant.scopes);
  const unconfirmed = JSON.stringify(grant.unconfirmed);
  const { id: grantId, expiresAt } = grant;
  const ofChat = { ownerId, chatId, accountId: chatId };
  yield* insert('grants', { id: grantId, ...ofChat, scopes, unconfirmed, expiresAt, createdAt: at, createdBy: actor });
  // The task of a program belongs to whoever approved the chat, who may be out of it by now.
  if (task.home.provider === 'telegram') yield* loseIfOut(grant.id, at);
  yield* insert('tasks', {
    id,
    chatId,
    number,
    homeTopic: task.home.topic,
    ownerId,
    grantId: grant.id,
    version: 1,
    state: 'active',
    nextAt,
    ...definitionColumns(task),
    minGapMs,
    context: JSON.stringify(task.context),
    runs: 0,
    failures: 0,
    consecutiveFailures: 0,
    boundedRuns: 0,
    topicState: 'none',
    createdAt: at,
    createdBy: actor,
    updatedAt: at,
    updatedBy: actor,
  });
  yield* insertTags({ id, chatId }, task.tags);
  if (task.policies.budget !== undefined)
    yield* followPolicy({ taskId: id, chatId, timezone: task.schedule.timezone, policies: task.policies, actor, at });
  yield* addVersion(task, { ...task, version: 1, chatId });
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
  yield* hold(sql`select id from tasks where id = (select r.task_id from runs r where r.id = ${runId}) ${forUpdate}`);
  const where = allOf(sql`id = ${runId}`, yield* seen(columns.runs.chatId.sql));
  const found = yield* one(
    select(
      pick(columns.runs, 'id', 'taskId', 'occurrenceId', 'status', 'cancelRequestedAt'),
    )`from runs where ${where} ${forUpdate}`,
  );
  if (found === undefined) return null;
  const { status, taskId, occurrenceId } = found;
  if (status === 'succeeded' || status === 'failed' || status === 'cancelled') return status === 'cancelled';
  if (found.cancelRequestedAt !== null) return true;
  yield* callOff([found], 'cancelled', at);
  if (taskId === null) return true;
  const { state } = yield* taskById(taskId);
  const states = { stateBefore: state, stateAfter: state };
  const [deedId] = yield* recordVerbs([
    { at, actor, verb: 'cancel', taskId, ...states, after: { run_id: runId }, traceId },
  ]);
  yield* nameDeed('deedId', deedId, occurrenceId === null ? [] : [occurrenceId]);
  return true;
}

/**
 * The task has no topic any more, and its next result makes one. Nobody deleted it behind our back, so nothing is said of
 * that in the new one. The same again finds it unbound by its row in the audit.
 */
function* unbindTopic({ taskId, topicId, actor, at }: Unbinding): Script<Unbound> {
  const task = yield* one(
    select(
      pick(columns.tasks, 'state', 'topicState', 'topicId', 'topicShared'),
    )`from tasks where id = ${taskId} ${forUpdate}`,
  );
  if (task === undefined || task.topicShared === 1) return 'none';
  if (task.topicId !== topicId) return (yield* wasUnbound(taskId, topicId)) ? 'before' : 'none';
  if (task.topicState === 'creating') return 'creating';
  yield* update('tasks', noTopic, sql`id = ${taskId} and topic_id = ${topicId}`);
  const { state } = task;
  const before = { topic_id: topicId };
  yield* recordVerbs([{ at, actor, verb: 'unbind', taskId, stateBefore: state, stateAfter: state, before }]);
  return 'unbound';
}

const beforeFields = { before: mapped(columns.audit.before, readFacts) };

function* wasUnbound(taskId: string, topicId: number): Script<boolean> {
  const found = yield* all(
    select(beforeFields)`from audit where task_id = ${taskId} and verb = 'unbind' order by at desc, id desc limit 10`,
  );
  return found.some(({ before }) => before?.['topic_id'] === topicId);
}

/**
 * A purge: tasks of a chat or of a person go together, in one transaction, and what hangs on them is left to retention. Its
 * statements take many tasks at once, because on SQLite nothing else has a turn until it has committed.
 */

const doomedFields = pick(columns.tasks, 'id', 'state', 'pausedReason', 'resumeAt');

type Doomed = Answer<typeof doomedFields>;

/** Tasks of one statement. */
const sliceMax = 512;

/** Where there are not as many tasks as were expected nothing is deleted, because nobody was told of the others. */
function* purgeTasks({ whose, expected, at, ...by }: Purge): Script<Purged> {
  const found = yield* all(select(doomedFields)`from tasks where ${yield* within(whose)} order by id ${forUpdate}`);
  for (const { id, resumeAt } of found) if (resumeAt !== null && resumeAt <= at) yield* endPauseOf(id, at, by.endPause);
  const counts = yield* countTasks(whose);
  const isDone = expected === null || expected === found.length;
  for (let from = 0; isDone && from < found.length; from += sliceMax) {
    const ids = list(found.slice(from, from + sliceMax).map(({ id }) => id));
    const doomed = yield* all(select(doomedFields)`from tasks where id in ${ids} order by id`);
    yield* deleteTasks(doomed, { ...by, at });
  }
  return { counts, isDone };
}

function* deleteTasks(
  doomed: readonly Doomed[],
  { actor, at, traceId }: Omit<Purge, 'whose' | 'expected'>,
): Script<void> {
  const taskIds = doomed.map(({ id }) => id);
  yield* recordDue(taskIds, { reason: 'deleted', guard: raw('1 = 1') }, at);
  const stamp = { updatedAt: at, updatedBy: actor, deletedAt: at, deletedBy: actor };
  yield* update(
    'tasks',
    { state: 'deleted', nextAt: null, resumeAt: null, version: raw('version + 1'), ...stamp },
    sql`id in ${list(taskIds)}`,
  );
  const waiting = yield* endWaiting(taskIds, 'deleted', at);
  yield* dropParts(taskIds, at);
  const live = yield* cancelLive(taskIds, 'deleted', at);
  yield* endGrants(taskIds, at);
  const deeds = yield* recordVerbs(
    doomed.map(({ id: taskId, state, ...pause }) => ({
      at,
      actor,
      verb: 'delete',
      taskId,
      stateBefore: state,
      stateAfter: 'deleted',
      before: { state, ...pauseFacts(pause) },
      after: { state: 'deleted' },
      traceId,
    })),
  );
  const ofRuns = live.flatMap(({ taskId, occurrenceId: id }) => (taskId === null || id === null ? [] : { id, taskId }));
  yield* nameDeeds(deeds, taskIds, [...waiting, ...ofRuns]);
}
