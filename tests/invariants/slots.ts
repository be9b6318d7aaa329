import type { Policies } from '../../src/domain/policy.ts';
import { isSlot, nextSlot, type Bounds, type Schedule } from '../../src/domain/schedule/schedule.ts';
import { isPlanned, type Account, type Period } from './account.ts';
import { iso, tell, type Breach, type Row } from './rows.ts';

/**
 * No slot is lost in silence. Every slot of a period in which a task was on has one row or lies in one gap, and no row
 * stands at any other instant.
 */

export interface SlotProof {
  readonly slots: number;
  readonly inGaps: number;
  readonly breaches: readonly Breach[];
}

export function proveSlots(account: Account): SlotProof {
  const breaches: Breach[] = [];
  let [slots, inGaps] = [0, 0];
  for (const task of account.rows.tasks) {
    const periods = account.periodsOf(task);
    if (periods === null) continue;
    const proof = proofOf(task, periods, account);
    slots += proof.slots;
    inGaps += proof.inGaps;
    const { title, id, state, paused_reason: reason } = task;
    breaches.push(
      ...proof.breaches.map(({ promise, rows }) => ({ promise, rows: { title, id, state, reason, rows } })),
    );
  }
  return { slots, inGaps, breaches };
}

export function boundsOf({ start_at, until }: Policies): Bounds {
  return {
    startAt: start_at === undefined ? undefined : Date.parse(start_at),
    until: until === undefined ? undefined : Date.parse(until),
  };
}

export const isDelay = (schedule: Schedule) => schedule.kind === 'interval' && schedule.from === 'completion';

/** The slots of a period up to the instant; more than these of one task are never simulated. */
export function slotsOf({ schedule, bounds }: Period, from: number, upTo: number): number[] {
  // A delay after the last finish has no slots that could be known before.
  if (isDelay(schedule)) return [];
  const slots: number[] = [];
  for (let slot = nextSlot(schedule, from, bounds); slot !== null && slot <= upTo;) {
    slots.push(slot);
    slot = nextSlot(schedule, slot, bounds);
  }
  return slots;
}

function proofOf(task: Row<'tasks'>, periods: readonly Period[], account: Account): SlotProof {
  const must = new Set(periods.flatMap((period) => slotsOf(period, period.from, period.must)));
  const may = new Set(periods.flatMap((period) => slotsOf(period, period.mayFrom, period.may)));
  const own = account.occurrencesOf.get(task.id) ?? [];
  const placed = new Set(own.map(({ slot_at }) => slot_at));
  const planned = own.filter(isPlanned);
  const gaps = account.rows.gaps.filter(({ task_id }) => task_id === task.id);
  const inGap = (slot: number) => gaps.filter(({ from_at, to_at }) => slot >= from_at && slot <= to_at);
  const lost = [...must].filter((slot) => !placed.has(slot) && inGap(slot).length === 0);
  const owed = lost.filter((slot) => account.isOwed(slot, task));
  const odd = planned.filter((one) => !may.has(one.slot_at) && !isMeant(one, periods));
  const empty = gaps.filter((gap) => gap.to_at < gap.from_at || gap.count < 1);
  return {
    slots: must.size,
    inGaps: gaps.reduce((sum, { count }) => sum + count, 0),
    breaches: [
      ...tell('a slot is lost', owed.map(iso)),
      ...tell('a row stands at an instant that is no slot', odd),
      ...tell('a gap ends before it begins or is empty', empty),
      ...(account.setBack ? [] : strictly({ gaps, may, planned, inGap })),
      ...unsaid(own, account),
    ],
  };
}

/** A delay after the last finish may end at any time, and what a person skips in advance may lie ahead. */
function isMeant({ slot_at: slot, reason }: Row<'occurrences'>, periods: readonly Period[]): boolean {
  return periods.some(({ schedule, mayFrom, may }) => {
    if (reason === 'skip') return isSlot(schedule, slot);
    return isDelay(schedule) && slot > mayFrom && slot <= may;
  });
}

interface Strict {
  readonly gaps: readonly Row<'gaps'>[];
  readonly may: ReadonlySet<number>;
  readonly planned: readonly Row<'occurrences'>[];
  readonly inGap: (slot: number) => readonly Row<'gaps'>[];
}

/** Where the clock never went back no slot came twice, so nothing may be told twice and gaps count exactly. */
function strictly({ gaps, may, planned, inGap }: Strict): Breach[] {
  const decided = new Set(planned.filter(({ reason }) => reason !== 'skip').map(({ slot_at }) => slot_at));
  const twice = [...may].filter((slot) => inGap(slot).length + (decided.has(slot) ? 1 : 0) > 1);
  const miscounted = gaps.filter(
    (gap) => gap.count !== [...may].filter((slot) => slot >= gap.from_at && slot <= gap.to_at).length,
  );
  return [
    ...tell('a slot is told twice', twice.map(iso)),
    ...tell('a gap counts other slots than there were', miscounted),
  ];
}

/** Whatever did not run says why, and what waits at the end waits for a person. */
function unsaid(own: readonly Row<'occurrences'>[], { restsAt }: Account): Breach[] {
  const silent = own.filter(({ status, reason }) => (status === 'skipped' || status === 'missed') && reason === null);
  const stuck = own.filter(
    ({ status, decide_by, source, slot_at }) =>
      restsAt !== null &&
      (status === 'dispatched' ||
        (status === 'pending' && (source === 'snooze' ? slot_at : (decide_by ?? 0)) <= restsAt)),
  );
  return [...tell('an occurrence did not run and has no reason', silent), ...tell('an occurrence never ends', stuck)];
}
