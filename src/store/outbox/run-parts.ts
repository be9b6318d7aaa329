import type { NewDelivery, RunEnd } from '../../app/ports/pipeline.ts';
import { threadLane } from '../../domain/run.ts';
import { each, type Script, type Tuple, rows } from '../engine/engine.ts';
import { tellEvents } from '../records/journal.ts';

/** What words about the end of a run need of it, whether it came after an attempt or instead of one. */
export type Ending = Pick<RunEnd, 'status' | 'error' | 'finishedAt' | 'notices'> & {
  readonly run: Pick<RunEnd['run'], 'id' | 'taskId' | 'chatId'>;
};

export interface EndPart {
  readonly end: Ending;
  readonly part: NewDelivery;
}

/** What runs brought back, and the words about how they ended: to the topic of the task, or to the thread that was named. */
export function* insertEndParts(parts: readonly EndPart[]): Script<void> {
  yield* each(
    `insert into deliveries (id, run_id, task_id, chat_id, lane, rank, kind, part, status, ready_at, content,
       unknown_policy, expires_at, fence, sends, put_offs, settles, created_at, urgent, cause, silent, goes_to, to_topic)
     values (?t, ?t, ?t, ?t, ?t, ?i, ?t, ?i, ?t, ?i, ?t, ?t, ?i, 0, 0, 0, 0, ?i, ?i, ?t, ?i, ?t, ?i)`,
    parts.map(({ end: { run, finishedAt, notices }, part }): Tuple => [
      part.id,
      run.id,
      run.taskId,
      run.chatId,
      laneOf(run, part),
      part.rank,
      part.kind,
      part.part,
      part.approveBy === undefined ? 'pending' : 'blocked',
      part.approveBy ?? finishedAt,
      JSON.stringify(part.content),
      part.unknown,
      part.approveBy ?? part.expiresAt,
      finishedAt,
      // Whoever asked by hand for a run waits for the word about it as well.
      part.urgent === true || (part.kind === 'notice' && notices.byHand) ? 1 : 0,
      part.approveBy === undefined ? null : 'approval',
      part.silent === true ? 1 : 0,
      part.thread === undefined ? 'task' : 'thread',
      part.thread?.topic ?? null,
    ]),
  );
}

/** What waits for an approval stands aside, so that it holds up nothing that comes after it. */
function laneOf({ taskId, chatId }: Ending['run'], { approveBy, thread }: NewDelivery): string {
  if (taskId === null) return chatId === null ? 'chat:null' : threadLane(chatId, thread?.topic ?? null);
  return approveBy === undefined ? `task:${taskId}` : approvalLane(taskId);
}

export function approvalLane(taskId: string): string {
  return `approval:${taskId}`;
}

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
