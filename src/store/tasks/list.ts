import type { Page } from '../../app/ports/runs.ts';
import type { TaskQuery, TaskStore } from '../../app/ports/tasks.ts';
import type { Task } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import { row, rows, type Engine, type Script, type Value } from '../engine/engine.ts';
import { positionOf, writeCursor, literalLike } from '../engine/queries.ts';
import { readTask, type ShownTask } from './codec.ts';

/**
 * Tasks, one and in pages. People and programs ask for nothing more often, so the statements are written out: to build them
 * anew each time costs more than to run them.
 */
export function taskListReads(engine: Engine): Pick<TaskStore, 'readTask' | 'listTasks'> {
  return {
    readTask: (taskId) => engine.read(() => readOne(taskId)),
    listTasks: async (query) => {
      const below = query.cursor === null ? null : positionOf('task', query.cursor);
      return engine.read(() => listTasks(query, below));
    },
  };
}

/** What a task shows of itself; the rest of its row is the business of the outbox. */
const columns = `t.id, t.number, t.version, t.state, t.next_at, t.title, t.instructions, t.action, t.schedule_kind,
  t.once_at, t.cron, t.rrule, t.interval, t.start_at, t.interval_from, t.timezone, t.policies, t.subject, t.tags,
  t.min_gap_ms, t.paused_reason, t.resume_at, t.owner_id, t.chat_id, t.home_topic, t.topic_state, t.topic_id, t.context,
  t.runs, t.failures, t.consecutive_failures, t.bounded_runs, t.last_run_at, t.last_run_status, t.last_error, t.created_at,
  t.created_by, t.updated_at, t.updated_by, t.paused_at, t.paused_by, t.resumed_at, t.resumed_by, t.deleted_at, t.deleted_by,
  c.provider, c.address`;

const source = `tasks t join chats c on c.id = t.chat_id`;

function* readOne(taskId: string): Script<Task | null> {
  const found = yield* row<ShownTask>(`select ${columns} from ${source} where t.id = ?t`, taskId);
  return found === undefined ? null : readTask(found);
}

/** Rows that one look passes, however few of them are wanted: a millisecond or two. */
const lookMax = 1000;

/** A part of a condition with the values of its placeholders. */
interface Part {
  readonly text: string;
  readonly values: readonly Value[];
}

/**
 * A page may be short, or empty, and have a next one all the same: what no index answers is looked for among so many rows
 * at a time, and the cursor goes on behind them.
 */
function* listTasks(query: TaskQuery, below: string | null): Script<Page<Task>> {
  const within = yield* placeOf(query);
  if (within === null) return { items: [], next: null };
  const from = [...within, ...(below === null ? [] : [{ text: 't.id < ?t', values: [below] }])];
  const edge = yield* row<{ id: string }>(
    `select t.id from tasks t${whereOf(from)} order by t.id desc limit 1 offset ?i`,
    ...valuesOf(from),
    lookMax - 1,
  );
  const parts = [
    ...from,
    ...(edge === undefined ? [] : [{ text: 't.id >= ?t', values: [edge.id] }]),
    ...filtersOf(query),
  ];
  const found = yield* rows<ShownTask>(
    `select ${columns} from ${source}${whereOf(parts)} order by t.id desc limit ?i`,
    ...valuesOf(parts),
    query.limit + 1,
  );
  const items = found.slice(0, query.limit);
  const next = found.length > query.limit ? items.at(-1)?.id : edge?.id;
  return { items: items.map(readTask), next: next === undefined ? null : writeCursor('task', next) };
}

function whereOf(parts: readonly Part[]): string {
  return parts.length === 0 ? '' : ` where ${parts.map(({ text }) => text).join(' and ')}`;
}

function valuesOf(parts: readonly Part[]): readonly Value[] {
  return parts.flatMap(({ values }) => values);
}

/** What an index answers; null where nothing can be found. */
function* placeOf({ thread }: TaskQuery): Script<readonly Part[] | null> {
  if (thread === null) return [];
  const chat = yield* chatIdOf(thread);
  return chat === undefined ? null : [{ text: 't.chat_id = ?t', values: [chat] }];
}

/** Old ids of a chat still find it. */
function* chatIdOf({ provider, address }: Thread): Script<string | undefined> {
  const found = yield* row<{ chat_id: string }>(
    `select chat_id from chat_aliases where provider = ?t and address = ?t`,
    provider,
    address,
  );
  return found?.chat_id;
}

const states: Readonly<Record<TaskQuery['state'], string>> = {
  all: `t.state <> 'deleted'`,
  enabled: `t.state = 'active'`,
  disabled: `t.state in ('paused', 'completed')`,
  paused: `t.state = 'paused'`,
};

function filtersOf({ state, ownerId = null, subject, tag, text, thread }: TaskQuery): readonly Part[] {
  // A base thread stands for its whole chat, a topic for what was asked for in it.
  const topic = thread?.topic ?? null;
  return [
    { text: states[state], values: [] },
    ...(topic === null ? [] : [{ text: 't.home_topic = ?i', values: [topic] }]),
    ...(ownerId === null ? [] : [{ text: 't.owner_id = ?t', values: [ownerId] }]),
    ...(subject === null ? [] : [{ text: 't.subject = ?t', values: [subject] }]),
    // The tag as it stands; `like` would compare the case on one engine and not on the other.
    ...(tag === null ? [] : [{ text: `replace(t.tags, ?t, '') <> t.tags`, values: [JSON.stringify(tag)] }]),
    ...(text === null ? [] : [saying(text)]),
  ];
}

/** A literal search as people mean it, in whatever case. */
function saying(text: string): Part {
  return {
    text: `lower(t.title || ' ' || t.instructions) like lower(?t) escape '\\'`,
    values: [literalLike(text)],
  };
}
