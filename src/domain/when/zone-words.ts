import { zoneName } from '../schedule/time/zone-name.ts';
import { type Cursor, words, refusal } from './cursor.ts';

const AREAS =
  'africa|america|antarctica|arctic|asia|atlantic|australia|brazil|canada|chile|etc|europe|indian|mexico|pacific|us';
const NAMED = new RegExp(String.raw`\s*(?:in\s+)?(?<name>(?:${AREAS})\/[\w+-]+(?:\/[\w+-]+)*)(?:\s+time)?`, 'yu');
const UNIVERSAL = words(String.raw`(?:in\s+)?(?<name>utc|gmt)(?:\s+time)?`);
const OFFSET = /\s*(?:in\s+)?(?:utc|gmt)\s*[+-]\s*\d{1,2}|\s*\+\d\d:\d\d|\s+-\d\d:\d\d/y;
const SHORT = words(String.raw`(?:in\s+)?(?<name>[a-z]{1,4})(?:\s+time)?`);

/** Short names of zones, as people mean them. None of them is a zone of its own: most are used in several places. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  et: 'America/New_York',
  ct: 'America/Chicago',
  pt: 'America/Los_Angeles',
  z: 'UTC',
  est: 'America/New_York or Australia/Sydney',
  edt: 'America/New_York',
  cst: 'America/Chicago, Asia/Shanghai or America/Havana',
  cdt: 'America/Chicago or America/Havana',
  mst: 'America/Denver or America/Phoenix',
  mdt: 'America/Denver',
  pst: 'America/Los_Angeles or Asia/Manila',
  pdt: 'America/Los_Angeles',
  ist: 'Asia/Kolkata, Europe/Dublin or Asia/Jerusalem',
  bst: 'Europe/London or Asia/Dhaka',
  cet: 'Europe/Paris or Europe/Berlin',
  cest: 'Europe/Paris or Europe/Berlin',
  eet: 'Europe/Athens or Africa/Cairo',
  eest: 'Europe/Athens',
  jst: 'Asia/Tokyo',
  kst: 'Asia/Seoul',
  hkt: 'Asia/Hong_Kong',
  msk: 'Europe/Moscow',
  sgt: 'Asia/Singapore',
  aest: 'Australia/Sydney or Australia/Brisbane',
  aedt: 'Australia/Sydney',
  acst: 'Australia/Adelaide or Australia/Darwin',
  awst: 'Australia/Perth',
  nzst: 'Pacific/Auckland',
  nzdt: 'Pacific/Auckland',
};

const REGION_TIME = words(
  '(?:pacific|eastern|central|mountain|atlantic|greenwich|indian?|european|standard|daylight|summer|winter)(?:\\s+european)?(?:\\s+(?:standard|daylight|summer|mean))?\\s+time',
);
const CITY_TIME = words(String.raw`(?:in\s+)?(?<name>[a-z]+(?:\s[a-z]+)?)\s+time`);
let cities: ReadonlyMap<string, string> | null = null;

/** The zone that is named after a city. */
function zoneOfCity(city: string): string | undefined {
  cities ??= new Map(
    Intl.supportedValuesOf('timeZone').map((zone) => [
      zone.replace(/^.*\//, '').replaceAll('_', ' ').toLowerCase(),
      zone,
    ]),
  );
  return cities.get(city);
}

/** `9am london time` clearly means a zone; which one it is, its own name says. */
function refuseCityTime(cursor: Cursor): void {
  if (cursor.has(REGION_TIME)) {
    throw refusal(
      'zone',
      'region_time',
      'Such a name holds for several places, whose clocks change at different times; name one.',
    );
  }
  const before = cursor.at;
  const name = cursor.take(CITY_TIME)?.groups?.['name'];
  cursor.at = before;
  const zone = name === undefined ? undefined : zoneOfCity(name);
  if (zone !== undefined) throw refusal('zone', 'city_time', `A city is not the name of a time zone; write ${zone}.`);
}

/** A zone by its IANA name. Whatever else stands where a zone stands, and looks like one, is refused with what to write. */
export function readZone(cursor: Cursor): string | null {
  if (cursor.has(OFFSET)) {
    throw refusal(
      'zone',
      'zone_offset',
      'A distance from UTC is not a time zone, because clocks change; name the place.',
    );
  }
  const named = cursor.take(NAMED)?.groups?.['name'];
  if (named !== undefined) {
    const name = zoneName(named);
    if (name !== null) return name;
    throw refusal('zone', 'unknown_zone', `"${named}" is not a time zone; write its IANA name, such as Europe/Madrid.`);
  }
  if (cursor.take(UNIVERSAL) !== null) return 'UTC';
  refuseCityTime(cursor);
  refuseShortName(cursor);
  return null;
}

function refuseShortName(cursor: Cursor): void {
  const before = cursor.at;
  const short = cursor.take(SHORT)?.groups?.['name'] ?? '';
  cursor.at = before;
  const places = Object.hasOwn(SHORT_NAMES, short) ? SHORT_NAMES[short] : undefined;
  if (places === undefined) return;
  const name = short.toUpperCase();
  throw refusal('zone', 'short_zone', `${name} does not name one place and its changes of the clock; write ${places}.`);
}
