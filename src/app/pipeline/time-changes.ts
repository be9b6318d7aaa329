import { clockStepMs } from '../../domain/limits.ts';
import type { Clock, Log, Stopwatch } from '../ports/outside.ts';
import type { Scheduler } from './scheduler.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';

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

interface ZoneRulesNeeds {
  readonly store: Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  readonly scheduler: Pick<Scheduler, 'replan'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The version of the rules of time that this process calculates with. */
  readonly version: string;
  readonly batchMax: number;
}

const note = 'tz_version';

/**
 * Governments change the rules of time. When the process brings other rules than the ones the next slots were computed
 * with, they are computed again before anything runs.
 */
export async function followZoneRules({
  store,
  scheduler,
  clock,
  log,
  version,
  batchMax,
}: ZoneRulesNeeds): Promise<void> {
  const known = await store.readNote(note);
  if (known === version) return;
  if (known !== null) {
    const moved = await scheduler.replan(clock.now(), batchMax);
    log.warn('zone_rules_changed', { from: known, to: version, moved });
  }
  await store.writeNote(note, version, clock.now());
}
