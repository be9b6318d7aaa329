import type { HousekeepingStore, SampledTask, SampleRequest } from '../../app/housekeeping/store.ts';
import { dueColumns, dueSource, readDue, type DueRow } from './codec.ts';
import { row, rows, type Engine, type Script } from './engine.ts';

/** What stands for the slots of some tasks, for whoever computes them again and compares. */
export function sampleStore(engine: Engine): Pick<HousekeepingStore, 'sampleSlots'> {
  return { sampleSlots: (request) => engine.transact(() => sampleSlots(request)) };
}

/**
 * Only tasks that stood still since `from`: whoever edits, pauses or resumes a task changes its slots, and then those of
 * the day cannot be computed from what it is now. The same holds for all tasks when the rules of time have changed.
 */
function* sampleSlots(request: SampleRequest): Script<{ tasks: SampledTask[]; last: string | null }> {
  const { after, limit, from } = request;
  const rules = yield* row<{ updated_at: number }>(
    `select updated_at from kv where scope = 'system' and key = 'tz_version' and updated_at >= ?i`,
    from,
  );
  if (rules !== undefined) return { tasks: [], last: null };
  const page = yield* rows<{ id: string }>(
    `select id from tasks where id > ?t and state = 'active' order by id limit ?i`,
    after,
    limit,
  );
  const last = page.at(-1)?.id ?? null;
  const found = yield* rows<DueRow>(
    `select ${dueColumns} from ${dueSource}
     where t.id > ?t and t.id <= ?t and t.state = 'active' and t.created_at < ?i and t.updated_at < ?i
       and coalesce(t.resumed_at, 0) < ?i and coalesce(t.interval_from, '') <> 'completion'
       and not exists (select 1 from audit a where a.task_id = t.id and a.at >= ?i
         and a.verb not in ('run_now', 'retry', 'replay', 'cancel', 'answer', 'skip', 'reconcile'))
     order by t.id`,
    after,
    last ?? after,
    from,
    from,
    from,
    from,
  );
  const tasks: SampledTask[] = [];
  for (const task of found) tasks.push({ task: readDue(task), ...(yield* accountOf(task.id, request)) });
  return { tasks, last: page.length === limit ? last : null };
}

function* accountOf(taskId: string, { from, through }: SampleRequest): Script<Omit<SampledTask, 'task'>> {
  const slots = yield* rows<{ slot_at: number }>(
    `select slot_at from occurrences where task_id = ?t and slot_at > ?i and slot_at <= ?i`,
    taskId,
    from,
    through,
  );
  const gaps = yield* rows<{ from_at: number; to_at: number }>(
    `select from_at, to_at from gaps where task_id = ?t and to_at > ?i and from_at <= ?i`,
    taskId,
    from,
    through,
  );
  return {
    slots: slots.map(({ slot_at }) => slot_at),
    gaps: gaps.map(({ from_at, to_at }) => ({ fromAt: from_at, toAt: to_at })),
  };
}
