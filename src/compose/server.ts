import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { meteredStore } from '../app/operations/metered-store.ts';
import { type Ready, createHeartbeat, type Heartbeat } from '../app/operations/readiness.ts';
import type { Secrets } from '../app/operations/secrets.ts';
import { followZoneRules } from '../app/pipeline/scheduler.ts';
import type { Meter } from '../app/ports/metering.ts';
import type { TrustedOutbound } from '../app/ports/outbound.ts';
import type { Templates } from '../app/ports/outside.ts';
import type { Store } from '../app/ports/store.ts';
import { isShared, type Config } from '../config/config.ts';
import { stopGraceMs } from '../domain/limits.ts';
import { does } from '../domain/processes/process.ts';
import { createEventStreams } from '../http/events.ts';
import { untilStopping, type Listening } from '../http/server.ts';
import { createOutbound } from '../outbound/outbound.ts';
import type { World as SandboxWorld, Travel } from '../sandbox/world/world.ts';
import { databaseFile, openStore, type Opened } from '../store/engine/open.ts';
import { newestCopy } from '../store/files/backup.ts';
import { connectionsBeside } from '../store/jobs/shared-work.ts';
import { createDatabaseClock, type TravelTime } from '../system/clock.ts';
import { createExpressions } from '../system/expressions/expressions.ts';
import { createHeartbeatPing } from '../system/heartbeat-ping.ts';
import { createIds, openNotepad } from '../system/ids.ts';
import type { Loop } from '../system/loop.ts';
import { createMeter, type PrometheusMeter } from '../system/meter.ts';
import { createPool } from '../system/pool/pool.ts';
import { createSecondOpinion } from '../system/second-opinion/opinion.ts';
import { createTemplates } from '../system/templates/templates.ts';
import { openVault } from '../system/vault.ts';
import { asideApi, whileHeld } from '../telegram/api.ts';
import { telegramTransport } from '../telegram/delivery/transport.ts';
import { createPlatform } from '../telegram/platform.ts';
import { createApi, createPhase, dataFolder, vaultSource } from './api.ts';
import { composeRooms, type Rooms, type World } from './assembly.ts';
import { createDoor, type Door } from './door.ts';
import { firstWords } from './greeting.ts';
import { createLoops } from './loops.ts';
import { countedBackups, metricsPage, startAtZero } from './measures.ts';
import { hearOthers, hintsOf, requireOneBot, sharedWorkOf } from './shared-work.ts';
import { noTelegramIn, openTelegramIn } from './telegram-in.ts';
import { isSandboxed, openSandboxPages, openWire, siteAddress, type Wire } from './telegram-or-sandbox.ts';
import { skippedBefore, timeOf, travelling, travelOf } from './travel.ts';

export interface Server {
  readonly url: string;
  readonly dataFile: string | null;
  readonly tokenFile: string | null;
  /** The newest copy of a database that was not there and was made anew, empty; null as a rule. */
  readonly lostCopy: string | null;
  /** The chats of the sandbox and its clock; null where the chats are Telegram's. */
  readonly sandbox: { readonly world: SandboxWorld; readonly travel: Travel } | null;
  /** The name of the bot, once Telegram has told it; null when the server stops before that. */
  readonly bot: Promise<string | null>;
  /** Names what a stop under way waits for. */
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
  /** Where children of the pool are not to evaluate them. */
  readonly templates?: Templates;
  readonly zoneRules: string;
  /** The right to schedule was lost; the process must end. */
  readonly onLost: (error: Error) => void;
  /** The start waits for the end of a process that has the database for itself; null when it goes on. */
  readonly onStandby?: (holder: string | null) => void;
  /** Shows the one-time code on the terminal of the server. */
  readonly printClaim: (code: string) => void;
}

/** Database, then the rules of time, then the HTTP server, and the scheduler last: no slot is taken up before it can be served. */
export async function startServer(starting: Starting): Promise<Server> {
  const { config } = starting;
  const common = isShared(config) ? clockOf(starting.world) : null;
  const real = common === null ? starting.world : onClock(starting.world, common);
  const time = isSandboxed(config) ? timeOf(real) : null;
  const world = time === null ? real : travelling(real, time);
  const file = databaseFile(config.DATABASE_URL);
  const copy = file === null || existsSync(file) ? null : newestCopy(file);
  const door = createDoor(config, starting.version, world);
  const opened = await Promise.race([openFor(starting, world, door), door.failed]);
  const meter = createMeter({ ofProcess: starting.isWholeProcess === true });
  const host = starting.world;
  let wire: Wire | null = null;
  try {
    if (common !== null) await readClock(starting.world, common, opened.store);
    if (time !== null) time.skip(await skippedBefore(opened.store));
    wire = await openWire(config, world, { timer: host.timer, meter });
    const app = await build({ ...starting, world, host, time, common, opened, meter, wire, door });
    return { ...(await start(app, starting)), lostCopy: copy };
  } catch (error) {
    await door.close();
    await wire?.close();
    await opened.close();
    throw error;
  }
}

async function openFor(starting: Starting, world: World, door: Door): Promise<Opened> {
  const { config, onLost, onStandby = () => undefined } = starting;
  const standBy = (holder: string | null) => {
    door.standBy(holder);
    onStandby(holder);
  };
  const opened = await openStore({
    url: config.DATABASE_URL,
    directUrl: config.DATABASE_DIRECT_URL,
    poolMax: config.DATABASE_POOL,
    ...(isShared(config) ? { shared: { onStandby: standBy } } : {}),
    // The chats of a bot would be gone for a sandbox, and its clock may be days ahead.
    isAlone: isSandboxed(config),
    holder: { pid: process.pid, host: hostname(), since: world.clock.now() },
    onLost,
    onAway: (error) => {
      if (error === null) world.log.info('database_back');
      else world.log.error('database_away', { error: error.message });
    },
    timer: starting.world.timer,
    log: world.log,
    turn: () => world.timer.yield(),
  });
  const isServer = databaseFile(config.DATABASE_URL) === null;
  if (isServer && !opened.keepsCallers) world.log.warn('callers_without_role', { advice: 'cronogram doctor' });
  if (opened.migrated.applied.length > 0) world.log.info('migrated', { ...opened.migrated });
  return opened;
}

type CommonClock = ReturnType<typeof createDatabaseClock>;

function clockOf({ clock, stopwatch }: World): CommonClock {
  return createDatabaseClock({ now: () => clock.now(), elapsed: () => stopwatch.elapsed() });
}

/** Ids count up with the clock that all processes share. */
function onClock(world: World, clock: CommonClock): World {
  return { ...world, clock, ids: createIds(() => clock.now()) };
}

/** The first answer takes as long as a connection; the second tells the time well. */
async function readClock({ stopwatch }: World, clock: CommonClock, store: Opened['store']): Promise<void> {
  for (const _round of [1, 2]) {
    const before = stopwatch.elapsed();
    const at = await store.databaseTime();
    clock.adopt({ at, before, after: stopwatch.elapsed() });
  }
}

interface Building extends Starting {
  /** The clock of a database that several processes share; null where this one has it for itself. */
  readonly common: CommonClock | null;
  readonly opened: Opened;
  readonly meter: PrometheusMeter;
  readonly wire: Wire;
  /** The time that is moved, in the sandbox. */
  readonly time: TravelTime | null;
  /** The world of this computer: timeouts and leases are measured by it, whatever a sandbox or the database says. */
  readonly host: World;
  readonly door: Door;
}

/** The parts of the server, each after those on which it depends. No loop turns yet, and nobody is served. */
type App = Awaited<ReturnType<typeof build>>;

async function build({ config, world, version, opened, meter, wire, time, host, common, door, ...starting }: Building) {
  const { clock, log } = world;
  const { DEFAULT_TIMEZONE: defaultTimezone } = config;
  const patient = { ...world, timer: host.timer };
  const phase = createPhase(log);
  const store = meteredStore(opened.store, { meter, clock });
  const pool = createPool({ ...patient, meter });
  const site: { url: string | null } = { url: null };
  const isHeld = (): boolean => rooms.processes.isHeld();
  const heldApi = whileHeld(wire.api, isHeld);
  const outbound = createOutbound({ ...patient, allow: config.EGRESS_ALLOW, site: () => site.url, isHeld });
  const rooms: Rooms = composeRooms(config, world, {
    store,
    ...sharedWorkOf(opened, config.ROLE, starting.onLost),
    process: processOf({ config, version, host, common }),
    backups: countedBackups(opened.backups, meter),
    outbound,
    prices: config.PRICES,
    defaultTimezone,
    templates: starting.templates ?? createTemplates(pool.run),
    expressions: createExpressions(pool.run),
    secondOpinion: config.SECOND_OPINION ? { opinion: createSecondOpinion(pool.run), meter } : null,
    platform: (budget) => createPlatform(asideApi(heldApi, budget), { clock, defaultTimezone }),
    vault: openVault(vaultSource(config)),
    notepad: openNotepad(join(dataFolder(config), 'alarm.json'), log),
    transport: (budget, blobs, kinds) =>
      telegramTransport({ ...world, api: heldApi, store, blobs, budget, kinds, defaultTimezone }),
  });
  if (common !== null && !isSandboxed(config)) await requireOneBot({ clock, store }, config.TELEGRAM_BOT_TOKEN);
  await rooms.processes.begun();
  await rooms.kindPauses.look();
  const loops = await loopsOf({ config, world, store, rooms, meter, zoneRules: starting.zoneRules });
  let claim: string | null = null;
  const printClaim = (code: string) => {
    claim = code;
    starting.printClaim(code);
  };
  const made = { config, world, version, wire, rooms, store, loops };
  const telegramIn = does(config.ROLE, 'intake')
    ? openTelegramIn({ ...made, printClaim, host, hints: hintsOf(opened) })
    : noTelegramIn;
  const travel = time === null ? null : travelOf({ ...made, time, telegramIn });
  const starters = () => firstWords(telegramIn.isClaimable() ? claim : null);
  const { sandbox } = wire;
  const pages = sandbox === null || travel === null ? null : openSandboxPages(world, { sandbox, travel, starters });
  const streams = createEventStreams(patient);
  hearOthers(opened, { rooms, loops, streams });
  const measured = { ...made, meter, opened, pool };
  const api = createApi(config, {
    ...made,
    phase,
    streams,
    apiRate: config.API_RATE,
    measures: { meter, page: (ready) => metricsPage(measured, ready) },
    intakeStillMs: () => telegramIn.health().stillMs,
    watched: telegramIn === noTelegramIn ? [] : [{ name: 'telegram', health: telegramIn.health }],
  });
  const heartbeat = openHeartbeat(config, { ...patient, outbound, meter, ready: api.ready });
  return { ...made, phase, pool, outbound, site, telegramIn, travel, pages, streams, api, heartbeat, opened, door };
}

/** This process, as others know it. */
function processOf({ config, version, host, common }: Pick<Building, 'config' | 'version' | 'host' | 'common'>) {
  const sharing =
    common === null
      ? null
      : { ...host, wall: host.clock, onTime: (reading: Parameters<typeof common.adopt>[0]) => common.adopt(reading) };
  const { ROLE: role, WORKER_KINDS: takes } = config;
  const facts = { role, release: version, host: hostname(), pid: process.pid, takes, sharing };
  return sharing === null
    ? facts
    : { ...facts, connections: config.DATABASE_POOL + connectionsBeside(does(role, 'deliver')) };
}

type LoopsNeed = Pick<Building, 'config' | 'world' | 'meter' | 'zoneRules'> & {
  readonly store: Store;
  readonly rooms: Rooms;
};

/** Loops of the work that this process does. The facts that they rely on are looked at before they turn. */
async function loopsOf({ config, world, store, rooms, meter, zoneRules }: LoopsNeed): Promise<readonly Loop[]> {
  const isWorking = does(config.ROLE, 'work');
  const zones = { ...world, store, scheduler: rooms.scheduler, version: zoneRules, batchMax: config.BATCH_SIZE };
  if (isWorking) await followZoneRules(zones);
  await rooms.secrets.allowFirst();
  await tellOfKeys(rooms.secrets, world.log);
  const turns = (name: string) => isWorking || (name === 'deliverer' && does(config.ROLE, 'deliver'));
  const loops = createLoops(config, { world, rooms, meter }).filter(({ name }) => turns(name));
  startAtZero(meter, loops);
  return loops;
}

async function start(app: App, { secrets }: Starting): Promise<Omit<Server, 'lostCopy'>> {
  const { config, rooms, loops, telegramIn, wire, travel, pages, streams, api, phase, heartbeat, site, door } = app;
  const { listening, url } = await door.open({
    app: untilStopping(api.app, () => phase.is() === 'stopping'),
    takeOver: (incoming, outgoing) =>
      telegramIn.takeOver(incoming, outgoing) ||
      (phase.is() !== 'stopping' && pages?.takeOver(incoming, outgoing) === true),
    leave: () => streams.close(),
  });
  secrets?.add(api.token);
  if (pages !== null) site.url = siteAddress(listening.port);
  if (does(config.ROLE, 'work')) await rooms.downtimes.open();
  for (const loop of loops) loop.start();
  if (does(config.ROLE, 'deliver')) await rooms.jobs.start();
  telegramIn.start();
  heartbeat?.start();
  phase.run();
  return {
    url,
    dataFile: databaseFile(config.DATABASE_URL),
    tokenFile: api.tokenFile,
    sandbox: wire.sandbox === null || travel === null ? null : { world: wire.sandbox.world, travel },
    bot: telegramIn.bot,
    waitsFor: () => phase.waitsFor(),
    stop: () => stop(app, listening).finally(door.forget),
  };
}

/**
 * Intake first, the slots next, then what runs, then what is being sent; what is not done by then is taken up at the next
 * start. The port closes last: until then clients are told that the server stops.
 */
async function stop({ phase, heartbeat, pool, outbound, ...app }: App, listening: Listening): Promise<void> {
  const { config, loops, rooms, telegramIn, wire, pages, opened } = app;
  phase.stop();
  heartbeat?.stop();
  // Streams of the pages would hold up the stop.
  pages?.close();
  const incoming = Promise.all([listening.drain(), telegramIn.stop(stopGraceMs)]);
  await phase.waitFor('requests and updates', incoming);
  await phase.waitFor('jobs', rooms.jobs.stop());
  for (const loop of [...loops].reverse()) await phase.waitFor(`a step of the ${loop.name}`, loop.stop());
  await phase.waitFor('running attempts', rooms.runner.stop(stopGraceMs));
  pool.close();
  await phase.waitFor('outgoing calls', outbound.close());
  await phase.waitFor('places at hosts', rooms.hosts.stop());
  await phase.waitFor('deliveries under way', rooms.deliverer.stop(stopGraceMs));
  await phase.waitFor('connections', listening.close());
  await phase.waitFor('connections to Telegram', wire.close());
  if (does(config.ROLE, 'work')) await phase.waitFor('database', rooms.downtimes.close());
  await phase.waitFor('database', rooms.processes.end());
  await phase.waitFor('database', opened.close());
}

/** Secrets whose key is not there make nothing else wait, so the server starts and says so. */
async function tellOfKeys({ state }: Rooms['secrets'], log: World['log']): Promise<void> {
  const { unreadable, former } = await state();
  if (unreadable > 0) log.error('secrets_without_key', { count: unreadable, advice: 'cronogram doctor' });
  if (former > 0) log.warn('secrets_under_former_key', { count: former, advice: 'secret rotate' });
}

type HeartbeatDeps = Pick<World, 'timer' | 'log'> & {
  readonly outbound: TrustedOutbound;
  readonly meter: Meter;
  readonly ready: () => Promise<Ready>;
};

/** Null where no watcher is to be told. Its minutes are real ones, whatever the clock of a sandbox says. */
function openHeartbeat({ HEARTBEAT_URL: url }: Pick<Config, 'HEARTBEAT_URL'>, deps: HeartbeatDeps): Heartbeat | null {
  return url === undefined ? null : createHeartbeat({ ...deps, ping: createHeartbeatPing({ ...deps, url }) });
}
