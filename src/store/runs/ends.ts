import type { Finished, RunEnd } from '../../app/ports/pipeline.ts';
import { each, listOf, lock, rows, type Script, type Tuple } from '../engine/engine.ts';
import { tellNotices } from '../outbox/notices.ts';
import { insertEndParts } from '../outbox/run-parts.ts';
import { askApproval } from '../questions/approvals.ts';
import { openAcks } from '../questions/nags.ts';
import { tellComplete, tellEvents, traced, type NewEvent } from '../records/journal.ts';
import { autoPause } from '../tasks/auto-pauses.ts';

/**
 * The end of attempts, written in one transaction: a result is never recorded without its deliveries, its counters and
 * the end of its occurrence. What lost its claim in the meantime writes nothing at all.
 */
export function* writeEnds(ends: readonly RunEnd[]): Script<Finished> {
  // A fixed order keeps two finishers from waiting for each other.
  const sorted = ends.toSorted((a, b) => (a.run.id < b.run.id ? -1 : 1));
  yield* lockTasks(sorted);
  const written = yield* each(
    `update runs set status = ?t, ready_at = coalesce(?i, ready_at), boot_id = null, finished_at = ?i, output = ?t, error = ?t
     where id = ?t and fence = ?i and status = 'running' and cancel_requested_at is null`,
    sorted.map((end): Tuple => [
      end.status,
      end.readyAt,
      isFinal(end) ? end.finishedAt : null,
      end.output === null ? null : JSON.stringify(end.output),
      end.error,
      end.run.id,
      end.fence,
    ]),
  );
  const calledOff = yield* endCalledOff(sorted.filter((_end, index) => !written[index]));
  const won = [...sorted.filter((_end, index) => written[index]), ...calledOff.map(({ as }) => as)];
  yield* closeAttempts(won);
  // What ended last tells how the task stands, whatever the order of the rows.
  const finals = won.filter(isFinal).toSorted((a, b) => a.finishedAt - b.finishedAt);
  yield* endOccurrences(finals);
  yield* tellEvents(won.map(endEvent));
  // A run that is called off between two attempts counts as little as one that is called off before its first.
  const between = new Set(calledOff.filter(({ end }) => !isFinal(end)).map(({ as }) => as));
  const autoPaused = yield* countTasks(finals.filter((end) => !between.has(end)));
  yield* moveFollowers(finals);
  yield* insertEndParts(finals.flatMap((end) => end.deliveries.map((part) => ({ end, part }))));
  yield* openAcks(finals);
  yield* askApproval(finals);
  yield* tellNotices(finals, autoPaused);
  yield* bookUsage(won);
  return { written: won.length, autoPaused };
}

/** Tasks before runs, as every verb does, or the two would wait for each other. */
function* lockTasks(ends: readonly RunEnd[]): Script<void> {
  const ids = [...new Set(ends.flatMap(({ run }) => run.taskId ?? []))];
  if (ids.length === 0) return;
  const { marks, values } = listOf(ids);
  yield* lock(`select id from tasks where id in (${marks}) order by id for update`, ...values);
}

/** One for each attempt, so that whoever reads them sees every try. */
function endEvent({ run, attempt, status, finishedAt }: RunEnd): NewEvent {
  const event = { kind: `run.${status}`, at: finishedAt, taskId: run.taskId, ref: run.id } as const;
  // Most runs need one attempt and are asked for by a schedule, and the fewer bytes a result costs, the better.
  if (attempt === 1 && run.traceId === null) return event;
  return { ...event, data: { ...(attempt === 1 ? {} : { attempt }), ...traced(run.traceId) } };
}

function isFinal(end: RunEnd): boolean {
  return end.status !== 'backoff';
}

const nothingTold: RunEnd['notices'] = { byHand: false, failed: null, autoPaused: null, recovered: null };

interface CalledOff {
  readonly end: RunEnd;
  readonly as: RunEnd;
}

/**
 * Somebody asked the run to stop, and was told that it does, before its attempt came to an end of its own: then it ends as
 * they were told, and nothing of it is shown. What the attempt did stays in its own row.
 */
function* endCalledOff(ends: readonly RunEnd[]): Script<CalledOff[]> {
  const stopped = yield* each(
    `update runs set status = 'cancelled', boot_id = null, finished_at = ?i, error = coalesce(?t, cancel_reason)
     where id = ?t and fence = ?i and status = 'running' and cancel_requested_at is not null`,
    ends.map((end): Tuple => [end.finishedAt, end.error, end.run.id, end.fence]),
  );
  return ends
    .filter((_end, index) => stopped[index])
    .map((end) => ({
      end,
      as: {
        ...end,
        status: 'cancelled',
        readyAt: null,
        output: null,
        deliveries: [],
        notices: nothingTold,
        context: null,
      },
    }));
}

function* closeAttempts(ends: readonly RunEnd[]): Script<void> {
  yield* each(
    `update attempts set status = ?t, finished_at = ?i, duration_ms = ?i, http_status = ?i, error = ?t
     where run_id = ?t and attempt = ?i and status = 'running'`,
    ends.map((end): Tuple => [
      end.attemptStatus,
      end.finishedAt,
      end.durationMs,
      end.httpStatus,
      end.error,
      end.run.id,
      end.attempt,
    ]),
  );
}

function* endOccurrences(ends: readonly RunEnd[]): Script<void> {
  yield* each(
    `update occurrences set status = ?t, reason = ?t, error = ?t, updated_at = ?i where id = ?t and status = 'dispatched'`,
    ends
      .filter((end) => end.run.occurrenceId !== null)
      .map((end): Tuple => [
        end.status,
        end.status === 'cancelled' ? 'cancelled' : null,
        end.error,
        end.finishedAt,
        end.run.occurrenceId,
      ]),
  );
  for (const { run } of ends.filter(({ status }) => status === 'cancelled')) {
    yield* rows(
      `update occurrences set reason = coalesce((select r.cancel_reason from runs r where r.id = occurrences.run_id), reason)
       where id = ?t and status = 'cancelled'`,
      run.occurrenceId,
    );
  }
}

interface Tally {
  readonly runs: number;
  readonly failures: number;
  /** Failures since the last success of this batch, or all of them when there was none. */
  readonly streak: number;
  readonly succeeded: boolean;
  readonly lastRunAt: number;
  readonly lastStatus: string;
  readonly lastError: string | null;
  readonly context: string | null;
}

/** One update for each task, however many of its runs end in this batch. */
function* countTasks(ends: readonly RunEnd[]): Script<readonly string[]> {
  const tallies = new Map<string, Tally>();
  const open = new Set(ends.flatMap(({ run }) => run.occurrenceId ?? []));
  for (const end of ends) {
    const taskId = end.run.taskId;
    if (taskId === null) continue;
    const counts = end.status === 'failed' && (yield* isFirstFailureOfItsKind(end, open));
    tallies.set(taskId, addTo(tallies.get(taskId) ?? emptyTally, end, counts));
    open.delete(end.run.occurrenceId ?? '');
  }
  const sorted = [...tallies].sort(([a], [b]) => (a < b ? -1 : 1));
  yield* each(
    `update tasks set runs = runs + ?i, failures = failures + ?i,
       consecutive_failures = case when ?i = 1 then 0 else consecutive_failures end + ?i,
       last_run_at = ?i, last_run_status = ?t, last_error = ?t, context = coalesce(?t, context)
     where id = ?t`,
    sorted.map(([taskId, t]): Tuple => [
      t.runs,
      t.failures,
      t.succeeded ? 1 : 0,
      t.streak,
      t.lastRunAt,
      t.lastStatus,
      t.lastError,
      t.context,
      taskId,
    ]),
  );
  return yield* autoPause(
    sorted.filter(([, tally]) => tally.streak > 0).map(([taskId]) => taskId),
    ends[0]?.finishedAt ?? 0,
  );
}

const emptyTally: Tally = {
  runs: 0,
  failures: 0,
  streak: 0,
  succeeded: false,
  lastRunAt: 0,
  lastStatus: '',
  lastError: null,
  context: null,
};

function addTo(tally: Tally, end: RunEnd, counts: boolean): Tally {
  const succeeded = end.status === 'succeeded';
  return {
    runs: tally.runs + 1,
    failures: tally.failures + (end.status === 'failed' ? 1 : 0),
    streak: succeeded ? 0 : tally.streak + (counts ? 1 : 0),
    succeeded: succeeded || tally.succeeded,
    lastRunAt: Math.max(tally.lastRunAt, end.startedAt),
    lastStatus: end.status,
    lastError: end.error,
    context: succeeded && end.context !== null ? JSON.stringify(end.context) : tally.context,
  };
}

/**
 * The slots that one outage made late fail for one cause, so together they count once towards the automatic pause. Those
 * of this batch that are still to be counted stand in the table as failed already, and are not earlier ones.
 */
function* isFirstFailureOfItsKind(end: RunEnd, open: ReadonlySet<string>): Script<boolean> {
  if (!end.run.input.late) return true;
  const failed = yield* rows<{ id: string }>(
    `select o.id from occurrences o join occurrences mine on mine.id = ?t
     where o.task_id = mine.task_id and o.source = 'catch_up' and o.status = 'failed' and o.id <> mine.id
       and o.created_at = mine.created_at`,
    end.run.occurrenceId,
  );
  return failed.every(({ id }) => open.has(id));
}

/**
 * A delay after the last finish: the stand-in gives way to the real next slot, unless the schedule was edited meanwhile.
 * Without a next slot the task is completed.
 */
function* moveFollowers(ends: readonly RunEnd[]): Script<void> {
  for (const { run, follows, finishedAt } of ends) {
    if (follows === null || run.taskId === null || follows.schedule.kind !== 'interval') continue;
    const { schedule, nextAt } = follows;
    const moved = yield* rows(
      `update tasks set next_at = ?i, state = ?t
       where id = ?t and state = 'active' and interval_from = 'completion' and interval = ?t and start_at = ?i and timezone = ?t
       returning id`,
      nextAt,
      nextAt === null ? 'completed' : 'active',
      run.taskId,
      schedule.interval,
      schedule.startAt,
      schedule.timezone,
    );
    if (moved.length > 0 && nextAt === null) yield* tellComplete([run.taskId], finishedAt);
  }
}

/** One quantity for each kind, because one statement may not book the same row twice. */
function totals(usage: RunEnd['usage']): (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const { kind, quantity } of usage) sums.set(kind, (sums.get(kind) ?? 0) + quantity);
  return [...sums];
}

function* bookUsage(ends: readonly RunEnd[]): Script<void> {
  yield* each(
    `insert into usage (run_id, kind, quantity, task_id, owner_id, chat_id, at) values (?t, ?t, ?i, ?t, ?t, ?t, ?i)
     on conflict (run_id, kind) do update set quantity = usage.quantity + excluded.quantity`,
    ends.flatMap(({ run, usage, finishedAt }) =>
      totals(usage).map(([kind, quantity]): Tuple => [
        run.id,
        kind,
        quantity,
        run.taskId,
        run.ownerId,
        run.chatId,
        finishedAt,
      ]),
    ),
  );
}
