import { AppError } from '../../domain/errors.ts';
import { isDelay } from '../../domain/schedule/schedule.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import type { Task } from '../../domain/task.ts';
import type { Ids } from '../ports/outside.ts';
import type { NewOccurrence, SlotPlan } from '../ports/pipeline.ts';
import { noChange, type TaskChange, type TaskScene } from '../ports/tasks.ts';
import { onTime } from './by-hand.ts';
import { type VerbScene, nextOpenSlot, refuseDeleted } from './verbs.ts';

export interface Skip {
  readonly count: number;
  /** The slot that the person saw as the next one; when another is next by now, the wish is outdated and does nothing. */
  readonly from: number | null;
  /** Instead of the next ones those from the one instant up to the other, which is not part of it; `count` at most. */
  readonly within?: Within;
}

export interface Within {
  readonly from: number;
  readonly to: number;
}

/**
 * Skips slots in advance: each gets its row now, with the reason, and the task goes on after the last of them. The rows are
 * what keeps a slot from running, whatever else happens to the task.
 */
export function planSkip(ids: Ids, { scene, claims, nextAt }: VerbScene, { count, from, within }: Skip): TaskChange {
  refuseDeleted(scene);
  if (nextAt === null) {
    throw new AppError('nothing_to_skip', `There is no coming run to skip: the task is ${scene.task.state}.`, {
      details: { reason: 'no_run' },
    });
  }
  if (from !== null && from !== nextAt) return { ...noChange, claims };
  refuseUnknownNext(scene);
  const coming = { count, taken: scene.taken };
  const { slots, next } =
    within === undefined
      ? comingSlots(scene.task, nextAt, coming)
      : slotsWithin(scene.task, nextAt, { ...coming, within });
  const claim: SlotPlan = {
    taskId: scene.task.id,
    expectNextAt: nextAt,
    occurrences: slots.map((slotAt) => skippedAt(ids, slotAt)),
    runs: [],
    gap: null,
    nextAt: next,
    replaces: false,
  };
  return {
    ...noChange,
    claims: [...claims, claim],
    set: { skipsUntil: Math.max(slots.at(-1) ?? nextAt, ...scene.taken) },
    stamp: 'updated',
    audit: { verb: 'skip', before: null, after: { count: slots.length, slots: slots.map(iso) } },
  };
}

/** For a delay after the last finish the end of a run decides when the next one is, and would pass over what was skipped. */
function refuseUnknownNext({ task: { schedule }, live }: TaskScene): void {
  if (live.length === 0 || !isDelay(schedule)) return;
  throw new AppError(
    'nothing_to_skip',
    'This task is running, and its next run is known only when this one has ended. Skip it then.',
    { details: { reason: 'next_unknown' } },
  );
}

export function skippedAt(ids: Ids, slotAt: number): NewOccurrence {
  return { ...onTime, id: ids.next(), slotAt, source: 'schedule', status: 'skipped', reason: 'skip' };
}

interface Coming {
  readonly count: number;
  readonly taken: ReadonlySet<number>;
}

/** The next slots that have no row yet, and the one after them. */
function comingSlots(task: Task, first: number, { count, taken }: Coming): { slots: number[]; next: number | null } {
  const slots: number[] = [];
  let next: number | null = first;
  while (next !== null && slots.length < count) {
    slots.push(next);
    next = nextOpenSlot(task, next, taken);
  }
  return { slots, next };
}

/** Slots before them stay as they are: only the rows of these keep them from running. */
function slotsWithin(
  task: Task,
  nextAt: number,
  { count, taken, within }: Coming & { readonly within: Within },
): { slots: number[]; next: number | null } {
  const hasOneSlot = isDelay(task.schedule);
  let slot = nextAt >= within.from || hasOneSlot ? nextAt : nextOpenSlot(task, within.from - 1, taken);
  const slots: number[] = [];
  while (slot !== null && slot >= within.from && slot < within.to && slots.length < count) {
    slots.push(slot);
    slot = hasOneSlot ? null : nextOpenSlot(task, slot, taken);
  }
  const [first] = slots;
  if (first === undefined) {
    throw new AppError('nothing_to_skip', 'This task has no run in that time that could be skipped.', {
      details: { reason: 'no_run_then' },
    });
  }
  return { slots, next: first === nextAt ? nextOpenSlot(task, slots.at(-1) ?? nextAt, taken) : nextAt };
}

/** Skipped slots, as an entry of the audit tells of them; nothing where there are none. */
export function toldSlots(slots: readonly number[]): { readonly slots?: readonly string[] } {
  return slots.length === 0 ? {} : { slots: slots.map(iso) };
}

/** The slots that an entry of the audit tells of. */
export function slotsTold(after: Readonly<Record<string, unknown>> | null): readonly number[] {
  const slots = after?.['slots'];
  return Array.isArray(slots) ? slots.map((slot) => Date.parse(String(slot))) : [];
}

/** Takes back what was skipped in advance: all of it, or the slots named. */
export function planUnskip({ scene, claims, nextAt, now }: VerbScene, named: readonly number[] | null): TaskChange {
  refuseDeleted(scene);
  const { task, skipped } = scene;
  const slots = named === null ? skipped : skipped.filter((slot) => named.includes(slot));
  const [first] = slots;
  if (first === undefined) return { ...noChange, claims };
  // A task at its end goes on from now, which is before these slots where the clock was set back since they were skipped.
  const anew = () => nextOpenSlot(task, now, new Set([...scene.taken].filter((slot) => !slots.includes(slot))));
  return {
    ...noChange,
    claims,
    unskip: slots,
    set: task.state === 'paused' ? {} : { state: 'active', nextAt: Math.min(first, nextAt ?? anew() ?? first) },
    stamp: 'updated',
    audit: { verb: 'unskip', before: null, after: { count: slots.length, slots: slots.map(iso) } },
  };
}
