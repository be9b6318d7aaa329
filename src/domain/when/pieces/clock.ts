import { Question, refusal } from '../faults.ts';
import { any, compiled, valueOf, words } from '../languages/compiled.ts';
import type { DayPart } from '../languages/language.ts';
import type { Cursor } from './cursor.ts';

/** A time of the clock as it was written, and where. */
export interface ClockTime {
  readonly begin: number;
  readonly end: number;
  /** Minutes since midnight, as the figures say. */
  readonly minute: number;
  /** `9` or `9:00`, which may be in the other half of the day; `9am`, `09:00` and `21:00` say all themselves. */
  readonly open: boolean;
  /** `9`, without minutes and without "at". */
  readonly bare: boolean;
  /** Nothing but the day before it makes it an hour. */
  readonly assumed: boolean;
  /** `9am`, `9pm`. */
  readonly half: boolean;
  readonly named: 'noon' | 'midnight' | null;
  /** `around 9`. */
  readonly about: boolean;
  /** `1h` and `8h30`, which may also be how long. */
  readonly length: boolean;
}

const HALF = String.raw`(?<half>[ap]\.?\s?m\b\.?|(?:(?<=:\d\d)a|(?<=\d)p)(?![\p{L}\p{N}]))`;
const ISH = String.raw`(?:[\s-]?ish)?`;

/** Numbers in words, up to this one. */
function namedIn(numbers: Readonly<Record<string, number>>, max: number): readonly string[] {
  return Object.keys(numbers).filter((word) => /^[^ ]{3,}$|\[ -\]/.test(word) && (numbers[word] ?? 99) <= max);
}

const headPatterns = compiled(({ numbers, weekdays, months, ordinalEnd, words: w }) => ({
  dateNext: words(String.raw`(?:the\s+)?\d{1,2}(?:${ordinalEnd})?\s+(?:of\s+)?${any(months)}`),
  // "9 tomorrow gym" and "8 and 20 every day": figures at the beginning, before their day.
  headHour: new RegExp(
    String.raw`\s*(?<hour>1\d|2[0-3]|[1-9]|${any(namedIn(numbers, 12))})(?=(?:\s+(?:sharp|exactly))?\s+(?:(?:${w.tomorrow}|${w.today}|${w.tonight})|(?=\p{L}{4})${any(weekdays)})(?![\p{L}']))`,
    'yu',
  ),
  headList: new RegExp(
    String.raw`\s*(?<hour>1\d|2[0-3]|[1-9])(?=(?:\s*(?:,|&|and\s)\s*\d{1,2}){1,5}\s+(?:every|each|daily|${w.tomorrow}|${w.today})(?![\p{L}']))`,
    'yu',
  ),
}));

const patterns = compiled(({ numbers, parts, words: w }) => {
  const at = String.raw`(?<at>(?:(?:${w.at})\s*(?:(?:exactly|the\s+hour\s+of)\s+)?))`;
  const named = (max: number) => namedIn(numbers, max);
  const hour = String.raw`(?<hour>\d{1,2}|${any(named(12))})`;
  const minutes = `(?<count>\\d{1,2}|${any(named(45))})`;
  return {
    about: words(String.raw`(?:(?:${w.at})\s*)?(?:${w.about})(?=\s*\d)`),
    colon: words(
      String.raw`${at}?(?<hour>\d{1,2})(?:\s?(?<mark>:)\s?|(?<mark2>h))(?<minute>\d\d)(?::(?<second>\d\d))?(?:\s*h(?:rs)?|\s*${HALF})?${ISH}`,
    ),
    comma: words(String.raw`${at}(?<hour>\d{1,2}),(?<minute>\d\d)`),
    ish: words(String.raw`${at}?(?<hour>\d{1,2})[\s-]?ish(?:\s*${HALF})?`),
    dotted: words(String.raw`${at}?(?<hour>\d{1,2})\.(?<minute>\d\d)(?:\s*h(?:rs)?|\s*${HALF})?`),
    fourAt: words(String.raw`${at}(?<hour>[01]\d|2[0-3])(?<minute>[0-5]\d)(?:\s*h|\s*hrs|\s*hours)?`),
    threeAt: words(
      String.raw`${at}(?<hour>[1-9])(?<minute>[0-5][05])(?!\s+(?:[\p{L}'.]+\s+){1,2}(?:st(?:reet)?|r(?:oa)?d|ave(?:nue)?|lane|square|drive|place|court|way))`,
    ),
    blankHalf: words(String.raw`${at}?(?<hour>1[0-2]|[1-9])\s(?<minute>[0-5]\d)\s?(?<half>[ap]\.?m\b)`),
    fourHalf: words(String.raw`${at}?(?<hour>1[0-2]|[1-9])(?<minute>[0-5]\d)\s*(?<half>[ap]m\b)`),
    four: words(String.raw`(?<hour>[01]\d|2[0-3])(?<minute>[0-5]\d)(?:\s*h|\s*hrs|\s*hours)?`),
    zeroFour: words(String.raw`(?<hour>0\d)(?<minute>[0-5]\d)(?:\s*h|\s*hrs|\s*hours)?`),
    half: words(String.raw`${at}?${hour}(?:\s+(?:${w.oClock}))?(?:\s*|\.)${HALF}`),
    // "2 hrs" alone is a length, "08 hrs" and "at 8 hrs" are none.
    hours: words(String.raw`${at}?(?<hour>\d{1,2})(?:\s?(?:uhr|(?<=(?:\b0\d|(?:${w.at})\s*\d{1,2})\s?)hrs)|h)`),
    oClock: words(String.raw`${at}?${hour}\s*(?:${w.oClock})`),
    named: words(String.raw`${at}?(?:(?:${w.about})\s+)?(?:(?<noon>${w.noon})|(?<midnight>${w.midnight}))${ISH}`),
    // "At 8 30 tomorrow"; before other words the second figure may count those.
    blank: new RegExp(
      String.raw`\s*${at}?(?<hour>\d{1,2})\s(?<minute>[0-5]\d)(?=\s+(?:${w.tomorrow}|${w.today}|${w.tonight}|every|daily)(?![\p{L}])|(?<=[1-5]\d)\s*$)`,
      'yu',
    ),
    pastOrTo: words(
      String.raw`${at}?(?:a\s+)?(?:(?<halfPast>${w.half})|(?<quarter>${w.quarter})|${minutes}(?<unit>\s+min(?:ute)?s?)?)\s+(?:(?<past>${w.past})|(?<to>to|before|till?|(?<=quarter\s+)of))\s+${hour}(?:\s*(?:${w.oClock}))?(?:\s*${HALF})?`,
    ),
    halfHour: words(String.raw`${at}?(?:${w.half})\s+${hour}(?:\s*${HALF})?`),
    // "Five to midnight" counts from an hour that has a name.
    toNamed: words(
      String.raw`${at}?(?:(?<halfPast>${w.half})|(?:a\s+)?(?<quarter>${w.quarter})|${minutes})(?:\s+min(?:ute)?s?)?\s+(?:(?<past>${w.past})|(?:to|before))\s+(?:(?<noon>${w.noon})|(?:${w.midnight}))`,
    ),
    // "5 in the afternoon" is an hour without its "at".
    beforePart: new RegExp(
      String.raw`\s*(?<hour>\d{1,2}|${any(named(12))})(?=\s+(?:in\s+the\s+(?:${parts.morning}|${parts.afternoon}|${parts.evening})|at\s+night)(?![\p{L}]))`,
      'yu',
    ),
    spoken: words(
      String.raw`(?:${at})?(?<hour>${any(named(12))})[\s-]+(?<minute>fifteen|(?:twenty|thirty|forty|fifty)(?:[ -]five)?|oh\s+five)(?:\s*${HALF})?`,
    ),
    bare: words(hour),
    figure: words(String.raw`(?<hour>\d{1,2})`),
    atBare: words(String.raw`${at}${hour}`),
    sharp: words('sharp|exactly|precisely|on\\s+the\\s+dot|ish'),
    between: new RegExp(String.raw`\s*(?:,\s*(?:(?:${w.and})\s+)?|(?:${w.and})\s*|/\s*)(?:(?:${w.at})\s*)?`, 'yu'),
    part: words(
      String.raw`(?:(?:(?<inThe>in|at|during|by|of)\s+)?(?:the\s+)?)(?<early>early\s+|late\s+)?(?:(?<morning>${parts.morning})|(?<afternoon>${parts.afternoon})|(?<evening>${parts.evening})|(?<night>${parts.night}))`,
    ),
  };
});

/** 12am is midnight and 12pm is noon. */
function hourOf(hour: number, half: string | undefined, text: string): number {
  const isRight = half === undefined ? hour <= 23 : hour >= 1 && hour <= 12;
  if (!isRight) throw refusal('clock', 'no_such_time', (say) => say.noSuchTime(text.trim()));
  if (half === undefined) return hour;
  return (hour % 12) + (half.startsWith('p') ? 12 : 0);
}

type Found = Pick<ClockTime, 'bare' | 'assumed' | 'named' | 'length'>;
const PLAIN: Found = { bare: false, assumed: false, named: null, length: false };

/** `shift` moves the hour by minutes, as in "quarter to". */
function timeOf(cursor: Cursor, match: RegExpExecArray, shift: number, found: Partial<Found> = {}): ClockTime {
  const { half, second = '00', hour: figures = '' } = match.groups ?? {};
  const [text] = match;
  if (second !== '00') throw refusal('clock', 'seconds', (say) => say.noSeconds(text.trim()));
  if (shift > 59) throw refusal('clock', 'no_such_time', (say) => say.noSuchTime(text.trim()));
  const hour = hourOf(valueOf(cursor.language.numbers, figures), half, text);
  const open = half === undefined && hour >= 1 && hour <= 12 && !figures.startsWith('0');
  const minute = (hour * 60 + shift + 1_440) % 1_440;
  const begin = match.index + text.length - text.trimStart().length;
  return { ...PLAIN, begin, end: cursor.at, minute, open, half: half !== undefined, about: false, ...found };
}

function colonTime(cursor: Cursor): ClockTime | null {
  const match = cursor.take(patterns(cursor.language).colon);
  if (match === null) return null;
  const { minute, mark2, at } = match.groups ?? {};
  return timeOf(cursor, match, Number(minute), { length: mark2 !== undefined && at === undefined });
}

/** `17.30` where it can be no date: behind "at", with am or pm, or with minutes that no month has. */
function dottedTime(cursor: Cursor, isSure: boolean): ClockTime | null {
  return cursor.attempt((at) => {
    const match = at.take(patterns(at.language).dotted);
    if (match === null || at.has(MEASURED) || /[$€£¥]\s?$/.test(at.text.slice(0, match.index + 1))) return null;
    const { hour, minute, half, at: said } = match.groups ?? {};
    const isSaid = said !== undefined || half !== undefined;
    const isClock = isSure || isSaid || Number(minute) > 12 || minute === '00';
    // "49.99" is a sum.
    if (!isSaid && ((Number(minute) > 59 && !isSure) || Number(hour) > 23)) return null;
    return isClock ? timeOf(at, match, Number(minute)) : null;
  });
}

/** Behind such a word or sign a figure counts or measures. */
const MEASURED =
  /(?<=\d)x\b|\s*(?:[%\p{Sc}°"*+=]|(?:eur|euros?|usd|dollars?|bucks|gbp|pounds?|chf|cents?|percent|degrees?|k?g|kilos?|lbs?|oz|k?m|cm|mm|miles?|l|litres?|liters?|ml|times|pages?|people|persons?|pm2|mb|gb|million|points?|sets|reps|cups?)(?![\p{L}\p{N}]))/uy;

function quarterTime(cursor: Cursor): ClockTime | null {
  const match = cursor.take(patterns(cursor.language).pastOrTo);
  if (match === null) return null;
  const { halfPast, quarter, count = '', unit, to } = match.groups ?? {};
  const minutes = halfPast === undefined ? (quarter === undefined ? valueOf(cursor.language.numbers, count) : 15) : 30;
  // "10 to 6" is a range of hours; "ten to six" and "at 10 to 6" are times.
  const isIdiom = match.groups?.['at'] !== undefined && /^(?:5|10|20|25)$/.test(count);
  const isRange = to !== undefined && /^\d/.test(count) && !isIdiom && unit === undefined;
  if (isRange || (halfPast !== undefined && to !== undefined)) return null;
  return timeOf(cursor, match, to === undefined ? minutes : -minutes);
}

function nearNamed(cursor: Cursor): ClockTime | null {
  const match = cursor.take(patterns(cursor.language).toNamed);
  if (match === null) return null;
  const { halfPast, quarter, count = '', past, noon } = match.groups ?? {};
  const minutes = halfPast === undefined ? (quarter === undefined ? valueOf(cursor.language.numbers, count) : 15) : 30;
  if (halfPast !== undefined && past === undefined) return null;
  const minute = ((noon === undefined ? 0 : 720) + (past === undefined ? -minutes : minutes) + 1_440) % 1_440;
  const begin = match.index + match[0].length - match[0].trimStart().length;
  return { ...PLAIN, begin, end: cursor.at, minute, open: false, half: false, about: false };
}

function spokenTime(cursor: Cursor): ClockTime | null {
  const match = cursor.take(patterns(cursor.language).spoken);
  if (match === null) return null;
  const minute = match.groups?.['minute'] ?? '';
  return timeOf(cursor, match, minute.startsWith('oh') ? 5 : valueOf(cursor.language.numbers, minute));
}

function namedTime(cursor: Cursor): ClockTime | null {
  const match = cursor.take(patterns(cursor.language).named);
  if (match === null) return null;
  const isNoon = match.groups?.['noon'] !== undefined;
  const begin = match.index + match[0].length - match[0].trimStart().length;
  const named = isNoon ? 'noon' : 'midnight';
  const minute = isNoon ? 720 : 0;
  return { ...PLAIN, begin, end: cursor.at, minute, open: false, half: false, about: false, named };
}

/** A time that is one wherever it stands. */
function saidTime(cursor: Cursor): ClockTime | null {
  const p = patterns(cursor.language);
  const dated =
    (pattern: RegExp, found: Partial<Found> = {}) =>
    (at: Cursor) => {
      const match = at.take(pattern);
      return match === null ? null : timeOf(at, match, Number(match.groups?.['minute'] ?? 0), found);
    };
  return cursor.first([
    nearNamed,
    quarterTime,
    colonTime,
    dated(p.comma),
    (at) => about(dated(p.ish)(at)),
    dated(p.blankHalf),
    dated(p.half),
    dated(p.fourHalf),
    dated(p.threeAt),
    (at) => dottedTime(at, false),
    (at) => closed(dated(p.fourAt)(at)),
    (at) => closed(dated(p.zeroFour)(at)),
    dated(p.oClock),
    dated(p.beforePart),
    headTime,
    dated(p.blank),
    (at) => hoursTime(at),
    askHalfHour,
    namedTime,
    spokenTime,
    (at) => (at.take(p.about) === null ? null : about(dated(p.bare)(at) ?? null)),
    (at) => (at.has(MEASURED_AFTER_AT) ? null : dated(p.atBare)(at)),
  ]);
}

/** Nothing of the line stands before it. */
const HEAD = /^[\0\s]*$/;

function headTime(cursor: Cursor): ClockTime | null {
  const { headHour, headList } = headPatterns(cursor.language);
  const before = cursor.at;
  const match = cursor.take(headHour) ?? cursor.take(headList);
  if (match === null || !HEAD.test(cursor.text.slice(0, before))) return null;
  return timeOf(cursor, match, 0, { assumed: true });
}

const MEASURED_AFTER_AT =
  /\s*(?:at|@)\s*\d+\s*(?:[%°]|(?:percent|degrees|km|mph|usd|euros?|dollars?)(?![\p{L}\p{N}]))/uy;

/** "Half nine" is 9:30 to the British and 8:30 to most of Europe. */
function askHalfHour(cursor: Cursor): null {
  const begin = cursor.begin();
  const match = cursor.take(patterns(cursor.language).halfHour);
  if (match === null) return null;
  const hour = valueOf(cursor.language.numbers, match.groups?.['hour'] ?? '');
  if (!(hour >= 1 && hour <= 12)) return null;
  const half = match.groups?.['half'] ?? '';
  const way = (of: number) => ({ text: `${of}:30`, edits: [{ begin, end: cursor.at, text: `at ${of}:30${half}` }] });
  throw new Question(
    (say) => say.whichHalf(match[0].trim(), `${hour}:30`, `${hour === 1 ? 12 : hour - 1}:30`),
    [way(hour), way(hour === 1 ? 12 : hour - 1)],
  );
}

function closed(time: ClockTime | null): ClockTime | null {
  return time === null ? null : { ...time, open: false };
}

function about(time: ClockTime | null): ClockTime | null {
  return time === null ? null : { ...time, about: true };
}

function hoursTime(cursor: Cursor): ClockTime | null {
  const match = cursor.take(patterns(cursor.language).hours);
  const { hour, at } = match?.groups ?? {};
  // "24h" and "48h" are lengths.
  if (match === null || (at === undefined && Number(hour) > 23)) return null;
  return timeOf(cursor, match, 0, { length: at === undefined });
}

/** `1400`, which counts something else but for the times beside it. */
function fourTime(cursor: Cursor): ClockTime | null {
  const four = cursor.take(patterns(cursor.language).four);
  return four === null ? null : closed(timeOf(cursor, four, Number(four.groups?.['minute'])));
}

/** A number behind a day can be an hour as well, and so can a word in a list. */
function bareTime(cursor: Cursor, isList: boolean): ClockTime | null {
  const p = patterns(cursor.language);
  return cursor.attempt((at) => {
    const dotted = dottedTime(at, true);
    if (dotted !== null) return dotted;
    const four = fourTime(at);
    if (four !== null) return four;
    const match = at.take(isList ? p.bare : p.figure);
    if (match === null || at.has(MEASURED) || Number(match.groups?.['hour']) > 23) return null;
    return timeOf(at, match, 0, { bare: true, assumed: !isList });
  });
}

/** One time, as after "from" and "until", where a bare number can be nothing else. */
export function oneTime(cursor: Cursor): ClockTime | null {
  return saidTime(cursor) ?? bareTime(cursor, true);
}

function formOf({ half, begin, end, length }: ClockTime, { text }: Cursor): 'half' | 'colon' | 'four' | null {
  if (half) return 'half';
  if (/(?:^|\s)\d{4}$/.test(text.slice(begin, end))) return 'four';
  return !length && text.slice(begin, end).includes(':') ? 'colon' : null;
}

/** `8am 12pm 6pm`: a list without its commas. Two of one form are a list at the end only: else the second may begin the text. */
function timesInRow(cursor: Cursor, first: ClockTime): readonly ClockTime[] {
  const [form, begin] = [formOf(first, cursor), cursor.at];
  const row: ClockTime[] = [];
  while (form !== null) {
    const next = cursor.attempt((at) => {
      const time = form === 'four' ? fourTime(at) : saidTime(at);
      return time !== null && formOf(time, at) === form ? time : null;
    });
    if (next === null) break;
    row.push(next);
  }
  if (row.length !== 1 || cursor.has(/\s*(?:$|(?:daily|every(?:day)?|each)(?![\p{L}]))/uy)) return row;
  cursor.at = begin;
  return [];
}

/** `at 8 12 18`: three hours and more that grow are a list; two may be an hour and its minutes. */
function hoursInRow(cursor: Cursor, first: ClockTime): readonly ClockTime[] {
  const begin = cursor.at;
  if (!/^(?:at|@)\s*\d{1,2}$/.test(cursor.text.slice(first.begin, first.end))) return [];
  const row: ClockTime[] = [];
  for (;;) {
    const last = row.at(-1) ?? first;
    const next = cursor.has(ROW_NEXT) ? bareTime(cursor, true) : null;
    if (next === null || next.minute <= last.minute) break;
    row.push({ ...next, bare: false });
  }
  if (row.length > 1) {
    cursor.at = row.at(-1)?.end ?? begin;
    return row;
  }
  cursor.at = begin;
  return [];
}

const ROW_NEXT = /\s+\d{1,2}(?![\p{L}\p{N}:.,/%-])/uy;

/** With "at" before it, a number in a list is an hour for sure. */
function listedTime(cursor: Cursor, between: RegExp): ClockTime | null {
  const joint = cursor.take(between)?.[0];
  // "19 nov 9am and 20 nov 10am" goes on with a date.
  if (joint === undefined || cursor.has(headPatterns(cursor.language).dateNext)) return null;
  const time = oneTime(cursor);
  return time === null ? null : { ...time, bare: time.bare && !/\bat\s*$|@\s*$/.test(joint) };
}

/** `at 8, 12 and 18:30`. `isHour` says that a number alone is an hour here. */
export function timesAt(cursor: Cursor, isHour: boolean): readonly ClockTime[] | null {
  const first = saidTime(cursor) ?? (isHour ? bareTime(cursor, false) : null);
  if (first === null) return null;
  const times = [first, ...timesInRow(cursor, first), ...hoursInRow(cursor, first)];
  const { between, sharp } = patterns(cursor.language);
  for (;;) {
    const isSharp = cursor.take(sharp) !== null;
    const next = cursor.attempt((at) => (isSharp ? null : listedTime(at, between)));
    if (next === null) return times;
    times.push(next);
  }
}

export interface PartFound {
  readonly part: DayPart;
  /** `in the morning` rather than `morning`. */
  readonly isSaid: boolean;
  readonly plural: boolean;
}

export function partAt(cursor: Cursor): PartFound | null {
  const match = cursor.take(patterns(cursor.language).part);
  const part = PARTS.find((name) => match?.groups?.[name] !== undefined);
  if (match === null || part === undefined) return null;
  return {
    part,
    isSaid: match.groups?.['inThe'] !== undefined || /\s/.test(match.groups?.[part] ?? ''),
    plural: (match.groups?.[part] ?? '').endsWith('s'),
  };
}

const PARTS: readonly DayPart[] = ['morning', 'afternoon', 'evening', 'night'];
