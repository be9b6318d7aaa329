import type { Log } from '../ports/outside.ts';

/**
 * Lines about one run and what it brought, all of which bear the same trace id: the one of the request that asked for it,
 * or the run's own. What somebody asked for is told at once; what schedules ask for is too much for every day, and is told
 * to whoever looks closely.
 */
export interface Traced {
  readonly runId: string | null;
  readonly traceId: string | null;
}

type Event = 'run_started' | 'run_ended' | 'delivery_status';

export function tellTraced(log: Log, event: Event, facts: Traced & Readonly<Record<string, unknown>>): void {
  const { runId, traceId, ...rest } = facts;
  const told = { run_id: runId, trace_id: traceId ?? runId, ...rest };
  if (traceId === null) log.debug(event, told);
  else log.info(event, told);
}
