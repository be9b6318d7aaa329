import { byDay, combined, leavingOutAs, weekdaysOf } from './combine.ts';
import {
  instantOfDate,
  readRruleLines,
  wallOfDate,
  writeRruleLines,
  type IcalDate,
  type RruleLines,
} from './rrule/lines.ts';
import { parseSchedule } from './schedule.ts';
import type { RruleSchedule, Schedule } from './shapes.ts';
import { dayOfWall } from './time/calendar.ts';
import { exceptionsOf } from './words/describe.ts';
import type { Exception } from './words/facts.ts';

/** The rhythms and exceptions of a schedule one by one, as they are added and taken back. */
export interface Pieces {
  /** Each alone, without exceptions. */
  readonly rhythms: readonly Schedule[];
  /** Single slots beside them that are to come. */
  readonly moments: readonly number[];
  readonly exceptions: readonly Exception[];
}

export function piecesOf(schedule: Schedule, now: number): Pieces {
  if (schedule.kind !== 'rrule') return { rhythms: [schedule], moments: [], exceptions: [] };
  const { lines } = stored(schedule);
  const moments = lines.added.map((date) => instantOfDate(date, schedule.timezone)).filter((at) => at > now);
  const rhythms = lines.rules.map(({ body }) =>
    rewritten(schedule, { rules: [body], exceptions: [], excluded: [], added: [] }),
  );
  return { rhythms, moments, exceptions: exceptionsOf(schedule, now) };
}

function stored({ rrule, timezone }: RruleSchedule): { lines: RruleLines; start: number } {
  const lines = readRruleLines(rrule, timezone);
  return { lines, start: lines.start === null ? 0 : wallOfDate(lines.start, timezone) };
}

interface Rewriting {
  readonly rules?: readonly string[];
  readonly exceptions?: readonly string[];
  readonly excluded?: readonly IcalDate[];
  readonly added?: readonly IcalDate[];
}

/** The same start, and what is not named as it was. */
function rewritten(schedule: RruleSchedule, changes: Rewriting): Schedule {
  const { timezone } = schedule;
  const { lines, start } = stored(schedule);
  const rules = changes.rules ?? lines.rules.map(({ body }) => body);
  const exceptions = changes.exceptions ?? lines.exceptions.map(({ body }) => body);
  const { excluded, added } = { ...lines, ...changes };
  const rrule = writeRruleLines({ excluded, added }, timezone, { start, rules, exceptions });
  return parseSchedule({ kind: 'rrule', rrule, timezone }, start);
}

/** Null for the only one: without it nothing would run. */
export function withoutRhythm(schedule: Schedule, index: number): Schedule | null {
  if (schedule.kind !== 'rrule') return null;
  const rules = stored(schedule).lines.rules.map(({ body }) => body);
  return rules.length < 2 || rules[index] === undefined
    ? null
    : rewritten(schedule, { rules: rules.toSpliced(index, 1) });
}

/** Without what another schedule leaves out; a rhythm goes as a whole when none of its days of the week is left. */
export function withoutDaysAs(schedule: Schedule, other: Schedule, now: number): Schedule {
  const kept = other.kind === 'cron' ? weekdaysOf(other) : null;
  const { rhythms } = piecesOf(schedule, now);
  const left = (days: readonly number[] | null) => days?.filter((day) => kept?.includes(day) !== false) ?? null;
  const gone = rhythms.flatMap((rhythm, index) => (left(weekdaysOf(rhythm))?.length === 0 ? [index] : []));
  if (gone.length === 0 || gone.length === rhythms.length) return leavingOutAs(schedule, other, now);
  const rest = gone.toReversed().reduce((all, index) => withoutRhythm(all, index) ?? all, schedule);
  const isLeftOut = rhythms.every((rhythm, index) => {
    const days = weekdaysOf(rhythm);
    return gone.includes(index) || (days !== null && left(days)?.length === days.length);
  });
  return isLeftOut ? rest : leavingOutAs(rest, other, now);
}

/** Another rhythm in the place of these; the others, the single slots and the exceptions stay. */
export function withInstead(schedule: RruleSchedule, indexes: readonly number[], rhythm: Schedule, now: number) {
  const { timezone } = schedule;
  const { lines } = stored(schedule);
  const rules = lines.rules.map(({ body }) => body).filter((_, index) => !indexes.includes(index));
  if (rules.length > 0) {
    const [at = rules.length] = indexes;
    return inItsPlace(combined([rewritten(schedule, { rules }), rhythm], {}, { now }), { at, count: rules.length });
  }
  const moments = piecesOf(schedule, now).moments.map((onceAt) => ({ kind: 'once', onceAt, timezone }) as const);
  return combined([leavingOutAs(rhythm, schedule, now), ...moments], {}, { now });
}

/** Rhythms behind the first `count` are told where the old one was. */
function inItsPlace(schedule: Schedule, { at, count }: { readonly at: number; readonly count: number }): Schedule {
  if (schedule.kind !== 'rrule') return schedule;
  const rules = stored(schedule).lines.rules.map(({ body }) => body);
  return rewritten(schedule, { rules: rules.slice(0, count).toSpliced(at, 0, ...rules.slice(count)) });
}

/** The same rhythms, and one of them on fewer days of the week. */
export function withoutDays(schedule: RruleSchedule, index: number, days: readonly number[]): RruleSchedule {
  const { lines } = stored(schedule);
  const [rhythm] = piecesOf(schedule, 0).rhythms.slice(index);
  const kept = (rhythm === undefined ? null : weekdaysOf(rhythm))?.filter((day) => !days.includes(day)) ?? [];
  const rules = lines.rules.map(({ body }, at) => (at === index && kept.length > 0 ? onDays(body, kept) : body));
  const fewer = rewritten(schedule, { rules });
  return fewer.kind === 'rrule' ? fewer : schedule;
}

function onDays(body: string, weekdays: readonly number[]): string {
  const others = body.split(';').filter((part) => !part.startsWith('BYDAY='));
  return [...others, byDay(weekdays)].join(';').replace('FREQ=DAILY', 'FREQ=WEEKLY');
}

export function withoutMoment(schedule: Schedule, at: number): Schedule {
  if (schedule.kind !== 'rrule') return schedule;
  const { added } = stored(schedule).lines;
  return rewritten(schedule, { added: added.filter((date) => instantOfDate(date, schedule.timezone) !== at) });
}

export function withoutException(schedule: Schedule, exception: Exception): Schedule {
  if (schedule.kind !== 'rrule') return schedule;
  const { lines } = stored(schedule);
  if (exception.is === 'days')
    return rewritten(schedule, {
      exceptions: lines.exceptions.map(({ body }) => body).filter((body) => body !== exception.body),
    });
  const isTaken = (date: IcalDate) => {
    if (exception.is === 'range')
      return date.form === 'day' && exception.from <= dayOfWall(date.value) && dayOfWall(date.value) <= exception.to;
    return date.form !== 'day' && instantOfDate(date, schedule.timezone) === exception.at;
  };
  return rewritten(schedule, { excluded: lines.excluded.filter((date) => !isTaken(date)) });
}
