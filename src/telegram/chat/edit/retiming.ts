import type { TaskPatch } from '../../../app/tasks/edit.ts';
import { isUnreadable } from '../../../app/tasks/verbs.ts';
import { hoursOf, withHours } from '../../../domain/schedule/hours.ts';
import { inputOf, lastSlot, type Schedule, type ScheduleInput } from '../../../domain/schedule/schedule.ts';
import type { OnceSchedule } from '../../../domain/schedule/shapes.ts';
import { clockText } from '../../../domain/schedule/time/calendar.ts';
import type { Task } from '../../../domain/task.ts';
import { readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Setting as Reading } from '../../../domain/when/setting.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, triedTo } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { dateIn, moment, scheduleText, settingOf } from '../kit/clock.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import type { Rich } from '../kit/rich.ts';
import { whatIsWrongWithTime } from '../new-task/preview.ts';
import { texts } from '../texts.ts';

/**
 * The new time of a task. What is said is as much as shall be different: an hour alone moves the hour and leaves the days,
 * days alone leave the hour. Nothing that repeats ends by a word that does not say so: a single moment is asked about.
 */
export type Retimed =
  | { readonly patch: TaskPatch }
  | { readonly asks: Answer }
  | { readonly sentence: Rich | string; readonly tries: readonly string[] };

export function isRepeating(task: Pick<Task, 'schedule' | 'pausedReason'>): boolean {
  return !isUnreadable(task) && task.schedule.kind !== 'once';
}

const lead = /^(?:(?:time|when|hour)(?:\s*[:=]\s*|\s+)|to\s+)/i;

/** The new time is read on the clocks of the task, whatever the chat has. */
export async function retimed(ctx: ChatContext, task: Task, all: string): Promise<Retimed> {
  const words = all.trim().replace(lead, '');
  const reading = { timezone: task.schedule.timezone, now: ctx.date };
  const moved = isUnreadable(task) ? null : byHour(reading, ctx.clock.now(), task, words);
  if (moved !== null) return moved;
  const days = isRepeating(task) ? byDays(reading, ctx.clock.now(), task, words) : null;
  if (days !== null) return days;
  const read = await triedTo(async () => readTime(words, reading));
  if ('refusal' in read) {
    const { sentence, tries } = whatIsWrongWithTime(read.refusal);
    return { sentence, tries: triesFor(task, tries) };
  }
  const { schedule, text } = read.made;
  if (text !== '') return { sentence: texts.making.leftOver(text), tries: triesFor(task, []) };
  return meant(task, schedule, ctx.clock.now());
}

/** A moment for a task that repeats would take all its other runs from it. */
function meant(task: Task, schedule: Schedule, now: number): Retimed {
  if (schedule.kind !== 'once' || !isRepeating(task)) return asSchedule(inputOf(schedule));
  const { retime } = texts;
  const setting = settingOf(task, now);
  const id = shortId(task.id);
  const times = hoursOf(task.schedule);
  const hour = times === null ? null : clockOf(hoursOf({ ...schedule, timezone: setting.timezone })?.[0] ?? 0);
  const words = retime.once(taskName(task), {
    number: task.number,
    repeats: `${scheduleText(task.schedule, now)} (${setting.timezone})`,
    at: `${moment(schedule.onceAt, setting)} (${setting.timezone})`,
    hour,
  });
  const data = dataOf('makeonce', id, Math.floor(schedule.onceAt / 1000).toString(36));
  return { asks: answer(words, [[button(retime.button.once, data), keepButton(task)]]) };
}

function keepButton(task: Task) {
  return button(texts.retime.button.keep, dataOf('kept', shortId(task.id)));
}

/** Minutes since midnight, where the words are nothing but times of the day; null for everything else. */
function clocksIn(words: string, reading: Reading): readonly number[] | null {
  const alone = words.replace(/^(?:at|@)\s*/i, '');
  const read = timeOr(() => readTime(`every day at ${alone}`, reading));
  if (read?.text !== '') return null;
  const { schedule } = read;
  const isDaily = schedule.kind === 'cron' && /^\S+ \S+ \* \* \*$/.test(schedule.cron);
  return isDaily && schedule.timezone === reading.timezone ? hoursOf(schedule) : null;
}

function byHour(reading: Reading, now: number, task: Task, words: string): Retimed | null {
  const times = clocksIn(words, reading);
  if (times === null) return null;
  const { schedule } = task;
  const moved = withHours(schedule, times);
  if (schedule.kind === 'once') return onItsDay(schedule, moved, now);
  const old = hoursOf(schedule);
  const [time, more] = times;
  if (old !== null && old.length > 1 && time !== undefined && more === undefined) return askWhich(task, old, time);
  if (moved !== null) return asSchedule(moved);
  const { retime } = texts;
  const runs = scheduleText(schedule, now);
  return {
    sentence: old === null ? retime.noHour(taskName(task), runs) : retime.notSaid(taskName(task), runs),
    tries: times.map((time) => `every day at ${clockOf(time)}`).slice(0, 1),
  };
}

/** A moment that has passed is no day to stay on, and one that would have passed is meant otherwise. */
function onItsDay({ onceAt }: OnceSchedule, moved: ScheduleInput | null, now: number): Retimed | null {
  const at = Date.parse(moved?.once_at ?? '');
  return onceAt > now && at > now && moved !== null ? asSchedule(moved) : null;
}

function asSchedule(schedule: ScheduleInput): Retimed {
  return { patch: { schedule } };
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

/** Days alone, or a rhythm of days: at the hours that the task has. Null where an hour is said, or the task has none. */
function byDays(reading: Reading, now: number, task: Task, words: string): Retimed | null {
  const times = hoursOf(task.schedule);
  if (times === null) return null;
  const set = daySet.exec(words)?.[1];
  const alone = set === undefined ? timeOr(() => readTime(words, reading)) : null;
  const isTimed = alone !== null && !alone.assumed.some(({ what }) => what === 'day');
  if (isTimed) return null;
  const end = endWords(task, now);
  const clock = times.map(clockOf).join(' and ');
  const timed = `${set === undefined ? words : `every ${set}`} at ${clock}`;
  const read = timeOr(() => readTime(timed, reading));
  if (read?.text !== '') return null;
  const { schedule } = read;
  if (schedule.kind === 'once' || end === null) return meant(task, schedule, now);
  // A series that had an end keeps it: it was not said that it shall go on for ever.
  const ended = timeOr(() => readTime(`${timed} ${end}`, reading));
  return asSchedule(inputOf(ended?.schedule ?? schedule));
}

function endWords(task: Task, now: number): string | null {
  const last = task.schedule.kind === 'rrule' ? lastSlot(task.schedule) : null;
  if (last === null || last <= now) return null;
  const setting = settingOf(task, now);
  return `until ${dateIn({ ...setting, now: last }, 0)}`;
}

const bareOnce = /^(?:tomorrow|today|tonight|in|next|this|on (?:the )?\d)\b/i;

/** Examples must not lead a person to take the days from a task that repeats. */
function triesFor(task: Task, tries: readonly string[]): readonly string[] {
  const fitting = isRepeating(task) ? tries.filter((each) => !bareOnce.test(each)) : tries;
  return [...new Set([...fitting, ...texts.retime.tries])].slice(0, 3);
}
