import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time/calendar.ts';
import { englishForms } from './forms.ts';

export const WEEKDAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
export const MONTH_NAMES = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

export function list(items: readonly string[], word: 'and' | 'or' = 'and'): string {
  return word === 'and' ? englishForms.and(items) : englishForms.or(items);
}

export function counted(value: number, unit: string): string {
  return englishForms.plural(value, { one: `{n} ${unit}`, other: `{n} ${unit}s` });
}

export function nth(value: number): string {
  return englishForms.ordinal(value, { one: '{n}st', two: '{n}nd', few: '{n}rd', other: '{n}th' });
}

/** From this many ordinals on, plain numbers are easier to read. */
const ORDINALS_SHOWN_MAX = 5;

/** `the 1st and 15th`; `days 1 to 7` where they follow each other, or are many. */
export function monthDayWords(days: readonly number[]): string {
  const runs = runsOf(days);
  if (days.length > ORDINALS_SHOWN_MAX || runs.some(({ first, last }) => last - first >= 2)) {
    return `days ${list(runNames(runs, String))}`;
  }
  return `the ${list(days.map(nth))}`;
}

/** `Monday to Thursday and Saturday`, from Monday on. */
export function weekdayWords(weekdays: readonly number[]): string {
  return list(runNames(weekdayRuns(weekdays), (index) => WEEKDAY_NAMES[(index + 1) % 7] ?? ''));
}

/** Days of the week that follow each other; Monday is 0 here. */
export function weekdayRuns(weekdays: readonly number[]): Run[] {
  return runsOf(weekdays.map((weekday) => (weekday + 6) % 7).sort((a, b) => a - b));
}

interface Run {
  readonly first: number;
  readonly last: number;
}

export function runsOf(values: readonly number[]): Run[] {
  const runs: Run[] = [];
  for (const value of values) {
    const open = runs.at(-1);
    if (open !== undefined && open.last + 1 === value) runs[runs.length - 1] = { first: open.first, last: value };
    else runs.push({ first: value, last: value });
  }
  return runs;
}

/** `1 to 3` and `7`. */
export function runNames(runs: readonly Run[], name: (value: number) => string): string[] {
  return runs.flatMap(({ first, last }) => {
    if (last - first >= 2) return [`${name(first)} to ${name(last)}`];
    return first === last ? [name(first)] : [name(first), name(last)];
  });
}

/** `1 to 3 and 7`. */
export function spans(values: readonly number[], name: (value: number) => string): string {
  return list(runNames(runsOf(values), name));
}

/** The step between values that are evenly spread, or null. */
export function stepOf(values: readonly number[]): number | null {
  const step = (values[1] ?? 0) - (values[0] ?? 0);
  return values.length > 2 && values.every((value, index) => value === (values[0] ?? 0) + index * step) ? step : null;
}

const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth'];

/** `second`, `last`, `second to last`, `14th`, `14th to last`. */
export function ordinal(value: number): string {
  if (value === -1) return 'last';
  if (value < 0) return `${ordinal(-value)} to last`;
  return ORDINALS[value] ?? nth(value);
}

/** A span of time in its two largest units, rounded down: `1 hour 30 minutes`. */
export function spanText(ms: number): string {
  const units: Array<[number, string]> = [
    [DAY_MS, 'day'],
    [HOUR_MS, 'hour'],
    [MINUTE_MS, 'minute'],
    [SECOND_MS, 'second'],
  ];
  const words: string[] = [];
  let rest = ms;
  for (const [size, name] of units) {
    const value = Math.floor(rest / size);
    rest -= value * size;
    if (value > 0) words.push(counted(value, name));
  }
  return words.length === 0 ? counted(ms, 'millisecond') : words.slice(0, 2).join(' ');
}
