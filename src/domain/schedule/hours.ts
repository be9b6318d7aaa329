import { fieldsOf, parseCron } from './cron-fields.ts';
import { readRruleLines, type RruleLines, type RuleLine, wallOfDate, writeRruleLines } from './rrule/lines.ts';
import { inputOf } from './schedule.ts';
import type { IntervalSchedule, RruleSchedule, Schedule, ScheduleInput } from './shapes.ts';
import { DAY_MS, dateText, dayOfWall, MINUTE_MS } from './time/calendar.ts';
import { parseDuration } from './time/duration.ts';
import { resolveShifted, toWall } from './time/zone.ts';

/** At which times of the day a schedule runs, and the same days at other times. Times are minutes since midnight. */

/** Ascending; null for a rhythm, which has no times of the day that somebody chose. */
export function hoursOf(schedule: Schedule): readonly number[] | null {
  switch (schedule.kind) {
    case 'once':
      return [minuteOf(toWall(schedule.timezone, schedule.onceAt))];
    case 'cron': {
      const { fixedTimes, hours, minutes } = parseCron(schedule.cron);
      return fixedTimes ? gridTimes({ hours, minutes }) : null;
    }
    case 'rrule':
      return hoursOfRule(readRruleLines(schedule.rrule, schedule.timezone), schedule);
    case 'interval':
      return isCalendar(schedule) ? [minuteOf(toWall(schedule.timezone, schedule.startAt))] : null;
  }
}

/** A schedule on the same days at these times; null where none of its kind says that. */
export function withHours(schedule: Schedule, times: readonly number[]): ScheduleInput | null {
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const [first] = sorted;
  if (first === undefined || hoursOf(schedule) === null) return null;
  const { timezone } = schedule;
  switch (schedule.kind) {
    case 'once':
      if (sorted.length > 1) return null;
      return inputOf({ kind: 'once', onceAt: movedTo(schedule.onceAt, timezone, first), timezone });
    case 'interval':
      if (sorted.length > 1) return null;
      return inputOf({ ...schedule, startAt: movedTo(schedule.startAt, timezone, first) });
    case 'rrule':
      return ruleWithHours(schedule, times);
    case 'cron': {
      const grid = gridOf(sorted);
      const days = fieldsOf(schedule.cron).slice(2).join(' ');
      return grid && { ...schedule, cron: `${grid.minutes.join()} ${grid.hours.join()} ${days}` };
    }
  }
}

interface Grid {
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
}

function gridTimes({ hours, minutes }: Grid): readonly number[] {
  return hours.flatMap((hour) => minutes.map((minute) => hour * 60 + minute)).sort((a, b) => a - b);
}

/** Null where the times are not every hour with every minute: no kind of schedule says that by its fields alone. */
function gridOf(times: readonly number[]): Grid | null {
  const unique = (values: readonly number[]) => [...new Set(values)].sort((a, b) => a - b);
  const hours = unique(times.map((time) => Math.floor(time / 60)));
  const minutes = unique(times.map((time) => time % 60));
  return hours.length * minutes.length === times.length ? { hours, minutes } : null;
}

function minuteOf(wall: number): number {
  return Math.floor((wall - dayOfWall(wall) * DAY_MS) / MINUTE_MS);
}

/** On the same day of the zone. */
function movedTo(instant: number, timezone: string, minute: number): number {
  return resolveShifted(timezone, dayOfWall(toWall(timezone, instant)) * DAY_MS + minute * MINUTE_MS);
}

/** Days, weeks and months keep the hour of the anchor; elapsed time, and a wait after the last finish, have none. */
function isCalendar({ interval, from }: IntervalSchedule): boolean {
  return from === 'start' && parseDuration(interval).clockMs === 0;
}

const stepped: readonly string[] = ['SECONDLY', 'MINUTELY', 'HOURLY'];

/** Of all rhythms; null where one of them has none. */
function hoursOfRule({ rules, start }: RruleLines, { timezone }: RruleSchedule): readonly number[] | null {
  if (start === null) return null;
  const all: number[] = [];
  for (const rule of rules) {
    const own = hoursOfLine(rule, wallOfDate(start, timezone));
    if (own === null) return null;
    all.push(...own);
  }
  return [...new Set(all)].sort((a, b) => a - b);
}

function hoursOfLine({ parts }: RuleLine, start: number): readonly number[] | null {
  if (stepped.includes(parts.frequency) || parts.seconds.length > 1) return null;
  const own = minuteOf(start);
  const hours = parts.hours.length === 0 ? [Math.floor(own / 60)] : parts.hours;
  const minutes = parts.minutes.length === 0 ? [own % 60] : parts.minutes;
  const times = gridTimes({ hours, minutes });
  // Positions among several times of a day belong to just these times.
  return times.length > 1 && parts.positions.length > 0 ? null : times;
}

const clockParts = /^BY(?:HOUR|MINUTE|SECOND)=/;

/** One time is that of all rhythms; as many as there were take the place of the old ones, each of its own. */
function ruleWithHours(schedule: RruleSchedule, times: readonly number[]): ScheduleInput | null {
  const { timezone } = schedule;
  const lines = readRruleLines(schedule.rrule, timezone);
  const old = hoursOfRule(lines, schedule);
  if (old === null || lines.start === null) return null;
  // Single dates that were added or taken out are told with their own times.
  if (lines.added.length > 0 || lines.excluded.some(({ form }) => form !== 'day')) return null;
  if (times.length > 1 && times.length !== old.length && lines.rules.length > 1) return null;
  const wall = wallOfDate(lines.start, timezone);
  const rules: string[] = [];
  for (const line of lines.rules) {
    const own = hoursOfLine(line, wall) ?? [];
    const moved = times.length === old.length ? own.map((time) => times[old.indexOf(time)] ?? time) : times;
    const body = lineWithHours(line, { own, times: moved }, timezone);
    if (body === null) return null;
    rules.push(body);
  }
  const start = startWall(
    wall,
    old,
    [...times].sort((a, b) => a - b),
  );
  const exceptions = lines.exceptions.map(({ body }) => body);
  return { kind: 'rrule', rrule: writeRruleLines(lines, timezone, { start, rules, exceptions }), timezone };
}

function lineWithHours(
  line: RuleLine,
  { own, times }: { own: readonly number[]; times: readonly number[] },
  timezone: string,
): string | null {
  const grid = gridOf([...new Set(times)]);
  const until = untilDay(line, own, timezone);
  if (grid === null || until === 'unclear') return null;
  if (times.length > 1 && line.parts.positions.length > 0) return null;
  const kept = line.body.split(';').filter((part) => !clockParts.test(part) && !part.startsWith('UNTIL='));
  const clock = [`BYHOUR=${grid.hours.join()}`, `BYMINUTE=${grid.minutes.join()}`, 'BYSECOND=0'];
  const end = until === null ? [] : [`UNTIL=${dateText(until).replaceAll('-', '')}`];
  return [...kept, ...clock, ...end].join(';');
}

/** A rule that begins with a run begins with it at the new time; where it begins between two runs, it goes on so. */
function startWall(wall: number, old: readonly number[], times: readonly number[]): number {
  const index = old.indexOf(minuteOf(wall));
  const time = index === 0 ? times[0] : times.at(-1);
  return index < 0 || time === undefined ? wall : dayOfWall(wall) * DAY_MS + time * MINUTE_MS;
}

/** The last day that has a run; with several times on it nobody can say which of the new ones was to be the last. */
function untilDay({ until }: RuleLine, old: readonly number[], timezone: string): number | 'unclear' | null {
  if (until === null) return null;
  const wall = wallOfDate(until, timezone);
  if (until.form === 'day') return dayOfWall(wall);
  const [time, more] = old;
  if (time === undefined || more !== undefined) return 'unclear';
  return minuteOf(wall) >= time ? dayOfWall(wall) : dayOfWall(wall) - 1;
}
