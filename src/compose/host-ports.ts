import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import {
  loadEnvFile,
  readEnvText,
  readLeniently,
  secretsIn,
  strayVariables,
  userConfigFolder,
  type LenientRead,
} from '../config/config.ts';
import { AppError } from '../domain/errors.ts';
import { retentionDaysMin } from '../domain/policy.ts';
import { terminalAsking } from '../host/init/asking.ts';
import type { Asking, Copy, Data, HostPorts, SettingsRead, Telegram, Told } from '../host/ports.ts';
import { createSystem } from '../host/system.ts';
import { lockNameOf, lockState } from '../store/engine/lock.ts';
import { databaseFile } from '../store/engine/open.ts';
import { copyDatabase, copyName, fileBackups, listCopies, giveToOwnerOf } from '../store/files/backup.ts';
import { inspectFile, inspectPostgres } from '../store/files/inspection.ts';
import { restoreDatabase } from '../store/files/restoration.ts';
import { systemClock, systemStopwatch, systemTimer } from '../system/clock.ts';
import { newCode } from '../system/ids.ts';
import { createTelegramApi } from '../telegram/api.ts';
import { addLink } from '../telegram/chat/place/checklist.ts';
import { createSurvey, platformTime, type Surveyed } from '../telegram/survey.ts';

export interface HostGiven {
  readonly version: string;
  /** The variables of the process and of the `.env` in its working folder, when absent. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly folder?: string;
  readonly asking?: Asking;
}

/** What the verbs of this computer need of the other rooms. */
export function hostPorts({ version, environment, folder = process.cwd(), asking }: HostGiven): HostPorts {
  const read = () => {
    if (environment === undefined) loadEnvFile();
    return readLeniently(environment);
  };
  const system = createSystem({
    folder,
    // The sources and what is built of them lie at the same distance from it.
    program: fileURLToPath(new URL('../../', import.meta.url)),
    userConfig: userConfigFolder(environment),
    readEnv: (text) => settingsRead(readEnvText(text), folder),
    giveTo: giveToOwnerOf,
  });
  return {
    version,
    clock: systemClock,
    stopwatch: systemStopwatch,
    timer: systemTimer,
    settings: () => settingsRead(read(), folder, strayVariables(environment)),
    system,
    telegram,
    asking: asking ?? terminalAsking(),
    data: dataOf(() => read().config, { folder, host: system.host }),
  };
}

function settingsRead(
  { config, faults }: LenientRead,
  folder: string,
  strays: SettingsRead['strays'] = [],
): SettingsRead {
  const databasePlace = databaseFile(config.DATABASE_URL);
  const dataFolder = databasePlace === null ? join(folder, 'data') : dirname(databasePlace);
  return {
    faults,
    strays,
    secrets: secretsIn(config),
    settings: {
      token: config.TELEGRAM_BOT_TOKEN ?? null,
      apiRoot: config.TELEGRAM_API_ROOT,
      webhookUrl: config.TELEGRAM_WEBHOOK_URL ?? null,
      owners: config.TELEGRAM_OWNERS,
      isSandboxed: config.SANDBOX || config.TELEGRAM_BOT_TOKEN === undefined,
      timezone: config.DEFAULT_TIMEZONE,
      databaseFile: databasePlace,
      dataFolder,
      host: config.HTTP_HOST,
      port: config.HTTP_PORT,
      apiToken: config.API_TOKEN ?? null,
      tokenFile: join(dataFolder, 'api-token'),
      retentionDays: config.RETENTION_DAYS,
      retentionDaysMin: retentionDaysMin(),
      backupsKept: config.BACKUP_KEEP,
    },
  };
}

/* ---- the database ---- */

type ConfigOf = () => LenientRead['config'];

function dataOf(config: ConfigOf, { folder, host }: { folder: string; host: string }): Data {
  const file = () => {
    const place = databaseFile(config().DATABASE_URL);
    if (place !== null && !place.endsWith(':memory:')) return place;
    throw new AppError('store_unavailable', 'The database is not a file of this computer.');
  };
  return {
    loadDriver: () => {
      const probe = new Database(':memory:');
      const version = String(probe.prepare('select sqlite_version()').pluck().get());
      probe.close();
      return version;
    },
    inspect: async () => {
      const { DATABASE_URL: url } = config();
      const place = databaseFile(url);
      if (place !== null) return { inspected: inspectFile(place), held: lockState(lockNameOf(place)), server: null };
      const { inspection, lock, server } = await inspectPostgres(url);
      return { inspected: inspection, held: lock, server };
    },
    inspectFile: (place) => inspectFile(place),
    copies: () => listCopies(file()),
    setAside: () => setAside(file()),
    copy: (target, now) => copy(file(), target === null ? null : resolve(folder, target), now),
    prune: async (keep) => fileBackups(file()).prune(keep),
    restore: ({ copy: from, reached, approve }) => {
      const holder = { pid: process.pid, host, since: systemClock.now() };
      return restoreDatabase({ file: file(), copy: from, holder, reached }, approve);
    },
    files: () => filesOf(config()),
  };
}

async function copy(file: string, wished: string | null, now: number): Promise<Copy> {
  if (!existsSync(file)) throw new AppError('not_found', `There is no database ${file} yet; the first start makes it.`);
  if (wished === null) return { ...(await fileBackups(file, { isWaitedFor: true }).make(now)), at: now };
  const isFolder = statSync(wished, { throwIfNoEntry: false })?.isDirectory() === true;
  const target = isFolder ? join(wished, copyName(file, now)) : wished;
  if (existsSync(target)) throw new AppError('invalid_request', `${target} exists already. Name another file.`);
  if (!existsSync(dirname(target)))
    throw new AppError('not_found', `There is no folder ${dirname(target)}. Make it first, or name another.`);
  const bytes = await copyDatabase({ file, target, isWaitedFor: true });
  return { file: target, bytes, at: now };
}

/** Copies from before an upgrade of the schema or before a restore, the newest first. */
function setAside(file: string): readonly Copy[] {
  const folder = dirname(file);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => isSetAside(name, basename(file)));
  return names
    .map((name) => {
      const { size, mtimeMs } = statSync(join(folder, name));
      return { file: join(folder, name), bytes: size, at: mtimeMs };
    })
    .toSorted((a, b) => b.at - a.at);
}

function isSetAside(name: string, database: string): boolean {
  if (!name.startsWith(`${database}.before-`)) return false;
  return /^(?:\w+\.backup|restore-\d{8}-\d{6}(?:-\d+)?)$/.test(name.slice(`${database}.before-`.length));
}

/** What the product has written there, and nothing else that may lie in the same folder. */
function filesOf({ DATABASE_URL: url }: LenientRead['config']): readonly string[] {
  const file = databaseFile(url);
  const folder = file === null ? resolve('data') : dirname(file);
  const own = file === null ? [] : [file, lockNameOf(file), ...setAside(file).map(({ file: aside }) => aside)];
  const copies = file === null ? [] : listCopies(file).map(({ file: place }) => place);
  const besides = [join(folder, 'sandbox.db'), join(folder, 'api-token')];
  const logs = ['', '-journal', '-wal', '-shm'];
  return [...own, ...besides, ...copies].flatMap((name) => logs.map((rest) => `${name}${rest}`)).filter(existsSync);
}

/* ---- Telegram ---- */

const telegram: Telegram = {
  bot: (token, apiRoot) => {
    const api = createTelegramApi({ token, apiRoot, timer: systemTimer });
    const survey = createSurvey(api);
    return {
      me: async () => told(await survey.me()),
      webhook: async () => told(await survey.webhook()),
      heard: async (waitSeconds) => told(await survey.texts(waitSeconds)),
      standing: async (address, botId) => told(await survey.standing(address, botId)),
      close: () => api.close(),
    };
  },
  time: async (apiRoot) => told(await platformTime(apiRoot, systemClock)),
  groupLink: (username) => addLink(username),
  code: () => newCode(),
};

function told<T>(surveyed: Surveyed<T>): Told<T> {
  switch (surveyed.is) {
    case 'ok':
      return surveyed;
    case 'token':
    case 'conflict':
    case 'webhook':
      return { is: surveyed.is };
    case 'refused':
      return { is: 'refused', error: surveyed.text };
    case 'busy':
    case 'away':
      return { is: 'away', error: surveyed.text };
  }
}
