import { zoneName } from './zone-name.ts';

/** Cities that no zone is named after, and short names of places that people write. */
const alsoCalled: Readonly<Record<string, string>> = {
  barcelona: 'Europe/Madrid',
  beijing: 'Asia/Shanghai',
  birmingham: 'Europe/London',
  bombay: 'Asia/Kolkata',
  boston: 'America/New_York',
  cologne: 'Europe/Berlin',
  delhi: 'Asia/Kolkata',
  edinburgh: 'Europe/London',
  frankfurt: 'Europe/Berlin',
  geneva: 'Europe/Zurich',
  hamburg: 'Europe/Berlin',
  hyderabad: 'Asia/Kolkata',
  la: 'America/Los_Angeles',
  manchester: 'Europe/London',
  miami: 'America/New_York',
  milan: 'Europe/Rome',
  montreal: 'America/Toronto',
  mumbai: 'Asia/Kolkata',
  munich: 'Europe/Berlin',
  'new delhi': 'Asia/Kolkata',
  nyc: 'America/New_York',
  osaka: 'Asia/Tokyo',
  philadelphia: 'America/New_York',
  rio: 'America/Sao_Paulo',
  'rio de janeiro': 'America/Sao_Paulo',
  'san diego': 'America/Los_Angeles',
  'san francisco': 'America/Los_Angeles',
  seattle: 'America/Los_Angeles',
  'st petersburg': 'Europe/Moscow',
  'tel aviv': 'Asia/Jerusalem',
  washington: 'America/New_York',
  bangalore: 'Asia/Kolkata',
  bengaluru: 'Asia/Kolkata',
  austin: 'America/Chicago',
  dallas: 'America/Chicago',
  houston: 'America/Chicago',
  atlanta: 'America/New_York',
  kyiv: 'Europe/Kyiv',
};

/** A zone by its own name or by the name of its city; null for what is neither. */
export function zoneNamed(text: string): string | null {
  const words = text.trim().replace(/\s+/g, ' ').toLowerCase();
  const called = Object.hasOwn(alsoCalled, words) ? alsoCalled[words] : undefined;
  if (called !== undefined) return called;
  // Names without a slash are abbreviations, and most of those mean several places.
  const named = /\//.test(words) || /^(?:utc|gmt)$/.test(words) ? zoneName(words.replaceAll(' ', '_')) : null;
  return named ?? byCity().get(words) ?? null;
}

let zones: readonly string[] | null = null;
let cities: ReadonlyMap<string, string> | null = null;

export function allZones(): readonly string[] {
  zones ??= Intl.supportedValuesOf('timeZone');
  return zones;
}

/** The zones by the names of their cities, in small letters. */
function byCity(): ReadonlyMap<string, string> {
  cities ??= new Map(
    allZones()
      .toReversed()
      .map((zone) => [cityOf(zone), zone]),
  );
  return cities;
}

function cityOf(zone: string): string {
  return zone.replace(/^.*\//, '').replaceAll('_', ' ').toLowerCase();
}
