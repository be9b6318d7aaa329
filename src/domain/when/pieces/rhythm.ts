import type { Period } from '../english.ts';
import { Question, refusal, type Way } from '../faults.ts';
import { any, compiled, placeOf, valueOf, words } from '../languages/compiled.ts';
import type { DayPart } from '../languages/language.ts';
import { type Amount, amountAt, isClock, spanOf, type Unit, UNITS, unitWords } from './amount.ts';
import { partAt } from './clock.ts';
import type { Cursor } from './cursor.ts';
import { type Days, daysAt, WORK_WEEK, weekdayAt } from './days.ts';

export type CalendarUnit = 'day' | 'week' | 'month' | 'year';

/** How often: by calendar units, or by a span of elapsed time. */
export type Rhythm =
  | { readonly kind: 'calendar'; readonly unit: CalendarUnit; readonly every: number; readonly quarters: boolean }
  | { readonly kind: 'elapsed'; readonly seconds: number };

/** A rhythm, and the days that its words name: `every monday`. */
export interface RhythmFound {
  readonly rhythm: Rhythm;
  readonly days: Days | null;
  readonly part: DayPart | null;
  /** `twice a day` has to name two times, `twice a week` two days. */
  readonly promised: { readonly count: number; readonly of: 'times' | 'days' } | null;
}

const patterns = compiled(({ adverbs, numbers, ordinals, ordinalEnd, parts, units, weekdays, plural, words: w }) => {
  const number = any(Object.keys(numbers));
  const unit = any(UNITS.map((name) => units[name]));
  const weekday = any(weekdays);
  const steps = any([
    ...Object.keys(ordinals).filter((word) => (ordinals[word] ?? 0) > 1),
    String.raw`\d{1,2}(?:${ordinalEnd})`,
  ]);
  return {
    every: words(String.raw`(?:(?:${w.on})\s+)?(?:${w.every})(?:\s+single)?`),
    adverb: words(
      Object.entries(adverbs)
        .map(([name, source]) => `(?<${name}>${source})`)
        .join('|'),
    ),
    namedNext: new RegExp(String.raw`\s+(?:${w.noon}|${w.midnight})(?![\p{L}])`, 'yu'),
    timeNext: /\s+(?:at\s+)?\d/y,
    halfHourly: words('half[\\s-]*hourly'),
    timesPer: words(
      String.raw`(?:(?<once>once)|(?<twice>twice|2x)|(?<count>\d{1,2}|${number})\s*(?:${w.times}))\s+(?:${w.per})\s+(?:(?<day>day)|(?<week>week)|(?<month>month)|(?<year>year)|(?<hour>hour)|(?<weekday>${w.weekday}))|(?:(?<daily2>twice)|(?<dailyCount>\d{1,2}|${number})\s*(?:${w.times}))\s+daily`,
    ),
    otherWeekday: words(
      String.raw`(?:${w.other})\s+(?<weekday>${weekday})${plural}?|(?:${w.other})\s+(?<work>${w.weekday})`,
    ),
    alternate: /\s*(?:on\s+)?(?=alternat(?:e|ing)\s|alt\s+(?:mon|tue|wed|thu|fri|sat|sun|week|day))/y,
    semiannual: words('semi-?annually|half-?yearly'),
    otherPart: new RegExp(String.raw`\s*(?:${w.other})(?=\s+(?:${Object.values(parts).join('|')})(?![\p{L}']))`, 'yu'),
    other: words(String.raw`(?:${w.other}|second\s+other)\s+(?<unit>${unit})`),
    stepped: words(String.raw`(?<nth>${steps})\s+(?<unit>${unit})(?!s?\s+(?:of|in)\b)`),
    numberedWeekday: words(String.raw`(?<count>\d{1,2}|two|three|four)\s+(?<weekday>${weekday})s`),
    ordinalWeekday: words(
      String.raw`(?<nth>${steps}|${any(Object.keys(ordinals))})\s+(?<name>${weekday}|${w.weekday})s?`,
    ),
    unit: words(String.raw`(?<unit>${unit})`),
    quarter: words(String.raw`${w.quarterYear}(?!s?[\s-]+(?:of\s+an\s+)?hour)`),
    halfYear: words(String.raw`(?:${w.half})\s+(?:(?<year>year)|(?<hour>hour))`),
    unclear: words('(?:bi|semi)-?(?<unit>week|month|annual|year)ly|nightly'),
  };
});

function unitOf({ language }: Cursor, text: string): Unit {
  return UNITS[placeOf(unitWords(language), text)] ?? 'day';
}

function stepOf(value: number): number {
  if (value >= 1 && value <= 1_000) return value;
  throw refusal('rhythm', 'zero', (say) => say.noRhythm(value));
}

function by(unit: Unit, every: number): Rhythm {
  if (isClock(unit)) return { kind: 'elapsed', seconds: spanOf([{ value: stepOf(every), unit }]).seconds };
  return { kind: 'calendar', unit, every: stepOf(every), quarters: false };
}

function plain(rhythm: Rhythm, days: Days | null = null): RhythmFound {
  return { rhythm, days, part: null, promised: null };
}

const QUARTERS: Rhythm = { kind: 'calendar', unit: 'month', every: 1, quarters: true };

function adverb(cursor: Cursor): RhythmFound | null {
  const p = patterns(cursor.language);
  if (cursor.take(p.halfHourly) !== null) return plain(by('minute', 30));
  if (cursor.take(p.semiannual) !== null) return plain(by('month', 6));
  const groups = cursor.take(p.adverb)?.groups;
  if (groups === undefined) return null;
  if (groups['hourly'] !== undefined) return plain(by('hour', 1));
  if (groups['daily'] !== undefined) return plain(by('day', 1));
  if (groups['weekly'] !== undefined) return plain(by('week', 1));
  if (groups['fortnightly'] !== undefined) return plain(by('week', 2));
  if (groups['quarterly'] !== undefined) return plain(QUARTERS);
  return plain(by(groups['monthly'] === undefined ? 'year' : 'month', 1));
}

function weekdaySet(weekdays: readonly number[]): Days {
  return { kind: 'weekdays', weekdays, plural: true, which: 'any' };
}

function timesPer(cursor: Cursor): RhythmFound | null {
  const groups = cursor.take(patterns(cursor.language).timesPer)?.groups;
  if (groups === undefined) return null;
  const { once, twice, daily2, count, dailyCount } = groups;
  const isTwice = twice !== undefined || daily2 !== undefined;
  const number = once === undefined ? (isTwice ? 2 : valueOf(cursor.language.numbers, count ?? dailyCount ?? '1')) : 1;
  if (groups['hour'] !== undefined) {
    if (60 % number === 0) return plain(by('minute', 60 / number));
    throw refusal('rhythm', 'times_per_hour', (say) => say.timesPerHour);
  }
  const days = groups['weekday'] === undefined ? null : weekdaySet(WORK_WEEK);
  const unit = (['week', 'month', 'year'] as const).find((name) => groups[name] !== undefined) ?? 'day';
  const of = unit === 'day' ? ('times' as const) : ('days' as const);
  const promised = number === 1 ? null : { count: number, of };
  return { rhythm: by(days === null ? unit : 'week', 1), days, part: null, promised };
}

function otherUnit(cursor: Cursor, begin: number): RhythmFound | null {
  const p = patterns(cursor.language);
  const other = cursor.take(p.otherWeekday)?.groups;
  if (other?.['weekday'] !== undefined) return plain(by('week', 2), weekdaySet([weekdayAt(cursor, other['weekday'])]));
  if (other !== undefined) {
    const edit = (text: string) => [{ begin, end: cursor.at, text }];
    throw new Question(
      (say) => say.whichWeekdays,
      [
        { text: (say) => say.offers.monWedFri, edits: edit('every monday, wednesday and friday') },
        { text: (say) => say.offers.tueThu, edits: edit('every tuesday and thursday') },
        { text: (say) => say.offers.everyOther('day'), edits: edit('every 2 days') },
      ],
    );
  }
  const part = cursor.take(p.otherPart) === null ? null : partAt(cursor);
  if (part !== null) return { rhythm: by('day', 2), days: null, part: part.part, promised: null };
  const unit = cursor.take(p.other)?.groups?.['unit'];
  if (unit !== undefined) return plain(by(unitOf(cursor, unit), 2));
  const stepped = cursor.take(p.stepped)?.groups;
  if (stepped === undefined) return null;
  return plain(by(unitOf(cursor, stepped['unit'] ?? ''), valueOf(cursor.language.ordinals, stepped['nth'] ?? '')));
}

/** `every 15 minutes`, `every 2h`, `every 2 weeks`, `every week`. */
function stretch(cursor: Cursor): RhythmFound | null {
  const p = patterns(cursor.language);
  const half = cursor.take(p.halfYear)?.groups;
  if (half !== undefined) return plain(half['year'] === undefined ? by('minute', 30) : by('month', 6));
  if (cursor.take(p.quarter) !== null) return plain(QUARTERS);
  const parts = amountAt(cursor);
  if (parts !== null) return plain(ofAmount(parts));
  const unit = cursor.take(p.unit)?.groups?.['unit'];
  return unit === undefined || unit.length < 3 ? null : plain(by(unitOf(cursor, unit), 1));
}

function ofAmount(parts: Amount): Rhythm {
  const [first] = parts;
  if (parts.every(({ unit }) => isClock(unit))) return { kind: 'elapsed', seconds: spanOf(parts).seconds };
  if (first !== undefined && parts.length === 1) return by(first.unit, first.value);
  throw refusal('rhythm', 'mixed_rhythm', (say) => say.mixedRhythm);
}

function rhythmOfDays(days: Days): CalendarUnit | null {
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
function askOrdinal(cursor: Cursor, begin: number): void {
  const match = cursor.take(patterns(cursor.language).ordinalWeekday);
  const { nth = '', name = '' } = match?.groups ?? {};
  const count = valueOf(cursor.language.ordinals, nth);
  const isClear =
    match === null || count <= 1 || count > 5 || cursor.has(/\s+(?:of|in)\s+(?:the|each|every|a|this)?\s*\p{L}/uy);
  if (isClear) return;
  const [from, end] = [begin, cursor.at];
  throw new Question(
    (say) => say.weeksOrMonth(`every ${nth} ${name}`),
    [
      {
        text: (say) => say.offers.everyWeeks(count),
        edits: [{ begin: from, end, text: `every ${count} weeks on ${name}` }],
      },
      {
        text: (say) => say.offers.ofMonth(nth, name),
        edits: [{ begin: from, end, text: `every ${nth} ${name} of the month` }],
      },
    ],
  );
}

function everyDays(cursor: Cursor): RhythmFound | null {
  const numbered = cursor.take(patterns(cursor.language).numberedWeekday)?.groups;
  if (numbered !== undefined) {
    const step = valueOf(cursor.language.numbers, numbered['count'] ?? '');
    return plain(by('week', step), weekdaySet([weekdayAt(cursor, numbered['weekday'] ?? '')]));
  }
  const days = daysAt(cursor)?.days ?? null;
  const unit = days === null ? null : rhythmOfDays(days);
  if (days === null || unit === null) return null;
  const isQuarter = (days.kind === 'monthDays' || days.kind === 'nth') && days.of === 'quarter';
  return plain(isQuarter ? QUARTERS : by(unit, 1), days.kind === 'weekdays' ? { ...days, plural: true } : days);
}

function every(cursor: Cursor): RhythmFound | null {
  const begin = cursor.begin();
  if (cursor.take(patterns(cursor.language).every) === null) return null;
  const at = cursor.at;
  askOrdinal(cursor, begin);
  cursor.at = at;
  const found = cursor.first([(next) => otherUnit(next, begin), everyDays]);
  if (found !== null) return found;
  const part = cursor.attempt(partAt);
  if (part !== null) return { rhythm: by('day', 1), days: null, part: part.part, promised: null };
  if (cursor.has(patterns(cursor.language).namedNext)) return plain(by('day', 1));
  return cursor.attempt(stretch);
}

/** `alternate mondays`. */
function alternate(cursor: Cursor): RhythmFound | null {
  const begin = cursor.begin();
  return cursor.take(patterns(cursor.language).alternate) === null ? null : otherUnit(cursor, begin);
}

const PERIODS: readonly Period[] = ['day', 'week', 'month', 'year'];

/** `biweekly`: twice as often to some, half as often to others. */
function unclear(cursor: Cursor): RhythmFound | null {
  const begin = cursor.begin();
  const match = cursor.take(patterns(cursor.language).unclear);
  const unit = match?.groups?.['unit']?.replace('annual', 'year');
  if (match === null || unit === undefined) {
    if (match !== null && cursor.has(patterns(cursor.language).timeNext))
      return { rhythm: by('day', 1), days: null, part: 'night', promised: null };
    if (match !== null)
      throw new Question(
        (say) => say.everyNight,
        [{ text: '20:00', edits: [{ begin, end: cursor.at, text: 'every night' }] }],
        ['time'],
      );
    return null;
  }
  const end = cursor.at;
  const period = PERIODS.find((each) => each === unit) ?? 'day';
  const twice = unit === 'year' ? 'every 6 months' : `twice a ${unit}`;
  const ways: readonly Way[] = [
    { text: (say) => say.offers.everyOther(period), edits: [{ begin, end, text: `every 2 ${unit}s` }] },
    {
      text: (say) => say.offers.twice(period),
      edits: [{ begin, end, text: twice }],
    },
  ];
  throw new Question((say) => say.halfOrTwice(match[0].trim(), period), ways);
}

/** Says how often; in "every monday" and its like also on which days. */
export function rhythmAt(cursor: Cursor): RhythmFound | null {
  return cursor.first<RhythmFound>([timesPer, every, alternate, adverb, unclear]);
}
