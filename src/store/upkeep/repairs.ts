import type { MissingSlot, RepairRequest } from '../../app/ports/upkeep.ts';
import type { CheckName, MendedCheck } from '../../domain/audit.ts';
import { liveStatuses, type RunStatus } from '../../domain/run.ts';
import { scheduleLimits } from '../../domain/schedule/limits.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, pick, type Answer, type Fields, type RowOf } from '../engine/fields.ts';
import { allOf, forUpdateOf, list, raw, sql, text, type Sql } from '../engine/sql.ts';
import { all, insert, one, select, update, updateReturning, type Settable } from '../engine/statements.ts';
import { chatsOf, recordVerbs, tellEvents } from '../records/journal.ts';
import { insertOccurrences } from '../runs/claims.ts';
import { lookAhead } from '../runs/slots.ts';
import { changesState } from '../tables/records.ts';
import { lostMark } from '../tables/work.ts';
import { dueFields, dueSource, readDue, type DueRow } from '../tasks/codec.ts';
import { faultOf } from './checks.ts';

/**
 * Repairs, one row and one transaction each. Every one of them looks again whether its check still finds the row, so what has
 * mended itself in the meantime is left alone, and a second repair finds nothing. An audit row names what stood there before
 * and after.
 */
export const repairStore = { repair, recordMissing };

type Repair = (request: RepairRequest) => Script<string | null>;

/** All columns of a row. */
type Row = Answer<Fields>;

const runFields = pick(columns.runs, 'status', 'error', 'taskId');

interface Context extends RepairRequest {
  /** The run that the row belongs to, if it is there. */
  readonly run: Answer<typeof runFields> | undefined;
}

/**
 * Reads the row that a check has found, if it still finds it, and sets what `mend` says: the deed in words and in columns, or
 * null where nothing is to be done any more.
 */
function mending<N extends 'occurrences' | 'runs' | 'attempts' | 'deliveries'>(
  table: N,
  mend: (row: Row, context: Context) => { readonly did: string; readonly set: Settable<RowOf<NoInfer<N>>> } | null,
): Repair {
  return function* (request): Script<string | null> {
    const { now } = request;
    const named = (alias: string) => sql`${raw(`${alias}${table === 'attempts' ? 'run_id' : 'id'}`)} = ${request.id}`;
    const fields: Fields = columnsOf(table, 'x');
    const row = yield* one(
      select(
        fields,
      )`from ${raw(table)} x where ${named('x.')} and (${faultOf(request.check, request)}) ${forUpdateOf('x')}`,
    );
    if (row === undefined) return null;
    const run = yield* one(select(runFields)`from runs where id = ${textOf(row['runId'])}`);
    const done = mend(row, { ...request, run });
    if (done === null) return null;
    const attempt = table === 'attempts' ? sql`attempt = ${Number(row['attempt'])}` : undefined;
    const changed = { occurrences: { updatedAt: now }, attempts: { finishedAt: now }, runs: {}, deliveries: {} }[table];
    yield* update(table, { ...done.set, ...changed }, allOf(named(''), attempt));
    const stood = Object.keys(done.set).filter((name) => row[name] !== null);
    const before = Object.fromEntries(stood.map((name) => [name, row[name]]));
    const taskId = row['taskId'] ?? run?.taskId;
    yield* note(request, { taskId: typeof taskId === 'string' ? taskId : null, before, after: done.set });
    return done.did;
  };
}

function textOf(value: unknown): Sql {
  return text(typeof value === 'string' ? value : null);
}

/** One for each check that can be mended; what stands for a slot that nothing stood for is written by `recordMissing`. */
const mendings: Partial<Readonly<Record<CheckName, Repair>>> = {
  enabled_without_next: planAnew,
  next_slot_drifted: planAnew,
  pending_of_deleted: mending('occurrences', () => ({
    did: 'cancelled: its task was deleted',
    set: { status: 'cancelled', reason: 'deleted' } as const,
  })),
  question_overdue: mending('occurrences', () => ({
    did: 'skipped: nobody answered in time',
    set: { status: 'skipped', reason: 'ask_expired' } as const,
  })),
  // A run that has ended tells how its occurrence ended; without one, nobody knows more than that it was lost.
  dispatched_without_run: mending('occurrences', (_row, { run }) => {
    if (run === undefined) {
      const error = 'reconciled: its run is missing';
      return { did: 'failed: its run is missing', set: { status: 'failed', error } };
    }
    const { status, error } = run;
    // The check finds no occurrence whose run is live.
    return isEnded(status) ? { did: `${status}, as its run did`, set: { status, error } } : null;
  }),
  // No second way of recovery: the run looks like one of a process that is gone, and the next claim takes it up.
  running_without_attempt: mending('runs', (row, { bootId }) =>
    row['bootId'] === bootId
      ? { did: 'let go, to be taken up like a run whose process has ended', set: { bootId: lostBoot(bootId) } }
      : null,
  ),
  attempt_without_run: mending('attempts', () => ({
    did: 'attempt interrupted',
    set: { status: 'interrupted', error: 'reconciled: its run was not running' },
  })),
  // A run that works is asked to stop, and ends with its attempt; the others end at once.
  run_of_ended_occurrence: mending('runs', (row, { now }) => {
    if (row['status'] !== 'running') {
      const error = 'reconciled: its occurrence has ended';
      return { did: 'cancelled: its occurrence has ended', set: { status: 'cancelled', error, finishedAt: now } };
    }
    if (row['cancelRequestedAt'] !== null) return null;
    return { did: 'asked to stop', set: { cancelRequestedAt: now, cancelReason: 'cancelled' } };
  }),
  delivery_without_run: mending('deliveries', (row) => {
    // A part that is on its way at this moment is left until its answer is written.
    if (row['status'] === 'sending') return null;
    if (row['status'] === 'delivered' || row['status'] === 'failed')
      return { did: 'kept in history without its run', set: { runId: null } };
    const error = 'reconciled: its run is missing';
    return { did: 'failed: its run is missing', set: { status: 'failed', error, readyAt: null, runId: null } };
  }),
  open_delivery_of_deleted: mending('deliveries', () => ({
    did: 'failed: its task was deleted',
    set: { status: 'failed', error: 'reconciled: its task was deleted', readyAt: null },
  })),
} satisfies Readonly<Record<Exclude<MendedCheck, 'slot_unaccounted'>, Repair>>;

function isEnded(status: RunStatus): status is 'succeeded' | 'failed' | 'cancelled' {
  return !liveStatuses.includes(status);
}

function* repair(request: RepairRequest): Script<string | null> {
  const mend = mendings[request.check];
  return mend === undefined ? null : yield* mend(request);
}

type Noting = Pick<RepairRequest, 'now' | 'actor'> & { readonly check: CheckName; readonly id: string };

interface Told {
  readonly taskId: string | null;
  readonly before: object;
  readonly after: object;
}

function* note({ check, id, now: at, actor }: Noting, { taskId, before, after }: Told): Script<void> {
  const task = yield* one(select(pick(columns.tasks, 'state'))`from tasks where id = ${text(taskId)}`);
  const told = { before: { check, id, ...columnNames(before) }, after: columnNames(after) };
  if (task !== undefined && taskId !== null) {
    const states = { stateBefore: task.state, stateAfter: task.state };
    yield* recordVerbs([{ at, actor, verb: 'reconcile', taskId, ...states, ...told }]);
    return;
  }
  // A run without a task has no state of a task to name.
  const [was, is] = [JSON.stringify(told.before), JSON.stringify(told.after)];
  const chatId = taskId === null ? null : (yield* chatsOf([taskId]))(taskId);
  yield* insert('audit', { at, actor, verb: 'reconcile', taskId, chatId, before: was, after: is });
}

/** Facts of a row under the names that its columns have. */
function columnNames(facts: object): object {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`),
      value,
    ]),
  );
}

function* planAnew(request: RepairRequest): Script<string | null> {
  const { id, now, actor, plan } = request;
  const found: DueRow | undefined = yield* one(
    select(dueFields)`from ${dueSource}
      where t.id = ${id} and t.state = 'active' and (t.next_at is null or t.next_at > ${now}) ${forUpdateOf('t')}`,
  );
  if (found === undefined) return null;
  const decided = yield* decidedThrough(id, now);
  yield* lookAhead([found], decided);
  const planned = plan(readDue({ ...found, nextAt: found.nextAt ?? scheduleLimits.lastInstant }), decided);
  if ('nextAt' in planned && planned.nextAt !== null && planned.nextAt === found.nextAt) return null;
  const before = { state: 'active', nextAt: found.nextAt };
  if ('pause' in planned) {
    const { pause: reason } = planned;
    const by = { pausedAt: now, pausedBy: actor, updatedAt: now, updatedBy: actor };
    const paused = { state: 'paused', pausedReason: reason, ...by } as const;
    yield* update('tasks', { ...paused, version: raw('version + 1') }, sql`id = ${id}`);
    yield* note(request, { taskId: id, before, after: { state: 'paused', reason } });
    return `paused: ${reason}`;
  }
  const { nextAt } = planned;
  const after = { state: nextAt === null ? 'completed' : 'active', nextAt } as const;
  yield* update('tasks', after, sql`id = ${id}`);
  yield* note(request, { taskId: id, before, after });
  return nextAt === null ? 'completed: nothing is left to run' : `planned anew: ${iso(nextAt)}`;
}

/**
 * Slots after it are still to be decided about. Up to it they have their rows, or there were none: the task was made, went on
 * or was given its timing only then.
 */
function* decidedThrough(id: string, now: number): Script<number> {
  const at = columns.tasks.createdAt;
  const instants = yield* all(
    select({ at: like(at, raw('x.at')) })`from (
      select case when resumed_at > created_at then resumed_at else created_at end as at from tasks where id = ${id}
      union all select v.at from task_versions v join tasks t on t.id = v.task_id and t.bounded_since = v.version
        where v.task_id = ${id}
      union all select max(at) from audit where task_id = ${id} and ${raw(changesState)} and state_after = 'active'
      union all select max(slot_at) from occurrences where task_id = ${id} and slot_at <= ${now}
        and source in ('schedule', 'catch_up')
      union all select max(to_at) from gaps where task_id = ${id}) x where x.at is not null`,
  );
  return Math.min(now, Math.max(...instants.map((one) => one.at)));
}

/** The slot was not decided about when it was due, so nothing of it can run; but it must not stay silent. */
function* recordMissing({ id, taskId, slotAt, now, actor }: MissingSlot): Script<string | null> {
  const silent = yield* one(
    select(pick(columnsOf('tasks', 't'), 'id'))`from tasks t
      where t.id = ${taskId} and t.state <> 'deleted' and (t.next_at is null or t.next_at > ${slotAt})
        and not exists (select 1 from gaps g where g.task_id = t.id and g.from_at <= ${slotAt} and g.to_at >= ${slotAt})
      ${forUpdateOf('t')}`,
  );
  if (silent === undefined) return null;
  const occurrence = {
    id,
    slotAt,
    source: 'schedule',
    status: 'missed',
    reason: 'unaccounted',
    decideBy: null,
    runId: null,
    lateMs: now - slotAt,
  } as const;
  const [made] = yield* insertOccurrences([{ taskId, occurrence }], now);
  if (made !== true) return null;
  const data = { reason: 'unaccounted' };
  yield* tellEvents([{ kind: 'occurrence.missed', at: now, taskId, ref: id, data }]);
  const slot = iso(slotAt);
  yield* note(
    { check: 'slot_unaccounted', id: slot, now, actor },
    { taskId, before: { slot }, after: { status: 'missed', reason: 'unaccounted', occurrence_id: id } },
  );
  return 'recorded as missed';
}

/** Gives up what a boot has claimed and does not hold. */
export const lostClaimStore = { letRunsGo, letPartsGo };

/** A boot that never was: to the next claim its work looks like that of a process that is gone. */
function lostBoot(bootId: string): string {
  return `${lostMark}${bootId}`;
}

function* letRunsGo(bootId: string, held: readonly string[]): Script<number> {
  const isLost = sql`status = 'running' and boot_id = ${bootId} and id not in ${list(held)}`;
  return (yield* updateReturning('runs', { bootId: lostBoot(bootId) }, isLost, pick(columns.runs, 'id'))).length;
}

/** Parts of which nothing has left are in nobody's hands then, and calls that were set aside for any of them have ended. */
function* letPartsGo(bootId: string, held: readonly string[]): Script<number> {
  const lost = { bootId: lostBoot(bootId) };
  const isLost = sql`boot_id = ${bootId} and id not in ${list(held)}`;
  const sending = yield* updateReturning(
    'deliveries',
    lost,
    sql`status = 'sending' and ${isLost}`,
    pick(columns.deliveries, 'id'),
  );
  yield* update(
    'deliveries',
    lost,
    sql`status in ('pending', 'blocked', 'unknown') and boot_id is not null and ${isLost}`,
  );
  yield* update(
    'pace',
    lost,
    sql`boot_id = ${bootId} and scope in (select chat_id from deliveries where boot_id = ${lost.bootId})`,
  );
  return sending.length;
}
