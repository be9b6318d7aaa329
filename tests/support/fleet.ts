import { onTestFinished } from 'vitest';
import type { Transport } from '../../src/app/ports/outside.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { composeRooms, type Rooms, type RoomSettings } from '../../src/compose/assembly.ts';
import { everyKind } from '../../src/domain/processes/process.ts';
import { systemClock, systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { countingIds, manualTime, memoryLog, promptTemplates, type ManualTime, type MemoryLog } from './fakes.ts';
import { settings } from './pipeline.ts';
import type { World } from './store-worlds.ts';

/** One of several processes over one database: its rooms are stepped by hand, and all of them have one clock. */
export interface Member {
  readonly id: string;
  readonly store: Store;
  readonly rooms: Rooms;
  readonly log: MemoryLog;
  /** From now on it does nothing any more, and its lease is over. */
  die(): Promise<void>;
  readonly isAlive: () => boolean;
}

export interface FleetOptions {
  readonly settings?: Partial<RoomSettings>;
  readonly transport: (member: number) => Transport;
  readonly time?: ManualTime;
  /** Parts that a process claims in one step; fewer than there is room for leave some to the others. */
  readonly atOnce?: number;
  /** The store as the rooms of a process have it. */
  readonly storeOf?: (store: Store, member: number) => Store;
}

let members = 0;

/** Leases run in real time, whatever the clock by hand says. */
const sharing = { wall: systemClock, stopwatch: systemStopwatch, timer: systemTimer, onTime: () => {} };
const own = { role: 'all', release: '1.0.0', host: 'here', pid: 1, takes: everyKind, sharing } as const;

export interface Fleet {
  readonly time: ManualTime;
  readonly members: Member[];
  readonly atOnce: number;
  /** One more process over the same database. */
  join(): Promise<Member>;
}

export async function aFleet(world: World, count: number, options: FleetOptions): Promise<Fleet> {
  const time = options.time ?? manualTime(Date.UTC(2026, 10, 18, 9));
  const fleet: Fleet = {
    time,
    members: [],
    atOnce: options.atOnce ?? 100,
    join: async () => {
      const index = fleet.members.length;
      const member = await memberOf(world, time, { ...options, index });
      fleet.members.push(member);
      return member;
    },
  };
  for (let index = 0; index < count; index += 1) await fleet.join();
  return fleet;
}

async function memberOf(
  world: World,
  time: ManualTime,
  options: FleetOptions & { readonly index: number },
): Promise<Member> {
  const { storeOf = (store: Store) => store } = options;
  const store = storeOf(world.another(), options.index);
  const log = memoryLog();
  const ids = countingIds(`m${String((members += 1)).padStart(3, '0')}`);
  const rooms = composeRooms(
    { ...settings, ...options.settings },
    { clock: time, stopwatch: time, timer: time, ids, log },
    { store, transport: () => options.transport(options.index), templates: promptTemplates(), process: own },
  );
  const { id } = rooms.worker;
  await rooms.processes.begun();
  let isAlive = true;
  onTestFinished(async () => {
    if (isAlive) await rooms.processes.end();
  });
  return {
    id,
    store,
    rooms,
    log,
    isAlive: () => isAlive,
    die: async () => {
      isAlive = false;
      await world.store.retire(id, null);
    },
  };
}

/** Steps all of them, side by side, until none of them has anything left to do at this instant. */
async function settle({ members: all, time, atOnce }: Fleet): Promise<void> {
  for (let idle = 0; idle < 2;) {
    const counts = await Promise.all(
      all
        .filter((one) => one.isAlive())
        .map(async ({ rooms }) => {
          const { taken, more } = await rooms.deliverer.step(time.now(), atOnce);
          await rooms.deliverer.idle();
          return taken + (more ? 1 : 0);
        }),
    );
    idle = counts.some((taken) => taken > 0) ? 0 : idle + 1;
  }
}

/** Lets time pass from one thing to do to the next, until it is done; answers how long that took. */
export async function untilDone(
  fleet: Fleet,
  isDone: () => boolean | Promise<boolean>,
  maxMs: number,
): Promise<number> {
  const { time } = fleet;
  const from = time.elapsed();
  await settle(fleet);
  while (!(await isDone())) {
    if (time.elapsed() - from > maxMs) throw new Error('it is never done');
    const nexts = await Promise.all(
      fleet.members.filter((one) => one.isAlive()).map(({ rooms }) => rooms.deliverer.nextAt(time.now())),
    );
    const known = nexts.filter((at) => at !== null);
    const waitMs = known.length === 0 ? 1000 : Math.max(Math.min(...known) - time.now(), 1);
    await time.advance(Math.min(waitMs, 1000));
    await settle(fleet);
  }
  return time.elapsed() - from;
}
