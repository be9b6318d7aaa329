import { retryPauseMaxMs } from './limits.ts';
import { retryDelayMs, type Retry } from './policy.ts';

/** How an attempt came to its end. */
export type AttemptOutcome =
  | { readonly is: 'done' }
  | { readonly is: 'retry'; readonly error: string; readonly afterMs?: number | undefined }
  | { readonly is: 'giveUp'; readonly error: string }
  | { readonly is: 'timedOut' }
  | { readonly is: 'cancelled' };

export interface AttemptScene {
  /** Attempts that used the retry budget, this one included; interrupted ones did not. */
  readonly used: number;
  readonly retry: Retry;
  readonly repeatable: boolean;
  readonly timeoutMs: number;
  readonly now: number;
  /** In [0, 1): spreads the pause. */
  readonly chance: number;
}

export interface Conclusion {
  readonly attempt: 'succeeded' | 'failed' | 'timed_out' | 'cancelled';
  readonly run: 'succeeded' | 'failed' | 'cancelled' | 'backoff';
  readonly readyAt: number | null;
  readonly error: string | null;
}

/** What an ended attempt means for its run. */
export function conclude(outcome: AttemptOutcome, scene: AttemptScene): Conclusion {
  switch (outcome.is) {
    case 'done':
      return { attempt: 'succeeded', run: 'succeeded', readyAt: null, error: null };
    case 'cancelled':
      return { attempt: 'cancelled', run: 'cancelled', readyAt: null, error: 'cancelled' };
    case 'giveUp':
      return { attempt: 'failed', run: 'failed', readyAt: null, error: outcome.error };
    case 'retry':
      return again('failed', outcome, scene);
    case 'timedOut': {
      const error = `no answer within ${scene.timeoutMs / 1000} s`;
      // Nobody knows how far it came, so only what does no harm when done twice is tried again.
      if (scene.repeatable) return again('timed_out', { error }, scene);
      return { attempt: 'timed_out', run: 'failed', readyAt: null, error: `${error}, effects unknown` };
    }
  }
}

function again(
  attempt: 'failed' | 'timed_out',
  { error, afterMs = 0 }: { readonly error: string; readonly afterMs?: number | undefined },
  scene: AttemptScene,
): Conclusion {
  if (scene.used >= scene.retry.attempts) return { attempt, run: 'failed', readyAt: null, error };
  // Whoever was called may ask for patience, but for no more than a policy may.
  const asked = Math.min(afterMs, retryPauseMaxMs);
  const pause = Math.max(asked, retryDelayMs(scene.retry, scene.used, scene.chance));
  return { attempt, run: 'backoff', readyAt: scene.now + pause, error };
}
