import { scheduleLimits } from '../../schedule/limits.ts';
import { civilFromDays, DAY_MS, dayOfWall, MINUTE_MS } from '../../schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../../schedule/time/zone.ts';
import type { ReaderWords } from '../english.ts';
import { Question, refusal } from '../faults.ts';
import { type Amount, spanOf } from '../pieces/amount.ts';
import { type Days, isOneWeekday } from '../pieces/days.ts';
import { addedDays, dayOf } from './day.ts';
import type { Group } from './plan.ts';
import { clock, dayEdit, dayLabel, noteShift, type Reading, timeEdit, today } from './reading.ts';
import { minutesOf } from './times.ts';

function floored(instant: number, step: number): number {
  return Math.floor(instant / step) * step;
}

/** Days and longer keep the clock of the zone; hours and minutes are elapsed time, counted from the running minute. */
function afterWait(group: Group, amount: Amount, reading: Reading): number {
  const { timezone, now } = reading.setting;
  const { months, days, seconds } = spanOf(amount);
  const isCalendar = months > 0 || days > 0;
  if (group.times !== null || group.part !== null) {
    if (!isCalendar || seconds > 0) {
      throw refusal('wait', 'contradiction', (say) => say.waitAndTime);
    }
    const [minute = 0] = minutesOf(group, reading);
    return resolveShifted(timezone, addedDays(today(reading.setting), amount) * DAY_MS + minute * MINUTE_MS);
  }
  const from = floored(now, amount.some(({ unit }) => unit === 'second') ? 1_000 : MINUTE_MS);
  if (!isCalendar) return from + seconds * 1_000;
  const wall = toWall(timezone, from);
  const day = dayOfWall(wall);
  return resolveShifted(timezone, addedDays(day, amount) * DAY_MS + (wall - day * DAY_MS)) + seconds * 1_000;
}

/** "In 17.30" is said as a length, and could be meant as a time. */
function waited(group: Group, amount: Amount, reading: Reading): number {
  const { clockAt, begin } = group;
  const instant = checked(afterWait(group, amount, reading));
  if (clockAt === null) return instant;
  const { seconds } = spanOf(amount);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const figures = reading.whole.slice(clockAt.begin, clockAt.end);
  const at = hours < 24 ? clockOf(hours, minutes) : null;
  reading.notes.push({
    what: 'hour',
    text: (say) => say.waitOf(hours, minutes),
    other:
      at === null
        ? null
        : { text: (say) => say.offers.at(figures), edits: [{ begin, end: clockAt.end, text: `at ${at}` }] },
  });
  return instant;
}

/** `2:30` keeps the half of the day open, as it was written. */
function clockOf(hours: number, minutes: number): string {
  return `${hours}:${String(minutes).padStart(2, '0')}`;
}

interface Moment {
  readonly group: Group;
  readonly minute: number;
  readonly reading: Reading;
  readonly at: (day: number) => number;
}

/** A time without a day is the next one that fits. */
function nextTime({ group, minute, reading, at }: Moment): number {
  const { setting, notes } = reading;
  const from = today(setting);
  const isMidnight = group.times?.[0]?.named === 'midnight';
  if (isMidnight)
    return at(from + (minute === 0 ? 1 : 0)) > setting.now ? at(from + (minute === 0 ? 1 : 0)) : at(from + 1);
  if (at(from) > setting.now) return at(from);
  const [time] = group.times ?? [];
  const later = minute + 720;
  const isLater =
    time?.open === true && group.part === null && minute < 720 && at(from) + 720 * MINUTE_MS > setting.now;
  const other = isLater && time !== undefined ? { text: clock(later), edits: [timeEdit(time, later, reading)] } : null;
  notes.push({ what: 'passed', text: dayLabel(from + 1, setting), other });
  return at(from + 1);
}

/** `today at 9` that has passed: the other half of the day, or tomorrow. */
function askPassed({ group, minute, reading, at }: Moment): never {
  const { setting } = reading;
  const from = today(setting);
  const [time] = group.times ?? [];
  const later = minute + 720;
  const isLater = time?.open === true && minute < 720 && at(from) + 720 * MINUTE_MS > setting.now;
  const { daysAt } = group;
  const isNight = group.days?.kind === 'ahead' && group.days.night;
  const tomorrow = daysAt === null ? [] : [{ ...daysAt, text: isNight ? 'tomorrow night' : 'tomorrow' }];
  throw new Question(
    (say) => say.passedToday(clock(minute)),
    [
      ...(isLater && time !== undefined
        ? [{ text: (say: ReaderWords) => say.offers.today(clock(later)), edits: [timeEdit(time, later, reading)] }]
        : []),
      { text: (say) => say.offers.tomorrow(clock(minute)), edits: tomorrow },
    ],
  );
}

function onDay(moment: Moment, days: Days): number {
  const { group, reading, at } = moment;
  const { setting } = reading;
  const from = today(setting);
  const isPast = at(from) <= setting.now;
  const day = dayOf(days, isPast ? from + 1 : from, group.daysAt, reading);
  if (days.kind === 'ahead') return at(nightDay(moment, day, days.night));
  askDayOrHour(moment, day);
  if (group.part === 'night') return at(nightDay(moment, day, true));
  noteDay(moment, days, day);
  return at(day);
}

/** "Tonight at 1" is after midnight, and "tonight at midnight" the end of today. */
function nightDay({ group, minute, reading }: Moment, day: number, isNight: boolean): number {
  const { setting, notes } = reading;
  const isMidnight = group.times?.[0]?.named === 'midnight';
  if ((isNight || group.part === 'night') && minute < 360) {
    notes.push({ what: 'date', text: dayLabel(day + 1, setting), other: null });
    return day + 1;
  }
  if (isMidnight && day === today(setting)) return day + 1;
  if (isMidnight) noteMidnight({ group, reading }, day);
  return day;
}

/** A day has a midnight at its start and one at its end. */
function noteMidnight({ group, reading }: Pick<Moment, 'group' | 'reading'>, day: number): void {
  if (group.daysAt === null) return;
  const label = (of: number) => (say: ReaderWords) => say.dayAt(dayLabel(of, reading.setting)(say), '00:00');
  const other = { text: label(day + 1), edits: [dayEdit(group.daysAt, day + 1)] };
  reading.notes.push({ what: 'part', text: label(day), other });
}

/** Says which day was taken, where another one could have been meant. */
function noteDay({ group, reading, at }: Moment, days: Days, day: number): void {
  const { setting, notes } = reading;
  const from = today(setting);
  const label = dayLabel(day, setting);
  const insteadOf = (other: number) => ({
    text: dayLabel(other, setting),
    edits: group.daysAt === null ? [] : [dayEdit(group.daysAt, other)],
  });
  const isDate = days.kind === 'date';
  const isPassed = at(from) <= setting.now && dayOf(days, from, group.daysAt, { ...reading, notes: [] }) !== day;
  if (group.times?.[0]?.named === 'midnight') noteMidnight({ group, reading }, day);
  if (isPassed) notes.push({ what: isDate ? 'date' : 'passed', text: label, other: null });
  else if (days.kind === 'weekdays' && days.weekdays.length === 2) {
    notes.push({ what: 'date', text: label, other: insteadOf(day + 1) });
  } else if (isOneWeekday(days) && day === from) notes.push({ what: 'date', text: label, other: insteadOf(day + 7) });
  else if (isDate && days.date.year === null && civilFromDays(day).year !== civilFromDays(from).year) {
    notes.push({ what: 'date', text: label, other: null });
  }
}

/** "Friday 20" is a date and an hour where the next Friday is the 20th. */
function askDayOrHour({ group, reading }: Moment, day: number): void {
  const [time] = group.times ?? [];
  const isHour = time?.assumed === true && group.days?.kind === 'weekdays' && group.daysAt !== null;
  const hour = time === undefined ? 0 : time.minute / 60;
  if (!isHour || time === undefined || civilFromDays(day).day !== hour || hour <= 12) return;
  const label = dayLabel(day, reading.setting);
  throw new Question(
    (say) => say.dayOrHour(hour),
    [
      {
        text: (say) => say.offers.dayAndTime(label(say), clock(time.minute)),
        edits: [timeEdit(time, time.minute, reading)],
      },
      {
        text: (say) => say.offers.dayAndTime(label(say), '09:00'),
        edits: [{ begin: time.begin, end: time.end, text: 'at 09:00' }],
      },
    ],
  );
}

/** "Today" alone says no hour that a default could stand for. */
function askHour({ daysAt, end }: Group, reading: Reading): never {
  const { timezone, now } = reading.setting;
  const left = [10, 12, 15, 18, 20, 22].filter(
    (hour) => resolveShifted(timezone, today(reading.setting) * DAY_MS + hour * 60 * MINUTE_MS) > now,
  );
  const at = daysAt?.end ?? end;
  const ways = left
    .slice(0, 3)
    .map((hour) => ({ text: clock(hour * 60), edits: [{ begin: at, end: at, text: ` at ${clock(hour * 60)}` }] }));
  throw new Question((say) => say.whatTimeToday, ways, ['time']);
}

/** The moments that a group without a rhythm names. */
export function momentsOf(group: Group, reading: Reading): readonly number[] {
  const { setting } = reading;
  if (group.wait !== null) return [waited(group, group.wait, reading)];
  const { days } = group;
  const isToday = days?.kind === 'ahead' && days.days === 0 && (days.months ?? 0) === 0 && !days.night;
  if (isToday && group.times === null && group.part === null) askHour(group, reading);
  return minutesOf(group, reading).map((minute) => {
    const at = (day: number) => resolveShifted(setting.timezone, day * DAY_MS + minute * MINUTE_MS);
    const moment = { group, minute, reading, at };
    const instant = days === null ? nextTime(moment) : onDay(moment, days);
    if (instant > setting.now) return noteShift(checked(instant), minute, reading);
    if (days?.kind === 'ahead') return askPassed(moment);
    const day = dayOfWall(toWall(setting.timezone, instant));
    throw refusal('later', 'past', (say) =>
      say.isPast(say.dayAt(dayLabel(day, setting)(say), clock(minute)), setting.timezone),
    );
  });
}

function checked(instant: number): number {
  if (instant <= scheduleLimits.lastInstant) return instant;
  throw refusal('wait', 'too_far', (say) => say.tooLate);
}
