import type { Account } from './account.ts';
import { groupBy, tell, type Breach } from './rows.ts';

/** A call as it arrived at a target outside. */
export interface Arrival {
  readonly key: string;
  readonly runId: string;
  readonly attempt: number;
}

/** A target that does what it is asked for once for each key. */
export interface Witness {
  readonly arrivals: readonly Arrival[];
  /** The keys under which something was done. */
  readonly effects: ReadonlySet<string>;
}

/** Rules of calls to the outside, under which such a target has one effect for a slot, however often we died. */
export function proveCalls({ rows, runs, occurrences, attemptsOf }: Account, { arrivals, effects }: Witness): Breach[] {
  const called = rows.runs.filter(({ action_kind: kind }) => kind === 'http');
  const callsOf = groupBy(arrivals, ({ runId }) => runId);
  const keysOf = (runId: string) => new Set((callsOf.get(runId) ?? []).map(({ key }) => key));
  const isRetry = (runId: string) => occurrences.get(runs.get(runId)?.occurrence_id ?? '')?.source === 'retry';
  // A retry repeats the key of the run that it retries, and nothing else ever does.
  const shared = [...groupBy(arrivals, ({ key }) => key).values()].filter((calls) => {
    const own = [...new Set(calls.map(({ runId }) => runId))].filter((runId) => !isRetry(runId));
    return own.length > 1;
  });
  return [
    ...tell(
      'a call names a run or an attempt that there is not',
      arrivals.filter(({ runId, attempt }) => !(attemptsOf.get(runId) ?? []).some((one) => one.attempt === attempt)),
    ),
    ...tell(
      'the attempts of a run called under several keys',
      called.filter(({ id }) => keysOf(id).size > 1),
    ),
    ...tell('two slots called under one key', shared),
    ...tell(
      'an attempt called twice',
      [...groupBy(arrivals, ({ runId, attempt }) => `${runId} ${attempt}`).values()].filter(({ length }) => length > 1),
    ),
    ...tell(
      'a run succeeded whose call had no effect',
      called.filter(({ id, status }) => status === 'succeeded' && ![...keysOf(id)].some((key) => effects.has(key))),
    ),
  ];
}
