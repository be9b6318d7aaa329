import type { RunEnd } from '../../app/ports/pipeline.ts';
import type { AckStatus } from '../../domain/ack.ts';
import { row, rows, write, type Script } from '../engine/engine.ts';
import { settleNag } from './nags.ts';

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
