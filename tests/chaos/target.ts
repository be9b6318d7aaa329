import type { Egress, Outbound, OutboundEnd, OutboundRequest } from '../../src/app/ports/outbound.ts';
import type { Timer } from '../../src/app/ports/outside.ts';
import type { Arrival, Witness } from '../invariants/calls.ts';
import type { Chance } from '../support/chance.ts';

export const targetHost = 'target.example.com';

/** A target outside, which repeats the text that comes, does what is asked for once for each key, and answers as the line to it allows. */
export interface Target extends Witness {
  readonly outbound: Outbound & Egress;
  /** From now on every call arrives, and every answer does. */
  mend(): void;
}

/** The share of calls that something befalls. */
const troubleRate = 0.35;
const slowestMs = 8000;
const troubles = ['unreached', 'lost', 'busy', 'limited', 'broken', 'hanging', 'endless'] as const;

export function openTarget({ time, chance }: { readonly time: Timer; readonly chance: Chance }): Target {
  let rate = troubleRate;
  const arrivals: Arrival[] = [];
  const effects = new Set<string>();
  const wait = (ms: number) => new Promise<void>((resolve) => void time.after(ms, resolve));

  const arrive = ({ headers, body }: OutboundRequest): void => {
    const key = headers['idempotency-key'] ?? '';
    const { run_id: runId, attempt } = JSON.parse(String(body)) as { run_id: string; attempt: number };
    arrivals.push({ key, runId, attempt });
    effects.add(key);
  };

  const serve = async (request: OutboundRequest): Promise<OutboundEnd> => {
    const trouble = chance.is(rate) ? chance.pick(troubles) : null;
    await wait(chance.is(0.5) ? 0 : chance.between(1, slowestMs));
    if (trouble === 'unreached') return { is: 'failed', type: 'NETWORK', error: 'The target was not reached.' };
    if (trouble === 'busy') return answered(request, 503);
    if (trouble === 'limited') return answered(request, 429, { 'retry-after': '5' });
    arrive(request);
    // Only the timeout of the attempt, or its end, ends the wait.
    if (trouble === 'hanging') return calledOff(request.signal);
    if (trouble === 'endless')
      return { is: 'failed', type: 'NETWORK', error: 'The answer has more bytes than are read.', isFinal: true };
    if (trouble === 'lost') return { is: 'failed', type: 'NETWORK', error: 'The answer was lost.' };
    // The deed was done, and the answer says that it was not.
    return answered(request, trouble === 'broken' ? 500 : 200);
  };

  return {
    arrivals,
    effects,
    mend: () => {
      rate = 0;
    },
    outbound: {
      judge: () => ({ is: 'open', host: targetHost }),
      call: (request) => Promise.race([serve(request), calledOff(request.signal)]),
    },
  };
}

function answered({ url, body }: OutboundRequest, status: number, more: Record<string, string> = {}): OutboundEnd {
  const { payload } = JSON.parse(String(body)) as { payload: { text: string } };
  const headers = { 'content-type': 'text/plain; charset=utf-8', ...more };
  return { is: 'answered', status, headers, url, body: new TextEncoder().encode(payload.text) };
}

/** A call that was called off may arrive all the same. */
function calledOff(signal: AbortSignal): Promise<OutboundEnd> {
  const end: OutboundEnd = { is: 'failed', type: 'NETWORK', error: 'The call was called off.' };
  return new Promise((resolve) => {
    if (signal.aborted) resolve(end);
    signal.addEventListener('abort', () => resolve(end));
  });
}
