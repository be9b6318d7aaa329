import type { SpentByQuarter, SpentByTask, SpentQuery } from '../../app/ports/metering.ts';
import type { Sum } from '../../domain/spending/usage.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, maybe, number, pick } from '../engine/fields.ts';
import { chatOfThread } from '../engine/queries.ts';
import { seen } from '../engine/reach.ts';
import { allOf, limit as limited, raw, sql, type Sql } from '../engine/sql.ts';
import { all, select } from '../engine/statements.ts';

/** Sums of what was spent. Rows of runs and the days that are left of older ones are alike here. */

const u = columnsOf('usage', 'u');
const summed = number(raw('sum(u.quantity)'));
const sumFields = { ...pick(u, 'kind', 'currency'), quantity: summed };
const taskFields = {
  taskId: u.taskId,
  ...pick(u, 'kind', 'currency'),
  number: maybe(columnsOf('tasks', 't').number),
  title: maybe(columnsOf('tasks', 't').title),
  quantity: summed,
};

function* within({ thread, ownerId, taskId, from, to }: SpentQuery): Script<Sql> {
  const topic = thread?.topic ?? null;
  return allOf(
    yield* seen(u.chatId.sql),
    sql`u.at >= ${from} and u.at < ${to}`,
    thread === null ? undefined : sql`u.chat_id in ${chatOfThread(thread)}`,
    topic === null ? undefined : sql`u.task_id in (select t.id from tasks t where t.home_topic = ${topic})`,
    ownerId === null ? undefined : sql`u.owner_id = ${ownerId}`,
    taskId === null ? undefined : sql`u.task_id = ${taskId}`,
  );
}

export function* spentOf(query: SpentQuery): Script<readonly Sum[]> {
  return yield* all(
    select(
      sumFields,
    )`from usage u where ${yield* within(query)} group by u.kind, u.currency order by u.kind, u.currency`,
  );
}

export function* spentByTask(query: SpentQuery, limit: number): Script<readonly SpentByTask[]> {
  const found = yield* all(
    select(taskFields)`from usage u left join tasks t on t.id = u.task_id
      where ${yield* within(query)} and u.task_id is not null
      group by u.task_id, u.kind, u.currency, t.number, t.title
      order by sum(u.quantity) desc, u.task_id ${limited(limit)}`,
  );
  return found.map((one) => ({ ...one, taskId: one.taskId ?? '' }));
}

const quarterMs = 900_000;
const quarterFields = { ...pick(u, 'kind', 'currency'), from: number(raw('min(u.at)')), quantity: summed };

export function* spentByQuarter(query: SpentQuery): Script<readonly SpentByQuarter[]> {
  return yield* all(
    select(quarterFields)`from usage u where ${yield* within(query)}
      group by u.at / ${quarterMs}, u.kind, u.currency order by min(u.at), u.kind`,
  );
}

const runFields = { ...pick(columns.usage, 'kind', 'currency'), quantity: number(raw('sum(quantity)')) };

/** What a run has spent in all of its attempts. */
export function* spentByRun(runId: string): Script<readonly Sum[]> {
  return yield* all(
    select(runFields)`from usage where run_id = ${runId} group by kind, currency order by kind, currency`,
  );
}
