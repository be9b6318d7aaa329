import { nextSlot } from '../../../src/domain/schedule/schedule.ts';
import { policiesOf } from '../../invariants/account.ts';
import { scheduleOf, tell, type Breach, type Row } from '../../invariants/rows.ts';
import { boundsOf, isDelay } from '../../invariants/slots.ts';
import { isSpent } from '../../invariants/tasks.ts';
import type { Lived } from '../world.ts';

/** Where a task stands now follows from all that was done to it. */
export function proveStanding(account: Lived): Breach[] {
  const { rows } = account;
  return [
    ...tell(
      'a task waits for another slot than its next',
      rows.tasks.flatMap((task) => misplaced(task, account)),
    ),
    ...tell(
      'a completed task has something left to do',
      rows.tasks.filter((task) => isTooEarly(task, account)),
    ),
    ...tell('the story of a task has a hole', broken(account)),
  ];
}

/** The next slot that nobody skipped in advance. */
function nextOf(task: Row<'tasks'>, after: number, { occurrencesOf }: Lived): number | null {
  const bounds = boundsOf(policiesOf(task));
  const taken = new Set((occurrencesOf.get(task.id) ?? []).map(({ slot_at }) => slot_at));
  let next = nextSlot(scheduleOf(task), after, bounds);
  while (next !== null && taken.has(next)) next = nextSlot(scheduleOf(task), next, bounds);
  return next;
}

function misplaced(task: Row<'tasks'>, account: Lived): unknown[] {
  const { restsAt, setBack } = account;
  if (task.state !== 'active' || task.next_at === null) return [];
  const schedule = scheduleOf(task);
  // A slot that was taken up before the clock went back does not come again, so the next one may lie further ahead.
  const exact = !isDelay(schedule) && !setBack;
  const plain = isDelay(schedule) ? restsAt + 1 : (nextSlot(schedule, restsAt, boundsOf(policiesOf(task))) ?? 0);
  const expected = exact ? (nextOf(task, restsAt, account) ?? 0) : plain;
  const agrees = exact ? task.next_at === expected : task.next_at >= expected;
  return agrees ? [] : [{ task, restsAt, expected }];
}

function isTooEarly(task: Row<'tasks'>, account: Lived): boolean {
  // What comes next in a delay after the last finish depends on when that is.
  if (task.state !== 'completed' || isDelay(scheduleOf(task)) || isSpent(task, account)) return false;
  const { turns, walls } = account.world.journal;
  // What was deleted and restored is as it was before.
  const last = turns.get(task.id)?.findLast(({ verb }) => verb !== 'delete' && verb !== 'restore');
  // Who gives a completed task a new schedule may say that it is to stay off, or take the schedule back.
  if ((last?.verb === 'edit' || last?.verb === 'undo') && last.state === 'completed') return false;
  const latest = walls.reduce((most, { at }) => Math.max(most, at), last?.at ?? 0);
  return nextOf(task, latest, account) !== null;
}

/** Each change begins where the one before it ended, unless the last slot has completed the task in between. */
function broken({ rows, world }: Lived): unknown[] {
  return rows.tasks.flatMap((task) => {
    const turns = world.journal.turns.get(task.id) ?? [];
    const follows = (before: string | null | undefined, after: string | null | undefined) =>
      before === after || (before === 'active' && after === 'completed');
    const torn = turns.filter((turn, index) => index > 0 && !follows(turns[index - 1]?.state, turn.stateBefore));
    return torn.length === 0 && follows(turns.at(-1)?.state, task.state) ? [] : [{ task, torn }];
  });
}
