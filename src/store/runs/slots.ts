import type {
  Admission,
  Batch,
  SlotPlan,
  Counts,
  DueTask,
  Quarantine,
  Refresh,
  Replan,
  ReplanPage,
  Resume,
  SlotStore,
  Unreadable,
  WaitingOccurrence,
} from '../../app/ports/pipeline.ts';
import { scheduleLimits } from '../../domain/schedule/limits.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, least, pick, type Answer } from '../engine/fields.ts';
import { forUpdateOf, limit as limited, raw, skipLocked, sql } from '../engine/sql.ts';
import { all, one, select, updateAll, updateReturning } from '../engine/statements.ts';
import { refreshCards } from '../outbox/cards.ts';
import { tellNobodyAnswered } from '../questions/questions.ts';
import { recordVerbs, tellComplete, tellEvents } from '../records/journal.ts';
import { pauseForOwners } from '../tasks/auto-pauses.ts';
import { dueFields, dueSource, isHeld, readDue, type DueRow } from '../tasks/codec.ts';
import { tellMayNotRun } from '../tasks/grants.ts';
import { dispatchRuns, insertOccurrences, unpaidIn, writeClaims, writeQuarantines } from './claims.ts';
import { placesHeld, placesReserved } from './thread-runs.ts';

/** Slots into occurrences and runs. Each method is one transaction; a second caller finds nothing left to do. */
export const slotStore = { claimDue, admitWaiting, expireQuestions, resumeDue, refreshStale, nextDueAt, replanTasks };

const selectDue = select(dueFields);

function* claimDue({ now, limit }: Batch, plan: Parameters<SlotStore['claimDue']>[1]): Script<Counts> {
  const onTime: DueRow[] = yield* all(
    selectDue`from ${dueSource} where t.next_at <= ${now} order by t.next_at ${limited(limit)} ${skipLocked('t')}`,
  );
  const due = onTime.length < limit ? [...onTime, ...(yield* neverDue(limit - onTime.length))] : onTime;
  if (due.length === 0) return { taken: 0, more: false };
  yield* countReserved(due);
  const decided = plan(due.map(readDue));
  yield* writeQuarantines(decided.filter(isQuarantine), now);
  const plans = decided.filter((one): one is SlotPlan => !isQuarantine(one));
  const unpaid = yield* writeClaims(plans, due, now);
  yield* pauseForOwners(
    plans.flatMap(({ taskId, occurrences }) => occurrences.map(({ reason }) => ({ taskId, reason }))),
    now,
  );
  // The plan may leave tasks for the next step, when those it decided about were costly.
  const left = due.length === limit || decided.length < due.length;
  return { taken: decided.length, more: left || decided.some((one) => leavesMore(one, now)), ...unpaidIn(unpaid) };
}

/** How many places in `max_runs` are taken by what waits and by what runs: all but those that were asked for by hand. */
export function* countReserved(due: readonly DueRow[]): Script<void> {
  yield* lookAhead(due);
  for (const task of due) {
    if (task.waiting > 0) task.reserved = yield* placesReserved(task.id);
    if (task.live > 0) task.held = yield* placesHeld(task.id);
  }
}

/** Slots that a person skipped in advance, or that ran while the clock was ahead, have their rows; no plan may count on them. */
export function* lookAhead(due: readonly DueRow[], from: number | null = null): Script<void> {
  for (const task of due) {
    const first = from ?? task.nextAt ?? task.resumeAt ?? 0;
    if (task.skipsUntil === null || task.skipsUntil < first) continue;
    const found = yield* all(
      select(pick(columns.occurrences, 'slotAt'))`from occurrences
        where task_id = ${task.id} and slot_at >= ${first} order by slot_at`,
    );
    task.skipped = found.map(({ slotAt }) => slotAt);
  }
}

/** Tasks whose next slot no clock reaches: such a row is wrong, and nothing else would show it. A text sorts behind every number. */
function* neverDue(limit: number): Script<DueRow[]> {
  return yield* all(
    selectDue`from ${dueSource} where t.next_at > ${scheduleLimits.lastInstant}
      order by t.next_at ${limited(limit)} ${skipLocked('t')}`,
  );
}

function isQuarantine(decision: object): decision is Quarantine {
  return 'quarantine' in decision;
}

/** A long outage is worked off in several steps. */
function leavesMore(decision: SlotPlan | Quarantine, now: number): boolean {
  return !isQuarantine(decision) && decision.nextAt !== null && decision.nextAt <= now;
}

const waitingFields = {
  waiting: {
    ...pick(columnsOf('occurrences', 'o'), 'id', 'slotAt', 'source', 'lateMs'),
    isHeld,
  },
  task: dueFields,
};

type WaitingRow = Omit<Answer<typeof waitingFields>, 'task'> & { readonly task: DueRow };

/**
 * The oldest that waits of each task that has no live run; a task whose policy lets runs live side by side need not wait
 * for that.
 */
function* admitWaiting({ now, limit }: Batch, plan: Parameters<SlotStore['admitWaiting']>[1]): Script<Counts> {
  const found = yield* all(
    select(waitingFields)`from occurrences o join tasks t on t.id = o.task_id join chats c on c.id = t.chat_id
        left join grants g on g.id = t.grant_id
      where o.status = 'pending' and o.decide_by is null and (o.source <> 'snooze' or o.slot_at <= ${now})
        and not exists (select 1 from occurrences e where e.task_id = o.task_id and e.status = 'pending'
          and e.decide_by is null and e.slot_at < o.slot_at and (e.source <> 'snooze' or e.slot_at <= ${now}))
        and (t.beside = 1
          or (not exists (select 1 from runs r where r.task_id = o.task_id and r.exclusive = 1
              and r.status in ('queued', 'running', 'backoff', 'waiting'))
            and not exists (select 1 from runs r where r.task_id = o.task_id and r.exclusive = 0
              and r.status in ('queued', 'running', 'backoff', 'waiting'))))
      order by o.slot_at ${limited(limit)} ${skipLocked('t')}`,
  );
  if (found.length === 0) return { taken: 0, more: false };
  const decided = plan((yield* withHeld(found)).map(readWaiting));
  yield* endQuarantined(decided.filter(isQuarantine), now);
  yield* writeQuarantines(decided.filter(isQuarantine), now);
  const unpaid = yield* writeAdmissions(
    decided.filter((one): one is Admission => !isQuarantine(one)),
    now,
  );
  yield* tellSnoozesOver(found, now);
  // One for each task at a time: where runs may live side by side, the next one can follow at once.
  return { taken: decided.length, more: decided.length > 0, ...unpaidIn(unpaid) };
}

/** Only where runs may live side by side does any of them stand beside one that waits. */
function* withHeld(found: readonly WaitingRow[]): Script<WaitingRow[]> {
  const rows: WaitingRow[] = [];
  for (const row of found)
    rows.push(row.task.live === 0 ? row : { ...row, task: { ...row.task, held: yield* placesHeld(row.task.id) } });
  return rows;
}

/** A card must not go on telling of a snooze that is over. */
function* tellSnoozesOver(found: readonly WaitingRow[], now: number): Script<void> {
  const over = found.filter(({ waiting }) => waiting.source === 'snooze');
  yield* refreshCards(
    over.map(({ task, waiting }) => ({ taskId: task.id, at: now, key: `snoozed:${waiting.id}`, topic: null })),
  );
}

/** A task that has completed meanwhile has no next slot, and its waiting occurrence is admitted all the same. */
function readWaiting({ waiting, task }: WaitingRow): WaitingOccurrence {
  return { ...waiting, task: readDue({ ...task, nextAt: task.nextAt ?? waiting.slotAt }) };
}

/** An occurrence whose task cannot be read would be found first for ever. */
function* endQuarantined(marked: readonly Quarantine[], now: number): Script<void> {
  yield* updateAll('occurrences', marked, {
    set: ({ quarantine }) => ({ status: 'failed', reason: null, error: quarantine, updatedAt: now }),
    where: ({ taskId }) => sql`task_id = ${taskId} and status = 'pending' and decide_by is null`,
  });
}

function* writeAdmissions(admissions: readonly Admission[], now: number): Script<number> {
  const runs = admissions.flatMap((one) => ('run' in one ? [one] : []));
  const skips = admissions.flatMap((one) => ('skip' in one ? [one] : []));
  const isPending = ({ occurrenceId }: Admission) => sql`id = ${occurrenceId} and status = 'pending'`;
  yield* updateAll('occurrences', skips, {
    set: ({ skip }) => ({ status: 'skipped', reason: skip, updatedAt: now }),
    where: isPending,
  });
  yield* tellEvents(
    skips.map((one) => ({
      kind: 'occurrence.skipped',
      at: now,
      taskId: one.taskId,
      ref: one.occurrenceId,
      data: { reason: one.skip },
    })),
  );
  const leftOut = skips.map((one) => ({ taskId: one.taskId, reason: one.skip }));
  yield* tellMayNotRun(leftOut, now);
  yield* pauseForOwners(leftOut, now);
  const won = yield* updateAll('occurrences', runs, {
    set: (one) => ({ status: 'dispatched', reason: null, runId: one.run.id, updatedAt: now }),
    where: isPending,
  });
  return yield* dispatchRuns(
    won.map((one) => one.run),
    now,
  );
}

function* expireQuestions({ now, limit }: Batch): Script<Counts> {
  const expired = yield* updateReturning(
    'occurrences',
    { status: 'skipped', reason: 'ask_expired', updatedAt: now },
    sql`id in (select id from occurrences where status = 'pending' and decide_by is not null and decide_by <= ${now}
      order by decide_by ${limited(limit)}) and status = 'pending'`,
    pick(columns.occurrences, 'id', 'taskId'),
  );
  const data = { reason: 'ask_expired' };
  yield* tellEvents(expired.map(({ id, taskId }) => ({ kind: 'occurrence.skipped', at: now, taskId, ref: id, data })));
  yield* tellNobodyAnswered(
    expired.map(({ taskId }) => taskId),
    now,
  );
  return { taken: expired.length, more: expired.length === limit };
}

/**
 * When the next slot, the end of a question, of a pause or of a snooze is due. What was snoozed until now and could not be
 * admitted is held by a live run, whose end rings.
 */
function* nextDueAt(now: number): Script<number | null> {
  const { tasks, occurrences } = columns;
  const slot = yield* one(select({ at: least(tasks.nextAt) })`from tasks where next_at is not null`);
  const question = yield* one(
    select({ at: least(occurrences.decideBy) })`from occurrences where status = 'pending' and decide_by is not null`,
  );
  const pause = yield* one(select({ at: least(tasks.resumeAt) })`from tasks where resume_at is not null`);
  const snoozed = yield* one(
    select({ at: least(occurrences.slotAt) })`from occurrences
      where status = 'pending' and source = 'snooze' and slot_at > ${now}`,
  );
  const instants = [slot, question, pause, snoozed].flatMap((found) => found?.at ?? []);
  return instants.length === 0 ? null : Math.min(...instants);
}

/** A task that has a run, or waits for one, will be fresh by that, and what is due comes first. A snooze is for another day. */
function* refreshStale({ now, limit }: Batch, plan: Parameters<SlotStore['refreshStale']>[1]): Script<Counts> {
  const found: DueRow[] = yield* all(
    selectDue`from ${dueSource}
      where t.refresh_ms is not null and t.state = 'active' and t.fresh_at + t.refresh_ms <= ${now} and t.next_at > ${now}
        and t.schedule_kind <> 'once'
        and not exists (select 1 from occurrences w
          where w.task_id = t.id and w.status = 'pending' and w.source <> 'snooze')
        and not exists (select 1 from runs r where r.task_id = t.id and r.exclusive = 1
          and r.status in ('queued', 'running', 'backoff', 'waiting'))
        and not exists (select 1 from runs r where r.task_id = t.id and r.exclusive = 0
          and r.status in ('queued', 'running', 'backoff', 'waiting'))
      order by t.fresh_at + t.refresh_ms ${limited(limit)} ${skipLocked('t')}`,
  );
  if (found.length === 0) return { taken: 0, more: false };
  const decided = plan(found.map(readDue));
  yield* writeQuarantines(decided.filter(isQuarantine), now);
  const wanted = decided.filter((one): one is Refresh => !isQuarantine(one));
  const placed = wanted.map(({ run, ...one }) => ({ ...one, chatId: run.chatId }));
  const made = yield* insertOccurrences(placed, now);
  const runs = wanted.filter((_one, index) => made[index] === true).map(({ run }) => run);
  const unpaid = yield* dispatchRuns(runs, now);
  // Tasks that may not run are found again, so a page of nothing but those is the last one.
  return { taken: decided.length, more: found.length === limit && decided.length > 0, ...unpaidIn(unpaid) };
}

/** Pauses that were to end by now. The slots from their end on count, also those that passed while nobody was there. */
function* resumeDue({ now, limit }: Batch, plan: Parameters<SlotStore['resumeDue']>[1]): Script<Counts> {
  const found: DueRow[] = yield* all(
    selectDue`from ${dueSource} where t.resume_at <= ${now} order by t.resume_at ${limited(limit)} ${skipLocked('t')}`,
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
  const found = yield* all(selectDue`from ${dueSource} where t.id = ${taskId} and t.resume_at <= ${now}`);
  yield* endPauses(found, now, (due) => due.map(plan));
}

function* endPauses(found: readonly DueRow[], now: number, plan: Parameters<SlotStore['resumeDue']>[1]): Script<void> {
  if (found.length === 0) return;
  yield* lookAhead(found);
  const decided = plan(found.map((row) => readDue({ ...row, nextAt: row.resumeAt })));
  yield* dropResumes(decided.filter(isQuarantine), now);
  const resumes = decided.filter((one): one is Resume => !isQuarantine(one));
  const won = yield* updateAll('tasks', resumes, {
    set: ({ nextAt }) => ({
      state: stateWith(nextAt),
      nextAt,
      resumeAt: null,
      pausedReason: null,
      consecutiveFailures: 0,
      resumedAt: now,
      resumedBy: 'system',
      updatedAt: now,
      updatedBy: 'system',
      version: raw('version + 1'),
    }),
    where: ({ taskId, resumeAt }) => sql`id = ${taskId} and state = 'paused' and resume_at = ${resumeAt}`,
  });
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
  yield* updateAll('tasks', marked, {
    set: ({ quarantine }) => ({
      resumeAt: null,
      pausedReason: quarantine,
      updatedAt: now,
      updatedBy: 'system',
      version: raw('version + 1'),
    }),
    where: ({ taskId }) => sql`id = ${taskId} and state = 'paused'`,
  });
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

function* replanTasks(
  after: string | null,
  { now, limit }: Batch,
  plan: Parameters<SlotStore['replanTasks']>[2],
): Script<ReplanPage> {
  const page: DueRow[] = yield* all(
    selectDue`from ${dueSource} where t.id > ${after ?? ''} and t.state = 'active'
      order by t.id ${limited(limit)} ${forUpdateOf('t')}`,
  );
  // The rules are asked from now on, and what was skipped lies before the next slot.
  yield* lookAhead(page, now);
  const decided = plan(page.map(readDue));
  yield* writeQuarantines(decided.filter(isQuarantine), now);
  const changes = decided.filter((one): one is Replan => !isQuarantine(one));
  const moved = yield* updateAll('tasks', changes, {
    set: ({ nextAt }) => ({ nextAt, state: stateWith(nextAt) }),
    where: ({ taskId, expectNextAt }) => sql`id = ${taskId} and next_at = ${expectNextAt}`,
  });
  yield* tellCompleted(moved, now);
  return { seen: page.length, changed: moved.length, last: page.at(-1)?.id ?? null };
}
