import { and, count, desc, eq, inArray, lt, ne, sql, type SQL } from 'drizzle-orm';
import type {
  Attempt,
  Delivery,
  EndedRun,
  Page,
  RunView,
  TaskQuery,
  TaskRun,
  TaskRunQuery,
  TaskStore,
  TaskVersion,
  ThreadCounts,
} from '../../app/task-store.ts';
import type { Actor } from '../../domain/actor.ts';
import { versionsShownMax } from '../../domain/limits.ts';
import type { Definition, Task } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import {
  readAck,
  readAttempt,
  readDelivery,
  readEnded,
  readRun,
  readTask,
  readTaskRun,
  type OccurrenceRow,
  type TaskRow,
} from './codec.ts';
import { foreignCursor, positionOf, writeCursor } from './cursor.ts';
import type { Engine } from './engine.ts';
import { literalLike } from './search.ts';

type Reads = Omit<TaskStore, 'createTask' | 'madeUnder' | 'changeTask' | 'cancelRun' | 'unbindTopic'>;

/** Single reads, written once with the query builder. None of them writes, and none of them takes a lock. */
export function taskReads(engine: Engine): Reads {
  return {
    readTask: (taskId) => readOneTask(engine, taskId),
    listTasks: (query) => listTasks(engine, query),
    readTaskRun: (id) => readOneTaskRun(engine, id),
    listTaskRuns: (query) => listTaskRuns(engine, query),
    readRun: (runId) => readOneRun(engine, runId),
    readEndedRun: (runId) => readEndedRun(engine, runId),
    listVersions: (taskId) => listVersions(engine, taskId),
    countThread: (thread) => countThread(engine, thread),
  };
}

function selectTasks({ reader, tables: { tasks, chats } }: Engine) {
  return reader
    .select({ task: tasks, provider: chats.provider, address: chats.address })
    .from(tasks)
    .innerJoin(chats, eq(chats.id, tasks.chat_id));
}

type Joined = { task: Omit<TaskRow, 'provider' | 'address'>; provider: string; address: string };

function joined({ task, provider, address }: Joined): Task {
  return readTask({ ...task, provider, address });
}

async function readOneTask(engine: Engine, taskId: string): Promise<Task | null> {
  const [found] = await selectTasks(engine).where(eq(engine.tables.tasks.id, taskId)).limit(1);
  return found === undefined ? null : joined(found);
}

async function listTasks(engine: Engine, query: TaskQuery): Promise<Page<Task>> {
  const { tasks } = engine.tables;
  const conditions: (SQL | undefined)[] = [
    ne(tasks.state, 'deleted'),
    query.cursor === null ? undefined : lt(tasks.id, positionOf('task', query.cursor)),
    stateIs(engine, query.state),
    query.subject === null ? undefined : eq(tasks.subject, query.subject),
    query.tag === null ? undefined : holds(tasks.tags, JSON.stringify(query.tag)),
    query.text === null ? undefined : contains(sql`${tasks.title} || ' ' || ${tasks.instructions}`, query.text),
    query.thread === null ? undefined : inThread(engine, query.thread),
  ];
  const found = await selectTasks(engine)
    .where(and(...conditions))
    .orderBy(desc(tasks.id))
    .limit(query.limit + 1);
  return pageOf(found.map(joined), query.limit);
}

function stateIs({ tables: { tasks } }: Engine, state: TaskQuery['state']): SQL | undefined {
  if (state === 'all') return undefined;
  return state === 'enabled' ? eq(tasks.state, 'active') : inArray(tasks.state, ['paused', 'completed']);
}

/** A base thread stands for its whole chat, a topic for what was asked for in it. Old ids of a chat still find it. */
function inThread(engine: Engine, thread: NonNullable<TaskQuery['thread']>): SQL | undefined {
  const { tasks, chat_aliases: aliases } = engine.tables;
  const chat = engine.reader
    .select({ id: aliases.chat_id })
    .from(aliases)
    .where(and(eq(aliases.provider, thread.provider), eq(aliases.address, thread.address)));
  const topic = thread.topic === null ? undefined : eq(tasks.home_topic, thread.topic);
  return and(inArray(tasks.chat_id, chat), topic);
}

/** A literal search as people mean it, in whatever case. */
function contains(column: unknown, text: string): SQL {
  return sql`lower(${column}) like lower(${literalLike(text)}) escape '\\'`;
}

/** The text as it stands; `like` would compare the case on one engine and not on the other. */
function holds(column: unknown, text: string): SQL {
  return sql`replace(${column}, ${text}, '') <> ${column}`;
}

function pageOf<T extends { readonly id: string }>(found: readonly T[], limit: number): Page<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: found.length > limit && last !== undefined ? writeCursor('task', last.id) : null };
}

async function readOneTaskRun(engine: Engine, id: string): Promise<TaskRun | null> {
  const { occurrences } = engine.tables;
  const found = await engine.reader.select().from(occurrences).where(eq(occurrences.id, id)).limit(1);
  return (await withParts(engine, found))[0] ?? null;
}

async function listTaskRuns(engine: Engine, query: TaskRunQuery): Promise<Page<TaskRun>> {
  const { occurrences } = engine.tables;
  const found = await engine.reader
    .select()
    .from(occurrences)
    .where(
      and(
        eq(occurrences.task_id, query.taskId),
        query.status === null ? undefined : eq(occurrences.status, query.status),
        query.cursor === null ? undefined : lt(occurrences.slot_at, slotOf(query.cursor)),
      ),
    )
    .orderBy(desc(occurrences.slot_at))
    .limit(query.limit + 1);
  const items = await withParts(engine, found.slice(0, query.limit));
  const last = items.at(-1);
  return { items, next: found.length > query.limit && last !== undefined ? writeCursor('slot', last.slotAt) : null };
}

function slotOf(cursor: string): number {
  const position = positionOf('slot', cursor);
  if (/^-?\d{1,16}$/.test(position)) return Number(position);
  throw foreignCursor();
}

async function readOneRun(engine: Engine, runId: string): Promise<RunView | null> {
  const { runs } = engine.tables;
  const [found] = await engine.reader.select().from(runs).where(eq(runs.id, runId)).limit(1);
  if (found === undefined) return null;
  const parts = await partsOf(engine, [runId]);
  return readRun(found, { attempts: parts.attempts.get(runId) ?? [], deliveries: parts.deliveries.get(runId) ?? [] });
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

const liveStates = ['queued', 'running', 'backoff', 'waiting'];
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
    .where(and(inArray(runs.task_id, mine), inArray(runs.status, liveStates)));
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

async function withParts(engine: Engine, found: readonly OccurrenceRow[]): Promise<TaskRun[]> {
  const runIds = found.flatMap(({ run_id }) => (run_id === null ? [] : [run_id]));
  const parts = await partsOf(engine, runIds);
  const acks = await acksOf(
    engine,
    found.map(({ id }) => id),
  );
  return found.map((one) => {
    const id = one.run_id ?? '';
    const work = { attempts: parts.attempts.get(id) ?? [], deliveries: parts.deliveries.get(id) ?? [] };
    return readTaskRun(one, work, acks.get(one.id) ?? null);
  });
}

async function acksOf(
  { reader, tables: { acks } }: Engine,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TaskRun['ack']>> {
  if (ids.length === 0) return new Map();
  const found = await reader
    .select()
    .from(acks)
    .where(inArray(acks.occurrence_id, [...ids]));
  return new Map(found.map((one) => [one.occurrence_id, readAck(one)]));
}

interface RunParts {
  readonly attempts: ReadonlyMap<string, readonly Attempt[]>;
  readonly deliveries: ReadonlyMap<string, readonly Delivery[]>;
}

async function partsOf({ reader, tables }: Engine, runIds: readonly string[]): Promise<RunParts> {
  const { attempts, deliveries, chats } = tables;
  if (runIds.length === 0) return { attempts: new Map(), deliveries: new Map() };
  const tries = await reader
    .select()
    .from(attempts)
    .where(inArray(attempts.run_id, [...runIds]))
    .orderBy(attempts.run_id, attempts.attempt);
  const parts = await reader
    .select({ part: deliveries, provider: chats.provider, address: chats.address })
    .from(deliveries)
    .innerJoin(chats, eq(chats.id, deliveries.chat_id))
    .where(and(inArray(deliveries.run_id, [...runIds]), eq(deliveries.kind, 'result')))
    .orderBy(deliveries.run_id, deliveries.id);
  return {
    attempts: grouped(tries.map((one) => [one.run_id, readAttempt(one)])),
    deliveries: grouped(
      parts.map(({ part, provider, address }) => [part.run_id ?? '', readDelivery({ ...part, provider, address })]),
    ),
  };
}

function grouped<T>(pairs: readonly (readonly [string, T])[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key) ?? [];
    group.push(value);
    groups.set(key, group);
  }
  return groups;
}
