import type { Whose, Purge, Purged, TaskCounts } from '../../app/ports/tasks.ts';
import { pauseFacts } from '../../app/tasks/verbs.ts';
import type { Script } from '../engine/engine.ts';
import { columns, count, pick, type Answer } from '../engine/fields.ts';
import { chatOfThread } from '../engine/queries.ts';
import { allOf, forUpdate, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select, update } from '../engine/statements.ts';
import { dropParts } from '../outbox/run-parts.ts';
import { recordVerbs } from '../records/journal.ts';
import { endPauseOf } from '../runs/slots.ts';
import { cancelLive, liveOf } from '../runs/thread-runs.ts';
import { endWaiting, nameDeeds, recordDue } from './auto-pauses.ts';
import { endGrants } from './grants.ts';

/**
 * A purge: tasks of a chat or of a person go together, in one transaction, and what hangs on them is left to retention. Its
 * statements take many tasks at once, because on SQLite nothing else has a turn until it has committed.
 */

const doomedFields = pick(columns.tasks, 'id', 'state', 'pausedReason', 'resumeAt');

type Doomed = Answer<typeof doomedFields>;

/** Tasks of one statement. */
const sliceMax = 512;

/** Where there are not as many tasks as were expected nothing is deleted, because nobody was told of the others. */
export function* purgeTasks({ whose, expected, at, ...by }: Purge): Script<Purged> {
  const found = yield* all(select(doomedFields)`from tasks where ${within(whose)} order by id ${forUpdate}`);
  for (const { id, resumeAt } of found) if (resumeAt !== null && resumeAt <= at) yield* endPauseOf(id, at, by.endPause);
  const counts = yield* countTasks(whose);
  const isDone = expected === null || expected === found.length;
  for (let from = 0; isDone && from < found.length; from += sliceMax) {
    const ids = list(found.slice(from, from + sliceMax).map(({ id }) => id));
    const doomed = yield* all(select(doomedFields)`from tasks where id in ${ids} order by id`);
    yield* deleteTasks(doomed, { ...by, at });
  }
  return { counts, isDone };
}

function* deleteTasks(
  doomed: readonly Doomed[],
  { actor, at, traceId }: Omit<Purge, 'whose' | 'expected'>,
): Script<void> {
  const taskIds = doomed.map(({ id }) => id);
  yield* recordDue(taskIds, { reason: 'deleted', guard: raw('1 = 1') }, at);
  const stamp = { updatedAt: at, updatedBy: actor, deletedAt: at, deletedBy: actor };
  yield* update(
    'tasks',
    { state: 'deleted', nextAt: null, resumeAt: null, version: raw('version + 1'), ...stamp },
    sql`id in ${list(taskIds)}`,
  );
  const waiting = yield* endWaiting(taskIds, 'deleted', at);
  yield* dropParts(taskIds, at);
  const live = yield* cancelLive(taskIds, 'deleted', at);
  yield* endGrants(taskIds, at);
  const deeds = yield* recordVerbs(
    doomed.map(({ id: taskId, state, ...pause }) => ({
      at,
      actor,
      verb: 'delete',
      taskId,
      stateBefore: state,
      stateAfter: 'deleted',
      before: { state, ...pauseFacts(pause) },
      after: { state: 'deleted' },
      traceId,
    })),
  );
  const ofRuns = live.flatMap(({ taskId, occurrenceId: id }) => (taskId === null || id === null ? [] : { id, taskId }));
  yield* nameDeeds(deeds, taskIds, [...waiting, ...ofRuns]);
}

const stateFields = { state: columns.tasks.state, count };

/** The tasks that are meant, and their work. */
export function* countTasks(whose: Whose): Script<TaskCounts> {
  const mine = within(whose);
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
function within({ thread = null, ownerId = null }: Whose): Sql {
  return allOf(
    raw(`state <> 'deleted'`),
    thread === null ? undefined : sql`chat_id in ${chatOfThread(thread)}`,
    thread === null || thread.topic === null ? undefined : sql`home_topic = ${thread.topic}`,
    ownerId === null ? undefined : sql`owner_id = ${ownerId}`,
  );
}
