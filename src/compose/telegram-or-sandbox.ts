import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Meter } from '../app/ports/metering.ts';
import type { Timer } from '../app/ports/outside.ts';
import type { Config } from '../config/config.ts';
import { createSandboxPages, foreignness } from '../sandbox/control/control.ts';
import { openSandbox, serveSandbox } from '../sandbox/sandbox.ts';
import type { Travel } from '../sandbox/world/world.ts';
import { databaseFile } from '../store/engine/open.ts';
import { createTelegramApi } from '../telegram/api.ts';
import { dataFolder } from './api.ts';
import type { World } from './assembly.ts';

/** Without a token there is no Telegram to talk to, so the product brings one of its own. */
export function isSandboxed(config: Pick<Config, 'SANDBOX' | 'TELEGRAM_BOT_TOKEN'>): boolean {
  return config.SANDBOX || config.TELEGRAM_BOT_TOKEN === undefined;
}

/** The token of the bot in the sandbox. It is no secret: it opens the sandbox of the reader alone. */
export const sandboxToken = '777000001:the-sandbox-knows-no-other-bot-token';

interface WireDeps {
  readonly timer: Timer;
  readonly meter: Meter;
}

/** The way to Telegram, or to the sandbox in its place. */
export type Wire = Awaited<ReturnType<typeof openWire>>;

/** Timeouts of Telegram are measured by the real clock: a jump must not look like an answer that is overdue. */
export async function openWire(config: Config, world: World, { timer, meter }: WireDeps) {
  const measure = { meter, stopwatch: world.stopwatch };
  const token = config.TELEGRAM_BOT_TOKEN;
  const isReal = token !== undefined && !config.SANDBOX;
  const sandbox = isReal ? null : await openSandboxRoom(config, world);
  const [ours, apiRoot] = sandbox === null ? [token ?? '', config.TELEGRAM_API_ROOT] : [sandboxToken, sandbox.apiRoot];
  const api = createTelegramApi({ token: ours, apiRoot, timer, measure });
  const close = async () => {
    api.close();
    await sandbox?.close();
  };
  return { api, sandbox, close };
}

const root = '/sandbox';

/** Where tasks find the site of the sandbox, the only place of this server that they may call. */
export function siteAddress(port: number): string {
  return `http://127.0.0.1:${port}${root}/site`;
}

async function openSandboxRoom(config: Config, world: World) {
  const inMemory = databaseFile(config.DATABASE_URL) === ':memory:';
  const sandbox = openSandbox({
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
  const close = async () => {
    await sandbox.close();
    await served.close();
  };
  return { apiRoot: served.apiRoot, world: sandbox.world, botApi: sandbox.botApi, close };
}

const links = [
  { title: 'Manual', href: '/docs/start' },
  { title: 'API', href: '/docs' },
  { title: 'Health', href: '/healthz' },
];

/** Serves all that is below /sandbox: the pages, with the clock that they move, and the Bot API. */
export function openSandboxPages(
  world: World,
  { sandbox, travel, starters }: { sandbox: NonNullable<Wire['sandbox']>; travel: Travel; starters: () => string[] },
) {
  const pages = createSandboxPages({ ...world, world: sandbox.world, travel, links, starters });
  return {
    takeOver: (incoming: IncomingMessage, outgoing: ServerResponse): boolean => {
      const path = (incoming.url ?? '').split('?', 1)[0] ?? '';
      if (path !== root && !path.startsWith(`${root}/`)) return false;
      const below = (incoming.url ?? '').slice(root.length);
      const isBot = /^\/(?:file\/)?bot/.test(below);
      // The pages refuse clients of other computers by themselves.
      if (isBot && foreignness(incoming) === null) sandbox.botApi(incoming, outgoing, below);
      else pages.handle(incoming, outgoing, path.slice(root.length));
      return true;
    },
    close: () => pages.close(),
  };
}
