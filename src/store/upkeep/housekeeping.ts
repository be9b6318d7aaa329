import type {
  HousekeepingStore,
  AccountRequest,
  SampleRequest,
  SlotAccount,
  TaskSample,
} from '../../app/ports/upkeep.ts';
import { type Engine, row, rows, type Script } from '../engine/engine.ts';
import { dueColumns, dueSource, readDue, type DueRow } from '../tasks/codec.ts';
import { checkStore } from './checks.ts';
import { repairStore, lostClaimStore } from './repairs.ts';
import { retentionStore } from './retention.ts';

export function housekeepingStore(engine: Engine): HousekeepingStore {
  return {
    ...retentionStore(engine),
    ...lostClaimStore(engine),
    ...checkStore(engine),
    ...repairStore(engine),
    ...sampleStore(engine),
  };
}

/** Some tasks, and what stands for their slots, for whoever computes them again and compares. */
function sampleStore(engine: Engine): Pick<HousekeepingStore, 'sampleTasks' | 'slotAccount'> {
  return {
    sampleTasks: (request) => engine.transact(() => sampleTasks(request)),
    slotAccount: (request) => engine.transact(() => slotAccount(request)),
  };
}

/**
 * Only tasks that stood still since `from`: whoever edits, pauses or resumes a task changes its slots, and then those of
 * the day cannot be computed from what it is now. The same holds for all tasks when the rules of time have changed.
 */
const untouched = `t.state = 'active' and t.created_at < ?i and t.updated_at < ?i and coalesce(t.resumed_at, 0) < ?i
  and not exists (select 1 from audit a where a.task_id = t.id and a.at >= ?i
    and a.verb not in ('run_now', 'retry', 'replay', 'cancel', 'answer', 'skip', 'reconcile',
      'attach', 'grant', 'revoke'))
  and not exists (select 1 from kv where kv.scope = 'system' and kv.key = 'tz_version' and kv.updated_at >= ?i)`;

function touchable(from: number): number[] {
  return [from, from, from, from, from];
}

function* sampleTasks({ after, limit, from }: SampleRequest): Script<TaskSample> {
  const page = yield* rows<{ id: string }>(
    `select id from tasks where id > ?t and state = 'active' order by id limit ?i`,
    after,
    limit,
  );
  const last = page.at(-1)?.id ?? after;
  const found = yield* rows<DueRow>(
    `select ${dueColumns} from ${dueSource} where t.id > ?t and t.id <= ?t and ${untouched}
       and coalesce(t.interval_from, '') <> 'completion' order by t.id`,
    after,
    last,
    ...touchable(from),
  );
  return { tasks: found.map(readDue), last: page.length === limit ? last : null };
}

function* slotAccount({ taskId, untouchedSince, from, through }: AccountRequest): Script<SlotAccount | null> {
  const task = yield* row(
    `select t.id from tasks t where t.id = ?t and ${untouched}`,
    taskId,
    ...touchable(untouchedSince),
  );
  if (task === undefined) return null;
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
