import { offsetAt } from '../../../domain/schedule/schedule.ts';
import { allZones, zoneNamed } from '../../../domain/schedule/time/places.ts';
import { clockIn } from './clock.ts';

/** One for each clock that many people live by, from west to east. */
const likely = [
  'Pacific/Honolulu',
  'America/Anchorage',
  'America/Los_Angeles',
  'America/Denver',
  'America/Chicago',
  'America/New_York',
  'America/Halifax',
  'America/Sao_Paulo',
  'Atlantic/Azores',
  'Europe/London',
  'Europe/Berlin',
  'Europe/Athens',
  'Europe/Moscow',
  'Asia/Dubai',
  'Asia/Karachi',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Dhaka',
  'Asia/Bangkok',
  'Asia/Shanghai',
  'Asia/Tokyo',
  'Australia/Adelaide',
  'Australia/Sydney',
  'Pacific/Auckland',
] as const;

const buttonsMax = 9;

/** Words in the place of a zone, read. */
export type ZoneWord =
  | { readonly is: 'zone'; readonly zone: string }
  /** A name of several zones, or a clock time that several zones show. */
  | { readonly is: 'several'; readonly zones: readonly string[] }
  | { readonly is: 'clock'; readonly clock: string; readonly zones: readonly string[] }
  | { readonly is: 'offset' }
  | { readonly is: 'unknown' };

export function readZone(text: string, now: number): ZoneWord {
  const words = text.trim().replace(/\s+/g, ' ');
  const clock = /^([01]?\d|2[0-3])[:.]([0-5]\d)$/.exec(words);
  if (clock !== null) return byClock(`${(clock[1] ?? '').padStart(2, '0')}:${clock[2]}`, now);
  if (/^(?:(?:utc|gmt)\s*)?[+\u2212-]\s*\d/i.test(words)) return { is: 'offset' };
  const zone = zoneNamed(words);
  if (zone !== null) return { is: 'zone', zone };
  const zones = containing(words);
  return zones.length === 0 ? { is: 'unknown' } : { is: 'several', zones };
}

function containing(words: string): readonly string[] {
  const begin = words.toLowerCase();
  if (begin.length < 3) return [];
  return allZones()
    .filter((zone) => wordsOf(zone).some((rest) => rest.startsWith(begin)))
    .slice(0, buttonsMax);
}

/** Ends of a name from each of its words on: `los angeles` and `angeles`. */
function wordsOf(zone: string): readonly string[] {
  const name = zone.toLowerCase().replaceAll('_', ' ');
  return [...name.matchAll(/(?<![a-z])[a-z]/g)].map(({ index }) => name.slice(index));
}

/** People know what their clock shows better than what their zone is called. A few minutes are the time it takes to write. */
const clockSlackMinutes = 4;

function byClock(clock: string, now: number): ZoneWord {
  const minutes = minutesOf(clock);
  const zones = likely.filter((zone) => {
    const apart = Math.abs(minutesOf(clockIn(zone, now)) - minutes);
    return Math.min(apart, 1440 - apart) <= clockSlackMinutes;
  });
  return { is: 'clock', clock, zones };
}

function minutesOf(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5));
}

/** Zones to choose from: the one in force first, then those that many people live in. */
export function likelyZones(current: string, now: number): readonly string[] {
  const offset = offsetAt(current, now);
  const near = likely.toSorted((a, b) => Math.abs(offsetAt(a, now) - offset) - Math.abs(offsetAt(b, now) - offset));
  return (current === 'UTC' ? popular : near).filter((zone) => zone !== current).slice(0, buttonsMax);
}

/** For a place of which nothing is known: the nearest clocks say nothing there. */
const popular: readonly string[] = [
  'America/Los_Angeles',
  'America/Chicago',
  'America/New_York',
  'America/Sao_Paulo',
  'Europe/London',
  'Europe/Berlin',
  'Europe/Moscow',
  'Asia/Kolkata',
  'Asia/Shanghai',
];
