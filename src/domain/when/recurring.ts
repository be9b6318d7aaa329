import { parseSchedule, type Schedule } from '../schedule/schedule.ts';
import { DAY_MS, MINUTE_MS, clockText, iso } from '../schedule/time/calendar.ts';
import { durationText } from '../schedule/time/duration.ts';
import { resolveShifted } from '../schedule/time/zone.ts';
import { inDayPart } from './clock-time.ts';
import { refusal } from './cursor.ts';
import type { Days } from './days.ts';
import { type Draft, type EdgeDay, type Rhythm, dayOfEdge, type Setting, today } from './draft.ts';
import { type Bounds, MINUTES_OF_DAY, type Series, seriesSchedule } from './series.ts';

type Where = Pick<Series, 'weekdays' | 'monthDays' | 'months' | 'nth'>;

const TODAY: EdgeDay = { kind: 'ahead', days: 0, night: false };
const NOWHERE: Where = { weekdays: [], monthDays: [], months: [], nth: null };

function whereOf(days: Days | null): Where {
  switch (days?.kind) {
    case 'weekdays':
      return { ...NOWHERE, weekdays: days.weekdays };
    case 'monthDays':
      return { ...NOWHERE, monthDays: days.days };
    case 'date':
      return { ...NOWHERE, monthDays: [days.date.day], months: [days.date.month] };
    case 'nth':
      return {
        ...NOWHERE,
        nth: { ordinals: days.ordinals, weekday: days.weekday },
        months: days.month === null ? [] : [days.month],
      };
    default:
      return NOWHERE;
  }
}

function unitOf(days: Days | null): Series['unit'] {
  if (days?.kind === 'weekdays') return 'week';
  if (days?.kind === 'date' || (days?.kind === 'nth' && days.month !== null)) return 'year';
  return days === null ? 'day' : 'month';
}

function daysOf(where: Where): number {
  return where.nth?.ordinals.length ?? Math.max(where.weekdays.length, where.monthDays.length);
}

function checkDays(draft: Draft, rhythm: Extract<Rhythm, { kind: 'calendar' }>, where: Where): void {
  if (rhythm.unit !== 'day' && draft.days === null) {
    const missing = {
      week: 'weekday, as in "on monday"',
      month: 'day, as in "on the 1st"',
      year: 'date, as in "on 24 december"',
    };
    throw refusal(
      rhythm.unit,
      'no_day',
      `It is not said on which day of the ${rhythm.unit}; add the ${missing[rhythm.unit]}.`,
    );
  }
  const { promised } = draft;
  if (promised?.of === 'days' && daysOf(where) !== promised.count) {
    throw refusal(
      rhythm.unit === 'day' ? 'hour' : rhythm.unit,
      'other_count',
      `Name ${promised.count} days, as many as are promised.`,
    );
  }
}

function clockTimes({ times, part, promised, days }: Draft): number[] {
  if (times === null) {
    throw refusal('hour', 'no_time', 'It is not said at what time of the day; add it, as in "at 9".');
  }
  if (times.some(({ midnight }) => midnight) && days !== null) {
    throw refusal(
      'clock',
      'ambiguous_midnight',
      'A day has a midnight at its start and one at its end; write 00:00 or 23:59.',
    );
  }
  const minutes = times.map((time) => (part === null ? time.minute : inDayPart(time, part)));
  const unique = [...new Set(minutes)].sort((a, b) => a - b);
  if (promised?.of === 'times' && unique.length !== promised.count) {
    throw refusal('clocks', 'other_count', `Name ${promised.count} times of the day, as many as are promised.`);
  }
  return unique;
}

function boundsOf(draft: Draft, setting: Setting): Bounds {
  const starting = draft.starting === null ? null : dayOfEdge(draft.starting, setting);
  const until = draft.until === null ? null : dayOfEdge(draft.until, setting);
  if (until !== null && draft.count !== null) {
    throw refusal('end', 'two_ends', 'A series has one end: a last day or a number of runs.');
  }
  if (until !== null && until < (starting ?? today(setting))) {
    throw refusal('end', 'past', 'The series would end before it begins.');
  }
  if (starting !== null && starting < today(setting)) {
    throw refusal('end', 'past', 'The day on which the series would start is in the past.');
  }
  return { starting, until, count: draft.count };
}

function isBounded({ starting, until, count }: Draft): boolean {
  return starting !== null || until !== null || count !== null;
}

function calendarSchedule(draft: Draft, rhythm: Extract<Rhythm, { kind: 'calendar' }>, setting: Setting): Schedule {
  const where = whereOf(draft.days);
  checkDays(draft, rhythm, where);
  const unit = rhythm.unit === 'week' || draft.days === null ? rhythm.unit : unitOf(draft.days);
  const series: Series = { unit, every: rhythm.every, ...where, times: clockTimes(draft), rhythm: null };
  return seriesSchedule(series, boundsOf(draft, setting), setting);
}

function refuseBounds(draft: Draft, sentence: string): void {
  if (isBounded(draft)) throw refusal('end', 'endless', sentence);
}

function refusePastMidnight(draft: Draft): void {
  const isPastMidnight = draft.hours !== null && draft.hours.from.minute > draft.hours.to.minute;
  if (isPastMidnight && (draft.days !== null || isBounded(draft))) {
    throw refusal(
      'rhythm',
      'past_midnight',
      'Hours that go past midnight belong to two days; leave the days out or end at 23:59.',
    );
  }
}

const ENDLESS = 'A rhythm that counts from a moment has no last day here; name times of the day instead.';

/** `every 2 hours starting tomorrow at 8`: the day alone does not say from which moment to count. */
function startedInterval(draft: Draft, seconds: number, setting: Setting): Schedule {
  refuseBounds({ ...draft, starting: null }, ENDLESS);
  const [minute, more] = clockTimes({ ...draft, days: draft.starting });
  if (minute === undefined || more !== undefined) {
    throw refusal('rhythm', 'several_times', 'A rhythm counts from one moment.');
  }
  const { timezone, now } = setting;
  const start = resolveShifted(timezone, dayOfEdge(draft.starting ?? TODAY, setting) * DAY_MS + minute * MINUTE_MS);
  const interval = durationText(seconds * 1000);
  return parseSchedule({ kind: 'interval', interval, start_at: iso(start), timezone }, now);
}

/** Without a place on the clock a rhythm counts from the moment of creation; with one it is part of each day. */
function elapsedSchedule(draft: Draft, seconds: number, setting: Setting): Schedule {
  const isFree = draft.hours === null && draft.minutes === null && draft.days === null;
  if (isFree && draft.starting !== null) return startedInterval(draft, seconds, setting);
  if (draft.times !== null || draft.part !== null) {
    throw refusal(
      'rhythm',
      'contradiction',
      'A rhythm of hours or minutes has no single time of the day; say from when to when it goes.',
    );
  }
  if (isFree) {
    refuseBounds(draft, ENDLESS);
    const { timezone, now } = setting;
    return parseSchedule({ kind: 'interval', interval: durationText(seconds * 1000), timezone }, now);
  }
  refusePastMidnight(draft);
  const { times, rhythm }: DayTimes = timesOfRhythm(draft, seconds);
  if (times.length === MINUTES_OF_DAY) refuseBounds(draft, 'A run every minute has no first or last day here.');
  const series: Series = { unit: unitOf(draft.days), every: 1, ...whereOf(draft.days), times, rhythm };
  return seriesSchedule(series, boundsOf(draft, setting), setting);
}

/** The schedule of a draft that names a series. */
export function recurringSchedule(draft: Draft, setting: Setting): Schedule {
  const { rhythm, days } = draft;
  if (rhythm?.kind === 'elapsed') return elapsedSchedule(draft, rhythm.seconds, setting);
  if (rhythm !== null) return calendarSchedule(draft, rhythm, setting);
  const unit = unitOf(days);
  return calendarSchedule(draft, { kind: 'calendar', unit, every: 1 }, setting);
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
function betweenHours({ from, to }: NonNullable<Draft['hours']>, step: number): DayTimes {
  const [begin, end] = [from.minute, to.minute];
  if (to.open && begin <= DAY_MINUTES / 2 && begin > end) {
    throw refusal(
      'rhythm',
      'ambiguous_half',
      `From ${clockText(begin * 60)} to ${clockText(end * 60)} goes through the night; say am and pm, or write the hours on the clock of 24.`,
    );
  }
  if (begin <= end) {
    const times = stepped(begin, end, step);
    return { times, rhythm: fieldsOf(times, step) };
  }
  const times = stepped(begin, end + DAY_MINUTES, step).map((time) => time % DAY_MINUTES);
  return { times: [...new Set(times)].sort((a, b) => a - b), rhythm: null };
}

function atMinutes(draft: Draft, minutes: readonly number[], step: number): DayTimes {
  if (step !== 60 && draft.hours === null) {
    throw refusal('rhythm', 'which_hours', 'It is not said in which hours; say from when to when.');
  }
  if (step % 60 !== 0) throw refusal('rhythm', 'contradiction', 'Minutes of the hour go with a rhythm of hours.');
  const [from, to] = draft.hours === null ? [0, 23 * 60] : [draft.hours.from.minute, draft.hours.to.minute];
  if (from % 60 !== 0 || to % 60 !== 0 || from > to) {
    throw refusal('rhythm', 'contradiction', 'The minutes are named twice; write the hours without minutes.');
  }
  const hours = stepped(from, to, step);
  const times = hours.flatMap((hour) => minutes.map((minute) => hour + minute));
  const within = draft.hours === null ? times : times.filter((time) => time <= to);
  const isFull = within.length === times.length;
  return { times: within, rhythm: isFull ? hourSteps(hours, minutes, step) : null };
}

/** `every 15 minutes on weekdays` goes round the clock from midnight, so it has to come out even. */
function roundTheClock(step: number): DayTimes {
  if (DAY_MINUTES % step !== 0 || (step > 60 ? step % 60 !== 0 : 60 % step !== 0)) {
    throw refusal(
      'rhythm',
      'uneven_rhythm',
      'This rhythm does not come out even with the day; say from when to when it goes.',
    );
  }
  const times = stepped(0, DAY_MINUTES - 1, step);
  return { times, rhythm: fieldsOf(times, step) };
}

function timesOfRhythm(draft: Draft, seconds: number): DayTimes {
  const step = seconds / 60;
  if (!Number.isInteger(step)) {
    throw refusal('rhythm', 'seconds', 'Inside certain hours or days a rhythm has whole minutes.');
  }
  if (step >= DAY_MINUTES)
    throw refusal('rhythm', 'contradiction', 'This rhythm is longer than the day; name times of the day.');
  if (draft.minutes !== null) return atMinutes(draft, draft.minutes, step);
  return draft.hours === null ? roundTheClock(step) : betweenHours(draft.hours, step);
}
