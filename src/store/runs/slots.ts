import type {
  Admission,
  Batch,
  Claim,
  Counts,
  DueTask,
  Quarantine,
  Replan,
  ReplanPage,
  Resume,
  SlotStore,
  Unreadable,
  WaitingOccurrence,
} from '../../app/ports/pipeline.ts';
import { scheduleLimits } from '../../domain/schedule/limits.ts';
import { each, row, rows, type Engine, type Script } from '../engine/engine.ts';
import { refreshCards } from '../outbox/cards.ts';
import { tellNobodyAnswered } from '../questions/questions.ts';
import { recordVerbs, tellComplete, tellEvents } from '../records/journal.ts';
import { dueColumns, dueSource, readDue, type DueRow } from '../tasks/codec.ts';
import { tellGrantGone } from '../tasks/grants.ts';
import { dispatchRuns, writeClaims, writeQuarantines } from './claims.ts';

/** Slots into occurrences and runs. Each method is one transaction; a second caller finds nothing left to do. */
export function slotStore(engine: Engine): SlotStore {
  return {
    claimDue: (at, plan) => engine.transact(() => claimDue(at, plan)),
    admitWaiting: (at, plan) => engine.transact(() => admitWaiting(at, plan)),
    expireQuestions: (at) => engine.transact(() => expireQuestions(at)),
    resumeDue: (at, plan) => engine.transact(() => resumeDue(at, plan)),
    nextDueAt: (now) => engine.transact(() => nextDueAt(now)),
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
  yield* lookAhead(due);
  for (const task of due) {
    if (task.waiting === 0) continue;
    const found = yield* row<{ reserved: number }>(
      `select count(*) as reserved from occurrences
       where task_id = ?t and status = 'pending' and decide_by is null and source in ('schedule', 'catch_up')`,
      task.id,
    );
    task.reserved = found?.reserved ?? 0;
  }
}

/** Slots that a person skipped in advance have their rows; no plan may count on them. */
function* lookAhead(due: readonly DueRow[], from: number | null = null): Script<void> {
  for (const task of due) {
    const first = from ?? task.next_at ?? task.resume_at ?? 0;
    if (task.skips_until === null || task.skips_until < first) continue;
    const found = yield* rows<{ slot_at: number }>(
      `select slot_at from occurrences where task_id = ?t and slot_at >= ?i and status = 'skipped' and reason = 'skip'
       order by slot_at`,
      task.id,
      first,
    );
    task.skipped = found.map(({ slot_at }) => slot_at);
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
     where w.status = 'pending' and w.decide_by is null and (w.source <> 'snooze' or w.slot_at <= ?i)
       and not exists (select 1 from occurrences e where e.task_id = w.task_id and e.status = 'pending'
         and e.decide_by is null and e.slot_at < w.slot_at and (e.source <> 'snooze' or e.slot_at <= ?i))
       and (t.policies like '%"overlap":"allow"%'
         or (not exists (select 1 from runs r where r.task_id = w.task_id and r.exclusive = 1
             and r.status in ('queued', 'running', 'backoff', 'waiting'))
           and not exists (select 1 from runs r where r.task_id = w.task_id and r.exclusive = 0
             and r.status in ('queued', 'running', 'backoff', 'waiting'))))
     order by w.slot_at limit ?i [for update of t skip locked]`,
    now,
    now,
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
  yield* tellSnoozesOver(found, now);
  // One for each task at a time: where runs may live side by side, the next one can follow at once.
  return { taken: decided.length, more: decided.length > 0 };
}

/** A card must not go on telling of a snooze that is over. */
function* tellSnoozesOver(found: readonly WaitingRow[], now: number): Script<void> {
  const over = found.filter(({ o_source: source }) => source === 'snooze');
  yield* refreshCards(over.map((one) => ({ taskId: one.id, at: now, key: `snoozed:${one.o_id}`, door: null })));
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
    `update occurrences set status = 'failed', reason = null, error = ?t, updated_at = ?i
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
  yield* tellEvents(
    skips.map((one) => ({
      kind: 'occurrence.skipped',
      at: now,
      taskId: one.taskId,
      ref: one.occurrenceId,
      data: { reason: one.skip },
    })),
  );
  yield* tellGrantGone(
    skips.map((one) => ({ taskId: one.taskId, reason: one.skip })),
    now,
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
  const last = bounded.filter((one) => one.completes);
  const completed = yield* each(
    `update tasks set state = 'completed', next_at = null where id = ?t and state = 'active'`,
    last.map((one) => [one.taskId]),
  );
  yield* tellComplete(
    last.filter((_one, index) => completed[index]).map(({ taskId }) => taskId),
    now,
  );
}

function* expireQuestions({ now, limit }: Batch): Script<Counts> {
  const expired = yield* rows<{ id: string; task_id: string }>(
    `update occurrences set status = 'skipped', reason = 'ask_expired', updated_at = ?i
     where id in (select id from occurrences where status = 'pending' and decide_by is not null and decide_by <= ?i
       order by decide_by limit ?i) and status = 'pending'
     returning id, task_id`,
    now,
    now,
    limit,
  );
  yield* tellEvents(
    expired.map(({ id, task_id }) => ({
      kind: 'occurrence.skipped',
      at: now,
      taskId: task_id,
      ref: id,
      data: { reason: 'ask_expired' },
    })),
  );
  yield* tellNobodyAnswered(
    expired.map(({ task_id }) => task_id),
    now,
  );
  return { taken: expired.length, more: expired.length === limit };
}

/**
 * When the next slot, the end of a question, of a pause or of a snooze is due. What was snoozed until now and could not be
 * admitted is held by a live run, whose end rings.
 */
function* nextDueAt(now: number): Script<number | null> {
  const slot = yield* row<{ at: number | null }>(`select min(next_at) as at from tasks where next_at is not null`);
  const question = yield* row<{ at: number | null }>(
    `select min(decide_by) as at from occurrences where status = 'pending' and decide_by is not null`,
  );
  const pause = yield* row<{ at: number | null }>(`select min(resume_at) as at from tasks where resume_at is not null`);
  const snoozed = yield* row<{ at: number | null }>(
    `select min(slot_at) as at from occurrences where status = 'pending' and source = 'snooze' and slot_at > ?i`,
    now,
  );
  const instants = [slot?.at, question?.at, pause?.at, snoozed?.at].filter(
    (at): at is number => typeof at === 'number',
  );
  return instants.length === 0 ? null : Math.min(...instants);
}

/** Pauses that were to end by now. The slots from their end on count, also those that passed while nobody was there. */
function* resumeDue({ now, limit }: Batch, plan: Parameters<SlotStore['resumeDue']>[1]): Script<Counts> {
  const found = yield* rows<PausedRow>(
    `select ${dueColumns} from ${dueSource}
     where t.resume_at <= ?i order by t.resume_at limit ?i [for update of t skip locked]`,
    now,
    limit,
  );
  yield* endPauses(found, now, plan);
  return { taken: found.length, more: found.length === limit };
}

/** The pause of one task, which is locked, where it was to end by now: nobody may have noticed yet. */
export function* endPauseOf(
  taskId: string,
  now: number,
  plan: (due: DueTask | Unreadable) => Resume | Quarantine,
): Script<void> {
  const found = yield* rows<PausedRow>(
    `select ${dueColumns} from ${dueSource} where t.id = ?t and t.resume_at <= ?i`,
    taskId,
    now,
  );
  yield* endPauses(found, now, (due) => due.map(plan));
}

type PausedRow = DueRow & { readonly resume_at: number };

function* endPauses(
  found: readonly PausedRow[],
  now: number,
  plan: Parameters<SlotStore['resumeDue']>[1],
): Script<void> {
  if (found.length === 0) return;
  yield* lookAhead(found);
  const decided = plan(found.map((one) => readDue({ ...one, next_at: one.resume_at })));
  yield* dropResumes(decided.filter(isQuarantine), now);
  const resumes = decided.filter((one): one is Resume => !isQuarantine(one));
  const resumed = yield* each(
    `update tasks set state = ?t, next_at = ?i, resume_at = null, paused_reason = null, consecutive_failures = 0,
       resumed_at = ?i, resumed_by = 'system', version = version + 1
     where id = ?t and state = 'paused' and resume_at = ?i`,
    resumes.map((one) => [stateWith(one.nextAt), one.nextAt, now, one.taskId, one.resumeAt]),
  );
  const won = resumes.filter((_one, index) => resumed[index]);
  yield* recordVerbs(
    won.map((one) => ({
      at: now,
      actor: 'system',
      verb: 'resume',
      taskId: one.taskId,
      stateBefore: 'paused',
      stateAfter: stateWith(one.nextAt),
    })),
  );
  yield* tellCompleted(won, now);
}

/** A row that cannot be read stays paused; its timed end would be found again for ever. */
function* dropResumes(marked: readonly Quarantine[], now: number): Script<void> {
  yield* each(
    `update tasks set resume_at = null, paused_reason = ?t, version = version + 1 where id = ?t and state = 'paused'`,
    marked.map(({ taskId, quarantine }) => [quarantine, taskId]),
  );
  yield* recordVerbs(
    marked.map(({ taskId, quarantine }) => ({
      at: now,
      actor: 'system',
      verb: 'quarantine',
      taskId,
      stateBefore: 'paused',
      stateAfter: 'paused',
      after: { reason: quarantine },
    })),
  );
}

/** A task with nothing left to run is completed, whatever found that out. */
function* tellCompleted(tasks: readonly (Resume | Replan)[], now: number): Script<void> {
  const done = tasks.filter(({ nextAt }) => nextAt === null);
  yield* tellComplete(
    done.map(({ taskId }) => taskId),
    now,
  );
}

function stateWith(nextAt: number | null): 'active' | 'completed' {
  return nextAt === null ? 'completed' : 'active';
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
  // The rules are asked from now on, and what was skipped lies before the next slot.
  yield* lookAhead(page, at.now);
  const decided = plan(page.map(readDue));
  yield* writeQuarantines(decided.filter(isQuarantine), at.now);
  const changes = decided.filter((one): one is Replan => !isQuarantine(one));
  const moved = yield* each(
    `update tasks set next_at = ?i, state = ?t where id = ?t and next_at = ?i`,
    changes.map((one) => [one.nextAt, stateWith(one.nextAt), one.taskId, one.expectNextAt]),
  );
  yield* tellCompleted(
    changes.filter((_one, index) => moved[index]),
    at.now,
  );
  return { seen: page.length, changed: moved.filter(Boolean).length, last: page.at(-1)?.id ?? null };
}
