import { and, desc, eq, inArray, lt, ne, sql, type SQL } from 'drizzle-orm';
import type {
  Attempt,
  Delivery,
  Page,
  RunView,
  TaskQuery,
  TaskRun,
  TaskRunQuery,
  TaskStore,
} from '../../app/task-store.ts';
import { AppError } from '../../domain/errors.ts';
import type { Task } from '../../domain/task.ts';
import {
  readAttempt,
  readDelivery,
  readRun,
  readTask,
  readTaskRun,
  type OccurrenceRow,
  type TaskRow,
} from './codec.ts';
import type { Engine } from './engine.ts';

type Reads = Pick<TaskStore, 'readTask' | 'listTasks' | 'readTaskRun' | 'listTaskRuns' | 'readRun'>;

/** Single reads, written once with the query builder. None of them writes, and none of them takes a lock. */
export function taskReads(engine: Engine): Reads {
  return {
    readTask: (taskId) => readOneTask(engine, taskId),
    listTasks: (query) => listTasks(engine, query),
    readTaskRun: (id) => readOneTaskRun(engine, id),
    listTaskRuns: (query) => listTaskRuns(engine, query),
    readRun: (runId) => readOneRun(engine, runId),
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

/** A literal search as people mean it, in whatever case: the signs that mean something to `like` are taken as themselves. */
function contains(column: unknown, text: string): SQL {
  const literal = `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
  return sql`lower(${column}) like lower(${literal}) escape '\\'`;
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

/** A cursor names its list, so that one of another list is refused instead of answering nonsense. */
function writeCursor(list: 'task' | 'slot', position: string | number): string {
  return Buffer.from(`${list}:${position}`).toString('base64url');
}

function positionOf(list: 'task' | 'slot', cursor: string): string {
  const [of, position = ''] = Buffer.from(cursor, 'base64url').toString().split(/:(.*)/s);
  if (of === list && /^[\w:-]{1,80}$/.test(position) && writeCursor(list, position) === cursor) return position;
  throw new AppError('invalid_cursor', 'This cursor was not made by this list; start again without one.');
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
  throw new AppError('invalid_cursor', 'This cursor was not made by this list; start again without one.');
}

async function readOneRun(engine: Engine, runId: string): Promise<RunView | null> {
  const { runs } = engine.tables;
  const [found] = await engine.reader.select().from(runs).where(eq(runs.id, runId)).limit(1);
  if (found === undefined) return null;
  const parts = await partsOf(engine, [runId]);
  return readRun(found, { attempts: parts.attempts.get(runId) ?? [], deliveries: parts.deliveries.get(runId) ?? [] });
}

async function withParts(engine: Engine, found: readonly OccurrenceRow[]): Promise<TaskRun[]> {
  const runIds = found.flatMap(({ run_id }) => (run_id === null ? [] : [run_id]));
  const parts = await partsOf(engine, runIds);
  return found.map((one) =>
    readTaskRun(one, {
      attempts: parts.attempts.get(one.run_id ?? '') ?? [],
      deliveries: parts.deliveries.get(one.run_id ?? '') ?? [],
    }),
  );
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
    .where(inArray(deliveries.run_id, [...runIds]))
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
