import { clockText, dateText, dayOfWall, secondOfDayOf } from './calendar.ts';
import type { Recurrence } from './recurrence.ts';
import type { OrdinalDay, RruleParts } from './rrule-parts.ts';
import { every, list, MONTH_NAMES, ordinal, WEEKDAY_NAMES } from './words.ts';
import { toWall, wallText } from './zone.ts';

const UNITS = {
  SECONDLY: 'second',
  MINUTELY: 'minute',
  HOURLY: 'hour',
  DAILY: 'day',
  WEEKLY: 'week',
  MONTHLY: 'month',
  YEARLY: 'year',
};
const TIMES_SHOWN_MAX = 12;

function mondayFirst(days: readonly OrdinalDay[]): OrdinalDay[] {
  return [...days].sort((a, b) => a.ordinal - b.ordinal || ((a.weekday + 6) % 7) - ((b.weekday + 6) % 7));
}

function weekdayName({ weekday, ordinal: number }: OrdinalDay): string {
  const name = WEEKDAY_NAMES[weekday] ?? '';
  return number === 0 ? name : `the ${ordinal(number)} ${name}`;
}

function isWorkWeek(days: readonly OrdinalDay[]): boolean {
  const plain = mondayFirst(days).map(({ weekday, ordinal: number }) => (number === 0 ? weekday : -1));
  return plain.join() === '1,2,3,4,5';
}

function signed(values: readonly number[], unit: string): string {
  const fore = values.filter((value) => value > 0);
  const back = values.filter((value) => value < 0).sort((a, b) => b - a);
  const words = fore.length === 0 ? [] : [`${unit}${fore.length === 1 ? '' : 's'} ${list(fore.map(String))}`];
  return list([...words, ...back.map((value) => `the ${ordinal(value)} ${unit}`)]);
}

/** The weekdays of a rule: with a number of the month or year, and as a condition beside other day parts. */
function weekdayPart({ weekdays, frequency, months, weekNumbers }: RruleParts): string {
  const names = list(mondayFirst(weekdays).map(weekdayName));
  if (weekdays.every(({ ordinal: number }) => number === 0)) return isWorkWeek(weekdays) ? 'Monday to Friday' : names;
  return `${names} of the ${frequency === 'MONTHLY' || months.length > 0 ? 'month' : 'year'}${weekNumbers.length > 0 ? ' ' : ''}`.trim();
}

function dayParts(parts: RruleParts, recurrence: Recurrence): string[] {
  const words: string[] = [];
  const days = recurrence.periods?.days ?? recurrence.steps?.days;
  if (parts.weekdays.length > 0) words.push(`on ${weekdayPart(parts)}`);
  else if (parts.frequency === 'WEEKLY')
    words.push(`on ${WEEKDAY_NAMES.filter((_, index) => ((days?.weekdays ?? 0) & (1 << index)) !== 0).join(', ')}`);
  if (days !== undefined && days.monthDays.length > 0)
    words.push(`on ${signed(days.monthDays, 'day')}${parts.frequency === 'MONTHLY' ? '' : ' of the month'}`);
  if (parts.yearDays.length > 0) words.push(`on ${signed(parts.yearDays, 'day')} of the year`);
  if (parts.weekNumbers.length > 0) words.push(`in ${signed(parts.weekNumbers, 'week')} of the year`);
  const months = Array.from({ length: 12 }, (_, index) => index).filter(
    (index) => ((days?.months ?? 0) & (1 << index)) !== 0,
  );
  if (months.length > 0) words.push(`in ${list(months.map((month) => MONTH_NAMES[month] ?? ''))}`);
  return words;
}

function counted(unit: string, values: readonly number[], preposition: string): string[] {
  return values.length === 0
    ? []
    : [`${preposition} ${unit}${values.length === 1 ? '' : 's'} ${list(values.map(String))}`];
}

function timePart({ periods, parts, startWall }: Recurrence): string {
  if (periods !== null) return clockTimes(parts, periods.times);
  const start = secondOfDayOf(startWall);
  const ownMinute = parts.frequency === 'HOURLY' ? [Math.floor(start / 60) % 60] : [];
  const ownSecond = parts.frequency === 'SECONDLY' || start % 60 === 0 ? [] : [start % 60];
  return [
    ...counted('hour', parts.hours, 'in'),
    ...counted('minute', parts.minutes.length > 0 ? parts.minutes : ownMinute, 'at'),
    ...counted('second', parts.seconds.length > 0 ? parts.seconds : ownSecond, 'at'),
  ].join(' ');
}

function clockTimes(parts: RruleParts, times: readonly number[]): string {
  if (times.length <= TIMES_SHOWN_MAX) return `at ${list(times.map(clockText))}`;
  const seconds =
    parts.seconds.length > 0
      ? ` and ${parts.seconds.length === 1 ? 'second' : 'seconds'} ${list(parts.seconds.map(String))}`
      : '';
  return `at minutes ${list([...new Set(times.map((time) => String(Math.floor(time / 60) % 60)))])}${seconds} of the hours ${list([...new Set(times.map((time) => String(Math.floor(time / 3_600))))])}`;
}

function frequencyPart({ parts }: Recurrence): { head: string; rest: boolean } {
  const unit = UNITS[parts.frequency];
  if (parts.frequency === 'WEEKLY' && parts.interval === 1 && parts.months.length === 0 && isWorkWeek(parts.weekdays))
    return { head: 'every weekday', rest: false };
  return { head: every(parts.interval, unit), rest: true };
}

function positionPart({ positions, frequency }: RruleParts): string {
  if (positions.length === 0) return '';
  const names = [...positions]
    .sort((a, b) => (a > 0 === b > 0 ? Math.abs(a) - Math.abs(b) : b - a))
    .map((value) => `the ${ordinal(value)}`);
  return `, only ${list(names)} of these times in each ${UNITS[frequency]}`;
}

function weekStartPart({ frequency, interval, weekStart, weekNumbers, positions }: RruleParts): string {
  const matters = (frequency === 'WEEKLY' && (interval > 1 || positions.length > 0)) || weekNumbers.length > 0;
  return matters && weekStart !== 1 ? `, weeks beginning on ${WEEKDAY_NAMES[weekStart] ?? ''}` : '';
}

function exceptionPart({ lines, excluded, excludedDays, added, timezone }: Recurrence): string {
  const out = [...[...excluded].map((instant) => wallText(instant, timezone)), ...[...excludedDays].map(dateText)];
  const without = lines.excluded.length === 0 ? '' : `, except ${out.length > 3 ? `${out.length} dates` : list(out)}`;
  const extra =
    added.length === 0
      ? ''
      : `, and also on ${added.length > 3 ? `${added.length} more dates` : list(added.map((at) => wallText(at, timezone)))}`;
  return without + extra;
}

function spanPart({ parts, periods, steps, startWall, until, timezone }: Recurrence): string {
  // A rule of whole days names its times itself; one that steps through the day has its phase from the time of DTSTART.
  const time = periods === null ? ` ${clockText(secondOfDayOf(startWall))}` : '';
  const start = `${dateText(dayOfWall(startWall))}${time}`;
  const count = parts.interval > 1 ? 'counted ' : '';
  const from = `, ${count}${steps?.keepsToClock === true ? 'on the clock ' : ''}from ${start}`;
  return until === null ? from : `${from}, until ${untilText(toWall(timezone, until), until, timezone)}`;
}

function untilText(wall: number, until: number, timezone: string): string {
  return wall % 86_400_000 === 86_399_999 ? dateText(dayOfWall(wall)) : wallText(until, timezone);
}

export function rruleWords(recurrence: Recurrence): string {
  const { parts } = recurrence;
  const { head, rest } = frequencyPart(recurrence);
  const days = rest ? dayParts(parts, recurrence) : [];
  const rule = [head, ...days, timePart(recurrence)].filter((part) => part !== '').join(' ');
  return `${rule}${positionPart(parts)}${weekStartPart(parts)}${spanPart(recurrence)}${exceptionPart(recurrence)}`;
}
