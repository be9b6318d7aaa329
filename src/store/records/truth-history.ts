import type { Change, Deed, InForce, Twice } from '../../app/ports/why.ts';
import { row, rows, type Script } from '../engine/engine.ts';
import { changesState } from '../tables/records.ts';
import { readFacts } from '../tasks/codec.ts';
import { deedColumns, readDeed, type DeedColumns } from './feeds.ts';

interface Stretch {
  readonly taskId: string;
  readonly from: number;
  readonly to: number;
  /** Oldest first. */
  readonly twice: readonly Twice[];
}

/** Changes of a task of which each holds until the next one is made. */
interface Series {
  readonly columns: string;
  /** Of the one task that is named. */
  readonly source: string;
  /** The order in which they were made. */
  readonly order: string;
}

const states: Series = {
  columns: deedColumns,
  source: `audit where task_id = ?t and ${changesState}`,
  order: 'id',
};

const versions: Series = {
  columns: 'version, at, definition',
  source: 'task_versions where task_id = ?t',
  order: 'version',
};

/** Two who act at once may be written in another order than their clocks say, but not farther apart than this. */
const slackMs = 60_000;

interface Found<R> {
  readonly found: readonly R[];
  /** Nothing came after those. */
  readonly toNow: boolean;
}

/**
 * What held in a stretch: from the last that came before it to the first after it. Where one of the two lies in a time that
 * came twice, all of that time is read, because what was made later holds, whatever its clock said.
 */
function* heldIn<R extends object>(
  { columns, source, order }: Series,
  { taskId, from, to, twice }: Stretch,
): Script<Found<R>> {
  const edge = function* (is: 'max(at)' | 'min(at)', side: '<' | '>', at: number): Script<number | null> {
    const found = yield* row<{ at: number | null }>(`select ${is} as at from ${source} and at ${side} ?i`, taskId, at);
    return found?.at ?? null;
  };
  let first = ((yield* edge('max(at)', '<', from)) ?? from) - slackMs;
  for (const one of twice.toReversed()) if (one.from <= first && first <= one.to) first = one.from;
  let last = yield* edge('min(at)', '>', to);
  for (const one of twice)
    if (last !== null && one.from <= last && last <= one.to) last = yield* edge('min(at)', '>', one.to);
  const found = yield* rows<R>(
    `select ${columns} from ${source} and at >= ?i and at <= ?i order by ${order}`,
    taskId,
    first,
    last ?? Number.MAX_SAFE_INTEGER,
  );
  return { found, toNow: last === null };
}

/** The changes of the state of a task around a stretch. */
export function* changesOf(stretch: Stretch): Script<{ readonly changes: readonly Change[]; readonly toNow: boolean }> {
  const { taskId } = stretch;
  const { found, toNow } = yield* heldIn<DeedColumns>(states, stretch);
  const changes: Change[] = [];
  for (const deed of found.map(readDeed)) {
    const isBack = deed.stateBefore === 'deleted' && deed.stateAfter === 'paused';
    changes.push({
      ...deed,
      lastSlotAt: deed.stateBefore === 'completed' ? yield* lastSlotBefore(taskId, deed.at) : null,
      pause: isBack ? yield* pauseBefore(taskId, deed.id) : null,
    });
  }
  return { changes, toNow };
}

/** A task that was paused before it was deleted is paused again when it is restored, by whoever had paused it then. */
function* pauseBefore(taskId: string, id: string): Script<Deed | null> {
  const pause = yield* row<DeedColumns>(
    `select ${deedColumns} from audit where task_id = ?t and ${changesState} and id < ?i
       and state_after = 'paused' and state_before is distinct from 'deleted' order by at desc, id desc limit 1`,
    taskId,
    Number(id),
  );
  return pause === undefined ? null : readDeed(pause);
}

interface VersionColumns {
  readonly version: number;
  readonly at: number;
  readonly definition: string;
}

/** What the task was told to do around a stretch. */
export function* versionsOf(stretch: Stretch): Script<InForce[]> {
  const { found } = yield* heldIn<VersionColumns>(versions, stretch);
  return found.flatMap(readVersion);
}

function readVersion({ version, at, definition }: VersionColumns): InForce[] {
  const facts = readFacts(definition);
  return isDefinition(facts) ? [{ version, at, definition: facts }] : [];
}

function isDefinition(facts: unknown): facts is InForce['definition'] {
  const { schedule, policies, action } = (facts ?? {}) as Partial<InForce['definition']>;
  return typeof schedule?.kind === 'string' && typeof policies === 'object' && typeof action?.kind === 'string';
}

/** Few are kept, and none of them overlap when they have been read. */
export function* setBacks(): Script<Twice[]> {
  const found = yield* rows<{ from_at: number; to_at: number }>(
    `select from_at, to_at from set_backs order by from_at`,
  );
  const apart: Twice[] = [];
  for (const { from_at: from, to_at: to } of found) {
    const last = apart.at(-1);
    if (last === undefined || from > last.to) apart.push({ from, to });
    else apart[apart.length - 1] = { from: last.from, to: Math.max(last.to, to) };
  }
  return apart;
}

/** Nobody completes a task: its last slot does. */
export function* lastSlotBefore(taskId: string, at: number): Script<number | null> {
  const slot = yield* row<{ at: number }>(
    `select slot_at as at from occurrences where task_id = ?t and slot_at <= ?i and source in ('schedule', 'catch_up')
     order by slot_at desc limit 1`,
    taskId,
    at,
  );
  const gap = yield* row<{ at: number }>(
    `select to_at as at from gaps where task_id = ?t and from_at <= ?i order by from_at desc limit 1`,
    taskId,
    at,
  );
  const instants = [slot, gap].flatMap((one) => one?.at ?? []);
  return instants.length === 0 ? null : Math.max(...instants);
}
