import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { createHttpApp } from './adapters/http/app.ts';
import { serveHttp, type Listening } from './adapters/http/server.ts';
import { consoleSink } from './adapters/outbound/console-sink.ts';
import { createTemplates } from './adapters/outbound/templates.ts';
import { databaseFile, openStore } from './adapters/store/open.ts';
import { systemClock, systemStopwatch, systemTimer } from './adapters/system/clock.ts';
import { createIds, sha256 } from './adapters/system/ids.ts';
import { createLog } from './adapters/system/log.ts';
import { tokenFrom } from './adapters/system/token-file.ts';
import { createLoop, type Loop, type Work } from './adapters/wake/loop.ts';
import { echoAction } from './app/actions/echo.ts';
import { messageAction } from './app/actions/message.ts';
import { createActions } from './app/actions/registry.ts';
import { createBell } from './app/bell.ts';
import { createClockWatch } from './app/clock-watch.ts';
import { createDeliverer, type Deliverer } from './app/deliverer.ts';
import { watchedRoom } from './app/housekeeping/behind.ts';
import { createHousekeeping, type Housekeeping } from './app/housekeeping/housekeeping.ts';
import type { Backups, Clock, Ids, Log, Room, Stopwatch, Timer, Transport } from './app/ports.ts';
import type { Store } from './app/task-store.ts';
import { previewSchedule } from './app/preview.ts';
import { createReadiness } from './app/readiness.ts';
import { createRunService } from './app/run-service.ts';
import { createRunner, type Runner } from './app/runner.ts';
import { createScheduler, type Scheduler } from './app/scheduler.ts';
import { createTasks, type Tasks } from './app/tasks/tasks.ts';
import { createThreads, type Threads } from './app/tasks/threads.ts';
import { createDowntimes, type Downtimes } from './app/truth/downtime.ts';
import { createTruth, type Truth } from './app/truth/truth.ts';
import { followZoneRules } from './app/zone-rules.ts';
import type { Config } from './config.ts';
import { stopGraceMs } from './domain/limits.ts';

/** The outside world, as one value, so that a test or a bench can put a part of its own in the place of any of them. */
export interface World {
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly log: Log;
  readonly transport: Transport;
  /** Absent where the database is not a file of ours. */
  readonly backups?: Backups | null;
}

export function systemWorld(logLevel: string): World {
  const log = createLog(logLevel);
  const ids = createIds(() => systemClock.now());
  const transport = consoleSink(log, systemClock.now());
  return { clock: systemClock, stopwatch: systemStopwatch, timer: systemTimer, ids, log, transport };
}

/** To start, end or send something costs about half as much as to plan and record it, so twice as many share a commit. */
const endsPerClaim = 2;

const dayMs = 86_400_000;

export interface Rooms extends Housekeeping {
  readonly tasks: Tasks;
  readonly threads: Threads;
  readonly truth: Truth;
  readonly downtimes: Downtimes;
  readonly scheduler: Scheduler;
  readonly runner: Runner;
  readonly deliverer: Deliverer;
  connect(room: Room, ring: () => void): void;
}

export type RoomSettings = Pick<
  Config,
  | 'BACKUP_KEEP'
  | 'BATCH_SIZE'
  | 'DELIVERY_CONCURRENCY'
  | 'ECHO_ACTION'
  | 'MIN_INTERVAL'
  | 'QUOTA_PER_CHAT'
  | 'QUOTA_PER_USER'
  | 'RETENTION_DAYS'
  | 'RUN_CONCURRENCY'
>;

/** The rooms of the pipeline over a store; nothing in here starts by itself. */
export function composeRooms(settings: RoomSettings, world: World, store: Store): Rooms {
  const { clock, ids, timer } = world;
  const bell = createBell();
  const bootId = ids.next();
  const batchMax = settings.BATCH_SIZE * endsPerClaim;
  const runs = createRunService({ store, ids, digest: sha256, clock, bell });
  const actions = createActions([
    messageAction(createTemplates()),
    ...(settings.ECHO_ACTION ? [echoAction(timer)] : []),
  ]);
  const shared = { ...world, store, bell, bootId, batchMax };
  const tasks = createTasks({
    store,
    log: world.log,
    clock,
    ids,
    digest: sha256,
    bell,
    runs,
    rules: { actions, minIntervalMs: settings.MIN_INTERVAL },
    quota: { chat: settings.QUOTA_PER_CHAT, user: settings.QUOTA_PER_USER },
  });
  const downtimes = createDowntimes({ store, clock, ids, log: world.log });
  const scheduler = watchedRoom(createScheduler({ ...shared, runs }));
  const runner = createRunner({ ...shared, actions, concurrency: settings.RUN_CONCURRENCY });
  const deliverer = createDeliverer({ ...shared, concurrency: settings.DELIVERY_CONCURRENCY });
  return {
    tasks,
    threads: createThreads({ store, tasks, timer }),
    truth: createTruth({ store, clock, retentionMs: settings.RETENTION_DAYS * dayMs }),
    downtimes,
    scheduler: scheduler.room,
    runner,
    deliverer,
    ...createHousekeeping({
      ...shared,
      runner: runner.holding,
      deliverer: deliverer.holding,
      schedulerBehind: scheduler.behind,
      retentionDays: settings.RETENTION_DAYS,
      backupsKept: settings.BACKUP_KEEP,
      backups: world.backups ?? null,
      chores: downtimes.chores,
    }),
    connect: (room, ring) => bell.connect(room, ring),
  };
}

export interface Server {
  readonly url: string;
  readonly dataFile: string | null;
  readonly tokenFile: string | null;
  stop(): Promise<void>;
}

export interface Starting {
  readonly config: Config;
  readonly world: World;
  readonly version: string;
  readonly zoneRules: string;
  /** The right to schedule was lost; the process must end. */
  readonly onLost: (error: Error) => void;
}

/** Database, then the rules of time, then the door, and the scheduler last: no slot is taken up before it can be served. */
export async function startServer({ config, world, version, zoneRules, onLost }: Starting): Promise<Server> {
  const { clock, log } = world;
  const opened = await openStore({
    url: config.DATABASE_URL,
    holder: { pid: process.pid, host: hostname(), since: clock.now() },
    onLost,
    onPoolError: (error) => log.warn('database_connection_lost', { error: error.message }),
  });
  const { store } = opened;
  if (opened.migrated.applied.length > 0) log.info('migrated', { ...opened.migrated });
  try {
    const rooms = composeRooms(config, { ...world, backups: opened.backups }, store);
    await followZoneRules({
      store,
      scheduler: rooms.scheduler,
      clock,
      log,
      version: zoneRules,
      batchMax: config.BATCH_SIZE,
    });
    const loops = createLoops(config, { world, rooms, store });
    const door = await openDoor(config, { world, rooms, store, loops, version });
    await rooms.downtimes.open();
    for (const loop of loops) loop.start();
    return {
      url: `http://${config.HTTP_HOST}:${door.listening.port}`,
      dataFile: databaseFile(config.DATABASE_URL),
      tokenFile: door.tokenFile,
      stop: async () => {
        await stopAll({ door: door.listening, loops, rooms });
        await rooms.downtimes.close();
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface Parts {
  readonly world: World;
  readonly rooms: Rooms;
  readonly store: Store;
}

/** In the order in which they start: whoever takes work over is there before whoever hands it on; who tidies up comes last. */
function createLoops(config: Config, { world, rooms, store }: Parts): readonly Loop[] {
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
    rooms.housekeeper,
  ];
  return works.map((work) => {
    const share = work.name === 'scheduler' || work.name === 'housekeeper' ? 1 : endsPerClaim;
    const loop = createLoop(work, { ...world, batchMax: config.BATCH_SIZE * share });
    rooms.connect(work.name, () => loop.ring());
    return loop;
  });
}

interface Door {
  readonly listening: Listening;
  readonly tokenFile: string | null;
}

/** A shorter token can be guessed by whoever can ask often enough. */
const soundTokenLength = 16;

async function openDoor(config: Config, parts: Parts & { loops: readonly Loop[]; version: string }): Promise<Door> {
  const { world, rooms, store, loops, version } = parts;
  const { token, tokenFile } = tokenOf(config);
  if (token.length < soundTokenLength) world.log.warn('api_token_is_short', { sound_length: soundTokenLength });
  const app = createHttpApp({
    ...world,
    tasks: rooms.tasks,
    threads: rooms.threads,
    truth: rooms.truth,
    upkeep: { audit: () => rooms.audit.run(), reconcile: rooms.reconcile },
    preview: (request) => previewSchedule(request, { now: world.clock.now(), minIntervalMs: config.MIN_INTERVAL }),
    token,
    actor: 'api:token:default',
    version,
    health: {
      live: () => ({ ok: loops.every((loop) => loop.health().idleMs < livenessMs) }),
      // Ready is whoever does what people wait for; a chore that failed is no reason to send them away.
      ready: createReadiness(
        { ...world, store },
        loops.filter(({ name }) => name !== 'housekeeper'),
      ),
    },
  });
  return { listening: await serveHttp({ app, host: config.HTTP_HOST, port: config.HTTP_PORT }), tokenFile };
}

/** The token that the operator chose, or one that is made at the first start and kept beside the data. */
function tokenOf(config: Config): { readonly token: string; readonly tokenFile: string | null } {
  if (config.API_TOKEN !== undefined) return { token: config.API_TOKEN, tokenFile: null };
  const file = databaseFile(config.DATABASE_URL);
  const tokenFile = join(file === null ? 'data' : dirname(file), 'api-token');
  return { token: tokenFrom(tokenFile), tokenFile };
}

/** A loop that has not turned for this long will not turn again by itself. */
const livenessMs = 10 * 60_000;

interface Stopping {
  readonly door: Listening;
  readonly loops: readonly Loop[];
  readonly rooms: Rooms;
}

/** Intake first, the slots next, then what runs, then what is being sent; what is not done by then is taken up at the next start. */
async function stopAll({ door, loops, rooms }: Stopping): Promise<void> {
  await door.close();
  for (const loop of [...loops].reverse()) await loop.stop();
  await rooms.runner.stop(stopGraceMs);
  await rooms.deliverer.stop(stopGraceMs);
}
