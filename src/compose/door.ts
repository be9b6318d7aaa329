import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { createHttpApp } from '../adapters/http/app.ts';
import { serveHttp, type Listening } from '../adapters/http/server.ts';
import { databaseFile } from '../adapters/store/open.ts';
import { tokenFrom } from '../adapters/system/token-file.ts';
import type { Loop } from '../adapters/wake/loop.ts';
import { previewSchedule } from '../app/preview.ts';
import { createReadiness, type Watched } from '../app/readiness.ts';
import type { Store } from '../app/task-store.ts';
import type { Rooms, World } from '../compose.ts';
import type { Config } from '../config.ts';

export interface Door {
  readonly listening: Listening;
  readonly tokenFile: string | null;
}

interface Parts {
  readonly world: World;
  readonly rooms: Rooms;
  readonly store: Store;
  readonly loops: readonly Loop[];
  readonly version: string;
  /** What else must be well for the product to be ready. */
  readonly watched: readonly Watched[];
  readonly takeOver: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
}

/** A shorter token can be guessed by whoever can ask often enough. */
const soundTokenLength = 16;
/** A loop that has not turned for this long will not turn again by itself. */
const livenessMs = 10 * 60_000;

export async function openDoor(config: Config, parts: Parts): Promise<Door> {
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
      ready: createReadiness({ ...world, store }, [
        ...loops.filter(({ name }) => name !== 'housekeeper'),
        ...parts.watched,
      ]),
    },
  });
  const { takeOver } = parts;
  return { listening: await serveHttp({ app, takeOver, host: config.HTTP_HOST, port: config.HTTP_PORT }), tokenFile };
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
