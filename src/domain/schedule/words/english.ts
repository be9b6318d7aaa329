import { clockText } from '../time/calendar.ts';
import { shortCadence } from './english-short.ts';
import type {
  DayFacts,
  DayMoment,
  DayPart,
  DayWords,
  Exception,
  Rhythm,
  ScheduleFacts,
  ScheduleWords,
  Span,
  Step,
  Style,
  TimeFacts,
} from './facts.ts';
import {
  counted,
  list,
  MONTH_NAMES,
  monthDayWords,
  nth,
  ordinal,
  runNames,
  runsOf,
  spans,
  WEEKDAY_NAMES,
  weekdayRuns,
  weekdayWords,
} from './words.ts';

interface Writing {
  readonly day: DayWords;
  readonly style: Style;
}

export const english: ScheduleWords = {
  describe: (facts, day, style) => described(facts, { day, style }),
  cadence: shortCadence,
  exception: (exception, day) => exceptionText(exception, day).replace(/^(?:on|in) /, ''),
  leavesOut: (exception, day) => {
    const words = exceptionText(exception, day);
    if (exception.is === 'days') return `this task does not run ${words}`;
    const isSpan = exception.is === 'range' && exception.to - exception.from > 1;
    return `this task does not run ${isSpan ? 'from' : 'on'} ${words}`;
  },
};

function described(facts: ScheduleFacts, writing: Writing): string {
  switch (facts.is) {
    case 'once':
      return `once on ${writing.day(facts.moment.day)} at ${clockText(facts.moment.time ?? 0)}`;
    case 'interval':
      return intervalText(facts, writing);
    case 'rhythms':
      if (facts.rhythms.length === 0)
        return `once on ${momentsText(facts.also, writing)}${exceptionsText(facts.not, writing)}`;
      return `${rhythmsText(facts.rhythms, writing)}${exceptionsText(facts.not, writing)}${alsoText(facts.also, writing)}`;
  }
}

function momentText({ day, time }: DayMoment, { day: words }: Writing): string {
  return time === null ? words(day) : `${words(day)} ${clockText(time)}`;
}

function stepText({ value, unit }: Step): string {
  return value === 1 ? `every ${unit}` : `every ${value} ${unit}s`;
}

function intervalText(
  { steps, afterEnd, start }: Extract<ScheduleFacts, { is: 'interval' }>,
  writing: Writing,
): string {
  const lengths = list(steps.map(({ value, unit }) => counted(value, unit)));
  const isRecord = writing.style === 'records';
  const from = start === null ? '' : ` ${isRecord ? 'from' : 'starting'} ${momentText(start, writing)}`;
  if (afterEnd) return `${lengths} after each run has ended${from === '' ? '' : `,${from}`}`;
  const [only, more] = steps;
  const step = only !== undefined && more === undefined ? stepText(only) : `every ${lengths}`;
  return `${step}${isRecord || from === '' ? '' : ','}${from}`;
}

/** Several rhythms stand beside each other as `weekdays at 09:00, weekends at 11:00`; what they share follows once. */
function rhythmsText(rhythms: readonly Rhythm[], writing: Writing): string {
  const ends = rhythms.map(({ span }) => (span === null ? '' : spanText(span, writing)));
  const [end = ''] = ends;
  const isOne = rhythms.length === 1;
  const isShared = new Set(ends.map((text) => text.replace(' counted', ''))).size === 1;
  const words = rhythms.map((rhythm, index) => `${rhythmText(rhythm, isOne)}${isShared ? '' : ends[index]}`);
  return `${words.join(words.some((text) => text.includes(',')) ? '; ' : ', ')}${isShared ? end : ''}`;
}

function rhythmText({ days, time, picks, weekStart }: Rhythm, isOne: boolean): string {
  const { text, leads } = timeText(time);
  const only = picks === null ? '' : `, only ${positionsText(picks.positions)} of these times in each ${picks.unit}`;
  const week = weekStart === null ? '' : `, weeks beginning on ${WEEKDAY_NAMES[weekStart] ?? ''}`;
  return `${leads ? behind(text, days) : `${isOne ? headText(days) : pluralText(days)} ${text}`}${only}${week}`;
}

function signedFirst(values: readonly number[]): readonly number[] {
  return [...values].sort((a, b) => (a > 0 === b > 0 ? Math.abs(a) - Math.abs(b) : b - a));
}

function positionsText(positions: readonly number[]): string {
  return list(signedFirst(positions).map((value) => `the ${ordinal(value)}`));
}

function isEveryDay({ every: step, parts }: DayFacts): boolean {
  return parts.length === 0 && step?.value === 1 && step.unit === 'day';
}

/** The days as the condition of a rhythm: `every 15 minutes, on weekdays`. */
function behind(rhythm: string, days: DayFacts): string {
  const { every: step, parts, months } = days;
  if (isEveryDay(days)) return [rhythm, ...inMonths(months)].join(' ');
  const isPlain = step === null || (step.value === 1 && parts[0]?.is === 'dates');
  const words =
    isPlain && days.joined === 'and' ? [...parts.map(conditionText), ...inMonths(months)].join(' ') : headText(days);
  return `${rhythm}, ${words}`;
}

function conditionText(part: DayPart): string {
  return part.is === 'weekdays' && part.numbered.length === 0 ? onWeekdays(part.plain) : onText(part, true);
}

function headText({ every: step, parts, joined, months }: DayFacts): string {
  const [first, second] = parts;
  if (joined !== 'and' && first !== undefined && second !== undefined)
    return [
      onText(first, true),
      joined === 'or' ? `or ${eitherText(second)}` : `only if that is also ${alsoOne(second)}`,
    ]
      .join(joined === 'or' ? ' ' : ', ')
      .concat(...inMonths(months).map((words) => ` ${words}`));
  const isMonthly = step?.unit === 'month' && step.value > 1;
  const words = parts.map((part, index) => (step === null && index === 0 ? leadText(part) : onText(part, !isMonthly)));
  return [...(step === null ? [] : [stepText(step)]), ...words, ...inMonths(months)].join(' ');
}

/** `weekdays`, `weekends`, `Mondays`, where the days are such; else as they stand alone. */
function pluralText(days: DayFacts): string {
  const [first, second] = days.parts;
  const isPlural =
    days.every === null && second === undefined && first?.is === 'weekdays' && first.numbered.length === 0;
  return isPlural ? [weekdayNames(first.plain), ...inMonths(days.months)].join(' ') : headText(days);
}

function isWorkWeek(weekdays: readonly number[]): boolean {
  return weekdays.join() === '1,2,3,4,5';
}

/** `weekdays`, `Mondays and Thursdays`, `Monday to Saturday`. */
function weekdayNames(weekdays: readonly number[]): string {
  if (isWorkWeek(weekdays)) return 'weekdays';
  if (weekdays.join() === '0,6') return 'weekends';
  const isSpan = weekdayRuns(weekdays).some(({ first, last }) => last - first >= 2);
  return isSpan ? weekdayWords(weekdays) : weekdayWords(weekdays).replace(/day\b/g, 'days');
}

function onWeekdays(weekdays: readonly number[]): string {
  return `on ${weekdayNames(weekdays)}`;
}

function everyWeekday(weekdays: readonly number[]): string {
  return isWorkWeek(weekdays) ? 'every weekday' : `every ${weekdayWords(weekdays)}`;
}

/** At the beginning, where a weekday needs its "every". */
function leadText(part: DayPart): string {
  if (part.is !== 'weekdays' || part.plain.length === 0) return onText(part, true);
  return list([everyWeekday(part.plain), ...numberedTexts(part)]);
}

function eitherText(part: DayPart): string {
  if (part.is !== 'weekdays') return onText(part, true);
  if (part.plain.length === 7) return 'any day of the week';
  return part.plain.length > 0 ? leadText(part) : list(numberedTexts(part));
}

function alsoOne(part: DayPart): string {
  if (part.is !== 'weekdays') return onText(part, true);
  if (part.plain.length === 7) return 'any day of the week';
  const names = isWorkWeek(part.plain) ? 'weekday' : weekdayWords(part.plain).replaceAll(' and ', ' or ');
  return list([...(part.plain.length === 0 ? [] : [`a ${names}`]), ...numberedTexts(part)], 'or');
}

type Weekdays = Extract<DayPart, { is: 'weekdays' }>;

/** `the first and third Monday of the month`, weekday by weekday. */
function numberedTexts({ numbered, of }: Weekdays): string[] {
  if (numbered.length === 0) return [];
  const fromMonday = [...new Set(numbered.map(({ weekday }) => weekday))].sort((a, b) => ((a + 6) % 7) - ((b + 6) % 7));
  const groups = fromMonday.map((weekday) => {
    const numbers = numbered.filter((day) => day.weekday === weekday).map((day) => day.ordinal);
    return `the ${list(signedFirst(numbers).map(ordinal))} ${WEEKDAY_NAMES[weekday] ?? ''}`;
  });
  return [`${list(groups)} of ${typeof of === 'number' ? (MONTH_NAMES[of] ?? '') : `the ${of}`}`];
}

function onText(part: DayPart, ofMonth: boolean): string {
  switch (part.is) {
    case 'weekdays': {
      const plain = part.plain.length === 0 ? [] : [weekdayWords(part.plain)];
      return `on ${list([...plain, ...numberedTexts(part)])}`;
    }
    case 'monthDays': {
      if (part.days.length === 31) return 'on any day';
      return `on ${list(monthDayTexts(part))}${ofMonth ? ' of the month' : ''}`;
    }
    case 'workdays':
      return `on the ${list(signedFirst(part.positions).map(ordinal))} weekday of the month`;
    case 'yearDays':
      return `on ${signedText(part.days, 'day')} of the year`;
    case 'weeks':
      return `in ${signedText(part.weeks, 'week')} of the year`;
    case 'dates':
      return `on ${list(part.months.flatMap((month) => datesIn(part.days, MONTH_NAMES[month] ?? '')))}`;
  }
}

/** `24 to 26 December`. */
function datesIn(days: readonly number[], month: string): string[] {
  return runNames(runsOf(days), String).map((run) => `${run} ${month}`);
}

function monthDayTexts({ days, nearest }: Extract<DayPart, { is: 'monthDays' }>): string[] {
  const fore = days.filter((day) => day > 0);
  return [
    ...(fore.length === 0 ? [] : [monthDayWords(fore)]),
    ...nearest.map((day) => `the weekday nearest to the ${nth(day)}`),
    ...signedFirst(days.filter((day) => day < 0)).map((day) => `the ${ordinal(day)} day`),
  ];
}

function signedText(values: readonly number[], unit: string): string {
  const fore = values.filter((value) => value > 0);
  const words = fore.length === 0 ? [] : [`${unit}${fore.length === 1 ? '' : 's'} ${list(fore.map(String))}`];
  const back = signedFirst(values.filter((value) => value < 0)).map((value) => `the ${ordinal(value)} ${unit}`);
  return list([...words, ...back]);
}

/** Months counted from 0. */
function inMonths(months: readonly number[]): string[] {
  return months.length === 0 ? [] : [`in ${spans(months, (month) => MONTH_NAMES[month] ?? '')}`];
}

/** `leads`: a rhythm, behind which the days are a condition. */
function timeText(time: TimeFacts): { text: string; leads: boolean } {
  switch (time.is) {
    case 'at':
      return { text: `at ${list(time.times.map(clockText))}`, leads: false };
    case 'steps': {
      const to = time.to === null ? '' : ` to ${clockText(time.to)}`;
      return { text: `${stepText(time.step)} from ${clockText(time.from)}${to}`, leads: true };
    }
    case 'hourly':
      return hourlyText(time);
    case 'grid':
      return { text: gridText(time), leads: true };
    case 'seconds': {
      const seconds = time.seconds.join() === '0' ? '' : ` and ${numbers('second', time.seconds)}`;
      return {
        text: `at ${numbers('minute', time.minutes)}${seconds} of the hours ${list(time.hours.map(String))}`,
        leads: false,
      };
    }
    case 'counted': {
      const within = [
        ...(time.hours.length === 0 ? [] : [`in ${numbers('hour', time.hours)}`]),
        ...(time.minutes.length === 0 ? [] : [`at ${numbers('minute', time.minutes)}`]),
        ...(time.seconds.length === 0 ? [] : [`at ${numbers('second', time.seconds)}`]),
      ];
      return { text: [stepText(time.step), ...within].join(' '), leads: true };
    }
  }
}

function numbers(unit: string, values: readonly number[]): string {
  return `${unit}${values.length === 1 ? '' : 's'} ${list(values.map(String))}`;
}

function clock(hour: number, minute: number): string {
  return clockText(hour * 3_600 + minute * 60);
}

function hourlyText({ hours, minute }: Extract<TimeFacts, { is: 'hourly' }>): { text: string; leads: boolean } {
  if (hours.length === 24) return { text: minute === 0 ? 'every hour' : `every hour at minute ${minute}`, leads: true };
  const runs = runsOf(hours);
  const named = runs.map(({ first, last }) =>
    first === last ? clock(first, minute) : `every hour from ${clock(first, minute)} to ${clock(last, minute)}`,
  );
  const [run] = runs;
  const leads = run !== undefined && run.last > run.first;
  return { text: `${leads ? '' : 'at '}${list(named)}`, leads };
}

/** The step of evenly spread values that fill a whole field, so that "every" is true across its end as well. */
function evenStep(values: readonly number[], size: number): number | null {
  const step = values.length > 1 ? (values[1] ?? 0) - (values[0] ?? 0) : size;
  const isEven =
    values.length * step === size && values.every((value, index) => value === (values[0] ?? 0) + index * step);
  return isEven ? step : null;
}

function gridText({ hours, minutes }: Extract<TimeFacts, { is: 'grid' }>): string {
  return [minutesText(minutes), hoursText(hours, minutes)].filter((part) => part !== '').join(' ');
}

/** The minutes of an hour, as a rhythm. */
function minutesText(minutes: readonly number[]): string {
  if (minutes.length === 60) return 'every minute';
  const step = evenStep(minutes, 60);
  const [first = 0] = minutes;
  if (step !== null && step < 60) return `every ${step} minutes${first === 0 ? '' : ` from minute ${first}`}`;
  return `at ${minutes.length === 1 ? 'minute' : 'minutes'} ${spans(minutes, String)}`;
}

function hoursText(hours: readonly number[], minutes: readonly number[]): string {
  if (hours.length === 24) return evenStep(minutes, 60) !== null ? '' : 'of every hour';
  const step = evenStep(hours, 24);
  const [first = 0] = minutes;
  if (step !== null && step > 1 && step < 24) return `of every ${nth(step)} hour from ${clock(hours[0] ?? 0, 0)}`;
  const ranges = runsOf(hours).map(
    (run) => `${clock(run.first, first)} to ${clock(run.last, minutes.at(-1) ?? first)}`,
  );
  return ranges.length <= 3 ? `from ${list(ranges)}` : `in the hours ${spans(hours, String)}`;
}

function spanText({ start, counts, clock: onClock, until }: Span, writing: Writing): string {
  const on = onClock ? 'on the clock ' : '';
  const word = writing.style === 'records' ? `${counts ? 'counted ' : ''}${on}from` : `${on}starting`;
  return `${start === null ? '' : `, ${word} ${momentText(start, writing)}`}${until === null ? '' : `, until ${momentText(until, writing)}`}`;
}

function exceptionsText(not: readonly Exception[], { day }: Writing): string {
  const texts = (isAgain: boolean) =>
    not.filter(({ is }) => (is === 'days') === isAgain).map((exception) => exceptionText(exception, day));
  const [again, once] = [texts(true), texts(false)];
  return `${again.length === 0 ? '' : `, not ${list(again, 'or')}`}${once.length === 0 ? '' : `, except ${shortList(once)}`}`;
}

function exceptionText(exception: Exception, day: DayWords): string {
  switch (exception.is) {
    case 'days': {
      const { parts, months } = exception.days;
      return [...parts.map(conditionText), ...inMonths(months)].join(' ');
    }
    case 'range': {
      const { from, to } = exception;
      if (from === to) return day(from);
      return to - from === 1 ? list([day(from), day(to)]) : `${day(from)} to ${day(to)}`;
    }
    case 'moment':
      return `${day(exception.moment.day)} ${clockText(exception.moment.time ?? 0)}`;
  }
}

function alsoText(also: readonly DayMoment[], writing: Writing): string {
  return also.length === 0 ? '' : `, and also on ${momentsText(also, writing)}`;
}

function momentsText(moments: readonly DayMoment[], writing: Writing): string {
  return shortList(moments.map((each) => momentText(each, writing)));
}

/** Single dates that are named; the others are counted. */
const DATES_SHOWN_MAX = 4;

function shortList(dates: readonly string[]): string {
  const more = dates.length - DATES_SHOWN_MAX;
  return list(more > 0 ? [...dates.slice(0, DATES_SHOWN_MAX), `${more} more`] : dates);
}
