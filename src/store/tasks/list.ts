import type { Page } from '../../app/ports/runs.ts';
import type { TaskQuery } from '../../app/ports/tasks.ts';
import type { Task } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { columnsOf, pick } from '../engine/fields.ts';
import { chatOfThread, contains, holds, positionOf, writeCursor } from '../engine/queries.ts';
import { allOf, limit, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { taskFields, taskSource } from './codec.ts';

/** Tasks, one and in pages. */

const t = columnsOf('tasks', 't');

export function* readTask(taskId: string): Script<Task | null> {
  return (yield* one(select(taskFields)`from ${taskSource} where t.id = ${taskId}`)) ?? null;
}

/** Rows that one look passes, however few of them are wanted: a millisecond or two. */
const lookMax = 1000;

const selectId = select(pick(t, 'id'));

/**
 * A page may be short, or empty, and have a next one all the same: what no index answers is looked for among so many rows
 * at a time, and the cursor goes on behind them.
 */
export function* listTasks(query: TaskQuery): Script<Page<Task>> {
  const { cursor, thread } = query;
  const within = thread === null ? undefined : yield* chatIdOf(thread);
  if (within === null) return { items: [], next: null };
  const from = allOf(within, cursor === null ? undefined : sql`t.id < ${positionOf('task', cursor)}`);
  const edge = yield* one(selectId`from tasks t where ${from} order by t.id desc ${limit(1)} offset ${lookMax - 1}`);
  const conditions = allOf(from, edge && sql`t.id >= ${edge.id}`, ...filtersOf(query));
  const found = yield* all(
    select(taskFields)`from ${taskSource} where ${conditions} order by t.id desc ${limit(query.limit + 1)}`,
  );
  const items = found.slice(0, query.limit);
  const next = found.length > query.limit ? items.at(-1)?.id : edge?.id;
  return { items, next: next === undefined ? null : writeCursor('task', next) };
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
};

function filtersOf({ state, subject, tag, text, thread }: TaskQuery): readonly (Sql | undefined)[] {
  // A base thread stands for its whole chat, a topic for what was asked for in it.
  const topic = thread?.topic ?? null;
  return [
    states[state],
    topic === null ? undefined : sql`t.home_topic = ${topic}`,
    subject === null ? undefined : sql`t.subject = ${subject}`,
    tag === null ? undefined : holds(t.tags.sql, JSON.stringify(tag)),
    text === null ? undefined : contains(raw(`t.title || ' ' || t.instructions`), text),
  ];
}
