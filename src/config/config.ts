import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { blobQuotaDefault } from '../domain/files/limits.ts';
import { apiTokenLengthMin, maxRunsMax } from '../domain/limits.ts';
import { roles } from '../domain/processes/process.ts';
import type { OperatorSecret } from '../domain/secrets/secret.ts';
import { editDistance } from '../domain/when/spelling.ts';
import {
  whole,
  duration,
  retentionDays,
  flag,
  hosts,
  numbers,
  prices,
  oneOf,
  secretsKey,
  size,
  webAddress,
  workerKinds,
  zone,
} from './fields.ts';
import { type ConfigFault, isOperatorSecret, readOperatorSecrets, readSecretFile } from './operator-secrets.ts';
import type { Environment } from './surroundings.ts';

const schema = z.object({
  TELEGRAM_BOT_TOKEN: z
    .string()
    .regex(/^\d{1,20}:[\w-]{20,100}$/, 'is the token that @BotFather gave you')
    .optional()
    .meta({ example: '123456789:the-rest-of-the-token-of-your-bot' }),
  TELEGRAM_API_ROOT: webAddress.default('https://api.telegram.org').meta({ example: 'https://api.telegram.org' }),
  TELEGRAM_OWNERS: numbers('user ids')
    .refine(
      (ids) => ids.every((id) => !id.startsWith('-')),
      'is a list of user ids, separated by commas; a group cannot own the bot',
    )
    .meta({ example: '1234567,2345678' }),
  TELEGRAM_CHATS: numbers('chat ids').meta({ example: '-1001234567890,1234567' }),
  TELEGRAM_WEBHOOK_URL: webAddress.optional().meta({ example: 'https://bot.example.org/telegram' }),
  TELEGRAM_WEBHOOK_SECRET: z
    .string()
    .regex(/^[\w-]{16,256}$/, 'has 16 to 256 letters, digits, underscores or hyphens')
    .optional()
    .meta({ example: 'the output of: openssl rand -hex 32' }),
  TELEGRAM_RATE_GLOBAL: whole(1, 1000, 30),
  TELEGRAM_RATE_CHAT: whole(1, 1000, 1),
  TELEGRAM_RATE_GROUP: whole(1, 100_000, 20),
  DEFAULT_TIMEZONE: zone,
  SANDBOX: flag('0'),
  DATABASE_URL: z
    .string()
    .regex(/^(file:.+|postgres(ql)?:\/\/.+)$/, 'is file:<path> or postgres://user@host/database')
    .refine(
      (text) => !text.startsWith('postgres') || URL.canParse(text),
      'cannot be read as an address: write special characters of the password as %23 for #, %2F for / and so on',
    )
    .default('file:data/cronogram.db')
    .meta({ example: 'file:data/cronogram.db' }),
  DATABASE_DIRECT_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/.+$/, 'is postgres://user@host/database')
    .refine((text) => URL.canParse(text), 'cannot be read as an address')
    .optional()
    .meta({ example: 'postgres://cronogram:password@postgres.internal/cronogram' }),
  DATABASE_POOL: whole(2, 1000, 10),
  ENGINE: oneOf(['embedded', 'graphile', 'memory']).optional().meta({ example: 'graphile' }),
  ROLE: oneOf(roles).default('all').meta({ example: 'worker' }),
  WORKER_KINDS: workerKinds,
  HTTP_HOST: z
    .string()
    .regex(/^[\w.:-]+$/, 'is a host name or an address')
    .default('127.0.0.1')
    .meta({ example: '127.0.0.1' }),
  HTTP_PORT: whole(0, 65_535, 8787),
  API_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{1,512}$/, 'has 1 to 512 printable characters without spaces')
    .optional()
    .meta({ example: 'the output of: openssl rand -base64 32' }),
  API_RATE: whole(0, 1_000_000, 1000),
  LOG_LEVEL: z
    .enum(
      ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'],
      'is silent, fatal, error, warn, info, debug or trace',
    )
    .optional()
    .meta({ example: 'info' }),
  QUOTA_PER_CHAT: whole(1, 1_000_000, 500),
  QUOTA_PER_USER: whole(1, 1_000_000, 50),
  BLOB_QUOTA_PER_CHAT: size('1MB', '1TB', blobQuotaDefault),
  MIN_INTERVAL: duration('PT1M')
    .refine((ms) => ms >= 1000, 'is at least PT1S')
    .meta({ example: 'PT1M' }),
  MAX_RUNS_DEFAULT: whole(0, maxRunsMax, 0),
  RUN_CONCURRENCY: whole(1, 10_000, 200),
  DELIVERY_CONCURRENCY: whole(1, 10_000, 200),
  BATCH_SIZE: whole(1, 2000, 100),
  RETENTION_DAYS: retentionDays,
  BACKUP_KEEP: whole(0, 1000, 7),
  SECRETS_KEY: secretsKey,
  SECRETS_KEY_PREVIOUS: secretsKey,
  SECOND_OPINION: flag('1'),
  HEARTBEAT_URL: webAddress.optional().meta({ example: 'https://hc-ping.com/the-id-of-your-check' }),
  EGRESS_ALLOW: hosts,
  HOST_CONCURRENCY: whole(1, 10_000, 4),
  HOST_RATE: whole(1, 10_000, 10),
  PRICES: prices,
  ECHO_ACTION: flag('0'),
});

export const CONFIG_KEYS: readonly string[] = Object.keys(schema.shape);

/** An example for the message that says what is wrong with a variable. */
function exampleOf(variable: keyof typeof schema.shape): string {
  return String(schema.shape[variable].meta()?.['example']);
}

/** Variables that hold a secret; each can also be given as the path of a file that holds it, `<NAME>_FILE`. */
const secretKeys = [
  'TELEGRAM_BOT_TOKEN',
  'TELEGRAM_WEBHOOK_SECRET',
  'API_TOKEN',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'SECRETS_KEY',
  'SECRETS_KEY_PREVIOUS',
  // The address is a secret: with it anybody could pretend that all is well.
  'HEARTBEAT_URL',
] as const;

export type Config = Readonly<z.output<typeof schema>> & {
  /** SECRET_<NAME> and what is said about each. */
  readonly operatorSecrets: readonly OperatorSecret[];
};

/** A line for each, with what to write instead. */
export function faultLines(faults: readonly ConfigFault[]): string {
  return faults.map(({ variable, problem, example }) => `${variable} ${problem}. Example: ${example}\n`).join('');
}

export type ConfigResult = { readonly config: Config } | { readonly faults: readonly ConfigFault[] };

/** Tells every fault at once, so that all are mended before one start. An empty variable counts as absent. A role that is given goes before ROLE. */
export function readConfig(environment: Environment = process.env, role?: string): ConfigResult {
  const read = readParts(role === undefined ? environment : { ...environment, ROLE: role });
  if ('faults' in read) return read;
  const missing = missingOnPostgres(read.config);
  return missing.length > 0 ? { faults: missing } : read;
}

/** What is there, before it is asked whether something is missing. */
function readParts(environment: Environment): ConfigResult {
  const given = Object.fromEntries(CONFIG_KEYS.flatMap((key) => (environment[key] ? [[key, environment[key]]] : [])));
  const faults: ConfigFault[] = [];
  for (const key of secretKeys) {
    const file = environment[`${key}_FILE`];
    if (file !== undefined && file !== '') readSecret({ key, file, given, faults });
  }
  const result = schema.safeParse(given);
  for (const issue of result.error?.issues ?? []) {
    // An issue begins with the name of its variable.
    const variable = issue.path[0] as keyof typeof schema.shape;
    faults.push({ variable, problem: issue.message, example: exampleOf(variable) });
  }
  const operator = readOperatorSecrets(environment);
  faults.push(...operator.faults);
  if (result.success) faults.push(...togetherFaults(result.data));
  if (!result.success || faults.length > 0) return { faults };
  return { config: Object.freeze({ ...result.data, operatorSecrets: operator.secrets }) };
}

/**
 * Every text of the configuration that must not be written anywhere: the secrets, and the parts of them that others repeat.
 * An address stands without its host, which alone is no secret.
 */
export function secretsIn(config: Config): readonly string[] {
  const addresses = [config.DATABASE_URL, config.DATABASE_DIRECT_URL, config.HEARTBEAT_URL].flatMap((url) =>
    url === undefined ? [] : partsOf(url),
  );
  const { TELEGRAM_BOT_TOKEN: bot, TELEGRAM_WEBHOOK_SECRET: webhook, API_TOKEN: api } = config;
  const keys = [config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS].flatMap((key) =>
    key === undefined ? [] : [key.toString('hex'), key.toString('base64')],
  );
  const given = config.operatorSecrets.map(({ value }) => value);
  return [...[bot, webhook, api].filter((secret) => secret !== undefined), ...addresses, ...keys, ...given];
}

function partsOf(address: string): readonly string[] {
  if (address.startsWith('file:') || !URL.canParse(address)) return [];
  const { username, password, pathname, search, protocol } = new URL(address);
  const isDatabase = protocol.startsWith('postgres');
  const shown = isDatabase ? [] : [pathname, pathname + search, search].filter((part) => part.length > 1);
  const names = [password, ...(isDatabase ? [] : [username])].filter((part) => part !== '');
  return [address, ...shown, ...names, ...names.map(decoded)];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export interface LenientRead {
  readonly config: Config;
  readonly faults: readonly ConfigFault[];
}

/** Variables that make sense only together are left out together. */
const together: readonly (readonly string[])[] = [['TELEGRAM_WEBHOOK_URL', 'TELEGRAM_WEBHOOK_SECRET']];

/** For verbs that tell what is wrong and go on: a wrong variable counts as absent. */
export function readLeniently(environment: Environment = process.env): LenientRead {
  const read = readParts(environment);
  if ('config' in read) return { config: read.config, faults: missingOnPostgres(read.config) };
  const faulty = read.faults.map(({ variable }) => variable.replace(/_FILE$/, ''));
  const out = [...faulty, ...together.filter((each) => each.some((name) => faulty.includes(name))).flat()];
  const left = Object.entries(environment).filter(([name]) => !out.includes(name.replace(/_FILE$/, '')));
  // Each turn takes a variable away; when none is left to take, the defaults are what remains.
  const isLess = left.length < Object.keys(environment).length;
  const rest = readLeniently(isLess ? Object.fromEntries(left) : {});
  return { config: rest.config, faults: [...read.faults, ...rest.faults] };
}

/** The text of a `.env` file by itself, without the environment around it. */
export function readEnvText(text: string): LenientRead {
  return readLeniently(parseEnv(text));
}

/** Where programs keep what a user has set, systemd among them. */
export function userConfigFolder(environment: Environment = process.env): string {
  return environment['XDG_CONFIG_HOME'] || join(homedir(), '.config');
}

export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);
}

/** Values that are right by themselves and make no sense together. */
function togetherFaults(config: z.output<typeof schema>): ConfigFault[] {
  const fault = (variable: keyof typeof schema.shape, problem: string, example = exampleOf(variable)) => ({
    variable,
    problem,
    example,
  });
  const { TELEGRAM_WEBHOOK_URL: url, TELEGRAM_WEBHOOK_SECRET: secret } = config;
  if (url !== undefined && secret === undefined)
    return [fault('TELEGRAM_WEBHOOK_SECRET', 'is missing: without it anybody could pretend to be Telegram')];
  if (url === undefined && secret !== undefined)
    return [fault('TELEGRAM_WEBHOOK_URL', 'is missing: the secret is set, so a webhook is meant')];
  const shared = sharingFault(config);
  if (shared !== null) return [fault(...shared)];
  if (isLoopback(config.HTTP_HOST)) return [];
  const { API_TOKEN: token = '', HTTP_HOST: host } = config;
  const isGuessable = token !== '' && token.length < apiTokenLengthMin;
  return [
    ...(config.SANDBOX && config.TELEGRAM_BOT_TOKEN !== undefined
      ? [fault('HTTP_HOST', 'is open to other computers, where the sandbox of a real bot must not be: remove SANDBOX')]
      : []),
    ...(isGuessable
      ? [
          fault(
            'API_TOKEN',
            `has fewer than ${apiTokenLengthMin} characters, and with HTTP_HOST=${host} other computers may guess it; without it the start makes one`,
          ),
        ]
      : []),
  ];
}

/** Several processes share a database only where an engine lets them. */
function sharingFault(
  config: z.output<typeof schema>,
): readonly [variable: keyof typeof schema.shape, problem: string, example?: string] | null {
  const {
    ROLE: role,
    ENGINE: engine,
    DATABASE_DIRECT_URL: direct,
    TELEGRAM_BOT_TOKEN: token,
    SANDBOX: sandbox,
  } = config;
  const isPostgres = config.DATABASE_URL.startsWith('postgres');
  if (engine === 'memory')
    return ['ENGINE', 'is memory, which keeps nothing when the process ends: it serves tests alone', 'embedded'];
  if (engine === 'graphile' && !isPostgres)
    return [
      'ENGINE',
      'is graphile, which needs a database on Postgres: set DATABASE_URL, or remove ENGINE',
      'embedded',
    ];
  if (direct !== undefined && !isPostgres)
    return ['DATABASE_DIRECT_URL', 'is the way around a pooler of Postgres, and DATABASE_URL names a file: remove it'];
  if (role === 'all') return null;
  if (!isPostgres)
    return [
      'ROLE',
      `is ${role}, but only one process may open a SQLite file: use ROLE=all, or a DATABASE_URL on Postgres`,
      'all',
    ];
  if (engine === 'embedded')
    return ['ROLE', `is ${role}, but ENGINE=embedded is one process alone: use ROLE=all, or remove ENGINE`, 'all'];
  if (token === undefined || sandbox)
    return [
      'TELEGRAM_BOT_TOKEN',
      `is missing: with ROLE=${role} all processes serve one bot, and a sandbox is part of one process`,
    ];
  return null;
}

/** Whether several processes may work with the database at the same time. */
export function isShared({ ENGINE: engine, DATABASE_URL: url }: Pick<Config, 'ENGINE' | 'DATABASE_URL'>): boolean {
  return engine === undefined ? url.startsWith('postgres') : engine === 'graphile';
}

/** Several servers may share a database on Postgres, so nothing that it needs can lie beside one of them. */
function missingOnPostgres(config: Config): readonly ConfigFault[] {
  if (!config.DATABASE_URL.startsWith('postgres')) return [];
  const problem = 'is missing: a database on Postgres has no folder beside it, in which it could be kept';
  return (['SECRETS_KEY', 'API_TOKEN'] as const)
    .filter((variable) => config[variable] === undefined)
    .map((variable) => ({ variable, problem, example: exampleOf(variable) }));
}

interface SecretRead {
  readonly key: (typeof secretKeys)[number];
  readonly file: string;
  readonly given: Record<string, string | undefined>;
  readonly faults: ConfigFault[];
}

function readSecret({ key, file, given, faults }: SecretRead): void {
  const fault = (problem: string) =>
    faults.push({ variable: `${key}_FILE`, problem, example: `/run/secrets/${key.toLowerCase()}` });
  if (given[key] !== undefined) {
    fault(`is set together with ${key}; set one of the two`);
    return;
  }
  const read = readSecretFile(file);
  if ('fault' in read) fault(read.fault);
  else given[key] = read.text.trim();
}

export interface Stray {
  readonly variable: string;
  /** The variable that was probably meant; null when none is near. */
  readonly nearest: string | null;
  /** True of what this version does not do yet. */
  readonly isUnbuilt: boolean;
}

/** Variables of the command line, in the environment of its caller. */
const clientKeys = ['CRONOGRAM_THREAD_KEY', 'CRONOGRAM_API_URL', 'CRONOGRAM_API_TOKEN', 'CRONOGRAM_API_TOKEN_FILE'];

/** Beginnings of names that are ours alone. */
const ownBeginning = /^(?:TELEGRAM|CRONOGRAM)_/;

/** Settings that later versions are to have: to have one ignored in silence would be taken for its having been obeyed. */
export const unbuilt: readonly string[] = [
  'PUBLIC_URL NIGHT_HOUR SMTP_URL',
  'FLOW_MAX_DURATION MCP_CONFIG LLM_BASE_URL LLM_API_KEY LLM_MODEL SCRIPTS_DIR',
  'FLOWS_DIR GRAPHS_DIR LANGGRAPH_URL',
].flatMap((names) => names.split(' '));

/**
 * Variables that are not read and look as if they were meant for us: a setting with a slip in its name would otherwise be
 * an unwanted default. They are worth a word and no more, because an environment belongs to others as well.
 */
export function strayVariables(environment: Environment = process.env): readonly Stray[] {
  const known = [...CONFIG_KEYS, ...secretKeys.map((key) => `${key}_FILE`), ...clientKeys];
  return Object.keys(environment).flatMap((variable) => {
    if (known.includes(variable) || isOperatorSecret(variable) || !/^[A-Z][A-Z0-9_]{3,59}$/.test(variable)) return [];
    const isUnbuilt = Boolean(environment[variable]) && unbuilt.includes(variable.replace(/_FILE$/, ''));
    const nearest = isUnbuilt ? null : nearestTo(variable, known);
    return nearest === null && !isUnbuilt && !ownBeginning.test(variable) ? [] : [{ variable, nearest, isUnbuilt }];
  });
}

/** One slip in a short name, two in a long one. A different word in a name of several is another name. */
function nearestTo(variable: string, known: readonly string[]): string | null {
  const [best] = known
    .map((name) => ({ name, distance: editDistance(variable, name) }))
    .filter(({ name, distance }) => distance <= (name.length >= 12 ? 2 : 1))
    .toSorted((a, b) => a.distance - b.distance);
  return best?.name ?? null;
}
