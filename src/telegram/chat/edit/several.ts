import { weekdaysOf } from '../../../domain/schedule/combine.ts';
import { hoursOf } from '../../../domain/schedule/hours.ts';
import { piecesOf, withInstead, withoutDays } from '../../../domain/schedule/pieces.ts';
import { inputOf, type Schedule } from '../../../domain/schedule/schedule.ts';
import type { RruleSchedule } from '../../../domain/schedule/shapes.ts';
import { clockText } from '../../../domain/schedule/time/calendar.ts';
import { WEEKDAY_NAMES } from '../../../domain/schedule/words/words.ts';
import type { Task } from '../../../domain/task.ts';
import { type Asked, readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Setting as Reading } from '../../../domain/when/setting.ts';
import type { ChatContext } from '../context.ts';
import { triedTo } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { scheduleText } from '../kit/clock.ts';
import { clocksIn } from '../kit/days.ts';
import { type Offer, readingFor } from '../kit/drafts.ts';
import { texts } from '../texts.ts';
import { asking, asRetimed, daysIn, endWords, isRepeating, type Retimed, withoutLead } from './retiming.ts';

/**
 * A new time for a task of several rhythms means one of them: the one of the same days where that is clear, and the one that
 * is pressed where it is not. "Fridays at 8 instead of mondays" names it, as the buttons do.
 */

interface Several {
  readonly task: Task;
  readonly schedule: RruleSchedule;
  readonly rhythms: readonly Schedule[];
  readonly reading: Reading;
}

const insteadOf = /^(?<what>.+?)\s+(?:instead of|in place of|rather than)\s+(?<which>.+)$/is;
const every = /^(?:all|everything|all of (?:them|it)|the rest)$/i;
/** More rhythms than these are not asked about by buttons. */
const askedMax = 6;

/** Null where the task has one rhythm, and for words that mean something else: an hour alone, a single moment. */
export async function amongRhythms(ctx: ChatContext, task: Task, all: string): Promise<Retimed | null> {
  const { schedule } = task;
  if (!isRepeating(task) || schedule.kind !== 'rrule') return null;
  const reading = readingFor(task, ctx);
  const { rhythms } = piecesOf(schedule, reading.now);
  if (rhythms.length < 2) return null;
  const several = { task, schedule, rhythms, reading };
  const words = withoutLead(all);
  const { what, which } = insteadOf.exec(words)?.groups ?? {};
  if (what !== undefined && which !== undefined) return every.test(which) ? null : inPlace(several, what, which);
  if (clocksIn(words, reading) !== null) return null;
  const days = daysIn(words, reading);
  if (days !== null) return asking(ctx, task, whichWords(several, texts.retime.onDays(days)), dayOffers(several, days));
  const read = seriesIn(words, reading);
  return read === null ? null : ((await sameDays(several, read, words)) ?? askWhich(ctx, several, read, words));
}

/** The words without a rest, where they tell a series. */
function seriesIn(words: string, reading: Reading): Asked | null {
  const read = timeOr(() => readTime(words, reading));
  return read?.text === '' && read.schedule.kind !== 'once' ? read : null;
}

/** Rhythms on days that the new one has all of, and that no two of them share, give way to it without a question. */
async function sameDays(several: Several, read: Asked, words: string): Promise<Retimed | null> {
  const days = weekdaysOf(read.schedule) ?? [];
  const met = several.rhythms.flatMap((rhythm, index) => {
    const own = weekdaysOf(rhythm) ?? [];
    return own.some((day) => days.includes(day)) ? [{ own, index }] : [];
  });
  const all = met.flatMap(({ own }) => own);
  const isClear = met.length > 0 && all.every((day) => days.includes(day)) && new Set(all).size === all.length;
  return isClear ? replaced(several, { words, indexes: met.map(({ index }) => index) }) : null;
}

interface Replacing {
  readonly words: string;
  readonly indexes: readonly number[];
}

/** An end that the old rhythm had holds for the new one: nobody said that it should go on for ever. */
async function replaced({ schedule, rhythms, reading }: Several, { words, indexes }: Replacing): Promise<Retimed> {
  const ends = indexes.flatMap((index) => {
    const rhythm = rhythms[index];
    return rhythm === undefined ? [] : [endWords(rhythm, reading.now)];
  });
  const end = ends.find((one) => one !== null) ?? null;
  const ended = end === null ? null : seriesIn(`${words} ${end}`, reading);
  const tried = await triedTo(async () => {
    const { schedule: rhythm } = ended ?? readTime(words, reading);
    return inputOf(withInstead(schedule, indexes, rhythm, reading.now));
  });
  return asRetimed(tried);
}

/** The rhythm that is named by its words or by its days; of a rhythm of more days those alone are taken. */
async function inPlace(several: Several, what: string, which: string): Promise<Retimed | null> {
  const { schedule, rhythms, reading } = several;
  const told = rhythms.findIndex((rhythm) => scheduleText(rhythm, reading.now) === which.trim());
  const days = told < 0 ? weekdaysOfWords(which, reading) : null;
  const isSame = (own: readonly number[] | null) => own?.toSorted().join() === days?.toSorted().join();
  const index = told < 0 && days !== null ? rhythms.findIndex((rhythm) => isSame(weekdaysOf(rhythm))) : told;
  if (index >= 0) return replaced(several, { words: timed(what, rhythms[index], reading), indexes: [index] });
  const of = rhythms.findIndex((rhythm) => days?.every((day) => weekdaysOf(rhythm)?.includes(day)));
  if (days === null || of < 0) return null;
  const tried = await triedTo(async () => {
    const { schedule: rhythm } = readTime(timed(what, rhythms[of], reading), reading);
    return inputOf(withInstead(withoutDays(schedule, of, days), [], rhythm, reading.now));
  });
  return asRetimed(tried);
}

function weekdaysOfWords(words: string, reading: Reading): readonly number[] | null {
  const days = daysIn(words, reading);
  const read = seriesIn(days === null ? words : `every ${days} at 9:00`, reading);
  return read === null ? null : weekdaysOf(read.schedule);
}

/** Days alone come at the hours of the rhythm whose place they take. */
function timed(words: string, rhythm: Schedule | undefined, reading: Reading): string {
  const days = daysIn(words, reading);
  const hours = rhythm === undefined ? null : hoursOf(rhythm);
  return days === null || hours === null ? words : `every ${days} at ${clocks(hours)}`;
}

function clocks(hours: readonly number[]): string {
  return hours.map((minute) => clockText(minute * 60)).join(' and ');
}

function dayOffers({ rhythms, reading }: Several, days: string): readonly Offer[] {
  const offers = rhythms.slice(0, askedMax).flatMap((rhythm) => {
    const hours = hoursOf(rhythm);
    const read = hours === null ? null : seriesIn(`every ${days} at ${clocks(hours)}`, reading);
    return read === null ? [] : [offerFor(rhythm, read, reading)];
  });
  return [...offers, { text: texts.retime.button.all, when: `${days} instead of all` }];
}

function offerFor(rhythm: Schedule, { schedule, words }: Asked, { now }: Reading): Offer {
  const old = scheduleText(rhythm, now);
  return { text: texts.retime.button.inPlace(old, scheduleText(schedule, now)), when: `${words} instead of ${old}` };
}

function whichWords({ task, rhythms, reading }: Several, said: string) {
  return texts.retime.rhythms(
    taskName(task),
    rhythms.map((rhythm) => scheduleText(rhythm, reading.now)),
    said,
  );
}

function askWhich(ctx: ChatContext, several: Several, read: Asked, words: string): Retimed {
  const { rhythms, reading, task } = several;
  const { button } = texts.retime;
  const said = scheduleText(read.schedule, reading.now);
  const days = weekdaysOf(read.schedule);
  const isPart = rhythms.some((rhythm) => {
    const own = weekdaysOf(rhythm);
    return own !== null && days !== null && own.length > days.length && days.every((day) => own.includes(day));
  });
  const named = (days ?? []).map((day) => WEEKDAY_NAMES[day]).join(' and ');
  return asking(ctx, task, whichWords(several, said), [
    ...(isPart ? [{ text: button.part(said), when: `${words} instead of ${named}` }] : []),
    ...rhythms.slice(0, askedMax).map((rhythm) => offerFor(rhythm, { ...read, words }, reading)),
    { text: button.also, when: `also ${words}` },
    { text: button.all, when: `${words} instead of all` },
  ]);
}
