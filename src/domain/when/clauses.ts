import { readAmount } from './amount.ts';
import {
  type ClockTime,
  readDayPart,
  readMissingTime,
  readOneTime,
  readTimeBeforeDays,
  readTimes,
} from './clock-time.ts';
import { type Cursor, words, refusal } from './cursor.ts';
import { type Days, readDays } from './days.ts';
import type { Draft, EdgeDay } from './draft.ts';
import { readHead } from './head.ts';
import { numberOf, NUMBER_WORD } from './spelling.ts';
import { readZone } from './zone-words.ts';

const COMMA = /\s*,(?=\s)/y;
const ON = words('on');
const BEFORE_PART = /\s*(?:in\s+the|at)\s/y;
const IN = words('in');
const WAIT_NEXT =
  /\s*(?:an?|half|quarter|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty)/y;
const IN_TIME = /'?\s+time(?![\p{L}'])/uy;
const FROM_NOW = words('from\\s+now');
const FROM = words('(?:from|between)');
const TO = words("to|and|until|till|'?til|-|through|thru");
const TO_MARK = /\s*-\s*/y;
const UNTIL = words("(?:until|till|'?til)(?:\\s+and\\s+including)?(?:\\s+the\\s+end\\s+of)?");
const STARTING = words(
  '(?:starting|beginning|counted|counting)(?:\\s+(?:on|from))?|as\\s+of|from(?!\\s+now)(?:\\s+on)?',
);
const NOW_ON = words('from\\s+now\\s+on|starting\\s+(?:now|today)(?!\\s+at)');
const TIMES = words(String.raw`(?:for\s+)?(?<count>\d{1,5}|${NUMBER_WORD})\s+(?:times|runs)`);
const SHARP = words('sharp|exactly|precisely');
const ADVERB = words('everyday|daily|weekly|monthly|yearly|annually|hourly|fortnightly');
const TWICE = words('(?:for\\s+)?(?:(?<once>once)|(?<twice>twice))\\s+only');
const LASTING = words(
  String.raw`for\s+(?:the\s+next\s+)?(?:an?|\d{1,5}|${NUMBER_WORD})\s+(?:minute|hour|day|week|month|year)s?`,
);
const MINUTE_LIST =
  /\s*at\s+(?::|minutes?\s+)(?<minutes>\d{1,2}(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+):?\d{1,2})*)(?!\w|[:.,]\d)/y;
const MINUTES_PAST = words(
  String.raw`(?:at\s+)?(?:(?<minutes>\d{1,2})(?:\s+minutes?)?|(?<part>quarter|half))\s+past(?:\s+the\s+hour)?(?!\s+\d)`,
);
const ON_THE_HOUR = words('on\\s+the\\s+hour');

function edgeDay(cursor: Cursor): EdgeDay | null {
  cursor.take(ON);
  const days = readDays(cursor);
  if (days?.kind === 'date' || days?.kind === 'ahead') return days;
  if (days?.kind === 'weekdays' && !days.plural && days.weekdays.length === 1) return days;
  return null;
}

function head(cursor: Cursor, draft: Draft): boolean {
  // "At 9 daily standup" has two readings, so such a word counts only where it stands first.
  if (cursor.has(ADVERB) && (draft.days !== null || draft.times !== null)) return false;
  // A second rhythm is the beginning of the text, or a contradiction that the end of the when tells about.
  return draft.rhythm === null && draft.wait === null && !isOnce(draft) && readHead(cursor, draft);
}

/** A day that can come only once: behind it "weekly" begins the text. */
function isOnce({ days }: Draft): boolean {
  return days?.kind === 'ahead' || (days?.kind === 'date' && days.date.year !== null);
}

function wait(cursor: Cursor, draft: Draft): boolean {
  if (draft.rhythm !== null || draft.wait !== null || draft.days !== null) return false;
  const amount = cursor.attempt((at) => {
    const hasIn = at.take(IN) !== null;
    if (hasIn && !at.has(WAIT_NEXT)) return null;
    const found = readAmount(at);
    return found !== null && (hasIn || at.take(FROM_NOW) !== null) ? found : null;
  });
  if (amount === null) return false;
  cursor.take(IN_TIME);
  draft.wait = amount;
  return true;
}

/** The days that a rhythm of each unit may name. */
const FITTING: Readonly<Record<'day' | 'week' | 'month' | 'year', (days: Days) => boolean>> = {
  day: () => false,
  week: (days) => days.kind === 'weekdays' && days.which === 'any',
  month: (days) => days.kind === 'monthDays' || (days.kind === 'nth' && days.month === null),
  year: (days) => (days.kind === 'date' && days.date.year === null) || (days.kind === 'nth' && days.month !== null),
};

function fits(days: Days, { rhythm, wait: waiting }: Draft): boolean {
  if (waiting !== null) return false;
  if (rhythm === null) return true;
  if (rhythm.kind === 'calendar') return FITTING[rhythm.unit](days);
  return days.kind !== 'ahead' && days.kind !== 'date';
}

/** A bare "1st" may begin the text, and so may any day behind "every hour", which is complete without one. */
function isClear(days: Days, { rhythm }: Draft, words: string): boolean {
  if (rhythm?.kind === 'elapsed') return false;
  return days.kind !== 'monthDays' || days.ofMonth || rhythm !== null || /^\s*the\b/.test(words);
}

function days(cursor: Cursor, draft: Draft): boolean {
  if (draft.days !== null) return false;
  const found = cursor.attempt((at) => {
    const before = at.at;
    const hasOn = at.take(ON) !== null;
    const named = readDays(at);
    if (named === null || !fits(named, draft)) return null;
    return hasOn || isClear(named, draft, at.text.slice(before)) ? named : null;
  });
  if (found === null) return false;
  draft.days = found;
  return true;
}

function minuteValues(text: string): number[] {
  const values = [...text.matchAll(/\d+/g)].map(Number);
  if (values.some((value) => value > 59)) throw refusal('clock', 'no_such_time', 'An hour has the minutes 0 to 59.');
  return [...new Set(values)].sort((a, b) => a - b);
}

function minutesOfHour(cursor: Cursor, draft: Draft): boolean {
  if (draft.rhythm?.kind !== 'elapsed' || draft.minutes !== null) return false;
  draft.minutes = minuteWords(cursor);
  return draft.minutes !== null;
}

function minuteWords(cursor: Cursor): number[] | null {
  if (cursor.take(ON_THE_HOUR) !== null) return [0];
  const past = cursor.take(MINUTES_PAST)?.groups;
  if (past === undefined) {
    const list = cursor.take(MINUTE_LIST)?.groups?.['minutes'];
    return list === undefined ? null : minuteValues(list);
  }
  const { part: named, minutes = '' } = past;
  if (named === undefined) return minuteValues(minutes);
  return [named === 'half' ? 30 : 15];
}

function times(cursor: Cursor, draft: Draft): boolean {
  if (draft.times !== null) return false;
  const promised = draft.promised?.of === 'times' ? draft.promised.count : null;
  const found = readTimes(cursor, promised) ?? impliedTimes(cursor, draft);
  if (found === null) return false;
  draft.times = found;
  cursor.take(SHARP);
  return true;
}

/** The time of a day that is clear already, or that follows. */
function impliedTimes(cursor: Cursor, draft: Draft): readonly ClockTime[] | null {
  if (lacksTime(draft)) return readMissingTime(cursor);
  const isFirst = draft.rhythm === null && draft.days === null && draft.wait === null;
  return isFirst ? readTimeBeforeDays(cursor) : null;
}

/** "Every month 9" may want a day, and "friday 13" may be one. */
export function lacksTime({ rhythm, days: named, wait: waiting, times: known }: Draft): boolean {
  if (waiting !== null || known !== null) return false;
  if (rhythm !== null) return rhythm.kind === 'calendar' && (rhythm.unit === 'day' || named !== null);
  return named?.kind === 'ahead' || (named?.kind === 'weekdays' && named.plural);
}

/** A part of the day needs a day or a time that it belongs to; "night owl" begins a text. */
function part(cursor: Cursor, draft: Draft): boolean {
  if (draft.part !== null || (draft.days === null && draft.times === null)) return false;
  if (draft.times !== null && !draft.endsInDay && !cursor.has(BEFORE_PART)) return false;
  const found = readDayPart(cursor);
  if (found === null) return false;
  draft.part = found;
  return true;
}

function hours(cursor: Cursor, draft: Draft): boolean {
  if (draft.hours !== null || draft.rhythm?.kind !== 'elapsed') return false;
  const found = cursor.attempt((at) => {
    if (at.take(FROM) === null) return null;
    const from = readOneTime(at);
    if (from === null || (at.take(TO) ?? at.take(TO_MARK)) === null) return null;
    const to = readOneTime(at);
    return to === null ? null : { from, to };
  });
  if (found === null) return false;
  draft.hours = found;
  return true;
}

function edges(cursor: Cursor, draft: Draft): boolean {
  if (draft.until === null) {
    const until = cursor.attempt((at) => (at.take(UNTIL) === null ? null : edgeDay(at)));
    if (until !== null) {
      draft.until = until;
      return true;
    }
  }
  if (cursor.take(NOW_ON) !== null) return true;
  if (draft.starting !== null || draft.wait !== null) return false;
  const starting = cursor.attempt((at) => (at.take(STARTING) === null ? null : edgeDay(at)));
  if (starting === null) return false;
  draft.starting = starting;
  return true;
}

function count(cursor: Cursor, draft: Draft): boolean {
  if (draft.rhythm === null && !isSeries(draft)) return false;
  if (cursor.has(LASTING)) {
    throw refusal('end', 'lasting', 'The end of a series is a day or a number of runs here, not a length of time.');
  }
  if (draft.count !== null) return false;
  draft.count = countWords(cursor);
  if (draft.count === 0) throw refusal('end', 'zero', 'A series of 0 runs never runs.');
  return draft.count !== null;
}

function countWords(cursor: Cursor): number | null {
  const found = cursor.take(TIMES)?.groups?.['count'];
  if (found !== undefined) return numberOf(found);
  const only = cursor.take(TWICE)?.groups;
  if (only === undefined) return null;
  return only['twice'] === undefined ? 1 : 2;
}

/** Days that come back by themselves, without an "every". */
export function isSeries({ rhythm, days: named }: Draft): boolean {
  if (rhythm !== null) return true;
  if (named?.kind === 'weekdays') return named.plural;
  return (named?.kind === 'monthDays' || named?.kind === 'nth') && named.ofMonth;
}

function zone(cursor: Cursor, draft: Draft): boolean {
  if (draft.timezone !== null) return false;
  if (draft.rhythm === null && draft.days === null && draft.times === null && draft.wait === null) return false;
  draft.timezone = readZone(cursor);
  return draft.timezone !== null;
}

const READERS = [zone, edges, count, hours, minutesOfHour, wait, head, times, days, part];

/** Reads part after part, in whatever order they stand, as long as each of them is part of a when. */
export function readClauses(cursor: Cursor, draft: Draft): void {
  for (;;) {
    const before = cursor.at;
    if (before > 0) cursor.take(COMMA);
    const afterComma = cursor.at;
    const daysBefore = draft.days;
    const found = READERS.some((read) => {
      cursor.at = afterComma;
      return read(cursor, draft);
    });
    draft.endsInDay = found && draft.days !== daysBefore;
    if (found) continue;
    cursor.at = before;
    return;
  }
}
