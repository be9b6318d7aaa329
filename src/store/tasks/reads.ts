import type { EndedRun, TaskRun, TaskRunQuery, Page } from '../../app/ports/runs.ts';
import type { WorkCounts, TaskQuery, TaskVersion, Whose } from '../../app/ports/tasks.ts';
import { versionsShownMax } from '../../domain/limits.ts';
import type { Definition, Task } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, like, mapped, pick, type Answer } from '../engine/fields.ts';
import {
  chatOfThread,
  contains,
  foreignCursor,
  ofSubject,
  tagged,
  page,
  positionOf,
  writeCursor,
} from '../engine/queries.ts';
import { seen, seenTask } from '../engine/reach.ts';
import { allOf, limit as limited, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { acksOf } from '../questions/acks.ts';
import { endedFields, partsOf } from '../runs/codec.ts';
import { broughtBack, lastResult, listRuns, readRun } from '../runs/list.ts';
import { liveOf } from '../runs/thread-runs.ts';
import { taskFields, taskSource } from './codec.ts';

/** Single reads. None of them writes, and none of them takes a lock. */
export const taskReads = {
  readTask,
  listTasks,
  readTaskRun,
  listTaskRuns,
  readRun,
  broughtBack,
  lastResult,
  listRuns,
  readEndedRun,
  listVersions,
  countTasks,
};

const o = columnsOf('occurrences', 'o');

const taskRunFields = {
  ...pick(o, 'id', 'taskId', 'slotAt', 'source', 'status', 'reason', 'runId', 'replayOf', 'lateMs'),
  ...pick(o, 'createdAt', 'updatedAt'),
  ...pick(columnsOf('runs', 'r'), 'runNumber', 'actionKind', 'errorCode'),
  // A slot that was skipped is no failure, so only its run bears the sentence of it.
  error: like(o.error, raw('coalesce(o.error, r.error)')),
  // An occurrence that was asked for and skipped has no run, so the audit tells the request.
  traceId: like(columns.audit.traceId, raw('coalesce(r.trace_id, a.trace_id)')),
};

const selectTaskRuns = select(taskRunFields);
const source = raw('occurrences o left join runs r on r.id = o.run_id left join audit a on a.id = o.asked_by');

function* readTaskRun(id: string): Script<TaskRun | null> {
  const where = allOf(sql`o.id = ${id}`, yield* seen(o.chatId.sql));
  return (yield* withParts(yield* all(selectTaskRuns`from ${source} where ${where}`)))[0] ?? null;
}

function* listTaskRuns({ taskId, status, cursor, limit: size }: TaskRunQuery): Script<Page<TaskRun>> {
  const where = allOf(
    sql`o.task_id = ${taskId}`,
    status === null ? undefined : sql`o.status = ${status}`,
    cursor === null ? undefined : sql`o.slot_at < ${slotOf(cursor)}`,
    yield* seen(o.chatId.sql),
  );
  const { rows, next } = yield* page({
    limit: size,
    found: (max) => all(selectTaskRuns`from ${source} where ${where} order by o.slot_at desc ${limited(max)}`),
    keyOf: ({ slotAt }) => slotAt,
  });
  return { items: yield* withParts(rows), next: next === null ? null : writeCursor('slot', next) };
}

function slotOf(cursor: string): number {
  const position = positionOf('slot', cursor);
  if (/^-?\d{1,16}$/.test(position)) return Number(position);
  throw foreignCursor();
}

function* readEndedRun(runId: string): Script<EndedRun | null> {
  const where = allOf(sql`id = ${runId}`, yield* seen(columns.runs.chatId.sql));
  return (yield* one(select(endedFields)`from runs where ${where}`)) ?? null;
}

const versionFields = {
  ...pick(columns.taskVersions, 'version', 'at', 'actor'),
  definition: mapped(columns.taskVersions.definition, (text) => JSON.parse(text) as Definition),
};

/** Newest first. Only versions that say something new were kept, and no more than a person looks at. */
function* listVersions(taskId: string): Script<readonly TaskVersion[]> {
  const where = allOf(sql`task_id = ${taskId}`, yield* seenTask(columns.taskVersions.taskId.sql));
  return yield* all(
    select(versionFields)`from task_versions where ${where} order by version desc ${limited(versionsShownMax)}`,
  );
}

const stateFields = { state: columns.tasks.state, count };

/** The tasks that are meant, and their work. */
export function* countTasks(whose: Whose): Script<WorkCounts> {
  const mine = yield* within(whose);
  const ofMine = sql`task_id in (select id from tasks where ${mine})`;
  const states = yield* all(select(stateFields)`from tasks where ${mine} group by state`);
  const live = yield* one(select({ count })`from (${liveOf(raw('id'), ofMine)}) live`);
  const open = yield* one(
    select({ count })`from deliveries where ${ofMine} and status in ('pending', 'blocked', 'sending', 'unknown')
      and kind in ('result', 'notice')`,
  );
  const inState = (state: string) => states.find((found) => found.state === state)?.count ?? 0;
  return {
    active: inState('active'),
    paused: inState('paused'),
    completed: inState('completed'),
    liveRuns: live?.count ?? 0,
    openDeliveries: open?.count ?? 0,
  };
}

/** A base thread stands for its whole chat, a topic for what was asked for in it. Old ids of a chat still find it. */
export function* within({ thread = null, ownerId = null }: Whose): Script<Sql> {
  return allOf(
    raw(`state <> 'deleted'`),
    thread === null ? undefined : sql`chat_id in ${chatOfThread(thread)}`,
    thread === null || thread.topic === null ? undefined : sql`home_topic = ${thread.topic}`,
    ownerId === null ? undefined : sql`owner_id = ${ownerId}`,
    yield* seen(columns.tasks.chatId.sql),
  );
}

function* withParts(found: readonly Answer<typeof taskRunFields>[]): Script<TaskRun[]> {
  const parts = yield* partsOf(found.map(({ runId }) => runId));
  const acks = yield* acksOf(found.map(({ id }) => id));
  return found.map((run) => ({ ...run, ...parts(run.runId), ack: acks.get(run.id) ?? null }));
}

/* ---- tasks ---- */

const t = columnsOf('tasks', 't');

/** Rows that one look passes, however few of them are wanted: a millisecond or two. */
const lookMax = 1000;

const selectTasks = select(taskFields);

export function* readTask(taskId: string): Script<Task | null> {
  const where = allOf(sql`t.id = ${taskId}`, yield* seen(t.chatId.sql));
  return (yield* one(selectTasks`from ${taskSource} where ${where}`)) ?? null;
}

function* listTasks(query: TaskQuery): Script<Page<Task>> {
  const { cursor, thread, subject } = query;
  const mine = yield* seen(t.chatId.sql);
  // The tasks of a chat and those of a subject have an index each, in the order of the list; a chat has fewer.
  const about = subject === null ? undefined : ofSubject([subject].flat());
  const within = thread === null ? about : yield* chatIdOf(thread);
  if (within === null) return { items: [], next: null };
  const from = allOf(within, cursor === null ? undefined : sql`t.id < ${positionOf('task', cursor)}`);
  const edge = yield* one(
    select(pick(t, 'id'))`from tasks t where ${from} order by t.id desc ${limited(1)} offset ${lookMax - 1}`,
  );
  const where = allOf(from, edge && sql`t.id >= ${edge.id}`, mine, ...filtersOf(query));
  const { rows, next } = yield* page({
    limit: query.limit,
    edge: edge?.id,
    found: (limit) => all(selectTasks`from ${taskSource} where ${where} order by t.id desc ${limited(limit)}`),
    keyOf: ({ id }) => id,
  });
  return { items: rows, next: next === null ? null : writeCursor('task', next) };
}

/** Old ids of a chat still find it; null where nothing can be found. Named by its id, it is met by the index of its tasks. */
function* chatIdOf(thread: NonNullable<TaskQuery['thread']>): Script<Sql | null> {
  const found = yield* one(select(pick(columnsOf('chats'), 'id'))`from chats where id in ${chatOfThread(thread)}`);
  return found === undefined ? null : sql`t.chat_id = ${found.id}`;
}

const states: Readonly<Record<TaskQuery['state'], Sql>> = {
  all: raw(`t.state <> 'deleted'`),
  enabled: raw(`t.state = 'active'`),
  disabled: raw(`t.state in ('paused', 'completed')`),
  active: raw(`t.state = 'active'`),
  paused: raw(`t.state = 'paused'`),
  completed: raw(`t.state = 'completed'`),
  deleted: raw(`t.state = 'deleted'`),
};

function filtersOf({ state, ownerId = null, subject, tag, text, thread }: TaskQuery): readonly (Sql | undefined)[] {
  // A base thread stands for its whole chat, a topic for what was asked for in it.
  const topic = thread?.topic ?? null;
  return [
    states[state],
    topic === null ? undefined : sql`t.home_topic = ${topic}`,
    ownerId === null ? undefined : sql`t.owner_id = ${ownerId}`,
    subject === null || thread === null ? undefined : ofSubject([subject].flat(), raw(`t.subject_key || ''`)),
    tag === null ? undefined : tagged(tag),
    text === null ? undefined : contains(raw(`t.title || ' ' || t.instructions`), text),
  ];
}
