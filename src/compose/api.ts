import { dirname, join } from 'node:path';
import { createReadiness, shownToAll, type Ready, type Watched } from '../app/operations/readiness.ts';
import { createRecent } from '../app/operations/recent.ts';
import { createStatus, createUsage } from '../app/operations/status.ts';
import { createTick } from '../app/operations/tick.ts';
import type { Meter } from '../app/ports/metering.ts';
import type { Store } from '../app/ports/store.ts';
import { previewSchedule } from '../app/tasks/preview.ts';
import { createKeptAnswers } from '../app/use-cases/kept-answers.ts';
import type { Spending } from '../app/use-cases/spending.ts';
import type { Config } from '../config/config.ts';
import { AppError } from '../domain/errors.ts';
import { apiTokenLengthMin } from '../domain/limits.ts';
import type { Principal } from '../domain/principal.ts';
import { does } from '../domain/processes/process.ts';
import { iso } from '../domain/schedule/time/calendar.ts';
import { createHttpApp, type PageOfMetrics } from '../http/app.ts';
import type { EventStreams } from '../http/events.ts';
import type { CallerRooms } from '../http/serving.ts';
import { databaseFile } from '../store/engine/open.ts';
import { sha256, tokenFrom } from '../system/ids.ts';
import type { Loop } from '../system/loop.ts';
import { sourceFor, type VaultSource } from '../system/vault.ts';
import type { Rooms, World } from './assembly.ts';

/** The parts of the API. */
interface ApiDeps {
  readonly world: World;
  readonly rooms: Rooms;
  readonly store: Store;
  readonly loops: readonly Loop[];
  readonly version: string;
  /** Parts besides the loops that must be well for the product to be ready. */
  readonly watched: readonly Watched[];
  /** How long the intake of what people say has not moved on; absent where there is none. */
  readonly intakeStillMs?: () => number;
  /** Absent where nothing is measured; the page is told what /readyz asks. */
  readonly measures?: { readonly meter: Meter; readonly page: (ready: () => Promise<Ready>) => PageOfMetrics };
  /** Absent where the server stands from its start to its end. */
  readonly phase?: Phase;
  /** Absent where no client listens to events as they come. */
  readonly streams?: EventStreams;
  /** Requests a second; absent where there is but one client. */
  readonly apiRate?: number;
}

/** A loop that has not turned for this long will not turn again by itself. */
const livenessMs = 10 * 60_000;

/** The server is ready when it does what people wait for; a chore that failed is no reason to send them away. */
export function readinessOf(
  { world, rooms, loops }: Pick<ApiDeps, 'world' | 'loops'> & { readonly rooms: Pick<Rooms, 'databaseLook'> },
  watched: readonly Watched[],
): () => Promise<Ready> {
  return createReadiness({ ...world, ...rooms }, [...loops.filter(({ name }) => name !== 'housekeeper'), ...watched]);
}

/** The API as an app that can be asked without a network. */
export function createApi(config: Config, deps: ApiDeps) {
  const { world, rooms, store, loops, version, phase, streams, measures, apiRate = 0, intakeStillMs = () => 0 } = deps;
  const { token, tokenFile } = tokenOf(config);
  if (token.length < apiTokenLengthMin) world.log.warn('api_token_is_short', { sound_length: apiTokenLengthMin });
  const whole = readinessOf(deps, deps.watched);
  const ready = async () => readyIn(phase, await whole());
  const { QUOTA_PER_CHAT: chat, QUOTA_PER_USER: user, RETENTION_DAYS: retentionDays } = config;
  const idle = { runner: () => rooms.runner.idle(), deliverer: () => rooms.deliverer.idle() };
  const status = createStatus({ ...world, ...rooms, loops, version, ready: whole });
  const isElsewhere = !does(config.ROLE, 'work');
  const tick = createTick({ ...world, loops, idle, ...(isElsewhere ? { tellOthers: () => tellWorkers(rooms) } : {}) });
  const app = createHttpApp({
    ...world,
    ...rooms,
    ...(measures === undefined ? {} : { meter: measures.meter, metrics: measures.page(ready) }),
    ...(streams === undefined ? {} : { streams }),
    roomsOf: roomsFor(deps, (seen, spending) => ({
      status: status(seen),
      usage: createUsage({ ...world, store: seen, spending, quota: { chat, user } }),
      tick,
      retentionDays,
      timezone: config.DEFAULT_TIMEZONE,
    })),
    tellOnce: createKeptAnswers({ ...world, store, digest: sha256 }),
    upkeep: { audit: () => rooms.audit.run(), reconcile: rooms.reconcile },
    preview: (request) => previewSchedule(request, { now: world.clock.now(), minIntervalMs: config.MIN_INTERVAL }),
    apiRate,
    withoutApi: does(config.ROLE, 'api') ? null : config.ROLE,
    token,
    version,
    health: {
      live: () => ({
        ok: [intakeStillMs(), ...loops.map((loop) => loop.health().turnMs)].every((ms) => ms < livenessMs),
      }),
      ready: async () => readyIn(phase, shownToAll(await whole())),
    },
  });
  return { app, ready, token, tokenFile };
}

/** A tick that nobody takes up is refused. */
async function tellWorkers({ processes, bell }: Rooms): Promise<void> {
  const since = await processes.pausedSince();
  if (since !== null) {
    const words = `No worker is alive: the scheduler is paused since ${iso(since)}. Start one; what is due then is taken up at once.`;
    throw new AppError('no_worker', words, { details: { since: iso(since) } });
  }
  for (const loop of ['scheduler', 'acks'] as const) bell.ring(loop);
}

/** Different lists of chats for which the use cases are kept at hand; a server has few tokens. */
const reachesMax = 100;

/** The use cases for the chats of a principal, made once for each list of chats. */
function roomsFor(
  { rooms }: Pick<ApiDeps, 'rooms'>,
  operationsOver: (seen: Store, spending: Spending) => CallerRooms['operations'],
): (principal: Principal) => CallerRooms {
  const made = createRecent<CallerRooms>(reachesMax);
  return ({ chats }) => {
    const key = JSON.stringify(chats);
    const known = made.get(key);
    if (known !== undefined) return known;
    const { store, ...asked } = rooms.within(chats);
    const fresh = { ...asked, operations: operationsOver(store, asked.spending) };
    made.put(key, fresh);
    return fresh;
  };
}

/** The answer of the parts holds for a moment; that the server stops is true at once. */
function readyIn(phase: Phase | undefined, ready: Ready): Ready {
  const now = phase?.is() ?? 'running';
  return now === 'running' ? { ...ready, server: 'ok' } : { ...ready, ok: false, server: now };
}

/** The token that the operator chose, or one that is made at the first start and kept beside the data. */
function tokenOf(config: Config): { readonly token: string; readonly tokenFile: string | null } {
  if (config.API_TOKEN !== undefined) return { token: config.API_TOKEN, tokenFile: null };
  const tokenFile = join(dataFolder(config), 'api-token');
  return { token: tokenFrom(tokenFile), tokenFile };
}

/** Where files of ours lie beside the database. */
export function dataFolder(config: Pick<Config, 'DATABASE_URL'>): string {
  const file = databaseFile(config.DATABASE_URL);
  return file === null ? 'data' : dirname(file);
}

/** Where the keys of secrets come from: the environment, and a file beside a database that is one. */
export function vaultSource(config: Config): VaultSource {
  const { SECRETS_KEY: key, SECRETS_KEY_PREVIOUS: previous } = config;
  return sourceFor(databaseFile(config.DATABASE_URL), key, previous);
}

export type Phase = ReturnType<typeof createPhase>;

/** The life of a server: it is ready from the end of its start to the first moment of its stop. */
export function createPhase(log: Pick<World['log'], 'debug'>) {
  let now: 'starting' | 'running' | 'stopping' = 'starting';
  let what = 'start';
  return {
    is: () => now,
    run: () => {
      if (now === 'starting') now = 'running';
    },
    stop: () => {
      now = 'stopping';
    },
    /** Names the work for which the stop waits, for the case that it is given up. */
    waitsFor: () => what,
    /** Notes what is waited for, until something else is. */
    waitFor: <T>(name: string, work: Promise<T>): Promise<T> => {
      what = name;
      log.debug('stop_waits', { for: name });
      return work;
    },
  };
}
