import type { NewDelivery, RunEnd } from '../../app/store.ts';
import { each, type Script, type Tuple } from './engine.ts';

/** What words about the end of a run need of it, whether it came after an attempt or instead of one. */
export type Ending = Pick<RunEnd, 'status' | 'error' | 'finishedAt' | 'notices'> & {
  readonly run: Pick<RunEnd['run'], 'id' | 'taskId' | 'chatId'>;
};

export interface EndPart {
  readonly end: Ending;
  readonly part: NewDelivery;
}

/** What runs brought back, and the words about how they ended: all of it goes to the topic of the task. */
export function* insertEndParts(parts: readonly EndPart[]): Script<void> {
  yield* each(
    `insert into deliveries (id, run_id, task_id, chat_id, lane, rank, kind, part, status, ready_at, content,
       unknown_policy, expires_at, fence, sends, put_offs, settles, created_at)
     values (?t, ?t, ?t, ?t, ?t, ?i, ?t, ?i, 'pending', ?i, ?t, ?t, ?i, 0, 0, 0, 0, ?i)`,
    parts.map(({ end: { run, finishedAt }, part }): Tuple => [
      part.id,
      run.id,
      run.taskId,
      run.chatId,
      run.taskId === null ? `chat:${run.chatId}` : `task:${run.taskId}`,
      part.rank,
      part.kind,
      part.part,
      finishedAt,
      JSON.stringify(part.content),
      part.unknown,
      part.expiresAt,
      finishedAt,
    ]),
  );
}
