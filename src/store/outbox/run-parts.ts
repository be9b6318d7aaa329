import type { NewDelivery, RunEnd } from '../../app/ports/pipeline.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { list, sql } from '../engine/sql.ts';
import { insertAll, updateReturning } from '../engine/statements.ts';
import { tellEvents } from '../records/journal.ts';
import { approvalLane, messageLane, taskLane } from './lanes.ts';

/** Fields of a run's end that words about it need, whether it came after an attempt or instead of one. */
export type Ending = Pick<RunEnd, 'status' | 'error' | 'finishedAt' | 'notices'> & {
  readonly run: Pick<RunEnd['run'], 'id' | 'taskId' | 'chatId'>;
};

export interface RunPart {
  readonly end: Ending;
  readonly part: NewDelivery;
}

/** Results of runs, and the words about how they ended: to the topic of the task, or to the thread that was named. */
export function* insertRunParts(parts: readonly RunPart[]): Script<void> {
  yield* insertAll('deliveries', parts.map(rowOf));
}

function rowOf({ end: { run, finishedAt, notices }, part }: RunPart) {
  const { approveBy } = part;
  return {
    id: part.id,
    runId: run.id,
    taskId: run.taskId,
    chatId: run.chatId ?? undefined,
    lane: laneOf(run, part),
    rank: part.rank,
    kind: part.kind,
    part: part.part,
    status: approveBy === undefined ? 'pending' : 'blocked',
    readyAt: approveBy ?? finishedAt,
    content: JSON.stringify(part.content),
    unknownPolicy: part.unknown,
    expiresAt: approveBy ?? part.expiresAt,
    fence: 0,
    sends: 0,
    putOffs: 0,
    settles: 0,
    createdAt: finishedAt,
    // A person who asked by hand for a run waits for the word about it as well.
    urgent: part.urgent === true || (part.kind === 'notice' && notices.byHand) ? 1 : 0,
    cause: approveBy === undefined ? null : 'approval',
    silent: part.silent === true ? 1 : 0,
    goesTo: part.thread === undefined ? 'task' : 'thread',
    toTopic: part.thread?.topic ?? null,
  } as const;
}

function laneOf({ taskId, chatId }: Ending['run'], { approveBy, thread }: NewDelivery): string {
  if (taskId === null) return messageLane(chatId, thread?.topic ?? null);
  return approveBy === undefined ? taskLane(taskId) : approvalLane(taskId);
}

/** Parts still to be sent of a task that is not there any more are dropped, with a row that says so. */
export function* dropParts(taskId: string, now: number, why = 'the task was deleted'): Script<void> {
  const dropped = yield* updateReturning(
    'deliveries',
    { status: 'failed', error: why, readyAt: null },
    sql`lane in ${list([taskLane(taskId), approvalLane(taskId)])} and status in ('pending', 'blocked', 'sending', 'unknown')
      and (status in ('pending', 'blocked') or (status = 'unknown' and ready_at is null))`,
    pick(columns.deliveries, 'id'),
  );
  yield* tellEvents(dropped.map(({ id }) => ({ kind: 'delivery.failed', at: now, taskId, ref: id })));
}
