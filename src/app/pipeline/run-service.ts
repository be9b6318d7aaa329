import type { NewRun, RunRequest } from '../../domain/run.ts';
import type { Bell, Clock, Digest, Ids } from '../ports/outside.ts';
import type { RunStore } from '../ports/pipeline.ts';

/**
 * The only door to execution. Whatever asks for work makes a request; a request becomes a run here, with its key and the
 * hash of its payload, and nowhere else. The same key with the same payload is the same run.
 */
export interface RunService {
  /** Makes the run that a store method inserts together with the rows that asked for it. */
  prepare(request: RunRequest, now: number): NewRun;
  /** Prepares and stores a run that stands alone. */
  ingest(request: RunRequest): Promise<{ readonly runId: string; readonly created: boolean }>;
}

interface Needs {
  readonly store: Pick<RunStore, 'addRun'>;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly clock: Clock;
  readonly bell: Bell;
}

export function createRunService({ store, ids, digest, clock, bell }: Needs): RunService {
  const prepare = (request: RunRequest, now: number): NewRun => {
    const inputText = JSON.stringify(request.input);
    return {
      ...request,
      id: ids.next(),
      inputText,
      payloadHash: digest.of(`${request.lane ?? ''}\n${inputText}`),
      createdAt: now,
      readyAt: now + spread(digest, request),
    };
  };
  return {
    prepare,
    ingest: async (request) => {
      const result = await store.addRun(prepare(request, clock.now()));
      if (result.created) bell.ring('runner');
      return result;
    },
  };
}

/** A prime, so that texts that differ little fall far apart. */
const places = 1_000_003;

/** The same delay for the same request on every machine and at every try; different slots fall on different places. */
function spread(digest: Digest, { jitterMs = 0, idempotencyKey }: RunRequest): number {
  if (jitterMs === 0) return 0;
  let place = 0;
  for (const sign of digest.of(idempotencyKey)) place = (place * 31 + sign.charCodeAt(0)) % places;
  return Math.floor((place / places) * jitterMs);
}
