import type { HeartbeatPing } from '../app/operations/readiness.ts';
import type { Timer } from '../app/ports/outside.ts';
import { faultCodeOf } from '../domain/errors.ts';
import { heartbeatWaitMs } from '../domain/limits.ts';

interface HeartbeatPingDeps {
  /** A secret: whoever knows it can pretend that all is well. */
  readonly url: string;
  readonly timer: Timer;
}

/**
 * Asks an address and looks at the status alone. It is one that the operator chose, so it may lie in a private network; a
 * redirection is not followed, because the operator did not choose where it leads.
 */
export function createHeartbeatPing({ url, timer }: HeartbeatPingDeps): HeartbeatPing {
  return async () => {
    const controller = new AbortController();
    const callOff = timer.after(heartbeatWaitMs, () => controller.abort());
    try {
      const answer = await fetch(url, { redirect: 'manual', signal: controller.signal });
      // The body is of no interest, and unread it would hold the connection.
      await answer.body?.cancel();
      return answer.ok ? null : `status ${answer.status}`;
    } catch (error) {
      if (controller.signal.aborted) return `no answer within ${heartbeatWaitMs / 1000} s`;
      // The code alone: a message may hold the address.
      return faultCodeOf(error) || 'the connection failed';
    } finally {
      callOff();
    }
  };
}
