import { combined } from '../../schedule/combine.ts';
import { nextSlot, parseSchedule, type Schedule } from '../../schedule/schedule.ts';
import { iso } from '../../schedule/time/calendar.ts';
import { Question, refusal } from '../faults.ts';
import { spanOf } from '../pieces/amount.ts';
import type { Days } from '../pieces/days.ts';
import { isShort } from '../pieces/piece.ts';
import { boundsOf, exceptionsOf } from './edges.ts';
import { momentsOf } from './once.ts';
import type { Group, Plan } from './plan.ts';
import { clock, dayLabel, type Reading, today } from './reading.ts';
import { type Context, recurringSchedule } from './recurring.ts';

/** Days that come back by themselves, without an "every". */
function comesBack(days: Days | null): boolean {
  if (days?.kind === 'weekdays') return days.plural || (days.weekdays.length > 1 && !isWeekend(days));
  if (days?.kind === 'monthDays') return days.of === 'month' || days.of === 'quarter' || days.days.length > 1;
  return days?.kind === 'nth' && (days.of === 'month' || days.of === 'quarter' || days.ordinals.length > 1);
}

/** "This weekend" is one day or the other. */
function isWeekend({ weekdays }: Extract<Days, { kind: 'weekdays' }>): boolean {
  return weekdays.length === 2 && weekdays.includes(6) && weekdays.includes(0);
}

function isSeries({ rhythm, days, isPartPlural }: Group): boolean {
  return rhythm !== null || isPartPlural || comesBack(days);
}

/** "Mon, wed and fri at 7" is hardly meant once, and "end of the month" may be. */
function noteSeries({ rhythm, days, daysAt, end }: Group, reading: Reading): void {
  if (rhythm !== null || days === null || daysAt === null) return;
  if (days.kind === 'weekdays' && !days.plural) reading.notes.push({ what: 'kind', text: 'every week', other: null });
  const isMonth = days.kind === 'monthDays' && days.of === 'month';
  if (!isMonth) return;
  const once = reading.whole
    .slice(daysAt.begin, daysAt.end)
    .replace(/\b(?:the|each|every|a)\s+month\s*$/i, 'this month');
  if (!/every|each/i.test(reading.whole.slice(daysAt.begin, end)) && /this month$/.test(once)) {
    reading.notes.push({
      what: 'kind',
      text: 'every month',
      other: { text: 'Once', edits: [{ begin: daysAt.begin, end: daysAt.end, text: once.trim() }] },
    });
  }
}

/** Two instants of one task are told by the dates that it has beside its rule. */
function onceSchedules(group: Group, { reading }: Context): readonly Schedule[] {
  const { timezone, now } = reading.setting;
  return momentsOf(group, reading).map((at) => parseSchedule({ kind: 'once', once_at: iso(at), timezone }, now));
}

function askRhythm({ wait, begin, end }: Group, reading: Reading): void {
  if (wait === null || !isShort(wait)) return;
  const said = reading.whole.slice(begin, end).trim();
  if (/^(?:in|after|within|timer|set)\b|\b(?:now|later|time)$/i.test(said)) return;
  throw new Question(`Once, in ${said}, or every ${said}?`, [
    { text: `Once, in ${said}`, edits: [{ begin, end, text: `in ${said}` }] },
    { text: `Every ${said}`, edits: [{ begin, end, text: `every ${said}` }] },
  ]);
}

/** A range of hours on a day is where something begins and ends; a message comes at one of the two. */
function askRange({ hours, rhythm }: Group, { whole }: Reading): void {
  if (hours === null || rhythm?.kind === 'elapsed') return;
  const { from, to } = hours;
  const begin = whole.slice(0, from.begin).replace(/(?:from|between)\s*$/i, '').length;
  const said = whole.slice(from.begin, to.end);
  const way = (minute: number) => ({
    text: `At ${clock(minute)}`,
    edits: [
      {
        begin,
        end: to.end,
        text: `${begin === 0 ? '' : ' '}at ${clock(minute)}`.replace(
          /^ /,
          /\s$/.test(whole.slice(0, begin)) ? '' : ' ',
        ),
      },
      { begin: whole.length, end: whole.length, text: `\n(${said})` },
    ],
  });
  throw new Question('When should it come?', [way(from.minute), way(to.minute)]);
}

/** The schedule that a plan means. What it assumes is noted in the reading. */
export function meaningOf(plan: Plan, reading: Reading): Schedule {
  const { groups, except, starting } = plan;
  const { now } = reading.setting;
  const [first] = groups;
  if (first === undefined) throw refusal('any', 'unknown', 'There is no time in this.');
  for (const group of groups) {
    askRhythm(group, reading);
    askRange(group, reading);
  }
  if (
    starting?.time !== undefined &&
    starting.time !== null &&
    first.times === null &&
    first.rhythm?.kind === 'calendar'
  ) {
    first.times = [starting.time];
  }
  if (groups.length > 1 && groups.some(isSeries)) inheritDays(groups);
  const [only] = groups;
  if (
    groups.length === 1 &&
    only?.days === null &&
    only.wait === null &&
    (only.times?.length ?? 0) > 1 &&
    only.rhythm === null
  ) {
    only.rhythm = { kind: 'calendar', unit: 'day', every: 1, quarters: false };
    reading.notes.push({ what: 'kind', text: 'every day', other: null });
  }
  if (groups.length > 1 && groups.some(({ wait }) => wait !== null)) {
    throw refusal('any', 'contradiction', 'Parts of this time do not fit together; keep one of them.');
  }
  if (groups.length > 1) inheritTimes(groups);
  const isOnce = !groups.some(isSeries);
  if (isOnce && except.length > 0)
    throw refusal('week', 'no_series', 'Only a series has exceptions; begin with "every".');
  const isBounded = plan.until !== null || plan.count !== null || plan.lasting !== null || starting !== null;
  if (isOnce && isBounded) return asSeries(plan, reading);
  if (groups.length > 1 && plan.count !== null)
    throw refusal('end', 'count', 'Several rhythms cannot be counted together; name the last day.');
  const context = { reading, bounds: boundsOf(plan, reading) };
  const all = groups.flatMap((group) => {
    if (!isSeries(group)) return onceSchedules(group, context);
    noteSeries(group, reading);
    return [recurringSchedule(group, context)];
  });
  return checked(combined(all, exceptionsOf(except, reading), { now }), now);
}

/** In "at 8 every day and at 20" the second time has the days of the first. */
function inheritDays(groups: readonly Group[]): void {
  for (const [index, group] of groups.entries()) {
    const before = groups[index - 1];
    if (before === undefined || group.rhythm !== null || group.days !== null || group.wait !== null) continue;
    Object.assign(group, { rhythm: before.rhythm, days: before.days, daysAt: before.daysAt });
  }
}

/** "Every weekday and every saturday at 9" names one time for both. */
function inheritTimes(groups: readonly Group[]): void {
  for (const [index, group] of groups.entries()) {
    const { times, part, wait, hours, rhythm } = group;
    if (times !== null || part !== null || wait !== null || hours !== null || rhythm?.kind === 'elapsed') continue;
    const later = groups.slice(index + 1).find((other) => other.times !== null);
    if (later === undefined || !isSeries(later) || !isSeries(group))
      throw refusal('any', 'contradiction', 'Parts of this time do not fit together; keep one of them.');
    group.times = later.times;
  }
}

function checked(schedule: Schedule, now: number): Schedule {
  if (schedule.kind === 'rrule' && nextSlot(schedule, now) === null) {
    throw refusal('end', 'never', 'This would never run.');
  }
  return schedule;
}

/** Only a series has an end: "monday at 9 for 5 weeks" is one, and "tomorrow at 9 until friday" may be one every day. */
function asSeries(plan: Plan, reading: Reading): Schedule {
  const [first] = plan.groups;
  const { days, daysAt, begin, wait } = first ?? {};
  if (first === undefined || wait !== null)
    throw refusal('end', 'no_series', 'Only a series has a start and an end; begin with "every".');
  if (days?.kind === 'weekdays' && days.which === 'any') {
    reading.notes.push({ what: 'kind', text: 'every week', other: null });
    return meaningOf(
      { ...plan, groups: [{ ...first, days: { ...days, plural: true } }, ...plan.groups.slice(1)] },
      reading,
    );
  }
  if (days === null || days === undefined || (days.kind === 'ahead' && days.days === 0)) {
    reading.notes.push({ what: 'kind', text: 'every day', other: null });
    const rhythm = { kind: 'calendar', unit: 'day', every: 1, quarters: false } as const;
    return meaningOf({ ...plan, groups: [{ ...first, days: null, rhythm }, ...plan.groups.slice(1)] }, reading);
  }
  const at = daysAt?.begin ?? begin ?? 0;
  const from = daysAt?.end ?? at;
  const said =
    days.kind === 'ahead'
      ? dayLabel(today(reading.setting) + days.days, reading.setting).slice(4)
      : reading.whole.slice(at, from).trim();
  throw new Question('Every day until then?', [
    { text: 'Every day', edits: [{ begin: at, end: from, text: `every day starting ${said.replace(/^on\s+/i, '')}` }] },
  ]);
}

/** True where a length is no shorter than two turns of the rhythm: else it is how long the matter itself takes. */
export function isEnd({ groups: [first] }: Plan, lasting: NonNullable<Plan['lasting']>): boolean {
  const { months, days, seconds } = spanOf(lasting);
  const length = months * 30 * 86_400 + days * 86_400 + seconds;
  const { rhythm = null, days: named = null } = first ?? {};
  if (rhythm?.kind === 'elapsed') return length >= 2 * rhythm.seconds;
  const unit = rhythm?.unit ?? (named?.kind === 'weekdays' ? 'week' : 'month');
  const turn = { day: 1, week: named?.kind === 'weekdays' && named.weekdays.length > 1 ? 2 : 7, month: 30, year: 365 }[
    unit
  ];
  return length >= 2 * turn * (rhythm?.every ?? 1) * 86_400;
}
