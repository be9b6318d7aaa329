import type { GapRow, TruthQuery, TruthRows, TruthStore } from '../../app/ports/why.ts';
import { downtimeStore } from './downtimes.ts';
import { readFacts } from '../tasks/codec.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { readAuditPage, readEvents } from './feeds.ts';
import { aheadOf, findTask, readPlanned } from './truth-ahead.ts';
import { changesOf, deedsAt, lastSlotsOf, pausersOf } from './truth-deeds.ts';
import { aroundOf, slotRows, withWork, type SlotColumns } from './truth-slots.ts';
import { versionsOf } from './truth-versions.ts';
import { readNote } from '../upkeep/upkeep.ts';

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
  const task = yield* findTask(query.taskId);
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
