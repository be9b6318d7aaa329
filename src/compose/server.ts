import { hostname } from 'node:os';
import { createGauges } from '../app/operations/gauges.ts';
import { meteredStore } from '../app/operations/metered-store.ts';
import { type Ready, createHeartbeat, type Heartbeat } from '../app/operations/readiness.ts';
import type { Secrets } from '../app/operations/secrets.ts';
import { followZoneRules, createClockWatch } from '../app/pipeline/scheduler.ts';
import { type Meter, silentMeter } from '../app/ports/metering.ts';
import type { Timer, Backups, Room } from '../app/ports/outside.ts';
import { type SecondOpinion, libraries } from '../app/ports/second-opinion.ts';
import type { Store } from '../app/ports/store.ts';
import type { Config } from '../config/config.ts';
import { stopGraceMs } from '../domain/limits.ts';
import type { PageOfMetrics } from '../http/app.ts';
import type { World as SandboxWorld, Travel } from '../sandbox/world/world.ts';
import { databaseFile, openStore, type Opened } from '../store/engine/open.ts';
import type { TravelTime } from '../system/clock.ts';
import { createKnock } from '../system/knock.ts';
import { type Loop, createLoop, type Work } from '../system/loop.ts';
import { createMeter, type PrometheusMeter } from '../system/meter.ts';
import { createSecondOpinion } from '../system/second-opinion/process.ts';
import { telegramTransport, topicNames } from '../telegram/delivery/transport.ts';
import { createPlatform } from '../telegram/intake/menu.ts';
import { openDoor, type Door, createPhase, type Phase } from './api.ts';
import { composeRooms, type Rooms, type World, endsPerClaim } from './assembly.ts';
import { isSandboxed, openWire, type Wire } from './chat.ts';
import { openConversation, type TelegramIn } from './conversation.ts';
import { skippedBefore, timeOf, travelling, travelOf } from './travel.ts';

export interface Server {
  readonly url: string;
  readonly dataFile: string | null;
  readonly tokenFile: string | null;
  /** The chats of the sandbox and its clock; null where the chats are Telegram's. */
  readonly sandbox: { readonly world: SandboxWorld; readonly travel: Travel } | null;
  /** What a stop under way waits for. */
  readonly waitsFor: () => string;
  stop(): Promise<void>;
}

interface Starting {
  readonly config: Config;
  /** The process is this server, so that its metrics tell of the process as well. */
  readonly isWholeProcess?: true;
  readonly world: World;
  /** Is told the secrets that are made or read in the course of the start. */
  readonly secrets?: Pick<Secrets, 'add'>;
  readonly version: string;
  readonly zoneRules: string;
  /** The right to schedule was lost; the process must end. */
  readonly onLost: (error: Error) => void;
  /** Shows the one-time code to whoever started the server. */
  readonly printClaim: (code: string) => void;
}

/** Database, then the rules of time, then the door, and the scheduler last: no slot is taken up before it can be served. */
export async function startServer(starting: Starting): Promise<Server> {
  const { config, onLost } = starting;
  const time = isSandboxed(config) ? timeOf(starting.world) : null;
  const world = time === null ? starting.world : travelling(starting.world, time);
  const opened = await openStore({
    url: config.DATABASE_URL,
    holder: { pid: process.pid, host: hostname(), since: world.clock.now() },
    onLost,
    onPoolError: (error) => world.log.warn('database_connection_lost', { error: error.message }),
    turn: () => world.timer.yield(),
  });
  if (opened.migrated.applied.length > 0) world.log.info('migrated', { ...opened.migrated });
  try {
    if (time !== null) time.skip(await skippedBefore(opened.store));
    return await startOver({ ...starting, world }, { opened, time, realTimer: starting.world.timer });
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface Ground {
  readonly opened: Opened;
  readonly time: TravelTime | null;
  readonly realTimer: Timer;
}

async function startOver(starting: Starting, ground: Ground): Promise<Server> {
  const { config, world } = starting;
  const phase = createPhase();
  const inside = await openInside(starting, ground);
  const { rooms, loops, conversation, wire, meter, travel } = inside;
  const door = await openDoorTo(starting, ground, { ...inside, phase }).catch(async (error: unknown) => {
    await wire.close();
    throw error;
  });
  starting.secrets?.add(door.token);
  await rooms.downtimes.open();
  for (const loop of loops) loop.start();
  conversation.start();
  const watched = { world: { ...world, timer: ground.realTimer }, meter, ready: door.ready };
  const heartbeat = openHeartbeat(config, watched);
  heartbeat?.start();
  phase.run();
  return {
    url: `http://${config.HTTP_HOST}:${door.listening.port}`,
    dataFile: databaseFile(config.DATABASE_URL),
    tokenFile: door.tokenFile,
    sandbox: wire.sandbox === null || travel === null ? null : { world: wire.sandbox.world, travel },
    waitsFor: () => phase.waitsFor(),
    stop: async () => {
      phase.stop();
      heartbeat?.stop();
      inside.opinion?.close();
      await stopAll({ door, loops, rooms, conversation, wire, phase });
      await phase.waitFor('database', rooms.downtimes.close());
      await phase.waitFor('database', ground.opened.close());
    },
  };
}

/** Everything behind the door. Nothing of it runs yet. */
interface Inside {
  readonly meter: PrometheusMeter;
  readonly store: Store;
  readonly wire: Wire;
  readonly rooms: Rooms;
  readonly loops: readonly Loop[];
  readonly conversation: TelegramIn;
  readonly travel: Travel | null;
  readonly opinion: SecondOpinion | null;
}

async function openInside(starting: Starting, { opened, time, realTimer }: Ground): Promise<Inside> {
  const { config, world, version, zoneRules } = starting;
  const { clock, log } = world;
  const meter = createMeter({ ofProcess: starting.isWholeProcess === true });
  const store = meteredStore(opened.store, { meter, clock });
  const wire = await openWire(config, world, { timer: realTimer, meter });
  const platform = createPlatform(wire.api);
  // How long an answer may take is measured by the real clock, also in the sandbox.
  const opinion = config.SECOND_OPINION ? createSecondOpinion({ ...world, timer: realTimer }) : null;
  const rooms = composeRooms(config, world, {
    store,
    backups: countedBackups(opened.backups, meter),
    secondOpinion: opinion === null ? null : { opinion, meter },
    platform,
    renamed: topicNames({ api: wire.api, log }),
    transport: (budget) =>
      telegramTransport({ ...world, api: wire.api, store, budget, defaultTimezone: config.DEFAULT_TIMEZONE }),
  });
  const batchMax = config.BATCH_SIZE;
  await followZoneRules({ store, scheduler: rooms.scheduler, clock, log, version: zoneRules, batchMax });
  const loops = createLoops(config, { world, rooms, store, meter });
  startAtZero(meter, loops);
  let claim: string | null = null;
  const printClaim = (code: string) => {
    claim = code;
    starting.printClaim(code);
  };
  const asked = { config, world, printClaim, version };
  const conversation = openConversation(asked, { wire, platform, rooms, store, loops });
  const travel = time === null ? null : travelOf({ time, loops, rooms, conversation, wire, store });
  if (travel !== null) wire.sandbox?.furnish(travel, () => firstWords(conversation.isClaimable() ? claim : null));
  return { meter, store, wire, rooms, loops, conversation, travel, opinion };
}

function openDoorTo(
  { config, world, version }: Starting,
  { opened, realTimer }: Ground,
  { phase, meter, conversation, wire, ...inside }: Inside & { readonly phase: Phase },
): Promise<Door> {
  const { rooms, store, loops } = inside;
  return openDoor(config, {
    world,
    rooms,
    store,
    loops,
    version,
    phase,
    live: { timer: realTimer, onEvents: (call) => opened.onEvents(call) },
    measures: {
      meter,
      page: (ready) => metricsPage(config, { meter, world, store, opened, loops, ready, version }),
    },
    watched: [{ name: 'telegram', health: () => conversation.health() }],
    takeOver: (incoming, outgoing) =>
      conversation.takeOver(incoming, outgoing) ||
      (phase.is() !== 'stopping' && wire.sandbox?.takeOver(incoming, outgoing) === true),
  });
}

/** A newcomer needs no terminal at hand: the page, which is for this computer alone, shows the code as well. */
function firstWords(claim: string | null): string[] {
  return [claim === null ? '/start' : `/start ${claim}`, '/new in 1 minute say hello'];
}

interface Running {
  readonly door: Door;
  readonly loops: readonly Loop[];
  readonly rooms: Rooms;
  readonly conversation: TelegramIn;
  readonly wire: Wire;
  readonly phase: Phase;
}

/**
 * Intake first, the slots next, then what runs, then what is being sent; what is not done by then is taken up at the next
 * start. The door closes last: until then it tells whoever asks that the server stops.
 */
async function stopAll({ door, loops, rooms, conversation, wire, phase }: Running): Promise<void> {
  wire.sandbox?.leave();
  const intake = Promise.all([door.listening.drain(), conversation.stop(stopGraceMs)]);
  await phase.waitFor('requests and updates', intake);
  for (const loop of [...loops].reverse()) await phase.waitFor(`a step of the ${loop.name}`, loop.stop());
  await phase.waitFor('running attempts', rooms.runner.stop(stopGraceMs));
  await phase.waitFor('deliveries under way', rooms.deliverer.stop(stopGraceMs));
  await phase.waitFor('connections', door.listening.close());
  await phase.waitFor('connections to Telegram', wire.close());
}

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
function metricsPage(config: Config, { meter, world, store, opened, loops, ready, version }: Measured): PageOfMetrics {
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
function startAtZero(meter: Meter, loops: readonly Loop[]): void {
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

function countedBackups(backups: Backups | null, meter: Meter): Backups | null {
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
function openHeartbeat({ HEARTBEAT_URL: url }: Pick<Config, 'HEARTBEAT_URL'>, needs: Needs): Heartbeat | null {
  if (url === undefined) return null;
  const { timer, log } = needs.world;
  return createHeartbeat({ knock: createKnock({ url, timer }), ready: needs.ready, timer, log, meter: needs.meter });
}
