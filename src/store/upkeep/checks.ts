import type { Batch, DueTask, Unreadable } from '../../app/ports/pipeline.ts';
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
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, pick } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { allOf, limit as limited, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { taskLaneOf } from '../outbox/lanes.ts';
import { tellEvents } from '../records/journal.ts';
import { lookAhead } from '../runs/slots.ts';
import { dueFields, dueSource, readDue, type DueRow } from '../tasks/codec.ts';

/**
 * The reads of the audit. Each check is one statement over a range of the ids of its table, so it sees one state of the
 * database, and a page of it costs about as much as a page of the table, whatever else the tables hold.
 */
export const auditStore = { auditPage, tellFindings, sampleTasks, pageOfActive, standingTask, slotAccount };

function tellFindings(...[findings, at]: Parameters<HousekeepingStore['tellFindings']>): Script<void> {
  return tellEvents(
    findings.map(({ check, count }) => ({ kind: 'audit.finding', at, taskId: null, ref: check, data: { count } })),
  );
}

interface Check {
  readonly name: CheckName;
  readonly table: AuditedTable;
  /** The condition in which no row `x` may ever be. */
  readonly fault: (at: Checking) => Sql;
  /** Where not the row itself is at fault but something that hangs on it. */
  readonly from?: { readonly source: Sql; readonly id: Sql };
}

type Checking = Pick<AuditPageRequest, 'now' | 'bootId'>;

const liveRun = raw(`('queued', 'running', 'backoff', 'waiting')`);

/** To a process that has died its rows are left for a moment, until whoever comes next has taken them up. */
const isGone = (startedAt: Sql, { bootId, now }: Checking) =>
  sql`x.boot_id <> ${bootId} and coalesce(${startedAt}, x.created_at) < ${now - overdueMs}
    and not exists (select 1 from processes p where p.id = x.boot_id and p.ended_at is null)`;

const allChecks: readonly Check[] = [
  { name: 'enabled_without_next', table: 'tasks', fault: () => sql`x.state = 'active' and x.next_at is null` },
  { name: 'slot_overdue', table: 'tasks', fault: ({ now }) => sql`x.next_at < ${now - overdueMs}` },
  {
    name: 'pause_overdue',
    table: 'tasks',
    fault: ({ now }) => sql`x.state = 'paused' and x.resume_at < ${now - overdueMs}`,
  },
  {
    name: 'topic_stuck',
    table: 'tasks',
    // A topic whose creation got no answer is looked for when its next part is due; while nothing is, nobody needs it.
    fault: ({
      now,
    }) => sql`x.topic_state = 'creating' and (x.topic_asked_at is null or x.topic_asked_at < ${now - topicStuckMs}) and x.state <> 'deleted'
      and exists (select 1 from deliveries d where d.lane = ${taskLaneOf('x.id')}
        and d.status in ('pending', 'blocked', 'sending', 'unknown'))`,
  },
  {
    name: 'task_without_grant',
    table: 'tasks',
    fault: () => sql`not exists (select 1 from grants g where g.id = x.grant_id and g.owner_id = x.owner_id)`,
  },
  {
    name: 'pending_of_deleted',
    table: 'occurrences',
    fault: () =>
      sql`x.status = 'pending' and not exists (select 1 from tasks t where t.id = x.task_id and t.state <> 'deleted')`,
  },
  {
    name: 'dispatched_without_run',
    table: 'occurrences',
    fault: () =>
      sql`x.status = 'dispatched' and not exists (select 1 from runs r where r.id = x.run_id and r.status in ${liveRun})`,
  },
  {
    name: 'question_overdue',
    table: 'occurrences',
    fault: ({ now }) => sql`x.status = 'pending' and x.decide_by < ${now - overdueMs}`,
  },
  {
    name: 'slot_twice',
    table: 'occurrences',
    fault: () =>
      sql`exists (select 1 from occurrences y where y.task_id = x.task_id and y.slot_at = x.slot_at and y.id <> x.id)`,
  },
  {
    name: 'slot_in_gap',
    table: 'occurrences',
    // Runs by hand take an instant that is no slot, and may well take one inside a gap;
    // and a slot that was skipped in advance had its row before anybody could miss it.
    fault:
      () => sql`x.source in ('schedule', 'catch_up') and coalesce(x.reason, '') <> 'skip' and exists (select 1 from gaps g
      where g.task_id = x.task_id and g.from_at <= x.slot_at and g.to_at >= x.slot_at)`,
  },
  {
    name: 'running_without_attempt',
    table: 'runs',
    fault: () => sql`x.status = 'running' and not exists (select 1 from attempts a
      where a.run_id = x.id and a.attempt = x.attempts and a.status = 'running')`,
  },
  {
    name: 'attempt_without_run',
    table: 'runs',
    from: { source: raw('attempts x'), id: raw('x.run_id') },
    fault: () => sql`x.status = 'running' and not exists (select 1 from runs r
      where r.id = x.run_id and r.status = 'running' and r.attempts = x.attempt)`,
  },
  {
    name: 'running_elsewhere',
    table: 'runs',
    fault: (at) => sql`x.status = 'running' and (x.boot_id is null or (${isGone(raw('x.started_at'), at)}))`,
  },
  {
    name: 'run_of_ended_occurrence',
    table: 'runs',
    fault: () => sql`x.status in ${liveRun} and x.occurrence_id is not null and not exists (select 1 from occurrences o
      where o.id = x.occurrence_id and o.status = 'dispatched')`,
  },
  {
    name: 'run_key_twice',
    table: 'runs',
    fault: () => sql`exists (select 1 from runs y
      where y.idempotency_key = x.idempotency_key and y.source = x.source and y.id <> x.id)`,
  },
  {
    name: 'exclusive_twice',
    table: 'runs',
    fault: () => sql`x.exclusive = 1 and x.status in ${liveRun} and exists (select 1 from runs y
      where y.task_id = x.task_id and y.exclusive = 1 and y.status in ${liveRun} and y.id <> x.id)`,
  },
  {
    name: 'delivery_without_run',
    table: 'deliveries',
    fault: () => sql`x.run_id is not null and not exists (select 1 from runs r where r.id = x.run_id)`,
  },
  {
    name: 'delivered_without_id',
    table: 'deliveries',
    fault: () => sql`x.status = 'delivered' and (x.message_id is null or (x.messages > 1 and x.messages - 1 <>
      (select count(*) from album_messages a where a.delivery_id = x.id)))`,
  },
  {
    name: 'delivered_elsewhere',
    table: 'deliveries',
    // A group that became a supergroup keeps the address that it had; a topic may have been made anew since, and what goes
    // to a thread by its name stands in that one: a message, or a result whose topic could not be had.
    fault: () => sql`x.kind = 'result' and x.status = 'delivered' and x.message_id is not null and (not exists
      (select 1 from chat_aliases a where a.provider = (select provider from chats c where c.id = x.chat_id)
        and a.address = x.platform_chat_id and a.chat_id = x.chat_id)
      or (x.goes_to = 'thread' and coalesce(x.message_thread_id, 0) <> coalesce(x.to_topic, 0)))`,
  },
  {
    name: 'open_delivery_of_deleted',
    table: 'deliveries',
    // Answers about a deleted task are still owed to whoever asked, and so is the end of its card and of its topic.
    fault: ({ now }) => sql`x.kind in ('result', 'notice') and x.goes_to = 'task'
      and x.task_id is not null and x.created_at < ${now - overdueMs} and x.status in ('pending', 'blocked', 'unknown')
      and not exists (select 1 from tasks t where t.id = x.task_id and t.state <> 'deleted')`,
  },
  {
    name: 'sending_elsewhere',
    table: 'deliveries',
    fault: (at) => sql`x.status = 'sending' and (x.boot_id is null or (${isGone(raw('x.sent_at'), at)}))`,
  },
  {
    name: 'file_without_bytes',
    table: 'runs',
    from: { source: raw('blob_refs x'), id: raw('x.run_id') },
    fault: () => sql`not exists (select 1 from blobs b
      where b.chat_id = x.chat_id and b.sha256 = x.sha256 and b.is_whole = 1 and b.expires_at is null)`,
  },
  {
    name: 'file_of_no_run',
    table: 'runs',
    from: { source: raw('blob_refs x'), id: raw('x.run_id') },
    fault: () => sql`not exists (select 1 from runs r where r.id = x.run_id)`,
  },
  {
    name: 'file_unreferred',
    // There are few files for each task, and the fewest pages are those of the tasks.
    table: 'tasks',
    from: { source: raw('blobs x'), id: raw('x.sha256') },
    fault: () => sql`x.expires_at is null and not exists (select 1 from blob_refs r
      where r.chat_id = x.chat_id and r.sha256 = x.sha256)`,
  },
  {
    name: 'budget_drifted',
    table: 'budgets',
    // One that was set a moment ago is still summed up each time. What is left of runs that are gone stands at the beginning of a day of
    // their chat, which can be another day here.
    fault: ({ now }) => sql`x.from_at < x.to_at and x.set_at < ${now - overdueMs}
      and x.spent <> coalesce(case x.scope when 'chat' then (${spentBy(raw('chat_id'))})
        when 'person' then (${spentBy(raw('owner_id'))}) else (${spentBy(raw('task_id'))}) end, 0)
      and not exists (select 1 from usage u where u.attempt = 0 and u.at >= x.from_at - ${DAY_MS} and u.at < x.to_at
        and (u.chat_id = x.account or u.owner_id = x.account or u.task_id = x.account))`,
  },
];

/** What the usage says of a budget `x`. */
function spentBy(account: Sql): Sql {
  return sql`select sum(u.quantity) from usage u where u.${account} = x.account and u.at >= x.from_at and u.at < x.to_at
    and u.kind = x.kind and (x.currency is null or u.currency = x.currency)`;
}

const idOf = pick(columnsOf('runs', 'x'), 'id');

/** A page of the rows of a table, newest first, and what its checks find in it. */
function* auditPage(request: AuditPageRequest): Script<AuditPage> {
  const { table, below, limit } = request;
  const tables = raw(table);
  const ids = yield* all(
    select(
      idOf,
    )`from ${tables} x where ${allOf(below === null ? undefined : sql`x.id < ${below}`)} order by x.id desc ${limited(limit)}`,
  );
  // Rows that hang on a missing one stand between two pages, before the first row or behind the last one. So the
  // pages leave nothing out between them: each begins where the one before has ended.
  const oldest = ids.length === limit ? (ids.at(-1)?.id ?? '') : '';
  const found: Found[] = [];
  const itself = { source: sql`${tables} x`, id: raw('x.id') };
  for (const { name, fault, from = itself } of allChecks.filter((check) => check.table === table)) {
    const { source, id } = from;
    const before = below === null ? undefined : sql`${id} < ${below}`;
    const range = allOf(sql`${id} >= ${oldest}`, before);
    const bad = yield* all(
      select({ id: like(columns.runs.id, id) })`from ${source} where ${range} and (${fault(request)}) order by ${id}`,
    );
    if (bad.length > 0) found.push({ check: name, ids: bad.map((row) => row.id) });
  }
  return { seen: ids.length, next: ids.length === limit ? oldest : null, found };
}

/** The condition under which a check finds a row `x`. */
export function faultOf(name: CheckName, at: Checking): Sql {
  return allChecks.find((one) => one.name === name)?.fault(at) ?? raw('1 = 0');
}

/**
 * Only tasks that stood still since `from`: whoever edits, pauses or resumes a task changes its slots, and then those of
 * the day cannot be computed from what it is now. The same holds for all tasks when the rules of time have changed.
 */
function isUntouched(from: number): Sql {
  return sql`t.state = 'active' and t.created_at < ${from} and t.updated_at < ${from} and coalesce(t.resumed_at, 0) < ${from}
    and not exists (select 1 from audit a where a.task_id = t.id and a.at >= ${from}
      and a.verb not in ('run_now', 'retry', 'replay', 'cancel', 'answer', 'skip', 'reconcile',
        'attach', 'grant', 'revoke'))
    and not exists (select 1 from kv where kv.scope = 'system' and kv.key = 'tz_version' and kv.updated_at >= ${from})`;
}

/** From the part of the tasks that was asked for to the newest one, and on from the oldest. Ids count up with time. */
function* sampleTasks({ part, now, limit }: SampleRequest): Script<readonly string[]> {
  const oldest = yield* one(select(pick(columns.tasks, 'createdAt'))`from tasks order by id limit 1`);
  const since = oldest?.createdAt ?? now;
  const start = idAt(Math.floor(since + part * (now - since)), '');
  const found: string[] = [];
  for (const side of [sql`id >= ${start}`, sql`id < ${start}`]) {
    const page = yield* all(
      select(pick(columns.tasks, 'id'))`from tasks
        where ${side} and state = 'active' order by id ${limited(limit - found.length)}`,
    );
    found.push(...page.map(({ id }) => id));
  }
  return found;
}

function* pageOfActive(after: string, { now, limit }: Batch): Script<readonly (DueTask | Unreadable)[]> {
  const page: DueRow[] = yield* all(
    select(dueFields)`from ${dueSource} where t.id > ${after} and t.state = 'active' order by t.id ${limited(limit)}`,
  );
  yield* lookAhead(page, now);
  return page.map(readDue);
}

function* standingTask(taskId: string, since: number): Script<DueTask | Unreadable | null> {
  const found = yield* one(
    select(dueFields)`from ${dueSource}
      where t.id = ${taskId} and ${isUntouched(since)} and coalesce(t.interval_from, '') <> 'completion'`,
  );
  return found === undefined ? null : readDue(found);
}

function* slotAccount({ taskId, untouchedSince, from, through }: AccountRequest): Script<SlotAccount | null> {
  const { occurrences, gaps } = columns;
  const task = yield* one(
    select(pick(columnsOf('tasks', 't'), 'id'))`from tasks t where t.id = ${taskId} and ${isUntouched(untouchedSince)}`,
  );
  if (task === undefined) return null;
  const slots = yield* all(
    select(pick(occurrences, 'slotAt'))`from occurrences
      where task_id = ${taskId} and slot_at > ${from} and slot_at <= ${through}`,
  );
  return {
    slots: slots.map(({ slotAt }) => slotAt),
    gaps: yield* all(
      select(pick(gaps, 'fromAt', 'toAt'))`from gaps
        where task_id = ${taskId} and to_at > ${from} and from_at <= ${through}`,
    ),
  };
}
