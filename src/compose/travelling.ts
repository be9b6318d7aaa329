import { createIds } from '../system/ids.ts';
import { createTravelTime, type TravelTime } from '../system/travel-time.ts';
import type { Loop } from '../system/loop.ts';
import type { Store } from '../app/ports/tasks.ts';
import type { Rooms, World } from './assembly.ts';
import type { Wire } from './chat.ts';
import type { TelegramIn } from './conversation.ts';
import type { Travel } from '../sandbox/world/travel.ts';
import { createTravel } from './travel.ts';

export function timeOf({ clock, stopwatch, timer }: World): TravelTime {
  return createTravelTime({
    now: () => clock.now(),
    elapsed: () => stopwatch.elapsed(),
    after: (ms, call) => timer.after(ms, call),
    yield: () => timer.yield(),
  });
}

/** Everything that asks for the time gets the one that can be moved; ids count up with it. */
export function travelling(world: World, time: TravelTime): World {
  return { ...world, clock: time, stopwatch: time, timer: time, ids: createIds(() => time.now()) };
}

const skippedNote = 'sandbox_skipped_ms';

/** The clock never goes back, also over a restart: what was skipped before is skipped again. */
export async function skippedBefore(store: Pick<Store, 'readNote'>): Promise<number> {
  return Number((await store.readNote(skippedNote)) ?? 0);
}

interface Travelling {
  readonly time: TravelTime;
  readonly loops: readonly Loop[];
  readonly rooms: Rooms;
  readonly conversation: TelegramIn;
  readonly wire: Wire;
  readonly store: Store;
}

export function travelOf({ time, loops, rooms, conversation, wire, store }: Travelling): Travel {
  // A chore is due every half minute; it is done when the clock stands, and nobody watches it in between.
  const visited = loops.filter(({ name }) => name !== 'housekeeper');
  const asked = [rooms.scheduler, rooms.runner, rooms.deliverer, rooms.nagging];
  return createTravel({
    time,
    busy: [
      ...visited.map(({ isAsleep }) => ({ isAtRest: isAsleep })),
      { isAtRest: () => wire.sandbox?.world.hasOpenUpdates() !== true },
    ],
    idle: async () => {
      await conversation.idle();
      await rooms.runner.idle();
      await rooms.deliverer.idle();
    },
    nextAt: async (now) => earliest(await Promise.all(asked.map((room) => room.nextAt(now)))),
    nextSlotAt: (now) => rooms.scheduler.nextAt(now),
    ring: () => {
      for (const loop of loops) loop.ring();
    },
    remember: (skippedMs) => store.writeNote(skippedNote, String(skippedMs), time.now()),
  });
}

function earliest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((at): at is number => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}
