import type { Database } from 'better-sqlite3';
import { followZoneRules } from '../../src/app/pipeline/scheduler.ts';
import type { Ids } from '../../src/app/ports/outside.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { composeRooms, type Rooms, type RoomSettings } from '../../src/compose/assembly.ts';
import { sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { createStore } from '../../src/store/engine/store.ts';
import type { Chance } from '../support/chance.ts';
import { memoryLog, type ManualTime, type MemoryLog } from '../support/fakes.ts';
import type { Chat } from './chat.ts';
import {
  fateOf,
  faultyEngine,
  mortalOutbound,
  mortalTimer,
  mortalTransport,
  type Fate,
  type StoreFault,
} from './faults.ts';
import type { Siege } from './siege.ts';
import type { Target } from './target.ts';

/** One process: from its start on the database to its death. Nothing of it survives but rows, and what it has sent. */
export interface Life {
  readonly bootId: string;
  readonly fate: Fate;
  readonly log: MemoryLog;
  readonly rooms: Rooms;
  readonly store: Store;
  /** What happens before the loops turn. */
  start(zoneRules: string): Promise<void>;
  /** The scheduler's turn: it looks at the clock first. */
  schedule(now: number): Promise<number>;
  run(now: number): Promise<number>;
  deliver(now: number): Promise<number>;
  remind(now: number): Promise<number>;
  tidyUp(now: number): Promise<number>;
}

export interface Outside {
  readonly database: Database;
  readonly time: ManualTime;
  readonly chat: Chat;
  readonly target: Target;
  readonly ids: Ids;
  readonly chance: Chance;
  readonly siege: Siege<StoreFault>;
  readonly settings: RoomSettings;
}

export function beginLife({ database, time, chat, target, ids, chance, siege, settings }: Outside): Life {
  const fate = fateOf(chance);
  const log = memoryLog();
  const store = createStore(faultyEngine(sqliteEngine(database), { fate, chance, siege }));
  const timer = mortalTimer(time, fate);
  const transport = mortalTransport(chat.transport, fate);
  const outbound = mortalOutbound(target.outbound, fate);
  const given: string[] = [];
  const noted: Ids = {
    next: () => {
      const id = ids.next();
      if (given.length === 0) given.push(id);
      return id;
    },
    chance: () => ids.chance(),
  };
  const world = { clock: time, stopwatch: time, timer, ids: noted, log };
  // The first id that the rooms ask for is the one of the boot.
  const rooms = composeRooms(settings, world, { store, transport: () => transport, outbound });
  const limit = settings.BATCH_SIZE;
  return {
    bootId: given[0] ?? '',
    fate,
    log,
    rooms,
    store,
    start: async (version) => {
      const { scheduler, downtimes } = rooms;
      await followZoneRules({ store, scheduler, clock: time, log, version, batchMax: limit });
      await downtimes.open();
    },
    schedule: async (now) => {
      const hasMore = await rooms.clockWatch.check(limit);
      return (await rooms.scheduler.step(now, limit)).taken + Number(hasMore);
    },
    run: async (now) => (await rooms.runner.step(now, 2 * limit)).taken,
    remind: async (now) => (await rooms.nagging.step(now, limit)).taken,
    deliver: async (now) => (await rooms.deliverer.step(now, 2 * limit)).taken,
    tidyUp: async (now) => (await rooms.housekeeper.step(now, limit)).taken,
  };
}
