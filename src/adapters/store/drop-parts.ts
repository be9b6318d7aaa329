import { approvalLane } from './end-parts.ts';
import { rows, type Script } from './engine.ts';
import { tellEvents } from './journal.ts';

/** What is still to be sent of a deleted task is dropped, with a row that says so; nothing would make a topic for it. */
export function* dropParts(taskId: string, now: number): Script<void> {
  const dropped = yield* rows<{ id: string }>(
    `update deliveries set status = 'failed', error = 'the task was deleted', ready_at = null
     where lane in (?t, ?t) and status in ('pending', 'blocked', 'sending', 'unknown') and (status in ('pending', 'blocked') or (status = 'unknown' and ready_at is null)) returning id`,
    `task:${taskId}`,
    approvalLane(taskId),
  );
  yield* tellEvents(dropped.map(({ id }) => ({ kind: 'delivery.failed', at: now, taskId, ref: id })));
}
