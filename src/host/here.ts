import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import type { Clock, Timer } from '../app/ports/outside.ts';
import {
  readEnvText,
  readLeniently,
  secretsIn,
  strayVariables,
  userConfigFolder,
  type LenientRead,
  type Stray,
} from '../config/config.ts';
import { loadEnvFile } from '../config/surroundings.ts';
import { lockNameOf, lockState } from '../store/engine/lock.ts';
import { databaseFile } from '../store/engine/open.ts';
import { keptAside, listCopies } from '../store/files/backup.ts';
import { inspectFile, inspectPostgres, type ServerInspection } from '../store/files/inspection.ts';
import { systemClock, systemTimer } from '../system/clock.ts';
import { addressFileName, isRunning } from '../system/own-address.ts';
import { childFault } from '../system/pool/pool.ts';
import { sourceFor, type VaultSource } from '../system/vault.ts';
import { terminalAsking, type Asking } from './init/asking.ts';

/** This computer, and the folder in which the server works. */
export interface Here {
  readonly version: string;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly asking: Asking;
  readonly system: System;
  /** The configuration, out of the environment and the `.env` of the working folder. What is wrong counts as absent. */
  readonly settings: () => Settings;
}

export interface Settings extends LenientRead {
  /** Null where the database is a Postgres server. */
  readonly database: string | null;
  readonly dataFolder: string;
  /** Where the token of the API is kept when none is set. */
  readonly tokenFile: string;
  readonly isSandboxed: boolean;
  /** Variables that are not read. */
  readonly strays: readonly Stray[];
  /** Values that must never be shown. */
  readonly secrets: readonly string[];
}

interface Given {
  readonly version: string;
  /** The variables of the process and of the `.env` in its working folder, when absent. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly folder?: string;
}

export function openHere({ version, environment, folder = process.cwd() }: Given): Here {
  return {
    version,
    clock: systemClock,
    timer: systemTimer,
    asking: terminalAsking(),
    system: systemIn(folder, userConfigFolder(environment)),
    settings: () => {
      if (environment === undefined) loadEnvFile();
      return settingsOf(readLeniently(environment), folder, strayVariables(environment));
    },
  };
}

function settingsOf(read: LenientRead, folder: string, strays: readonly Stray[] = []): Settings {
  const { config } = read;
  const database = databaseFile(config.DATABASE_URL);
  const dataFolder = database === null ? join(folder, 'data') : dirname(database);
  return {
    ...read,
    database,
    dataFolder,
    tokenFile: join(dataFolder, 'api-token'),
    isSandboxed: config.SANDBOX || config.TELEGRAM_BOT_TOKEN === undefined,
    strays,
    secrets: secretsIn(config),
  };
}

export type Ran =
  | { readonly is: 'ran'; readonly code: number; readonly out: string; readonly err: string }
  | { readonly is: 'absent' };

/** The operating system, as far as these verbs need it. */
export interface System {
  /** The working folder: the home of `.env`, and of everything that is named relatively. */
  readonly folder: string;
  /** The folder of the program. */
  readonly program: string;
  readonly node: { readonly path: string; readonly version: string; readonly zoneRules: string };
  readonly host: string;
  /** Where units of the user are kept. */
  readonly userUnits: string;
  readonly systemUnits: string;
  readonly userName: string;
  readonly zoneGuess: string;
  isRunning(pid: number): boolean;
  /** False where this computer was not started by systemd. */
  hasSystemd(): boolean;
  run(command: string, args: readonly string[]): Promise<Ran>;
  /** Proves that the driver of SQLite can be loaded; throws what it says. */
  loadDriver(): string;
  /** Why no child process can be started that evaluates what people write; null when one can. */
  childFault(): Promise<string | null>;
  /** The `.env` of the working folder by itself; null when there is none. */
  envFile(): Settings | null;
  giveToUser(user: string, path: string): void;
  /** Whose a file or a folder is: a name, or a number where there is no name. */
  ownerName(path: string): string;
}

function systemIn(folder: string, userConfig: string): System {
  return {
    folder,
    // The sources and what is built of them lie at the same distance from it.
    program: fileURLToPath(new URL('../../', import.meta.url)),
    node: { path: process.execPath, version: process.versions.node, zoneRules: process.versions['tz'] ?? 'unknown' },
    host: hostname(),
    userUnits: join(userConfig, 'systemd', 'user'),
    systemUnits: '/etc/systemd/system',
    userName: ownName(),
    zoneGuess: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    isRunning,
    hasSystemd: () => existsSync('/run/systemd/system'),
    run,
    loadDriver: () => {
      const probe = new Database(':memory:');
      const version = String(probe.prepare('select sqlite_version()').pluck().get());
      probe.close();
      return version;
    },
    childFault: () => childFault(systemTimer),
    envFile: () => {
      const file = join(folder, '.env');
      return existsSync(file) ? settingsOf(readEnvText(readFileSync(file, 'utf8')), folder) : null;
    },
    giveToUser: (user, path) => {
      if (process.getuid?.() === 0) execFileSync('chown', [user, path]);
    },
    ownerName: (path) => nameOf(statSync(path).uid),
  };
}

const commandMaxMs = 30_000;

function run(command: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, [...args], { timeout: commandMaxMs, encoding: 'utf8' }, (error, out, err) => {
      if (error === null) resolve({ is: 'ran', code: 0, out, err });
      else if (error.code === 'ENOENT') resolve({ is: 'absent' });
      else if (typeof error.code === 'number') resolve({ is: 'ran', code: error.code, out, err });
      else if (error.killed === true) resolve({ is: 'ran', code: -1, out, err: `${command} did not end in time` });
      else resolve({ is: 'ran', code: -1, out, err: err || error.message });
    });
  });
}

/** The number where there is no name, as of a container that runs under any number; systemd takes both. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 0);
  }
}

function nameOf(uid: number): string {
  if (uid === process.getuid?.()) return ownName();
  const lines = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [];
  const entry = lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid));
  return entry?.[0] ?? String(uid);
}

/* ---- the database of the configuration ---- */

export type Examined = ServerInspection;

/** The place where the key of the secrets is looked for. */
export function keySource({ config, database }: Settings): VaultSource {
  return sourceFor(database, config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS);
}

/** Needs no lock, so that it works beside a server that runs. */
export async function examineDatabase({ config, database }: Settings): Promise<Examined> {
  if (database === null) return inspectPostgres(config.DATABASE_URL);
  return { inspection: inspectFile(database), lock: lockState(lockNameOf(database)), server: null };
}

/** Files that the product has written there, and nothing else that may lie in the same folder. */
export function filesOf({ database, dataFolder }: Settings): readonly string[] {
  const own =
    database === null
      ? []
      : [database, lockNameOf(database), ...[...keptAside(database), ...listCopies(database)].map(({ file }) => file)];
  const besides = ['sandbox.db', 'api-token', 'alarm.json', addressFileName].map((name) => join(dataFolder, name));
  const logs = ['', '-journal', '-wal', '-shm'];
  return [...own, ...besides]
    .flatMap((name) => logs.map((rest) => `${name}${rest}`))
    .filter((file) => existsSync(file));
}
