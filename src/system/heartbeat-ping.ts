import type { HeartbeatPing } from '../app/operations/readiness.ts';
import type { TrustedOutbound } from '../app/ports/outbound.ts';
import { heartbeatWaitMs } from '../domain/limits.ts';

interface HeartbeatPingDeps {
  /** A secret: whoever knows it can pretend that all is well. */
  readonly url: string;
  readonly outbound: TrustedOutbound;
}

/** Watchers answer a word. */
const bodyBytesMax = 1_048_576;

/**
 * Asks an address and looks at the status alone. It is one that the operator chose, so it may lie in a private network; a
 * redirection is not followed, because the operator did not choose where it leads.
 */
export function createHeartbeatPing({ url, outbound }: HeartbeatPingDeps): HeartbeatPing {
  const request = {
    method: 'GET',
    url,
    headers: {},
    body: null,
    narrowedTo: null,
    timeoutMs: heartbeatWaitMs,
    bodyBytesMax,
  };
  return async () => {
    const end = await outbound.callTrusted({ ...request, signal: new AbortController().signal }, false);
    // It names the host and no more of the address.
    if (end.is !== 'answered') return end.error;
    return end.status >= 200 && end.status < 300 ? null : `status ${end.status}`;
  };
}
