import type { Batch, Counts } from '../../app/ports/pipeline.ts';
import type {
  AckView,
  DoneNote,
  DueAck,
  NagDecision,
  NotedDone,
  OpenResult,
  OpenResultsQuery,
  ResultShown,
} from '../../app/ports/questions.ts';
import type { SlotAck } from '../../app/ports/runs.ts';
import type { AckStatus } from '../../domain/ack.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, least, mapped, maybe, pick, type Answer } from '../engine/fields.ts';
import { forUpdate, limit as limited, list, sql, text } from '../engine/sql.ts';
import { all, one, returning, run, select, update, updateReturning } from '../engine/statements.ts';
import { numberHere, shownOf } from '../outbox/part-rows.ts';
import { redrawSettled } from '../outbox/redraws.ts';
import { redrawSoon } from '../outbox/standing.ts';
import { tellEvents } from '../records/journal.ts';
import { escalate } from './escalations.ts';
import { insertNag, lastPart, settleNag, dueAcks, type DueRow } from './nags.ts';

/** Acks: who confirmed what, and who must be reminded. The row of an open one is made with the end of its run. */
export const ackStore = { noteDone, takeBackDone, readAck, openResults, claimNags, nextNagAt };

const { acks } = columns;

const lockedFields = pick(acks, 'status', 'runId', 'nagEveryMs', 'nagDeliveryId', 'doneAt', 'doneBy');

function* lockedAck({ taskId, occurrenceId }: DoneNote): Script<Answer<typeof lockedFields> | undefined> {
  return yield* one(
    select(lockedFields)`from acks where occurrence_id = ${occurrenceId} and task_id = ${taskId} ${forUpdate}`,
  );
}

function* noteDone(done: DoneNote): Script<NotedDone> {
  const { taskId, occurrenceId, actor, at } = done;
  const isNew = (yield* lockedAck(done)) === undefined && (yield* makeDone(done));
  // Looked at again, because somebody else may have said so at this very moment.
  const known = yield* lockedAck(done);
  const result = yield* resultOf(known?.runId ?? null);
  const first = { by: actor, at, isFirst: true, result, endedSnoozes: [] };
  if (known === undefined) return first;
  if (!isNew && known.status === 'done') {
    // A reminder that was on its way just then may have come after all.
    yield* settleNag(known.nagDeliveryId, at);
    return { by: known.doneBy ?? actor, at: known.doneAt ?? at, isFirst: false, result, endedSnoozes: [] };
  }
  if (!isNew) yield* closeAsDone(done, known.nagDeliveryId);
  const endedSnoozes = yield* endSnoozesOf(done);
  yield* redrawSoon([taskId], at);
  yield* redrawSettled(taskId, at, done.pressed);
  yield* tellEvents([{ kind: 'ack.done', at, taskId, ref: occurrenceId }]);
  return { ...first, endedSnoozes };
}

/** A snooze ends with Done: nobody has to be reminded once more. */
function* endSnoozesOf({ taskId, occurrenceId, at }: DoneNote): Script<readonly number[]> {
  const ended = yield* updateReturning(
    'occurrences',
    { status: 'skipped', reason: text('done'), updatedAt: at },
    sql`task_id = ${taskId} and replay_of = ${occurrenceId} and replay_of is not null and status = 'pending' and source = 'snooze'`,
    pick(columns.occurrences, 'id', 'slotAt'),
  );
  const data = { reason: 'done' };
  yield* tellEvents(ended.map(({ id }) => ({ kind: 'occurrence.skipped', at, taskId, ref: id, data })));
  return ended.map(({ slotAt }) => slotAt).toSorted((a, b) => a - b);
}

function* closeAsDone({ occurrenceId, actor, at }: DoneNote, nag: string | null): Script<void> {
  yield* update(
    'acks',
    { status: 'done', doneAt: at, doneBy: actor, nagAt: null, updatedAt: at },
    sql`occurrence_id = ${occurrenceId} and status <> 'done'`,
  );
  yield* settleNag(nag, at);
}

/** Where nobody had asked for it. An occurrence that is not there any more has nothing that a row could hang on. */
function* makeDone({ taskId, occurrenceId, actor, at }: DoneNote): Script<boolean> {
  const made = yield* all(
    returning(
      pick(acks, 'occurrenceId'),
      sql`insert into acks
          (occurrence_id, task_id, chat_id, run_id, status, nag_limit, nags, done_at, done_by, created_at, updated_at)
        select o.id, o.task_id, t.chat_id, o.run_id, 'done', 0, 0, ${at}, ${actor}, ${at}, ${at}
        from occurrences o join tasks t on t.id = o.task_id where o.id = ${occurrenceId} and o.task_id = ${taskId}
        on conflict (occurrence_id) do nothing`,
    ),
  );
  return made.length > 0;
}

const resultFields = {
  ...pick(columns.deliveries, 'content', 'createdAt', 'deliveredAt'),
  messageId: numberHere(columns.deliveries),
};

/** A task that was attached to another chat has left the messages of its results behind. */
function* resultOf(runId: string | null): Script<ResultShown | null> {
  if (runId === null) return null;
  const found = yield* one(
    select(resultFields)`from deliveries
      where run_id = ${runId} and kind = 'result' and chat_id = (select t.chat_id from tasks t where t.id = task_id)
      order by part desc limit 1`,
  );
  const shown = found === undefined ? null : shownOf(found.content);
  if (found === undefined || shown === null || found.messageId === null) return null;
  return { messageId: found.messageId, shown, at: found.deliveredAt ?? found.createdAt };
}

/**
 * An ack taken back is asked for again, unless something newer asks by now or people were told that the asking has ended.
 * After the last reminder the next step is to tell them.
 */
function* takeBackDone(back: DoneNote): Script<boolean> {
  const { taskId, occurrenceId, at } = back;
  const known = yield* lockedAck(back);
  if (known?.status !== 'done') return false;
  yield* tellEvents([{ kind: 'ack.taken_back', at, taskId, ref: occurrenceId }]);
  yield* redrawSoon([taskId], at);
  const { nagEveryMs, runId } = known;
  if (nagEveryMs === null) {
    yield* run(sql`delete from acks where occurrence_id = ${occurrenceId} and status = 'done'`);
    return true;
  }
  const other = yield* one(
    select(pick(acks, 'occurrenceId'))`from acks where task_id = ${taskId} and status = 'open' limit 1`,
  );
  const told = yield* one(
    select(pick(columns.deliveries, 'id'))`from deliveries
      where run_id = ${runId ?? ''} and kind = 'notice' and part = ${lastPart} limit 1`,
  );
  const status: AckStatus = other !== undefined ? 'superseded' : told === undefined ? 'open' : 'given_up';
  const nagAt = status === 'open' ? at + nagEveryMs : null;
  return yield* update(
    'acks',
    { status, nagAt, doneAt: null, doneBy: null, updatedAt: at },
    sql`occurrence_id = ${occurrenceId} and status = 'done'`,
  );
}

const readFields = {
  ...pick(columnsOf('acks', 'a'), 'status', 'runId', 'nags', 'doneAt', 'doneBy'),
  chatTitle: columnsOf('chats', 'c').title,
};

function* readAck({ taskId, occurrenceId }: Pick<DoneNote, 'taskId' | 'occurrenceId'>): Script<AckView | null> {
  const found = yield* one(
    select(readFields)`from acks a left join chats c on c.id = a.chat_id
      where a.occurrence_id = ${occurrenceId} and a.task_id = ${taskId}`,
  );
  if (found === undefined) return null;
  const { runId, ...ack } = found;
  return { ...ack, result: yield* resultOf(runId) };
}

const statusOf = maybe(columnsOf('acks', 'a').status);
const openFields = {
  taskId: columnsOf('occurrences', 'o').taskId,
  occurrenceId: columnsOf('occurrences', 'o').id,
  isAsked: mapped(statusOf, (status) => status === 'open' || status === 'given_up'),
};

function* openResults({ chatId, since, limit }: OpenResultsQuery): Script<readonly OpenResult[]> {
  return yield* all(
    select(openFields)`from tasks t join occurrences o on o.task_id = t.id left join acks a on a.occurrence_id = o.id
      where t.chat_id = ${chatId} and t.state <> 'deleted' and o.slot_at >= ${since} and o.status = 'succeeded'
        and (a.status is null or a.status in ('open', 'given_up')) order by o.updated_at desc, o.id desc ${limited(limit)}`,
  );
}

/** Acks of these occurrences, given or still to be given. */
export function* acksOf(occurrenceIds: readonly string[]): Script<ReadonlyMap<string, SlotAck>> {
  if (occurrenceIds.length === 0) return new Map();
  const found = yield* all(
    select(pick(acks, 'occurrenceId', 'status', 'nags', 'doneAt', 'doneBy'))`from acks
      where occurrence_id in ${list(occurrenceIds)}`,
  );
  return new Map(found.map(({ occurrenceId, ...ack }) => [occurrenceId, ack]));
}

/* ---- reminders ---- */

function* nextNagAt(): Script<number | null> {
  const found = yield* one(select({ at: least(acks.nagAt) })`from acks where status = 'open' and nag_at is not null`);
  return found?.at ?? null;
}

function* claimNags({ now, limit }: Batch, plan: (due: readonly DueAck[]) => readonly NagDecision[]): Script<Counts> {
  const found = yield* dueAcks(now, limit);
  if (found.length === 0) return { taken: 0, more: false };
  const known = new Map(found.map((one) => [one.due.occurrenceId, one]));
  for (const decision of plan(found.map(({ due }) => due))) {
    const ack = known.get(decision.occurrenceId);
    if (ack !== undefined) yield* writeDecision(ack, decision, now);
  }
  return { taken: found.length, more: found.length === limit };
}

function* writeDecision(ack: DueRow, decision: NagDecision, now: number): Script<void> {
  const open = sql`occurrence_id = ${decision.occurrenceId} and status = 'open'`;
  switch (decision.is) {
    case 'later':
      yield* update('acks', { nagAt: decision.at }, open);
      return;
    case 'nag': {
      const { number: nags, nextAt: nagAt, deliveryId: nagDeliveryId } = decision;
      yield* insertNag(ack, decision, now);
      yield* settleNag(ack.nagDeliveryId, now);
      yield* update('acks', { nags, nagAt, nagDeliveryId, updatedAt: now }, open);
      return;
    }
    case 'giveUp':
      yield* escalate(ack, decision, now);
      yield* closeAck(ack, 'given_up', now);
      yield* redrawSoon([ack.taskId], now);
      yield* tellEvents([{ kind: 'ack.given_up', at: now, taskId: ack.taskId, ref: decision.occurrenceId }]);
      return;
    case 'drop':
      yield* closeAck(ack, 'dropped', now);
  }
}

function* closeAck({ due, nagDeliveryId }: DueRow, status: AckStatus, now: number): Script<void> {
  yield* settleNag(nagDeliveryId, now);
  const open = sql`occurrence_id = ${due.occurrenceId} and status = 'open'`;
  yield* update('acks', { status, nagAt: null, updatedAt: now }, open);
}
