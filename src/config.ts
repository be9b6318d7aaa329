import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { durationMs } from './domain/duration.ts';
import { retentionDaysMin } from './domain/policy.ts';
import { zoneName } from './domain/schedule/zone-name.ts';

/** Adds the variables of a `.env` file in the working folder to the environment; those that are set already win. */
export function loadEnvFile(): void {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
  }
}

/** The only reader of the environment. What comes out is checked, complete and frozen. */

const whole = (min: number, max: number, otherwise: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `is a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `is a whole number from ${min} to ${max}`)
    .default(otherwise);

const duration = (otherwise: string) =>
  z
    .string()
    .default(otherwise)
    .transform((text, context) => {
      try {
        return durationMs(text);
      } catch {
        context.addIssue('is a duration such as PT1M or PT30S');
        return z.NEVER;
      }
    });

/** A hundred years: whoever writes more has mistaken the unit. */
const retentionDaysMax = 36_500;

/** Every row outlives whatever may still refer to it; see `retryWindowMaxMs`. */
const retentionDays = z
  .string()
  .default('90')
  .transform((text) => (/^\d{1,5}$/.test(text) ? Number(text) : Number.NaN))
  .refine(
    (days) => days >= retentionDaysMin() && days <= retentionDaysMax,
    `is a whole number of days, at least ${retentionDaysMin()} and at most ${retentionDaysMax}: history must outlive the longest retry that policies allow`,
  );

const flag = z
  .enum(['0', '1'], 'is 0 or 1')
  .default('0')
  .transform((value) => value === '1');

/** Lists of numbers, as people type them. */
const numbers = (what: string) =>
  z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .refine(
      (parts) => parts.every((part) => /^-?[1-9]\d{0,15}$/.test(part)),
      `is a list of ${what}, separated by commas`,
    );

const webAddress = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'is an address that begins with http:// or https://',
  );

const zone = z
  .string()
  .default('UTC')
  .refine((name) => zoneName(name) !== null, 'is the name of a zone such as Europe/Madrid')
  .transform((name) => zoneName(name) ?? 'UTC');

const schema = z.object({
  TELEGRAM_BOT_TOKEN: z
    .string()
    .regex(/^\d{1,20}:[\w-]{20,100}$/, 'is the token that @BotFather gave you')
    .optional(),
  TELEGRAM_API_ROOT: webAddress.default('https://api.telegram.org'),
  TELEGRAM_OWNERS: numbers('user ids').refine(
    (ids) => ids.every((id) => !id.startsWith('-')),
    'is a list of user ids, separated by commas; a group cannot own the bot',
  ),
  TELEGRAM_CHATS: numbers('chat ids'),
  TELEGRAM_WEBHOOK_URL: webAddress.optional(),
  TELEGRAM_WEBHOOK_SECRET: z
    .string()
    .regex(/^[\w-]{16,256}$/, 'has 16 to 256 letters, digits, underscores or hyphens')
    .optional(),
  TELEGRAM_RATE_GLOBAL: whole(1, 1000, 30),
  TELEGRAM_RATE_CHAT: whole(1, 1000, 1),
  TELEGRAM_RATE_GROUP: whole(1, 100_000, 20),
  DEFAULT_TIMEZONE: zone,
  SANDBOX: flag,
  DATABASE_URL: z
    .string()
    .regex(/^(file:.+|postgres(ql)?:\/\/.+)$/, 'is file:<path> or postgres://user@host/database')
    .default('file:data/cronogram.db'),
  HTTP_HOST: z
    .string()
    .regex(/^[\w.:-]+$/, 'is a host name or an address')
    .default('127.0.0.1'),
  HTTP_PORT: whole(0, 65_535, 8787),
  API_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{1,512}$/, 'has 1 to 512 printable characters without spaces')
    .optional(),
  LOG_LEVEL: z
    .enum(
      ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'],
      'is silent, fatal, error, warn, info, debug or trace',
    )
    .default('info'),
  QUOTA_PER_CHAT: whole(1, 1_000_000, 500),
  QUOTA_PER_USER: whole(1, 1_000_000, 50),
  MIN_INTERVAL: duration('PT1M').refine((ms) => ms >= 1000, 'is at least PT1S'),
  RUN_CONCURRENCY: whole(1, 10_000, 200),
  DELIVERY_CONCURRENCY: whole(1, 10_000, 200),
  BATCH_SIZE: whole(1, 2000, 100),
  RETENTION_DAYS: retentionDays,
  BACKUP_KEEP: whole(0, 1000, 7),
  ECHO_ACTION: flag,
});

/** An example for each variable, for the message that says what is wrong with it. */
const examples: Record<keyof z.input<typeof schema>, string> = {
  TELEGRAM_BOT_TOKEN: '123456789:the-rest-of-the-token-of-your-bot',
  TELEGRAM_API_ROOT: 'https://api.telegram.org',
  TELEGRAM_OWNERS: '1234567,2345678',
  TELEGRAM_CHATS: '-1001234567890,1234567',
  TELEGRAM_WEBHOOK_URL: 'https://bot.example.org/telegram',
  TELEGRAM_WEBHOOK_SECRET: 'the output of: openssl rand -hex 32',
  TELEGRAM_RATE_GLOBAL: '30',
  TELEGRAM_RATE_CHAT: '1',
  TELEGRAM_RATE_GROUP: '20',
  DEFAULT_TIMEZONE: 'Europe/Madrid',
  SANDBOX: '0',
  DATABASE_URL: 'file:data/cronogram.db',
  HTTP_HOST: '127.0.0.1',
  HTTP_PORT: '8787',
  API_TOKEN: 'the output of: openssl rand -base64 32',
  LOG_LEVEL: 'info',
  QUOTA_PER_CHAT: '500',
  QUOTA_PER_USER: '50',
  MIN_INTERVAL: 'PT1M',
  RUN_CONCURRENCY: '200',
  DELIVERY_CONCURRENCY: '200',
  BATCH_SIZE: '100',
  RETENTION_DAYS: '90',
  BACKUP_KEEP: '7',
  ECHO_ACTION: '0',
};

export const CONFIG_KEYS: readonly string[] = Object.keys(examples);

/** Variables that hold a secret; each can also be given as the path of a file that holds it, `<NAME>_FILE`. */
const secretKeys = ['TELEGRAM_BOT_TOKEN', 'TELEGRAM_WEBHOOK_SECRET', 'API_TOKEN', 'DATABASE_URL'] as const;

export type Config = Readonly<z.output<typeof schema>>;

export interface ConfigFault {
  readonly variable: string;
  readonly problem: string;
  readonly example: string;
}

/** A line for each, with what to write instead. */
export function faultLines(faults: readonly ConfigFault[]): string {
  return faults.map(({ variable, problem, example }) => `${variable} ${problem}. Example: ${example}\n`).join('');
}

export type ConfigResult = { readonly config: Config } | { readonly faults: readonly ConfigFault[] };

type Environment = Readonly<Record<string, string | undefined>>;

/** Every fault at once, so that nobody mends them one start at a time. An empty variable counts as absent. */
export function readConfig(environment: Environment = process.env): ConfigResult {
  const given = Object.fromEntries(CONFIG_KEYS.flatMap((key) => (environment[key] ? [[key, environment[key]]] : [])));
  const faults: ConfigFault[] = [];
  for (const key of secretKeys) {
    const file = environment[`${key}_FILE`];
    if (file !== undefined && file !== '') readSecret({ key, file, given, faults });
  }
  const result = schema.safeParse(given);
  for (const issue of result.error?.issues ?? []) {
    const variable = String(issue.path[0]);
    faults.push({ variable, problem: issue.message, example: examples[variable as keyof typeof examples] });
  }
  if (result.success) faults.push(...togetherFaults(result.data));
  if (!result.success || faults.length > 0) return { faults };
  return { config: Object.freeze(result.data) };
}

/** What is right by itself and makes no sense together. */
function togetherFaults(config: Config): ConfigFault[] {
  const fault = (variable: keyof typeof examples, problem: string) => ({
    variable,
    problem,
    example: examples[variable],
  });
  const { TELEGRAM_WEBHOOK_URL: url, TELEGRAM_WEBHOOK_SECRET: secret } = config;
  if (url !== undefined && secret === undefined)
    return [fault('TELEGRAM_WEBHOOK_SECRET', 'is missing: without it anybody could pretend to be Telegram')];
  if (url === undefined && secret !== undefined)
    return [fault('TELEGRAM_WEBHOOK_URL', 'is missing: the secret is set, so a webhook is meant')];
  return [];
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
  try {
    given[key] = readFileSync(file, 'utf8').trim();
  } catch (error) {
    fault(`cannot be read (${(error as { code?: string }).code ?? 'unknown'})`);
  }
}
