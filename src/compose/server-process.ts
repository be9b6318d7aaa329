import { readFileSync } from 'node:fs';
import { forms } from '../app/actions/forms.ts';
import { createSecrets, type Secrets } from '../app/operations/secrets.ts';
import { faultLines, readConfig, secretsIn, strayVariables, type Config } from '../config/config.ts';
import type { ConfigFault } from '../config/operator-secrets.ts';
import { loadEnvFile } from '../config/surroundings.ts';
import { AppError, errorText } from '../domain/errors.ts';
import { signalRepeatMs, stopMaxMs } from '../domain/limits.ts';
import { does, everyKind } from '../domain/processes/process.ts';
import { typedPath } from '../host/words.ts';
import type { LogWish } from '../system/log.ts';
import { systemWorld, type World } from './assembly.ts';
import { chatPage, greetingText } from './greeting.ts';
import { startServer, type Server } from './server.ts';

/** Hides nothing until the configuration is read. */
let hidden: Pick<Secrets, 'hide'> = createSecrets();

const exitCodes = { stopped: 0, failed: 1, badConfig: 78 } as const;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The server as a process of its own: it runs until a signal ends it. The code says how a start that came to nothing ends. */
export async function runServer(role?: string): Promise<number> {
  try {
    return await start(role);
  } catch (error) {
    process.stderr.write(`${hidden.hide(textOf(error))}\n`);
    return process.exit(exitCodes.failed);
  }
}

/** A fault that a person can mend is told in a sentence; a trace is for faults of ours. */
function textOf(error: unknown): string {
  if (error instanceof AppError || !(error instanceof Error)) return errorText(error);
  return error.stack ?? error.message;
}

async function start(role: string | undefined): Promise<number> {
  try {
    loadEnvFile();
  } catch (error) {
    const problem = `cannot be read (${(error as { code?: string }).code ?? 'unknown'})`;
    return refuse([{ variable: '.env', problem, example: 'chmod 600 .env, owned by the user who starts the server' }]);
  }
  const read = readConfig(undefined, role);
  if ('faults' in read) return refuse(read.faults);
  const unknown = unknownKinds(read.config);
  if (unknown !== null) return refuse([unknown]);
  await run(read.config);
  return exitCodes.stopped;
}

/** A worker for kinds that this release does not do would wait for ever. */
function unknownKinds({ WORKER_KINDS: takes, ECHO_ACTION: isEchoed }: Config): ConfigFault | null {
  const known = [...Object.keys(forms), ...(isEchoed ? ['echo'] : [])].toSorted();
  const unknown = [...takes.limits.keys()].filter((kind) => !known.includes(kind));
  if (unknown.length === 0) return null;
  const problem = `names ${unknown.join(', ')}, which this version does not do; it knows ${known.join(', ')}`;
  return { variable: 'WORKER_KINDS', problem, example: 'http:50,message' };
}

function refuse(faults: readonly ConfigFault[]): number {
  process.stderr.write(faultLines(faults));
  return exitCodes.badConfig;
}

async function run(config: Config): Promise<void> {
  const secrets = createSecrets(secretsIn(config));
  hidden = secrets;
  const world = systemWorld(logOf(config), secrets);
  const { log } = world;
  for (const { isUnbuilt, ...stray } of strayVariables())
    log.warn(isUnbuilt ? 'variable_without_effect' : 'unknown_variable', { ...stray });
  if (!does(config.ROLE, 'work') && config.WORKER_KINDS !== everyKind)
    log.warn('variable_without_effect', { variable: 'WORKER_KINDS', role: config.ROLE });
  const fail = (event: string) => (error: unknown) => {
    log.error(event, { error: textOf(error) });
    process.exit(exitCodes.failed);
  };
  process.on('uncaughtException', fail('uncaught_exception'));
  process.on('unhandledRejection', fail('unhandled_rejection'));
  const zoneRules = process.versions['tz'] ?? 'unknown';
  let isStandingBy = false;
  const starting = startServer({
    config,
    world,
    secrets,
    isWholeProcess: true,
    version,
    zoneRules,
    onLost: fail('scheduler_lock_lost'),
    printClaim: tellClaim,
    onStandby: (holder) => {
      isStandingBy = holder !== null;
    },
  });
  stopOnSignal(world, starting, { failed: fail('stop_failed'), isStandingBy: () => isStandingBy });
  // Last of all, so that a stop right after the announcement is a clean stop.
  await announce(await starting, world);
}

/** A person at a terminal is told of trouble alone, unless LOG_LEVEL says more. */
function logOf({ LOG_LEVEL: wished }: Config): LogWish {
  const isTerminal = process.stdout.isTTY;
  return { level: wished ?? (isTerminal ? 'warn' : 'info'), isTerminal };
}

/**
 * The first signal stops cleanly, also while the start is still under way. A terminal and a package manager may both pass
 * on the same one, so a second within a moment means nothing; after that it ends the process at once.
 */
function stopOnSignal(
  { log, stopwatch, timer }: World,
  starting: Promise<Server>,
  { failed, isStandingBy }: { readonly failed: (error: unknown) => void; readonly isStandingBy: () => boolean },
): void {
  let askedAt: number | null = null;
  let waitsFor = () => 'the start';
  void starting.then(
    (server) => (waitsFor = server.waitsFor),
    () => undefined,
  );
  const giveUp = (event: string) => {
    log.error(event, { waits_for: waitsFor(), after_ms: Math.round(stopwatch.elapsed() - (askedAt ?? 0)) });
    process.exit(exitCodes.failed);
  };
  const stop = (signal: string) => {
    const now = stopwatch.elapsed();
    if (askedAt !== null) {
      if (now - askedAt > signalRepeatMs) giveUp('stop_cut_short');
      return;
    }
    askedAt = now;
    log.info('stopping', { signal });
    // A start that hangs must not make the stop hang as well.
    timer.after(stopMaxMs, () => giveUp('stop_timed_out'));
    const stopped = () => {
      log.info('stopped', { ms: Math.round(stopwatch.elapsed() - now) });
      process.exit(exitCodes.stopped);
    };
    // A standby holds nothing yet, and the end that it waits for may be far away.
    if (isStandingBy()) return stopped();
    starting.then((server) => server.stop()).then(stopped, failed);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

let claim: string | null = null;
/** Until then the code is a part of the greeting. */
let isGreeted = !process.stdout.isTTY;

/** The code that makes an owner is never in the log, which may go anywhere. */
function tellClaim(code: string): void {
  claim = code;
  if (!isGreeted) return;
  const words = 'Nobody owns this bot yet. The first person who sends it this in a private chat does:';
  process.stdout.write(`\n${words} /start ${code}\n\n`);
}

/** In the log for machines, and in words as well: whoever lost a file must not take the empty one for theirs. */
function tellLost(log: World['log'], copy: string): void {
  const line = `cronogram restore ${typedPath(copy, process.cwd())}`;
  log.warn('database_made_anew', { newest_copy: copy, restore: line });
  const words = 'There was no database, so an empty one was made, although copies of one are beside it.';
  process.stderr.write(`\n${words}\nTo continue from the newest of them, stop the server and run:\n\n  ${line}\n\n`);
}

/** Telegram answers within this time as a rule; a greeting that waited for longer would look like a start that hangs. */
const greetingMaxMs = 2000;

/** For people on a terminal, in words; for machines, one line of JSON. */
async function announce(server: Server, { log, timer }: World): Promise<void> {
  const places = {
    data: server.dataFile ?? 'postgres',
    ...(server.sandbox === null ? {} : { chat: chatPage(server.url) }),
    api: `${server.url}/docs`,
    health: `${server.url}/healthz`,
    token_file: server.tokenFile ?? 'none, API_TOKEN is set',
  };
  log.info('started', { version, ...places });
  if (server.lostCopy !== null) tellLost(log, server.lostCopy);
  if (!process.stdout.isTTY) return;
  const late = new Promise<null>((resolve) => timer.after(greetingMaxMs, () => resolve(null)));
  const bot = await Promise.race([server.bot, late]);
  const isSandboxed = server.sandbox !== null;
  isGreeted = true;
  process.stdout.write(greetingText({ version, ...server, isSandboxed, bot, claim }, process.cwd()));
}
