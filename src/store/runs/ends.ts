import type { RunEnd } from '../../app/ports/pipeline.ts';
import type { Finished } from '../../app/ports/runs.ts';
import { shownNotedMs } from '../../domain/limits.ts';
import type { Obstacle } from '../../domain/occurrence.ts';
import type { RunErrorCode } from '../../domain/run.ts';
import { addRefs } from '../blobs/refs.ts';
import { writeWatches } from '../blobs/watches.ts';
import { survivorsOf } from '../chats/survivors.ts';
import type { Script } from '../engine/engine.ts';
import { columnsOf, pick, type Answer } from '../engine/fields.ts';
import { allOf, forUpdate, int, list, raw, sql, text, type Sql } from '../engine/sql.ts';
import { hold, one, select, update, updateAll } from '../engine/statements.ts';
import { contextWords, insertRunParts, tellNotices } from '../outbox/run-parts.ts';
import { askApproval } from '../questions/approvals.ts';
import { openAcks } from '../questions/nags.ts';
import { tellEvents, traced, type NewEvent } from '../records/journal.ts';
import { book, keepReserved } from '../spending/budgets.ts';
import { autoPause, pauseTasks } from '../tasks/auto-pauses.ts';
import { tellMayNotRun } from '../tasks/grants.ts';
import { lastShown, noteShown } from '../upkeep/notes.ts';
import { countTasks, isFinal, type FinalEnd } from './tallies.ts';
import { moveFollowers } from './thread-runs.ts';

/**
 * The end of attempts, written in one transaction: a result is never recorded without its deliveries, its counters and
 * the end of its occurrence. What lost its claim in the meantime writes nothing at all.
 */
export function* finishRuns(ends: readonly RunEnd[]): Script<Finished> {
  // A fixed order keeps two finishers from waiting for each other.
  const sorted = ends.toSorted((a, b) => (a.run.id < b.run.id ? -1 : 1));
  yield* lockTasks(sorted);
  const written = yield* updateAll('runs', sorted, {
    set: (end) => ({
      status: end.status,
      readyAt: sql`coalesce(${int(end.readyAt)}, ready_at)`,
      bootId: null,
      finishedAt: isFinal(end) ? end.finishedAt : null,
      output: end.output === null ? null : JSON.stringify(end.output),
      error: end.error,
      errorCode: errorCodeOf(end),
      freeAttempts: end.run.freeAttempts + (end.isFree === true ? 1 : 0),
      reservedAt: sql`case when ${isFinal(end) ? 1 : 0} = 1 then null else reserved_at end`,
    }),
    where: (end) => sql`${isHeld(end)} and cancel_requested_at is null`,
  });
  const isWritten = new Set(written);
  const calledOff = yield* endCalledOff(sorted.filter((end) => !isWritten.has(end)));
  const won = yield* inTheirChats([...written, ...calledOff.map(({ as }) => as)]);
  yield* closeAttempts(won);
  // Runs that ended last tell how the task stands, whatever the order of the rows.
  const finals = yield* withoutRepeats(won.filter(isFinal).toSorted((a, b) => a.finishedAt - b.finishedAt));
  yield* endOccurrences(finals);
  yield* tellEvents(won.map(endEvent));
  // A run that is called off between two attempts counts as little as one that is called off before its first.
  const between = new Set([
    ...calledOff.filter(({ end }) => !isFinal(end)).map(({ as }) => as.run.id),
    ...finals.filter(isLeftOut).map(({ run }) => run.id),
  ]);
  const { failing, spent, kept } = yield* countTasks(finals, between);
  const autoPaused = [...(yield* autoPause(failing, finals[0]?.finishedAt ?? 0)), ...(yield* pauseHarmful(finals))];
  yield* moveFollowers(finals);
  yield* insertRunParts(finals.flatMap((end) => end.deliveries.map((part) => ({ end, part }))));
  yield* openAcks(finals);
  yield* askApproval(finals);
  yield* tellNotices(finals, { autoPaused, spent });
  yield* tellMayNotRun(
    finals.filter(isLeftOut).map(({ run: { taskId }, leftOut, error }) => ({ taskId, reason: leftOut, error })),
    finals[0]?.finishedAt ?? 0,
  );
  yield* insertRunParts(yield* contextWords(finals, kept));
  yield* addRefs(finals.flatMap(filesOf));
  yield* writeWatches(finals);
  // Last of all, because the rows of budgets are what many runs share.
  yield* book(won);
  yield* keepReserved(won, sorted[0]?.finishedAt ?? 0);
  return { written: won.length, autoPaused };
}

/** A chat may have become one with another while its runs were under way: what they bring is for the one that is there. */
function* inTheirChats(ends: readonly RunEnd[]): Script<readonly RunEnd[]> {
  const survivors = yield* survivorsOf(ends.flatMap(({ run }) => run.chatId ?? []));
  if (survivors.size === 0) return ends;
  return ends.map((end) => {
    const { chatId } = end.run;
    return { ...end, run: { ...end.run, chatId: survivors.get(chatId ?? '') ?? chatId } };
  });
}

function filesOf({ run: { id: runId, chatId }, files = [] }: RunEnd) {
  return files.map(({ sha256 }) => ({ runId, chatId: chatId ?? '', sha256, role: 'output' as const }));
}

/** Under the claim with which its attempt was begun. */
function isHeld({ run, fence }: RunEnd): Sql {
  return sql`id = ${run.id} and fence = ${fence} and status = 'running'`;
}

/** Tasks before runs, as every verb does, or the two would wait for each other. */
function* lockTasks(ends: readonly RunEnd[]): Script<void> {
  const ids = [...new Set(ends.flatMap(({ run }) => run.taskId ?? []))];
  if (ids.length === 0) return;
  yield* hold(sql`select id from tasks where id in ${list(ids)} order by id ${forUpdate}`);
}

function isLeftOut(end: FinalEnd): end is FinalEnd & { readonly leftOut: Obstacle } {
  return end.leftOut !== undefined;
}

function errorCodeOf({ attemptStatus, isInternal, isInvalid, leftOut }: RunEnd): RunErrorCode | null {
  if (leftOut !== undefined) return 'not_allowed';
  if (isInternal === true) return 'internal';
  if (isInvalid === true) return 'invalid_action';
  return attemptStatus === 'succeeded' ? null : attemptStatus;
}

/** One for each attempt, so that whoever reads them sees every try. */
function endEvent({ run, attempt, status, finishedAt, leftOut: reason }: RunEnd): NewEvent {
  const { id: ref, taskId, chatId } = run;
  const event = { kind: `run.${status}`, at: finishedAt, taskId, ref, chatId } as const;
  // Most runs need one attempt and are asked for by a schedule, and the fewer bytes a result costs, the better.
  const isOnly = attempt === 1 && status !== 'backoff';
  if (isOnly && run.traceId === null && reason === undefined) return event;
  const why = reason === undefined ? {} : { reason };
  return { ...event, data: { ...(isOnly ? {} : { attempt }), ...why, ...traced(run.traceId) } };
}

interface CalledOff {
  readonly end: RunEnd;
  readonly as: RunEnd;
}

/**
 * Runs that a person asked to stop, and was told that they do, before their attempt ended by itself: they end as that
 * person was told, and nothing of them is shown. What the attempt did stays in its own row.
 */
function* endCalledOff(ends: readonly RunEnd[]): Script<CalledOff[]> {
  const stopped = yield* updateAll('runs', ends, {
    set: ({ finishedAt, error }) => ({
      status: 'cancelled',
      bootId: null,
      finishedAt,
      error: sql`coalesce(${text(error)}, cancel_reason)`,
      errorCode: 'cancelled',
      reservedAt: null,
    }),
    where: (end) => sql`${isHeld(end)} and cancel_requested_at is not null`,
  });
  return stopped.map(({ files: _files, watched: _watched, leftOut: _leftOut, ...end }) => ({
    end,
    as: {
      ...end,
      status: 'cancelled',
      readyAt: null,
      output: null,
      deliveries: [],
      notices: { byHand: false, failed: null, autoPaused: null, recovered: null, completed: end.notices.completed },
      context: null,
    },
  }));
}

/** Results that people have seen already, as far as their tasks ask to be spared them. The runs are written by now. */
function* withoutRepeats(ends: readonly FinalEnd[]): Script<readonly FinalEnd[]> {
  if (ends.every(({ ifUnchanged }) => ifUnchanged === undefined)) return ends;
  const spared: FinalEnd[] = [];
  for (const end of ends) {
    const last = yield* lastSame(end);
    // The occurrences of this batch do not say yet that they are repeats.
    const isRepeat = last?.reason === 'unchanged' || spared.some((one) => one.isRepeat && one.run.id === last?.id);
    spared.push(last !== null && (yield* isSeen(end, last.id, isRepeat)) ? withoutRepeat(end) : end);
  }
  return spared;
}

function withoutRepeat(end: FinalEnd): FinalEnd {
  const isRepeat = true;
  if (end.ifUnchanged === 'silent')
    return { ...end, isRepeat, deliveries: end.deliveries.map((part) => ({ ...part, silent: true })) };
  const { ack: _ack, approval: _approval, ...unseen } = end;
  return { ...unseen, isRepeat, deliveries: [] };
}

type LastSame = Answer<typeof lastFields>;
const lastFields = { ...pick(columnsOf('runs', 'last'), 'id'), ...pick(columnsOf('occurrences', 'last'), 'reason') };

/**
 * The last success, where its result was the same. It is the one of the latest slot. A replay shows what was, which is news
 * about nothing. A person who asked for the run is shown the result in any case.
 */
function* lastSame({ run, status, output, finishedAt, ifUnchanged }: FinalEnd): Script<LastSame | null> {
  const { taskId, occurrenceId } = run;
  if (ifUnchanged === undefined || status !== 'succeeded' || taskId === null || occurrenceId === null) return null;
  const same = yield* one(
    select(lastFields)`from (select r.id, r.output, o.reason from occurrences o join runs r on r.id = o.run_id
        where o.task_id = ${taskId} and o.source <> 'replay' and r.status = 'succeeded'
          and (r.finished_at < ${finishedAt} or (r.finished_at = ${finishedAt} and r.id < ${run.id}))
        order by o.slot_at desc limit 1) last
      where last.output = ${JSON.stringify(output)}
        and not exists (select 1 from occurrences mine where mine.id = ${occurrenceId} and mine.asked_by is not null)`,
  );
  return same ?? null;
}

/**
 * Results that could not be delivered have been seen by nobody, unless somebody discarded them. A repeat stands for the one
 * that was shown, which may still fail long after others were spared for it, so that one is noted with the first of them.
 */
function* isSeen({ run, finishedAt: now }: FinalEnd, id: string, isRepeat: boolean): Script<boolean> {
  const taskId = run.taskId ?? '';
  const shown = isRepeat ? ((yield* lastShown(taskId)) ?? id) : id;
  const lost = yield* one(
    select(pick(columnsOf('deliveries', 'd'), 'id'))`from deliveries d
      where d.run_id = ${shown} and d.kind = 'result' and d.status = 'failed' and d.decision is null limit 1`,
  );
  if (lost === undefined && !isRepeat) yield* noteShown(taskId, id, { now, until: now + shownNotedMs });
  return lost === undefined;
}

function* closeAttempts(ends: readonly RunEnd[]): Script<void> {
  yield* updateAll('attempts', ends, {
    set: ({ attemptStatus: status, finishedAt, durationMs, httpStatus, error }) => ({
      status,
      finishedAt,
      durationMs,
      httpStatus,
      error,
    }),
    where: ({ run, attempt }) => sql`run_id = ${run.id} and attempt = ${attempt} and status = 'running'`,
  });
}

function* endOccurrences(ends: readonly FinalEnd[]): Script<void> {
  yield* updateAll(
    'occurrences',
    ends.filter((end) => end.run.occurrenceId !== null),
    {
      set: ({ status, error, finishedAt, leftOut, isRepeat = false, isUnchanged = false }) => ({
        status: leftOut === undefined ? status : 'skipped',
        reason: leftOut ?? (status === 'cancelled' ? 'cancelled' : isRepeat || isUnchanged ? 'unchanged' : null),
        error: leftOut === undefined ? error : null,
        updatedAt: finishedAt,
      }),
      where: ({ run }) => sql`id = ${run.occurrenceId ?? ''} and status = 'dispatched'`,
    },
  );
  for (const { run } of ends.filter(({ status }) => status === 'cancelled')) {
    yield* update(
      'occurrences',
      { reason: raw('coalesce((select r.cancel_reason from runs r where r.id = occurrences.run_id), reason)') },
      sql`id = ${run.occurrenceId ?? ''} and status = 'cancelled'`,
    );
  }
}

/** One run that harmed the work of others is enough. */
function* pauseHarmful(ends: readonly FinalEnd[]): Script<readonly string[]> {
  const harmful = ends.filter(({ isHarmful }) => isHarmful === true);
  const taskIds = [...new Set(harmful.flatMap(({ run }) => run.taskId ?? []))].toSorted();
  return yield* pauseTasks(taskIds, { reason: 'harmful_template', guard: allOf() }, ends[0]?.finishedAt ?? 0);
}
