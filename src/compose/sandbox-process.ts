import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createSecrets } from '../app/operations/secrets.ts';
import { faultLines, loadEnvFile, readConfig, secretsIn, type Config, type ConfigFault } from '../config/config.ts';
import { AppError } from '../domain/errors.ts';
import { serveStandalone } from '../sandbox/standalone.ts';
import { dataFolder } from './api.ts';
import { systemWorld, type World } from './assembly.ts';
import { sandboxToken } from './chat.ts';

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
async function startSandbox(config: Config, world: World): Promise<SandboxProcess> {
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

const exitCodes = { stopped: 0, failed: 1, badConfig: 78 } as const;

/** The sandbox alone, without the product: a Telegram on this computer, which outlives every start of the product. */
export async function runSandbox(): Promise<void> {
  await begin().catch(fail);
}

async function begin(): Promise<void> {
  loadEnvFile();
  const read = readConfig();
  const faults = 'faults' in read ? read.faults : hostFaults(read.config);
  if ('config' in read && faults.length === 0) await run(read.config);
  else refuse(faults);
}

/** Whoever may be asked from elsewhere expects to be answered there, and the sandbox answers nobody else. */
function hostFaults({ HTTP_HOST: host }: Config): ConfigFault[] {
  if (/^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host)) return [];
  const problem = 'is not this computer alone: the sandbox answers nobody else';
  return [{ variable: 'HTTP_HOST', problem, example: '127.0.0.1' }];
}

function refuse(faults: readonly ConfigFault[]): void {
  process.stderr.write(faultLines(faults));
  process.exitCode = exitCodes.badConfig;
}

async function run(config: Config): Promise<void> {
  const world = systemWorld(config.LOG_LEVEL, createSecrets(secretsIn(config)));
  const starting = startSandbox(config, world);
  let isStopping = false;
  const stop = (signal: string) => {
    // A terminal and a package manager may both pass on the same signal.
    if (isStopping) return;
    isStopping = true;
    world.log.info('stopping', { signal });
    starting.then((sandbox) => sandbox.stop()).then(() => process.exit(exitCodes.stopped), fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  announce(await starting, world);
}

/** For people on a terminal, in words; for machines, one line of JSON. */
function announce({ page, apiRoot, dataFile, builtInToken }: SandboxProcess, { log }: World): void {
  log.info('started', { chat: page, api_root: apiRoot, data: dataFile });
  if (!process.stdout.isTTY) return;
  const token = builtInToken ?? '<the token that is set here>';
  process.stdout.write(`
  The sandbox alone
  chat        ${page}
  data        ${dataFile}

  To let Cronogram talk to it, start it with
  TELEGRAM_API_ROOT=${apiRoot} TELEGRAM_BOT_TOKEN='${token}' HTTP_PORT=8788
\n`);
}

function fail(error: unknown): void {
  const text =
    error instanceof AppError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(exitCodes.failed);
}
