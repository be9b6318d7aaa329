import type { NagDecision } from '../../app/ports/acks.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import type { View } from '../../domain/shown.ts';
import type { DueRow } from './acks-due.ts';
import { listOf, row, rows, type Script } from '../engine/engine.ts';
import { insertPart, placeOf } from '../outbox/new-parts.ts';
import { idAt } from '../engine/time-ids.ts';

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
