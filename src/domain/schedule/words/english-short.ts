import { clockText } from '../time/calendar.ts';
import type { DayFacts, DayPart, DayWords, Rhythm, ScheduleFacts, Step, TimeFacts } from './facts.ts';
import { englishForms } from './forms.ts';
import { MONTH_NAMES, nth, ordinal, stepOf, WEEKDAY_NAMES, weekdayRuns } from './words.ts';

const TIMES_SHOWN_MAX = 2;

const unitForms = {
  second: { other: '{n} s' },
  minute: { other: '{n} min' },
  hour: { other: '{n} h' },
  day: { one: '{n} day', other: '{n} days' },
  week: { one: '{n} week', other: '{n} weeks' },
  month: { one: '{n} month', other: '{n} months' },
  year: { one: '{n} year', other: '{n} years' },
};
const eachNames = {
  second: 'every second',
  minute: 'every minute',
  hour: 'hourly',
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  year: 'yearly',
};

/** `daily 08:00`, `weekdays 09:00 +1`, `every 45 min 09:00-16:30, weekdays`: as much as a row of a list holds. */
export function shortCadence(facts: ScheduleFacts, day: DayWords): string {
  switch (facts.is) {
    case 'once':
      return `${day(facts.moment.day)} ${clockText(facts.moment.time ?? 0)}`;
    case 'interval': {
      const [first, more] = facts.steps;
      if (first !== undefined && more === undefined) return stepShort(first);
      return `every ${facts.steps.map(lengthShort).join(' ')}`;
    }
    case 'rhythms': {
      const [first, ...more] = facts.rhythms;
      return `${first === undefined ? '' : rhythmShort(first)}${more.length === 0 ? '' : ` +${more.length}`}`;
    }
  }
}

function lengthShort({ value, unit }: Step): string {
  return englishForms.plural(value, unitForms[unit]);
}

function stepShort({ value, unit }: Step): string {
  return value === 1 ? eachNames[unit] : `every ${lengthShort({ value, unit })}`;
}

function rhythmShort({ days, time }: Rhythm): string {
  const on = daysShort(days);
  if (time.is === 'at' || time.is === 'seconds') return `${on} ${timeShort(time)}`;
  return on === eachNames.day ? timeShort(time) : `${timeShort(time)}, ${on}`;
}

function timeShort(time: TimeFacts): string {
  switch (time.is) {
    case 'at': {
      const shown = time.times.length > TIMES_SHOWN_MAX ? 1 : time.times.length;
      const more = time.times.length - shown;
      return `${time.times.slice(0, shown).map(clockText).join(', ')}${more === 0 ? '' : ` +${more}`}`;
    }
    case 'steps':
      return `${stepShort(time.step)} ${clockText(time.from)}${time.to === null ? '' : `-${clockText(time.to)}`}`;
    case 'hourly':
      return time.hours.length === 24 ? eachNames.hour : `${time.hours.length} times`;
    case 'grid': {
      const step = stepOf(time.minutes);
      if (time.minutes.length === 60) return eachNames.minute;
      return step === null ? `${time.minutes.length * time.hours.length} times` : `every ${step} min`;
    }
    case 'seconds':
      return `${time.hours.length * time.minutes.length * time.seconds.length} times`;
    case 'counted':
      return stepShort(time.step);
  }
}

function daysShort({ every, parts, months }: DayFacts): string {
  const step = every === null ? parts.slice(0, 1).flatMap(againShort) : [stepShort(every)];
  const on = parts.map((part) => partShort(part, every === null));
  return [...step, ...on, ...months.map(monthShort)].join(' ');
}

/** Days of a month without the word would read as a date. */
function againShort(part: DayPart): string[] {
  const isOfMonth =
    part.is === 'monthDays' || part.is === 'workdays' || (part.is === 'weekdays' && part.plain.length === 0);
  return isOfMonth ? [eachNames.month] : [];
}

function monthShort(month: number): string {
  return (MONTH_NAMES[month] ?? '').slice(0, 3);
}

function weekdayShort(weekday: number): string {
  return (WEEKDAY_NAMES[weekday] ?? '').slice(0, 3);
}

/** Standing alone, a weekday would read as a date. */
function partShort(part: DayPart, isAlone: boolean): string {
  switch (part.is) {
    case 'weekdays': {
      const numbered = part.numbered.map((day) => `${ordinal(day.ordinal)} ${weekdayShort(day.weekday)}`);
      return [...(part.plain.length === 0 ? [] : [weekdaysShort(part.plain, isAlone)]), ...numbered].join(', ');
    }
    case 'monthDays':
      return [...part.days, ...part.nearest].map((day) => (day > 0 ? nth(day) : `${ordinal(day)} day`)).join(', ');
    case 'workdays':
      return part.positions.map((position) => `${ordinal(position)} weekday`).join(', ');
    case 'yearDays':
      return part.days.map((day) => `day ${day}`).join(', ');
    case 'weeks':
      return part.weeks.map((week) => `week ${week}`).join(', ');
    case 'dates':
      return part.months.flatMap((month) => part.days.map((day) => `${day} ${monthShort(month)}`)).join(', ');
  }
}

function weekdaysShort(weekdays: readonly number[], isAlone: boolean): string {
  if (weekdays.join() === '1,2,3,4,5') return 'weekdays';
  if (weekdays.join() === '0,6') return 'weekends';
  const [only, more] = weekdays;
  if (isAlone && only !== undefined && more === undefined) return `${WEEKDAY_NAMES[only] ?? ''}s`;
  const name = (index: number) => weekdayShort((index + 1) % 7);
  return weekdayRuns(weekdays)
    .map(({ first, last }) =>
      first === last ? name(first) : `${name(first)}${last - first > 1 ? '-' : ', '}${name(last)}`,
    )
    .join(', ');
}
