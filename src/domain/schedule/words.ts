import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './calendar.ts';

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

export function list(items: readonly string[], word = 'and'): string {
  if (items.length <= 1) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')} ${word} ${items.at(-1) ?? ''}`;
}

export function counted(value: number, unit: string): string {
  return value === 1 ? `1 ${unit}` : `${value} ${unit}s`;
}

export function every(value: number, unit: string): string {
  return value === 1 ? `every ${unit}` : `every ${value} ${unit}s`;
}

export function nth(value: number): string {
  const tens = value % 100;
  const ends = ['th', 'st', 'nd', 'rd'];
  return `${value}${tens >= 11 && tens <= 13 ? 'th' : (ends[value % 10] ?? 'th')}`;
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
