import { libraries } from '../app/housekeeping/second-opinion.ts';
import { createGauges } from '../app/operations/gauges.ts';
import type { Ready } from '../app/operations/readiness.ts';
import type { Meter } from '../app/ports/metering.ts';
import type { Backups } from '../app/ports/outside.ts';
import type { Store } from '../app/ports/store.ts';
import type { Config } from '../config/config.ts';
import type { PageOfMetrics } from '../http/app.ts';
import type { Opened } from '../store/engine/open.ts';
import type { Loop } from '../system/loop.ts';
import type { PrometheusMeter } from '../system/meter.ts';
import type { Pool } from '../system/pool/pool.ts';
import type { Rooms, World } from './assembly.ts';

/** Measures of a server, and their values at its start. */

interface Measured {
  readonly config: Pick<Config, 'RETENTION_DAYS' | 'BACKUP_KEEP'>;
  readonly world: World;
  readonly store: Store;
  readonly loops: readonly Loop[];
  readonly version: string;
  readonly meter: PrometheusMeter;
  readonly rooms: Pick<Rooms, 'processes' | 'kindPauses'>;
  readonly opened: Pick<Opened, 'backups' | 'connections' | 'work'>;
  readonly pool: Pick<Pool, 'jobs'>;
}

/** The page of metrics: counters, and gauges as they stand when the page is read. */
export function metricsPage(
  { config, world, meter, opened, ...made }: Measured,
  ready: () => Promise<Ready>,
): PageOfMetrics {
  const look = createGauges({
    ...world,
    ...made,
    ...made.rooms,
    jobsWaiting: opened.work?.jobsWaiting ?? null,
    ready,
    connections: opened.connections,
    poolJobs: made.pool.jobs,
    retentionDays: config.RETENTION_DAYS,
    makesBackups: opened.backups !== null && config.BACKUP_KEEP > 0,
    build: { version: made.version, node: process.versions.node },
  });
  return { contentType: meter.contentType, page: async () => meter.page(await look()) };
}

/** Counters that alerts look at stand at zero from the start, because a series that begins above zero shows no rise. */
export function startAtZero(meter: Meter, loops: readonly Loop[]): void {
  for (const { name } of loops) meter.count('loop_failures_total', { loop: name }, 0);
  for (const room of ['runner', 'deliverer']) meter.count('rescues_total', { room }, 0);
  for (const schedule of Object.keys(libraries))
    meter.count('second_opinions_total', { schedule, result: 'differs' }, 0);
  for (const result of ['made', 'failed']) meter.count('backups_total', { result }, 0);
  for (const status of ['delivered', 'failed']) meter.count('deliveries_total', { kind: 'result', status }, 0);
  for (const status of ['succeeded', 'failed']) meter.count('runs_total', { action: 'message', status }, 0);
  meter.count('clock_set_backs_total', {}, 0);
  meter.count('processes_lost_total', {}, 0);
  meter.count('pool_children_started_total', {}, 0);
  for (const reason of ['late', 'died', 'lost']) meter.count('pool_children_ended_total', { reason }, 0);
  for (const reason of ['away', 'spent']) meter.count('pool_refusals_total', { reason }, 0);
  meter.count('attempts_total', { number: '1', status: 'interrupted' }, 0);
  meter.count('telegram_calls_total', { method: 'sendMessage', result: 'rate_limited' }, 0);
}

export function countedBackups(backups: Backups | null, meter: Meter): Backups | null {
  if (backups === null) return null;
  return {
    ...backups,
    make: async (now) => {
      try {
        const made = await backups.make(now);
        meter.count('backups_total', { result: 'made' });
        return made;
      } catch (error) {
        meter.count('backups_total', { result: 'failed' });
        throw error;
      }
    },
  };
}
