import type { GapRow, TruthQuery, TruthRows, TruthStore, Ahead, Planned, InForce, Twice } from '../../app/ports/why.ts';
import type { Task } from '../../domain/task.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { readFacts } from '../tasks/codec.ts';
import { readTask } from '../tasks/reads.ts';
import { readNote } from '../upkeep/notes.ts';
import { downtimeStore } from './downtimes.ts';
import { readAuditPage, readEvents } from './feeds.ts';
import { changesOf, deedsAt, lastSlotsOf, pausersOf, cutAt, readTo, standing, stepsBack } from './truth-deeds.ts';
import { aroundOf, slotRows, withWork, type SlotColumns } from './truth-slots.ts';

/** What `/why` reads: one transaction for one stretch of one task, each part a bounded walk along an index. */
export function truthStore(engine: Engine): TruthStore {
  return {
    readTruth: (query) => engine.transact(() => readTruth(query)),
    readPlanned: (taskId) => engine.transact(() => readPlanned(taskId)),
    readEvents: (query) => engine.transact(() => readEvents(engine.dialect, query)),
    readAudit: (query) => engine.transact(() => readAuditPage(query)),
    ...downtimeStore(engine),
  };
}

/** The task comes first: what it says about its next slot must never be newer than the rows of its slots. */
function* readTruth(query: TruthQuery): Script<TruthRows | null> {
  const task = yield* readTask(query.taskId);
  if (task === null) return null;
  const slots = yield* slotRows(query);
  const gaps = yield* gapRows(query);
  const end = endOf(query, slots, gaps);
  const { changes, toNow, ...changed } = yield* changesOf(query, end);
  const lastSlots = yield* lastSlotsOf(query.taskId, changes, toNow && task.state === 'completed');
  const { versions, ...edited } = yield* versionsOf(query, end, task);
  // Whoever asks about an instant without a slot wants to know the slots on either side of it.
  const around = slots.length > 0 ? { before: null, after: null } : yield* aroundOf(query);
  const gap = slots.length > 0 ? null : yield* gapAfter(query);
  const besides = [around.before, around.after].flatMap((one) => (one === null ? [] : [one]));
  const worked = yield* withWork([...slots, ...besides]);
  return {
    task,
    slots: worked.slice(0, slots.length),
    gaps,
    changes,
    reachesNow: toNow,
    lastSlots,
    pausers: yield* pausersOf(query.taskId, changes),
    deeds: yield* deedsAt(query.taskId, worked),
    versions,
    readTo: nearer(changed.readTo, edited.readTo),
    twice: [...changed.twice, ...edited.twice],
    ahead: yield* aheadOf(task),
    removedBefore: yield* removedBefore(),
    around: {
      before: worked.find(({ id }) => id === around.before?.id) ?? null,
      after: worked.find(({ id }) => id === around.after?.id) ?? null,
      gap,
    },
  };
}

function nearer(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** What retention notes about its last night. */
function* removedBefore(): Script<number | null> {
  const before = readFacts(yield* readNote('retention'))?.['before'];
  const at = typeof before === 'string' ? Date.parse(before) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

interface GapColumns {
  readonly id: string;
  readonly from_at: number;
  readonly to_at: number;
  readonly count: number;
  readonly reason: string;
  readonly created_at: number;
}

/** Gaps of a task do not overlap, so those that reach into the stretch from before it are the last ones before it. */
const reachBack = 3;

const gapColumns = 'id, from_at, to_at, count, reason, created_at';

function* gapRows({ taskId, from, to, limit }: TruthQuery): Script<GapRow[]> {
  const earlier = yield* rows<GapColumns>(
    `select ${gapColumns} from gaps where task_id = ?t and from_at < ?i order by from_at desc limit ?i`,
    taskId,
    from,
    reachBack,
  );
  const within = yield* rows<GapColumns>(
    `select ${gapColumns} from gaps where task_id = ?t and from_at >= ?i and from_at <= ?i order by from_at limit ?i`,
    taskId,
    from,
    to,
    limit + 1,
  );
  return [...earlier.filter((gap) => gap.to_at >= from).toReversed(), ...within].map(readGap);
}

function* gapAfter({ taskId, to }: TruthQuery): Script<GapRow | null> {
  const found = yield* row<GapColumns>(
    `select ${gapColumns} from gaps where task_id = ?t and from_at > ?i order by from_at limit 1`,
    taskId,
    to,
  );
  return found === undefined ? null : readGap(found);
}

function readGap(gap: GapColumns): GapRow {
  return {
    id: gap.id,
    fromAt: gap.from_at,
    toAt: gap.to_at,
    count: gap.count,
    reason: gap.reason as GapRow['reason'],
    createdAt: gap.created_at,
  };
}

/** A page that is full ends with its last row: what lies beyond is for the next page, and is not read for this one. */
function endOf({ from, to, limit }: TruthQuery, slots: readonly SlotColumns[], gaps: readonly GapRow[]): number {
  const lastSlot = slots.length > limit ? (slots.at(-1)?.slot_at ?? to) : to;
  const lastGap = gaps.length > limit ? (gaps.at(-1)?.fromAt ?? to) : to;
  return Math.max(from, Math.min(lastSlot, lastGap, to));
}

function* readPlanned(taskId: string): Script<Planned | null> {
  const task = yield* readTask(taskId);
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

interface VersionColumns {
  readonly version: number;
  readonly at: number;
  readonly definition: string;
}

/** More than this in one stretch is for the next page. */
const versionsMax = 200;

interface Versions {
  readonly versions: InForce[];
  readonly readTo: number | null;
  readonly twice: Twice[];
}

/**
 * What was in force at the beginning of the stretch, and what came in the course of it and next after it. Versions count
 * up, and the clock may have been set back between two of them: what came later rules the time that came twice.
 */
function* versionsOf({ taskId, from }: TruthQuery, end: number, task: Task): Script<Versions> {
  const columns = 'version, at, definition';
  const earlier = yield* row<VersionColumns>(
    `select ${columns} from task_versions where task_id = ?t and at < ?i order by version desc limit 1`,
    taskId,
    from,
  );
  const within = yield* rows<VersionColumns>(
    `select ${columns} from task_versions where task_id = ?t and at >= ?i and at <= ?i and version > ?i
     order by at, version limit ?i`,
    taskId,
    from,
    end,
    earlier?.version ?? -1,
    versionsMax + 1,
  );
  const cut = cutAt(within, versionsMax);
  const later = cut === null ? within : within.filter(({ at }) => at < cut);
  const next = yield* row<VersionColumns>(
    `select ${columns} from task_versions where task_id = ?t and at > ?i and version > ?i order by at, version limit 1`,
    taskId,
    cut === null ? end : cut - 1,
    Math.max(earlier?.version ?? -1, ...later.map(({ version }) => version)),
  );
  const all = [earlier, ...later, next].filter((one): one is VersionColumns => one !== undefined);
  const known = standing(all, ({ version }) => version).flatMap(readVersion);
  const before = earlier === undefined ? yield* beforeVersions(task, from) : [];
  return { versions: [...before, ...known], readTo: readTo(cut, from), twice: yield* twiceOf(taskId) };
}

const twiceLookMax = 1000;

function* twiceOf(taskId: string): Script<Twice[]> {
  const made = yield* rows<{ at: number }>(
    `select at from task_versions where task_id = ?t order by version desc limit ?i`,
    taskId,
    twiceLookMax,
  );
  return stepsBack(made.toReversed());
}

/** From before versions were kept: the next change of the schedule says what it took the place of. */
function* beforeVersions(task: Task, from: number): Script<InForce[]> {
  const edit = yield* row<{ before: string }>(
    `select before from audit where task_id = ?t and at >= ?i and verb in ('edit', 'upsert') and before like '%"schedule":%'
     order by at, id limit 1`,
    task.id,
    from,
  );
  const first = yield* row<VersionColumns>(
    `select version, at, definition from task_versions where task_id = ?t order by version limit 1`,
    task.id,
  );
  const [base] = first === undefined ? [] : readVersion(first);
  const before = readFacts(edit?.before ?? null);
  const definition = { ...(base?.definition ?? task), ...before };
  return isDefinition(definition) ? [{ version: null, at: Number.NEGATIVE_INFINITY, definition }] : [];
}

function readVersion({ version, at, definition }: VersionColumns): InForce[] {
  const facts = readFacts(definition);
  return isDefinition(facts) ? [{ version, at, definition: facts }] : [];
}

function isDefinition(facts: unknown): facts is InForce['definition'] {
  const { schedule, policies, action } = (facts ?? {}) as Partial<InForce['definition']>;
  return typeof schedule?.kind === 'string' && typeof policies === 'object' && typeof action?.kind === 'string';
}
