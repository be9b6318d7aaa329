import { clockText } from '../schedule/time/calendar.ts';
import { type Cursor, words, refusal } from './cursor.ts';
import { HOUR_WORD, numberOf, WEEKDAY, WORKDAYS } from './spelling.ts';

export type DayPart = 'morning' | 'afternoon' | 'evening' | 'night';

/** A time of the clock as it was written. */
export interface ClockTime {
  /** Minutes since midnight. */
  readonly minute: number;
  /** `9` or `9:00`, which a part of the day may still move to 21:00; `9am` and `21:00` say all themselves. */
  readonly open: boolean;
  /** `9`, without minutes: only an "at" makes it a time. */
  readonly bare: boolean;
  readonly midnight: boolean;
}

const HALF_DAY = String.raw`(?<half>[ap]m\b|[ap]\.m\b\.?)`;
const AT = String.raw`(?:(?<at>at\s+|@\s*)(?:exactly\s+)?)?`;
const CLOCK = words(
  String.raw`${AT}(?<hour>\d{1,2})(?<mark>[:.h])(?<minute>\d\d)(?::(?<second>\d\d))?(?:\s*h|\s*${HALF_DAY})?`,
);
const FOUR_DIGITS = words(String.raw`(?:at\s+|@\s*)(?<hour>0\d|1[0-8])(?<minute>[0-5]\d)(?:\s*h|\s*hrs|\s*hours)?`);
const HALF_CLOCK = words(String.raw`${AT}(?<hour>\d{1,2}|${HOUR_WORD})(?:\s+o'?\s?clock)?\s*${HALF_DAY}`);
const HOURS = words(String.raw`${AT}(?<hour>\d{1,2})(?:\s*h|\s*hrs)`);
const O_CLOCK = words(String.raw`${AT}(?<hour>\d{1,2}|${HOUR_WORD})\s*o'?\s?clock`);
const NAMED = words(String.raw`${AT}(?:12\s+)?(?<name>noon|midday|midnight)`);
const QUARTERS = words(
  String.raw`${AT}(?:a\s+)?(?<quarter>half\s+past|quarter\s+past|quarter\s+to)\s+(?<hour>\d{1,2}|${HOUR_WORD})(?:\s*${HALF_DAY})?`,
);
const BARE = words(String.raw`(?<hour>\d{1,2}|${HOUR_WORD})`);
const AT_BARE = words(String.raw`(?:at\s+|@\s*)(?:exactly\s+)?(?<hour>\d{1,2}|${HOUR_WORD})`);
const DAY_PART = words(String.raw`(?:in\s+the\s+|at\s+)?(?<part>morning|afternoon|evening|night)s?`);
const BETWEEN = /\s*(?:,\s*(?:and\s+)?|and\s+|&\s*)(?:at\s+|@\s*)?/y;
const MARKS_END = /\s*(?:$|[:;.!?()-](?!\d)|,(?!\s*\d))/y;
const CLAUSE_FOLLOWS = words(
  "on|in|every|each|from|until|till|'?til|starting|between|utc|gmt|today|tomorrow|tonight|of|for|mon|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekdays|weekends|to|please",
);

/** `8.45`, but neither `$8.45` nor `8.45 euros`. */
const DOTTED = words(
  String.raw`(?<hour>\d|1\d|2[0-3]|0\d)\.(?<minute>[0-5]\d)(?!\s*(?:[%\p{Sc}°"/*x+=]|(?:eur|euros?|usd|dollars?|gbp|pounds?|chf|cents?|percent|k?g|lbs?|oz|k?m|cm|mm|miles?|l|litres?|liters?|ml|times|hours?|hrs?|h|minutes?|mins?|days?|weeks?|mb|gb|million|points?)(?![\p{L}\p{N}])))`,
);
const DAYS_NEXT = new RegExp(
  String.raw`,?\s+(?:every|each|daily|(?:on\s+)?(?:${WORKDAYS}s?|weekends?|${WEEKDAY}s?)|today|tomorrow|tonight)(?![\w'])`,
  'y',
);
const LONE_HOUR = /\s+(?<hour>\d{1,2})(?=\s*(?:$|[:;,!?](?!\s*\d)|\.(?!\d)|-+\s+(?!\d)))/y;

const QUARTER_MINUTES = { half: 30, past: 15, to: -15 };

function noSuchTime(text: string): Error {
  return refusal('clock', 'no_such_time', `"${text.trim()}" is not a time that a clock shows.`);
}

/** 12am is midnight and 12pm is noon. */
function hourOf(hour: number, half: string | undefined, text: string): number {
  if (half === undefined) {
    if (hour > 23) throw noSuchTime(text);
    return hour;
  }
  if (hour < 1 || hour > 12) throw noSuchTime(text);
  return (hour % 12) + (half.startsWith('p') ? 12 : 0);
}

function timeOf(match: RegExpExecArray, minutes: number, bare: boolean): ClockTime {
  const groups = match.groups ?? {};
  const half = groups['half'];
  const [text] = match;
  if (minutes > 59 || (groups['second'] ?? '00') !== '00') throw noSuchTime(text);
  const hour = hourOf(numberOf(groups['hour'] ?? ''), half, text);
  const open = half === undefined && hour >= 1 && hour <= 12 && groups['hour']?.startsWith('0') !== true;
  const minute = (hour * 60 + minutes + 1_440) % 1_440;
  return { minute, open, bare, midnight: false };
}

/** `9.30` may be a sum of money, so it needs an "at" or an "am" to be a time. */
function isClock(match: RegExpExecArray): boolean {
  return match.groups?.['mark'] !== '.' || match.groups['at'] !== undefined || match.groups['half'] !== undefined;
}

function fullTime(cursor: Cursor): ClockTime | null {
  const clock = cursor.attempt((at) => {
    const match = at.take(CLOCK);
    return match !== null && isClock(match) ? match : null;
  });
  if (clock !== null) return timeOf(clock, Number(clock.groups?.['minute']), false);
  const digits = cursor.take(FOUR_DIGITS);
  if (digits !== null) return { ...timeOf(digits, Number(digits.groups?.['minute']), false), open: false };
  const half = cursor.take(HALF_CLOCK) ?? cursor.take(HOURS);
  if (half !== null) return timeOf(half, 0, false);
  const oClock = cursor.take(O_CLOCK);
  if (oClock !== null) return timeOf(oClock, 0, false);
  return quarterTime(cursor) ?? namedTime(cursor);
}

function quarterTime(cursor: Cursor): ClockTime | null {
  const match = cursor.take(QUARTERS);
  if (match === null) return null;
  const name = match.groups?.['quarter'] ?? '';
  const minutes = QUARTER_MINUTES[name.startsWith('half') ? 'half' : name.endsWith('to') ? 'to' : 'past'];
  const time = timeOf(match, 0, false);
  return { ...time, minute: (time.minute + minutes + 1_440) % 1_440 };
}

function namedTime(cursor: Cursor): ClockTime | null {
  const name = cursor.take(NAMED)?.groups?.['name'];
  if (name === undefined) return null;
  const midnight = name === 'midnight';
  return { minute: midnight ? 0 : 720, open: false, bare: false, midnight };
}

function bareTime(cursor: Cursor, pattern: RegExp): ClockTime | null {
  const match = cursor.take(pattern);
  return match === null ? null : timeOf(match, 0, true);
}

/** One time, as after "from" and "to", where a bare number can be nothing else. */
export function readOneTime(cursor: Cursor): ClockTime | null {
  return fullTime(cursor) ?? bareTime(cursor, BARE);
}

function following(cursor: Cursor): ClockTime[] {
  const times: ClockTime[] = [];
  for (;;) {
    const next = cursor.attempt((at) => (at.take(BETWEEN) === null ? null : readOneTime(at)));
    if (next === null) return times;
    times.push(next);
  }
}

/** Where a time is missing: `8.45` can be nothing else there, and neither can a number with nothing but a mark behind it. */
export function readMissingTime(cursor: Cursor): ClockTime[] | null {
  const first = dottedTime(cursor);
  if (first === null) {
    const hour = cursor.text[cursor.at - 1] === ',' ? null : bareTime(cursor, LONE_HOUR);
    return hour === null ? null : [hour];
  }
  const times = [first];
  for (;;) {
    const next = cursor.attempt((at) => (at.take(BETWEEN) === null ? null : dottedTime(at)));
    if (next === null) return times;
    times.push(next);
  }
}

/** `8.45 weekdays`, at the beginning: the days behind it say that it is a time. */
export function readTimeBeforeDays(cursor: Cursor): ClockTime[] | null {
  return cursor.attempt((at) => {
    const time = dottedTime(at);
    return time !== null && at.has(DAYS_NEXT) ? [time] : null;
  });
}

function dottedTime(cursor: Cursor): ClockTime | null {
  const match = cursor.take(DOTTED);
  return match === null ? null : timeOf(match, Number(match.groups?.['minute']), false);
}

function isSettled(cursor: Cursor): boolean {
  return cursor.has(MARKS_END) || cursor.has(CLAUSE_FOLLOWS) || cursor.has(/\s+[a-z]+\/[a-z]/y);
}

/**
 * `at 8, 12 and 18:30`. In "at 9, 5 pushups" the last number may be a time or the beginning of the text, so a list that
 * ends in a bare number has to be followed by a mark, by more of the when, or by the end of the line; `expected` (twice a
 * day) settles it as well.
 */
export function readTimes(cursor: Cursor, expected: number | null): ClockTime[] | null {
  const first = fullTime(cursor) ?? bareTime(cursor, AT_BARE);
  if (first === null) return null;
  const times = [first, ...following(cursor)];
  const last = times.at(-1);
  if (times.length > 1 && last?.bare === true && times.length !== expected && !isSettled(cursor)) {
    const clock = times.map(({ minute }) => clockText(minute * 60)).join(' and ');
    throw refusal(
      'clocks',
      'ambiguous_list',
      `It is not clear whether the last number of "${cursor.text.slice(0, cursor.at)}" is a time or belongs to the text; write ${clock}, or put a colon before the text.`,
    );
  }
  const halfDays = times.some((time) => !time.open && time.minute > 720);
  if (times.length > 1 && times.some(({ bare, open }) => bare && open) && halfDays && hasHalfDay(times, cursor)) {
    throw refusal('clocks', 'ambiguous_half', 'Some of these times say am or pm and some do not; say it for each.');
  }
  return times;
}

function hasHalfDay(times: readonly ClockTime[], cursor: Cursor): boolean {
  return times.length > 1 && /\d\s*pm?\b|p\.m/.test(cursor.text.slice(0, cursor.at));
}

export function readDayPart(cursor: Cursor): DayPart | null {
  return (cursor.take(DAY_PART)?.groups?.['part'] as DayPart | undefined) ?? null;
}

/** The hours that a part of the day has on the clock of 24, and the ones that it moves there. */
const PARTS: Record<DayPart, { readonly own: readonly [number, number]; readonly moved: readonly [number, number] }> = {
  morning: { own: [0, 11], moved: [13, 12] },
  afternoon: { own: [12, 18], moved: [1, 6] },
  evening: { own: [16, 23], moved: [4, 11] },
  night: { own: [18, 23], moved: [6, 11] },
};

/** `9 in the evening` is 21:00; `9pm in the morning` is refused. */
export function inDayPart({ minute, open }: ClockTime, part: DayPart): number {
  const hour = Math.floor(minute / 60);
  const { own, moved } = PARTS[part];
  if (hour >= own[0] && hour <= own[1]) return minute;
  if (open && hour >= moved[0] && hour <= moved[1]) return minute + 720;
  throw refusal(
    'clock',
    'other_part',
    `${clockText(minute * 60)} is not clearly in the ${part}; write the time alone, on the clock of 24 hours.`,
  );
}
