import { AppError } from '../../errors.ts';
import { combined } from '../../schedule/combine.ts';
import { nextSlot, parseSchedule, type Schedule } from '../../schedule/schedule.ts';
import { dayOfWall, iso, MINUTE_MS, weekdayOf } from '../../schedule/time/calendar.ts';
import { toWall } from '../../schedule/time/zone.ts';
import type { Say } from '../english.ts';
import { Question, refusal, type Way } from '../faults.ts';
import { type Days, isOneWeekday } from '../pieces/days.ts';
import { isShort } from '../pieces/piece.ts';
import { type Bounds, boundsOf, exceptionsOf, instantOf } from './edges.ts';
import { momentsOf } from './once.ts';
import { contradiction, type Group, isStepped, isTimed, type Plan } from './plan.ts';
import { dayEdit, dayLabel, type Reading, today } from './reading.ts';
import { type Context, recurringSchedule } from './recurring.ts';
import { askDaily, askRangeOfDays, takeStart } from './spans.ts';
import { narrowed } from './times.ts';

/** Days that come back by themselves, without an "every". */
function comesBack(days: Days | null): boolean {
  if (days?.kind === 'weekdays') return weekdaysComeBack(days);
  if (days?.kind === 'monthDays') return days.of === 'month' || days.of === 'quarter' || days.days.length > 1;
  return days?.kind === 'nth' && (days.of === 'month' || days.of === 'quarter' || days.ordinals.length > 1);
}

function weekdaysComeBack(days: Extract<Days, { kind: 'weekdays' }>): boolean {
  return days.which === 'any' && (days.plural || (days.weekdays.length > 1 && !isWeekend(days)));
}

/** "This weekend" is one day or the other. */
function isWeekend({ weekdays }: Extract<Days, { kind: 'weekdays' }>): boolean {
  return weekdays.length === 2 && weekdays[0] === 6 && weekdays[1] === 0;
}

function isSeries({ rhythm, days, isPartPlural }: Group): boolean {
  return rhythm !== null || isPartPlural || comesBack(days);
}

/** "Mon, wed and fri at 7" is hardly meant once, and "end of the month" may be. */
function noteSeries({ rhythm, days, daysAt, end }: Group, reading: Reading): void {
  if (rhythm !== null || days === null || daysAt === null) return;
  if (days.kind === 'weekdays' && !days.plural)
    reading.notes.push({ what: 'kind', text: (say) => say.everyWeek, other: null });
  const isMonth = days.kind === 'monthDays' && days.of === 'month';
  if (!isMonth) return;
  const once = reading.whole
    .slice(daysAt.begin, daysAt.end)
    .replace(/\b(?:the|each|every|a)\s+month\s*$/i, 'this month');
  if (!/every|each/i.test(reading.whole.slice(daysAt.begin, end)) && once.endsWith('this month')) {
    reading.notes.push({
      what: 'kind',
      text: (say) => say.everyMonth,
      other: {
        text: (say) => say.offers.onceOnly,
        edits: [{ begin: daysAt.begin, end: daysAt.end, text: once.trim() }],
      },
    });
  }
}

/** `5, 7 and 9 december` and `tuesday and friday next week` are days of their own where they come once. */
function eachDate(group: Group, reading: Reading): readonly Group[] {
  const { days } = group;
  if (days?.kind === 'weekdays' && days.weekdays.length > 1 && days.which !== 'any' && !isWeekend(days)) {
    if (days.which === 'next') askNext(days, group, reading);
    const which = days.which === 'next' ? 'after' : days.which;
    return days.weekdays.map((weekday) => ({ ...group, days: { ...days, which, weekdays: [weekday] } }));
  }
  if (group.days?.kind !== 'date') return [group];
  const { also = [], ...one } = group.days;
  return [one.date.day, ...also].map((day) => ({ ...group, days: { ...one, date: { ...one.date, day } } }));
}

/** "Next thursday and friday", said on a Wednesday, are the coming two or those of the week after this one. */
function askNext({ weekdays }: Extract<Days, { kind: 'weekdays' }>, { daysAt }: Group, { setting }: Reading): void {
  const from = today(setting);
  const monday = from + ((8 - weekdayOf(from)) % 7 || 7);
  const coming = weekdays.map((weekday) => from + ((weekday - weekdayOf(from) + 7) % 7));
  const [first = from] = coming;
  if (daysAt === null || first === from || first >= monday) return;
  const ways = [coming, weekdays.map((weekday) => monday + ((weekday + 6) % 7))].map((days): Way => ({
    text: (say) => days.map((day) => dayLabel(day, setting)(say)).join(', '),
    edits: [{ ...daysAt, text: days.map((day) => dayEdit(daysAt, day).text).join(' and ') }],
  }));
  throw new Question((say) => say.whichWeekday(weekdayOf(first)), ways);
}

/** Two instants of one task are told by the dates that it has beside its rule. */
function onceSchedules(group: Group, { reading }: Context): readonly Schedule[] {
  const { timezone, now } = reading.setting;
  const moments = eachDate(group, reading).flatMap((one) => momentsOf(one, reading));
  const isWait = group.wait !== null && group.times === null && group.part === null;
  const start = isWait ? { start_at: iso(Math.floor(now / MINUTE_MS) * MINUTE_MS) } : {};
  return moments.map((at) => parseSchedule({ kind: 'once', once_at: iso(at), ...start, timezone }, now));
}

function askRhythm({ wait, isLength, begin, end }: Group, reading: Reading): void {
  if (!isLength || wait === null) return;
  const said = reading.whole.slice(begin, end).trim();
  // "A week" is waited for; "1d" and "30m" are figures of either.
  if (!isShort(wait) && !/^\d/.test(said)) return;
  throw new Question(
    (say) => say.onceOrEvery(said),
    [
      { text: (say) => say.offers.onceIn(said), edits: [{ begin, end, text: `in ${said}` }] },
      { text: (say) => say.offers.every(said), edits: [{ begin, end, text: `every ${said}` }] },
    ],
  );
}

/** The schedule that a plan means. What it assumes is noted in the reading. */
export function meaningOf(plan: Plan, reading: Reading): Schedule {
  const { groups, except } = plan;
  const { now } = reading.setting;
  if (groups.length === 0) throw refusal('any', 'unknown', (say) => say.noTime);
  for (const group of groups) {
    askRhythm(group, reading);
    takeStart(group, isSeries(group), reading);
  }
  complete(plan, reading);
  askWeekly(plan, reading);
  const isOnce = !groups.some(isSeries);
  if (isOnce) asHour(plan);
  if (isOnce && except.length > 0) throw refusal('week', 'no_series', (say) => say.exceptionsOfSeries);
  if (isOnce && isBounded(plan)) return asSeries(plan, reading);
  const context = { reading, bounds: countedBounds(plan, reading) };
  const every = narrowed(
    groups.map((group) => besideSeries(group, isOnce, reading)),
    reading,
  );
  const phase = phaseOf(every, context);
  const all = every.flatMap((group) => {
    if (!isSeries(group)) return onceSchedules(group, context);
    noteSeries(group, reading);
    return seriesOf(group, { ...context, phase }, groups.length > 1);
  });
  if (all.length === 0) throw refusal('end', 'never', (say) => say.neverRuns);
  return checked(combined(all, exceptionsOf(except, reading), { now, isOneStart: true }), now);
}

/** "Weekdays at 9 and weekends at 11 until friday": of several rhythms, one may have no day before the end. */
function seriesOf(group: Group, context: Context, isOneOfMany: boolean): readonly Schedule[] {
  try {
    return [recurringSchedule(group, context)];
  } catch (error) {
    if (isOneOfMany && error instanceof AppError && error.details?.['reason'] === 'never') return [];
    throw error;
  }
}

/** Days that share their weeks or months count them from the first run of all, and all of them from a start in the past. */
function phaseOf(groups: readonly Group[], { reading, bounds }: Context): number | null {
  const { counted } = bounds;
  const isShared = ({ rhythm }: Group) => groups.filter((other) => other.rhythm === rhythm).length > 1;
  const stepped = groups.filter((group) => isStepped(group.rhythm) && (counted !== null || isShared(group)));
  if (stepped.length === 0) return null;
  const now = counted === null ? reading.setting.now : instantOf(counted, reading) - 1;
  const then = { reading: { ...reading, setting: { ...reading.setting, now }, notes: [] }, bounds };
  const firsts = stepped.map((group) => nextSlot(recurringSchedule(group, then), now) ?? now);
  return dayOfWall(toWall(reading.setting.timezone, Math.min(...firsts)));
}

/** "Weekdays 9am, saturday 10am": a lone weekday beside a series comes back like the rest of it. */
function besideSeries(group: Group, isOnce: boolean, { notes }: Reading): Group {
  const { days } = group;
  if (isOnce || isSeries(group) || days?.kind !== 'weekdays' || days.which !== 'any') return group;
  if (!notes.some(({ what }) => what === 'kind'))
    notes.push({ what: 'kind', text: (say) => say.everyWeek, other: null });
  return { ...group, days: { ...days, plural: true } };
}

/** A rule counts its own runs; those of several rhythms are counted by the task. */
function countedBounds(plan: Plan, reading: Reading): Bounds {
  const bounds = boundsOf(plan, reading);
  if (plan.groups.length < 2) return bounds;
  reading.maxRuns = bounds.count;
  return { ...bounds, count: null };
}

/** "Tue 9am, thu 5pm" is meant for every week, or for the coming days. */
function askWeekly({ groups }: Plan, reading: Reading): void {
  const { setting } = reading;
  const edits = groups.flatMap((group) => {
    const { days, daysAt, rhythm } = group;
    if (rhythm !== null || daysAt === null || days === null || !isOneWeekday(days)) return [];
    const [moment = setting.now] = momentsOf(group, { ...reading, notes: [] });
    return [dayEdit(daysAt, dayOfWall(toWall(setting.timezone, moment)))];
  });
  const [first] = edits;
  if (first === undefined || edits.length < 2 || edits.length !== groups.length) return;
  throw new Question(
    (say) => say.weeklyOrOnce,
    [
      { text: (say) => say.offers.everyWeek, edits: [{ begin: first.begin, end: first.begin, text: 'every ' }] },
      { text: (say) => say.offers.onceEach, edits },
    ],
  );
}

/** "Pub friday from 7" says the hour of a day that comes once. */
function asHour(plan: Plan): void {
  const { groups, starting, until, count, lasting } = plan;
  const [first, more] = groups;
  const isHour = starting !== null && starting.time !== null && starting.days === null;
  if (!isHour || first === undefined || first.days === null || first.times === null || more !== undefined) return;
  if (until === null && count === null && lasting === null) plan.starting = null;
}

function isBounded({ until, count, lasting, starting }: Plan): boolean {
  return until !== null || count !== null || lasting !== null || starting !== null;
}

/** Groups lend each other what one of them says for all. */
function complete({ groups, starting, until }: Plan, reading: Reading): void {
  const [first, more] = groups;
  if (first === undefined) return;
  // "Daily until christmas at 6pm": an end by days needs no hour, and the series does.
  const endsAt = until === null || until.days === null || first.part !== null ? null : until.time;
  const startsAt = starting?.time ?? endsAt;
  if (startsAt !== null && first.times === null && first.wait === null && first.rhythm?.kind !== 'elapsed')
    first.times = [startsAt];
  asDaily(groups, reading);
  if (more === undefined) return;
  if (groups.some(({ wait }) => wait !== null)) throw contradiction();
  if (groups.some(isSeries)) inheritDays(groups);
  inheritTimes(groups);
}

/** "At 8am and 8pm" is hardly meant once. */
function asDaily(groups: readonly Group[], reading: Reading): void {
  const count = groups.reduce((sum, { times }) => sum + (times?.length ?? 0), 0);
  const isPlain = groups.every(({ days, wait, rhythm }) => days === null && wait === null && rhythm === null);
  if (!isPlain || count < 2) return;
  reading.notes.push({ what: 'kind', text: (say) => say.everyDay, other: onceEach(groups, reading) });
  for (const group of groups) group.rhythm = DAILY;
}

/** The coming moment of each of these times. */
function onceEach(groups: readonly Group[], reading: Reading): Way | null {
  const { timezone } = reading.setting;
  const edits = groups.flatMap((group) =>
    (group.times ?? []).map((time) => {
      const [moment = 0] = momentsOf({ ...group, times: [time] }, { ...reading, notes: [] });
      const { text } = dayEdit({ begin: time.end, end: time.end }, dayOfWall(toWall(timezone, moment)));
      return { begin: time.end, end: time.end, text: ` ${text}` };
    }),
  );
  return { text: (say) => say.offers.onceEach, edits };
}

const DAILY = { kind: 'calendar', unit: 'day', every: 1, quarters: false } as const;

/** In "at 8 every day and at 20" the second time has the days of the first, and "morning and evening, every day" has one for both. */
function inheritDays(groups: readonly Group[]): void {
  for (const [index, group] of groups.entries()) {
    const from = groups[index - 1] ?? groups[1];
    if (from === undefined || group.rhythm !== null || group.days !== null || group.wait !== null) continue;
    Object.assign(group, { rhythm: from.rhythm, days: from.days, daysAt: from.daysAt });
  }
}

/** "Every weekday and every saturday at 9" names one time for both. */
function inheritTimes(groups: readonly Group[]): void {
  for (const [index, group] of groups.entries()) {
    if (group.part !== null) group.times ??= timesOfNextPart(groups[index + 1]);
    if (isTimed(group) || group.rhythm?.kind === 'elapsed') continue;
    const later = groups.slice(index + 1).find((other) => other.times !== null);
    if (isListed(groups, index)) {
      const before = groups.slice(0, index).findLast((other) => other.times !== null);
      group.times = (later ?? before)?.times ?? null;
      continue;
    }
    if (later === undefined || !isSeries(later) || !isSeries(group)) throw contradiction();
    group.times = later.times;
  }
}

/** In "mornings and evenings at 8" the hour is that of both. */
function timesOfNextPart(next: Group | undefined): Group['times'] {
  const { part = null, times = null, begin = 0 } = next ?? {};
  return part !== null && times?.every((time) => time.open && time.begin > begin) === true ? times : null;
}

/** Days of one list share their time: "tomorrow and friday at 9". */
function isListed(groups: readonly Group[], index: number): boolean {
  return groups[index]?.isList === true || groups[index + 1]?.isList === true;
}

function checked(schedule: Schedule, now: number): Schedule {
  if (schedule.kind === 'rrule' && nextSlot(schedule, now) === null) {
    throw refusal('end', 'never', (say) => say.neverRuns);
  }
  return schedule;
}

/** Only a series has an end: "monday at 9 for 5 weeks" is one, and "tomorrow at 9 until friday" may be one every day. */
function asSeries(plan: Plan, reading: Reading): Schedule {
  const [first, ...others] = plan.groups;
  if (first === undefined || first.wait !== null) throw refusal('end', 'no_series', (say) => say.boundsOfSeries);
  const { days } = first;
  const meant = (text: Say, group: Group) => {
    reading.notes.push({ what: 'kind', text, other: null });
    return meaningOf({ ...plan, groups: [group, ...others] }, reading);
  };
  if (days?.kind === 'weekdays' && days.which === 'any') {
    return meant((say) => say.everyWeek, { ...first, days: { ...days, plural: true } });
  }
  const isToday = days?.kind === 'ahead' && days.days === 0 && (days.months ?? 0) === 0;
  if (plan.rangeAt !== null && days === null) return askRangeOfDays(plan, plan.rangeAt, reading);
  if (days === null || isToday) return meant((say) => say.everyDay, { ...first, days: null, rhythm: DAILY });
  return askDaily(plan, first, days, reading);
}
