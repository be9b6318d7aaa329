import type { Stamp, TaskState } from '../../domain/task.ts';
import type { Change, Deed, TruthRows } from '../ports/why.ts';

/**
 * A stretch of time in which a task had no slots: it did not exist yet, was paused or deleted, or had come to its end.
 * `first` and `last` are the instants of the slots that fall into it. What a person changes at an instant holds for the
 * slots after it, because a slot that is due at that very instant is taken up first.
 */
export interface Stretch {
  readonly is: 'not_created' | 'paused' | 'completed' | 'deleted';
  readonly first: number;
  readonly last: number;
  readonly begun: Deed | null;
  readonly ended: Deed | null;
  /** When a pause ends, or ended, by itself. */
  readonly until: number | null;
  /** The slot with which the task came to its end. */
  readonly lastSlot: number | null;
  /** Whose pause it is, where the task came back to it when it was restored. */
  readonly pausedBy: Deed | Stamp | null;
}

/** A stretch of time, both ends included. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/**
 * For how long each of several things held, given in the order in which they were made: for what comes after its instant, to
 * that of the next. Where the clock was set back, the time that came twice belongs to what was made later.
 */
export function held<T extends { readonly at: number }>(made: readonly T[]): (Span & { readonly one: T })[] {
  let last = Number.POSITIVE_INFINITY;
  return made
    .toReversed()
    .map((one) => {
      const span = { one, first: one.at + 1, last };
      last = Math.min(last, one.at);
      return span;
    })
    .toReversed();
}

interface Segment extends Span {
  readonly state: TaskState | null;
  readonly begun: Change | null;
  /** The change that came next, and found the task as it was then. */
  readonly ended: Change | null;
}

/** The stretches that the rows tell of, oldest first. */
export function stretchesOf(rows: TruthRows, keptFrom: number): readonly Stretch[] {
  const { task, changes } = rows;
  const [first] = changes;
  const beginning = Math.min(...changes.map(({ at }) => at));
  const created: Stretch = {
    ...nothing,
    is: 'not_created',
    first: Number.NEGATIVE_INFINITY,
    // A change from before its creation was made after the clock had been set back.
    last: Math.min(task.created.at, beginning),
    ended: first?.verb === 'create' ? first : null,
  };
  const segments = held(changes).map(({ one, ...span }, index): Segment => ({
    ...span,
    state: one.stateAfter,
    begun: one,
    ended: changes[index + 1] ?? null,
  }));
  const opening = first?.verb === 'create' ? [] : [openingOf(rows, { last: beginning, keptFrom })];
  const found = [...opening, ...segments].flatMap((segment) => stretchOf(rows, segment));
  return [created, ...found.filter((stretch) => stretch.first <= stretch.last)];
}

interface Opening {
  readonly last: number;
  readonly keptFrom: number;
}

/** The row of its beginning is gone. The task remembers the latest; what is older than any record is not claimed. */
function openingOf({ task, changes }: TruthRows, { last, keptFrom }: Opening): Segment {
  const [ended = null] = changes;
  const state = ended === null ? task.state : ended.stateBefore;
  const stamp = state === 'paused' ? task.paused : state === 'deleted' ? task.deleted : null;
  const begunAt = stamp !== null && stamp.at <= last ? stamp.at : Math.max(task.created.at, keptFrom - 1);
  return { state, begun: null, ended, first: begunAt + 1, last };
}

const nothing = { begun: null, ended: null, until: null, lastSlot: null, pausedBy: null };

function stretchOf(rows: TruthRows, segment: Segment): Stretch[] {
  const { begun, ended, first, last } = segment;
  const found = foundAt(rows, segment);
  if (found === null || found === 'active') return [];
  const stretch = { ...nothing, first, last, begun, ended };
  if (found === 'completed') return completedOf(rows, stretch, ended);
  if (found === 'deleted') return [{ ...stretch, is: 'deleted' }];
  const until = endOfPause(rows, segment);
  return [{ ...stretch, is: 'paused', last: lastPaused(segment, until), until, pausedBy: pauserOf(rows, segment) }];
}

/** A restored task is as paused as it was when it was deleted. */
function pauserOf({ task: { paused } }: TruthRows, { begun }: Segment): Deed | Stamp | null {
  if (begun === null || begun.stateBefore !== 'deleted') return null;
  return begun.pause ?? (paused !== null && paused.at <= begun.at ? paused : null);
}

/** Being completed begins with the slot after the last one. */
function completedOf({ lastSlotAt }: TruthRows, stretch: Omit<Stretch, 'is'>, ended: Change | null): Stretch[] {
  const { first, last } = stretch;
  const lastSlot = ended === null ? lastSlotAt : ended.lastSlotAt;
  const from = Math.max(first, lastSlot === null ? first : lastSlot + 1);
  return from > last ? [] : [{ ...stretch, is: 'completed', first: from, lastSlot }];
}

/** A task completes by itself, so the state at the begin of a segment may differ from the one that the next change found. */
function foundAt({ task, reachesNow }: TruthRows, { state, ended }: Segment): TaskState | null {
  if (ended === null && !reachesNow) return state;
  const later = ended === null ? task.state : ended.stateBefore;
  if (state === 'active' && later === 'completed') return 'completed';
  // A row that says the opposite of what the task is now gives way to the task.
  return ended === null ? later : state;
}

const endsOfPause = new Set(['resume', 'quarantine']);

function endOfPause({ task }: TruthRows, { begun, ended }: Segment): number | null {
  if (ended === null) return task.resumeAt;
  const until = begun?.after?.['until'];
  const at = typeof until === 'string' ? Date.parse(until) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/**
 * A pause that ends by itself leaves the slot at its end free, also when somebody came to look only later, or found a row
 * that could not be read.
 */
function lastPaused({ ended, last }: Segment, until: number | null): number {
  const isDue = ended !== null && until !== null && ended.at >= until && endsOfPause.has(ended.verb);
  return until !== null && (ended === null || isDue) ? Math.min(last, until - 1) : last;
}
