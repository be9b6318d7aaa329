import { lookEveryMs, lookingSeldom } from '../app/jobs/looks.ts';
import { type Meter, silentMeter } from '../app/ports/metering.ts';
import type { LoopName } from '../app/ports/outside.ts';
import type { Config } from '../config/config.ts';
import { type Loop, createLoop, type Work } from '../system/loop.ts';
import { endsPerClaim, type Rooms, type World } from './assembly.ts';

interface LoopsDeps {
  readonly world: World;
  readonly rooms: Rooms;
  /** Absent where nothing is measured. */
  readonly meter?: Meter;
}

/** Loops in the order in which they start: each one before those that hand work to it; the housekeeper comes last. */
export function createLoops(
  config: Pick<Config, 'BATCH_SIZE'>,
  { world, rooms, meter = silentMeter }: LoopsDeps,
): readonly Loop[] {
  // The renewals of a process that shares its database look for all of its loops.
  const own = <W extends Work>(work: W): W & Looking =>
    rooms.processes.isAlone ? work : lookingSeldom(work, lookEveryMs(rooms.processes));
  const scheduler = own({ name: 'scheduler' as const, ...rooms.scheduler });
  const works: readonly (Work & Looking & { readonly name: LoopName })[] = [
    { name: 'deliverer', ...rooms.deliverer },
    { name: 'runner', ...rooms.runner },
    {
      ...scheduler,
      step: async (now, limit) => {
        const hasMore = await rooms.clockWatch.check(limit);
        const made = await scheduler.step(now, limit);
        return { ...made, more: made.more || hasMore };
      },
    },
    own({ name: 'acks' as const, ...rooms.nagging }),
    rooms.housekeeper,
  ];
  return works.map((work) => {
    const share = work.name === 'runner' || work.name === 'deliverer' ? endsPerClaim : 1;
    const loop = createLoop(counted(work, meter), { ...world, batchMax: config.BATCH_SIZE * share });
    const ring = () => {
      work.rung?.();
      loop.ring();
    };
    rooms.connect(work.name, ring);
    return {
      ...loop,
      ring,
      turn: async () => {
        work.rung?.();
        work.look?.();
        return loop.turn();
      },
    };
  });
}

interface Looking {
  /** Somebody rings, so that the next step has something to look for. */
  readonly rung?: () => void;
  /** The next step looks for what no job has named. */
  readonly look?: () => void;
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
