import { type ParsedResult, strict } from 'chrono-node/en';
import { DAY_MS, daysFromCivil, MINUTE_MS } from '../schedule/time/calendar.ts';
import { resolveShifted } from '../schedule/time/zone.ts';
import type { Cursor } from './cursor.ts';
import { checkWeekday, type Setting } from './edge.ts';
import { MONTH, WEEKDAY, weekdayOf } from './lexicon.ts';
import { refusal } from './refusal.ts';

const REACH = 60;
/** A full date with a month in words: only of such a text does the library never guess. */
const FULL_DATE = new RegExp(
  String.raw`^\s*(?=.{0,${REACH}}?(?:19|20|21)\d\d)(?=.{0,${REACH}}?(?<![a-z])${MONTH}(?![a-z]))`,
  'u',
);
/** Words a date may consist of. Anything else in what the library took means that it read more into it than stands there. */
const PLAIN = new RegExp(
  String.raw`^(?:[\s\d,.:@-]|(?<![a-z])(?:${MONTH}|${WEEKDAY}|at|on|of|the|am|pm|noon|o'clock)(?![a-z])|(?<=\d)(?:st|nd|rd|th|am|pm))+$`,
  'u',
);
/** Any fixed day will do: a date with its year does not depend on it. */
const REFERENCE = { instant: new Date(0), timezone: 0 };

/** Everything from year to hour was said, and nothing beyond the minute. */
function isExact({ start, end, text }: ParsedResult): boolean {
  const isWhole = (['year', 'month', 'day', 'hour'] as const).every((part) => start.isCertain(part));
  if (!isWhole || (end ?? null) !== null || !PLAIN.test(text)) return false;
  return (start.get('second') ?? 0) === 0 && !start.isCertain('timezoneOffset');
}

/**
 * Dates in orders that the own grammar does not know, such as `2027 january 31 at 9`. The library names only the parts; the
 * instant is ours, because its own is an hour off behind the next change of the clocks.
 */
export function readSpelledDate(cursor: Cursor, { timezone }: Setting): number | null {
  const text = cursor.text.slice(cursor.at, cursor.at + REACH);
  if (!FULL_DATE.test(text)) return null;
  const [found] = strict.parse(text, REFERENCE);
  if (found === undefined || text.slice(0, found.index).trim() !== '' || !isExact(found)) return null;
  const { start } = found;
  const part = (name: 'year' | 'month' | 'day' | 'hour' | 'minute') => start.get(name) ?? 0;
  const day = daysFromCivil(part('year'), part('month'), part('day'));
  const named = new RegExp(String.raw`(?<![a-z])${WEEKDAY}(?![a-z])`, 'u').exec(found.text)?.[0];
  checkWeekday(named === undefined ? null : weekdayOf(named), day);
  cursor.at += found.index + found.text.length;
  if (cursor.at >= cursor.text.length || !/[\p{L}\p{N}]/u.test(cursor.text.charAt(cursor.at))) {
    return resolveShifted(timezone, day * DAY_MS + (part('hour') * 60 + part('minute')) * MINUTE_MS);
  }
  throw refusal('date', 'unclear_end', 'It is not clear where this date ends; write it like 31 january 2027 at 9:00.');
}
