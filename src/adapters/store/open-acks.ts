import type { RunEnd } from '../../app/store.ts';
import type { AckStatus } from '../../domain/ack.ts';
import { rows, write, type Script } from './engine.ts';
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

/** Nobody is asked any more about what the task had left open, and no reminder of it stays. */
export function* closeAcks(
  taskId: string,
  as: Extract<AckStatus, 'superseded' | 'dropped'>,
  now: number,
): Script<void> {
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
    yield* settleNag(nag, now);
  }
}
