import type { Batch, Counts } from '../../app/ports/pipeline.ts';
import type {
  AckStore,
  AckView,
  DoneNote,
  DueAck,
  NagDecision,
  NotedDone,
  ResultShown,
} from '../../app/ports/questions.ts';
import type { SlotAck } from '../../app/ports/why.ts';
import type { Actor } from '../../domain/access.ts';
import type { AckStatus } from '../../domain/ack.ts';
import { listOf, row, rows, write, type Engine, type Script } from '../engine/engine.ts';
import { shownOf } from '../outbox/part-rows.ts';
import { tellEvents } from '../records/journal.ts';
import { readAck as readAckRow } from '../runs/codec.ts';
import { escalate } from './escalations.ts';
import { insertNag, settleNag, dueAcks, type DueRow } from './nags.ts';

/** Who has confirmed what, and who must be reminded. The row of an open one is made with the end of its run. */
export function ackStore(engine: Engine): AckStore {
  return {
    noteDone: (done) => engine.transact(() => noteDone(done)),
    takeBackDone: (back) => engine.transact(() => takeBackDone(back)),
    readAck: (occurrenceId) => engine.transact(() => readAck(occurrenceId)),
    claimNags: (at, plan) => engine.transact(() => claimNags(at, plan)),
    nextNagAt: () => engine.transact(nextNagAt),
  };
}

interface AckRow {
  readonly status: AckStatus;
  readonly run_id: string | null;
  readonly nag_every_ms: number | null;
  readonly nag_limit: number;
  readonly nags: number;
  readonly nag_delivery_id: string | null;
  readonly done_at: number | null;
  readonly done_by: Actor | null;
}

const ackColumns = 'status, run_id, nag_every_ms, nag_limit, nags, nag_delivery_id, done_at, done_by';

function* lockedAck({ taskId, occurrenceId }: DoneNote): Script<AckRow | undefined> {
  return yield* row<AckRow>(
    `select ${ackColumns} from acks where occurrence_id = ?t and task_id = ?t [for update]`,
    occurrenceId,
    taskId,
  );
}

function* noteDone(done: DoneNote): Script<NotedDone> {
  const { taskId, occurrenceId, actor, at } = done;
  const isNew = (yield* lockedAck(done)) === undefined && (yield* makeDone(done));
  // Looked at again, because somebody else may have said so at this very moment.
  const known = yield* lockedAck(done);
  const result = yield* resultOf(known?.run_id ?? null);
  const first = { by: actor, at, isFirst: true, result };
  if (known === undefined) return first;
  if (!isNew && known.status === 'done') {
    // A reminder that was on its way just then may have come after all.
    yield* settleNag(known.nag_delivery_id, at);
    return { by: known.done_by ?? actor, at: known.done_at ?? at, isFirst: false, result };
  }
  if (!isNew) yield* closeAsDone(done, known.nag_delivery_id);
  yield* tellEvents([{ kind: 'ack.done', at, taskId, ref: occurrenceId }]);
  return first;
}

function* closeAsDone({ occurrenceId, actor, at }: DoneNote, nag: string | null): Script<void> {
  yield* write(
    `update acks set status = 'done', done_at = ?i, done_by = ?t, nag_at = null, updated_at = ?i
     where occurrence_id = ?t and status <> 'done'`,
    at,
    actor,
    at,
    occurrenceId,
  );
  yield* settleNag(nag, at);
}

/** Where nobody had asked for it. An occurrence that is not there any more has nothing that a row could hang on. */
function* makeDone({ taskId, occurrenceId, actor, at }: DoneNote): Script<boolean> {
  const made = yield* rows(
    `insert into acks (occurrence_id, task_id, chat_id, run_id, status, nag_limit, nags, done_at, done_by, created_at, updated_at)
     select o.id, o.task_id, t.chat_id, o.run_id, 'done', 0, 0, ?i, ?t, ?i, ?i
     from occurrences o join tasks t on t.id = o.task_id where o.id = ?t and o.task_id = ?t
     on conflict (occurrence_id) do nothing returning occurrence_id`,
    at,
    actor,
    at,
    at,
    occurrenceId,
    taskId,
  );
  return made.length > 0;
}

function* resultOf(runId: string | null): Script<ResultShown | null> {
  if (runId === null) return null;
  const found = yield* row<{ content: string; message_id: number | null }>(
    `select content, message_id from deliveries where run_id = ?t and kind = 'result' order by part desc limit 1`,
    runId,
  );
  const shown = found === undefined ? null : shownOf(found.content);
  if (found === undefined || shown === null || found.message_id === null) return null;
  return { messageId: found.message_id, shown };
}

/** What was asked for before is asked for again, unless something newer asks by now or people were reminded enough. */
function* takeBackDone(back: DoneNote): Script<boolean> {
  const { taskId, occurrenceId, at } = back;
  const known = yield* lockedAck(back);
  if (known?.status !== 'done') return false;
  yield* tellEvents([{ kind: 'ack.taken_back', at, taskId, ref: occurrenceId }]);
  const { nag_every_ms: everyMs, nag_limit: limit, nags } = known;
  if (everyMs === null) {
    yield* rows(`delete from acks where occurrence_id = ?t and status = 'done'`, occurrenceId);
    return true;
  }
  const other = yield* row(`select occurrence_id from acks where task_id = ?t and status = 'open' limit 1`, taskId);
  const status: AckStatus = other !== undefined ? 'superseded' : nags < limit ? 'open' : 'given_up';
  return yield* write(
    `update acks set status = ?t, nag_at = ?i, done_at = null, done_by = null, updated_at = ?i
     where occurrence_id = ?t and status = 'done'`,
    status,
    status === 'open' ? at + everyMs : null,
    at,
    occurrenceId,
  );
}

function* readAck(occurrenceId: string): Script<AckView | null> {
  const found = yield* row<AckRow & { chat_title: string | null }>(
    `select ${ackColumns}, (select c.title from chats c where c.id = acks.chat_id) as chat_title
     from acks where occurrence_id = ?t`,
    occurrenceId,
  );
  if (found === undefined) return null;
  const { status, nags, done_at: doneAt, done_by: doneBy, chat_title: chatTitle } = found;
  return { status, nags, doneAt, doneBy, result: yield* resultOf(found.run_id), chatTitle };
}

/** What was confirmed of these occurrences, or is to be. */
export function* acksOf(occurrenceIds: readonly string[]): Script<ReadonlyMap<string, SlotAck>> {
  if (occurrenceIds.length === 0) return new Map();
  const { marks, values } = listOf(occurrenceIds);
  const found = yield* rows<Pick<AckRow, 'status' | 'nags' | 'done_at' | 'done_by'> & { occurrence_id: string }>(
    `select occurrence_id, status, nags, done_at, done_by from acks where occurrence_id in (${marks})`,
    ...values,
  );
  return new Map(found.map((one) => [one.occurrence_id, readAckRow(one)]));
}

/* ---- reminders ---- */

function* nextNagAt(): Script<number | null> {
  const found = yield* row<{ at: number | null }>(
    `select min(nag_at) as at from acks where status = 'open' and nag_at is not null`,
  );
  return found?.at ?? null;
}

function* claimNags({ now, limit }: Batch, plan: (due: readonly DueAck[]) => readonly NagDecision[]): Script<Counts> {
  const found = yield* dueAcks(now, limit);
  if (found.length === 0) return { taken: 0, more: false };
  const known = new Map(found.map((one) => [one.due.occurrenceId, one]));
  for (const decision of plan(found.map(({ due }) => due))) {
    const one = known.get(decision.occurrenceId);
    if (one !== undefined) yield* writeDecision(one, decision, now);
  }
  return { taken: found.length, more: found.length === limit };
}

function* writeDecision(one: DueRow, decision: NagDecision, now: number): Script<void> {
  switch (decision.is) {
    case 'later':
      yield* write(
        `update acks set nag_at = ?i where occurrence_id = ?t and status = 'open'`,
        decision.at,
        decision.occurrenceId,
      );
      return;
    case 'nag':
      yield* insertNag(one, decision, now);
      yield* settleNag(one.nagDeliveryId, now);
      yield* write(
        `update acks set nags = ?i, nag_at = ?i, nag_delivery_id = ?t, updated_at = ?i
         where occurrence_id = ?t and status = 'open'`,
        decision.number,
        decision.nextAt,
        decision.deliveryId,
        now,
        decision.occurrenceId,
      );
      return;
    case 'giveUp':
      yield* escalate(one, decision, now);
      yield* closeAck(one, 'given_up', now);
      yield* tellEvents([{ kind: 'ack.given_up', at: now, taskId: one.taskId, ref: decision.occurrenceId }]);
      return;
    case 'drop':
      yield* closeAck(one, 'dropped', now);
  }
}

function* closeAck({ due, nagDeliveryId }: DueRow, status: AckStatus, now: number): Script<void> {
  yield* settleNag(nagDeliveryId, now);
  yield* write(
    `update acks set status = ?t, nag_at = null, updated_at = ?i
     where occurrence_id = ?t and status = 'open'`,
    status,
    now,
    due.occurrenceId,
  );
}
