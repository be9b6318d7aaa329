import type { Page } from '../../app/ports/runs.ts';
import type { TaskQuery } from '../../app/ports/tasks.ts';
import type { Task } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { columnsOf, pick } from '../engine/fields.ts';
import { page } from '../engine/pages.ts';
import { chatOfThread, contains, holds, positionOf, writeCursor } from '../engine/queries.ts';
import { allOf, limit as limited, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { taskFields, taskSource } from './codec.ts';

/** Tasks, one and in pages. */

const t = columnsOf('tasks', 't');

/** Rows that one look passes, however few of them are wanted: a millisecond or two. */
const lookMax = 1000;

const selectTasks = select(taskFields);

export function* readTask(taskId: string): Script<Task | null> {
  return (yield* one(selectTasks`from ${taskSource} where t.id = ${taskId}`)) ?? null;
}

export function* listTasks(query: TaskQuery): Script<Page<Task>> {
  const { cursor, thread } = query;
  const within = thread === null ? undefined : yield* chatIdOf(thread);
  if (within === null) return { items: [], next: null };
  const from = allOf(within, cursor === null ? undefined : sql`t.id < ${positionOf('task', cursor)}`);
  const edge = yield* one(
    select(pick(t, 'id'))`from tasks t where ${from} order by t.id desc ${limited(1)} offset ${lookMax - 1}`,
  );
  const where = allOf(from, edge && sql`t.id >= ${edge.id}`, ...filtersOf(query));
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
  paused: raw(`t.state = 'paused'`),
};

function filtersOf({ state, ownerId = null, subject, tag, text, thread }: TaskQuery): readonly (Sql | undefined)[] {
  // A base thread stands for its whole chat, a topic for what was asked for in it.
  const topic = thread?.topic ?? null;
  return [
    states[state],
    topic === null ? undefined : sql`t.home_topic = ${topic}`,
    ownerId === null ? undefined : sql`t.owner_id = ${ownerId}`,
    subject === null ? undefined : sql`t.subject = ${subject}`,
    tag === null ? undefined : holds(t.tags.sql, JSON.stringify(tag)),
    text === null ? undefined : contains(raw(`t.title || ' ' || t.instructions`), text),
  ];
}
