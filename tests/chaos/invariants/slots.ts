import type { Policies } from '../../../src/domain/policy.ts';
import { isSlot, nextSlot, type Bounds, type Schedule } from '../../../src/domain/schedule/schedule.ts';
import type { Row, Turn, Wall } from '../journal.ts';
import { brief, isBounded, isPlanned, iso, tell, type Account } from './account.ts';

/**
 * No slot is lost in silence. The periods in which a task was on come from its audit rows and from the times that the wall
 * clock showed; every slot of such a period has one row or lies in one gap, and no row stands at any other instant.
 */

interface Period {
  readonly schedule: Schedule;
  readonly bounds: Bounds;
  /** It begins after this instant. */
  readonly from: number;
  /** A slot may have been taken up after this one. */
  readonly mayFrom: number;
  /** Up to here every slot must have been taken up. */
  readonly must: number;
  /** Up to here a slot may have been taken up. */
  readonly may: number;
  /** When everything that was due had been taken up, and what the audit had told by then. */
  readonly settled: readonly Pick<Wall, 'auditId' | 'at'>[];
}

export interface SlotProof {
  readonly slots: number;
  readonly breaches: readonly string[];
}

export function proveSlots(account: Account): SlotProof {
  const breaches: string[] = [];
  let slots = 0;
  for (const task of account.rows.tasks) {
    const proof = proofOf(task, account);
    slots += proof.slots;
    breaches.push(...proof.breaches.map((breach) => `${breach} (${task.title}, ${task.id}, ${task.state})`));
  }
  return { slots, breaches };
}

export function boundsOf({ start_at, until }: Policies): Bounds {
  return {
    startAt: start_at === undefined ? undefined : Date.parse(start_at),
    until: until === undefined ? undefined : Date.parse(until),
  };
}

/** The turns of a task in one stretch of being on with one timing, and the turn that ended it. */
interface Stretch {
  readonly turns: Turn[];
  /** The end of a pause that ended by itself: the slots since then count. */
  readonly resumedAt: number | null;
  /** The end of a pause that had passed when the task was switched on by hand. */
  readonly overdueAt: number | null;
  end: Turn | undefined;
}

function stretchesOf(turns: readonly Turn[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const [index, turn] of turns.entries()) {
    const open = stretches.at(-1);
    if (open !== undefined && open.end === undefined) {
      if (goesOn(turn)) {
        open.turns.push(turn);
        continue;
      }
      open.end = turn;
    }
    const pauseEnd = turns[index - 1]?.resumeAt ?? null;
    const resumedAt = endedByItself(turn) ? pauseEnd : null;
    // Who resumes by hand what should have gone on already gets the slots since then.
    const overdueAt = pauseEnd !== null && pauseEnd <= turn.at ? pauseEnd : null;
    // A pause that ended long ago may have been followed by every slot there was.
    if (turn.state === 'active' || resumedAt !== null)
      stretches.push({ turns: [turn], resumedAt, overdueAt, end: undefined });
  }
  return stretches;
}

const goesOn = (turn: Turn) => turn.stateBefore === 'active' && turn.state === 'active' && !turn.retimed;
const endedByItself = ({ verb, actor }: Turn) => verb === 'resume' && actor === 'system';

function periodsOf(task: Row<'tasks'>, account: Account): Period[] {
  const turns = account.world.journal.turns.get(task.id) ?? [];
  return stretchesOf(turns).flatMap((stretch) => periodOf(stretch, { task, account, turns }) ?? []);
}

interface Around {
  readonly task: Row<'tasks'>;
  readonly account: Account;
  readonly turns: readonly Turn[];
}

function periodOf({ turns, resumedAt, overdueAt, end }: Stretch, around: Around): Period | null {
  const [first] = turns;
  const last = turns.at(-1);
  if (first === undefined || last === undefined) return null;
  const { journal } = around.account.world;
  const seen = journal.walls.filter(
    ({ auditId }) => auditId >= first.auditId && (end === undefined || auditId < end.auditId),
  );
  const edge = { auditId: end?.auditId ?? first.auditId, at: end?.at ?? first.at };
  const settled = [edge, ...seen.filter((wall) => wall.settled)];
  const latest = (walls: readonly Pick<Wall, 'at'>[]) => walls.reduce((most, { at }) => Math.max(most, at), edge.at);
  const from = resumedAt === null ? first.at : resumedAt - 1;
  // Slots are computed again from an earlier now when the rules of time change while the clock is behind.
  const earliest = journal.setBack ? seen.reduce((least, { at }) => Math.min(least, at), from) : from;
  return {
    schedule: first.schedule,
    bounds: boundsOf(first.policies),
    from,
    mayFrom: Math.min(earliest, overdueAt === null ? Infinity : overdueAt - 1),
    must: Math.min(latest(settled), lastOfAll(last, end, around)),
    may: latest(seen),
    settled,
  };
}

/** The slot of the run that used up `max_runs`: whatever comes after it came too late to be one. */
function lastOfAll(turn: Turn, end: Turn | undefined, { task, account, turns }: Around): number {
  const most = turn.policies.max_runs;
  if (most === undefined) return Infinity;
  const since = turns.findLast(({ retimed, auditId }) => retimed && auditId <= turn.auditId)?.mark ?? '';
  const bounded = (account.runsOf.get(task.id) ?? []).filter(
    (run) => run.id > since && (end === undefined || run.id <= end.mark) && isBounded(run, account),
  );
  if (bounded.length < most) return Infinity;
  const slots = bounded.map((run) => account.occurrences.get(run.occurrence_id ?? '')?.slot_at ?? 0);
  const lastSlot = slots.reduce((last, slot) => Math.max(last, slot), 0);
  // Where the clock went back, the run that was admitted last need not be the one with the latest slot.
  return account.world.journal.setBack ? Math.min(lastSlot, bounded.at(-1)?.created_at ?? 0) : lastSlot;
}

const isDelay = (schedule: Schedule) => schedule.kind === 'interval' && schedule.from === 'completion';

/** The slots of a period up to the instant; more than these of one task are never simulated. */
function slotsOf({ schedule, bounds }: Period, from: number, upTo: number): number[] {
  // A delay after the last finish has no slots that could be known before.
  if (isDelay(schedule)) return [];
  const slots: number[] = [];
  for (let slot = nextSlot(schedule, from, bounds); slot !== null && slot <= upTo;) {
    slots.push(slot);
    slot = nextSlot(schedule, slot, bounds);
  }
  return slots;
}

function proofOf(task: Row<'tasks'>, account: Account): SlotProof {
  const periods = periodsOf(task, account);
  const must = new Set(periods.flatMap((period) => slotsOf(period, period.from, period.must)));
  const may = new Set(periods.flatMap((period) => slotsOf(period, period.mayFrom, period.may)));
  const own = account.occurrencesOf.get(task.id) ?? [];
  const placed = new Set(own.map(({ slot_at }) => slot_at));
  const planned = own.filter(isPlanned);
  const gaps = account.rows.gaps.filter(({ task_id }) => task_id === task.id);
  const inGap = (slot: number) => gaps.filter(({ from_at, to_at }) => slot >= from_at && slot <= to_at);
  const { world } = account;
  const lost = [...must].filter((slot) => !placed.has(slot) && inGap(slot).length === 0);
  const owed = world.journal.setBack ? lost.filter((slot) => isOwedAgain(slot, { task, account, periods })) : lost;
  const odd = planned.filter((one) => !may.has(one.slot_at) && !isMeant(one, periods));
  const empty = gaps.filter((gap) => gap.to_at < gap.from_at || gap.count < 1);
  return {
    slots: must.size,
    breaches: [
      ...tell('a slot is lost', owed.map(iso)),
      ...tell('a row stands at an instant that is no slot', odd.map(brief)),
      ...tell('a gap ends before it begins or is empty', empty),
      ...(world.journal.setBack ? [] : strictly({ gaps, may, planned, inGap })),
      ...unsaid(own, account),
    ],
  };
}

interface Lost {
  readonly task: Row<'tasks'>;
  readonly account: Account;
  readonly periods: readonly Period[];
}

/**
 * A slot that was skipped may have passed when the clock goes back to before it. Whoever then wants it no longer skipped,
 * or gives the task another timing, makes it one that is to come: it is owed if it passed once more while the task was on.
 */
function isOwedAgain(slot: number, { task, account, periods }: Lost): boolean {
  const entries = account.rows.audit.filter(({ task_id }) => task_id === task.id);
  const skip = entries.findLast(({ verb, after }) => isSkipOf(slot, verb, after));
  if (skip === undefined) return true;
  const turns = account.world.journal.turns.get(task.id) ?? [];
  const back = turns.findLast(
    ({ auditId, at, verb, retimed }) =>
      auditId > skip.id && at < slot && (retimed || verb === 'unskip' || verb === 'undo'),
  );
  if (back === undefined) return true;
  return periods.some(
    (period) =>
      slotsOf(period, Math.max(period.from, slot - 1), Math.min(period.must, slot)).length > 0 &&
      period.settled.some(({ auditId, at }) => auditId >= back.auditId && at >= slot),
  );
}

/** The entry of a skip, or of one that was taken back and is wanted again, names the slots. */
function isSkipOf(slot: number, verb: string, after: string | null): boolean {
  const { slots = [], undone } = JSON.parse(after ?? '{}') as { slots?: string[]; undone?: string };
  return (verb === 'skip' || undone === 'unskip') && slots.some((at) => Date.parse(at) === slot);
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
function strictly({ gaps, may, planned, inGap }: Strict): string[] {
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
function unsaid(own: readonly Row<'occurrences'>[], { restsAt }: Account): string[] {
  const silent = own.filter(({ status, reason }) => (status === 'skipped' || status === 'missed') && reason === null);
  const stuck = own.filter(
    ({ status, decide_by, source, slot_at }) =>
      status === 'dispatched' ||
      (status === 'pending' && (source === 'snooze' ? slot_at : (decide_by ?? 0)) <= restsAt),
  );
  return [
    ...tell('an occurrence did not run and has no reason', silent.map(brief)),
    ...tell('an occurrence never ends', stuck.map(brief)),
  ];
}
