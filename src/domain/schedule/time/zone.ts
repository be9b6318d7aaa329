import { scheduleLimits } from '../limits.ts';
import { type Fault, quoted, unreadable } from '../shapes.ts';
import {
  clockText,
  DAY_MS,
  dateText,
  dayOfWall,
  HOUR_MS,
  SECOND_MS,
  secondOfDayOf,
  daysFromCivil,
  MINUTE_MS,
  monthLength,
} from './calendar.ts';

/** One week of a zone: `before` holds until `changesAt`, `after` from there. A week without a change has it at its start. */
interface Week {
  readonly before: number;
  readonly changesAt: number;
  readonly after: number;
}

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly weeks: Map<number, Week>;
}

export interface Transition {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

const WEEK_MS = 7 * DAY_MS;
/** No zone is farther from UTC than 15 hours, so a day on either side of a wall time brackets its instant. */
const BRACKET_MS = DAY_MS;

const zones = new Map<string, Zone>();
let weeksKept = 0;

function zoneOf(timezone: string): Zone {
  const known = zones.get(timezone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  const zone = { format, weeks: new Map<number, Week>() };
  zones.set(timezone, zone);
  return zone;
}

function readOffset(zone: Zone, instant: number): number {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(zone.format.format(instant));
  if (match?.[1] === undefined) return 0;
  const seconds = Number(match[2]) * 3_600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return (match[1] === '-' ? -seconds : seconds) * SECOND_MS;
}

function readWeek(zone: Zone, index: number): Week {
  let low = index * WEEK_MS;
  let high = low + WEEK_MS;
  // A search that goes on for centuries reads each border once, as the end of one week and the beginning of the next.
  const before = zone.weeks.get(index - 1)?.after ?? readOffset(zone, low);
  const after = zone.weeks.get(index + 1)?.before ?? readOffset(zone, high);
  if (before === after) return { before, changesAt: low, after };
  while (high - low > SECOND_MS) {
    const middle = Math.floor((low + high) / 2 / SECOND_MS) * SECOND_MS;
    if (readOffset(zone, middle) === before) low = middle;
    else high = middle;
  }
  return { before, changesAt: high, after };
}

function weekOf(timezone: string, index: number): Week {
  const zone = zoneOf(timezone);
  const known = zone.weeks.get(index);
  if (known !== undefined) return known;
  if (weeksKept >= scheduleLimits.offsetCacheMax) {
    zones.clear();
    weeksKept = 0;
    return weekOf(timezone, index);
  }
  const week = readWeek(zone, index);
  zone.weeks.set(index, week);
  weeksKept += 1;
  return week;
}

/** Milliseconds by which the clocks of a zone are ahead of UTC at an instant. */
export function offsetAt(timezone: string, instant: number): number {
  const week = weekOf(timezone, Math.floor(instant / WEEK_MS));
  return instant < week.changesAt ? week.before : week.after;
}

/** The first change of the offset in (after, upTo]. */
export function nextTransition(timezone: string, after: number, upTo: number): Transition | null {
  for (let index = Math.floor(after / WEEK_MS); index * WEEK_MS <= upTo; index += 1) {
    const { before, changesAt, after: then } = weekOf(timezone, index);
    if (before !== then && changesAt > after && changesAt <= upTo) return { at: changesAt, before, after: then };
  }
  return null;
}

/** The change that a wall time skipped or doubled by the clocks belongs to. */
export function transitionAround(timezone: string, wall: number): Transition | null {
  return nextTransition(timezone, wall - BRACKET_MS, wall + BRACKET_MS);
}

/** The instant of a wall time that no change of the clocks is near, or null. */
export function steadyInstant(timezone: string, wall: number): number | null {
  const before = offsetAt(timezone, wall - BRACKET_MS);
  return before === offsetAt(timezone, wall + BRACKET_MS) ? wall - before : null;
}

/** Every instant at which the clocks of the zone show the wall time, earliest first: none in a gap, two in an overlap. */
export function passesOf(timezone: string, wall: number): number[] {
  const before = offsetAt(timezone, wall - BRACKET_MS);
  const after = offsetAt(timezone, wall + BRACKET_MS);
  if (before === after) return [wall - before];
  const candidates = [wall - Math.max(before, after), wall - Math.min(before, after)];
  return candidates.filter((instant) => instant + offsetAt(timezone, instant) === wall);
}

function firstPass(timezone: string, wall: number): number | undefined {
  return steadyInstant(timezone, wall) ?? passesOf(timezone, wall)[0];
}

/** The first pass of a doubled wall time; a skipped one is moved on by the size of the gap. */
export function resolveShifted(timezone: string, wall: number): number {
  return firstPass(timezone, wall) ?? wall - offsetAt(timezone, wall - BRACKET_MS);
}

/** The first pass of a doubled wall time; a skipped one is the instant of the change, if that is still the same date. */
export function resolveAtTransition(timezone: string, wall: number): number | null {
  const first = firstPass(timezone, wall);
  if (first !== undefined) return first;
  const change = transitionAround(timezone, wall);
  if (change === null) return null;
  return dayOfWall(change.at + change.after) === dayOfWall(wall) ? change.at : null;
}

export function toWall(timezone: string, instant: number): number {
  return instant + offsetAt(timezone, instant);
}

/** `YYYY-MM-DD HH:mm` on the clocks of the zone. */
export function wallText(instant: number, timezone: string): string {
  const wall = toWall(timezone, instant);
  return `${dateText(dayOfWall(wall))} ${clockText(secondOfDayOf(wall)).slice(0, 5)}`;
}

/** The search for a run moved by a gap reaches back so far. The widest gap known is the day that Samoa left out. */
export const GAP_REACH_MS = DAY_MS + HOUR_MS;

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;
const EXAMPLE = '2027-01-31T09:00 for the clock of the zone, or 2027-01-31T09:00:00Z for UTC';

/** The wall time in the groups 1 to 6 of a match, from year to second; null when no calendar and no clock shows it. */
export function wallOfMatch(match: RegExpExecArray): number | null {
  const part = (index: number) => Number(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > monthLength(year, month)) return null;
  const [hour, minute, second] = [part(4), part(5), part(6)];
  if (hour > 23 || minute > 59 || second > 59) return null;
  return daysFromCivil(year, month, day) * DAY_MS + (hour * 3_600 + minute * 60 + second) * SECOND_MS;
}

function offsetOf(text: string): number | null {
  if (/^z$/i.test(text)) return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(':', ''));
  if (hours > 15 || minutes > 59) return null;
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS;
}

/** With an offset or Z it is that instant; without, it is what the clock in the zone shows. */
export function parseInstant(text: string, timezone: string, field: 'once_at' | 'start_at'): number {
  const match = text.length > scheduleLimits.instantLengthMax ? null : INSTANT.exec(text.trim());
  if (match === null) {
    throw unreadable(instantFault(field, text), `${quoted(text)} is not a date with a time; write ${EXAMPLE}.`);
  }
  const wall = wallOfMatch(match);
  const offset = match[8] === undefined ? 0 : offsetOf(match[8]);
  if (wall === null || offset === null) {
    const message = `${quoted(text)} is not a moment of any calendar; write ${EXAMPLE}.`;
    throw unreadable({ field, reason: 'no_such_date' }, message);
  }
  const precise = wall + Math.floor(Number(`0.${match[7] ?? 0}`) * SECOND_MS);
  return match[8] === undefined ? resolveShifted(timezone, precise) : precise - offset;
}

function instantFault(field: 'once_at' | 'start_at', text: string): Fault {
  return { field, reason: /^\s*\d{4}-\d\d-\d\d\s*$/.test(text) ? 'no_time' : 'syntax' };
}
