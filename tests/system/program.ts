import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onPostgres } from '../support/postgres.ts';
import { quickFlags } from '../support/sources.ts';
import type { Telegram } from './telegram.ts';

/** The server as people start it: built, in a process of its own, and known only by its address and its log. */
export interface Boot {
  readonly pid: number;
  readonly bootedAt: number;
  /** The address once the door is open; null when the process ended before. */
  readonly url: Promise<string | null>;
  readonly exit: Promise<Exit>;
  readonly isAlive: () => boolean;
  readonly isKilled: () => boolean;
  readonly log: readonly LogLine[];
  readonly errors: () => string;
  kill(): Promise<Exit>;
  stop(): Promise<Exit>;
  /** Resolves with what the preloaded module answers. */
  send(message: object): Promise<unknown>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly at: number;
}

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly [fact: string]: unknown;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
export const token = 'a-token-for-system-tests-only-and-for-nothing-else';
const buildTriesMax = 10;
const children = new Set<ChildProcess>();

/** A folder of this run; everything that it starts or writes lies in it. */
export function temporaryPlace(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-system-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Builds what is tested into a folder of its own, so that no other build of this checkout can change it meanwhile. */
export async function build(folder: string, sources = root): Promise<string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  // The types are checked by themselves, for all of the checkout.
  const args = [compiler, '-p', join(sources, 'src/tsconfig.json'), '--outDir', join(folder, 'dist'), '--noCheck'];
  for (let left = buildTriesMax; ; left -= 1) {
    try {
      await promisify(execFile)(process.execPath, args, { cwd: sources });
      break;
    } catch (error) {
      // The sources may be in the middle of an edit; a build that stays broken is told.
      if (left === 1)
        throw new Error(`The server cannot be built. ${(error as { stdout?: string }).stdout ?? ''}`, { cause: error });
      await pause(3000);
    }
  }
  for (const name of ['page.html', 'script', 'style'])
    cpSync(join(sources, 'src/sandbox/page', name), join(folder, 'dist/sandbox/page', name), { recursive: true });
  cpSync(join(sources, 'drizzle'), join(folder, 'drizzle'), { recursive: true });
  cpSync(join(sources, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'dist/main.js');
}

export interface StartOptions {
  readonly main: string;
  readonly folder: string;
  readonly databaseUrl: string;
  /** What the server takes for Telegram. */
  readonly telegram: Telegram;
  readonly settings?: Readonly<Record<string, string>>;
  /** A module that is loaded before the server. */
  readonly preload?: string;
  /** What the command begins with, where it runs in a place of its own; and how it is reached there. */
  readonly host?: { readonly within: readonly string[]; readonly address: string };
}

/** Whatever way this process ends, even by `kill -9`: its end of the channel closes, and the server ends as well. */
const endsWithItsParent = `data:text/javascript,${encodeURIComponent(`
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
`)}`;

type Starting = Omit<StartOptions, 'telegram'> & { readonly telegram: Pick<Telegram, 'settings'> };

export function start({ main, folder, databaseUrl, telegram, settings, preload, host }: Starting): Boot {
  const bootedAt = Date.now();
  const imports = [endsWithItsParent, ...(preload === undefined ? [] : [preload])].flatMap((module) => [
    '--import',
    module,
  ]);
  const [command, ...before] = [...(host?.within ?? []), process.execPath];
  const child = spawn(command, [...before, ...quickFlags, ...imports, main], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      DATABASE_URL: databaseUrl,
      API_TOKEN: token,
      SECRETS_KEY: onPostgres.SECRETS_KEY,
      ...(host === undefined ? { HTTP_PORT: '0' } : { HTTP_HOST: '0.0.0.0', HTTP_PORT: ownPort }),
      MIN_INTERVAL: 'PT1S',
      ECHO_ACTION: '1',
      ...telegram.settings,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.add(child);
  const log: LogLine[] = [];
  let errors = '';
  child.stderr?.on('data', (text: Buffer) => (errors += text.toString()));
  const exit = new Promise<Exit>((resolve) => {
    // `close` and not `exit`: only then everything that it wrote has been read.
    child.once('close', (code, signal) => {
      children.delete(child);
      resolve({ code, signal, at: Date.now() });
    });
  });
  const url = firstUrl({ child, log, exit, address: host?.address });
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exit;
  };
  return {
    pid: child.pid ?? 0,
    bootedAt,
    url,
    exit,
    isAlive: () => children.has(child),
    isKilled: () => child.signalCode === 'SIGKILL',
    log,
    errors: () => errors,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    send: (message) => ask(child, message),
  };
}

/** Of a host that has nothing else on it. */
const ownPort = '8787';

interface Heard {
  readonly child: ChildProcess;
  readonly log: LogLine[];
  readonly exit: Promise<Exit>;
  readonly address: string | undefined;
}

function firstUrl({ child, log, exit, address }: Heard): Promise<string | null> {
  return new Promise((resolve) => {
    void exit.then(() => resolve(null));
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const read = readLine(line);
      log.push(read);
      if (read.event !== 'started') return;
      resolve(
        address === undefined
          ? new URL(String(read['api'] ?? read['api_root'])).origin
          : `http://${address}:${ownPort}`,
      );
    });
  });
}

/** A killed process may leave half a line behind. */
function readLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { level: 'cut', event: line };
  }
}

function ask(child: ChildProcess, message: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.send(message, (error) => {
      if (error !== null) reject(error);
    });
  });
}

/** Ends what is still running, each by its own process id: servers that a scenario left behind when it failed. */
export function endAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

process.once('exit', endAll);

/** Asks until the answer is yes; false when it took too long. */
export async function becomes(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > until) return false;
    await pause(20);
  }
}

export async function readyUrl(boot: Boot): Promise<string> {
  const url = await boot.url;
  if (url === null) throw new Error(`The server ended before it was ready. ${boot.errors()}`);
  return url;
}
