import { parseSchedule, type Schedule } from '../../schedule/schedule.ts';
import { dayOfWall, iso, MINUTE_MS, secondOfDayOf } from '../../schedule/time/calendar.ts';
import { durationText } from '../../schedule/time/duration.ts';
import { toWall } from '../../schedule/time/zone.ts';
import type { FixedOffer } from '../english.ts';
import { Question, refusal, type Way } from '../faults.ts';
import { spanOf } from '../pieces/amount.ts';
import type { ClockTime } from '../pieces/clock.ts';
import type { Days } from '../pieces/days.ts';
import type { CalendarUnit, Rhythm } from '../pieces/rhythm.ts';
import { type Bounds, instantOf } from './edges.ts';
import { addedDays, ordered } from './once.ts';
import { type Group, monthsFrom } from './plan.ts';
import { clock, type Reading, timeEdit } from './reading.ts';
import { icalWall, MINUTES_OF_DAY, isRule, type Series, seriesSchedule, untilText } from './series.ts';
import { isAfternoon, minutesOf } from './times.ts';

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
      return { ...NOWHERE, monthDays: days.days, months: isQuarter ? quarterMonths(days.days) : [] };
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

/** Days before the first of a month are counted from the end of the month before, because February has two ends. */
function yearDay(days: Extract<Days, { kind: 'date' }>, group: Group, reading: Reading): Where {
  const { day, month } = ordered(days, group.daysAt, reading);
  const { early, also = [] } = days;
  if (early === 0 || day - early > 0) return { ...NOWHERE, monthDays: [day - early, ...also], months: [month] };
  const back = early - day + 1;
  const before = month === 1 ? 12 : month - 1;
  if (back <= 28 && before === 2) return { ...NOWHERE, monthDays: [-back], months: [before] };
  const length = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][before - 1] ?? 30;
  if (back <= length) return { ...NOWHERE, monthDays: [length - back + 1], months: [before] };
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

/** A week without a weekday, a month without a day: the day alone is asked for. */
function askDays(group: Group, unit: 'week' | 'month' | 'year', count: number | null): never {
  const { begin, end } = count === null ? { begin: group.end, end: group.end } : placeOfDays(group);
  const offers = count === null ? DAY_OFFERS[unit] : count === 2 ? PAIRS[unit] : [];
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

function calendarSchedule(group: Group, rhythm: Extract<Rhythm, { kind: 'calendar' }>, context: Context): Schedule {
  const { reading, bounds } = context;
  const where = whereOf(group, reading);
  checkDays(group, rhythm.unit, where);
  const unit = rhythm.unit === 'week' || group.days === null ? rhythm.unit : unitOf(group.days);
  const times = minutesOf(group, reading);
  const months = monthsFrom(group.days, rhythm);
  const place = months.length === 0 ? { every: rhythm.every, ...where } : { every: 1, ...where, months };
  const series: Series = { unit: rhythm.quarters ? 'month' : unit, ...place, times, rhythm: null };
  return boundedSeries(series, bounds, reading);
}

/** Uneven times that take several rules are counted by the task. */
function boundedSeries(series: Series, bounds: Bounds, reading: Reading): Schedule {
  if (bounds.count === null || isRule(series)) return seriesSchedule(series, bounds, reading.setting);
  reading.maxRuns = bounds.count;
  return seriesSchedule(series, { ...bounds, count: null }, reading.setting);
}

/** What all groups of a plan share. */
export interface Context {
  readonly reading: Reading;
  readonly bounds: Bounds;
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
  const { times, rhythm }: DayTimes = timesOfRhythm(group, seconds, reading);
  const isBounded = bounds.starting ?? bounds.until ?? bounds.count ?? bounds.lasting;
  if (times.length === MINUTES_OF_DAY && isBounded !== null) throw refusal('end', 'endless', (say) => say.endless);
  const series: Series = { unit: unitOf(group.days), every: 1, ...whereOf(group, reading), times, rhythm };
  return boundedSeries(series, bounds, reading);
}

/** The schedule of a group that comes back. */
export function recurringSchedule(group: Group, context: Context): Schedule {
  const { rhythm, days } = group;
  if (rhythm?.kind === 'elapsed') return elapsedSchedule(group, rhythm.seconds, context);
  return calendarSchedule(
    group,
    rhythm ?? { kind: 'calendar', unit: unitOf(days), every: 1, quarters: false },
    context,
  );
}

interface HoursOfDay {
  readonly from: number;
  readonly to: number;
}

/** "From 9 to 5" ends in the afternoon, and "from 1 to 3pm" begins there. */
export function hoursOfDay({ hours }: Group, reading: Reading): HoursOfDay | null {
  if (hours === null) return null;
  const { from, to } = hours;
  const isBothPm = to.half && to.minute >= 780 && from.open && from.minute + 720 < to.minute && from.minute >= 60;
  const begin = isBothPm && from.minute >= 420 ? assumedHalf(from, reading) : openMinute(from, reading);
  const late = to.named === 'midnight' ? 1_439 : openMinute(to, reading);
  return {
    from: begin,
    to: to.open && late < begin && late < 720 && late + 720 > begin ? assumedHalf(to, reading) : late,
  };
}

function openMinute(time: ClockTime, reading: Reading): number {
  return isAfternoon(time) ? assumedHalf(time, reading) : time.minute;
}

function assumedHalf(time: ClockTime, reading: Reading): number {
  const other = { text: clock(time.minute), edits: [timeEdit(time, time.minute, reading)] };
  reading.notes.push({ what: 'hour', text: clock(time.minute + 720), other });
  return time.minute + 720;
}

/** The runs of a rhythm inside a day, and the cron fields that say them, where there are some. */
interface DayTimes {
  readonly times: readonly number[];
  readonly rhythm: string | null;
}

const DAY_MINUTES = 1_440;

function stepped(from: number, to: number, step: number): number[] {
  const times: number[] = [];
  for (let time = from; time <= to; time += step) times.push(time);
  return times;
}

function hourField(from: number, to: number, step: number): string {
  if (from === 0 && to === 24 - step) return step === 1 ? '*' : `*/${step}`;
  if (from === to) return String(from);
  return `${from}-${to}${step === 1 ? '' : `/${step}`}`;
}

/** Steps of whole hours: `0 8-18/2`. */
function hourSteps(times: readonly number[], minutes: readonly number[], step: number): string {
  const hours = times.map((time) => Math.floor(time / 60));
  return `${minutes.join()} ${hourField(hours[0] ?? 0, hours.at(-1) ?? 0, step / 60)}`;
}

/** Steps inside the hour, where the first and the last hour hold as many as the others: a quarter past 9 to 16:45. */
function minuteSteps(times: readonly number[], step: number): string | null {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const isWhole = 60 % step === 0 && first % 60 < step && (last % 60) + step >= 60;
  if (!isWhole) return null;
  const minute = step === 1 ? '*' : first % 60 === 0 ? `*/${step}` : `${first % 60}-59/${step}`;
  return `${minute} ${hourField(Math.floor(first / 60), Math.floor(last / 60), 1)}`;
}

function fieldsOf(times: readonly number[], step: number): string | null {
  if (times.length === 1) return null;
  return step % 60 === 0 ? hourSteps(times, [(times[0] ?? 0) % 60], step) : minuteSteps(times, step);
}

/** Both ends belong to the hours: "every 2 hours from 8 to 18" runs at 8 and at 18. */
function betweenHours({ from: begin, to: end }: HoursOfDay, step: number): DayTimes {
  if (begin <= end) {
    const times = stepped(begin, end, step);
    return { times, rhythm: fieldsOf(times, step) };
  }
  const times = stepped(begin, end + DAY_MINUTES, step).map((time) => time % DAY_MINUTES);
  return { times: [...new Set(times)].sort((a, b) => a - b), rhythm: null };
}

function atMinutes(hoursOfDay: HoursOfDay | null, minutes: readonly number[], step: number): DayTimes {
  if (step !== 60 && hoursOfDay === null) {
    throw refusal('rhythm', 'which_hours', (say) => say.whichHours);
  }
  if (step % 60 !== 0) throw refusal('rhythm', 'contradiction', (say) => say.minutesOfHours);
  const [from, to] = hoursOfDay === null ? [0, 23 * 60] : [hoursOfDay.from, hoursOfDay.to];
  if (from % 60 !== 0 || to % 60 !== 0 || from > to) {
    throw refusal('rhythm', 'contradiction', (say) => say.minutesTwice);
  }
  const hours = stepped(from, to, step);
  const times = hours.flatMap((hour) => minutes.map((minute) => hour + minute));
  const within = hoursOfDay === null ? times : times.filter((time) => time <= to);
  const isFull = within.length === times.length;
  return { times: within, rhythm: isFull ? hourSteps(hours, minutes, step) : null };
}

/** `every 15 minutes on weekdays` goes round the clock from midnight, so it has to come out even. */
function roundTheClock(step: number): DayTimes {
  if (DAY_MINUTES % step !== 0 || (step > 60 ? step % 60 !== 0 : 60 % step !== 0)) {
    throw refusal('rhythm', 'uneven_rhythm', (say) => say.unevenRhythm);
  }
  const times = stepped(0, DAY_MINUTES - 1, step);
  return { times, rhythm: fieldsOf(times, step) };
}

function timesOfRhythm(group: Group, seconds: number, reading: Reading): DayTimes {
  const step = seconds / 60;
  if (!Number.isInteger(step)) {
    throw refusal('rhythm', 'seconds', (say) => say.wholeMinutes);
  }
  if (step >= DAY_MINUTES) throw refusal('rhythm', 'contradiction', (say) => say.longerThanDay);
  const hours = hoursOfDay(group, reading);
  if (group.minutes !== null) return atMinutes(hours, group.minutes, step);
  return hours === null ? roundTheClock(step) : betweenHours(hours, step);
}
