import type { DueTask, Unreadable } from '../../app/ports/pipeline.ts';
import type {
  AccountRequest,
  AuditedTable,
  AuditPage,
  AuditPageRequest,
  HousekeepingStore,
  SampleRequest,
  SlotAccount,
} from '../../app/ports/upkeep.ts';
import type { CheckName, Found } from '../../domain/audit.ts';
import { overdueMs, topicStuckMs } from '../../domain/limits.ts';
import { row, rows, type Engine, type Script, type Value } from '../engine/engine.ts';
import { idAt } from '../engine/queries.ts';
import { tellEvents } from '../records/journal.ts';
import { dueColumns, dueSource, readDue, type DueRow } from '../tasks/codec.ts';

/**
 * The reads of the audit. Each check is one statement over a range of the ids of its table, so it sees one state of the
 * database, and a page of it costs about as much as a page of the table, whatever else the tables hold.
 */
export function auditStore(
  engine: Engine,
): Pick<HousekeepingStore, 'auditPage' | 'tellFindings' | 'sampleTasks' | 'standingTask' | 'slotAccount'> {
  return {
    auditPage: (request) => engine.transact(() => auditPage(request)),
    tellFindings: (findings, at) =>
      engine.transact(() =>
        tellEvents(
          findings.map(({ check, count }) => ({
            kind: 'audit.finding',
            at,
            taskId: null,
            ref: check,
            data: { count },
          })),
        ),
      ),
    sampleTasks: (request) => engine.transact(() => sampleTasks(request)),
    standingTask: (taskId, since) => engine.transact(() => standingTask(taskId, since)),
    slotAccount: (request) => engine.transact(() => slotAccount(request)),
  };
}

interface Check {
  readonly name: CheckName;
  readonly table: AuditedTable;
  /** The condition in which no row `x` may ever be. */
  readonly fault: string;
  readonly values?: (request: Pick<AuditPageRequest, 'now' | 'bootId'>) => readonly Value[];
  /** Where not the row itself is at fault but something that hangs on it. */
  readonly from?: string;
  readonly id?: string;
}

const liveRun = `('queued', 'running', 'backoff', 'waiting')`;

/** To a process that has died its rows are left for a moment, until whoever comes next has taken them up. */
const gone = (at: string) => `x.boot_id <> ?t and coalesce(x.${at}, x.created_at) < ?i`;
const goneValues = ({ bootId, now }: Pick<AuditPageRequest, 'now' | 'bootId'>) => [bootId, now - overdueMs];
const overdue = ({ now }: Pick<AuditPageRequest, 'now'>) => [now - overdueMs];

const allChecks: readonly Check[] = [
  { name: 'enabled_without_next', table: 'tasks', fault: `x.state = 'active' and x.next_at is null` },
  { name: 'slot_overdue', table: 'tasks', fault: `x.next_at < ?i`, values: overdue },
  { name: 'pause_overdue', table: 'tasks', fault: `x.state = 'paused' and x.resume_at < ?i`, values: overdue },
  {
    name: 'topic_stuck',
    table: 'tasks',
    // A topic whose creation got no answer is looked for when its next part is due; while nothing is, nobody needs it.
    fault: `x.topic_state = 'creating' and (x.topic_asked_at is null or x.topic_asked_at < ?i) and x.state <> 'deleted'
      and exists (select 1 from deliveries d where d.lane = 'task:' || x.id
        and d.status in ('pending', 'blocked', 'sending', 'unknown'))`,
    values: ({ now }) => [now - topicStuckMs],
  },
  {
    name: 'task_without_grant',
    table: 'tasks',
    fault: `not exists (select 1 from grants g where g.id = x.grant_id and g.owner_id = x.owner_id)`,
  },
  {
    name: 'pending_of_deleted',
    table: 'occurrences',
    fault: `x.status = 'pending' and not exists (select 1 from tasks t where t.id = x.task_id and t.state <> 'deleted')`,
  },
  {
    name: 'dispatched_without_run',
    table: 'occurrences',
    fault: `x.status = 'dispatched' and not exists (select 1 from runs r where r.id = x.run_id and r.status in ${liveRun})`,
  },
  {
    name: 'question_overdue',
    table: 'occurrences',
    fault: `x.status = 'pending' and x.decide_by < ?i`,
    values: overdue,
  },
  {
    name: 'slot_twice',
    table: 'occurrences',
    fault: `exists (select 1 from occurrences y where y.task_id = x.task_id and y.slot_at = x.slot_at and y.id <> x.id)`,
  },
  {
    name: 'slot_in_gap',
    table: 'occurrences',
    // Runs by hand take an instant that is no slot, and may well take one inside a gap;
    // and a slot that was skipped in advance had its row before anybody could miss it.
    fault: `x.source in ('schedule', 'catch_up') and coalesce(x.reason, '') <> 'skip' and exists (select 1 from gaps g
      where g.task_id = x.task_id and g.from_at <= x.slot_at and g.to_at >= x.slot_at)`,
  },
  {
    name: 'running_without_attempt',
    table: 'runs',
    fault: `x.status = 'running' and not exists (select 1 from attempts a
      where a.run_id = x.id and a.attempt = x.attempts and a.status = 'running')`,
  },
  {
    name: 'attempt_without_run',
    table: 'runs',
    from: 'attempts x',
    id: 'run_id',
    fault: `x.status = 'running' and not exists (select 1 from runs r
      where r.id = x.run_id and r.status = 'running' and r.attempts = x.attempt)`,
  },
  {
    name: 'running_elsewhere',
    table: 'runs',
    fault: `x.status = 'running' and (x.boot_id is null or (${gone('started_at')}))`,
    values: goneValues,
  },
  {
    name: 'run_of_ended_occurrence',
    table: 'runs',
    fault: `x.status in ${liveRun} and x.occurrence_id is not null and not exists (select 1 from occurrences o
      where o.id = x.occurrence_id and o.status = 'dispatched')`,
  },
  {
    name: 'run_key_twice',
    table: 'runs',
    fault: `exists (select 1 from runs y
      where y.idempotency_key = x.idempotency_key and y.source = x.source and y.id <> x.id)`,
  },
  {
    name: 'exclusive_twice',
    table: 'runs',
    fault: `x.exclusive = 1 and x.status in ${liveRun} and exists (select 1 from runs y
      where y.task_id = x.task_id and y.exclusive = 1 and y.status in ${liveRun} and y.id <> x.id)`,
  },
  {
    name: 'delivery_without_run',
    table: 'deliveries',
    fault: `x.run_id is not null and not exists (select 1 from runs r where r.id = x.run_id)`,
  },
  { name: 'delivered_without_id', table: 'deliveries', fault: `x.status = 'delivered' and x.message_id is null` },
  {
    name: 'open_delivery_of_deleted',
    table: 'deliveries',
    // Answers about a deleted task are still owed to whoever asked, and so is the end of its card and of its topic.
    fault: `x.kind in ('result', 'notice') and x.goes_to = 'task'
      and x.task_id is not null and x.created_at < ?i and x.status in ('pending', 'blocked', 'unknown')
      and not exists (select 1 from tasks t where t.id = x.task_id and t.state <> 'deleted')`,
    values: overdue,
  },
  {
    name: 'sending_elsewhere',
    table: 'deliveries',
    fault: `x.status = 'sending' and (x.boot_id is null or (${gone('sent_at')}))`,
    values: goneValues,
  },
];

function* auditPage(request: AuditPageRequest): Script<AuditPage> {
  const { table, below, limit } = request;
  const ids = yield* rows<{ id: string }>(
    below === null
      ? `select id from ${table} order by id desc limit ?i`
      : `select id from ${table} where id < ?t order by id desc limit ?i`,
    ...(below === null ? [limit] : [below, limit]),
  );
  // Rows that hang on a missing one stand between two pages, before the first row or behind the last one. So the
  // pages leave nothing out between them: each begins where the one before has ended.
  const oldest = ids.length === limit ? (ids.at(-1)?.id ?? '') : '';
  const found: Found[] = [];
  for (const check of allChecks.filter((one) => one.table === table)) {
    const bad = yield* rows<{ id: string }>(
      statementOf(check, below !== null),
      oldest,
      ...(below === null ? [] : [below]),
      ...(check.values?.(request) ?? []),
    );
    if (bad.length > 0) found.push({ check: check.name, ids: bad.map(({ id }) => id) });
  }
  return { seen: ids.length, next: ids.length === limit ? oldest : null, found };
}

/** The condition under which a check finds a row `x`, and its values. */
export function faultOf(name: CheckName, request: Pick<AuditPageRequest, 'now' | 'bootId'>) {
  const check = allChecks.find((one) => one.name === name);
  return { fault: check?.fault ?? 'false', values: check?.values?.(request) ?? [] };
}

function statementOf({ table, from = `${table} x`, id = 'id', fault }: Check, bounded: boolean): string {
  const range = bounded ? `x.${id} >= ?t and x.${id} < ?t` : `x.${id} >= ?t`;
  return `select x.${id} as id from ${from} where ${range} and (${fault}) order by x.${id}`;
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

/** From the part of the tasks that was asked for to the newest one, and on from the oldest. Ids count up with time. */
function* sampleTasks({ part, now, limit }: SampleRequest): Script<readonly string[]> {
  const oldest = yield* row<{ created_at: number }>(`select created_at from tasks order by id limit 1`);
  const since = oldest?.created_at ?? now;
  const start = idAt(Math.floor(since + part * (now - since)), '');
  const found: string[] = [];
  for (const side of ['>=', '<']) {
    const page = yield* rows<{ id: string }>(
      `select id from tasks where id ${side} ?t and state = 'active' order by id limit ?i`,
      start,
      limit - found.length,
    );
    found.push(...page.map(({ id }) => id));
  }
  return found;
}

function* standingTask(taskId: string, since: number): Script<DueTask | Unreadable | null> {
  const found = yield* row<DueRow>(
    `select ${dueColumns} from ${dueSource} where t.id = ?t and ${untouched} and coalesce(t.interval_from, '') <> 'completion'`,
    taskId,
    ...touchable(since),
  );
  return found === undefined ? null : readDue(found);
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
