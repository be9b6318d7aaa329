import { onTestFinished } from 'vitest';
import { registry, type ActionEntry } from '../../src/app/actions/registry.ts';
import type { EngineName, Hints, Offer, WorkEngine } from '../../src/app/ports/hints.ts';
import type { Bell, LoopName } from '../../src/app/ports/outside.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { composeRooms, type Rooms, type RoomSettings } from '../../src/compose/assembly.ts';
import { createLoops } from '../../src/compose/loops.ts';
import type { Engine } from '../../src/store/engine/engine.ts';
import { migratePostgres } from '../../src/store/engine/migrate.ts';
import { postgresEngine, postgresPool } from '../../src/store/engine/postgres.ts';
import { sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { offer } from '../../src/store/engine/statements.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { openGraphile } from '../../src/store/jobs/graphile.ts';
import { createMemoryJobs } from '../../src/store/jobs/memory.ts';
import { createNotifyHints } from '../../src/store/jobs/notify.ts';
import { offering } from '../../src/store/jobs/offers.ts';
import { systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { createIds } from '../../src/system/ids.ts';
import {
  faultyTransport,
  memoryLog,
  promptExpressions,
  promptTemplates,
  type FaultyTransport,
  type MemoryLog,
} from './fakes.ts';
import { freshSqlite } from './fresh-sqlite.ts';
import { settings } from './pipeline.ts';
import { freshPostgres } from './postgres.ts';
import { rows } from './texts.ts';

/** One process of a place: its rooms, and its loops, which turn by themselves. */
export interface Worker {
  readonly id: string;
  readonly rooms: Rooms;
  readonly store: Store;
  readonly log: MemoryLog;
  readonly engine: WorkEngine;
  /** Lets its loops turn, and takes jobs. */
  start(): Promise<void>;
  /** As at a clean stop. */
  stop(): Promise<void>;
  /** As by kill -9: nothing that it has begun is ever heard of. */
  kill(): Promise<void>;
}

/** A database on which workers of one engine work, with one chat, and a clock that can be put forward. */
export interface Place {
  readonly chat: FaultyTransport;
  readonly clock: { now(): number };
  /** Puts the clock forward for everybody. */
  pass(ms: number): void;
  worker(options?: WorkerOptions): Promise<Worker>;
  /** Offers by itself, as a transaction would. */
  offer(ready: Offer): Promise<void>;
  query<R extends object>(text: string): Promise<R[]>;
  /** Jobs that nobody has completed. */
  jobs(): Promise<number>;
  /** As if they had never been added. */
  loseJobs(): Promise<void>;
}

export interface WorkerOptions {
  readonly settings?: Partial<RoomSettings>;
  readonly actions?: readonly ActionEntry[];
  /** Loops that turn here; all of them if nothing is said. */
  readonly loops?: readonly LoopName[];
}

export type OpenPlace = () => Promise<Place>;

/** A database as an engine uses it. */
interface Handing {
  readonly engine: Engine;
  /** Another connection to it, as another process has. */
  readonly open: (id: string, log: MemoryLog) => Promise<Opened>;
  readonly jobs: () => Promise<number>;
  readonly loseJobs: () => Promise<void>;
}

interface Opened {
  readonly engine: Engine;
  readonly workEngine?: (bell: Bell, bootId: string) => WorkEngine;
  readonly hints?: Hints;
  /** Closes what a process has open; what dies at once is cut without a word. */
  close(isDead: boolean): Promise<void>;
}

export function placesOf(name: EngineName): OpenPlace {
  return async () => placeOver(await { embedded, memory, graphile }[name]());
}

async function placeOver({ engine, open, jobs, loseJobs }: Handing): Promise<Place> {
  let ahead = 0;
  const clock = { now: () => Date.now() + ahead };
  const chat = faultyTransport();
  return {
    chat,
    clock,
    pass: (ms) => {
      ahead += ms;
    },
    offer: (ready) => engine.transact(() => offer(ready)),
    query: (text) => engine.read(() => rows(text)),
    jobs,
    loseJobs,
    worker: (options = {}) => workerOf({ open, clock, chat }, options),
  };
}

type Around = Pick<Handing, 'open'> & Pick<Place, 'clock' | 'chat'>;

async function workerOf({ open, clock, chat }: Around, options: WorkerOptions): Promise<Worker> {
  const log = memoryLog();
  const world = { clock, stopwatch: systemStopwatch, timer: systemTimer, ids: createIds(() => clock.now()), log };
  const id = world.ids.next();
  const opened = await open(id, log);
  const store = createStore(opened.engine);
  const wanted = { ...settings, ...options.settings };
  let engine: WorkEngine | null = null;
  const rooms = composeRooms(
    wanted,
    { ...world, ids: { ...world.ids, next: oneBefore(id, () => world.ids.next()) } },
    {
      store,
      transport: (budget) => chat.within(budget),
      templates: promptTemplates(),
      expressions: promptExpressions(),
      actions: options.actions ?? registry,
      ...(opened.hints === undefined ? {} : { hints: opened.hints }),
      ...(opened.workEngine === undefined
        ? {}
        : { workEngine: (bell, bootId) => (engine = opened.workEngine?.(bell, bootId) as WorkEngine) }),
    },
  );
  const loops = createLoops(wanted, { world, rooms }).filter(
    ({ name }) => options.loops?.includes(name as LoopName) ?? true,
  );
  let isOver = false;
  const end = async (isDead: boolean) => {
    if (isOver) return;
    isOver = true;
    if (!isDead) await rooms.jobs.stop();
    for (const loop of loops.toReversed()) await loop.stop();
    if (!isDead) {
      await rooms.runner.stop(1000);
      await rooms.deliverer.stop(1000);
    }
    await opened.close(isDead);
  };
  onTestFinished(() => end(false));
  return {
    id,
    rooms,
    store,
    log,
    engine: engine ?? ({ name: 'embedded', release: async () => undefined } as unknown as WorkEngine),
    start: async () => {
      for (const loop of loops) loop.start();
      await rooms.jobs.start();
    },
    stop: () => end(false),
    kill: () => end(true),
  };
}

/** The first id is that of the process. */
function oneBefore(first: string, next: () => string): () => string {
  let isFirst = true;
  return () => {
    if (!isFirst) return next();
    isFirst = false;
    return first;
  };
}

async function embedded(): Promise<Handing> {
  const engine = sqliteEngine(await freshSqlite());
  return {
    engine,
    open: async () => ({ engine, close: async () => undefined }),
    jobs: async () => 0,
    loseJobs: async () => undefined,
  };
}

async function memory(): Promise<Handing> {
  const jobs = createMemoryJobs(systemTimer);
  const engine = offering(sqliteEngine(await freshSqlite()), jobs);
  return {
    engine,
    open: async (id) => ({
      engine,
      workEngine: (bell) => jobs.engineOf(id, bell),
      close: async () => undefined,
    }),
    jobs: async () => jobs.count(),
    loseJobs: async () => jobs.lose(),
  };
}

async function graphile(): Promise<Handing> {
  const database = await freshPostgres();
  onTestFinished(() => database.drop());
  const pool = postgresPool(database.url);
  onTestFinished(() => pool.end());
  const client = await pool.connect();
  await migratePostgres(client, 0).finally(() => client.release());
  const beside = await openHints(database.url, 'beside', memoryLog());
  const jobs = await openGraphile({ url: database.url, hints: beside, timer: systemTimer, log: memoryLog() });
  onTestFinished(() => jobs.close());
  const engine = offering(postgresEngine(pool), jobs);
  const query = <R extends object>(text: string) => engine.transact(() => rows<R>(text));
  return {
    engine,
    open: async (id, log) => {
      const hints = await openHints(database.url, id, log);
      const own = await openGraphile({ url: database.url, hints, timer: systemTimer, log });
      const connections = postgresPool(database.url);
      return {
        engine: offering(postgresEngine(connections), own),
        hints,
        workEngine: (bell) =>
          own.engineOf({
            processId: id,
            bell,
            turns: () => true,
            onEnd: (error) => log.error('engine_ended', { error: error.message }),
          }),
        close: async (isDead) => {
          if (isDead) {
            // Nothing of a dead process connects again.
            own.close().catch(() => undefined);
            connections.end().catch(() => undefined);
            own.drop();
            connections.drop();
            return;
          }
          await own.close();
          await connections.end();
        },
      };
    },
    jobs: async () =>
      (await query<{ n: number }>('select count(*)::bigint as n from graphile_worker._private_jobs'))[0]?.n ?? 0,
    loseJobs: async () => void (await query('delete from graphile_worker._private_jobs')),
  };
}

async function openHints(url: string, processId: string, log: MemoryLog) {
  const hints = createNotifyHints({ url, processId, timer: systemTimer, log });
  await hints.open();
  onTestFinished(() => hints.close());
  return hints;
}
