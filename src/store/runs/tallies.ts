import type { RunEnd } from '../../app/ports/pipeline.ts';
import { isOfSlot } from '../../domain/run.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, pick } from '../engine/fields.ts';
import { int, sql, text } from '../engine/sql.ts';
import { all, one, select, update, updateAll } from '../engine/statements.ts';
import { completeSpent, countBegun, type Spent } from './thread-runs.ts';

/** Counters of tasks: what the ends of their runs add to them. */

/** The end of the run as well: it is not tried again. */
export type FinalEnd = RunEnd & { readonly status: Exclude<RunEnd['status'], 'backoff'>; readonly isRepeat?: true };

export function isFinal(end: RunEnd): end is FinalEnd {
  return end.status !== 'backoff';
}

interface Tally {
  readonly runs: number;
  readonly failures: number;
  /** Failures since the last success of this batch, or all of them when there was none. */
  readonly streak: number;
  readonly succeeded: boolean;
  readonly lastRunId: string | null;
  readonly lastRunAt: number;
  readonly lastStatus: FinalEnd['status'] | null;
  readonly lastError: string | null;
  readonly context: string | null;
  readonly freshAt: number | null;
  /** Runs that count for `max_runs`. */
  readonly bounded: number;
}

interface Counted {
  /** Tasks that may have failed too often in a row. */
  readonly failing: readonly string[];
  /** Tasks that are complete. */
  readonly spent: readonly Spent[];
  /** Runs whose context is kept with them, as a person had changed that of their task. */
  readonly kept: ReadonlySet<string>;
}

/** One update for each task, however many of its runs end in this batch. */
export function* countTasks(finals: readonly FinalEnd[], between: ReadonlySet<string>): Script<Counted> {
  const ends = finals.filter((end) => !between.has(end.run.id));
  const tallies = new Map<string, Tally>();
  const newest = newestVersions(ends);
  const kept = new Set<string>();
  const open = new Set(ends.flatMap(({ run }) => run.occurrenceId ?? []));
  for (const end of ends) {
    const taskId = end.run.taskId;
    if (taskId === null) continue;
    const counts = end.status === 'failed' && (yield* isFirstFailureOfItsKind(end, open));
    const isKept = end.context !== null && (yield* keepsContext(taskId, end));
    if (isKept) kept.add(end.run.id);
    const context = isKept ? null : end.context;
    const isBounded = isOfSlot(end.run.input) && end.run.taskVersion === newest.get(taskId);
    const tally = tallies.get(taskId) ?? emptyTally;
    tallies.set(taskId, {
      ...addTo(tally, { ...end, context }, counts),
      bounded: tally.bounded + (isBounded ? 1 : 0),
    });
    open.delete(end.run.occurrenceId ?? '');
  }
  const sorted = [...tallies].sort(([a], [b]) => (a < b ? -1 : 1));
  yield* updateAll('tasks', sorted, {
    set: ([taskId, tally]) => ({
      runs: sql`runs + ${tally.runs}`,
      failures: sql`failures + ${tally.failures}`,
      consecutiveFailures: sql`case when ${tally.succeeded ? 1 : 0} = 1 then 0 else consecutive_failures end + ${tally.streak}`,
      lastRunId: text(tally.lastRunId),
      lastRunAt: tally.lastRunAt,
      lastRunStatus: tally.lastStatus,
      lastError: tally.lastError,
      freshAt: sql`coalesce(${int(tally.freshAt)}, fresh_at)`,
      context: sql`coalesce(${text(tally.context)}, context)`,
      boundedRuns: sql`bounded_runs + case when bounded_since <= ${newest.get(taskId) ?? 0} then ${tally.bounded} else 0 end`,
    }),
    where: ([taskId]) => sql`id = ${taskId}`,
  });
  const now = finals[0]?.finishedAt ?? 0;
  const idsOf = (wanted: (tally: Tally) => boolean) =>
    sorted.filter(([, tally]) => wanted(tally)).map(([taskId]) => taskId);
  // Few have an older version than another run of their task in this batch.
  const apart = finals.filter(
    (end) => between.has(end.run.id) || end.run.taskVersion !== newest.get(end.run.taskId ?? ''),
  );
  // A run that was left out at its first attempt has done nothing.
  const begun = yield* countBegun(
    apart.flatMap(({ run, attempt, leftOut }) =>
      run.taskId === null || (leftOut !== undefined && attempt === 1) ? [] : run.id,
    ),
    now,
  );
  const spent = [
    ...begun,
    ...(yield* completeSpent(
      idsOf(({ bounded }) => bounded > 0),
      now,
    )),
  ];
  return { failing: idsOf(({ streak }) => streak > 0), spent, kept };
}

/** The newest version of each task of which a run has ended here. */
function newestVersions(ends: readonly FinalEnd[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const { run } of ends)
    if (run.taskId !== null) newest.set(run.taskId, Math.max(newest.get(run.taskId) ?? 0, run.taskVersion ?? 0));
  return newest;
}

/** A person who changed the context while the run was under way knew more than the run, so theirs stays, and the run keeps its own. */
function* keepsContext(taskId: string, { run: { id, contextVersion }, output, context }: RunEnd): Script<boolean> {
  const changed = yield* one(
    select(pick(columns.tasks, 'id'))`from tasks where id = ${taskId} and context_version <> ${contextVersion ?? 0}`,
  );
  if (changed === undefined) return false;
  yield* update('runs', { output: JSON.stringify({ ...output, context }) }, sql`id = ${id}`);
  return true;
}

const emptyTally: Tally = {
  runs: 0,
  failures: 0,
  streak: 0,
  succeeded: false,
  lastRunId: null,
  lastRunAt: 0,
  lastStatus: null,
  lastError: null,
  freshAt: null,
  context: null,
  bounded: 0,
};

function addTo(tally: Tally, end: FinalEnd, counts: boolean): Omit<Tally, 'bounded'> {
  const succeeded = end.status === 'succeeded';
  return {
    runs: tally.runs + 1,
    failures: tally.failures + (end.status === 'failed' ? 1 : 0),
    streak: succeeded ? 0 : tally.streak + (counts ? 1 : 0),
    succeeded: succeeded || tally.succeeded,
    lastRunId: end.run.id,
    lastRunAt: end.run.startedAt ?? end.startedAt,
    lastStatus: end.status,
    lastError: end.error,
    freshAt: succeeded ? end.finishedAt : tally.freshAt,
    context: succeeded && end.context !== null ? JSON.stringify(end.context) : tally.context,
  };
}

/**
 * The slots that one outage made late fail for one cause, so together they count once towards the automatic pause. Those
 * of this batch that are still to be counted stand in the table as failed already, and are not earlier ones.
 */
function* isFirstFailureOfItsKind(end: RunEnd, open: ReadonlySet<string>): Script<boolean> {
  if (!end.run.input.late) return true;
  const failed = yield* all(
    select(pick(columnsOf('occurrences', 'o'), 'id'))`from occurrences o
        join occurrences mine on mine.id = ${end.run.occurrenceId ?? ''}
      where o.task_id = mine.task_id and o.source = 'catch_up' and o.status = 'failed' and o.id <> mine.id
        and o.created_at = mine.created_at`,
  );
  return failed.every(({ id }) => open.has(id));
}
