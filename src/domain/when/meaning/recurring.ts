import { combined } from '../../schedule/combine.ts';
import { parseSchedule, type Schedule } from '../../schedule/schedule.ts';
import {
  civilFromDays,
  dayOfWall,
  daysFromCivil,
  iso,
  MINUTE_MS,
  secondOfDayOf,
} from '../../schedule/time/calendar.ts';
import { durationText } from '../../schedule/time/duration.ts';
import { toWall } from '../../schedule/time/zone.ts';
import type { FixedOffer } from '../english.ts';
import { Question, refusal, type Way } from '../faults.ts';
import { spanOf } from '../pieces/amount.ts';
import type { Days } from '../pieces/days.ts';
import type { CalendarUnit, Rhythm } from '../pieces/rhythm.ts';
import { addedDays, ordered } from './day.ts';
import { type Bounds, instantOf } from './edges.ts';
import { monthsFrom } from './fitting.ts';
import { contradiction, type Group } from './plan.ts';
import { clock, type Reading, timeEdit } from './reading.ts';
import { icalWall, MINUTES_OF_DAY, isRule, type Series, seriesSchedule, untilText } from './series.ts';
import { minutesOf, timesOfRhythm } from './times.ts';

type Where = Pick<Series, 'weekdays' | 'monthDays' | 'months' | 'nth'>;

const NOWHERE: Where = { weekdays: [], monthDays: [], months: [], nth: null };
const QUARTER_BEGINS: readonly number[] = [1, 4, 7, 10];
const QUARTER_ENDS: readonly number[] = [3, 6, 9, 12];

function whereOf(group: Group, reading: Reading): Where {
  const { days, rhythm } = group;
  const isQuarter =
    (rhythm?.kind === 'calendar' && rhythm.quarters) || (days !== null && 'of' in days && days.of === 'quarter');
  switch (days?.kind) {
    case 'weekdays':
      return { ...NOWHERE, weekdays: days.weekdays };
    case 'monthDays':
      return { ...NOWHERE, ...monthDaysOf(days, isQuarter) };
    case 'date':
      return yearDay(days, group, reading);
    case 'nth': {
      const months = days.month === null ? [] : [days.month];
      const { ordinals, weekday } = days;
      return { ...NOWHERE, nth: { ordinals, weekday }, months: isQuarter ? quarterMonths(ordinals) : months };
    }
    default:
      return NOWHERE;
  }
}

function quarterMonths(places: readonly number[]): readonly number[] {
  return places.every((place) => place < 0) ? QUARTER_ENDS : QUARTER_BEGINS;
}

/** "3 days before the 1st" counts from the end of the month before, and "3 days before the end" from the last day. */
function monthDaysOf(
  { days, early }: Extract<Days, { kind: 'monthDays' }>,
  isQuarter: boolean,
): Pick<Where, 'monthDays' | 'months'> {
  const found = days.map((day) => earlierDay(day, early));
  const isBefore = days.some((day) => day > 0 && day - early < 1);
  const months = isQuarter ? quarterMonths(days) : [];
  return { monthDays: found, months: isBefore && isQuarter ? [...QUARTER_ENDS] : months };
}

function earlierDay(day: number, early: number): number {
  const found = day > 0 && day - early < 1 ? day - early - 1 : day - early;
  if (day < 0 && found >= 0) return found + 1;
  if (found >= -28 && (early >= 0 || found <= 28)) return found;
  throw refusal('month', 'too_early', (say) => say.tooEarly);
}

/** Days before the first of a month are counted from the end of the month before, because February has two ends. */
function yearDay(days: Extract<Days, { kind: 'date' }>, group: Group, reading: Reading): Where {
  const { day, month } = ordered(days, group.daysAt, reading);
  const { early, also = [] } = days;
  if (early < 0) return laterInYear(month, day - early);
  if (early === 0 || day - early > 0) return { ...NOWHERE, monthDays: [day - early, ...also], months: [month] };
  const back = early - day + 1;
  const before = month === 1 ? 12 : month - 1;
  if (back <= 28 && before === 2) return { ...NOWHERE, monthDays: [-back], months: [before] };
  const length = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][before - 1] ?? 30;
  if (back <= length) return { ...NOWHERE, monthDays: [length - back + 1], months: [before] };
  throw refusal('year', 'too_early', (say) => say.tooEarly);
}

/** A day behind a date; those behind the end of February are another day in every fourth year. */
function laterInYear(month: number, day: number): Where {
  const { month: at, day: date } = civilFromDays(daysFromCivil(2_001, month, day));
  if (at === month || month > 2) return { ...NOWHERE, monthDays: [date], months: [at] };
  throw refusal('year', 'too_early', (say) => say.tooEarly);
}

function unitOf(days: Days | null): CalendarUnit {
  if (days?.kind === 'weekdays') return 'week';
  if (days?.kind === 'date' || (days?.kind === 'nth' && days.month !== null)) return 'year';
  return days === null ? 'day' : 'month';
}

function daysOf(where: Where): number {
  return where.nth?.ordinals.length ?? Math.max(where.weekdays.length, where.monthDays.length);
}

type DayOffer = readonly [name: FixedOffer, words: string];

const DAY_OFFERS: Readonly<Record<'week' | 'month' | 'year', readonly DayOffer[]>> = {
  week: [
    ['monday', ' on monday'],
    ['wednesday', ' on wednesday'],
    ['friday', ' on friday'],
  ],
  month: [
    ['first', ' on the 1st'],
    ['fifteenth', ' on the 15th'],
    ['lastDay', ' on the last day'],
  ],
  year: [['newYear', ' on 1 january']],
};

const PAIRS: typeof DAY_OFFERS = {
  week: [
    ['monThu', ' on monday and thursday'],
    ['tueFri', ' on tuesday and friday'],
  ],
  month: [['firstFifteenth', ' on the 1st and the 15th']],
  year: [],
};

const TRIPLES: typeof DAY_OFFERS = {
  week: [
    ['monWedFri', ' on monday, wednesday and friday'],
    ['tueThuSat', ' on tuesday, thursday and saturday'],
  ],
  month: [['tenths', ' on the 1st, the 11th and the 21st']],
  year: [],
};

const SEVERAL: Readonly<Record<number, typeof DAY_OFFERS>> = { 2: PAIRS, 3: TRIPLES };

/** A week without a weekday, a month without a day: the day alone is asked for. */
function askDays(group: Group, unit: 'week' | 'month' | 'year', count: number | null): never {
  const { begin, end } = count === null ? { begin: group.end, end: group.end } : placeOfDays(group);
  const offers = (count === null ? DAY_OFFERS : SEVERAL[count])?.[unit] ?? [];
  const ways = offers.map(([name, words]): Way => ({
    text: (say) => say.offers[name],
    edits: [{ begin, end, text: begin === end ? words : words.trimStart() }],
  }));
  throw new Question((say) => say.onWhichDays(unit, count), ways, [unit === 'year' ? 'date' : 'day']);
}

/** Days that are too few are replaced: "twice a week on friday". */
function placeOfDays({ daysAt, end }: Group): { readonly begin: number; readonly end: number } {
  return daysAt ?? { begin: end, end };
}

function checkDays(group: Group, unit: CalendarUnit, where: Where): void {
  const { promised } = group;
  if (promised?.of === 'days' && unit !== 'day' && daysOf(where) !== promised.count)
    askDays(group, unit, promised.count);
  if (unit !== 'day' && group.days === null) askDays(group, unit, null);
}

/** "Every other day mon-fri" counts days, or names them. */
function askStepOrDays({ days, daysAt, rhythmAt }: Group, every: number, { whole }: Reading): void {
  if (days === null || daysAt === null || rhythmAt === null) return;
  const { begin, end } = daysAt;
  const joint = /[\s,(]*$/.exec(whole.slice(0, begin))?.[0] ?? '';
  const close = joint.includes('(') && whole.charAt(end) === ')' ? 1 : 0;
  throw new Question(
    (say) => say.stepOrDays(every),
    [
      {
        text: (say) => say.offers.everyUnits(every, 'day'),
        edits: [{ begin: begin - joint.length, end: end + close, text: '' }],
      },
      {
        text: whole.slice(begin, end).trim(),
        edits: [{ begin: rhythmAt.begin, end: rhythmAt.end, text: 'every day' }],
      },
    ],
  );
}

function calendarSchedule(group: Group, rhythm: Extract<Rhythm, { kind: 'calendar' }>, context: Context): Schedule {
  const { reading, bounds, phase = null } = context;
  const where = whereOf(group, reading);
  checkDays(group, rhythm.unit, where);
  if (rhythm.unit === 'day' && rhythm.every > 1) askStepOrDays(group, rhythm.every, reading);
  const unit = rhythm.unit === 'week' || group.days === null ? rhythm.unit : unitOf(group.days);
  const times = minutesOf(group, reading);
  const months = monthsFrom(group.days, rhythm);
  const place = months.length === 0 ? { every: rhythm.every, ...where } : { every: 1, ...where, months };
  const series: Series = { unit: rhythm.quarters ? 'month' : unit, ...place, times, rhythm: null, phase };
  return boundedSeries(series, bounds, reading);
}

/** Uneven times that take several rules are counted by the task. */
function boundedSeries(series: Series, bounds: Bounds, reading: Reading): Schedule {
  if (bounds.count === null || isRule(series)) return seriesSchedule(series, bounds, reading.setting);
  reading.maxRuns = bounds.count;
  return seriesSchedule(series, { ...bounds, count: null }, reading.setting);
}

/** The parts that all groups of a plan share. */
export interface Context {
  readonly reading: Reading;
  readonly bounds: Bounds;
  /** A day from which stepped weeks and months are counted. */
  readonly phase?: number | null;
}

function runningMinute(now: number, seconds: number): number {
  const step = seconds % 60 === 0 ? MINUTE_MS : 1_000;
  return Math.floor(now / step) * step;
}

/** Without a place on the clock a rhythm counts from the running minute, or from a moment that is said. */
function freeSchedule(group: Group, seconds: number, { reading, bounds }: Context): Schedule {
  const { timezone, now } = reading.setting;
  const { starting, until, lasting, count } = bounds;
  if (group.times !== null || group.part !== null) askStart(group, reading);
  const start = startOf(group, seconds, { reading, bounds });
  if (until === null && lasting === null && count === null) {
    const interval = durationText(seconds * 1_000);
    return parseSchedule({ kind: 'interval', interval, start_at: iso(start), timezone }, now);
  }
  const first = toWall(timezone, starting === null ? start + seconds * 1_000 : start);
  const [unit, interval] = seconds % 3_600 === 0 ? ['HOURLY', seconds / 3_600] : ['MINUTELY', seconds / 60];
  if (!Number.isInteger(interval)) throw refusal('rhythm', 'seconds', (say) => say.wholeMinutesToEnd);
  const rrule = `DTSTART:${wallOf(first)}\nRRULE:FREQ=${unit};INTERVAL=${interval};${freeEnd(bounds, start, reading)}`;
  return parseSchedule({ kind: 'rrule', rrule, timezone }, now);
}

function wallOf(wall: number): string {
  return icalWall(dayOfWall(wall), Math.floor(secondOfDayOf(wall) / 60));
}

/** The running minute, or the moment that is said; a day alone has an hour of its own. */
function startOf(group: Group, seconds: number, { reading, bounds: { starting } }: Context): number {
  if (starting === null) return runningMinute(reading.setting.now, seconds);
  const [minute = 0] = starting.minute === null ? minutesOf({ ...group, days: null }, reading) : [starting.minute];
  return instantOf({ ...starting, minute }, reading);
}

function freeEnd({ until, lasting, count }: Bounds, start: number, reading: Reading): string {
  if (count !== null) return `COUNT=${count}`;
  if (lasting !== null) return `UNTIL=${seriesEnd(start, lasting, reading)}`;
  return `UNTIL=${until === null ? '' : untilText(until)}`;
}

/** "For 3 hours" is counted from the start. */
function seriesEnd(start: number, lasting: NonNullable<Bounds['lasting']>, reading: Reading): string {
  const { timezone } = reading.setting;
  const { months, days, seconds } = spanOf(lasting);
  const wall = toWall(timezone, start);
  if (months === 0 && days === 0) {
    return wallOf(wall + seconds * 1_000);
  }
  return untilText({ day: addedDays(dayOfWall(wall), lasting), minute: Math.floor(secondOfDayOf(wall) / 60) });
}

/** `every 2 hours at 9`: from 9 on, or once a day? */
function askStart(group: Group, reading: Reading): never {
  const [time] = group.times ?? [];
  if (time === undefined) {
    const at = group.end;
    throw new Question(
      (say) => say.fromTo,
      [
        {
          text: (say) => say.offers.range('9:00', '18:00'),
          edits: [{ begin: at, end: at, text: ' from 9:00 to 18:00' }],
        },
      ],
      ['time'],
    );
  }
  const edit = timeEdit(time, time.minute, reading);
  throw new Question(
    (say) => say.isStart,
    [
      {
        text: (say) => say.offers.starting(clock(time.minute)),
        edits: [{ ...edit, text: `starting ${edit.text.startsWith('at') ? '' : 'at '}${edit.text.trim()}` }],
      },
    ],
  );
}

/** With hours, minutes or days a rhythm is a part of each day. */
function elapsedSchedule(group: Group, seconds: number, context: Context): Schedule {
  const { reading, bounds } = context;
  if (group.hours === null && group.minutes === null && group.days === null)
    return freeSchedule(group, seconds, context);
  if (group.times !== null || group.part !== null) askStart(group, reading);
  const { times, rhythm, night } = timesOfRhythm(group, seconds, reading);
  const isBounded = (bounds.starting ?? bounds.until ?? bounds.count ?? bounds.lasting) !== null;
  if (times.length === MINUTES_OF_DAY && isBounded) throw refusal('end', 'endless', (say) => say.endless);
  const where = whereOf(group, reading);
  const series: Series = { unit: unitOf(group.days), every: 1, ...where, times, rhythm };
  if (night.length === 0) return boundedSeries(series, bounds, reading);
  return group.days === null ? everyNight(series, night, context) : acrossMidnight(series, night, context);
}

/** "Every hour from 22 to 6 until friday" begins in an evening, and ends in the morning behind the last one. */
function everyNight(series: Series, night: readonly number[], { reading, bounds }: Context): Schedule {
  const { starting, until } = bounds;
  const [first = 0] = series.times;
  const last = night.at(-1) ?? 0;
  const ends: Bounds = {
    ...bounds,
    starting: starting === null ? null : { ...starting, minute: starting.minute ?? first },
    until: until === null || until.minute !== null ? until : { day: until.day + 1, minute: last },
  };
  return boundedSeries({ ...series, times: [...night, ...series.times], rhythm: null }, ends, reading);
}

/** "Every hour from 22 to 6 on weekdays" ends in the morning behind each of these days. */
function acrossMidnight(series: Series, night: readonly number[], { reading, bounds }: Context): Schedule {
  const { weekdays, monthDays, nth } = series;
  if (monthDays.length > 0 || nth !== null) throw refusal('rhythm', 'over_midnight', (say) => say.overMidnight);
  const { until, count } = bounds;
  const behind = { ...series, weekdays: weekdays.map((day) => (day + 1) % 7), times: night, rhythm: null };
  if (count !== null) reading.maxRuns = count;
  const evening = seriesSchedule(series, { ...bounds, count: null }, reading.setting);
  const last = until === null ? null : { ...until, day: until.day + 1 };
  const morning = seriesSchedule(behind, { ...bounds, until: last, count: null }, reading.setting);
  return combined([evening, morning], {}, { now: reading.setting.now, isOneStart: true });
}

/** The schedule of a group that comes back. */
export function recurringSchedule(group: Group, context: Context): Schedule {
  const { rhythm, days } = group;
  // "The 1st, friday" is one day; no weekday goes with the 1st of every month.
  if ((days?.kind === 'monthDays' || days?.kind === 'date') && days.weekday !== null) throw contradiction();
  if (rhythm?.kind === 'elapsed') return elapsedSchedule(group, rhythm.seconds, context);
  return calendarSchedule(
    group,
    rhythm ?? { kind: 'calendar', unit: unitOf(days), every: 1, quarters: false },
    context,
  );
}
