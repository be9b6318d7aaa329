import type { NagDecision } from '../../app/ports/questions.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import type { View } from '../../domain/shown.ts';
import type { DueRow } from './acks-due.ts';
import { listOf, row, rows, type Script, write } from '../engine/engine.ts';
import { insertPart, placeOf } from '../outbox/new-parts.ts';
import { idAt } from '../engine/queries.ts';
import type { RunEnd } from '../../app/ports/pipeline.ts';
import type { AckStatus } from '../../domain/ack.ts';

/** The messages by which somebody is reminded: each takes the place of the one before, and none outlives its reason. */

/** Words about a run that come after its end count from here on, apart from those that come with it. */
const firstPart = 10;
/** The line that nobody has said Done follows every reminder that there can be. */
export const lastPart = 1000;

interface Word {
  readonly id: string;
  readonly part: number;
  readonly content: View;
}

export function* insertNag(
  { due, text, slotAt, ...one }: DueRow,
  { deliveryId, number }: Extract<NagDecision, { is: 'nag' }>,
  now: number,
): Script<void> {
  const { occurrenceId } = due;
  const content: View = { view: 'nag', occurrenceId, text, dueAt: slotAt, number };
  yield* insertInTopic(one, { id: deliveryId, part: firstPart + number, content }, now);
}

/** Quiet hours were asked about when it was decided, so nothing holds it any more. */
export function* insertInTopic(
  { taskId, runId, chatId }: Pick<DueRow, 'taskId' | 'runId' | 'chatId'>,
  { id, part, content }: Word,
  now: number,
): Script<void> {
  // However many are reminded at once, what tasks bring goes first; a reminder comes again anyway.
  const rank = content.view === 'nag' ? outboxRanks.card : outboxRanks.result;
  const run = { id: runId, part };
  yield* insertPart({ id, run, taskId, chatId, kind: 'notice', rank, content, isUrgent: true }, now);
}

interface NagRow {
  readonly status: string;
  readonly created_at: number;
  readonly chat_id: string;
  readonly task_id: string | null;
  readonly message_thread_id: number | null;
  readonly message_id: number | null;
}

/** A reminder that has come is removed, once, and one that is still to come is not sent any more. True when one had come. */
export function* settleNag(deliveryId: string | null, now: number): Script<boolean> {
  if (deliveryId === null) return false;
  yield* rows(
    `update deliveries set status = 'failed', error = 'moot: nobody has to be reminded any more', ready_at = null
     where id = ?t and status in ('pending', 'blocked')`,
    deliveryId,
  );
  const nag = yield* row<NagRow>(
    `select status, created_at, chat_id, task_id, message_thread_id, message_id from deliveries where id = ?t`,
    deliveryId,
  );
  if (nag?.status !== 'delivered' || nag.message_id === null) return false;
  const id = idAt(nag.created_at, `settled:${deliveryId}`);
  yield* insertPart({ ...placeOf(nag), id, kind: 'remove', edits: nag.message_id, content: { text: '' } }, now);
  return true;
}

/**
 * Reminders that were with the platform while their reason went away: one that has come is removed now, and one that came
 * back is not sent again. The lock lets whoever closes the reason at this very moment find the reminder, or be found here.
 */
export function* settleLateNags(deliveryIds: readonly string[], now: number): Script<void> {
  if (deliveryIds.length === 0) return;
  const { marks, values } = listOf(deliveryIds);
  const nags = yield* rows<{ id: string; occurrence_id: string | null }>(
    `select d.id, r.occurrence_id from deliveries d join runs r on r.id = d.run_id
     where d.id in (${marks}) and d.kind = 'notice' and d.part > ${firstPart} and d.part < ${lastPart}`,
    ...values,
  );
  for (const { id, occurrence_id: occurrenceId } of nags) {
    const ack = yield* row<{ status: string; nag_delivery_id: string | null }>(
      `select status, nag_delivery_id from acks where occurrence_id = ?t [for update]`,
      occurrenceId,
    );
    if (ack?.status !== 'open' || ack.nag_delivery_id !== id) yield* settleNag(id, now);
  }
}

/** What runs that have succeeded leave open for somebody to confirm; most ask for nothing, and cost nothing here. */
export function* openAcks(ends: readonly RunEnd[]): Script<void> {
  for (const { run, status, ack, finishedAt } of ends) {
    if (ack === undefined || status !== 'succeeded' || run.occurrenceId === null || run.taskId === null) continue;
    yield* closeAcks(run.taskId, 'superseded', finishedAt);
    yield* write(
      `insert into acks (occurrence_id, task_id, chat_id, run_id, status, nag_every_ms, nag_limit, nags, nag_at, created_at,
         updated_at)
       values (?t, ?t, ?t, ?t, 'open', ?i, ?i, 0, ?i, ?i, ?i) on conflict (occurrence_id) do nothing`,
      run.occurrenceId,
      run.taskId,
      run.chatId,
      run.id,
      ack.nagEveryMs,
      ack.nagLimit,
      finishedAt + ack.nagEveryMs,
      finishedAt,
      finishedAt,
    );
  }
}

/** Nobody is asked any more about what the task had left open, and no reminder of it stays. True when one is removed. */
export function* closeAcks(
  taskId: string,
  as: Extract<AckStatus, 'superseded' | 'dropped'>,
  now: number,
): Script<boolean> {
  let isRemoved = false;
  const open = yield* rows<{ occurrence_id: string; nag_delivery_id: string | null }>(
    `select occurrence_id, nag_delivery_id from acks where task_id = ?t and status = 'open'`,
    taskId,
  );
  for (const { occurrence_id: id, nag_delivery_id: nag } of open) {
    yield* write(
      `update acks set status = ?t, nag_at = null, updated_at = ?i
       where occurrence_id = ?t and status = 'open'`,
      as,
      now,
      id,
    );
    if (yield* settleNag(nag, now)) isRemoved = true;
  }
  return isRemoved;
}

/** Runs among which the one is looked for that a snooze had answered. */
const lookedAt = 20;

/** A snooze that is taken back has answered nothing: what it had put off is asked about again. */
export function* reopenAck(taskId: string, now: number): Script<void> {
  const recent = yield* rows<{ id: string }>(
    `select id from occurrences where task_id = ?t and slot_at <= ?i order by slot_at desc limit ?i`,
    taskId,
    now,
    lookedAt,
  );
  for (const { id } of recent) {
    const ack = yield* row<{ status: AckStatus; nag_every_ms: number | null }>(
      `select status, nag_every_ms from acks where occurrence_id = ?t`,
      id,
    );
    if (ack === undefined) continue;
    // What came after it asks for itself, so only the newest can have been answered by the snooze.
    if (ack.status !== 'superseded' || ack.nag_every_ms === null) return;
    yield* write(
      `update acks set status = 'open', nag_at = ?i, updated_at = ?i where occurrence_id = ?t and status = 'superseded'`,
      now + ack.nag_every_ms,
      now,
      id,
    );
    return;
  }
}
