import { systemWorld, type World } from './compose.ts';
import { startSandbox, type SandboxProcess } from './compose/sandbox-process.ts';
import { faultLines, loadEnvFile, readConfig, secretsIn, type Config, type ConfigFault } from './config.ts';
import { createSecrets } from './app/secrets.ts';
import { AppError } from './domain/errors.ts';

/** The sandbox alone, without the product: a Telegram on this computer, which outlives every start of the product. */
const exitCodes = { stopped: 0, failed: 1, badConfig: 78 } as const;

async function main(): Promise<void> {
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

main().catch(fail);
