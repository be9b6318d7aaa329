import type { Clock, Log } from '../ports/outside.ts';
import type { UpkeepStore } from '../ports/pipeline.ts';
import type { Scheduler } from './scheduler.ts';

interface Needs {
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
export async function followZoneRules({ store, scheduler, clock, log, version, batchMax }: Needs): Promise<void> {
  const known = await store.readNote(note);
  if (known === version) return;
  if (known !== null) {
    const moved = await scheduler.replan(clock.now(), batchMax);
    log.warn('zone_rules_changed', { from: known, to: version, moved });
  }
  await store.writeNote(note, version, clock.now());
}
