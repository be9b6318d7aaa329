import type { Ahead, GapRow, Planned, TruthQuery, TruthRows } from '../../app/ports/why.ts';
import { rightEnd } from '../../domain/grant.ts';
import { isDelay } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { limit as limited, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { liveOf, placesHeld, placesReserved } from '../runs/thread-runs.ts';
import { readFacts } from '../tasks/codec.ts';
import { readTask } from '../tasks/reads.ts';
import { lastNotKept, readNote } from '../upkeep/notes.ts';
import { unwritable } from './downtimes.ts';
import { changesOf, lastSlotBefore, setBacks, versionsOf } from './truth-history.ts';
import { aroundOf, slotRows, withWork, type BareSlot } from './truth-slots.ts';

/** Rows that `/why` reads: one transaction for one stretch of one task, each part a bounded walk along an index. */
export const truthStore = { readTruth, readPlanned };

/** The task comes first: what it says about its next slot must never be newer than the rows of its slots. */
function* readTruth(query: TruthQuery): Script<TruthRows | null> {
  const task = yield* readTask(query.taskId);
  if (task === null) return null;
  const slots = yield* slotRows(query);
  const gaps = yield* gapRows(query);
  const { taskId, from } = query;
  const twice = yield* setBacks();
  const stretch = { taskId, from, to: endOf(query, slots, gaps), twice };
  const { changes, toNow } = yield* changesOf(stretch);
  // A question about an instant without a slot needs the slots on either side of it.
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
    lastSlotAt: task.state === 'completed' ? yield* lastSlotBefore(taskId, Number.MAX_SAFE_INTEGER) : null,
    versions: yield* versionsOf(stretch),
    twice,
    unwritable: yield* unwritable(),
    ahead: yield* aheadOf(task),
    grant: yield* grantOf(task.grantId),
    removedBefore: yield* removedBefore(),
    lastNotKept: yield* lastNotKept(taskId),
    around: {
      before: worked.find(({ id }) => id === around.before?.id) ?? null,
      after: worked.find(({ id }) => id === around.after?.id) ?? null,
      gap,
    },
  };
}

function* grantOf(grantId: string): Script<TruthRows['grant']> {
  const found = yield* one(select(pick(columns.grants, 'expiresAt', 'revokedAt'))`from grants where id = ${grantId}`);
  return found ?? null;
}

/** The limit that retention last noted. */
function* removedBefore(): Script<number | null> {
  const before = readFacts(yield* readNote('retention'))?.['before'];
  const at = typeof before === 'string' ? Date.parse(before) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/** Gaps of a task do not overlap, so those that reach into the stretch from before it are the last ones before it. */
const reachBack = limited(3);

const gapFields = pick(columns.gaps, 'id', 'fromAt', 'toAt', 'count', 'reason', 'createdAt');

function gapsWhere(taskId: string, which: Sql): Script<GapRow[]> {
  return all(select(gapFields)`from gaps where task_id = ${taskId} and ${which}`);
}

function* gapRows({ taskId, from, to, limit }: TruthQuery): Script<GapRow[]> {
  const earlier = yield* gapsWhere(taskId, sql`from_at < ${from} order by from_at desc ${reachBack}`);
  const inside = sql`from_at >= ${from} and from_at <= ${to}`;
  const within = yield* gapsWhere(taskId, sql`${inside} order by from_at ${limited(limit + 1)}`);
  return [...earlier.filter(({ toAt }) => toAt >= from).toReversed(), ...within];
}

function* gapAfter({ taskId, to }: TruthQuery): Script<GapRow | null> {
  const [found = null] = yield* gapsWhere(taskId, sql`from_at > ${to} order by from_at limit 1`);
  return found;
}

/** A page that is full ends with its last row: what lies beyond is for the next page, and is not read for this one. */
function endOf({ from, to, limit }: TruthQuery, slots: readonly BareSlot[], gaps: readonly GapRow[]): number {
  const lastSlot = slots.length > limit ? (slots.at(-1)?.slotAt ?? to) : to;
  const lastGap = gaps.length > limit ? (gaps.at(-1)?.fromAt ?? to) : to;
  return Math.max(from, Math.min(lastSlot, lastGap, to));
}

function* readPlanned(taskId: string): Script<Planned | null> {
  const task = yield* readTask(taskId);
  return task === null ? null : { task, ahead: yield* aheadOf(task) };
}

const skippedMax = limited(1000);

/** The future of a task depends on what was skipped in advance, on what still waits and on what runs. */
export function* aheadOf({ id, grantId, nextAt, resumeAt, schedule }: Task): Script<Ahead> {
  const from = nextAt ?? resumeAt;
  if (from === null) return { skipped: [], reserved: 0, awaitsEnd: false, rightEndsAt: null };
  const skipped = yield* all(
    select(pick(columns.occurrences, 'slotAt'))`from occurrences
      where task_id = ${id} and slot_at >= ${from} and status = 'skipped' and reason = 'skip'
      order by slot_at ${skippedMax}`,
  );
  const waiting = yield* placesReserved(id);
  return {
    skipped: skipped.map(({ slotAt }) => slotAt),
    reserved: waiting + (yield* placesHeld(id)),
    awaitsEnd: isDelay(schedule) && (waiting > 0 || (yield* isLive(id))),
    rightEndsAt: rightEnd(yield* grantOf(grantId)),
  };
}

function* isLive(taskId: string): Script<boolean> {
  return (
    (yield* all(select(pick(columns.runs, 'id'))`from (${liveOf(raw('id'), sql`task_id = ${taskId}`)}) live`)).length >
    0
  );
}
