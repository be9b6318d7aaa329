import { retryAttemptsMax } from '../../src/domain/limits.ts';
import { policyOf, type Policies } from '../../src/domain/policy.ts';
import { isLive, type Account } from './account.ts';
import { repeated, tell, type Breach, type Row } from './rows.ts';

/** What must hold between occurrences, runs and attempts, however often the process died. */
export function proveWork(account: Account): Breach[] {
  return [occurrencesAgree, attemptsAreWhole, nothingTwice].flatMap((prove) => prove(account));
}

/** An occurrence says what its run says. */
function occurrencesAgree({ rows, runs, occurrences, restsAt }: Account): Breach[] {
  const wrong = rows.occurrences.filter((one) => {
    const run = one.run_id === null ? undefined : runs.get(one.run_id);
    if (one.run_id !== null && run?.occurrence_id !== one.id) return true;
    if (one.status === 'pending' || one.status === 'missed') return run !== undefined;
    if (one.status === 'skipped') return run !== undefined && run.status !== 'cancelled';
    if (one.status === 'cancelled' && run === undefined) return false;
    if (one.status === 'dispatched') return run === undefined || !isLive(run);
    return run?.status !== one.status;
  });
  // What a client says belongs to no task, and no slot asked for it.
  const orphans = rows.runs.filter(
    ({ id, task_id, occurrence_id }) => task_id !== null && occurrences.get(occurrence_id ?? '')?.run_id !== id,
  );
  return [
    ...tell('an occurrence disagrees with its run', wrong),
    ...tell('a run belongs to no occurrence', orphans),
    ...tell('a run never ends', restsAt === null ? [] : rows.runs.filter(isLive)),
    ...tell(
      'an attempt is left open',
      rows.attempts.filter(({ status }) => status === 'running'),
    ),
  ];
}

function attemptsAreWhole(account: Account): Breach[] {
  const { rows, attemptsOf } = account;
  const wrong = rows.runs.flatMap((run) => {
    const own = (attemptsOf.get(run.id) ?? []).toSorted((a, b) => a.attempt - b.attempt);
    return faultsOf(run, own).map((fault) => ({ fault, run, own }));
  });
  // What a process claimed and was not told of is found by the next one as left behind, though nobody was killed over it.
  const untimely = rows.attempts.filter((attempt) => attempt.status === 'interrupted' && !account.wasKilled(attempt));
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
    ['it was tried too often', own.length - interrupted.length - run.free_attempts > attempts],
    ['it was tried too often for nothing', run.free_attempts > retryAttemptsMax],
    ['one succeeded and another followed', own.slice(0, -1).some(({ status }) => status === 'succeeded')],
    ['it ended otherwise than its last attempt', run.status === 'succeeded' && own.at(-1)?.status !== 'succeeded'],
    // A run that was called off ends so, as whoever did it was told, whatever its attempt came to.
    ['it was called off and ended otherwise', run.cancel_requested_at !== null && isEndedElse(run)],
    ['it succeeded and the run did not', run.status === 'failed' && own.at(-1)?.status === 'succeeded'],
    ['it was called off and nobody asked', run.status === 'cancelled' && own.length > 0 && isUnasked(run, own)],
    ['an end is missing', own.some((one) => (one.status === 'running') === (one.finished_at !== null))],
    ['what may not be repeated was', !repeatable && own.slice(0, -1).some(({ status }) => isDoubtful(status))],
  ];
  return faults.filter(([, is]) => is).map(([fault]) => fault);
}

const isEndedElse = (run: Row<'runs'>) => !isLive(run) && run.status !== 'cancelled';

/** What a worker holds is asked to stop; what waits for its next attempt ends at once. */
const isUnasked = (run: Row<'runs'>, own: readonly Row<'attempts'>[]) =>
  run.cancel_requested_at === null && own.at(-1)?.status === 'succeeded';

const isDoubtful = (status: string) => status === 'interrupted' || status === 'timed_out';

interface Input {
  readonly action: { readonly kind: string; readonly repeatable?: boolean };
  readonly policies?: Policies;
}

/** How often a run may be tried, and whether it may be done again when nobody knows how far it came. */
function limitsOfWork({ input }: Row<'runs'>) {
  const { action, policies } = JSON.parse(input) as Input;
  const { retry } = policyOf(policies ?? {}, { actionKind: action.kind, minGapMs: null });
  return { attempts: retry.attempts, repeatable: action.kind === 'message' || action.repeatable !== false };
}

function nothingTwice({ rows }: Account): Breach[] {
  return [
    ...tell(
      'an occurrence has two runs',
      repeated(rows.runs, (run) => run.occurrence_id),
    ),
    ...tell(
      'a key was used twice',
      repeated(rows.runs, (run) => run.idempotency_key),
    ),
    ...tell(
      'a slot has two rows',
      repeated(rows.occurrences, (one) => `${one.task_id} ${one.slot_at}`),
    ),
    ...tell(
      'a number was given twice in a chat',
      repeated(rows.tasks, (task) => `${task.chat_id} ${task.number}`),
    ),
    ...tell(
      'two tasks share a topic',
      repeated(rows.tasks, ({ chat_id, topic_id, topic_shared }) =>
        topic_id === null || topic_shared === 1 ? null : `${chat_id} ${topic_id}`,
      ),
    ),
  ];
}
