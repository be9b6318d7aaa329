import { createKnock } from '../system/knock.ts';
import { createHeartbeat, type Heartbeat } from '../app/operations/heartbeat.ts';
import type { Meter } from '../app/ports/meter.ts';
import type { Ready } from '../app/operations/readiness.ts';
import type { World } from './assembly.ts';
import type { Config } from '../config.ts';

interface Needs {
  readonly world: World;
  readonly meter: Meter;
  readonly ready: () => Promise<Ready>;
}

/** Null where no watcher is to be told. Its minutes are real ones, whatever the clock of a sandbox says. */
export function openHeartbeat({ HEARTBEAT_URL: url }: Pick<Config, 'HEARTBEAT_URL'>, needs: Needs): Heartbeat | null {
  if (url === undefined) return null;
  const { timer, log } = needs.world;
  return createHeartbeat({ knock: createKnock({ url, timer }), ready: needs.ready, timer, log, meter: needs.meter });
}
