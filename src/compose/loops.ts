import { type Ready, createHeartbeat, type Heartbeat } from '../app/operations/readiness.ts';
import { createClockWatch } from '../app/pipeline/scheduler.ts';
import { silentMeter, type Meter } from '../app/ports/metering.ts';
import type { Room } from '../app/ports/outside.ts';
import type { Store } from '../app/ports/store.ts';
import type { Config } from '../config/config.ts';
import { createKnock } from '../system/knock.ts';
import { createLoop, type Loop, type Work } from '../system/loop.ts';
import { endsPerClaim, type Rooms, type World } from './assembly.ts';

interface Parts {
  readonly world: World;
  readonly rooms: Rooms;
  readonly store: Store;
  /** Absent where nobody measures. */
  readonly meter?: Meter;
}

/** In the order in which they start: whoever takes work over is there before whoever hands it on; who tidies up comes last. */
export function createLoops(
  config: Pick<Config, 'BATCH_SIZE'>,
  { world, rooms, store, meter = silentMeter }: Parts,
): readonly Loop[] {
  const watch = createClockWatch({ ...world, store });
  const works: readonly (Work & { readonly name: Room })[] = [
    {
      name: 'deliverer',
      step: (now, limit) => rooms.deliverer.step(now, limit),
      nextAt: (now) => rooms.deliverer.nextAt(now),
    },
    { name: 'runner', step: (now, limit) => rooms.runner.step(now, limit), nextAt: (now) => rooms.runner.nextAt(now) },
    {
      name: 'scheduler',
      step: async (now, limit) => {
        await watch.check();
        return rooms.scheduler.step(now, limit);
      },
      nextAt: (now) => rooms.scheduler.nextAt(now),
    },
    { name: 'acks', step: (now, limit) => rooms.nagging.step(now, limit), nextAt: (now) => rooms.nagging.nextAt(now) },
    rooms.housekeeper,
  ];
  return works.map((work) => {
    const share = work.name === 'runner' || work.name === 'deliverer' ? endsPerClaim : 1;
    const loop = createLoop(counted(work, meter), { ...world, batchMax: config.BATCH_SIZE * share });
    rooms.connect(work.name, () => loop.ring());
    return loop;
  });
}

/** Counts the steps that failed; the loop goes on by itself. */
function counted(work: Work, meter: Meter): Work {
  const counting = async <T>(done: Promise<T>): Promise<T> => {
    try {
      return await done;
    } catch (error) {
      meter.count('loop_failures_total', { loop: work.name });
      throw error;
    }
  };
  return {
    name: work.name,
    step: (now, limit) => counting(work.step(now, limit)),
    nextAt: (now) => counting(work.nextAt(now)),
  };
}

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
