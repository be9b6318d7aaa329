import { zoneNamed } from '../../schedule/time/places.ts';
import { zoneName } from '../../schedule/time/zone-name.ts';
import { Question, refusal, type Way } from '../faults.ts';
import { compiled, words } from '../languages/compiled.ts';
import type { Cursor } from './cursor.ts';

const AREAS =
  'africa|america|antarctica|arctic|asia|atlantic|australia|brazil|canada|chile|etc|europe|indian|mexico|pacific|us';
const FIXED = /\s*(?:in\s+)?\(?(?:utc|gmt)\s*(?<sign>[+-])\s*0?(?<hours>\d|1[0-4])(?::?00)?\)?(?![\p{L}\p{N}:])/uy;
const OFFSET = /\s*(?:in\s+)?(?:utc|gmt)\s*[+-]\s*\d{1,2}|\s*\+\d\d:\d\d|\s+-\d\d:\d\d/y;

const patterns = compiled(({ words: w }) => ({
  named: new RegExp(String.raw`\s*\(?(?:in\s+)?(?<name>(?:${AREAS})\/[\w+-]+(?:\/[\w+-]+)*)\)?(?:\s+${w.time})?`, 'yu'),
  universal: words(String.raw`\(?(?:in\s+)?(?<name>utc|gmt)\)?(?:\s+${w.time})?`),
  short: words(String.raw`(?:in\s+)?(?<name>[a-z]{1,4})(?:\s+${w.time})?`),
  // "9am eastern" ends there; before other words it needs its "time".
  american: words(
    String.raw`(?:in\s+)?(?:us\s+)?(?<name>eastern|central|mountain|pacific)(?:(?:\s+(?:standard|daylight))?\s+${w.time}|(?=\s*$|\s*[,:;.!?)]))`,
  ),
  region: words(
    String.raw`(?:in\s+)?(?:us\s+)?(?:atlantic|greenwich|indian?|central\s+european|european|standard|daylight|summer|winter)(?:\s+(?:standard|daylight|summer|mean))?\s+time`,
  ),
  // One to three words, the longest name that is a place.
  city: new RegExp(String.raw`\s*(?<in>in\s+)?(?<name>\p{L}[\p{L}.'-]*(?:\s\p{L}[\p{L}.'-]*){0,2})`, 'yu'),
  time: words(String.raw`(?:${w.time})`),
  and: new RegExp(String.raw`\s*(?:,|&|/|(?:${w.and})(?=\s))\s*(?:in\s+)?`, 'yu'),
  end: /\s*(?:$|[,;:.!?()-])/y,
}));

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
  pst: 'America/Los_Angeles',
  pdt: 'America/Los_Angeles',
  ist: 'Asia/Kolkata, Europe/Dublin or Asia/Jerusalem',
  bst: 'Europe/London or Asia/Dhaka',
  cet: 'Europe/Paris',
  cest: 'Europe/Paris',
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

/** Zones that are called by their place in the United States. */
const AMERICAN: Readonly<Record<string, string>> = {
  eastern: 'America/New_York',
  central: 'America/Chicago',
  mountain: 'America/Denver',
  pacific: 'America/Los_Angeles',
};

export interface ZoneFound {
  readonly zone: string;
  /** `Madrid` with neither "in" nor "time", where text follows: it may begin the text. */
  readonly isDoubtful: boolean;
  /** A distance from UTC, which says one moment and no clock that changes. */
  readonly isOffset?: boolean;
}

/** Cities whose names are words of other things, when nothing says that a place is meant. */
const OTHER_WORDS: ReadonlySet<string> = new Set(
  'easter midway wake center troll knox casey davis nome reunion la rio major bear boise'.split(' '),
);

function placeAt(cursor: Cursor): ZoneFound | null {
  const p = patterns(cursor.language);
  const match = cursor.take(p.city);
  const { name = '', in: said } = match?.groups ?? {};
  const begin = cursor.at - name.length;
  const parts = name.split(' ');
  for (let count = match === null ? 0 : parts.length; count > 0; count -= 1) {
    const place = parts
      .slice(0, count)
      .join(' ')
      .replace(/[.'-]+$/, '');
    const zone = zoneIn(place, said !== undefined);
    if (zone === null) continue;
    cursor.at = begin + place.length;
    const isClear = said !== undefined || cursor.take(p.time) !== null;
    if (said !== undefined) cursor.take(p.time);
    return !isClear && OTHER_WORDS.has(place) ? null : { zone, isDoubtful: !isClear && !cursor.has(p.end) };
  }
  return null;
}

const SHORT_PLACES: ReadonlySet<string> = new Set(['rome', 'oslo', 'lima', 'nyc']);

/** Short names are words of other things, unless "in" stands before them. */
function zoneIn(place: string, isSaid: boolean): string | null {
  const isShort = /^[a-z]{1,4}$/.test(place) && !isSaid && !SHORT_PLACES.has(place);
  return isShort || place.includes('/') ? null : zoneNamed(place);
}

function fixedAt(cursor: Cursor): string | null {
  const { sign, hours } = cursor.take(FIXED)?.groups ?? {};
  // The names of such zones count the other way round.
  return hours === undefined ? null : zoneName(`Etc/GMT${sign === '+' ? '-' : '+'}${hours}`);
}

/** A zone right behind a time, by its name or by a place in it. What looks like one and is none is refused with what to write. */
export function zoneAt(cursor: Cursor): ZoneFound | null {
  const p = patterns(cursor.language);
  const fixed = fixedAt(cursor);
  if (fixed !== null) return { zone: fixed, isDoubtful: false, isOffset: true };
  if (cursor.has(OFFSET)) {
    throw refusal('zone', 'zone_offset', (say) => say.offset);
  }
  const named = cursor.take(p.named)?.groups?.['name'];
  if (named !== undefined) {
    const zone = zoneName(named);
    if (zone !== null) return { zone, isDoubtful: false };
    throw refusal('zone', 'unknown_zone', (say) => say.unknownZone(named));
  }
  if (cursor.take(p.universal) !== null) return { zone: 'UTC', isDoubtful: false };
  const american = AMERICAN[cursor.take(p.american)?.groups?.['name'] ?? ''];
  if (american !== undefined) return { zone: american, isDoubtful: true };
  if (cursor.has(p.region)) {
    throw refusal('zone', 'region_time', (say) => say.regionTime);
  }
  const begin = cursor.begin();
  const found = cursor.attempt(placeAt);
  if (found !== null) askOther(cursor, begin);
  return found ?? shortName(cursor);
}

/** "In London and New York" are two zones, and a task has one. */
function askOther(cursor: Cursor, begin: number): void {
  const end = cursor.at;
  const isTwo = cursor.take(patterns(cursor.language).and) !== null && placeAt(cursor) !== null;
  const last = cursor.at;
  cursor.at = end;
  if (!isTwo) return;
  const first = cursor.text.slice(begin, end).trim();
  const second = cursor.text.slice(end, last).replace(/^[\s,&]*(?:and\s+)?/, '');
  const way = (place: string) => ({
    text: place.replace(/^in\s+/, ''),
    edits: [{ begin, end: last, text: place.startsWith('in ') ? place : `in ${place}` }],
  });
  throw new Question((say) => say.oneZone, [way(first), way(second)]);
}

/** `IST` is the clock of several places, and which one is asked. `PST` is that of one. "PT session" may be something else. */
function shortName(cursor: Cursor): ZoneFound | null {
  const before = cursor.at;
  const begin = cursor.begin();
  const short = cursor.take(patterns(cursor.language).short)?.groups?.['name'] ?? '';
  const end = cursor.at;
  const places = Object.hasOwn(SHORT_NAMES, short) ? SHORT_NAMES[short] : undefined;
  const isOne = places !== undefined && !/,| or /.test(places);
  if (isOne && (short.length > 2 || cursor.has(patterns(cursor.language).end)))
    return { zone: places, isDoubtful: true };
  cursor.at = before;
  if (places === undefined) return null;
  const said = short.toUpperCase();
  const zones = places.split(/, | or /);
  const ways: readonly Way[] = zones.map((zone) => ({
    text: (zone.split('/').at(-1) ?? zone).replaceAll('_', ' '),
    edits: [{ begin, end, text: `in ${zone}` }],
  }));
  const asText: Way = { text: (say) => say.offers.isText(said), edits: [{ begin, end: begin, text: '\n' }] };
  throw new Question((say) => say.whereIs(said), zones.length > 1 ? ways : [...ways, asText]);
}
