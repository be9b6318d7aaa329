import type { SpentByQuarter, SpentByTask, SpentQuery } from '../../app/ports/metering.ts';
import { periodAt } from '../../domain/spending/budget.ts';
import type { Sum } from '../../domain/spending/usage.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, maybe, number, pick, type Answer } from '../engine/fields.ts';
import { chatOfThread } from '../engine/queries.ts';
import { seen } from '../engine/reach.ts';
import { allOf, limit as limited, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, insertAll, run, select } from '../engine/statements.ts';

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

/** By runs of a chat that were let in since then. */
export function* spentInChat(chatId: string, since: number): Script<readonly Sum[]> {
  return yield* all(
    select(sumFields)`from usage u where u.chat_id = ${chatId} and u.at >= ${since}
      group by u.kind, u.currency order by u.kind, u.currency`,
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

/** The usage of a run in all of its attempts. */
export function* spentByRun(runId: string): Script<readonly Sum[]> {
  return yield* all(
    select(runFields)`from usage where run_id = ${runId} group by kind, currency order by kind, currency`,
  );
}

const keptFields = {
  ...pick(u, 'kind', 'source', 'quantity', 'currency', 'taskId', 'ownerId', 'chatId', 'at'),
  timezone: maybe(columnsOf('chats', 'c').timezone),
};

/**
 * Takes away what runs that go have spent, and leaves one row for each day of their chat in its place, so that a month stays as it was
 * however little history is kept. Answers how many rows went.
 */
export function* rollUp(runIds: readonly string[]): Script<number> {
  if (runIds.length === 0) return 0;
  const gone = yield* all(
    select(keptFields)`from usage u left join chats c on c.id = u.chat_id where u.run_id in ${list(runIds)}`,
  );
  if (gone.length === 0) return 0;
  const days = new Map<string, RolledRow>();
  for (const { timezone, ...row } of gone) {
    const { from: at } = periodAt(timezone ?? 'UTC', 'day', row.at);
    const { taskId, ownerId, chatId, kind, source, currency } = row;
    const runId = `day ${[chatId, ownerId, taskId, currency, at].join(' ')}`;
    const key = `${runId} ${kind} ${source}`;
    days.set(key, { ...row, runId, at, quantity: (days.get(key)?.quantity ?? 0) + row.quantity });
  }
  yield* insertAll(
    'usage',
    [...days.values()].map((row) => ({ ...row, attempt: 0 })),
    raw('on conflict (run_id, attempt, kind, source) do update set quantity = usage.quantity + excluded.quantity'),
  );
  yield* run(sql`delete from usage where run_id in ${list(runIds)}`);
  return gone.length;
}

type RolledRow = Omit<Answer<typeof keptFields>, 'timezone'> & { readonly runId: string };
