import { hasBegun, isBounded, isLive, policiesOf, type Account } from './account.ts';
import { tell, type Breach, type Row } from './rows.ts';

/** What a task says of itself agrees with what happened to it, and what a client was told is so. */
export function proveTasks(account: Account): Breach[] {
  const { rows, tasks, occurrences, promised } = account;
  const isByHand = (id: string) => ['run_now', 'retry', 'replay'].includes(occurrences.get(id)?.source ?? '');
  return [
    ...tell(
      'a task is active without a next slot, or has one without being active',
      rows.tasks.filter(({ state, next_at }) => (state === 'active') !== (next_at !== null)),
    ),
    ...tell(
      'the counters of a task disagree with its runs',
      rows.tasks.flatMap((task) => miscounted(task, account)),
    ),
    ...tell(
      'a task that was created is lost',
      [...promised.created].filter((id) => !tasks.has(id)),
    ),
    ...tell(
      'a run by hand is lost',
      [...promised.runsByHand].filter((id) => !isByHand(id)),
    ),
  ];
}

/**
 * A run counts once it has ended by itself; one that was called off before or between its attempts does not. Where it was
 * called off while its last attempt failed, the rows do not tell whether that would have been the end.
 */
function counts(run: Row<'runs'>, attempts: readonly Row<'attempts'>[]): 'yes' | 'no' | 'perhaps' {
  if (run.status === 'succeeded' || run.status === 'failed') return 'yes';
  const last = attempts.find(({ attempt }) => attempt === run.attempts)?.status;
  if (run.status !== 'cancelled' || last === undefined || last === 'interrupted') return 'no';
  return last === 'failed' || last === 'timed_out' ? 'perhaps' : 'yes';
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
    (bounded === null || task.bounded_runs === bounded) &&
    task.consecutive_failures <= task.failures &&
    task.consecutive_failures >= 0 &&
    (task.last_run_status !== 'succeeded' || task.consecutive_failures === 0);
  return agrees ? [] : [{ task, ended, most, failures, bounded }];
}

/** Runs that slots asked for, which began and have ended, since the count last started again; null where nobody knows when that was. */
export function boundedRuns(task: Row<'tasks'>, account: Account): number | null {
  const after = account.countsAfter(task);
  if (after === null) return null;
  return (account.runsOf.get(task.id) ?? []).filter(
    (run) => run.id > after && isBounded(run, account) && hasBegun(run) && !isLive(run),
  ).length;
}

/** The limit of a task has been reached, so that no slot comes after its last run. */
export function isSpent(task: Row<'tasks'>, account: Account): boolean {
  const { max_runs: most } = policiesOf(task);
  return most !== undefined && (boundedRuns(task, account) ?? 0) >= most;
}
