import type { TaskPatch } from '../../../app/tasks/edit.ts';
import { isUnreadable } from '../../../app/tasks/verbs.ts';
import type { AppError } from '../../../domain/errors.ts';
import { hoursOf, withHours } from '../../../domain/schedule/hours.ts';
import { inputOf, lastSlot, type Schedule, type ScheduleInput } from '../../../domain/schedule/schedule.ts';
import type { OnceSchedule } from '../../../domain/schedule/shapes.ts';
import { clockText } from '../../../domain/schedule/time/calendar.ts';
import { WEEKDAY_NAMES } from '../../../domain/schedule/words/words.ts';
import type { Task } from '../../../domain/task.ts';
import { type Asked, readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Setting as Reading } from '../../../domain/when/setting.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, sentenceOf, triedTo } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { dateIn, moment, scheduleText, settingOf, weekdayIn } from '../kit/clock.ts';
import { clocksIn } from '../kit/days.ts';
import { type Offer, putDraft, readingFor } from '../kit/drafts.ts';
import { button, dataOf, inRows, type Rows, shortId } from '../kit/press.ts';
import { bold, oneLine, type Rich } from '../kit/rich.ts';
import { isTimeless, offersIn, whatIsWrongWithTime } from '../new-task/preview.ts';
import { texts } from '../texts.ts';

/**
 * The new time of a task. What is said is as much as should be different: an hour alone moves the hour and leaves the days,
 * days alone leave the hour. Nothing that repeats ends by a word that does not say so: a single moment is asked about.
 */
export type Retimed =
  | ({ readonly patch: TaskPatch } & Guessed)
  | { readonly asks: Answer }
  | { readonly sentence: Rich | string; readonly tries: readonly string[]; readonly isTimeless?: boolean };

/** The parts that were assumed, and the buttons of the other readings. */
export interface Guessed {
  readonly assumed?: readonly string[];
  readonly ways?: Rows[number];
}

export function isRepeating(task: Pick<Task, 'schedule' | 'pausedReason'>): boolean {
  return !isUnreadable(task) && task.schedule.kind !== 'once';
}

const lead = /^(?:(?:time|when|hour)(?:\s*[:=]\s*|\s+)|to\s+)/i;

export function withoutLead(words: string): string {
  return words.trim().replace(lead, '');
}

/** The new time is read on the clocks of the task, whatever the chat has. */
export async function retimed(ctx: ChatContext, task: Task, all: string): Promise<Retimed> {
  const words = withoutLead(all).replace(/\s+instead of all$/i, '');
  const reading = readingFor(task, ctx);
  const moved = isUnreadable(task) ? null : byHour(reading, ctx.clock.now(), task, words);
  if (moved !== null) return moved;
  const inDays = isRepeating(task) ? byDays : byDay;
  const days = isEdge.test(words) ? null : inDays(reading, ctx.clock.now(), task, words);
  if (days !== null) return days;
  const read = await triedTo(async () => readTime(words, reading));
  if ('refusal' in read) {
    const offers = offersIn(read.refusal);
    if (offers !== null) return asking(ctx, task, bold(sentenceOf(read.refusal) ?? read.refusal.message), offers);
    const { sentence, tries } = whatIsWrongWithTime(read.refusal);
    return { sentence, tries: triesFor(task, tries), isTimeless: isTimeless(read.refusal) };
  }
  const { text } = read.made;
  if (text !== '') return { sentence: texts.making.leftOver(text), tries: triesFor(task, []) };
  return meant(task, read.made, reading);
}

/** The other readings as buttons that change the task once more: to a moment, or to other hours. */
function guessed({ assumed }: Asked, reading: Reading, dataFor: (other: Schedule) => string | null): Guessed {
  const ways = assumed.map(({ other }) => {
    const read = other === null ? null : timeOr(() => readTime(other.when, reading));
    return other === null || read === null ? null : button(other.text, dataFor(read.schedule));
  });
  return { assumed: assumed.map(({ text }) => text), ways };
}

/** A moment, or other hours of the days that the task has by then. */
function dataOfOther(task: Task, applied: Schedule, other: Schedule): string | null {
  if (other.kind === 'once') return onceData(task, other.onceAt);
  const times = hoursOf(other);
  const moved = times === null ? null : withHours(applied, times);
  return times !== null && JSON.stringify(moved) === JSON.stringify(inputOf(other)) ? hoursData(task, times) : null;
}

function dataOfHour(task: Task, other: Schedule, now: number): string | null {
  const times = hoursOf(other);
  if (times === null || task.schedule.kind !== 'once') return times && hoursData(task, times);
  const at = onItsDay(task.schedule, times, now);
  return at === null ? null : onceData(task, at);
}

function onceData(task: Task, at: number): string | null {
  return dataOf('makeonce', shortId(task.id), Math.floor(at / 1000).toString(36));
}

export function asRetimed(tried: { readonly made: ScheduleInput } | { readonly refusal: AppError }): Retimed {
  return 'refusal' in tried ? whatIsWrongWithTime(tried.refusal) : { patch: { schedule: tried.made } };
}

/** Labels longer than this have a row of their own. */
const besideMax = 30;

/** Several readings, or a piece that is missing: a button for each answer, which may be written as well. */
export function asking(ctx: ChatContext, task: Task, question: Rich, offers: readonly Offer[]): Retimed {
  const id = ctx.ids.next();
  const perRow = offers.some(({ text }) => text.length > besideMax) ? 1 : 2;
  const rows = inRows(
    offers.map(({ text }, index) => button(oneLine(text, labelMax), dataOf('editway', shortId(id), index))),
    perRow,
  );
  return {
    asks: {
      ...answer(question, [...rows, [keepButton(task)]]),
      draft: putDraft(ctx, id, { step: 'edit', taskId: task.id, what: 'time', misses: 0, offers: [...offers] }),
    },
  };
}
const labelMax = 64;

/** A moment for a task that repeats would take all its other runs from it. */
function meant(task: Task, read: Asked, reading: Reading): Retimed {
  const { schedule, policies } = read;
  if (schedule.kind !== 'once' || !isRepeating(task)) {
    return {
      patch: { schedule: inputOf(schedule), ...(Object.keys(policies).length === 0 ? {} : { policies }) },
      ...guessed(read, reading, (other) => dataOfOther(task, schedule, other)),
    };
  }
  return askOnce(task, schedule, reading.now);
}

function askOnce(task: Task, schedule: OnceSchedule, now: number): Retimed {
  const { retime } = texts;
  const setting = settingOf(task, now);
  const times = hoursOf(task.schedule);
  const hour = times === null ? null : clockOf(hoursOf({ ...schedule, timezone: setting.timezone })?.[0] ?? 0);
  const words = retime.once(taskName(task), {
    number: task.number,
    repeats: `${scheduleText(task.schedule, now)} (${setting.timezone})`,
    at: `${moment(schedule.onceAt, setting)} (${setting.timezone})`,
    hour,
  });
  const once = button(retime.button.once, onceData(task, schedule.onceAt));
  return { asks: answer(words, [[once, keepButton(task)]]) };
}

/** A task of other days may come on that day from now on, or once. */
function askDay(task: Task, { series, once }: { series: Schedule; once: OnceSchedule }, now: number): Retimed {
  const { retime } = texts;
  const setting = settingOf(task, now);
  const day = scheduleText(series, now);
  const repeats = `${scheduleText(task.schedule, now)} (${setting.timezone})`;
  return {
    asks: answer(retime.day(taskName(task), { repeats, day }), [
      [
        button(
          retime.button.series(day),
          dataOf('weekly', shortId(task.id), weekdayIn({ ...setting, now: once.onceAt })),
        ),
      ],
      [button(retime.button.onceOn(moment(once.onceAt, setting)), onceData(task, once.onceAt))],
      [keepButton(task)],
    ]),
  };
}

function isWeekly({ schedule }: Task): boolean {
  return schedule.kind === 'cron'
    ? !schedule.cron.endsWith(' *')
    : schedule.kind === 'rrule' && /FREQ=WEEKLY/.test(schedule.rrule);
}

/** Every week on that day, at the hours that the task has; 0 is Sunday. */
export function onWeekday(ctx: ChatContext, task: Task, weekday: number): TaskPatch | null {
  const name = WEEKDAY_NAMES[weekday];
  const reading = readingFor(task, ctx);
  const read =
    name === undefined || !isRepeating(task) ? null : byDays(reading, ctx.clock.now(), task, `every ${name}`);
  return read !== null && 'patch' in read ? read.patch : null;
}

function keepButton(task: Task) {
  return button(texts.retime.button.keep, dataOf('kept', shortId(task.id)));
}

function byHour(reading: Reading, now: number, task: Task, words: string): Retimed | null {
  const read = clocksIn(words, reading);
  const times = read === null ? null : hoursOf(read.schedule);
  if (read === null || times === null) return null;
  const { schedule } = task;
  const moved = withHours(schedule, times);
  const isOver = schedule.kind === 'once' && onItsDay(schedule, times, now) === null;
  // A moment that has passed is no day to stay on, and one that would have passed is meant otherwise.
  if (isOver) return null;
  const old = hoursOf(schedule);
  const [time, more] = times;
  if (old !== null && old.length > 1 && time !== undefined && more === undefined) return askWhich(task, old, time);
  if (moved !== null) {
    return { patch: { schedule: moved }, ...guessed(read, reading, (other) => dataOfHour(task, other, now)) };
  }
  const { retime } = texts;
  const runs = scheduleText(schedule, now);
  return {
    sentence: old === null ? retime.noHour(taskName(task), runs) : retime.notSaid(taskName(task), runs),
    tries: times.map((time) => `every day at ${clockOf(time)}`).slice(0, 1),
  };
}

/** The moment at that hour of its day; null where one of both has passed. */
function onItsDay(schedule: OnceSchedule, times: readonly number[], now: number): number | null {
  const at = Date.parse(withHours(schedule, times)?.once_at ?? '');
  return schedule.onceAt > now && at > now ? at : null;
}

/** More times than these are not looked through on buttons. */
const askedMax = 4;

function askWhich(task: Task, old: readonly number[], time: number): Retimed {
  const { retime } = texts;
  const now = clockOf(time);
  const ways = old.length > askedMax ? [] : old;
  const rows = ways.map((each) => {
    const times = old.map((one) => (one === each ? time : one));
    const isSaid = withHours(task.schedule, times) !== null;
    return [isSaid ? button(retime.button.inPlace(clockOf(each), now), hoursData(task, times)) : null];
  });
  const last = [button(retime.button.alone(now), hoursData(task, [time])), keepButton(task)];
  return { asks: answer(retime.which(taskName(task), old.map(clockOf), now), [...rows, last]) };
}

/** `0830.1700`, as it fits on a button. */
function hoursData(task: Task, times: readonly number[]): string | null {
  return dataOf('hours', shortId(task.id), times.map((time) => clockOf(time).replace(':', '')).join('.'));
}

function clockOf(minute: number): string {
  return clockText(minute * 60);
}

const dayName = '(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?|weekdays?|weekends?)';
const daySet = new RegExp(
  `^(?:every\\s+|each\\s+|on\\s+)*(${dayName}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+|\\s*&\\s*)${dayName})*)$`,
  'i',
);

/** An end or a start names a day, and is none of the days on which the task comes. */
const isEdge = /^(?:starting|beginning|until|till|no|not|never|except|without)\b/i;

/** Days alone, or a rhythm of days: at the hours that the task has. Null where an hour is said, or the task has none. */
function byDays(reading: Reading, now: number, task: Task, words: string): Retimed | null {
  const times = hoursOf(task.schedule);
  if (times === null) return null;
  const set = daySet.exec(words)?.[1];
  if (set === undefined && isTimed(words, reading)) return null;
  const end = endWords(task.schedule, now);
  const clock = times.map(clockOf).join(' and ');
  const timed = `${set === undefined ? words : `every ${set}`} at ${clock}`;
  const read = timeOr(() => readTime(timed, reading));
  if (read?.text !== '') return null;
  const { schedule } = read;
  const day = schedule.kind === 'once' || isWeekly(task) ? null : loneDay(words, clock, reading);
  if (day !== null) return askDay(task, { series: schedule, once: day }, now);
  if (schedule.kind === 'once' || end === null) return meant(task, read, { ...reading, now });
  // A series that had an end keeps it: nobody said that it should go on for ever.
  const ended = timeOr(() => readTime(`${timed} ${end}`, reading));
  return { patch: { schedule: inputOf(ended?.schedule ?? schedule) } };
}

/** A day alone moves a single moment, at the hour that it has. */
function byDay(reading: Reading, now: number, task: Task, words: string): Retimed | null {
  const times = isUnreadable(task) ? null : hoursOf(task.schedule);
  const alone = times === null ? null : timeOr(() => readTime(words, reading));
  const isDay = alone?.text === '' && alone.assumed.some(({ what }) => what === 'day');
  if (times === null || !isDay) return null;
  const read = timeOr(() => readTime(`${words} at ${times.map(clockOf).join(' and ')}`, reading));
  return read?.text === '' && read.schedule.kind === 'once' ? meant(task, read, { ...reading, now }) : null;
}

/** The days that are said, where nothing but days of the week is. */
export function daysIn(words: string, reading: Reading): string | null {
  const days = daySet.exec(words.trim())?.[1] ?? null;
  return days === null || isTimed(words, reading) ? null : days;
}

/** An hour was said, rather than a day alone. */
function isTimed(words: string, reading: Reading): boolean {
  const read = timeOr(() => readTime(words, reading));
  return read !== null && !read.assumed.some(({ what }) => what === 'day');
}

/** "Friday" alone: the moment that it would be. */
function loneDay(words: string, clock: string, reading: Reading): OnceSchedule | null {
  if (!/^(?:on\s+)?\p{L}+day$/iu.test(words)) return null;
  const schedule = timeOr(() => readTime(`${words} at ${clock}`, reading))?.schedule;
  return schedule?.kind === 'once' ? schedule : null;
}

/** `until 2026-12-24`; null for a series without an end. */
export function endWords(schedule: Schedule, now: number): string | null {
  const last = schedule.kind === 'rrule' ? lastSlot(schedule) : null;
  if (last === null || last <= now) return null;
  const setting = settingOf({ schedule }, now);
  return `until ${dateIn({ ...setting, now: last }, 0)}`;
}

const bareOnce = /^(?:tomorrow|today|tonight|in|next|this|on (?:the )?\d)\b/i;

/** Examples must not lead a person to take the days from a task that repeats. */
function triesFor(task: Task, tries: readonly string[]): readonly string[] {
  const fitting = isRepeating(task) ? tries.filter((each) => !bareOnce.test(each)) : tries;
  return [...new Set([...fitting, ...texts.retime.tries])].slice(0, 3);
}
