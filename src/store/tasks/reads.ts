import type { EndedRun, TaskRun, TaskRunQuery, Page } from '../../app/ports/runs.ts';
import type { TaskVersion, ThreadCounts } from '../../app/ports/tasks.ts';
import { versionsShownMax } from '../../domain/limits.ts';
import type { Definition } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, mapped, pick, type Answer } from '../engine/fields.ts';
import { page } from '../engine/pages.ts';
import { foreignCursor, positionOf, writeCursor, chatOfThread } from '../engine/queries.ts';
import { allOf, limit, raw, sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { acksOf } from '../questions/acks.ts';
import { endedFields, partsOf } from '../runs/codec.ts';
import { listRuns, readRun } from '../runs/list.ts';
import { listTasks, readTask } from './list.ts';

/** Single reads. None of them writes, and none of them takes a lock. */
export const taskReads = {
  readTask,
  listTasks,
  readTaskRun,
  listTaskRuns,
  readRun,
  listRuns,
  readEndedRun,
  listVersions,
  countThread,
};

const o = columnsOf('occurrences', 'o');

const taskRunFields = {
  ...pick(o, 'id', 'taskId', 'slotAt', 'source', 'status', 'reason', 'runId', 'replayOf', 'lateMs', 'error'),
  ...pick(o, 'createdAt', 'updatedAt'),
  traceId: columnsOf('runs', 'r').traceId,
};

const selectTaskRuns = select(taskRunFields);
const source = raw('occurrences o left join runs r on r.id = o.run_id');

function* readTaskRun(id: string): Script<TaskRun | null> {
  return (yield* withParts(yield* all(selectTaskRuns`from ${source} where o.id = ${id}`)))[0] ?? null;
}

function* listTaskRuns({ taskId, status, cursor, limit: size }: TaskRunQuery): Script<Page<TaskRun>> {
  const where = allOf(
    sql`o.task_id = ${taskId}`,
    status === null ? undefined : sql`o.status = ${status}`,
    cursor === null ? undefined : sql`o.slot_at < ${slotOf(cursor)}`,
  );
  const { rows, next } = yield* page({
    limit: size,
    found: (max) => all(selectTaskRuns`from ${source} where ${where} order by o.slot_at desc ${limit(max)}`),
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
  return (yield* one(select(endedFields)`from runs where id = ${runId}`)) ?? null;
}

const versionFields = {
  ...pick(columns.taskVersions, 'version', 'at', 'actor'),
  definition: mapped(columns.taskVersions.definition, (text) => JSON.parse(text) as Definition),
};

/** Newest first. Only versions that say something new were kept, and no more than a person looks at. */
function* listVersions(taskId: string): Script<readonly TaskVersion[]> {
  return yield* all(
    select(
      versionFields,
    )`from task_versions where task_id = ${taskId} order by version desc ${limit(versionsShownMax)}`,
  );
}

const stateFields = { state: columns.tasks.state, count };

/** A base thread stands for its whole chat, a topic for what was asked for in it. Old ids of a chat still find it. */
function* countThread(thread: Thread): Script<ThreadCounts> {
  const topic = thread.topic === null ? undefined : sql`home_topic = ${thread.topic}`;
  const mine = allOf(sql`state <> 'deleted' and chat_id in ${chatOfThread(thread)}`, topic);
  const ofMine = sql`task_id in (select id from tasks where ${mine})`;
  const states = yield* all(select(stateFields)`from tasks where ${mine} group by state`);
  const live = yield* one(
    select({ count })`from runs where ${ofMine} and status in ('queued', 'running', 'backoff', 'waiting')`,
  );
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

function* withParts(found: readonly Answer<typeof taskRunFields>[]): Script<TaskRun[]> {
  const parts = yield* partsOf(found.map(({ runId }) => runId));
  const acks = yield* acksOf(found.map(({ id }) => id));
  return found.map((run) => ({ ...run, ...parts(run.runId), ack: acks.get(run.id) ?? null }));
}
