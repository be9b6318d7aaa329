import type { Ahead, Planned } from '../../app/ports/why.ts';
import type { Task } from '../../domain/task.ts';
import { readTask, type TaskRow } from '../tasks/codec.ts';
import { row, rows, type Script } from '../engine/engine.ts';

export function* findTask(taskId: string): Script<Task | null> {
  const found = yield* row<TaskRow>(
    `select t.*, c.provider, c.address from tasks t join chats c on c.id = t.chat_id where t.id = ?t`,
    taskId,
  );
  return found === undefined ? null : readTask(found);
}

export function* readPlanned(taskId: string): Script<Planned | null> {
  const task = yield* findTask(taskId);
  return task === null ? null : { task, ahead: yield* aheadOf(task) };
}

const skippedMax = 1000;

/** What is to come of a task depends on what was skipped in advance, on what still waits and on what runs. */
export function* aheadOf({ id, nextAt, resumeAt, schedule }: Task): Script<Ahead> {
  const from = nextAt ?? resumeAt;
  if (from === null) return { skipped: [], waiting: 0, awaitsEnd: false };
  const skipped = yield* rows<{ slot_at: number }>(
    `select slot_at from occurrences where task_id = ?t and slot_at >= ?i and status = 'skipped' and reason = 'skip'
     order by slot_at limit ?i`,
    id,
    from,
    skippedMax,
  );
  const waiting = yield* row<{ count: number }>(
    `select count(*) as count from occurrences
     where task_id = ?t and status = 'pending' and decide_by is null and source in ('schedule', 'catch_up')`,
    id,
  );
  const count = waiting?.count ?? 0;
  const isDelay = schedule.kind === 'interval' && schedule.from === 'completion';
  return {
    skipped: skipped.map((one) => one.slot_at),
    waiting: count,
    awaitsEnd: isDelay && (count > 0 || (yield* isLive(id))),
  };
}

function* isLive(taskId: string): Script<boolean> {
  const live = yield* row(
    `select 1 as live where exists (select 1 from runs where task_id = ?t and exclusive = 1
         and status in ('queued', 'running', 'backoff', 'waiting'))
       or exists (select 1 from runs where task_id = ?t and exclusive = 0
         and status in ('queued', 'running', 'backoff', 'waiting'))`,
    taskId,
    taskId,
  );
  return live !== undefined;
}
