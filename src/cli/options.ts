import { usage } from './faults.ts';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const short = /^(\d{1,9})\s*(ms|s|m|h|d|w)?$/i;

const iso = /^P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})(?:\.(\d{1,3}))?S)?)?$/i;

/** `30s`, `10m`, `2h`, `1d`, `PT1M`, and a bare number in seconds; null for what is no length of time. */
export function lengthOf(text: string): number | null {
  const [, amount, unit = 's'] = short.exec(text.trim()) ?? [];
  if (amount !== undefined) return Number(amount) * (units[unit.toLowerCase()] ?? 1);
  const found = iso.exec(text.trim());
  if (found === null || /[PT]$/i.test(text.trim())) return null;
  const part = (at: number) => Number(found[at] ?? 0);
  return (
    ((((part(1) * 7 + part(2)) * 24 + part(3)) * 60 + part(4)) * 60 + part(5)) * 1000 +
    Number((found[6] ?? '').padEnd(3, '0'))
  );
}

export function millisecondsOf(flag: string, text: string): number {
  const ms = lengthOf(text);
  if (ms === null)
    throw usage(
      `${flag}: "${text.slice(0, 40)}" is not a length of time. Write 30s, 10m, PT1M or a number of seconds.`,
    );
  return ms;
}

/** As the API takes it: `PT1H30M`. */
export function isoLength(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1000;
  const parts = [
    hours === 0 ? '' : `${hours}H`,
    minutes === 0 ? '' : `${minutes}M`,
    seconds === 0 ? '' : `${seconds}S`,
  ];
  return `PT${parts.join('') || '0S'}`;
}

interface Whole {
  readonly min: number;
  readonly max: number;
}

export function wholeOf(flag: string, text: string, { min, max }: Whole): number {
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

/** The fields that were given; an absent one stays absent. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
