import { hostname } from 'node:os';
import type { World as SandboxWorld } from '../adapters/sandbox/world.ts';
import { databaseFile, openStore, type Opened } from '../adapters/store/open.ts';
import type { TravelTime } from '../adapters/system/travel-time.ts';
import { createPlatform } from '../adapters/telegram/in/platform.ts';
import { topicNames } from '../adapters/telegram/out/topic-names.ts';
import { telegramTransport } from '../adapters/telegram/out/transport.ts';
import type { Loop } from '../adapters/wake/loop.ts';
import type { Timer } from '../app/ports.ts';
import { followZoneRules } from '../app/zone-rules.ts';
import { composeRooms, type Rooms, type World } from '../compose.ts';
import type { Config } from '../config.ts';
import { stopGraceMs } from '../domain/limits.ts';
import { isSandboxed, openWire, type Wire } from './chat.ts';
import { openConversation, type TelegramIn } from './conversation.ts';
import { openDoor, type Door } from './door.ts';
import { createLoops } from './loops.ts';
import { skippedBefore, timeOf, travelling, travelOf } from './travelling.ts';
import type { Travel } from '../adapters/sandbox/travel.ts';

export interface Server {
  readonly url: string;
  readonly dataFile: string | null;
  readonly tokenFile: string | null;
  /** The chats of the sandbox and its clock; null where the chats are Telegram's. */
  readonly sandbox: { readonly world: SandboxWorld; readonly travel: Travel } | null;
  stop(): Promise<void>;
}

export interface Starting {
  readonly config: Config;
  readonly world: World;
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

async function startOver(
  starting: Starting,
  { opened, time, realTimer }: { opened: Opened; time: TravelTime | null; realTimer: Timer },
): Promise<Server> {
  const { config, world, version, zoneRules } = starting;
  const { store, backups } = opened;
  const { clock, log } = world;
  const wire = await openWire(config, world, realTimer);
  const platform = createPlatform(wire.api);
  const rooms = composeRooms(config, world, {
    store,
    backups,
    platform,
    renamed: topicNames({ api: wire.api, log }),
    transport: (budget) =>
      telegramTransport({ ...world, api: wire.api, store, budget, defaultTimezone: config.DEFAULT_TIMEZONE }),
  });
  const batchMax = config.BATCH_SIZE;
  await followZoneRules({ store, scheduler: rooms.scheduler, clock, log, version: zoneRules, batchMax });
  const loops = createLoops(config, { world, rooms, store });
  let claim: string | null = null;
  const printClaim = (code: string) => {
    claim = code;
    starting.printClaim(code);
  };
  const conversation = openConversation(
    { config, world, printClaim, version },
    { wire, platform, rooms, store, loops },
  );
  const travel = time === null ? null : travelOf({ time, loops, rooms, conversation, wire, store });
  if (travel !== null) wire.sandbox?.furnish(travel, () => firstWords(conversation.isClaimable() ? claim : null));
  const door = await openDoor(config, {
    world,
    rooms,
    store,
    loops,
    version,
    watched: [{ name: 'telegram', health: () => conversation.health() }],
    takeOver: (incoming, outgoing) =>
      conversation.takeOver(incoming, outgoing) || wire.sandbox?.takeOver(incoming, outgoing) === true,
  }).catch(async (error: unknown) => {
    await wire.close();
    throw error;
  });
  await rooms.downtimes.open();
  for (const loop of loops) loop.start();
  conversation.start();
  return {
    url: `http://${config.HTTP_HOST}:${door.listening.port}`,
    dataFile: databaseFile(config.DATABASE_URL),
    tokenFile: door.tokenFile,
    sandbox: wire.sandbox === null || travel === null ? null : { world: wire.sandbox.world, travel },
    stop: async () => {
      await stopAll({ door, loops, rooms, conversation, wire });
      await rooms.downtimes.close();
      await opened.close();
    },
  };
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
}

/** Intake first, the slots next, then what runs, then what is being sent; what is not done by then is taken up at the next start. */
async function stopAll({ door, loops, rooms, conversation, wire }: Running): Promise<void> {
  wire.sandbox?.leave();
  await Promise.all([door.listening.close(), conversation.stop(stopGraceMs)]);
  for (const loop of [...loops].reverse()) await loop.stop();
  await rooms.runner.stop(stopGraceMs);
  await rooms.deliverer.stop(stopGraceMs);
  await wire.close();
}
