import { scheduleLimits } from './limits.ts';
import { quoted, unreadable } from './shapes.ts';

/** A cron expression as sets. Days and months are bits (bit 0 is the first), weekdays are seven masks of which in a month. */
export interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: number;
  readonly nearestWeekdays: number;
  readonly lastDay: boolean;
  readonly lastWeekday: boolean;
  readonly months: number;
  /** Bits 0..4 are the first to the fifth of the month, bit 5 is the last; EVERY_WEEK is all of them. */
  readonly weekdays: readonly number[];
  readonly anyDay: boolean;
  readonly anyWeekday: boolean;
  /** A `+` before the weekday: both day fields have to match. */
  readonly bothDays: boolean;
  /** Plain values and comma lists name times of the clock; `*`, a range or a step names a rhythm. */
  readonly fixedTimes: boolean;
}

export const EVERY_WEEK = 63;
export const EVERY_MONTH = 0xfff;
const LAST_WEEK = 32;

interface FieldShape {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly stepMax: number;
  readonly names: readonly string[];
  readonly suffix: RegExp | null;
}

/** One value of a field with what follows it (`W`, `L`, `#2`). */
interface FieldValue {
  readonly value: number;
  readonly suffix: string;
}

const MONTH_NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const MINUTE: FieldShape = { name: 'minute', low: 0, high: 59, stepMax: 60, names: [], suffix: null };
const HOUR: FieldShape = { name: 'hour', low: 0, high: 23, stepMax: 24, names: [], suffix: null };
const DAY: FieldShape = { name: 'day of month', low: 1, high: 31, stepMax: 31, names: [], suffix: /^w$/ };
const MONTH: FieldShape = { name: 'month', low: 1, high: 12, stepMax: 12, names: MONTH_NAMES, suffix: null };
const WEEKDAY: FieldShape = {
  name: 'day of week',
  low: 0,
  high: 7,
  stepMax: 7,
  names: DAY_NAMES,
  suffix: /^(?:l|#l|#0*[1-5])$/,
};

const NICKNAMES = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

const ITEM = /^(\*|\d+|[a-z]{3})(?:-(\d+|[a-z]{3}))?(?:\/(\d+))?(w|l|#l|#\d+)?$/;
const EXAMPLE = 'for example "0 9 * * 1-5" for 09:00 on weekdays';

/** The numbers that bits stand for, of which the lowest means `first`. */
export function bitsOf(bits: number, first = 0): number[] {
  return Array.from({ length: 31 }, (_, index) => index)
    .filter((index) => (bits & (1 << index)) !== 0)
    .map((index) => index + first);
}

const ALL_WEEKDAYS: readonly number[] = Array.from({ length: 7 }, () => EVERY_WEEK);

function fault(shape: FieldShape, item: string, advice: string): Error {
  const reason = shape.name.replaceAll(' ', '_');
  return unreadable(
    { field: 'cron', reason },
    `The ${shape.name} field of the cron expression has ${quoted(item)}: ${advice}.`,
  );
}

function numberOf(shape: FieldShape, item: string, text: string): number {
  const named = shape.names.indexOf(text);
  const value = named >= 0 ? named + shape.low : Number(text);
  if (value >= shape.low && value <= shape.high) return value;
  const names = shape.names.length > 0 ? ` or ${shape.names[0]}-${shape.names.at(-1)}` : '';
  throw fault(shape, item, `write ${shape.low}-${shape.high}${names}`);
}

function readItem(shape: FieldShape, item: string): FieldValue[] {
  const match = ITEM.exec(item);
  if (match === null) {
    throw fault(shape, item, 'write a number, a range such as 1-5, a step such as */2, or a list of them');
  }
  const [, first = '', last, step, suffix = ''] = match;
  checkSuffix(shape, item, suffix);
  const isPlain = first !== '*' && last === undefined && step === undefined;
  if (isPlain) return [{ value: numberOf(shape, item, first), suffix }];
  if (suffix === 'w') throw fault(shape, item, 'W follows a single day, as in 15W');
  return readRange(shape, item, { first, last, step, suffix });
}

function checkSuffix(shape: FieldShape, item: string, suffix: string): void {
  if (suffix === '' || shape.suffix?.test(suffix) === true) return;
  throw fault(shape, item, suffixAdvice(shape, suffix));
}

function suffixAdvice(shape: FieldShape, suffix: string): string {
  if (suffix.startsWith('#') && shape === WEEKDAY) return 'write # with 1 to 5, or L for the last one';
  if (suffix === 'l') return 'L stands alone as a day of month, or after a day of week as in 5L';
  return suffix === 'w' ? 'W belongs in the day of month field' : '# belongs in the day of week field';
}

interface RangeText {
  readonly first: string;
  readonly last: string | undefined;
  readonly step: string | undefined;
  readonly suffix: string;
}

function readRange(shape: FieldShape, item: string, range: RangeText): FieldValue[] {
  const { low, high } = range.first === '*' ? wholeField(shape, item, range) : endsOf(shape, item, range);
  const by = range.step === undefined ? 1 : Number(range.step);
  if (by < 1 || by > shape.stepMax) throw fault(shape, item, `a step is 1 to ${shape.stepMax}`);
  if (low > high) {
    throw fault(shape, item, 'a range goes upwards; write two ranges with a comma to go round the end');
  }
  const values: FieldValue[] = [];
  for (let value = low; value <= high; value += by) values.push({ value, suffix: range.suffix });
  return values;
}

interface Ends {
  readonly low: number;
  readonly high: number;
}

function wholeField(shape: FieldShape, item: string, { last, step, suffix }: RangeText): Ends {
  if (last !== undefined || (step === undefined && suffix !== '')) {
    throw fault(shape, item, '* stands alone or before a step, as in */2');
  }
  return { low: shape.low, high: shape === WEEKDAY ? 6 : shape.high };
}

function endsOf(shape: FieldShape, item: string, { first, last, step = '' }: RangeText): Ends {
  if (last === undefined) throw fault(shape, item, `a step needs a range, as in ${first}-${shape.high}/${step}`);
  return { low: numberOf(shape, item, first), high: upperOf(shape, item, last) };
}

/** Sunday closes a range as 7 (`fri-sun`) and opens one as 0. */
function upperOf(shape: FieldShape, item: string, text: string): number {
  return shape === WEEKDAY && text === 'sun' ? 7 : numberOf(shape, item, text);
}

function readField(shape: FieldShape, text: string): FieldValue[] {
  return text.split(',').flatMap((item) => readItem(shape, item));
}

function readTimes(shape: FieldShape, text: string): readonly number[] {
  return [...new Set(readField(shape, text).map(({ value }) => value))].sort((a, b) => a - b);
}

function isFixed(text: string, values: readonly number[]): boolean {
  if (text.includes('*') || text.includes('/')) return false;
  return !text.includes('-') || values.length === 1;
}

interface DayOfMonth {
  readonly days: number;
  readonly nearestWeekdays: number;
  readonly lastDay: boolean;
  readonly lastWeekday: boolean;
}

function readDays(text: string): DayOfMonth {
  if (text === 'lw') return { days: 0, nearestWeekdays: 0, lastDay: false, lastWeekday: true };
  let days = 0;
  let nearestWeekdays = 0;
  let lastDay = false;
  for (const item of text.split(',')) {
    if (item === 'l') {
      lastDay = true;
      continue;
    }
    for (const { value, suffix } of item === '*' ? readRange(DAY, item, ANY) : readItem(DAY, item)) {
      if (suffix === 'w') nearestWeekdays |= 1 << (value - 1);
      else days |= 1 << (value - 1);
    }
  }
  return { days, nearestWeekdays, lastDay, lastWeekday: false };
}

const ANY: RangeText = { first: '*', last: undefined, step: undefined, suffix: '' };

function readMonths(text: string): number {
  if (text === '*') return EVERY_MONTH;
  return readField(MONTH, text).reduce((bits, { value }) => bits | (1 << (value - 1)), 0);
}

function readWeekdays(text: string): readonly number[] {
  if (text === '*') return ALL_WEEKDAYS;
  const masks = [0, 0, 0, 0, 0, 0, 0];
  for (const { value, suffix } of readField(WEEKDAY, text)) {
    const weekday = value === 7 ? 0 : value;
    masks[weekday] = (masks[weekday] ?? 0) | weekMask(suffix);
  }
  return masks;
}

function weekMask(suffix: string): number {
  if (suffix === '') return EVERY_WEEK;
  return suffix === 'l' || suffix === '#l' ? LAST_WEEK : 1 << (Number(suffix.slice(1)) - 1);
}

/** One space between the fields; a nickname in small letters. This is the text that is stored. */
export function normalCron(text: string): string {
  if (text.length > scheduleLimits.cronLengthMax) {
    throw unreadable(
      { field: 'cron', reason: 'too_long' },
      `A cron expression has at most ${scheduleLimits.cronLengthMax} characters; shorten it with ranges and steps.`,
    );
  }
  const trimmed = text.trim().replace(/\s+/g, ' ');
  return trimmed.startsWith('@') ? trimmed.toLowerCase() : trimmed;
}

/** The five fields as written, of a nickname as well. */
export function fieldsOf(text: string): string[] {
  if (text === '')
    throw unreadable(
      { field: 'cron', reason: 'empty' },
      `The cron expression is empty; write five fields, ${EXAMPLE}.`,
    );
  if (text.startsWith('@')) {
    const expansion = NICKNAMES.get(text.toLowerCase());
    if (expansion === undefined) {
      throw unreadable(
        { field: 'cron', reason: 'nickname' },
        `${quoted(text)} is not known here; use @hourly, @daily, @weekly, @monthly or @yearly, or five fields.`,
      );
    }
    return expansion.split(' ');
  }
  const fields = text.toLowerCase().replaceAll('?', '*').split(/\s+/);
  if (fields.length === 6 || fields.length === 7) {
    throw unreadable(
      { field: 'cron', reason: 'field_count' },
      `A cron expression has five fields here (minute, hour, day, month, weekday), no seconds and no year; this one has ${fields.length}.`,
    );
  }
  if (fields.length !== 5) {
    throw unreadable(
      { field: 'cron', reason: 'field_count' },
      `A cron expression has five fields (minute, hour, day, month, weekday), ${EXAMPLE}; this one has ${fields.length}.`,
    );
  }
  return fields;
}

/** Reads five fields or a nickname, and throws a sentence about the first field that cannot be read. */
export function parseCron(text: string): CronFields {
  if (text.length > scheduleLimits.cronLengthMax) normalCron(text);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fieldsOf(text);
  const minutes = readTimes(MINUTE, minute);
  const hours = readTimes(HOUR, hour);
  const bothDays = weekday.startsWith('+');
  const weekdayText = bothDays ? weekday.slice(1) : weekday;
  return {
    minutes,
    hours,
    ...readDays(day),
    months: readMonths(month),
    weekdays: readWeekdays(weekdayText),
    anyDay: day === '*',
    anyWeekday: weekdayText === '*',
    bothDays,
    fixedTimes: isFixed(minute, minutes) && isFixed(hour, hours),
  };
}
