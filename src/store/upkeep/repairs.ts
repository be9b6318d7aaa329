import type { HousekeepingStore, MissingSlot, RepairRequest } from '../../app/ports/upkeep.ts';
import type { CheckName, MendedCheck } from '../../domain/audit.ts';
import type { TaskState } from '../../domain/task.ts';
import { listOf, row, rows, type Engine, type Script, type Value } from '../engine/engine.ts';
import { recordVerbs, tellEvents } from '../records/journal.ts';
import { insertOccurrences } from '../runs/claims.ts';
import { dueColumns, dueSource, readDue, type DueRow } from '../tasks/codec.ts';
import { faultOf } from './checks.ts';

/**
 * Repairs, one row and one transaction each. Every one of them looks again whether its check still finds the row, so what has
 * mended itself in the meantime is left alone, and a second repair finds nothing. An audit row names what stood there before
 * and after.
 */
export function repairStore(engine: Engine): Pick<HousekeepingStore, 'repair' | 'recordMissing'> {
  return {
    repair: (request) => engine.transact(() => repair(request)),
    recordMissing: (slot) => engine.transact(() => recordMissing(slot)),
  };
}

type Facts = Readonly<Record<string, Value>>;

interface Mending {
  readonly table: keyof typeof mended;
  /** More of the row than its table says. */
  readonly reads?: string;
  /** The deed in words and in columns; null where nothing is to be done any more. */
  readonly mend: (row: Facts, request: RepairRequest) => { readonly did: string; readonly set: Facts } | null;
}

/** How a row is named, what is read of it, and the column that tells when it was changed last. */
const mended = {
  occurrences: { key: ['id'], columns: 'x.id, x.task_id, x.status, x.run_id', changed: 'updated_at' },
  runs: { key: ['id'], columns: 'x.id, x.task_id, x.status, x.boot_id, x.cancel_requested_at', changed: null },
  attempts: { key: ['run_id', 'attempt'], columns: 'x.run_id, x.attempt, x.status', changed: 'finished_at' },
  deliveries: { key: ['id'], columns: 'x.id, x.task_id, x.run_id, x.status', changed: null },
} as const;

/** One for each check that can be mended; what stands for a slot that nothing stood for is written by `recordMissing`. */
const mendings: Readonly<Record<Exclude<MendedCheck, 'slot_unaccounted' | 'enabled_without_next'>, Mending>> = {
  pending_of_deleted: {
    table: 'occurrences',
    mend: () => ({ did: 'cancelled: its task was deleted', set: { status: 'cancelled', reason: 'deleted' } }),
  },
  question_overdue: {
    table: 'occurrences',
    mend: () => ({ did: 'skipped: nobody answered in time', set: { status: 'skipped', reason: 'ask_expired' } }),
  },
  // A run that has ended tells how its occurrence ended; without one, nobody knows more than that it was lost.
  dispatched_without_run: {
    table: 'occurrences',
    reads: `(select r.status from runs r where r.id = x.run_id) as ended, (select r.error from runs r where r.id = x.run_id) as error`,
    mend: ({ ended, error }) =>
      ended === null
        ? { did: 'failed: its run is missing', set: { status: 'failed', error: 'reconciled: its run is missing' } }
        : { did: `${ended}, as its run did`, set: { status: ended ?? null, error: error ?? null } },
  },
  // No second way of recovery: the run looks like one of a process that is gone, and the next claim takes it up.
  running_without_attempt: {
    table: 'runs',
    mend: (run, { bootId }) =>
      run['boot_id'] === bootId
        ? { did: 'let go, to be taken up like a run whose process has ended', set: { boot_id: lostBoot(bootId) } }
        : null,
  },
  attempt_without_run: {
    table: 'attempts',
    reads: `(select r.task_id from runs r where r.id = x.run_id) as task_id`,
    mend: () => ({
      did: 'attempt interrupted',
      set: { status: 'interrupted', error: 'reconciled: its run was not running' },
    }),
  },
  // A run that works is asked to stop, and ends with its attempt; the others end at once.
  run_of_ended_occurrence: {
    table: 'runs',
    mend: ({ status, cancel_requested_at: asked }, { now }) => {
      if (status !== 'running') {
        const error = 'reconciled: its occurrence has ended';
        return { did: 'cancelled: its occurrence has ended', set: { status: 'cancelled', error, finished_at: now } };
      }
      if (asked !== null) return null;
      return { did: 'asked to stop', set: { cancel_requested_at: now, cancel_reason: 'cancelled' } };
    },
  },
  delivery_without_run: {
    table: 'deliveries',
    mend: ({ status }) => {
      // A part that is on its way at this moment is left until its answer is written.
      if (status === 'sending') return null;
      if (status === 'delivered' || status === 'failed')
        return { did: 'kept in history without its run', set: { run_id: null } };
      const error = 'reconciled: its run is missing';
      return { did: 'failed: its run is missing', set: { status: 'failed', error, ready_at: null, run_id: null } };
    },
  },
  open_delivery_of_deleted: {
    table: 'deliveries',
    mend: () => ({
      did: 'failed: its task was deleted',
      set: { status: 'failed', error: 'reconciled: its task was deleted', ready_at: null },
    }),
  },
};

function* repair(request: RepairRequest): Script<string | null> {
  const { check } = request;
  if (check === 'enabled_without_next') return yield* planAnew(request);
  return isMended(check) ? yield* mendRow(request, mendings[check]) : null;
}

function isMended(check: CheckName): check is keyof typeof mendings {
  return Object.hasOwn(mendings, check);
}

function* mendRow(request: RepairRequest, { table, reads, mend }: Mending): Script<string | null> {
  const { key, columns, changed } = mended[table];
  const { fault, values } = faultOf(request.check, request);
  const found = yield* row<Facts>(
    `select ${[columns, ...(reads === undefined ? [] : [reads])].join(', ')} from ${table} x
     where x.${key[0]} = ?t and (${fault}) [for update of x]`,
    request.id,
    ...values,
  );
  const done = found === undefined ? null : mend(found, request);
  if (found === undefined || done === null) return null;
  yield* setRow(table, changed === null ? done.set : { ...done.set, [changed]: request.now }, pick(found, key));
  const before = pick(
    found,
    Object.keys(done.set).filter((column) => (found[column] ?? null) !== null),
  );
  yield* note(request, { taskId: textOf(found['task_id']), before, after: done.set });
  return done.did;
}

function pick(facts: Facts, columns: readonly string[]): Facts {
  return Object.fromEntries(columns.map((column) => [column, facts[column] ?? null]));
}

function textOf(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function* setRow(table: string, set: Facts, key: Facts): Script<void> {
  const mark = ([column, value]: [string, Value]) =>
    value === null ? `${column} = null` : `${column} = ${typeof value === 'string' ? '?t' : '?i'}`;
  const [sets, keys] = [Object.entries(set), Object.entries(key)];
  yield* rows(
    `update ${table} set ${sets.map(mark).join(', ')} where ${keys.map(mark).join(' and ')}`,
    ...[...sets, ...keys].flatMap(([, value]) => (value === null ? [] : [value])),
  );
}

type Noting = Pick<RepairRequest, 'now' | 'actor'> & { readonly check: CheckName; readonly id: string };

interface Told {
  readonly taskId: string | null;
  readonly before: object;
  readonly after: object;
}

function* note({ check, id, now, actor }: Noting, { taskId, before, after }: Told): Script<void> {
  const task = yield* row<{ state: TaskState }>(`select state from tasks where id = ?t`, taskId);
  const told = { before: { check, id, ...before }, after };
  if (task !== undefined && taskId !== null) {
    const states = { stateBefore: task.state, stateAfter: task.state };
    yield* recordVerbs([{ at: now, actor, verb: 'reconcile', taskId, ...states, ...told }]);
    return;
  }
  // A run without a task has no state of a task to name.
  yield* rows(
    `insert into audit (at, actor, verb, task_id, before, after) values (?i, ?t, 'reconcile', ?t, ?t, ?t)`,
    now,
    actor,
    taskId,
    JSON.stringify(told.before),
    JSON.stringify(told.after),
  );
}

function* planAnew(request: RepairRequest): Script<string | null> {
  const { id, now, plan } = request;
  const found = yield* row<DueRow>(
    `select ${dueColumns} from ${dueSource} where t.id = ?t and t.state = 'active' and t.next_at is null [for update of t]`,
    id,
  );
  if (found === undefined) return null;
  const planned = plan(readDue({ ...found, nextAt: now }));
  const before = { state: 'active', next_at: null };
  if ('pause' in planned) {
    yield* rows(
      `update tasks set state = 'paused', paused_reason = ?t, paused_at = ?i, paused_by = 'system', version = version + 1
       where id = ?t`,
      planned.pause,
      now,
      id,
    );
    yield* note(request, { taskId: id, before, after: { state: 'paused', reason: planned.pause } });
    return `paused: ${planned.pause}`;
  }
  const { nextAt } = planned;
  const after = { state: nextAt === null ? 'completed' : 'active', next_at: nextAt };
  yield* setRow('tasks', after, { id });
  yield* note(request, { taskId: id, before, after });
  return nextAt === null ? 'completed: nothing is left to run' : `planned anew: ${new Date(nextAt).toISOString()}`;
}

/** The slot was not decided about when it was due, so nothing of it can run; but it must not stay silent. */
function* recordMissing({ id, taskId, slotAt, now, actor }: MissingSlot): Script<string | null> {
  const silent = yield* row(
    `select t.id from tasks t where t.id = ?t and t.state <> 'deleted' and (t.next_at is null or t.next_at > ?i)
       and not exists (select 1 from gaps g where g.task_id = t.id and g.from_at <= ?i and g.to_at >= ?i) [for update of t]`,
    taskId,
    slotAt,
    slotAt,
    slotAt,
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
  const slot = new Date(slotAt).toISOString();
  yield* note(
    { check: 'slot_unaccounted', id: slot, now, actor },
    { taskId, before: { slot }, after: { status: 'missed', reason: 'unaccounted', occurrence_id: id } },
  );
  return 'recorded as missed';
}

/** Gives up what a boot has claimed and does not hold. */
export function lostClaimStore(engine: Engine): Pick<HousekeepingStore, 'letRunsGo' | 'letPartsGo'> {
  return {
    letRunsGo: (bootId, held) => engine.transact(() => leaveBehind({ table: 'runs', status: 'running', bootId, held })),
    letPartsGo: (bootId, held) =>
      engine.transact(() => leaveBehind({ table: 'deliveries', status: 'sending', bootId, held })),
  };
}

interface Lost {
  readonly table: 'runs' | 'deliveries';
  readonly status: 'running' | 'sending';
  readonly bootId: string;
  readonly held: readonly string[];
}

/** A boot that never was: to the next claim its work looks like that of a process that is gone. */
function lostBoot(bootId: string): string {
  return `lost:${bootId}`;
}

function* leaveBehind({ table, status, bootId, held }: Lost): Script<number> {
  const { marks, values } = listOf(held);
  const gone = yield* rows(
    `update ${table} set boot_id = ?t where status = '${status}' and boot_id = ?t and id not in (${marks}) returning id`,
    lostBoot(bootId),
    bootId,
    ...values,
  );
  return gone.length;
}
