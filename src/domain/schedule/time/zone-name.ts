import { scheduleLimits } from '../limits.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;
const names = new Map<string, string | null>();
const NAMES_KEPT_MAX = 2_048;

/** Words of zone names that are not simply capitalised. */
const WORDS = new Map(
  [
    'au',
    'es',
    'of',
    'US',
    'GB',
    'NZ',
    'UTC',
    'UCT',
    'GMT',
    'PRC',
    'ROC',
    'ROK',
    'EST',
    'MST',
    'HST',
    'CET',
    'EET',
    'MET',
    'WET',
  ].map((word) => [word.toLowerCase(), word]),
);

function withProperCase(name: string): string {
  const isShouted = name === name.toUpperCase();
  if (name !== name.toLowerCase() && !isShouted) return name;
  return name
    .toLowerCase()
    .replace(/[a-z]+/g, (word) => WORDS.get(word) ?? `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
}

function lookUp(name: string): string | null {
  if (name.length > scheduleLimits.timezoneLengthMax || !NAME.test(name)) return null;
  try {
    const resolved = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
    return resolved.toLowerCase() === name.toLowerCase() ? resolved : withProperCase(name);
  } catch {
    return null;
  }
}

/**
 * The name of a zone as the tz database writes it, or null. An alias stays what the person wrote (`Europe/Kyiv`), because
 * the runtime would answer with a name that they do not expect.
 */
export function zoneName(name: string): string | null {
  const known = names.get(name);
  if (known !== undefined) return known;
  if (names.size >= NAMES_KEPT_MAX) names.clear();
  const found = lookUp(name);
  names.set(name, found);
  return found;
}

export function isTimezone(name: string): boolean {
  return zoneName(name) !== null;
}

/** Compares the clocks that two names mean, aliases included. */
export function isSameZone(one: string, other: string): boolean {
  const first = zoneName(one);
  const second = zoneName(other);
  if (first === null || second === null) return false;
  const canonical = (name: string) => new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  return first === second || canonical(first) === canonical(second);
}
