import { type CronFields, EVERY_WEEK } from '../cron-fields.ts';
import { clockText } from '../time/calendar.ts';
import {
  asCondition,
  list,
  MONTH_NAMES,
  monthDayWords,
  nth,
  ordinal,
  runsOf,
  spans,
  stepOf,
  WEEKDAY_NAMES,
  weekdayWords,
  yearDayWords,
} from './words.ts';

const TIMES_SHOWN_MAX = 8;
const MONDAY_FIRST = [1, 2, 3, 4, 5, 6, 0];

/** The step of evenly spread values that fill a whole field, so that "every" is true across its end as well. */
function evenStep(values: readonly number[], size: number): number | null {
  const step = values.length > 1 ? (values[1] ?? 0) - (values[0] ?? 0) : size;
  const isEven =
    values.length * step === size && values.every((value, index) => value === (values[0] ?? 0) + index * step);
  return isEven ? step : null;
}

function clock(hour: number, minute: number): string {
  return clockText(hour * 3_600 + minute * 60);
}

/** The minutes of an hour, as a rhythm. */
function minuteRhythm(minutes: readonly number[]): string {
  if (minutes.length === 60) return 'every minute';
  const step = evenStep(minutes, 60);
  const first = minutes[0] ?? 0;
  if (step !== null && step < 60)
    return first === 0 ? `every ${step} minutes` : `every ${step} minutes from minute ${first}`;
  return `at ${minutes.length === 1 ? 'minute' : 'minutes'} ${spans(minutes, String)}`;
}

function hourPart(hours: readonly number[], minutes: readonly number[]): string {
  if (hours.length === 24) return evenStep(minutes, 60) !== null ? '' : 'of every hour';
  const step = evenStep(hours, 24);
  const first = minutes[0] ?? 0;
  if (step !== null && step > 1 && step < 24) return `of every ${nth(step)} hour from ${clock(hours[0] ?? 0, 0)}`;
  const ranges = runsOf(hours).map(
    (run) => `${clock(run.first, first)} to ${clock(run.last, minutes.at(-1) ?? first)}`,
  );
  if (ranges.length <= 3) return `from ${list(ranges)}`;
  return `in the hours ${spans(hours, (hour) => String(hour))}`;
}

/** One minute of several hours: as an even step, or hour by hour. */
function hourlyPart(hours: readonly number[], minute: number): string {
  if (hours.length === 24) return minute === 0 ? 'every hour' : `every hour at minute ${minute}`;
  const named = runsOf(hours).map(({ first, last }) =>
    first === last ? clock(first, minute) : `every hour from ${clock(first, minute)} to ${clock(last, minute)}`,
  );
  return `at ${list(named)}`.replace(/^at every/, 'every');
}

function steppedPart({ minutes, hours, fixedTimes }: CronFields): string | null {
  if (fixedTimes || minutes.length > 1) return null;
  const first = clock(hours[0] ?? 0, minutes[0] ?? 0);
  const step = stepOf(hours);
  if (step !== null && step > 1)
    return `every ${step} hours from ${first} to ${clock(hours.at(-1) ?? 0, minutes[0] ?? 0)}`;
  return hours.length === 2 && evenStep(hours, 24) === 12 ? `every 12 hours from ${first}` : null;
}

function timePart(cron: CronFields): string {
  const { minutes, hours } = cron;
  const stepped = steppedPart(cron);
  if (stepped !== null) return stepped;
  if (minutes.length * hours.length <= TIMES_SHOWN_MAX && hours.length < 24) {
    return `at ${list(hours.flatMap((hour) => minutes.map((minute) => clock(hour, minute))))}`;
  }
  if (minutes.length === 1) return hourlyPart(hours, minutes[0] ?? 0);
  return [minuteRhythm(minutes), hourPart(hours, minutes)].filter((part) => part !== '').join(' ');
}

function bitsOf(bits: number): number[] {
  return Array.from({ length: 31 }, (_, index) => index + 1).filter((day) => (bits & (1 << (day - 1))) !== 0);
}

function daysPart(cron: CronFields): string {
  const days = bitsOf(cron.days);
  const names: string[] = [];
  if (days.length === 31) return 'any day';
  if (days.length > 0) names.push(monthDayWords(days));
  for (const day of bitsOf(cron.nearestWeekdays)) names.push(`the weekday nearest to the ${nth(day)}`);
  if (cron.lastDay) names.push('the last day');
  if (cron.lastWeekday) names.push('the last weekday');
  return `${list(names)} of the month`;
}

function weekNames(mask: number): string[] {
  const nths = [1, 2, 3, 4, 5].filter((value) => (mask & (1 << (value - 1))) !== 0).map(ordinal);
  return (mask & 32) === 0 ? nths : [...nths, 'last'];
}

function weekdaysPart({ weekdays }: CronFields): string {
  const full = MONDAY_FIRST.filter((weekday) => weekdays[weekday] === EVERY_WEEK);
  const some = MONDAY_FIRST.filter((weekday) => weekdays[weekday] !== EVERY_WEEK && (weekdays[weekday] ?? 0) !== 0);
  const name = (weekday: number) => WEEKDAY_NAMES[weekday] ?? '';
  const parts: string[] = [];
  if (full.length === 7) return 'any day of the week';
  if (full.join() === '1,2,3,4,5') parts.push('every weekday');
  else if (full.length > 0) parts.push(`every ${weekdayWords(full)}`);
  for (const weekday of some)
    parts.push(`the ${list(weekNames(weekdays[weekday] ?? 0))} ${name(weekday)} of the month`);
  return list(parts);
}

/** `every day`, or the days in words, with "or" where either field is enough. */
function dayPart(cron: CronFields): string {
  if (cron.anyDay && cron.anyWeekday) return 'every day';
  if (cron.anyWeekday) return `on ${daysPart(cron)}`;
  const weekdays = weekdaysPart(cron);
  if (cron.anyDay) return weekdays.startsWith('every') ? weekdays : `on ${weekdays}`;
  if (cron.bothDays)
    return `on ${daysPart(cron)}, only if that is also ${weekdays.replace(/^every /, 'a ').replaceAll(' and ', ' or ')}`;
  return `on ${daysPart(cron)} or ${weekdays}`;
}

function monthPart(months: number): string {
  if (months === 0xfff) return '';
  return `in ${spans(monthsOf(months), (month) => MONTH_NAMES[month] ?? '')}`;
}

function monthsOf(months: number): number[] {
  return Array.from({ length: 12 }, (_, index) => index).filter((month) => (months & (1 << month)) !== 0);
}

/** Days and months that make a few dates of the year. */
function yearPart(cron: CronFields): string | null {
  const isPlain = cron.anyWeekday && !cron.lastDay && !cron.lastWeekday && cron.nearestWeekdays === 0;
  if (!isPlain || cron.months === 0xfff) return null;
  const dates = yearDayWords(bitsOf(cron.days), monthsOf(cron.months));
  return dates === null ? null : `every year on ${dates}`;
}

export function cronWords(cron: CronFields): string {
  const time = timePart(cron);
  const year = yearPart(cron);
  const day = year ?? dayPart(cron);
  const month = year === null ? monthPart(cron.months) : '';
  const isRhythm = time.startsWith('every') || time.includes('of every');
  if (day === 'every day' && isRhythm) return [time, month].filter((part) => part !== '').join(' ');
  const days = [day, month].filter((part) => part !== '').join(' ');
  return isRhythm || time.startsWith('at minute') ? `${time}, ${asCondition(days)}` : `${days} ${time}`;
}
