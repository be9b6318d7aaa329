import type { HousekeepingStore, MissingSlot, RepairRequest, Claimed, ClaimsRequest } from '../../app/ports/upkeep.ts';
import type { CheckName, MendedCheck } from '../../domain/audit.ts';
import { overdueMs } from '../../domain/limits.ts';
import type { TaskState } from '../../domain/task.ts';
import { row, rows, type Engine, type Script, each } from '../engine/engine.ts';
import { recordVerbs, tellEvents } from '../records/journal.ts';
import { insertOccurrences } from '../runs/claims.ts';
import { dueColumns, dueSource, readDue, type DueRow } from '../tasks/codec.ts';

/**
 * Repairs, one row and one transaction each. Every one of them looks again under its guard, so what has mended itself in
 * the meantime is left alone, and a second repair finds nothing. An audit row names what stood there before and after.
 */
export function repairStore(engine: Engine): Pick<HousekeepingStore, 'repair' | 'recordMissing'> {
  return {
    repair: (request) => engine.transact(() => repair(request)),
    recordMissing: (slot) => engine.transact(() => recordMissing(slot)),
  };
}

interface Mended {
  readonly did: string;
  readonly taskId: string | null;
  readonly before: object;
  readonly after: object;
}

type Repair = (request: RepairRequest) => Script<Mended | null>;

/** One for each check that can be mended; what stands for a slot that nothing stood for is written by `recordMissing`. */
const repairs: Readonly<Record<Exclude<MendedCheck, 'slot_unaccounted'>, Repair>> = {
  enabled_without_next: planAnew,
  pending_of_deleted: endPending,
  question_overdue: endQuestion,
  dispatched_without_run: endDispatched,
  running_without_attempt: letGo,
  attempt_without_run: endAttempt,
  run_of_ended_occurrence: endRun,
  delivery_without_run: detach,
  open_delivery_of_deleted: dropDelivery,
};

function* repair(request: RepairRequest): Script<string | null> {
  const mended = isMended(request.check) ? yield* repairs[request.check](request) : null;
  if (mended === null) return null;
  yield* note(request, mended);
  return mended.did;
}

function isMended(check: CheckName): check is keyof typeof repairs {
  return Object.hasOwn(repairs, check);
}

type Noting = Pick<RepairRequest, 'now' | 'actor'> & { readonly check: CheckName; readonly id: string };

function* note({ check, id, now, actor }: Noting, { taskId, before, after }: Mended): Script<void> {
  const task = yield* row<{ state: TaskState }>(`select state from tasks where id = ?t`, taskId);
  const told = { before: { check, id, ...before }, after };
  if (task !== undefined && taskId !== null) {
    const entry = {
      at: now,
      actor,
      verb: 'reconcile',
      taskId,
      stateBefore: task.state,
      stateAfter: task.state,
    } as const;
    yield* recordVerbs([{ ...entry, ...told }]);
    return;
  }
  // A run that no task asked for has no state of a task to name.
  yield* rows(
    `insert into audit (at, actor, verb, task_id, before, after) values (?i, ?t, 'reconcile', ?t, ?t, ?t)`,
    now,
    actor,
    taskId,
    JSON.stringify(told.before),
    JSON.stringify(told.after),
  );
}

function* planAnew({ id, now, plan }: RepairRequest): Script<Mended | null> {
  const found = yield* row<DueRow>(
    `select ${dueColumns} from ${dueSource} where t.id = ?t and t.state = 'active' and t.next_at is null [for update of t]`,
    id,
  );
  if (found === undefined) return null;
  const planned = plan(readDue({ ...found, nextAt: now }));
  const before = { state: 'active', next_at: null };
  if ('pause' in planned) {
    yield* rows(
      `update tasks set state = 'paused', paused_reason = ?t, paused_at = ?i, paused_by = 'system', version = version + 1
       where id = ?t`,
      planned.pause,
      now,
      id,
    );
    return { did: `paused: ${planned.pause}`, taskId: id, before, after: { state: 'paused', reason: planned.pause } };
  }
  const { nextAt } = planned;
  const state = nextAt === null ? 'completed' : 'active';
  yield* rows(`update tasks set state = ?t, next_at = ?i where id = ?t`, state, nextAt, id);
  const did = nextAt === null ? 'completed: nothing is left to run' : `planned anew: ${new Date(nextAt).toISOString()}`;
  return { did, taskId: id, before, after: { state, next_at: nextAt } };
}

interface Waiting {
  readonly task_id: string;
  readonly status: string;
  readonly run_id: string | null;
}

function* endPending({ id, now }: RepairRequest): Script<Mended | null> {
  const [ended] = yield* rows<Waiting>(
    `update occurrences set status = 'cancelled', reason = 'deleted', updated_at = ?i
     where id = ?t and status = 'pending'
       and not exists (select 1 from tasks t where t.id = occurrences.task_id and t.state <> 'deleted')
     returning task_id, status, run_id`,
    now,
    id,
  );
  if (ended === undefined) return null;
  const after = { status: 'cancelled', reason: 'deleted' };
  return { did: 'cancelled: its task was deleted', taskId: ended.task_id, before: { status: 'pending' }, after };
}

function* endQuestion({ id, now }: RepairRequest): Script<Mended | null> {
  const [ended] = yield* rows<Waiting>(
    `update occurrences set status = 'skipped', reason = 'ask_expired', updated_at = ?i
     where id = ?t and status = 'pending' and decide_by < ?i returning task_id, status, run_id`,
    now,
    id,
    now - overdueMs,
  );
  if (ended === undefined) return null;
  const after = { status: 'skipped', reason: 'ask_expired' };
  return { did: 'skipped: nobody answered in time', taskId: ended.task_id, before: { status: 'pending' }, after };
}

/** A run that has ended tells how its occurrence ended; without one, nobody knows more than that it was lost. */
function* endDispatched({ id, now }: RepairRequest): Script<Mended | null> {
  const found = yield* row<Waiting & { run_status: string | null; run_error: string | null }>(
    `select o.task_id, o.status, o.run_id, r.status as run_status, r.error as run_error
     from occurrences o left join runs r on r.id = o.run_id
     where o.id = ?t and o.status = 'dispatched' and (r.status is null or r.status in ('succeeded', 'failed', 'cancelled'))
     [for update of o]`,
    id,
  );
  if (found === undefined) return null;
  const status = found.run_status ?? 'failed';
  const error = found.run_status === null ? 'reconciled: its run is missing' : found.run_error;
  yield* rows(
    `update occurrences set status = ?t, error = ?t, updated_at = ?i where id = ?t and status = 'dispatched'`,
    status,
    error,
    now,
    id,
  );
  const did = found.run_status === null ? 'failed: its run is missing' : `${status}, as its run did`;
  return {
    did,
    taskId: found.task_id,
    before: { status: 'dispatched', run_id: found.run_id },
    after: { status, error },
  };
}

interface RunFacts {
  readonly task_id: string | null;
  readonly status: string;
  readonly boot_id: string | null;
}

/** No second way of recovery: the run looks like one of a process that is gone, and the next claim takes it up. */
function* letGo({ id, bootId }: RepairRequest): Script<Mended | null> {
  const [run] = yield* rows<RunFacts>(
    `update runs set boot_id = ?t where id = ?t and status = 'running' and boot_id = ?t
       and not exists (select 1 from attempts a where a.run_id = runs.id and a.attempt = runs.attempts
         and a.status = 'running')
     returning task_id, status, boot_id`,
    lostBoot(bootId),
    id,
    bootId,
  );
  if (run === undefined) return null;
  const did = 'let go, to be taken up like a run whose process has ended';
  return { did, taskId: run.task_id, before: { boot_id: bootId }, after: { boot_id: run.boot_id } };
}

function* endAttempt({ id, now }: RepairRequest): Script<Mended | null> {
  const ended = yield* rows<{ attempt: number }>(
    `update attempts set status = 'interrupted', finished_at = ?i, error = 'reconciled: its run was not running'
     where run_id = ?t and status = 'running' and not exists (select 1 from runs r
       where r.id = attempts.run_id and r.status = 'running' and r.attempts = attempts.attempt)
     returning attempt`,
    now,
    id,
  );
  if (ended.length === 0) return null;
  const run = yield* row<{ task_id: string | null }>(`select task_id from runs where id = ?t`, id);
  const before = { attempts: ended.map(({ attempt }) => attempt), status: 'running' };
  return { did: 'attempt interrupted', taskId: run?.task_id ?? null, before, after: { status: 'interrupted' } };
}

/** A run that works is asked to stop, and ends with its attempt; the others end at once. */
function* endRun({ id, now }: RepairRequest): Script<Mended | null> {
  const orphan = `id = ?t and occurrence_id is not null and not exists (select 1 from occurrences o
    where o.id = runs.occurrence_id and o.status = 'dispatched')`;
  const [asked] = yield* rows<RunFacts>(
    `update runs set cancel_requested_at = ?i, cancel_reason = 'cancelled'
     where ${orphan} and status = 'running' and cancel_requested_at is null returning task_id, status, boot_id`,
    now,
    id,
  );
  if (asked !== undefined) {
    return {
      did: 'asked to stop',
      taskId: asked.task_id,
      before: { status: 'running' },
      after: { cancel_requested: true },
    };
  }
  const [ended] = yield* rows<RunFacts>(
    `update runs set status = 'cancelled', error = 'reconciled: its occurrence has ended', finished_at = ?i
     where ${orphan} and status in ('queued', 'backoff', 'waiting') returning task_id, status, boot_id`,
    now,
    id,
  );
  if (ended === undefined) return null;
  const before = { status: 'live' };
  return { did: 'cancelled: its occurrence has ended', taskId: ended.task_id, before, after: { status: 'cancelled' } };
}

interface Part {
  readonly task_id: string | null;
  readonly run_id: string | null;
  readonly status: string;
}

/** What is on its way at this moment is left until its answer is written. */
function* detach({ id }: RepairRequest): Script<Mended | null> {
  const found = yield* row<Part>(
    `select task_id, run_id, status from deliveries d where d.id = ?t and d.run_id is not null and d.status <> 'sending'
       and not exists (select 1 from runs r where r.id = d.run_id) [for update of d]`,
    id,
  );
  if (found === undefined) return null;
  const isOpen = found.status !== 'delivered' && found.status !== 'failed';
  yield* rows(
    isOpen
      ? `update deliveries set status = 'failed', error = 'reconciled: its run is missing', ready_at = null, run_id = null
         where id = ?t`
      : `update deliveries set run_id = null where id = ?t`,
    id,
  );
  const after = { run_id: null, status: isOpen ? 'failed' : found.status };
  const did = isOpen ? 'failed: its run is missing' : 'kept in history without its run';
  return { did, taskId: found.task_id, before: { run_id: found.run_id, status: found.status }, after };
}

function* dropDelivery({ id }: RepairRequest): Script<Mended | null> {
  const found = yield* row<Part>(
    `select task_id, run_id, status from deliveries d where d.id = ?t and d.status in ('pending', 'blocked', 'unknown')
       and d.kind in ('result', 'notice') and d.goes_to = 'task' and d.task_id is not null
       and not exists (select 1 from tasks t where t.id = d.task_id and t.state <> 'deleted') [for update of d]`,
    id,
  );
  if (found === undefined) return null;
  yield* rows(
    `update deliveries set status = 'failed', error = 'reconciled: its task was deleted', ready_at = null where id = ?t`,
    id,
  );
  const after = { status: 'failed' };
  return { did: 'failed: its task was deleted', taskId: found.task_id, before: { status: found.status }, after };
}

/** Nobody decided about the slot when it was due, so nothing of it can run; but it must not stay silent. */
function* recordMissing({ id, taskId, slotAt, now, actor }: MissingSlot): Script<string | null> {
  const silent = yield* row(
    `select t.id from tasks t where t.id = ?t and t.state <> 'deleted' and (t.next_at is null or t.next_at > ?i)
       and not exists (select 1 from gaps g where g.task_id = t.id and g.from_at <= ?i and g.to_at >= ?i) [for update of t]`,
    taskId,
    slotAt,
    slotAt,
    slotAt,
  );
  if (silent === undefined) return null;
  const occurrence = {
    id,
    slotAt,
    source: 'schedule',
    status: 'missed',
    reason: 'unaccounted',
    decideBy: null,
    runId: null,
    lateMs: now - slotAt,
  } as const;
  const [made] = yield* insertOccurrences([{ taskId, occurrence }], now);
  if (made !== true) return null;
  const data = { reason: 'unaccounted' };
  yield* tellEvents([{ kind: 'occurrence.missed', at: now, taskId, ref: id, data }]);
  const slot = new Date(slotAt).toISOString();
  const did = 'recorded as missed';
  yield* note(
    { check: 'slot_unaccounted', id: slot, now, actor },
    { did, taskId, before: { slot }, after: { status: 'missed', reason: 'unaccounted', occurrence_id: id } },
  );
  return did;
}

/** Claims of this boot, and the way to give up those that nobody holds. */
export function lostClaimStore(
  engine: Engine,
): Pick<HousekeepingStore, 'claimedRuns' | 'claimedParts' | 'letRunsGo' | 'letPartsGo'> {
  const claimed =
    (text: string) =>
    ({ bootId, after, limit }: ClaimsRequest) =>
      engine.transact(() => rows<Claimed>(text, bootId, after, limit));
  const letGo = (text: string) => (bootId: string, claims: readonly Claimed[]) =>
    engine.transact(() => giveUp(text, bootId, claims));
  return {
    claimedRuns: claimed(
      `select id, fence from runs where status = 'running' and boot_id = ?t and id > ?t order by id limit ?i`,
    ),
    claimedParts: claimed(
      `select id, fence from deliveries where status = 'sending' and boot_id = ?t and id > ?t order by id limit ?i`,
    ),
    letRunsGo: letGo(
      `update runs set boot_id = ?t where id = ?t and fence = ?i and status = 'running' and boot_id = ?t`,
    ),
    letPartsGo: letGo(
      `update deliveries set boot_id = ?t where id = ?t and fence = ?i and status = 'sending' and boot_id = ?t`,
    ),
  };
}

/** A boot that never was: to whoever claims next, it looks like any other process that is gone. */
function lostBoot(bootId: string): string {
  return `lost:${bootId}`;
}

function* giveUp(text: string, bootId: string, claims: readonly Claimed[]): Script<number> {
  const gone = yield* each(
    text,
    claims.map(({ id, fence }) => [lostBoot(bootId), id, fence, bootId]),
  );
  return gone.filter(Boolean).length;
}
