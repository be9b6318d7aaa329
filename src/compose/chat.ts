import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Meter } from '../app/ports/metering.ts';
import type { Timer } from '../app/ports/outside.ts';
import type { Config } from '../config/config.ts';
import { createSandboxPages, type SandboxPages, foreignness } from '../sandbox/control/control.ts';
import { openSandbox, type Sandbox, serveSandbox } from '../sandbox/sandbox.ts';
import type { World as SandboxWorld, Travel } from '../sandbox/world/world.ts';
import { databaseFile } from '../store/engine/open.ts';
import { createTelegramApi, type TelegramApi } from '../telegram/api.ts';
import { dataFolder } from './api.ts';
import type { World } from './assembly.ts';

/** Without a token there is no Telegram to talk to, so the product brings one of its own. */
export function isSandboxed(config: Pick<Config, 'SANDBOX' | 'TELEGRAM_BOT_TOKEN'>): boolean {
  return config.SANDBOX || config.TELEGRAM_BOT_TOKEN === undefined;
}

/** The other end of the wire: Telegram, or the sandbox in its place. */
export interface Wire {
  readonly api: TelegramApi;
  readonly sandbox: SandboxRoom | null;
  close(): Promise<void>;
}

/** The token of the bot in the sandbox; whoever reads this can play with nobody's bot but their own. */
export const sandboxToken = '777000001:the-sandbox-knows-no-other-bot-token';

interface WireNeeds {
  readonly timer: Timer;
  readonly meter: Meter;
}

/** Patience with the other end is measured by the real clock: a jump must not look like an answer that is overdue. */
export async function openWire(config: Config, world: World, { timer, meter }: WireNeeds): Promise<Wire> {
  const measure = { meter, stopwatch: world.stopwatch };
  const token = config.TELEGRAM_BOT_TOKEN;
  if (token !== undefined && !config.SANDBOX) {
    const api = createTelegramApi({ token, apiRoot: config.TELEGRAM_API_ROOT, timer, measure });
    return { api, sandbox: null, close: async () => api.close() };
  }
  const sandbox = await openSandboxRoom(config, world);
  const api = createTelegramApi({ token: sandboxToken, apiRoot: sandbox.apiRoot, timer, measure });
  return {
    api,
    sandbox,
    close: async () => {
      api.close();
      await sandbox.close();
    },
  };
}

export interface SandboxRoom {
  readonly apiRoot: string;
  readonly world: SandboxWorld;
  /** Puts the pages there, once it is known how time is moved. */
  furnish(travel: Travel, starters: () => readonly string[]): void;
  /** Takes over what is asked below /sandbox. */
  readonly takeOver: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
  /** Ends the streams of the pages, which would hold up a stop. */
  leave(): void;
  close(): Promise<void>;
}

const root = '/sandbox';

async function openSandboxRoom(config: Config, world: World): Promise<SandboxRoom> {
  const inMemory = databaseFile(config.DATABASE_URL) === ':memory:';
  const sandbox: Sandbox = openSandbox({
    ...world,
    file: inMemory ? ':memory:' : join(dataFolder(config), 'sandbox.db'),
    token: sandboxToken,
    limits: {
      globalPerSecond: config.TELEGRAM_RATE_GLOBAL,
      chatPerSecond: config.TELEGRAM_RATE_CHAT,
      groupPerMinute: config.TELEGRAM_RATE_GROUP,
    },
  });
  // The bot has a door of its own, so that it is served until the very end of a stop.
  const served = await serveSandbox(sandbox, 0);
  let pages: SandboxPages | null = null;
  return {
    apiRoot: served.apiRoot,
    world: sandbox.world,
    furnish: (travel, starters) => {
      const links = [
        { title: 'Manual', href: '/docs/start' },
        { title: 'API', href: '/docs' },
        { title: 'Health', href: '/healthz' },
      ];
      pages = createSandboxPages({ ...world, world: sandbox.world, travel, links, starters });
    },
    takeOver: (incoming, outgoing) => {
      const path = (incoming.url ?? '').split('?', 1)[0] ?? '';
      if (path !== root && !path.startsWith(`${root}/`)) return false;
      const below = (incoming.url ?? '').slice(root.length);
      const isBot = /^\/(?:file\/)?bot/.test(below);
      // The pages refuse whoever is not on this computer by themselves.
      if (isBot && foreignness(incoming) === null) sandbox.botApi(incoming, outgoing, below);
      else pages?.handle(incoming, outgoing, path.slice(root.length));
      return true;
    },
    leave: () => pages?.close(),
    close: async () => {
      await sandbox.close();
      await served.close();
    },
  };
}
