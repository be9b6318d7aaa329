import { and, count, desc, eq, inArray, lt, ne, type SQL } from 'drizzle-orm';
import type { EndedRun, TaskRun, TaskRunQuery, Page } from '../../app/ports/runs.ts';
import type { TaskStore, TaskVersion, ThreadCounts } from '../../app/ports/tasks.ts';
import type { Actor } from '../../domain/access.ts';
import { versionsShownMax } from '../../domain/limits.ts';
import { liveStatuses } from '../../domain/run.ts';
import type { Definition } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import { rows, type Engine, type Script } from '../engine/engine.ts';
import { foreignCursor, positionOf, writeCursor, chatOfThread } from '../engine/queries.ts';
import { acksOf } from '../questions/acks.ts';
import { readEnded, readTaskRun, type OccurrenceRow, type TaskRunRow, readParts } from '../runs/codec.ts';
import { runReads } from '../runs/list.ts';
import { taskListReads } from './list.ts';

type Reads = Pick<
  TaskStore,
  | 'readTask'
  | 'listTasks'
  | 'readTaskRun'
  | 'listTaskRuns'
  | 'readRun'
  | 'listRuns'
  | 'readEndedRun'
  | 'listVersions'
  | 'countThread'
>;

/** Single reads, written once with the query builder. None of them writes, and none of them takes a lock. */
export function taskReads(engine: Engine): Reads {
  return {
    ...taskListReads(engine),
    readTaskRun: (id) => engine.read(() => readOneTaskRun(id)),
    listTaskRuns: (query) => listTaskRuns(engine, query),
    ...runReads(engine),
    readEndedRun: (runId) => readEndedRun(engine, runId),
    listVersions: (taskId) => listVersions(engine, taskId),
    countThread: (thread) => countThread(engine, thread),
  };
}

/** A base thread stands for its whole chat, a topic for what was asked for in it. Old ids of a chat still find it. */
function inThread(engine: Engine, thread: Thread): SQL | undefined {
  const { tasks } = engine.tables;
  const topic = thread.topic === null ? undefined : eq(tasks.home_topic, thread.topic);
  return and(inArray(tasks.chat_id, chatOfThread(engine, thread)), topic);
}

function selectTaskRuns({ reader, tables: { occurrences, runs } }: Engine) {
  return reader
    .select({ occurrence: occurrences, traceId: runs.trace_id })
    .from(occurrences)
    .leftJoin(runs, eq(runs.id, occurrences.run_id));
}

function traced({ occurrence, traceId }: { occurrence: OccurrenceRow; traceId: string | null }): TaskRunRow {
  return { ...occurrence, trace_id: traceId };
}

function* readOneTaskRun(id: string): Script<TaskRun | null> {
  const found = yield* rows<TaskRunRow>(
    `select o.*, r.trace_id from occurrences o left join runs r on r.id = o.run_id where o.id = ?t`,
    id,
  );
  return (yield* withParts(found))[0] ?? null;
}

async function listTaskRuns(engine: Engine, query: TaskRunQuery): Promise<Page<TaskRun>> {
  const { occurrences } = engine.tables;
  const found = await selectTaskRuns(engine)
    .where(
      and(
        eq(occurrences.task_id, query.taskId),
        query.status === null ? undefined : eq(occurrences.status, query.status),
        query.cursor === null ? undefined : lt(occurrences.slot_at, slotOf(query.cursor)),
      ),
    )
    .orderBy(desc(occurrences.slot_at))
    .limit(query.limit + 1);
  const page = found.slice(0, query.limit).map(traced);
  const items = await engine.read(() => withParts(page));
  const last = items.at(-1);
  return { items, next: found.length > query.limit && last !== undefined ? writeCursor('slot', last.slotAt) : null };
}

function slotOf(cursor: string): number {
  const position = positionOf('slot', cursor);
  if (/^-?\d{1,16}$/.test(position)) return Number(position);
  throw foreignCursor();
}

async function readEndedRun({ reader, tables: { runs } }: Engine, runId: string): Promise<EndedRun | null> {
  const [found] = await reader.select().from(runs).where(eq(runs.id, runId)).limit(1);
  return found === undefined ? null : readEnded(found);
}

/** Newest first. Only versions that say something new were kept, and no more than a person looks at. */
async function listVersions({ reader, tables }: Engine, taskId: string): Promise<readonly TaskVersion[]> {
  const { task_versions: versions } = tables;
  const found = await reader
    .select()
    .from(versions)
    .where(eq(versions.task_id, taskId))
    .orderBy(desc(versions.version))
    .limit(versionsShownMax);
  return found.map(({ version, at, actor, definition }) => ({
    version,
    at,
    actor: actor as Actor,
    definition: JSON.parse(definition) as Definition,
  }));
}

const openStates = ['pending', 'blocked', 'sending', 'unknown'];

async function countThread(engine: Engine, thread: Thread): Promise<ThreadCounts> {
  const { reader, tables } = engine;
  const { tasks, runs, deliveries } = tables;
  const mine = reader
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(ne(tasks.state, 'deleted'), inThread(engine, thread)));
  const states = await reader
    .select({ state: tasks.state, count: count() })
    .from(tasks)
    .where(and(ne(tasks.state, 'deleted'), inThread(engine, thread)))
    .groupBy(tasks.state);
  const [live] = await reader
    .select({ count: count() })
    .from(runs)
    .where(and(inArray(runs.task_id, mine), inArray(runs.status, [...liveStatuses])));
  const [open] = await reader
    .select({ count: count() })
    .from(deliveries)
    .where(
      and(
        inArray(deliveries.task_id, mine),
        inArray(deliveries.status, openStates),
        inArray(deliveries.kind, ['result', 'notice']),
      ),
    );
  const inState = (state: string) => states.find((one) => one.state === state)?.count ?? 0;
  return {
    active: inState('active'),
    paused: inState('paused'),
    completed: inState('completed'),
    liveRuns: live?.count ?? 0,
    openDeliveries: open?.count ?? 0,
  };
}

function* withParts(found: readonly TaskRunRow[]): Script<TaskRun[]> {
  const { attempts, deliveries } = yield* readParts(
    found.flatMap(({ run_id: runId }) => (runId === null ? [] : [runId])),
  );
  const acks = yield* acksOf(found.map(({ id }) => id));
  return found.map((one) => {
    const id = one.run_id ?? '';
    const work = { attempts: attempts.get(id) ?? [], deliveries: deliveries.get(id) ?? [] };
    return readTaskRun(one, work, acks.get(one.id) ?? null);
  });
}
