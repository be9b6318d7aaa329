import { fixedMs } from '../domain/schedule/time/duration.ts';
import type { Asked } from './client.ts';
import { usage } from './faults.ts';
import type { Task } from './naming.ts';
import type { Flag } from './session.ts';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const short = /^(\d{1,9})\s*(ms|s|m|h|d|w)?$/i;

/** `30s`, `10m`, `2h`, `1d`, `PT1M`, and a bare number in seconds; null for what is no length of time. */
export function lengthOf(text: string): number | null {
  const [, amount, unit = 's'] = short.exec(text.trim()) ?? [];
  if (amount !== undefined) return Number(amount) * (units[unit.toLowerCase()] ?? 1);
  return fixedMs(text.trim().toUpperCase());
}

export function millisecondsOf(flag: string, text: string): number {
  const ms = lengthOf(text);
  if (ms === null)
    throw usage(
      `${flag}: "${text.slice(0, 40)}" is not a length of time. Write 30s, 10m, PT1M or a number of seconds.`,
    );
  return ms;
}

export function wholeOf(flag: string, text: string, { min, max }: NonNullable<Flag['whole']>): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw usage(`${flag}: "${text.slice(0, 40)}" is not a whole number from ${min} to ${max}.`);
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** An object that was typed as JSON. */
export function objectOf(flag: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usage(`${flag} is not JSON: ${error.message}. Put it into single quotes.`);
  }
  throw usage(`${flag} is a JSON object, such as '{"kind":"message"}'.`);
}

/** The fields that hold something: null and undefined are nothing. */
export function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(known) as { [K in keyof T]?: NonNullable<T[K]> };
}

export type ScheduleSent = NonNullable<NonNullable<Asked<'createTask'>['body']>['schedule']>;

/** A schedule that the server tells can be sent back; only the type does not know which fields belong to which kind. */
export function sendable(schedule: Task['schedule']): ScheduleSent {
  return given(schedule) as unknown as ScheduleSent;
}
