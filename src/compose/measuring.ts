import type { PrometheusMeter } from '../system/meter.ts';
import type { Opened } from '../store/engine/open.ts';
import type { Loop } from '../system/loop.ts';
import { createGauges } from '../app/operations/gauges.ts';
import type { Meter } from '../app/ports/metering.ts';
import type { Backups } from '../app/ports/outside.ts';
import { libraries } from '../app/ports/second-opinion.ts';
import type { Ready } from '../app/operations/readiness.ts';
import type { World } from './assembly.ts';
import type { Config } from '../config.ts';
import type { Store } from '../app/ports/store.ts';
import type { PageOfMetrics } from '../http/app.ts';

interface Measured {
  readonly meter: PrometheusMeter;
  readonly world: World;
  readonly store: Store;
  readonly opened: Pick<Opened, 'backups' | 'connections'>;
  readonly loops: readonly Loop[];
  readonly ready: () => Promise<Ready>;
  readonly version: string;
}

/** The page of metrics: what was counted, and how things stand when somebody looks. */
export function metricsPage(
  config: Config,
  { meter, world, store, opened, loops, ready, version }: Measured,
): PageOfMetrics {
  const look = createGauges({
    ...world,
    store,
    loops,
    ready,
    connections: opened.connections,
    retentionDays: config.RETENTION_DAYS,
    makesBackups: opened.backups !== null && config.BACKUP_KEEP > 0,
    build: { version, node: process.versions.node },
  });
  return { contentType: meter.contentType, page: async () => meter.page(await look()) };
}

/** A rise from nothing is no rise to whoever reads: what an alert looks at stands there from the start. */
export function startAtZero(meter: Meter, loops: readonly Loop[]): void {
  for (const { name } of loops) meter.count('loop_failures_total', { loop: name }, 0);
  for (const room of ['runner', 'deliverer']) meter.count('rescues_total', { room }, 0);
  for (const schedule of Object.keys(libraries))
    meter.count('second_opinions_total', { schedule, result: 'differs' }, 0);
  for (const result of ['made', 'failed']) meter.count('backups_total', { result }, 0);
  for (const status of ['delivered', 'failed']) meter.count('deliveries_total', { kind: 'result', status }, 0);
  for (const status of ['succeeded', 'failed']) meter.count('runs_total', { action: 'message', status }, 0);
  meter.count('attempts_total', { number: '1', status: 'interrupted' }, 0);
  meter.count('telegram_calls_total', { method: 'sendMessage', result: 'rate_limited' }, 0);
}

export function countedBackups(backups: Backups | null, meter: Meter): Backups | null {
  if (backups === null) return null;
  return {
    prune: (keep) => backups.prune(keep),
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
