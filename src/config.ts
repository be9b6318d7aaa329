import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { durationMs } from './domain/duration.ts';
import { retentionDaysMin } from './domain/policy.ts';

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

const schema = z.object({
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
const secretKeys = ['API_TOKEN', 'DATABASE_URL'] as const;

export type Config = Readonly<z.output<typeof schema>>;

export interface ConfigFault {
  readonly variable: string;
  readonly problem: string;
  readonly example: string;
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
  if (!result.success || faults.length > 0) return { faults };
  return { config: Object.freeze(result.data) };
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
