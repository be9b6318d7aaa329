import type { Row, Turn } from '../journal.ts';
import { brief, groupBy, isBounded, isLive, tell, type Account } from './account.ts';
import { limitsOfWork } from './limits-of-work.ts';

/** What must hold between occurrences, runs and attempts, however often the process died. */
export function proveWork(account: Account): string[] {
  return [occurrencesAgree, attemptsAreWhole, nothingTwice, nothingWhileOff, deletionStops, textsAreMeant].flatMap(
    (prove) => prove(account),
  );
}

/** An occurrence says what its run says. */
function occurrencesAgree({ rows, runs }: Account): string[] {
  const wrong = rows.occurrences.filter((one) => {
    const run = one.run_id === null ? undefined : runs.get(one.run_id);
    if (one.run_id !== null && run?.occurrence_id !== one.id) return true;
    if (one.status === 'pending' || one.status === 'missed') return run !== undefined;
    if (one.status === 'skipped') return run !== undefined && run.status !== 'cancelled';
    if (one.status === 'cancelled' && run === undefined) return false;
    return run?.status !== one.status;
  });
  // What a client says belongs to no task, and no slot asked for it.
  const orphans = rows.runs.filter(
    ({ id, task_id, occurrence_id }) =>
      task_id !== null && !rows.occurrences.some((one) => one.id === occurrence_id && one.run_id === id),
  );
  return [
    ...tell('an occurrence disagrees with its run', wrong.map(brief)),
    ...tell('a run belongs to no occurrence', orphans.map(brief)),
    ...tell('a run never ends', rows.runs.filter(isLive).map(brief)),
    ...tell(
      'an attempt never ends',
      rows.attempts.filter(({ status }) => status === 'running'),
    ),
  ];
}

function attemptsAreWhole(account: Account): string[] {
  const { rows, attemptsOf, world } = account;
  const wrong = rows.runs.flatMap((run) => {
    const own = (attemptsOf.get(run.id) ?? []).toSorted((a, b) => a.attempt - b.attempt);
    return faultsOf(run, own).map((fault) => ({ fault, run: brief(run), own }));
  });
  // What a process claimed and was not told of is found by the next one as left behind, though nobody was killed over it.
  const untimely = rows.attempts.filter(
    ({ status, boot_id }) => status === 'interrupted' && !world.journal.deadBoots.has(boot_id),
  );
  const strange = rows.attempts.filter(({ run_id }) => !account.runs.has(run_id));
  return [
    ...tell('the attempts of a run are wrong', wrong),
    ...tell('an attempt was interrupted under a living process', untimely),
    ...tell('an attempt belongs to no run', strange),
  ];
}

function faultsOf(run: Row<'runs'>, own: readonly Row<'attempts'>[]): string[] {
  const interrupted = own.filter(({ status }) => status === 'interrupted');
  const { attempts, repeatable } = limitsOfWork(run);
  const faults: readonly (readonly [string, boolean])[] = [
    ['they are not numbered from 1', own.some(({ attempt }, index) => attempt !== index + 1)],
    ['the run counts others', own.length !== run.attempts || interrupted.length !== run.interruptions],
    ['it was interrupted too often', interrupted.length > 3],
    ['it was tried too often', own.length - interrupted.length > attempts],
    ['one succeeded and another followed', own.slice(0, -1).some(({ status }) => status === 'succeeded')],
    ['it ended otherwise than its last attempt', run.status === 'succeeded' && own.at(-1)?.status !== 'succeeded'],
    // Whoever called a run off was told that it ends so, and it does, whatever its attempt came to.
    ['it succeeded and the run did not', run.status === 'failed' && own.at(-1)?.status === 'succeeded'],
    ['it was called off and nobody asked', run.status === 'cancelled' && own.length > 0 && isUnasked(run, own)],
    ['an end is missing', own.some((one) => (one.status === 'running') === (one.finished_at !== null))],
    ['what may not be repeated was', !repeatable && own.slice(0, -1).some(({ status }) => isDoubtful(status))],
  ];
  return faults.filter(([, is]) => is).map(([fault]) => fault);
}

/** What a worker holds is asked to stop; what waits for its next attempt ends at once. */
const isUnasked = (run: Row<'runs'>, own: readonly Row<'attempts'>[]) =>
  run.cancel_requested_at === null && own.at(-1)?.status === 'succeeded';

const isDoubtful = (status: string) => status === 'interrupted' || status === 'timed_out';

function nothingTwice({ rows, world }: Account): string[] {
  const twice = <T extends object>(items: readonly T[], keyOf: (item: T) => string | null) =>
    [...groupBy(items, keyOf).values()].filter((group) => group.length > 1).map((group) => group.map(brief));
  const { asked } = world.journal.promised;
  const byHand = groupBy(
    rows.occurrences.filter(({ source }) => source === 'run_now'),
    ({ task_id }) => task_id,
  );
  const tooMany = [...byHand].filter(([taskId, made]) => made.length > (asked.get(taskId) ?? 0));
  return [
    ...tell(
      'an occurrence has two runs',
      twice(rows.runs, (run) => run.occurrence_id),
    ),
    ...tell(
      'a key was used twice',
      twice(rows.runs, (run) => run.idempotency_key),
    ),
    ...tell(
      'a slot has two rows',
      twice(rows.occurrences, (one) => `${one.task_id} ${one.slot_at}`),
    ),
    ...tell(
      'a number was given twice in a chat',
      twice(rows.tasks, (task) => `${task.chat_id} ${task.number}`),
    ),
    ...tell(
      'more was run by hand than was asked for',
      tooMany.map(([taskId, made]) => ({ taskId, made: made.length, asked: asked.get(taskId) })),
    ),
  ];
}

/** While a task is paused its slots do not run, and once it is deleted nothing of it does. */
function nothingWhileOff(account: Account): string[] {
  const wrong: unknown[] = [];
  for (const [taskId, turns] of account.world.journal.turns) {
    for (const [index, turn] of turns.entries()) {
      if (turn.state !== 'deleted' && turn.state !== 'paused') continue;
      const end = turns[index + 1];
      const during = (account.runsOf.get(taskId) ?? []).filter(
        (run) => run.id > turn.mark && run.id <= (end?.mark ?? '~') && !belongsTo(end, run),
      );
      wrong.push(...during.filter((run) => turn.state === 'deleted' || isBounded(run, account)).map(brief));
    }
  }
  return tell('something ran while its task was off', wrong);
}

/** A deletion asks what runs to stop; what has not heard of it ran on in vain. */
function deletionStops({ world, runsOf }: Account): string[] {
  // With a clock that went back nobody can say what ended before the deletion.
  if (world.journal.setBack) return [];
  const wrong: unknown[] = [];
  for (const [taskId, turns] of world.journal.turns) {
    for (const { state, at, mark } of turns.filter((turn) => turn.state === 'deleted')) {
      const after = (runsOf.get(taskId) ?? []).filter((run) => run.id <= mark && (run.finished_at ?? 0) > at);
      const unasked = after.filter((run) => run.cancel_requested_at === null && run.status !== 'cancelled');
      wrong.push(...unasked.map((run) => ({ state, at, run: brief(run) })));
    }
  }
  return tell('a run went on after its task was deleted', wrong);
}

/** A pause that ends by itself is seen together with the slots that run at once. */
function belongsTo(end: Turn | undefined, run: Row<'runs'>): boolean {
  return end?.actor === 'system' && end.verb === 'resume' && run.created_at >= end.at;
}

/** A run says what its task was to say when it was admitted, and nothing else. */
function textsAreMeant({ rows, world }: Account): string[] {
  const ofTasks = rows.runs.filter(({ task_id }) => task_id !== null);
  const wrong = ofTasks.filter((run) => {
    const { instructions } = JSON.parse(run.input) as { instructions: string };
    return !(world.journal.texts.get(run.task_id ?? '')?.has(instructions) ?? false);
  });
  return tell('a run has a text that its task never had', wrong.map(brief));
}
