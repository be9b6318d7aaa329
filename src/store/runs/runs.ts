import type { RunStore, StartBatch, Started, StartedRun, StartPlan } from '../../app/ports/pipeline.ts';
import type { Progress } from '../../app/ports/runs.ts';
import { AppError } from '../../domain/errors.ts';
import type { NewRun } from '../../domain/run.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import {
  allOf,
  forUpdateSkipLocked,
  limit as limited,
  list,
  raw,
  skipLocked,
  sql,
  text,
  type Sql,
} from '../engine/sql.ts';
import { all, insertAll, one, select, update, updateAll, updateReturning } from '../engine/statements.ts';
import { type Ending, tellNotices } from '../outbox/run-parts.ts';
import { askBefore, tellNotApproved } from '../questions/approvals.ts';
import { tellEvents, traced } from '../records/journal.ts';
import { book, refusedRoom, reservedValues } from '../spending/budgets.ts';
import { autoPause, pauseForOwners } from '../tasks/auto-pauses.ts';
import { tellMayNotRun } from '../tasks/grants.ts';
import { insertRuns, unpaidIn } from './claims.ts';
import {
  claimableIn,
  notOf,
  consentIn,
  readStartable,
  reservedIn,
  startableFields,
  startableSource,
  type StartableRow,
} from './codec.ts';
import { finishRuns } from './ends.ts';
import { hostStore, withPlaces } from './hosts.ts';
import { lost } from './looks.ts';
import { countBegun } from './thread-runs.ts';

/** Runs and their attempts. Each method is one transaction, guarded by status and fence. */
export const runStore = { addRun, startRuns, finishRuns, noteProgress, ...hostStore };

const { runs } = columns;
const released = { bootId: null, reservedAt: null } as const;

function* addRun(run: NewRun): Script<{ runId: string; created: boolean }> {
  const { made, refused } = yield* insertRuns([run]);
  if (refused.size > 0) throw new AppError('budget_exhausted', 'The budget for this is used up, so it was not done.');
  if (made[0] === true) return { runId: run.id, created: true };
  const known = yield* one(
    select(pick(runs, 'id', 'payloadHash'))`from runs
      where idempotency_key = ${run.idempotencyKey} and source = ${run.source}`,
  );
  if (known?.payloadHash !== run.payloadHash) {
    throw new AppError('idempotency_mismatch', 'This key was used before with another payload; use a new key.');
  }
  return { runId: known.id, created: false };
}

/**
 * Runs that are ready, most urgent first, and before them those that a dead process left running. A run in order waits
 * until every earlier live run of its lane has ended.
 */
function* startRuns(at: StartBatch, bootId: string, plan: Parameters<RunStore['startRuns']>[2]): Script<Started> {
  const left = at.only === undefined ? yield* leftBehind(at) : [];
  const found = [...left, ...(yield* ready(at))].slice(0, at.limit);
  if (found.length === 0) return { taken: 0, more: false, started: [] };
  const byId = new Map(found.map((one) => [one.id, one]));
  const read = found.map(readStartable);
  const paid = yield* withRoom(yield* withTasksHeld(plan(read), byId), byId, at.now);
  const plans = yield* withPlaces(paid, (runId) => (byId.get(runId)?.fence ?? 0) + 1, { bootId, now: at.now });
  yield* closeInterrupted(plans, byId, at.now);
  yield* endUnstarted(plans, byId, at.now);
  yield* putOff(plans, byId, at.now);
  const starting = plans.filter((one) => one.does === 'start');
  const { now, jobOf = () => null } = at;
  const started = yield* openAttempts({ starting, byId, bootId, now, jobOf });
  const more = found.length === at.limit || plans.length < found.length;
  const unpaid = plans.filter((one) => one.does === 'end' && one.reason === 'budget').length;
  return {
    taken: plans.length,
    more,
    ...unpaidIn(unpaid),
    started: startedOf(started, { read, starting, now, jobOf }),
  };
}

function* ready({ now, limit, without = [], claimable, only, queuedBefore }: StartBatch): Script<StartableRow[]> {
  const named = only === undefined ? allOf() : sql`r.id in ${list(only)}`;
  const waited = queuedBefore === undefined ? allOf() : sql`(r.status = 'backoff' or r.ready_at <= ${queuedBefore})`;
  const others = allOf(notOf(without), claimableIn(claimable));
  return yield* all(
    select(startableFields)`from ${startableSource}
      where r.status in ('queued', 'backoff') and r.ready_at <= ${now} and ${named} and ${waited} and ${others}
        and (r.lane is null or not exists (select 1 from runs e where e.lane = r.lane and e.lane is not null
          and e.status in ('queued', 'running', 'backoff', 'waiting') and e.id < r.id))
      order by r.rank, r.ready_at ${limited(limit)} ${skipLocked('r')}`,
  );
}

function* leftBehind({ limit, claimable }: StartBatch): Script<StartableRow[]> {
  const isOurs = allOf(lost, claimableIn(claimable));
  return yield* all(
    select(startableFields)`from ${startableSource} where ${isOurs} ${limited(limit)} ${skipLocked('r')}`,
  );
}

type ById = ReadonlyMap<string, StartableRow>;

/**
 * A run that ends here, or may do so for want of room, is counted by its task. Everybody else takes the task before its runs, so a task
 * that is held is not waited for: its run is left as it is until the next time, and nothing is booked for it before.
 */
function* withTasksHeld(plans: readonly StartPlan[], byId: ById): Script<readonly StartPlan[]> {
  const counted = (one: StartPlan) => {
    const run = byId.get(one.runId);
    const mayEnd = one.does === 'end' || (one.does === 'start' && one.reserve !== undefined);
    return mayEnd && run?.taskState !== null ? (run?.taskId ?? null) : null;
  };
  const ids = plans.flatMap((one) => counted(one) ?? []);
  if (ids.length === 0) return plans;
  const free = yield* all(
    select(pick(columns.tasks, 'id'))`from tasks where id in ${list(ids)} order by id ${forUpdateSkipLocked}`,
  );
  const held = new Set(free.map(({ id }) => id));
  return plans.filter((one) => held.has(counted(one) ?? '') || counted(one) === null);
}

/**
 * Attempts for which something must be reserved first: the next one behind an attempt that was lost, which counts as if it had spent all
 * that it held, and that of a run whose reservation had no room beside what it had spent.
 */
function* withRoom(plans: readonly StartPlan[], byId: ById, now: number): Script<readonly StartPlan[]> {
  yield* bookLost(plans, byId, now);
  const claimants = plans.flatMap((one) => {
    const run = byId.get(one.runId);
    if (one.does !== 'start' || one.reserve === undefined || run === undefined) return [];
    const { id, chatId, ownerId, taskId } = run;
    return [{ id, chatId, ownerId, taskId, costs: one.reserve.costs }];
  });
  if (claimants.length === 0) return plans;
  const refused = yield* refusedRoom(claimants, now);
  yield* updateAll(
    'runs',
    claimants.filter(({ id }) => !refused.has(id)),
    { set: ({ costs }) => reservedValues(costs, now), where: ({ id }) => isUntaken(byId, id) },
  );
  return plans.map((one) => (refused.has(one.runId) && one.does === 'start' ? (one.reserve?.without ?? one) : one));
}

function* bookLost(plans: readonly StartPlan[], byId: ById, now: number): Script<void> {
  const lost = plans.flatMap(({ interrupted, runId }) => {
    const run = byId.get(runId);
    const reserved = run === undefined ? null : reservedIn(run);
    return interrupted && run !== undefined && reserved !== null ? [{ run, reserved }] : [];
  });
  yield* book(lost.map(({ run, reserved }) => ({ run: { ...run, reserved }, attempt: run.attempts, usage: null })));
  yield* updateAll('runs', lost, {
    set: () => reservedValues(null, now),
    where: ({ run }) => isUntaken(byId, run.id),
  });
}

/** The attempt that nobody will end any more. How long it took is not known, so no duration is claimed for it. */
function* closeInterrupted(plans: readonly StartPlan[], byId: ById, now: number): Script<void> {
  const closing = plans.filter((one) => one.interrupted);
  yield* updateAll('attempts', closing, {
    set: () => ({
      status: 'interrupted',
      finishedAt: now,
      error: 'the process ended while this attempt was running',
    }),
    where: ({ runId }) => sql`run_id = ${runId} and attempt = ${byId.get(runId)?.attempts ?? 0} and status = 'running'`,
  });
  yield* updateAll('runs', closing, {
    set: () => ({ interruptions: raw('interruptions + 1') }),
    where: ({ runId }) => sql`id = ${runId} and status = 'running'`,
  });
}

/** A run that no other process took up since it was read. */
function isUntaken(byId: ById, runId: string): Sql {
  return sql`id = ${runId} and fence = ${byId.get(runId)?.fence ?? -1} and status in ('queued', 'backoff', 'running')`;
}

function* endUnstarted(plans: readonly StartPlan[], byId: ById, now: number): Script<void> {
  const ends = plans.filter((one) => one.does === 'end');
  const won = yield* updateAll('runs', ends, {
    set: ({ status, error, errorCode }) => ({ status, error, errorCode, finishedAt: now, ...released }),
    where: ({ runId }) => isUntaken(byId, runId),
  });
  yield* updateAll('occurrences', won, {
    set: (end) => ({
      status: end.occurrence,
      reason: text(end.reason === 'cancelled' ? (byId.get(end.runId)?.cancelReason ?? end.reason) : end.reason),
      error: end.occurrence === 'failed' ? end.error : null,
      updatedAt: now,
    }),
    where: ({ runId }) => sql`id = ${byId.get(runId)?.occurrenceId ?? ''} and status = 'dispatched'`,
  });
  yield* tellEvents(
    won.map((one) => ({
      kind: `run.${one.status}`,
      at: now,
      taskId: byId.get(one.runId)?.taskId ?? null,
      ref: one.runId,
      data: { reason: one.reason ?? one.error, ...traced(byId.get(one.runId)?.traceId) },
    })),
  );
  for (const { runId, reason } of won) {
    const isExpired = reason === 'discarded' && consentIn(byId.get(runId)?.approval ?? null)?.is === 'asked';
    if (isExpired) yield* tellNotApproved(runId, now);
  }
  const leftOut = won.map(({ runId, reason }) => ({ taskId: byId.get(runId)?.taskId ?? null, reason }));
  yield* tellMayNotRun(leftOut, now);
  yield* pauseForOwners(leftOut, now);
  const spent = yield* countBegun(
    won.map(({ runId }) => runId),
    now,
  );
  const failed = won.filter((one) => one.occurrence === 'failed' && typeof byId.get(one.runId)?.taskId === 'string');
  for (const end of failed) {
    yield* update(
      'tasks',
      {
        runs: raw('runs + 1'),
        failures: raw('failures + 1'),
        consecutiveFailures: raw('consecutive_failures + 1'),
        lastRunId: end.runId,
        lastRunAt: byId.get(end.runId)?.startedAt ?? now,
        lastRunStatus: 'failed',
        lastError: end.error,
      },
      sql`id = ${byId.get(end.runId)?.taskId ?? ''}`,
    );
  }
  const tasks = [...new Set(failed.flatMap((one) => byId.get(one.runId)?.taskId ?? []))].sort();
  const autoPaused = yield* autoPause(tasks, now);
  yield* tellNotices(
    failed.flatMap((one) => endingOf(one, byId.get(one.runId), now)),
    { autoPaused, spent },
  );
}

/** Told once for each time that a run has to wait, and not for each look whether it still has to. */
function* putOff(plans: readonly StartPlan[], byId: ById, now: number): Script<void> {
  const waiting = plans.filter((one) => one.does === 'wait');
  const won = yield* updateAll('runs', waiting, {
    set: ({ runId, until, reason, question }) => ({
      status: 'backoff',
      readyAt: until,
      error: reason,
      errorCode: null,
      bootId: null,
      // The same columns for all of them, whether they wait for a person or for a host.
      approval: text(
        question === undefined
          ? (byId.get(runId)?.approval ?? null)
          : JSON.stringify({ asked_at: now, decide_by: question.decideBy }),
      ),
    }),
    where: ({ runId }) => isUntaken(byId, runId),
  });
  for (const { runId, question } of won) {
    const { taskId = null, chatId = null } = byId.get(runId) ?? {};
    if (question !== undefined) yield* askBefore(question, { runId, taskId, chatId, now });
  }
  const fresh = won.filter(({ runId }) => byId.get(runId)?.status !== 'backoff');
  yield* tellEvents(
    fresh.map(({ runId, reason }) => {
      const { taskId = null, traceId } = byId.get(runId) ?? {};
      return { kind: 'run.backoff', at: now, taskId, ref: runId, data: { reason, ...traced(traceId) } };
    }),
  );
}

/** A run that ends without an attempt is told of like any other. */
function endingOf(plan: UnstartedEnd, run: StartableRow | undefined, now: number): Ending[] {
  if (run === undefined || plan.notices === undefined) return [];
  const { status, error, notices } = plan;
  return [{ run: { id: run.id, taskId: run.taskId, chatId: run.chatId }, status, error, notices, finishedAt: now }];
}

type UnstartedEnd = Extract<StartPlan, { does: 'end' }>;

interface Opening {
  readonly starting: readonly StartPlan[];
  readonly byId: ById;
  readonly bootId: string;
  readonly now: number;
  readonly jobOf: (runId: string) => string | null;
}

function* openAttempts({ starting, byId, bootId, now, jobOf }: Opening): Script<string[]> {
  const claimed = yield* updateAll('runs', starting, {
    set: () => ({
      status: 'running',
      bootId,
      fence: raw('fence + 1'),
      attempts: raw('attempts + 1'),
      startedAt: sql`coalesce(started_at, ${now})`,
    }),
    where: ({ runId }) => isUntaken(byId, runId),
  });
  const won = claimed.map(({ runId }) => runId);
  yield* insertAll(
    'attempts',
    won.map((runId) => {
      const attempt = (byId.get(runId)?.attempts ?? 0) + 1;
      const chatId = byId.get(runId)?.chatId ?? null;
      const jobId = jobOf(runId);
      return { runId, attempt, status: 'running' as const, bootId, jobId, startedAt: now, chatId };
    }),
  );
  yield* tellEvents(
    won.map((runId) => {
      const { taskId = null, chatId = null, traceId, attempts = 0 } = byId.get(runId) ?? {};
      const data = { attempt: attempts + 1, ...traced(traceId) };
      return { kind: 'run.started', at: now, taskId, ref: runId, chatId, data };
    }),
  );
  return won;
}

/** The runs as they stand now that their attempts are open. */
function startedOf(
  won: readonly string[],
  {
    read,
    starting,
    now,
    jobOf,
  }: { readonly read: readonly ReturnType<typeof readStartable>[] } & Pick<Opening, 'starting' | 'now' | 'jobOf'>,
): StartedRun[] {
  const wins = new Set(won);
  const known = new Map(starting.flatMap((one) => (one.does === 'start' ? [[one.runId, one] as const] : [])));
  return read.flatMap((run) => {
    if ('unreadable' in run || !wins.has(run.id)) return [];
    const interruptions = run.interruptions + (run.status === 'running' ? 1 : 0);
    const { reserve, place } = known.get(run.id) ?? {};
    const costs = reserve?.costs;
    const reserved = costs === undefined ? run.reserved : { costs, at: now };
    return [
      {
        run: { ...run, interruptions, reserved, startedAt: run.startedAt ?? now },
        attempt: run.attempts + 1,
        fence: run.fence + 1,
        jobId: jobOf(run.id),
        placeAt: place?.host ?? null,
      },
    ];
  });
}

function* noteProgress({ runId, fence, text: progress, at }: Progress): Script<void> {
  const held = sql`id = ${runId} and fence = ${fence} and status = 'running'`;
  const told = yield* updateReturning('runs', { progress }, held, pick(runs, 'taskId', 'traceId'));
  yield* tellEvents(
    told.map(({ taskId, traceId }) => {
      const data = { text: progress, ...traced(traceId) };
      return { kind: 'run.progress', at, taskId, ref: runId, data };
    }),
  );
}
