import type {
  Admission,
  Batch,
  Claim,
  Counts,
  NewOccurrence,
  Quarantine,
  Replan,
  ReplanPage,
  SlotStore,
  Unreadable,
  WaitingOccurrence,
} from '../../app/store.ts';
import type { NewRun } from '../../domain/run.ts';
import { scheduleLimits } from '../../domain/schedule/limits.ts';
import { dueColumns, dueSource, readDue, type DueRow } from './codec.ts';
import { endWaiting } from './ends.ts';
import { each, row, rows, type Engine, type Script, type Tuple } from './engine.ts';

/** Slots into occurrences and runs. Each method is one transaction; a second caller finds nothing left to do. */
export function slotStore(engine: Engine): SlotStore {
  return {
    claimDue: (at, plan) => engine.transact(() => claimDue(at, plan)),
    admitWaiting: (at, plan) => engine.transact(() => admitWaiting(at, plan)),
    expireQuestions: (at) => engine.transact(() => expireQuestions(at)),
    nextDueAt: () => engine.transact(nextDueAt),
    replanTasks: (after, at, plan) => engine.transact(() => replanTasks({ after, at, plan })),
  };
}

function* claimDue({ now, limit }: Batch, plan: Parameters<SlotStore['claimDue']>[1]): Script<Counts> {
  const onTime = yield* rows<DueRow>(
    `select ${dueColumns} from ${dueSource}
     where t.next_at <= ?i order by t.next_at limit ?i [for update of t skip locked]`,
    now,
    limit,
  );
  const due = onTime.length < limit ? [...onTime, ...(yield* neverDue(limit - onTime.length))] : onTime;
  if (due.length === 0) return { taken: 0, more: false };
  yield* countReserved(due);
  const decided = plan(due.map(readDue));
  yield* writeQuarantines(decided.filter(isQuarantine), now);
  yield* writeClaims(
    decided.filter((one): one is Claim => !isQuarantine(one)),
    now,
  );
  // The plan may leave tasks for the next step, when those it decided about were costly.
  const left = due.length === limit || decided.length < due.length;
  return { taken: decided.length, more: left || decided.some((one) => leavesMore(one, now)) };
}

/** How many of the occurrences that wait hold a place in `max_runs`: all but those that were asked for by hand. */
export function* countReserved(due: readonly DueRow[]): Script<void> {
  for (const task of due) {
    if (task.waiting === 0) continue;
    const found = yield* row<{ reserved: number }>(
      `select count(*) as reserved from occurrences
       where task_id = ?t and status = 'pending' and decide_by is null and source <> 'run_now'`,
      task.id,
    );
    task.reserved = found?.reserved ?? 0;
  }
}

/** No clock will ever reach these, so nobody would notice that such a row lies; a text sorts behind every number. */
function* neverDue(limit: number): Script<DueRow[]> {
  return yield* rows<DueRow>(
    `select ${dueColumns} from ${dueSource}
     where t.next_at > ?i order by t.next_at limit ?i [for update of t skip locked]`,
    scheduleLimits.lastInstant,
    limit,
  );
}

function isQuarantine(decision: object): decision is Quarantine {
  return 'quarantine' in decision;
}

/** A long outage is worked off in several steps. */
function leavesMore(decision: Claim | Quarantine, now: number): boolean {
  return !isQuarantine(decision) && decision.nextAt !== null && decision.nextAt <= now;
}

/**
 * Writes what was decided about tasks whose rows are locked. The next slot moves by compare-and-set on the old one, and
 * first of all: a claim that lost a race moves nothing, and then nothing of it is written.
 */
export function* writeClaims(claims: readonly Claim[], now: number): Script<void> {
  const won = [
    ...(yield* moveOn(claims.filter(({ nextAt }) => nextAt !== null))),
    ...(yield* complete(claims.filter(({ nextAt }) => nextAt === null))),
  ];
  for (const claim of won) if (claim.replaces) yield* makeRoom(claim.taskId, now);
  const placed = won.flatMap((claim) => claim.occurrences.map((occurrence) => ({ taskId: claim.taskId, occurrence })));
  const made = yield* insertOccurrences(placed, now);
  const known = placed.filter((_one, index) => made[index] !== true);
  yield* giveBack(known);
  const dropped = new Set(known.map(({ occurrence }) => occurrence.id));
  yield* dispatchRuns(
    won.flatMap((claim) => claim.runs).filter((run) => !dropped.has(run.occurrenceId ?? '')),
    now,
  );
  const gaps = won.flatMap(({ taskId, gap }) => (gap === null ? [] : [{ taskId, gap }]));
  yield* each(
    `insert into gaps (id, task_id, from_at, to_at, count, reason, created_at) values (?t, ?t, ?i, ?i, ?i, ?t, ?i)
     on conflict (task_id, from_at) do update set
       count = case when excluded.to_at > gaps.to_at then excluded.count else gaps.count end,
       to_at = case when excluded.to_at > gaps.to_at then excluded.to_at else gaps.to_at end`,
    gaps.map(({ taskId, gap }) => [gap.id, taskId, gap.fromAt, gap.toAt, gap.count, gap.reason, now]),
  );
}

/** Most claims move a task along and leave its state alone, and with it the index that the state stands in. */
function* moveOn(claims: readonly Claim[]): Script<Claim[]> {
  const moved = yield* each(
    `update tasks set next_at = ?i, bounded_runs = bounded_runs + ?i where id = ?t and next_at = ?i`,
    claims.map((claim) => [claim.nextAt, boundedIn(claim), claim.taskId, claim.expectNextAt]),
  );
  return claims.filter((_claim, index) => moved[index]);
}

function* complete(claims: readonly Claim[]): Script<Claim[]> {
  const completed = yield* each(
    `update tasks set next_at = null, state = 'completed', bounded_runs = bounded_runs + ?i where id = ?t and next_at = ?i`,
    claims.map((claim) => [boundedIn(claim), claim.taskId, claim.expectNextAt]),
  );
  return claims.filter((_claim, index) => completed[index]);
}

function boundedIn({ occurrences }: Claim): number {
  return occurrences.filter(isBounded).length;
}

function isBounded(occurrence: NewOccurrence): boolean {
  return occurrence.status === 'dispatched' && occurrence.source !== 'run_now';
}

interface Placed {
  readonly taskId: string;
  readonly occurrence: NewOccurrence;
}

/** A slot that already has its row, because a clock went back or a task was enabled again, keeps that row. */
export function* insertOccurrences(placed: readonly Placed[], now: number): Script<boolean[]> {
  return yield* each(
    `insert into occurrences (id, task_id, slot_at, source, status, reason, decide_by, run_id, late_ms, created_at, updated_at)
     values (?t, ?t, ?i, ?t, ?t, ?t, ?i, ?t, ?i, ?i, ?i) on conflict (task_id, slot_at) do nothing`,
    placed.map(({ taskId, occurrence: o }): Tuple => [
      o.id,
      taskId,
      o.slotAt,
      o.source,
      o.status,
      o.reason,
      o.decideBy,
      o.runId,
      o.lateMs,
      now,
      now,
    ]),
  );
}

/** Occurrences that were not made again do not count against `max_runs`. */
function* giveBack(known: readonly Placed[]): Script<void> {
  for (const { taskId } of known.filter(({ occurrence }) => isBounded(occurrence))) {
    yield* rows(`update tasks set bounded_runs = bounded_runs - 1 where id = ?t`, taskId);
  }
}

/** An occurrence without a run of its own would wait for ever, so a key that is taken ends it with that reason. */
export function* dispatchRuns(runs: readonly NewRun[], now: number): Script<void> {
  const made = yield* insertRuns(runs);
  const refused = runs.filter((_run, index) => made[index] !== true);
  yield* each(
    `update occurrences set status = 'failed', error = 'a run with this key exists already', updated_at = ?i where id = ?t`,
    refused.map((run) => [now, run.occurrenceId]),
  );
}

/** Every run enters here, whatever asked for it. A key that is taken is the caller's to explain. */
export function* insertRuns(runs: readonly NewRun[]): Script<boolean[]> {
  return yield* each(
    `insert into runs (id, source, idempotency_key, payload_hash, lane, exclusive, rank, task_id, task_version,
       occurrence_id, chat_id, owner_id, status, ready_at, fence, attempts, interruptions, input, created_at)
     values (?t, ?t, ?t, ?t, ?t, ?i, ?i, ?t, ?i, ?t, ?t, ?t, 'queued', ?i, 0, 0, 0, ?t, ?i)
     on conflict (idempotency_key, source) do nothing`,
    runs.map((run): Tuple => [
      run.id,
      run.source,
      run.idempotencyKey,
      run.payloadHash,
      run.lane,
      run.exclusive ? 1 : 0,
      10 - run.priority,
      run.taskId,
      run.taskVersion,
      run.occurrenceId,
      run.chatId,
      run.ownerId,
      run.createdAt,
      run.inputText,
      run.createdAt,
    ]),
  );
}

/** For `replace`: the live run is asked to stop, and whoever waited before gives way. */
function* makeRoom(taskId: string, now: number): Script<void> {
  yield* endWaiting(taskId, 'replaced', now);
  yield* cancelLive(taskId, 'replaced', now);
}

/** The live runs of a task by way of their two partial indexes: every other way to them reads the history of all runs. */
const liveOfTask = `select id from runs where task_id = ?t and exclusive = 1 and status in ('queued', 'running', 'backoff', 'waiting')
     union all
     select id from runs where task_id = ?t and exclusive = 0 and status in ('queued', 'running', 'backoff', 'waiting')`;

/** Runs that no worker holds end at once; a running one is asked, and ends with its attempt. */
export function* cancelLive(taskId: string, reason: string, now: number): Script<void> {
  const ended = yield* rows<{ occurrence_id: string | null }>(
    `update runs set status = 'cancelled', error = ?t, finished_at = ?i
     where id in (${liveOfTask}) and status in ('queued', 'backoff', 'waiting') returning occurrence_id`,
    reason,
    now,
    taskId,
    taskId,
  );
  yield* each(
    `update occurrences set status = 'cancelled', reason = ?t, updated_at = ?i where id = ?t and status = 'dispatched'`,
    ended.map(({ occurrence_id }) => [reason, now, occurrence_id]),
  );
  yield* rows(
    `update runs set cancel_requested_at = ?i, cancel_reason = ?t
     where id in (${liveOfTask}) and status = 'running' and cancel_requested_at is null`,
    now,
    reason,
    taskId,
    taskId,
  );
}

/** A row that cannot be read is paused with the reason: people see it, and it is never due again until it is mended. */
function* writeQuarantines(marked: readonly Quarantine[], now: number): Script<void> {
  yield* each(
    `update tasks set state = 'paused', next_at = null, paused_reason = ?t, paused_at = ?i, paused_by = 'system',
       version = version + 1
     where id = ?t and state = 'active'`,
    marked.map(({ taskId, quarantine }) => [quarantine, now, taskId]),
  );
  yield* each(
    `insert into audit (at, actor, verb, task_id, after) values (?i, 'system', 'quarantine', ?t, ?t)`,
    marked.map(({ taskId, quarantine }) => [now, taskId, JSON.stringify({ reason: quarantine })]),
  );
  for (const { taskId } of marked) yield* endWaiting(taskId, 'paused', now);
}

type WaitingRow = DueRow & {
  readonly o_id: string;
  readonly o_slot_at: number;
  readonly o_source: string;
  readonly o_late_ms: number;
};

/**
 * The oldest that waits of each task that has no live run; a task whose policy lets runs live side by side need not wait
 * for that. The policies are our own JSON, written in one way, so a search for the text is a search for the value.
 */
function* admitWaiting({ now, limit }: Batch, plan: Parameters<SlotStore['admitWaiting']>[1]): Script<Counts> {
  const found = yield* rows<WaitingRow>(
    `select ${dueColumns}, w.id as o_id, w.slot_at as o_slot_at, w.source as o_source, w.late_ms as o_late_ms
     from occurrences w join ${dueSource.replace('tasks t', 'tasks t on t.id = w.task_id')}
     where w.status = 'pending' and w.decide_by is null
       and not exists (select 1 from occurrences e where e.task_id = w.task_id and e.status = 'pending'
         and e.decide_by is null and e.slot_at < w.slot_at)
       and (t.policies like '%"overlap":"allow"%'
         or (not exists (select 1 from runs r where r.task_id = w.task_id and r.exclusive = 1
             and r.status in ('queued', 'running', 'backoff', 'waiting'))
           and not exists (select 1 from runs r where r.task_id = w.task_id and r.exclusive = 0
             and r.status in ('queued', 'running', 'backoff', 'waiting'))))
     order by w.slot_at limit ?i [for update of t skip locked]`,
    limit,
  );
  if (found.length === 0) return { taken: 0, more: false };
  const decided = plan(found.map(readWaiting));
  yield* endQuarantined(decided.filter(isQuarantine), now);
  yield* writeQuarantines(decided.filter(isQuarantine), now);
  yield* writeAdmissions(
    decided.filter((one): one is Admission => !isQuarantine(one)),
    now,
  );
  // One for each task at a time: where runs may live side by side, the next one can follow at once.
  return { taken: decided.length, more: decided.length > 0 };
}

function readWaiting(found: WaitingRow): WaitingOccurrence {
  // A task that has completed meanwhile has no next slot, and its waiting occurrence is admitted all the same.
  const task: ReturnType<typeof readDue> | Unreadable = readDue({
    ...found,
    next_at: found.next_at ?? found.o_slot_at,
  });
  const source = found.o_source as WaitingOccurrence['source'];
  return { id: found.o_id, slotAt: found.o_slot_at, source, lateMs: found.o_late_ms, task };
}

/** An occurrence whose task cannot be read would be found first for ever. */
function* endQuarantined(marked: readonly Quarantine[], now: number): Script<void> {
  yield* each(
    `update occurrences set status = 'failed', error = ?t, updated_at = ?i
     where task_id = ?t and status = 'pending' and decide_by is null`,
    marked.map(({ taskId, quarantine }) => [quarantine, now, taskId]),
  );
}

function* writeAdmissions(admissions: readonly Admission[], now: number): Script<void> {
  const runs = admissions.flatMap((one) => ('run' in one ? [one] : []));
  const skips = admissions.flatMap((one) => ('skip' in one ? [one] : []));
  yield* each(
    `update occurrences set status = 'skipped', reason = ?t, updated_at = ?i where id = ?t and status = 'pending'`,
    skips.map((one) => [one.skip, now, one.occurrenceId]),
  );
  const admitted = yield* each(
    `update occurrences set status = 'dispatched', reason = null, run_id = ?t, updated_at = ?i
     where id = ?t and status = 'pending'`,
    runs.map((one) => [one.run.id, now, one.occurrenceId]),
  );
  const won = runs.filter((_one, index) => admitted[index]);
  yield* dispatchRuns(
    won.map((one) => one.run),
    now,
  );
  const bounded = won.filter((one) => one.bounded);
  yield* each(
    `update tasks set bounded_runs = bounded_runs + 1 where id = ?t`,
    bounded.map((one) => [one.taskId]),
  );
  yield* each(
    `update tasks set state = 'completed', next_at = null where id = ?t and state = 'active'`,
    bounded.filter((one) => one.completes).map((one) => [one.taskId]),
  );
}

function* expireQuestions({ now, limit }: Batch): Script<Counts> {
  const expired = yield* rows<{ id: string }>(
    `update occurrences set status = 'skipped', reason = 'ask_expired', updated_at = ?i
     where id in (select id from occurrences where status = 'pending' and decide_by is not null and decide_by <= ?i
       order by decide_by limit ?i) and status = 'pending'
     returning id`,
    now,
    now,
    limit,
  );
  return { taken: expired.length, more: expired.length === limit };
}

function* nextDueAt(): Script<number | null> {
  const slot = yield* row<{ at: number | null }>(`select min(next_at) as at from tasks where next_at is not null`);
  const question = yield* row<{ at: number | null }>(
    `select min(decide_by) as at from occurrences where status = 'pending' and decide_by is not null`,
  );
  const instants = [slot?.at, question?.at].filter((at): at is number => typeof at === 'number');
  return instants.length === 0 ? null : Math.min(...instants);
}

interface ReplanRequest {
  readonly after: string | null;
  readonly at: Batch;
  readonly plan: Parameters<SlotStore['replanTasks']>[2];
}

function* replanTasks({ after, at, plan }: ReplanRequest): Script<ReplanPage> {
  const page = yield* rows<DueRow>(
    `select ${dueColumns} from ${dueSource} where t.id > ?t and t.state = 'active' order by t.id limit ?i
     [for update of t]`,
    after ?? '',
    at.limit,
  );
  const decided = plan(page.map(readDue));
  yield* writeQuarantines(decided.filter(isQuarantine), at.now);
  const changes = decided.filter((one): one is Replan => !isQuarantine(one));
  const moved = yield* each(
    `update tasks set next_at = ?i, state = ?t where id = ?t and next_at = ?i`,
    changes.map((one) => [one.nextAt, one.nextAt === null ? 'completed' : 'active', one.taskId, one.expectNextAt]),
  );
  return { seen: page.length, changed: moved.filter(Boolean).length, last: page.at(-1)?.id ?? null };
}
