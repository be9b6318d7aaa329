import type { Batch, Finished, RunEnd, RunStore, Started, StartedRun, StartPlan } from '../../app/ports/pipeline.ts';
import { AppError } from '../../domain/errors.ts';
import type { NewRun } from '../../domain/run.ts';
import { each, listOf, row, rows, type Engine, type Script, type Tuple } from '../engine/engine.ts';
import { tellNotices } from '../outbox/notices.ts';
import type { Ending } from '../outbox/run-parts.ts';
import { tellEvents, traced } from '../records/journal.ts';
import { autoPause } from '../tasks/auto-pauses.ts';
import { grantColumns } from '../tasks/codec.ts';
import { tellGrantGone } from '../tasks/grants.ts';
import { insertRuns } from './claims.ts';
import { readStartable, type StartableRow } from './codec.ts';
import { writeEnds } from './ends.ts';

/** Runs and their attempts. Each method is one transaction, guarded by status and fence. */
export function runStore(engine: Engine): RunStore {
  return {
    addRun: (run) => engine.transact(() => addRun(run)),
    startRuns: (at, bootId, plan) => engine.transact(() => startRuns({ at, bootId, plan })),
    finishRuns: (ends: readonly RunEnd[]): Promise<Finished> => engine.transact(() => writeEnds(ends)),
    cancelRequested: (bootId) => engine.transact(() => cancelRequested(bootId)),
    nextRunAt: (bootId, now) => engine.transact(() => nextRunAt(bootId, now)),
  };
}

function* addRun(run: NewRun): Script<{ runId: string; created: boolean }> {
  const made = yield* insertRuns([run]);
  if (made[0] === true) return { runId: run.id, created: true };
  const known = yield* row<{ id: string; payload_hash: string }>(
    `select id, payload_hash from runs where idempotency_key = ?t and source = ?t`,
    run.idempotencyKey,
    run.source,
  );
  if (known?.payload_hash !== run.payloadHash) {
    throw new AppError('idempotency_mismatch', 'This key was used before with another payload; use a new key.');
  }
  return { runId: known.id, created: false };
}

interface StartRequest {
  readonly at: Batch;
  readonly bootId: string;
  readonly plan: Parameters<RunStore['startRuns']>[2];
}

/**
 * Runs that are ready, most urgent first, and before them those that a dead process left running. A run in order waits
 * until every earlier live run of its lane has ended.
 */
function* startRuns({ at, bootId, plan }: StartRequest): Script<Started> {
  const found = [
    ...(yield* leftBehind(at, bootId)),
    ...(yield* rows<StartableRow>(
      `${startable}
       where r.status in ('queued', 'backoff') and r.ready_at <= ?i
         and (r.lane is null or not exists (select 1 from runs e where e.lane = r.lane and e.lane is not null
           and e.status in ('queued', 'running', 'backoff', 'waiting') and e.id < r.id))
       order by r.rank, r.ready_at limit ?i [for update of r skip locked]`,
      at.now,
      at.limit,
    )),
  ].slice(0, at.limit);
  if (found.length === 0) return { taken: 0, more: false, started: [] };
  const byId = new Map(found.map((one) => [one.id, one]));
  const read = found.map(readStartable);
  const plans = yield* withTasksHeld(plan(read), byId);
  yield* closeInterrupted(plans, byId, at.now);
  yield* endUnstarted(plans, byId, at.now);
  const starting = plans.filter((one) => one.does === 'start');
  const started = yield* openAttempts({ starting, byId, bootId, now: at.now });
  const more = found.length === at.limit || plans.length < found.length;
  return { taken: plans.length, more, started: startedOf(started, read) };
}

const startable = `select r.*, t.state as task_state, ${grantColumns}
  from runs r left join tasks t on t.id = r.task_id left join grants g on g.id = t.grant_id`;

function* leftBehind(at: Batch, bootId: string): Script<StartableRow[]> {
  return yield* rows<StartableRow>(
    // Written as two ranges, because an inequality would be answered by walking all runs there ever were.
    `${startable} where r.status = 'running' and (r.boot_id < ?t or r.boot_id > ?t) limit ?i [for update of r skip locked]`,
    bootId,
    bootId,
    at.limit,
  );
}

type ById = ReadonlyMap<string, StartableRow>;

/**
 * A run that ends here is counted by its task. Everybody else takes the task before its runs, so a task that is held is not
 * waited for: its run is left as it is until the next time.
 */
function* withTasksHeld(plans: readonly StartPlan[], byId: ById): Script<readonly StartPlan[]> {
  const counted = ({ does, runId }: StartPlan) => {
    const run = byId.get(runId);
    return does === 'end' && run?.task_state !== null ? (run?.task_id ?? null) : null;
  };
  const ids = plans.flatMap((one) => counted(one) ?? []);
  if (ids.length === 0) return plans;
  const { marks, values } = listOf(ids);
  const free = yield* rows<{ id: string }>(
    `select id from tasks where id in (${marks}) order by id [for update skip locked]`,
    ...values,
  );
  const held = new Set(free.map(({ id }) => id));
  return plans.filter((one) => held.has(counted(one) ?? '') || counted(one) === null);
}

/** The attempt that nobody will end any more. How long it took is not known, so no duration is claimed for it. */
function* closeInterrupted(plans: readonly StartPlan[], byId: ById, now: number): Script<void> {
  const closing = plans.filter((one) => one.interrupted);
  yield* each(
    `update attempts set status = 'interrupted', finished_at = ?i, error = ?t
     where run_id = ?t and attempt = ?i and status = 'running'`,
    closing.map((one): Tuple => [
      now,
      'the process ended while this attempt was running',
      one.runId,
      byId.get(one.runId)?.attempts ?? 0,
    ]),
  );
  yield* each(
    `update runs set interruptions = interruptions + 1 where id = ?t and status = 'running'`,
    closing.map((one): Tuple => [one.runId]),
  );
}

function* endUnstarted(plans: readonly StartPlan[], byId: ById, now: number): Script<void> {
  const ends = plans.filter((one) => one.does === 'end');
  const ended = yield* each(
    `update runs set status = ?t, error = ?t, finished_at = ?i, boot_id = null
     where id = ?t and fence = ?i and status in ('queued', 'backoff', 'running')`,
    ends.map((one): Tuple => [one.status, one.error, now, one.runId, byId.get(one.runId)?.fence ?? -1]),
  );
  const won = ends.filter((_one, index) => ended[index]);
  yield* each(
    `update occurrences set status = ?t, reason = ?t, error = ?t, updated_at = ?i where id = ?t and status = 'dispatched'`,
    won.map((one): Tuple => [
      one.occurrence,
      one.reason === 'cancelled' ? (byId.get(one.runId)?.cancel_reason ?? one.reason) : one.reason,
      one.occurrence === 'failed' ? one.error : null,
      now,
      byId.get(one.runId)?.occurrence_id ?? null,
    ]),
  );
  yield* tellEvents(
    won.map((one) => ({
      kind: `run.${one.status}`,
      at: now,
      taskId: byId.get(one.runId)?.task_id ?? null,
      ref: one.runId,
      data: { reason: one.reason ?? one.error, ...traced(byId.get(one.runId)?.trace_id) },
    })),
  );
  yield* tellGrantGone(
    won.map(({ runId, reason }) => ({ taskId: byId.get(runId)?.task_id ?? null, reason })),
    now,
  );
  const failed = won.filter((one) => one.occurrence === 'failed' && typeof byId.get(one.runId)?.task_id === 'string');
  for (const one of failed) {
    yield* rows(
      `update tasks set runs = runs + 1, failures = failures + 1, consecutive_failures = consecutive_failures + 1,
         last_run_status = 'failed', last_error = ?t where id = ?t`,
      one.error,
      byId.get(one.runId)?.task_id ?? null,
    );
  }
  const tasks = [...new Set(failed.flatMap((one) => byId.get(one.runId)?.task_id ?? []))].sort();
  const autoPaused = yield* autoPause(tasks, now);
  yield* tellNotices(
    failed.flatMap((one) => endingOf(one, byId.get(one.runId), now)),
    autoPaused,
  );
}

/** A run that ends without an attempt is told of like any other. */
function endingOf(plan: UnstartedEnd, run: StartableRow | undefined, now: number): Ending[] {
  if (run === undefined || plan.notices === undefined) return [];
  const { status, error, notices } = plan;
  return [{ run: { id: run.id, taskId: run.task_id, chatId: run.chat_id }, status, error, notices, finishedAt: now }];
}

type UnstartedEnd = Extract<StartPlan, { does: 'end' }>;

interface Opening {
  readonly starting: readonly StartPlan[];
  readonly byId: ById;
  readonly bootId: string;
  readonly now: number;
}

function* openAttempts({ starting, byId, bootId, now }: Opening): Script<string[]> {
  const claimed = yield* each(
    `update runs set status = 'running', boot_id = ?t, fence = fence + 1, attempts = attempts + 1,
       started_at = coalesce(started_at, ?i)
     where id = ?t and fence = ?i and status in ('queued', 'backoff', 'running')`,
    starting.map((one): Tuple => [bootId, now, one.runId, byId.get(one.runId)?.fence ?? -1]),
  );
  const won = starting.filter((_one, index) => claimed[index]).map((one) => one.runId);
  yield* each(
    `insert into attempts (run_id, attempt, status, boot_id, started_at) values (?t, ?i, 'running', ?t, ?i)`,
    won.map((runId): Tuple => [runId, (byId.get(runId)?.attempts ?? 0) + 1, bootId, now]),
  );
  yield* tellEvents(
    won.map((runId) => {
      const { task_id: taskId = null, trace_id: traceId = null } = byId.get(runId) ?? {};
      const event = { kind: 'run.started', at: now, taskId, ref: runId } as const;
      return traceId === null ? event : { ...event, data: traced(traceId) };
    }),
  );
  return won;
}

/** The runs as they stand now that their attempts are open. */
function startedOf(won: readonly string[], read: readonly ReturnType<typeof readStartable>[]): StartedRun[] {
  const wins = new Set(won);
  return read.flatMap((run) => {
    if ('unreadable' in run || !wins.has(run.id)) return [];
    const interruptions = run.interruptions + (run.status === 'running' ? 1 : 0);
    return [{ run: { ...run, interruptions }, attempt: run.attempts + 1, fence: run.fence + 1 }];
  });
}

function* cancelRequested(bootId: string): Script<readonly string[]> {
  const found = yield* rows<{ id: string }>(
    `select id from runs where status = 'running' and boot_id = ?t and cancel_requested_at is not null`,
    bootId,
  );
  return found.map(({ id }) => id);
}

/**
 * The next instant at which a run becomes ready; null when there is none. What is ready now but was not taken is held by
 * its lane or for want of room, and is rung for when its holder ends. A run of another boot is ready at once.
 */
function* nextRunAt(bootId: string, now: number): Script<number | null> {
  const left = yield* row(
    `select id from runs where status = 'running' and (boot_id < ?t or boot_id > ?t) limit 1`,
    bootId,
    bootId,
  );
  if (left !== undefined) return now;
  const found = yield* row<{ at: number | null }>(
    `select min(ready_at) as at from runs where status in ('queued', 'backoff') and ready_at > ?i`,
    now,
  );
  return found?.at ?? null;
}
