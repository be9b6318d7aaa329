import { clockStepMs } from '../../domain/limits.ts';
import type { Clock, Log, Stopwatch } from '../ports/outside.ts';
import type { UpkeepStore } from '../ports/pipeline.ts';

/**
 * Notices a wall clock that was set back, by comparing it with the monotonic one. Slots need nothing: the clock comes to
 * them again. But pauses that were computed from "now" would grow by the step, so they are moved along with it.
 */
export interface ClockWatch {
  check(): Promise<void>;
}

interface Needs {
  readonly store: Pick<UpkeepStore, 'shiftClock'>;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly log: Log;
}

export function createClockWatch({ store, clock, stopwatch, log }: Needs): ClockWatch {
  let wall = clock.now();
  let elapsed = stopwatch.elapsed();
  return {
    check: async () => {
      const nowWall = clock.now();
      const nowElapsed = stopwatch.elapsed();
      const stepMs = Math.round(nowWall - wall - (nowElapsed - elapsed));
      if (Math.abs(stepMs) > clockStepMs) log.warn('clock_was_set', { step_ms: stepMs });
      if (stepMs < -clockStepMs) await store.shiftClock(stepMs);
      wall = nowWall;
      elapsed = nowElapsed;
    },
  };
}
