import type { Stamp, TaskState } from '../../domain/task.ts';
import type { Deed, TruthRows } from '../ports/why.ts';

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

/** In rows of an older version the verb tells what the state became; an edit that left it alone tells nothing. */
const stateByVerb: Readonly<Record<string, TaskState>> = {
  create: 'active',
  pause: 'paused',
  quarantine: 'paused',
  resume: 'active',
  delete: 'deleted',
};

function stateAfter({ stateAfter: state, verb }: Deed): TaskState | null {
  return state ?? stateByVerb[verb] ?? null;
}

function stateBefore({ stateBefore: state, verb }: Deed): TaskState | null {
  if (state !== null || verb === 'create') return state;
  return verb === 'resume' ? 'paused' : 'active';
}

interface Segment {
  readonly state: TaskState | null;
  readonly begun: Deed | null;
  /** What was done next, and found the task as it was then. */
  readonly ended: Deed | null;
  readonly last: number;
}

/** The stretches that the rows tell of, oldest first. */
export function stretchesOf(rows: TruthRows, keptFrom: number): readonly Stretch[] {
  const { task, changes } = rows;
  const [first] = changes;
  const opening: Segment[] =
    first?.verb === 'create'
      ? []
      : [
          {
            state: first === undefined ? task.state : stateBefore(first),
            begun: null,
            ended: first ?? null,
            last: lastBefore(changes),
          },
        ];
  const segments = changes.map((begun, index): Segment => ({
    state: stateAfter(begun),
    begun,
    ended: changes[index + 1] ?? null,
    last: lastBefore(changes.slice(index + 1)),
  }));
  const created: Stretch = {
    ...nothing,
    is: 'not_created',
    first: Number.NEGATIVE_INFINITY,
    // What was done to it before it was made was done after the clock had been set back.
    last: Math.min(task.created.at, lastBefore(changes)),
    ended: first?.verb === 'create' ? first : null,
  };
  const found = [...opening, ...segments].flatMap((segment) => stretchOf(rows, segment, keptFrom));
  return [created, ...found.filter((stretch) => stretch.first <= stretch.last)];
}

/** Where the clock was set back, the time that came twice belongs to what was done later. */
function lastBefore(later: readonly Deed[]): number {
  return later.reduce((last, { at }) => Math.min(last, at), Number.POSITIVE_INFINITY);
}

const nothing = { begun: null, ended: null, until: null, lastSlot: null, pausedBy: null };

function stretchOf(rows: TruthRows, segment: Segment, keptFrom: number): Stretch[] {
  const { begun, ended, last } = segment;
  const found = foundAt(rows, segment);
  if (found === null || found === 'active') return [];
  const first = (begun?.at ?? begunBefore(rows.task, { is: found, last, keptFrom })) + 1;
  const stretch = { ...nothing, first, last, begun, ended };
  if (found === 'completed') return completedOf(rows, stretch);
  if (found === 'deleted') return [{ ...stretch, is: 'deleted' }];
  const until = endOfPause(rows, segment);
  const pausedBy = pauserOf(rows, segment);
  return [{ ...stretch, is: 'paused', last: lastPaused(segment, until), until, pausedBy }];
}

/** A restored task is as paused as it was when it was deleted. */
function pauserOf({ task, pausers }: TruthRows, { begun }: Segment): Deed | Stamp | null {
  if (begun === null || begun.stateBefore !== 'deleted') return null;
  const { paused } = task;
  return (
    pausers.find(({ deedId }) => deedId === begun.id)?.pause ??
    (paused !== null && paused.at <= begun.at ? paused : null)
  );
}

/** It holds from the slot after the last one. */
function completedOf({ lastSlots }: TruthRows, stretch: Omit<Stretch, 'is'>): Stretch[] {
  const { first, last, ended } = stretch;
  const lastSlot = lastSlots.find(({ deedId }) => deedId === (ended?.id ?? null))?.slotAt ?? null;
  const from = Math.max(first, lastSlot === null ? first : lastSlot + 1);
  return from > last ? [] : [{ ...stretch, is: 'completed', first: from, lastSlot }];
}

interface Unbegun {
  readonly is: TaskState;
  readonly last: number;
  readonly keptFrom: number;
}

/** The row of its beginning is gone. The task remembers the latest; what is older than any record is not claimed. */
function begunBefore({ created, paused, deleted }: TruthRows['task'], { is, last, keptFrom }: Unbegun): number {
  const stamp = is === 'paused' ? paused : is === 'deleted' ? deleted : null;
  if (stamp !== null && stamp.at <= last) return stamp.at;
  return Math.max(created.at, keptFrom - 1);
}

/** Nobody completes a task, so what a segment began with may be another state than what the next change found. */
function foundAt({ task, reachesNow }: TruthRows, { state, ended }: Segment): TaskState | null {
  if (ended === null && !reachesNow) return state;
  const later = ended === null ? task.state : stateBefore(ended);
  if (state === 'active' && later === 'completed') return 'completed';
  // A row that says nothing of its own, or the opposite of what the task is now, gives way to the task.
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
