import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { serveStandalone } from '../adapters/sandbox/standalone.ts';
import type { Config } from '../config.ts';
import type { World } from '../compose.ts';
import { sandboxToken } from './chat.ts';
import { dataFolder } from './door.ts';

/** The sandbox as a process of its own, for a product that is told to take it for Telegram. */
export interface SandboxProcess {
  readonly page: string;
  readonly apiRoot: string;
  readonly dataFile: string;
  /** The token of its bot where it is the built-in one, which is no secret; null where the operator chose one. */
  readonly builtInToken: string | null;
  stop(): Promise<void>;
}

/** It plays with the limits that the product keeps to. */
export async function startSandbox(config: Config, world: World): Promise<SandboxProcess> {
  const folder = dataFolder(config);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const dataFile = join(folder, 'sandbox.db');
  const limits = {
    globalPerSecond: config.TELEGRAM_RATE_GLOBAL,
    chatPerSecond: config.TELEGRAM_RATE_CHAT,
    groupPerMinute: config.TELEGRAM_RATE_GROUP,
  };
  const token = config.TELEGRAM_BOT_TOKEN ?? sandboxToken;
  const served = await serveStandalone({ ...world, file: dataFile, token, limits }, config.HTTP_PORT, config.HTTP_HOST);
  return {
    page: served.page,
    apiRoot: served.apiRoot,
    dataFile,
    builtInToken: config.TELEGRAM_BOT_TOKEN === undefined ? sandboxToken : null,
    stop: () => served.close(),
  };
}
