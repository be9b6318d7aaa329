import { AppError } from '../../errors.ts';
import { besideAt, type AskedPolicies } from '../beside.ts';
import { Question, refusal } from '../faults.ts';
import { compiled, words } from '../languages/compiled.ts';
import type { DayPart } from '../languages/language.ts';
import { type Amount, amountAt, clockAmount, isClock } from './amount.ts';
import { type Bound, boundAt, monthAt, thisSpanAt } from './bounds.ts';
import { type ClockTime, oneTime, partAt, timesAt } from './clock.ts';
import { Cursor } from './cursor.ts';
import { type Days, daysAt, weeksLater } from './days.ts';
import { type RhythmFound, rhythmAt } from './rhythm.ts';
import { nextSpan, turnOfDay, unitless, vague } from './vague.ts';
import { zoneAt, type ZoneFound } from './zones.ts';

type Span = { readonly begin: number; readonly end: number };

/** Pieces that stand together. */
export interface Run {
  readonly begin: number;
  readonly end: number;
  readonly pieces: readonly Piece[];
  readonly isHead: boolean;
  readonly isTail: boolean;
  /** A word of the text stands right behind it. */
  readonly isFollowed: boolean;
}

/** A part of a time, and where it stands in the line. */
export type Piece = {
  readonly begin: number;
  readonly end: number;
  /** It is one of a list: an "and" or a comma stands before it. */
  readonly joint?: 'and' | 'comma' | null;
} & (
  | { readonly is: 'times'; readonly times: readonly ClockTime[] }
  | { readonly is: 'part'; readonly part: DayPart; readonly isSaid: boolean; readonly plural: boolean }
  | { readonly is: 'days'; readonly days: Days; readonly isWeak: boolean }
  | ({ readonly is: 'rhythm'; readonly isAdverb: boolean } & RhythmFound)
  /** `clockAt`: figures such as 17.30, which a clock shows too. */
  | { readonly is: 'wait'; readonly amount: Amount; readonly clockAt: Span | null }
  | { readonly is: 'length'; readonly amount: Amount }
  | ({ readonly is: 'zone' } & ZoneFound)
  | { readonly is: 'hours'; readonly from: ClockTime; readonly to: ClockTime }
  | { readonly is: 'minutes'; readonly minutes: readonly number[] }
  | { readonly is: 'policies'; readonly policies: AskedPolicies }
  | { readonly is: 'bound'; readonly bound: Bound }
  /** `next week`, which moves a weekday beside it, and names no day alone. */
  | { readonly is: 'week'; readonly fault: Question }
  /** `isTurn`: a turn of the day, such as `after lunch`, which says nothing beside an hour. */
  | { readonly is: 'vague'; readonly isTurn?: boolean; readonly fault: AppError | Question }
);

type Content<P = Piece> = P extends Piece ? Omit<P, 'begin' | 'end'> : never;

const patterns = compiled(({ words: w, units }) => ({
  in: words(w.in),
  plus: /\s*\+(?=\d)/y,
  timer: words(w.timer),
  fromNow: words(String.raw`${w.fromNow}`),
  inTime: /'?s?\s+time(?![\p{L}'])/uy,
  from: words(String.raw`${w.from}|${w.between}`),
  between: new RegExp(String.raw`\s*(?:(?:to|and|until|till|'?til|through|thru)(?![\p{L}\p{N}])|-)\s*`, 'yu'),
  to: new RegExp(String.raw`\s*(?:(?:to|until|till|'?til|through|thru)(?![\p{L}\p{N}])|-)\s*`, 'yu'),
  minuteList:
    /\s*at\s+(?::|minutes?\s+)(?<minutes>\d{1,2}(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+):?\d{1,2})*)(?!\w|[:.,]\d)/y,
  minutesPast: words(
    String.raw`(?:at\s+|on\s+the\s+)?(?:a\s+)?(?:(?<minutes>\d{1,2})(?:\s+minutes?)?|(?<part>${w.quarter}|${w.half}))\s+past(?:\s+the\s+hour|\s+every\s+hour)?(?!\s+(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))`,
  ),
  onTheHour: words(
    String.raw`(?:on|at)\s+the\s+(?:(?<half>half)(?:[\s-]+hour)?|hour|full\s+hour)|at\s+(?<half2>half)\s+past`,
  ),
  hourFirst:
    /\s*(?:on\s+the\s+(?:half[\s-]*)?hour(?=\s*,?\s+(?:every|each|(?:from|between)\s+\d))|(?:at\s+)?(?:a\s+)?(?:quarter|half|\d{1,2})\s+past(?=\s+(?:every|each)\s+hour))/y,
  sameTime: words(
    String.raw`(?:at\s+)?(?:around\s+|about\s+)?this\s+(?:same\s+)?time\s+(?:(?<tomorrow>${w.tomorrow})|(?:${w.next})\s+(?:(?<week>${units.week})|(?<month>${units.month})|(?<year>${units.year})))`,
  ),
}));

function wait(cursor: Cursor, before: readonly Piece[]): Content | null {
  const p = patterns(cursor.language);
  const isTimer = cursor.take(p.timer) !== null;
  const isSaid = cursor.take(p.in) !== null;
  // "+2h" is as long from now.
  const hasIn = cursor.take(p.plus) !== null || isSaid;
  const counted = amountAt(cursor);
  const begin = cursor.begin();
  const amount = counted ?? ((hasIn || isTimer) && before.length === 0 ? clockAmount(cursor) : null);
  if (amount === null) return null;
  const isNow = cursor.take(p.fromNow) !== null;
  if (!hasIn && !isTimer && !isNow) return null;
  cursor.take(p.inTime);
  return { is: 'wait', amount, clockAt: counted === null ? { begin, end: cursor.at } : null };
}

/** `9h` and `8h30` are times where nothing says that they are lengths. */
function length(cursor: Cursor): Content | null {
  const from = cursor.begin();
  const amount = amountAt(cursor);
  const isClockLike = /^\d{1,2}h(?:[0-5]\d)?$/.test(cursor.text.slice(from, cursor.at));
  // "Half an hour before lunch" is no length of a wait.
  const isRelative = cursor.has(/\s+(?:before|after|prior|ago)\b/uy);
  return amount === null || isClockLike || isRelative ? null : { is: 'length', amount };
}

/** `this time tomorrow`, `this time next week`. */
function sameTime(cursor: Cursor): Content | null {
  const groups = cursor.take(patterns(cursor.language).sameTime)?.groups;
  if (groups === undefined) return null;
  const unit = (['week', 'month', 'year'] as const).find((name) => groups[name] !== undefined) ?? 'day';
  return { is: 'wait', amount: [{ value: 1, unit }], clockAt: null };
}

/** "Invoice 2026-11" names a month. */
const YEAR_AND_MONTH = /\s*20[2-9]\d-(?:0[1-9]|1[0-2])(?![\d:])/uy;

/** `from 8 to 18`, `between 9 and 17`, `8-18`. */
function hours(cursor: Cursor, before: readonly Piece[]): Content | null {
  if (cursor.has(YEAR_AND_MONTH)) return null;
  const isDay = takesHour(before, cursor);
  const p = patterns(cursor.language);
  const hasFrom = cursor.take(p.from) !== null;
  const from = oneTime(cursor);
  if (from === null || cursor.take(hasFrom ? p.between : p.to) === null) return null;
  // "At 9 til 5 december" ends on a day.
  if (cursor.attempt(daysAt) !== null) return null;
  const to = oneTime(cursor);
  // "At 9, 5-6 people" and "1-2" need more than figures, or a day beside them: "lunch 12-1 friday".
  const isClear =
    hasFrom || isDay || (to !== null && !(from.bare && to.bare)) || (isSpan(from, to) && isDayNext(cursor));
  return to === null || !isClear ? null : { is: 'hours', from, to };
}

/** A match of 2-1 is no span of hours. */
function isSpan(from: ClockTime, to: ClockTime | null): boolean {
  return to !== null && (to.minute > from.minute || from.minute >= 600);
}

function isDayNext({ text, language, at }: Cursor): boolean {
  const behind = Object.assign(new Cursor(text, language), { at });
  return daysAt(behind)?.isWeak === false;
}

/** Behind a rhythm of hours, two bare figures are hours too: `every 2 hours 8-18`. */
function bareHours(cursor: Cursor): Content | null {
  const from = oneTime(cursor);
  if (from === null || cursor.take(patterns(cursor.language).to) === null) return null;
  if (cursor.attempt(daysAt) !== null) return null;
  const to = oneTime(cursor);
  return to === null ? null : { is: 'hours', from, to };
}

function minutesOf(cursor: Cursor): Content | null {
  const p = patterns(cursor.language);
  const named = cursor.take(p.onTheHour)?.groups;
  if (named !== undefined)
    return { is: 'minutes', minutes: [(named['half'] ?? named['half2']) === undefined ? 0 : 30] };
  const past = cursor.take(p.minutesPast)?.groups;
  const text = past === undefined ? cursor.take(p.minuteList)?.groups?.['minutes'] : past['minutes'];
  if (text === undefined) {
    const part = past?.['part'];
    return part === undefined ? null : { is: 'minutes', minutes: [/quarter/.test(part) ? 15 : 30] };
  }
  const values = [...text.matchAll(/\d+/g)].map(Number);
  if (values.some((value) => value > 59)) throw refusal('clock', 'no_such_time', (say) => say.minutesOfHour);
  return { is: 'minutes', minutes: [...new Set(values)].sort((a, b) => a - b) };
}

/** "Tomorrow 9 march to school" has an hour and a verb, or two days. */
const HOUR_AND_VERB = /\s*(?<figure>[1-9]|1\d|2[0-3])\s+(?:march|may)(?=\s+\p{L})/uy;

function askVerb(cursor: Cursor, before: readonly Piece[]): void {
  const [first, more] = before;
  if (first?.is !== 'days' || more !== undefined || !cursor.has(HOUR_AND_VERB)) return;
  const begin = cursor.begin();
  const said = cursor.text.slice(begin, HOUR_AND_VERB.lastIndex);
  const figure = said.split(/\s/, 1)[0] ?? '';
  const end = begin + figure.length;
  throw new Question(
    (say) => say.whenToCome,
    [
      { text: (say) => say.offers.at(`${figure}:00`), edits: [{ begin: end, end, text: '\n' }] },
      { text: said, edits: [{ begin: first.begin, end: first.end, text: '' }] },
    ],
  );
}

function days(cursor: Cursor, before: readonly Piece[]): Content | null {
  askVerb(cursor, before);
  const found = fromDays(cursor) ?? daysAt(cursor);
  return found === null ? null : { is: 'days', ...found };
}

function weeks(cursor: Cursor): Content | null {
  const found = weeksLater(cursor);
  return found === null ? null : { is: 'days', ...found };
}

/** `from monday to friday` is a set of days rather than a start. */
function fromDays(cursor: Cursor): ReturnType<typeof daysAt> {
  return cursor.attempt((at) => {
    if (at.take(patterns(at.language).from) === null) return null;
    const found = daysAt(at);
    return found?.days.kind === 'weekdays' && found.days.weekdays.length > 1 ? found : null;
  });
}

function rhythm(cursor: Cursor): Content | null {
  const begin = cursor.begin();
  const found = rhythmAt(cursor);
  const isAdverb = found !== null && found.days === null && !/\s/.test(cursor.text.slice(begin, cursor.at));
  return found === null ? null : { is: 'rhythm', isAdverb, ...found };
}

function part(cursor: Cursor): Content | null {
  const found = partAt(cursor);
  return found === null ? null : { is: 'part', ...found };
}

function bound(cursor: Cursor, before: readonly Piece[]): Content | null {
  // "Class starts at 10" tells of the class, where nothing comes back.
  if (before.length === 0 && cursor.has(/\s*(?:starts|begins|ends)\b/uy)) return null;
  const found = boundAt(cursor) ?? (isMonthly(before) ? cursor.first([monthAt, thisSpanAt]) : null);
  return found === null ? null : { is: 'bound', bound: found };
}

/** A rhythm that a month can bound. */
function isMonthly(before: readonly Piece[]): boolean {
  return before.some(
    (piece) =>
      (piece.is === 'rhythm' && (piece.rhythm.kind === 'elapsed' || piece.rhythm.unit !== 'year')) ||
      (piece.is === 'days' && piece.days.kind === 'weekdays' && piece.days.plural),
  );
}

/** The last number in "at 9, 5 pushups" is a time, or begins the text. */
function askList(cursor: Cursor, [first, last, more]: readonly ClockTime[], before: readonly Piece[]): void {
  if (before.some((piece) => piece.is === 'rhythm' && piece.promised?.count === 2)) return;
  if (first === undefined || last?.bare !== true || more !== undefined || !cursor.has(WORD_BEHIND)) return;
  const behind = new Cursor(cursor.text, cursor.language);
  behind.at = cursor.at;
  if (pieceAt(behind, [{ is: 'times', times: [first], begin: first.begin, end: last.end }]) !== null) return;
  const said = cursor.text.slice(last.begin, last.end);
  throw new Question(
    (say) => say.timeOrText(said),
    [
      { text: (say) => say.offers.aTime, edits: [{ begin: last.end, end: last.end, text: ':' }] },
      { text: (say) => say.offers.text, edits: [{ begin: first.end, end: last.begin, text: '\n' }] },
    ],
  );
}

const WORD_BEHIND = /\s+\p{L}/uy;

/** "Every morning 20 pushups" counts them: no such hour is in that part of the day. */
function isCounted(times: readonly ClockTime[] | null, before: readonly Piece[], cursor: Cursor): boolean {
  const [time, more] = times ?? [];
  const last = before.at(-1);
  const part = last?.is === 'part' || last?.is === 'rhythm' ? last.part : null;
  if (time?.assumed !== true || more !== undefined || part === null || !cursor.has(WORD_BEHIND)) return false;
  return part === 'morning' ? time.minute > 720 : time.minute > 720 && time.minute < 960;
}

function times(cursor: Cursor, before: readonly Piece[]): Content | null {
  const found = timesAt(cursor, takesHour(before, cursor));
  if (isCounted(found, before, cursor)) return null;
  if (found !== null) askList(cursor, found, before);
  return found === null ? null : { is: 'times', times: found };
}

function policies(cursor: Cursor): Content | null {
  const found = besideAt(cursor.text, cursor.at);
  if (found === null) return null;
  cursor.at = found.end;
  return { is: 'policies', policies: found.policies };
}

/** Days, or days that come back, behind which a number is an hour. */
function takesHour(before: readonly Piece[], cursor: Cursor): boolean {
  const last = before.at(-1);
  if (last === undefined) return false;
  const isTimed = before.some(({ is }) => is === 'times' || is === 'wait');
  if (last.is === 'part') return !isTimed;
  if (last.is !== 'days' && last.is !== 'rhythm') return false;
  // In "on the 1st, 15" a day is counted on.
  const isList = /[,&]|and/.test(cursor.text.slice(last.end, cursor.begin()));
  if (last.days?.kind === 'monthDays' && isList) return false;
  if (last.days?.kind === 'date' && /and|&/.test(cursor.text.slice(last.end, cursor.begin()))) return false;
  if (last.is === 'days') return true;
  return last.rhythm.kind === 'calendar' && (last.days !== null || last.rhythm.unit === 'day');
}

/** A zone stands right behind a time, or behind days that have one. */
function takesZone(before: readonly Piece[]): boolean {
  const last = before.at(-1);
  const isTimed = before.some(({ is }) => is === 'times' || is === 'hours' || is === 'part');
  return last !== undefined && last.is !== 'zone' && isTimed && last.is !== 'bound';
}

export function isElapsed(before: readonly Piece[]): boolean {
  return before.some((piece) => piece.is === 'rhythm' && piece.rhythm.kind === 'elapsed');
}

const WORD_END = /[^\s,;:!?()]*/y;

/** The piece at the cursor, behind those that stand before it. A number alone is one only where they make it a time. */
export function pieceAt(cursor: Cursor, before: readonly Piece[]): Piece | null {
  const begin = cursor.begin();
  const readers: Array<(at: Cursor) => Content | null> = [
    ...(before.length === 0 ? [] : [policies]),
    rhythm,
    ...(isElapsed(before) || cursor.has(patterns(cursor.language).hourFirst) ? [minutesOf] : []),
    ...(isElapsed(before) || before.at(-1)?.is === 'days' ? [bareHours] : []),
    sameTime,
    weeks,
    (at) => wait(at, before),
    (at) => bound(at, before),
    turnOfDay,
    (at) => days(at, before),
    (at) => hours(at, before),
    unitless,
    vague,
    nextSpan,
    (at) => times(at, before),
    ...(before.length === 0 ? [length] : []),
    part,
    ...(takesZone(before) ? [zone] : []),
  ];
  try {
    const found = cursor.first(readers);
    return found === null ? null : { begin, end: cursor.at, ...found };
  } catch (error) {
    if (!(error instanceof Question || error instanceof AppError)) throw error;
    // A mistake is at least one word long.
    cursor.at = Math.max(cursor.at, begin);
    cursor.take(WORD_END);
    return { begin, end: cursor.at, is: 'vague', fault: error };
  }
}

function zone(cursor: Cursor): Content | null {
  const found = zoneAt(cursor);
  return found === null ? null : { is: 'zone', ...found };
}

/** `30 minutes`, of which nothing says whether it is waited for or comes back; days and longer are no such length. */
export function isShort(amount: Amount): boolean {
  return amount.every(({ unit }) => isClock(unit));
}
