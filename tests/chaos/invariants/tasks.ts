import type { Policies } from '../../../src/domain/policy.ts';
import { nextSlot } from '../../../src/domain/schedule/schedule.ts';
import { scheduleOf, type Row } from '../journal.ts';
import { brief, counts, isBounded, tell, type Account } from './account.ts';
import { boundsOf } from './slots.ts';

/** What a task says of itself agrees with what happened to it, and what a client was told is so. */
export function proveTasks(account: Account): string[] {
  const { rows } = account;
  return [
    ...tell(
      'the counters of a task disagree with its runs',
      rows.tasks.flatMap((task) => miscounted(task, account)),
    ),
    ...tell(
      'a task waits for another slot than its next',
      rows.tasks.flatMap((task) => misplaced(task, account)),
    ),
    ...tell(
      'a completed task has something left to do',
      rows.tasks.filter((task) => isTooEarly(task, account)).map(brief),
    ),
    ...tell('the story of a task has a hole', broken(account)),
    ...promises(account),
  ];
}

function miscounted(task: Row<'tasks'>, account: Account): unknown[] {
  const { attemptsOf, runsOf } = account;
  const runs = runsOf.get(task.id) ?? [];
  const verdicts = runs.map((run) => counts(run, attemptsOf.get(run.id) ?? []));
  const ended = verdicts.filter((verdict) => verdict === 'yes').length;
  const most = ended + verdicts.filter((verdict) => verdict === 'perhaps').length;
  const failures = runs.filter(({ status }) => status === 'failed').length;
  const bounded = boundedRuns(task, account);
  const agrees =
    task.runs >= ended &&
    task.runs <= most &&
    task.failures === failures &&
    task.bounded_runs === bounded &&
    task.consecutive_failures <= task.failures &&
    task.consecutive_failures >= 0 &&
    (task.last_run_status !== 'succeeded' || task.consecutive_failures === 0);
  return agrees ? [] : [{ task: brief(task), ended, most, failures, bounded }];
}

/** Runs that slots asked for since the count last started again. */
function boundedRuns(task: Row<'tasks'>, account: Account): number {
  const turns = account.world.journal.turns.get(task.id) ?? [];
  const since = turns.findLast(({ retimed }) => retimed)?.mark ?? '';
  const runs = account.runsOf.get(task.id) ?? [];
  return runs.filter((run) => run.id > since && isBounded(run, account)).length;
}

/** The next slot that nobody skipped in advance. */
function nextOf(task: Row<'tasks'>, after: number, { occurrencesOf }: Account): number | null {
  const bounds = boundsOf(JSON.parse(task.policies) as Policies);
  const taken = new Set((occurrencesOf.get(task.id) ?? []).map(({ slot_at }) => slot_at));
  let next = nextSlot(scheduleOf(task), after, bounds);
  while (next !== null && taken.has(next)) next = nextSlot(scheduleOf(task), next, bounds);
  return next;
}

const isDelay = ({ interval_from }: Row<'tasks'>) => interval_from === 'completion';

function misplaced(task: Row<'tasks'>, account: Account): unknown[] {
  const { restsAt, world } = account;
  if (task.state !== 'active' || task.next_at === null) return [];
  // A slot that was taken up before the clock went back does not come again, so the next one may lie further ahead.
  const exact = !isDelay(task) && !world.journal.setBack;
  const bounds = boundsOf(JSON.parse(task.policies) as Policies);
  const plain = isDelay(task) ? restsAt + 1 : (nextSlot(scheduleOf(task), restsAt, bounds) ?? 0);
  const expected = exact ? (nextOf(task, restsAt, account) ?? 0) : plain;
  const agrees = exact ? task.next_at === expected : task.next_at >= expected;
  return agrees ? [] : [{ task: brief(task), restsAt, expected }];
}

function isTooEarly(task: Row<'tasks'>, account: Account): boolean {
  // What comes next in a delay after the last finish depends on when that is.
  if (task.state !== 'completed' || isDelay(task) || isSpent(task, account)) return false;
  const { turns, walls } = account.world.journal;
  const last = turns.get(task.id)?.at(-1);
  // Who gives a completed task a new schedule may say that it is to stay off, or take the schedule back.
  if ((last?.verb === 'edit' || last?.verb === 'undo') && last.state === 'completed') return false;
  const latest = walls.reduce((most, { at }) => Math.max(most, at), last?.at ?? 0);
  return nextOf(task, latest, account) !== null;
}

function isSpent(task: Row<'tasks'>, account: Account): boolean {
  const { max_runs: most } = JSON.parse(task.policies) as Policies;
  if (most === undefined) return false;
  return boundedRuns(task, account) >= most;
}

/** Each change begins where the one before it ended, unless the last slot has completed the task in between. */
function broken({ rows, world }: Account): unknown[] {
  return rows.tasks.flatMap((task) => {
    const turns = world.journal.turns.get(task.id) ?? [];
    const follows = (before: string | null | undefined, after: string | null | undefined) =>
      before === after || (before === 'active' && after === 'completed');
    const torn = turns.filter((turn, index) => index > 0 && !follows(turns[index - 1]?.state, turn.stateBefore));
    return torn.length === 0 && follows(turns.at(-1)?.state, task.state) ? [] : [{ task: brief(task), torn }];
  });
}

/** What a client was told to be done. */
function promises({ rows, occurrences, world }: Account): string[] {
  const { created, runsByHand } = world.journal.promised;
  const tasks = new Map(rows.tasks.map((task) => [task.id, task]));
  const isByHand = (id: string) => ['run_now', 'retry', 'replay'].includes(occurrences.get(id)?.source ?? '');
  return [
    ...tell(
      'a task that was created is lost',
      [...created.keys()].filter((id) => !tasks.has(id)),
    ),
    ...tell(
      'a run by hand is lost',
      [...runsByHand].filter((id) => !isByHand(id)),
    ),
  ];
}
