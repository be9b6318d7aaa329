import { hasBegun, isBounded, type Period } from '../../invariants/account.ts';
import type { Row } from '../../invariants/rows.ts';
import { boundsOf, slotsOf } from '../../invariants/slots.ts';
import type { Turn, Wall } from '../journal.ts';
import type { Lived } from '../world.ts';

/** When a task was on: from its audit rows, and from the times that the wall clock showed. */

interface Seen extends Period {
  /** When everything that was due had been taken up, and what the audit had told by then. */
  readonly settled: readonly Pick<Wall, 'auditId' | 'at'>[];
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
    const pauseEnd = turns[index - 1]?.resumeAt ?? turn.endOfPause;
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

export function periodsOf(task: Row<'tasks'>, account: Lived): Seen[] {
  const turns = account.world.journal.turns.get(task.id) ?? [];
  return stretchesOf(turns).flatMap((stretch) => periodOf(stretch, { task, account, turns }) ?? []);
}

interface Around {
  readonly task: Row<'tasks'>;
  readonly account: Lived;
  readonly turns: readonly Turn[];
}

function periodOf({ turns, resumedAt, overdueAt, end }: Stretch, around: Around): Seen | null {
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
  // The end of a pause moves along with the clock.
  const paused = around.turns.findLast(
    ({ auditId, stateBefore }) => resumedAt !== null && auditId < first.auditId && stateBefore !== 'paused',
  );
  const since = journal.walls.filter(({ auditId }) => auditId >= (paused ?? first).auditId);
  // Slots are computed again from an earlier now when the rules of time change while the clock is behind.
  const earliest = journal.setBack ? since.reduce((least, { at }) => Math.min(least, at), from) : from;
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

/** A beginning that is moved along with the clock is not another timing that somebody wanted. */
export const countsAnew = ({ retimed, actor }: Turn) => retimed && actor !== 'system';

/** The slot of the run that used up `max_runs`: whatever comes after it came too late to be one. */
function lastOfAll(turn: Turn, end: Turn | undefined, { task, account, turns }: Around): number {
  const most = turn.policies.max_runs;
  if (most === undefined) return Infinity;
  const since = turns.findLast((one) => countsAnew(one) && one.auditId <= turn.auditId)?.mark ?? '';
  const isOfThese = ({ id }: { readonly id: string }) => id > since && (end === undefined || id <= end.mark);
  const bounded = (account.runsOf.get(task.id) ?? []).filter(
    (run) => isOfThese(run) && isBounded(run, account) && hasBegun(run),
  );
  if (bounded.length < most) return Infinity;
  const slots = bounded.map((run) => account.occurrences.get(run.occurrence_id ?? '')?.slot_at ?? 0);
  const lastSlot = slots.reduce((last, slot) => Math.max(last, slot), 0);
  if (!account.world.journal.setBack) return lastSlot;
  // Where the clock went back, the run that was admitted last need not be the one with the latest slot, and a slot that found
  // all of them used up may lie before both.
  const own = account.occurrencesOf.get(task.id) ?? [];
  const refused = own.filter((one) => one.reason === 'max_runs' && isOfThese(one)).map(({ slot_at }) => slot_at);
  return Math.min(lastSlot, bounded.at(-1)?.created_at ?? 0, ...refused);
}

/**
 * What only a clock that was ahead had passed over comes again when the clock is right: a slot is owed if the task was on when
 * its time came for the last time.
 */
export function isOwedAgain(slot: number, task: Row<'tasks'>, account: Lived): boolean {
  const { setBack, walls } = account.world.journal;
  const before = walls.findLastIndex(({ at }) => at < slot);
  const last = walls[before];
  if (!setBack || last === undefined) return true;
  const since = new Set<unknown>(walls.slice(before + 1));
  return periodsOf(task, account).some(
    (period) =>
      slotsOf(period, Math.max(period.from, slot - 1), Math.min(period.must, slot)).length > 0 &&
      period.settled.some((wall) => wall.at >= slot && (since.has(wall) || wall.auditId > last.auditId)),
  );
}
