import { isClock, readAmount, spanOf, type Unit } from './amount.ts';
import { readDayPart } from './clock-time.ts';
import { type Cursor, words, refusal } from './cursor.ts';
import { type Days, readDays, WORK_WEEK } from './days.ts';
import type { Draft } from './draft.ts';
import { NUMBER_WORD, numberOf, ORDINAL_WORD, ordinalOf, WEEKDAY, weekdayOf } from './spelling.ts';

const EVERY = words('every|each|once\\s+every');
const ADVERB = words('(?<unit>daily|weekly|monthly|yearly|annually|hourly|fortnightly)');
const EVERYDAY = words('everyday');
const TIMES_PER = words(
  String.raw`(?:(?<word>once|twice)|(?<count>\d{1,2}|${NUMBER_WORD})\s+times|(?<one>1)\s+time)\s+(?:a|an|per|each|every)\s+(?<unit>day|week|month|year|hour|weekday)`,
);
const OTHER = words(String.raw`other\s+(?:(?<unit>day|week|month|year)|(?<weekday>${WEEKDAY}))`);
const STEPPED = words(
  String.raw`(?<nth>second|third|fourth|fifth|sixth|\d{1,2}(?:st|nd|rd|th))\s+(?<unit>day|week|month|year|hour|minute)(?!s?\s+(?:of|in)\b)`,
);
const NUMBERED_WEEKDAY = words(String.raw`(?<count>\d{1,2}|two|three|four)\s+(?<weekday>${WEEKDAY})s`);
const ORDINAL_WEEKDAY = words(String.raw`(?:${ORDINAL_WORD}|\d(?:st|nd|rd|th))\s+${WEEKDAY}s?`);
const FORTNIGHT = words('fortnight|two\\s+weeks');
const UNIT = words('(?<unit>second|minute|hour|day|week|month|year)');
const QUARTER = words('quarter(?!s?[\\s-]+(?:of\\s+an\\s+)?hour)|half\\s+(?:day|week|month|year)');

const ADVERBS: Readonly<Record<string, readonly ['day' | 'week' | 'month' | 'year', number]>> = {
  daily: ['day', 1],
  weekly: ['week', 1],
  fortnightly: ['week', 2],
  monthly: ['month', 1],
  yearly: ['year', 1],
  annually: ['year', 1],
};

function setRhythm(draft: Draft, unit: Unit, every: number): true {
  if (isClock(unit)) draft.rhythm = { kind: 'elapsed', seconds: spanOf([{ value: every, unit }]).seconds };
  else draft.rhythm = { kind: 'calendar', unit, every };
  return true;
}

function checkedStep(value: number): number {
  if (value >= 1 && value <= 1_000) return value;
  throw refusal('rhythm', 'zero', `Every ${value} is not a rhythm; write a number from 1 to 1000.`);
}

function adverb(cursor: Cursor, draft: Draft): boolean {
  if (cursor.take(EVERYDAY) !== null) return setRhythm(draft, 'day', 1);
  const unit = cursor.take(ADVERB)?.groups?.['unit'];
  if (unit === undefined) return false;
  if (unit === 'hourly') return setRhythm(draft, 'hour', 1);
  const [name, every] = ADVERBS[unit] ?? ['day', 1];
  return setRhythm(draft, name, every);
}

function timesPer(cursor: Cursor, draft: Draft): boolean {
  const groups = cursor.take(TIMES_PER)?.groups;
  if (groups === undefined) return false;
  const word = groups['word'];
  const count = word === undefined ? numberOf(groups['count'] ?? '1') : word === 'once' ? 1 : 2;
  const unit = groups['unit'] ?? 'day';
  if (unit === 'hour') {
    throw refusal(
      'rhythm',
      'times_per_hour',
      `Say how many minutes lie between the runs, not how many runs an hour has.`,
    );
  }
  if (unit === 'weekday') draft.days = { kind: 'weekdays', weekdays: WORK_WEEK, plural: true, which: 'any' };
  draft.promised = { count, of: unit === 'day' || unit === 'weekday' ? 'times' : 'days' };
  return setRhythm(draft, unit === 'weekday' ? 'week' : (unit as Unit), 1);
}

function otherUnit(cursor: Cursor, draft: Draft): boolean {
  const groups = cursor.take(OTHER)?.groups;
  if (groups !== undefined) {
    const weekday = groups['weekday'];
    if (weekday === undefined) return setRhythm(draft, groups['unit'] as Unit, 2);
    draft.days = { kind: 'weekdays', weekdays: [weekdayOf(weekday)], plural: false, which: 'any' };
    return setRhythm(draft, 'week', 2);
  }
  const stepped = cursor.take(STEPPED)?.groups;
  if (stepped === undefined) return false;
  return setRhythm(draft, stepped['unit'] as Unit, checkedStep(ordinalOf(stepped['nth'] ?? '')));
}

/** `every 15 minutes`, `every 2h`, `every 2 weeks`, `every week`. */
function amount(cursor: Cursor, draft: Draft): boolean {
  if (cursor.take(FORTNIGHT) !== null) return setRhythm(draft, 'week', 2);
  if (cursor.take(QUARTER) !== null) {
    throw refusal('month', 'unclear_rhythm', 'It is not said where such a period begins; count days, weeks or months.');
  }
  const parts = readAmount(cursor);
  if (parts === null) {
    const unit = cursor.take(UNIT)?.groups?.['unit'];
    return unit === undefined ? false : setRhythm(draft, unit as Unit, 1);
  }
  const [first] = parts;
  if (parts.every(({ unit }) => isClock(unit))) {
    draft.rhythm = { kind: 'elapsed', seconds: spanOf(parts).seconds };
    return true;
  }
  if (first === undefined || parts.length > 1) {
    throw refusal('rhythm', 'mixed_rhythm', 'A rhythm of days or longer has one unit here.');
  }
  return setRhythm(draft, first.unit, checkedStep(first.value));
}

function rhythmOfDays(days: Days): 'week' | 'month' | 'year' | null {
  switch (days.kind) {
    case 'weekdays':
      return days.which === 'any' ? 'week' : null;
    case 'monthDays':
      return 'month';
    case 'nth':
      return days.month === null ? 'month' : 'year';
    case 'date':
      return days.date.year === null ? 'year' : null;
    case 'ahead':
      return null;
  }
}

/** `every second tuesday` is a fortnight to some and a day of the month to others; "first" and "last" are not. */
function refuseUnclearOrdinal(days: Days): void {
  if (days.kind !== 'nth' || days.ofMonth || days.month !== null) return;
  if (days.ordinals.every((ordinal) => ordinal === 1 || ordinal === -1)) return;
  throw refusal(
    'other',
    'ambiguous_ordinal',
    'It is not clear whether this counts weeks or the days of a month; write "every other" or add "of the month".',
  );
}

function everyDays(cursor: Cursor, draft: Draft): boolean {
  const numbered = cursor.take(NUMBERED_WEEKDAY)?.groups;
  if (numbered !== undefined) {
    draft.days = { kind: 'weekdays', weekdays: [weekdayOf(numbered['weekday'] ?? '')], plural: true, which: 'any' };
    return setRhythm(draft, 'week', checkedStep(numberOf(numbered['count'] ?? '')));
  }
  const days = readDays(cursor);
  const unit = days === null ? null : rhythmOfDays(days);
  if (days === null || unit === null) return false;
  refuseUnclearOrdinal(days);
  draft.days = days;
  return setRhythm(draft, unit, 1);
}

function every(cursor: Cursor, draft: Draft): boolean {
  if (cursor.take(EVERY) === null) return false;
  if (cursor.has(ORDINAL_WEEKDAY) && everyDays(cursor, draft)) return true;
  if (otherUnit(cursor, draft) || everyDays(cursor, draft)) return true;
  const part = readDayPart(cursor);
  if (part !== null) {
    draft.part = part;
    return setRhythm(draft, 'day', 1);
  }
  return amount(cursor, draft);
}

/** Says how often; in "every monday" and its like also on which days. */
export function readHead(cursor: Cursor, draft: Draft): boolean {
  return (
    cursor.attempt((at) => (timesPer(at, draft) || every(at, draft) ? true : null)) === true || adverb(cursor, draft)
  );
}
