import { z } from 'zod';
import { retentionDaysMax } from '../domain/limits.ts';
import { type HostRule, hostRulesExample, readHostRule } from '../domain/outbound/host-rules.ts';
import { retentionDaysMin } from '../domain/policy.ts';
import { everyKind, type KindRules } from '../domain/processes/process.ts';
import { durationMs } from '../domain/schedule/time/duration.ts';
import { zoneName } from '../domain/schedule/time/zone-name.ts';
import { keyBytes } from '../domain/secrets/secret.ts';
import type { PriceTable } from '../domain/spending/prices.ts';
import { readPrices } from './prices.ts';

/** The only reader of the environment. What comes out is checked, complete and frozen. */

export const whole = (min: number, max: number, otherwise: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `is a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `is a whole number from ${min} to ${max}`)
    .default(otherwise)
    .meta({ example: String(otherwise) });

export const duration = (otherwise: string) =>
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

/** Every row outlives whatever may still refer to it; see `retryWindowMaxMs`. */
export const retentionDays = z
  .string()
  .default('90')
  .transform((text) => (/^\d{1,5}$/.test(text) ? Number(text) : Number.NaN))
  .refine(
    (days) => days >= retentionDaysMin() && days <= retentionDaysMax,
    `is a whole number of days, at least ${retentionDaysMin()} and at most ${retentionDaysMax}: history must outlive the longest retry that policies allow`,
  )
  .meta({ example: '90' });

const units: Readonly<Record<string, number>> = { kB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 };

/** A number of bytes, in steps of 1,024. */
export const size = (min: string, max: string, otherwise: string) => {
  const bytesOf = (text: string) => {
    const [, count = '', unit = ''] = /^(\d{1,6}) ?(kB|MB|GB|TB)$/.exec(text) ?? [];
    return Number(count || Number.NaN) * (units[unit] ?? Number.NaN);
  };
  return z
    .string()
    .default(otherwise)
    .transform(bytesOf)
    .refine((bytes) => bytes >= bytesOf(min) && bytes <= bytesOf(max), `is a size from ${min} to ${max}`)
    .meta({ example: otherwise });
};

export const flag = (otherwise: '0' | '1') =>
  z
    .enum(['0', '1'], 'is 0 or 1')
    .default(otherwise)
    .transform((value) => value === '1')
    .meta({ example: otherwise });

export const oneOf = <const T extends readonly [string, ...string[]]>(names: T) =>
  z.enum(names, `is ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`);

/** Lists, as people type them. */
const list = z.string().default('').transform(wordsIn);

export function wordsIn(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export const numbers = (what: string) =>
  list.refine(
    (parts) => parts.every((part) => /^-?[1-9]\d{0,15}$/.test(part)),
    `is a list of ${what}, separated by commas`,
  );

export const hosts = list
  .transform((parts, context): readonly HostRule[] => {
    const unread = parts.find((part) => readHostRule(part) === null);
    if (unread !== undefined)
      context.addIssue(`holds ${unread.slice(0, 60)}, which is no host, host:port, *.suffix, address or range`);
    return parts.flatMap((part) => readHostRule(part) ?? []);
  })
  .meta({ example: hostRulesExample });

/** Kinds of actions, each alone or with how many of its runs go on at once; `*` stands for those that are not named. */
export const workerKinds = list
  .transform((parts, context): KindRules => {
    if (parts.length === 0) return everyKind;
    const read = parts.map((part) => /^(?:\*|([a-z]{2,20})(?::([1-9]\d{0,3}))?)$/.exec(part));
    const unread = parts.find((_part, index) => read[index] === null);
    if (unread !== undefined)
      context.addIssue(`holds ${unread.slice(0, 40)}, which is no kind, no kind:count and not *`);
    const named = read.flatMap((found) => (found?.[1] === undefined ? [] : [[found[1], found[2]] as const]));
    const twice = named.find(([kind], index) => named.findIndex(([one]) => one === kind) < index);
    if (twice !== undefined) context.addIssue(`names ${twice[0]} twice`);
    const limits = new Map(named.map(([kind, most]) => [kind, most === undefined ? null : Number(most)]));
    return { limits, others: parts.includes('*') };
  })
  .meta({ example: 'http:50,message' });

export const secretsKey = z
  .string()
  .transform((text, context) => {
    const key = keyBytes(text);
    if (key !== null) return key;
    context.addIssue('is 32 bytes, as 64 hex digits or in base64');
    return z.NEVER;
  })
  .optional()
  .meta({ example: 'the output of: openssl rand -hex 32' });

/** Read at the start, so that a fault in the file is met there. */
export const prices = z
  .string()
  .optional()
  .transform((path, context): PriceTable | null => {
    if (path === undefined) return null;
    const read = readPrices(path);
    if (typeof read !== 'string') return read;
    context.addIssue(read);
    return z.NEVER;
  })
  .meta({ example: 'prices.yaml' });

export const webAddress = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'is an address that begins with http:// or https://',
  );

export const zone = z
  .string()
  .default('UTC')
  .refine((name) => zoneName(name) !== null, 'is the name of a zone such as Europe/Madrid')
  .transform((name) => zoneName(name) ?? 'UTC')
  .meta({ example: 'Europe/Madrid' });
