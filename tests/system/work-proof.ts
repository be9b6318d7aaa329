import { liveStatuses } from '../../src/domain/run.ts';
import type { LogLine } from './program.ts';
import { groupBy, type Breach, type Row, type Rows } from './rows.ts';

/** What must hold between occurrences, runs, attempts and tasks, however often the process was killed. */
export interface History {
  /** Instants at which a process was killed. */
  readonly kills: readonly number[];
  readonly log: readonly LogLine[];
}

/** A text of a run fills the screen and proves nothing. */
const brief = ({ input: _input, output: _output, ...run }: Row<'runs'>) => run;

const isLive = (run: Row<'runs'>) => (liveStatuses as readonly string[]).includes(run.status);

interface Picture {
  readonly rows: Rows;
  readonly history: History;
  readonly runs: ReadonlyMap<string, Row<'runs'>>;
  readonly attempts: ReadonlyMap<string, readonly Row<'attempts'>[]>;
  readonly runsOfTask: ReadonlyMap<string, readonly Row<'runs'>[]>;
}

export function proveWork(rows: Rows, history: History): Breach[] {
  const picture: Picture = {
    rows,
    history,
    runs: new Map(rows.runs.map((run) => [run.id, run])),
    attempts: groupBy(rows.attempts, (attempt) => attempt.run_id),
    runsOfTask: groupBy(rows.runs, (run) => run.task_id),
  };
  const proofs = [occurrencesAgree, attemptsAreWhole, nothingTwice, tasksAgree, logIsCalm];
  return proofs.flatMap((proof) => proof(picture));
}

const breachesOf = <T>(promise: string, found: readonly T[]): Breach[] =>
  found.length === 0 ? [] : [{ promise: `${promise} (${found.length})`, rows: found.slice(0, 5) }];

/** An occurrence says what its run says. */
function occurrencesAgree({ rows, runs }: Picture): Breach[] {
  const wrong = rows.occurrences.filter((one) => {
    const run = one.run_id === null ? undefined : runs.get(one.run_id);
    if (one.status === 'pending') return run !== undefined;
    if (one.status === 'dispatched') return run === undefined || !isLive(run);
    if (one.status === 'missed') return run !== undefined;
    if (one.status === 'skipped') return run !== undefined && run.status !== 'cancelled';
    if (one.status === 'cancelled' && run === undefined) return false;
    return run?.status !== one.status;
  });
  const orphans = rows.runs.filter((run) => run.occurrence_id === null || runs.get(run.id)?.task_id === null);
  const unsaid = rows.occurrences.filter(
    ({ status, reason }) => reason === null && (status === 'missed' || status === 'skipped'),
  );
  return [
    ...breachesOf('an occurrence disagrees with its run', wrong),
    ...breachesOf('a run has no occurrence', orphans.map(brief)),
    ...breachesOf('an occurrence did not run and has no reason', unsaid),
  ];
}

const toleranceMs = 1500;

function attemptsAreWhole({ rows, attempts, history }: Picture): Breach[] {
  const holed: unknown[] = [];
  const repeated: unknown[] = [];
  for (const run of rows.runs) {
    const own = [...(attempts.get(run.id) ?? [])].sort((a, b) => a.attempt - b.attempt);
    const whole = own.every(({ attempt }, index) => attempt === index + 1) && own.length === run.attempts;
    const interrupted = own.filter(({ status }) => status === 'interrupted');
    if (!whole || interrupted.length !== run.interruptions || interrupted.length > 3)
      holed.push({ run: brief(run), own });
    const { action } = JSON.parse(run.input) as { action: { repeatable?: boolean } };
    const last = own.at(-1);
    if (action.repeatable === false && interrupted.length > 0 && last?.status !== 'interrupted')
      repeated.push({ run: brief(run), own });
  }
  const untimely = rows.attempts.filter(({ status, started_at, finished_at }) => {
    if (status !== 'interrupted' || finished_at === null) return false;
    return !history.kills.some((kill) => kill >= started_at - toleranceMs && kill <= finished_at + toleranceMs);
  });
  const open = rows.attempts.filter(({ status }) => status === 'running');
  return [
    ...breachesOf('the attempts of a run are not numbered 1..n', holed),
    ...breachesOf('what may not be repeated was tried again after an interruption', repeated),
    ...breachesOf('an attempt was interrupted although nothing was killed', untimely),
    ...breachesOf('an attempt is still open after a clean stop', open),
  ];
}

function nothingTwice({ rows, runsOfTask }: Picture): Breach[] {
  const twice = <T>(items: readonly T[], keyOf: (item: T) => string | null) =>
    [...groupBy(items, keyOf).values()].filter((group) => group.length > 1);
  const crowded: unknown[] = [];
  for (const runs of runsOfTask.values()) {
    const exclusive = runs
      .filter((run) => run.exclusive === 1)
      .sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
    for (const [index, run] of exclusive.entries()) {
      const next = exclusive[index + 1];
      // A run is made with the time at which its step began, which may lie a moment before the end of the last one.
      if (next !== undefined && (run.finished_at ?? Infinity) > next.created_at + toleranceMs)
        crowded.push({ run: brief(run), next: brief(next) });
    }
  }
  return [
    ...breachesOf('two live runs of a task that allows one', crowded),
    ...breachesOf(
      'an idempotency key was used twice',
      twice(rows.runs, (run) => run.idempotency_key),
    ),
    ...breachesOf(
      'a slot has two rows',
      twice(rows.occurrences, (one) => `${one.task_id} ${one.slot_at}`),
    ),
    ...breachesOf(
      'a number was given twice in a chat',
      twice(rows.tasks, (task) => `${task.chat_id} ${task.number}`),
    ),
    ...breachesOf(
      'two tasks share a topic',
      twice(
        rows.tasks.filter(({ topic_id }) => topic_id !== null),
        (task) => `${task.chat_id} ${task.topic_id}`,
      ),
    ),
  ];
}

/**
 * A run counts once it has ended by itself; one that was called off before or between its attempts does not. One whose
 * last attempt came to an end of its own when it was called off already has ended with that attempt.
 */
function counts(run: Row<'runs'>, attempts: readonly Row<'attempts'>[]): boolean {
  if (run.status === 'succeeded' || run.status === 'failed') return true;
  if (run.status !== 'cancelled') return false;
  const { action } = JSON.parse(run.input) as { action: { error?: string } };
  const lasts = new Set(action.error === 'final' ? ['succeeded', 'failed'] : ['succeeded']);
  return attempts.some(
    ({ status, finished_at: at }) => status === 'cancelled' || (lasts.has(status) && at === run.finished_at),
  );
}

function tasksAgree({ rows, runsOfTask, attempts }: Picture): Breach[] {
  const unplanned = rows.tasks.filter(({ state, next_at }) => (state === 'active') !== (next_at !== null));
  const miscounted = rows.tasks.flatMap((task) => {
    const runs = runsOfTask.get(task.id) ?? [];
    const ended = runs.filter((run) => counts(run, attempts.get(run.id) ?? [])).length;
    const failed = runs.filter(({ status }) => status === 'failed').length;
    const agrees = task.runs === ended && task.failures === failed;
    return agrees ? [] : [{ task: task.title, runs: task.runs, ended, failures: task.failures, failed }];
  });
  const overrun = rows.tasks.flatMap((task) => {
    const { max_runs: most } = JSON.parse(task.policies) as { max_runs?: number };
    if (most === undefined) return [];
    const bounded = rows.occurrences.filter(
      (one) => one.task_id === task.id && one.run_id !== null && one.source !== 'run_now',
    ).length;
    // What runs once is completed by its schedule.
    const isShort = task.state === 'completed' && task.schedule_kind !== 'once' && bounded < most;
    const agrees = task.bounded_runs === bounded && bounded <= most && !isShort;
    return agrees ? [] : [{ task: task.title, most, bounded, counted: task.bounded_runs, state: task.state }];
  });
  return [
    ...breachesOf('a task is active without a next slot, or has one without being active', unplanned),
    ...breachesOf('the counters of a task disagree with its runs', miscounted),
    ...breachesOf('max_runs was not kept', overrun),
  ];
}

/** A kill is no fault of a row: nothing may have failed inside the process. */
function logIsCalm({ history }: Picture): Breach[] {
  const calm = new Set(['info', 'warn', 'debug', 'cut']);
  const expected = new Set(['late_results_dropped', 'loop_recovered']);
  return breachesOf(
    'the log tells of a fault',
    history.log.filter(({ level, event }) => !calm.has(level) && !expected.has(event)),
  );
}
