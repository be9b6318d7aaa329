import { approvalLane } from './end-parts.ts';
import { rows, type Script } from '../engine/engine.ts';
import { tellEvents } from '../records/journal.ts';

/** What is still to be sent of a task that is not there any more is dropped, with a row that says so. */
export function* dropParts(taskId: string, now: number, why = 'the task was deleted'): Script<void> {
  const dropped = yield* rows<{ id: string }>(
    `update deliveries set status = 'failed', error = ?t, ready_at = null
     where lane in (?t, ?t) and status in ('pending', 'blocked', 'sending', 'unknown') and (status in ('pending', 'blocked') or (status = 'unknown' and ready_at is null)) returning id`,
    why,
    `task:${taskId}`,
    approvalLane(taskId),
  );
  yield* tellEvents(dropped.map(({ id }) => ({ kind: 'delivery.failed', at: now, taskId, ref: id })));
}
