import { list, WEEKDAY_NAMES } from '../../schedule/words/words.ts';
import { englishReader, type ReaderWords } from '../english.ts';
import { type Edit, Question, refusal, type Way } from '../faults.ts';
import type { DayPart } from '../languages/language.ts';
import type { ClockTime } from '../pieces/clock.ts';
import { hourOfPart, type PartOfDay } from '../setting.ts';
import { contradiction, type Group } from './plan.ts';
import { clock, type Reading, timeEdit } from './reading.ts';

/** The hours that a part of the day has on the clock of 24, and the ones that it moves there. */
const PARTS: Record<DayPart, { readonly own: readonly [number, number]; readonly moved: readonly [number, number] }> = {
  morning: { own: [0, 11], moved: [13, 12] },
  afternoon: { own: [12, 18], moved: [1, 6] },
  evening: { own: [16, 23], moved: [4, 11] },
  night: { own: [18, 23], moved: [6, 11] },
};

const NAMES: Readonly<Record<DayPart, PartOfDay>> = {
  morning: 'morning',
  afternoon: 'afternoon',
  evening: 'evening',
  night: 'tonight',
};

/** `9 in the evening` is 21:00, `2 at night` is 02:00; `9pm in the morning` is refused. */
function inPart({ minute, open }: ClockTime, part: DayPart): number {
  const hour = Math.floor(minute / 60);
  const { own, moved } = PARTS[part];
  if (part === 'night' && (hour < 6 || (hour === 12 && open))) return hour === 12 ? minute - 720 : minute;
  if (hour >= own[0] && hour <= own[1]) return minute;
  if (open && hour >= moved[0] && hour <= moved[1]) return minute + 720;
  throw refusal('clock', 'other_part', (say) => say.notInPart(clock(minute), part));
}

function isAfternoon({ minute, open }: ClockTime): boolean {
  return open && minute >= 60 && minute < 7 * 60;
}

/** In "8 and 9pm" the first one may be in the evening as well. */
function askHalf(times: readonly ClockTime[], reading: Reading): void {
  const doubtful = times.find(
    ({ open, minute }) =>
      open &&
      !isAfternoon({ minute, open } as ClockTime) &&
      minute < 720 &&
      times.some((other) => other.half && other.minute > minute + 720),
  );
  if (doubtful === undefined) return;
  const way = (minute: number) => ({ text: clock(minute), edits: [timeEdit(doubtful, minute, reading)] });
  throw new Question(
    (say) => say.whichTime(clock(doubtful.minute), clock(doubtful.minute + 720)),
    [way(doubtful.minute), way(doubtful.minute + 720)],
  );
}

const DINNER = /\b(?:dinner|supper)\b/i;

/** Minutes since midnight of a time that was said. A bare 1 to 6 is the afternoon. */
export function minuteOf(time: ClockTime, part: DayPart | null, reading: Reading): number {
  if (time.named !== null)
    return time.named === 'noon' ? hourOfPart('noon', reading.setting) : hourOfPart('midnight', reading.setting);
  if (part !== null) return inPart(time, part);
  const { minute } = time;
  if (isAfternoon(time)) {
    const text = clock(minute);
    reading.notes.push({
      what: 'hour',
      text: clock(minute + 720),
      other: { text, edits: [timeEdit(time, minute, reading)] },
    });
    return minute + 720;
  }
  if (time.open && minute < 720 && DINNER.test(reading.text)) {
    const evening = { text: clock(minute + 720), edits: [timeEdit(time, minute + 720, reading)] };
    reading.notes.push({ what: 'hour', text: clock(minute), other: evening });
  } else if (time.assumed || time.about)
    reading.notes.push({ what: 'hour', text: clock(minute), other: otherThanHour(time, reading) });
  return minute;
}

/** The figure in "tomorrow 9 tickets" may count what the text is about. */
function otherThanHour({ begin, end, assumed }: ClockTime, { whole, text }: Reading) {
  const behind = /^\s+(\p{L}[\p{L}'-]*)/u.exec(whole.slice(end, end + 60))?.[1];
  if (!assumed || behind === undefined || !text.startsWith(behind)) return null;
  const said = whole.slice(begin, end);
  return { text: (say: ReaderWords) => say.offers.isText(said), edits: [{ begin, end: begin, text: '\n' }] };
}

/** The times of a group, ascending. A part of the day alone has an hour of its own, and so has a day alone. */
export function minutesOf(group: Group, reading: Reading): readonly number[] {
  const { times, part, days, promised } = group;
  const named = part ?? (days?.kind === 'ahead' && days.night ? 'night' : null);
  if (promised?.of === 'times' && (times?.length ?? 0) !== promised.count) {
    throw new Question((say) => say.whichTimes(promised.count), offers(promised.count, group), ['time']);
  }
  if (times === null) {
    const minute = hourOfPart(named === null ? 'morning' : NAMES[named], reading.setting);
    reading.notes.push({ what: named === null ? 'day' : 'part', text: clock(minute), other: null });
    return [minute];
  }
  askHalf(times, reading);
  const minutes: number[] = [];
  for (const time of times) {
    const minute = minuteOf(time, named, reading);
    minutes.push(minutes.includes(minute) ? againLater(time, minute, reading) : minute);
  }
  return [...new Set(minutes)].sort((a, b) => a - b);
}

/** "At 8 and 8" is in the morning and in the evening. */
function againLater(time: ClockTime, minute: number, reading: Reading): number {
  if (!time.open || time.named !== null || minute >= 720) return minute;
  noteHour(time, minute + 720, minute, reading);
  return minute + 720;
}

/** Times over the day, and over the hours of work. */
const SPREADS: Readonly<Record<number, ReadonlyArray<readonly string[]>>> = {
  2: [
    ['9:00', '21:00'],
    ['9:00', '17:00'],
  ],
  3: [
    ['8:00', '14:00', '20:00'],
    ['9:00', '13:00', '17:00'],
  ],
  4: [
    ['8:00', '12:00', '16:00', '20:00'],
    ['9:00', '12:00', '15:00', '18:00'],
  ],
};

function offers(count: number, { end, times }: Group): readonly Way[] {
  const [from, to] = [times?.[0]?.begin ?? end, times?.at(-1)?.end ?? end];
  return (SPREADS[count] ?? []).map((at) => ({
    text: (say) => say.offers.times(at),
    edits: [{ begin: from, end: to, text: `${times === null ? ' ' : ''}at ${englishReader.offers.times(at)}` }],
  }));
}

interface HoursOfDay {
  readonly from: number;
  readonly to: number;
}

/**
 * "From 9 to 5" ends in the afternoon, and "from 1 to 3pm" begins there; "from 22 to 2" ends on the next day, because 14:00
 * is not behind 22:00 either.
 */
export function hoursOfDay({ hours }: Group, reading: Reading): HoursOfDay | null {
  if (hours === null) return null;
  const { from, to } = hours;
  const isBothPm = to.half && to.minute >= 780 && from.open && from.minute + 720 < to.minute && from.minute >= 60;
  const begin = isBothPm && from.minute >= 420 ? assumedHalf(from, reading) : openMinute(from, reading);
  return { from: begin, to: endOfHours(from, to, begin, reading) };
}

function endOfHours(from: ClockTime, to: ClockTime, begin: number, reading: Reading): number {
  if (to.named === 'midnight') return DAY_MINUTES - 1;
  if (to.open && to.minute === 720 && begin > 720) {
    noteHour(to, 0, 720, reading);
    return DAY_MINUTES - 1;
  }
  if (!to.open || to.minute >= 720 || to.minute + 720 <= begin) return to.minute;
  // "From 5am to 6" stays in its half of the day, and "from 22" is said on the clock of 24 hours, as its end is.
  const isBehind = !from.open && to.minute > begin;
  if (!isBehind && (isAfternoon(to) || (isOnTwelve(from) && to.minute <= begin))) return assumedHalf(to, reading);
  if (isBehind && isAfternoon(to)) noteHour(to, to.minute, to.minute + 720, reading);
  return to.minute;
}

function isOnTwelve({ open, half }: ClockTime): boolean {
  return open || half;
}

function openMinute(time: ClockTime, reading: Reading): number {
  return isAfternoon(time) ? assumedHalf(time, reading) : time.minute;
}

function assumedHalf(time: ClockTime, reading: Reading): number {
  noteHour(time, time.minute + 720, time.minute, reading);
  return time.minute + 720;
}

function noteHour(time: ClockTime, taken: number, other: number, reading: Reading): void {
  const way = { text: clock(other), edits: [timeEdit(time, other, reading)] };
  reading.notes.push({ what: 'hour', text: clock(taken), other: way });
}

/** The runs of a rhythm inside a day, and the cron fields that say them, where there are some. */
interface DayTimes {
  readonly times: readonly number[];
  readonly rhythm: string | null;
  /** Those behind midnight, of hours that began on the day before. */
  readonly night: readonly number[];
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
    return { times, rhythm: fieldsOf(times, step), night: [] };
  }
  const times = stepped(begin, end + DAY_MINUTES, step);
  const night = times.filter((time) => time >= DAY_MINUTES).map((time) => time - DAY_MINUTES);
  return { times: times.filter((time) => time < DAY_MINUTES), rhythm: null, night };
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
  return { times: within, rhythm: isFull ? hourSteps(hours, minutes, step) : null, night: [] };
}

/** `every 15 minutes on weekdays` goes round the clock from midnight, so it has to come out even. */
function roundTheClock(step: number): DayTimes {
  if (DAY_MINUTES % step !== 0 || (step > 60 ? step % 60 !== 0 : 60 % step !== 0)) {
    throw refusal('rhythm', 'uneven_rhythm', (say) => say.unevenRhythm);
  }
  const times = stepped(0, DAY_MINUTES - 1, step);
  return { times, rhythm: fieldsOf(times, step), night: [] };
}

/** The runs of a rhythm of minutes or hours inside a day. */
export function timesOfRhythm(group: Group, seconds: number, reading: Reading): DayTimes {
  const step = seconds / 60;
  if (!Number.isInteger(step)) {
    throw refusal('rhythm', 'seconds', (say) => say.wholeMinutes);
  }
  if (step >= DAY_MINUTES) throw refusal('rhythm', 'contradiction', (say) => say.longerThanDay);
  const hours = hoursOfDay(group, reading);
  if (group.minutes !== null) return atMinutes(hours, group.minutes, step);
  return hours === null ? roundTheClock(step) : betweenHours(hours, step);
}

/** Days of every week at hours of their own; null for other rhythms. */
function weekOf({ rhythm, days, times, hours }: Group): readonly number[] | null {
  const isEach = rhythm === null || (rhythm.kind === 'calendar' && rhythm.every === 1);
  if (!isEach || times === null || hours !== null) return null;
  if (days === null) return rhythm?.kind === 'calendar' && rhythm.unit === 'day' ? [0, 1, 2, 3, 4, 5, 6] : null;
  return days.kind === 'weekdays' && days.which === 'any' ? days.weekdays : null;
}

/** "Every weekday at 9, friday at 8" comes at 8 on fridays: the narrower rhythm takes its days from the wider one. */
export function narrowed(groups: readonly Group[], reading: Reading): readonly Group[] {
  const weeks = groups.flatMap((group): readonly Week[] => {
    const weekdays = weekOf(group);
    return weekdays === null ? [] : [{ group, weekdays }];
  });
  return groups.map((group) => {
    const wide = weeks.find((week) => week.group === group);
    if (wide === undefined) return group;
    const taken = weeks.filter((week) => isWithin(week, wide) && takesDays(week, wide, reading));
    if (taken.length === 0) return group;
    const weekdays = without(
      wide,
      taken.flatMap((week) => week.weekdays),
    );
    return { ...group, days: { kind: 'weekdays', weekdays, plural: true, which: 'any' } };
  });
}

interface Week {
  readonly group: Group;
  readonly weekdays: readonly number[];
}

function isWithin({ weekdays }: Week, wide: Week): boolean {
  return weekdays.length < wide.weekdays.length && weekdays.every((day) => wide.weekdays.includes(day));
}

function without({ weekdays }: Week, taken: readonly number[]): readonly number[] {
  return weekdays.filter((day) => !taken.includes(day));
}

/** So many minutes apart, "every day at 8 and every friday at 17" are two runs on fridays. */
const FAR = 360;

/** True where the narrower rhythm stands in the place of the wider one on its days; the other reading is noted with it. */
function takesDays({ group: narrow, weekdays }: Week, week: Week, reading: Reading): boolean {
  const wide = week.group;
  const silent = { ...reading, notes: [] };
  const [own, theirs] = [minutesOf(narrow, silent), minutesOf(wide, silent)];
  const between = reading.whole.slice(Math.min(narrow.end, wide.end), Math.max(narrow.begin, wide.begin));
  const isOtherPart = narrow.part !== null && wide.part !== null && narrow.part !== wide.part;
  if (isOtherPart || /\balso\b/i.test(between) || theirs.every((minute) => own.includes(minute))) return false;
  const both = [...new Set([...theirs, ...own])].sort((a, b) => a - b);
  const isFar = own.every((minute) => theirs.every((their) => Math.abs(their - minute) >= FAR));
  const isBoth = isFar && /\band\b|[&+]/i.test(between);
  const [twice, alone] = [
    (say: ReaderWords) => say.onDaysAt(weekdays, both.map(clock)),
    (say: ReaderWords) => say.offers.onDaysOnly(weekdays, own.map(clock)),
  ];
  const other: Way = isBoth
    ? { text: alone, edits: [restEdit(wide, without(week, weekdays))] }
    : { text: twice, edits: [timesEdit(narrow, both, reading)] };
  reading.notes.push({ what: 'kind', text: isBoth ? twice : alone, other });
  return !isBoth;
}

/** All these times in the place of those of the group. */
function timesEdit({ times }: Group, minutes: readonly number[], reading: Reading): Edit {
  const [[first], last, [minute = 0]] = [times ?? [], times?.at(-1), minutes];
  if (first === undefined || last === undefined) throw contradiction();
  const { begin, text } = timeEdit(first, minute, reading);
  return { begin, end: last.end, text: text.replace(clock(minute), list(minutes.map(clock))) };
}

/** The days that are left, in the place of those of the group. */
function restEdit({ daysAt, rhythmAt, begin, end }: Group, rest: readonly number[]): Edit {
  const at = daysAt ?? rhythmAt ?? { begin, end };
  const days = list(rest.map((day) => (WEEKDAY_NAMES[day] ?? '').toLowerCase()));
  if (daysAt === null) return { begin: at.end, end: at.end, text: ` on ${days}` };
  const isRhythm = rhythmAt === null || rhythmAt.begin === daysAt.begin;
  return { begin: at.begin, end: at.end, text: `${isRhythm ? 'every' : 'on'} ${days}` };
}
