import type { TaskPatch } from '../../../app/tasks/edit.ts';
import { AppError } from '../../../domain/errors.ts';
import { combined, leavingOutAs } from '../../../domain/schedule/combine.ts';
import {
  piecesOf,
  withoutDaysAs,
  withoutException,
  withoutMoment,
  withoutRhythm,
} from '../../../domain/schedule/pieces.ts';
import { exceptionWords, inputOf, type Schedule } from '../../../domain/schedule/schedule.ts';
import type { Exception } from '../../../domain/schedule/words/facts.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import { readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Setting } from '../../../domain/when/setting.ts';
import { triedTo } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { capital, moment, scheduleText, settingOf, telling } from '../kit/clock.ts';
import { type PlaceAndDate, readingFor } from '../kit/drafts.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { drawn, oneLine } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { asRetimed, isRepeating, type Retimed } from './retiming.ts';

/** The rhythms and exceptions of a task, one by one: each has a button that takes it back, and words add more. */

const itemsShown = 12;

interface Item {
  /** Tells one item from the others, so that a button that is older than a change hits nothing else. */
  readonly key: string;
  readonly words: string;
  readonly left: () => Schedule | null;
}

/** Pieces of a schedule that it has in common with the one before. */
export function staying(before: Schedule, after: Schedule, now: number): readonly string[] {
  const words = (schedule: Schedule) => itemsOf({ schedule }, now).map((item) => item.words);
  const had = words(before);
  return words(after).filter((each) => had.includes(each));
}

function itemsOf({ schedule }: Pick<Task, 'schedule'>, now: number): readonly Item[] {
  const setting = settingOf({ schedule }, now);
  const { rhythms, moments, exceptions } = piecesOf(schedule, now);
  const several = rhythms.length > 1 ? rhythms : [];
  return [
    ...several.map((rhythm, index) => {
      const words = scheduleText(rhythm, now);
      return { key: keyOf(words), words, left: () => withoutRhythm(schedule, index) };
    }),
    ...moments.map((at) => {
      const words = texts.rhythms.also(moment(at, setting));
      return { key: keyOf(String(at)), words, left: () => withoutMoment(schedule, at) };
    }),
    ...exceptions.map((exception) => {
      const words = texts.rhythms.not(exceptionWords(exception, telling(setting)));
      return { key: keyOf(JSON.stringify(exception)), words, left: () => withoutException(schedule, exception) };
    }),
  ];
}

/** A short name for a text, as long as a button has room for. */
function keyOf(text: string): string {
  let hash = 0;
  for (const char of text) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  return hash.toString(36);
}

export function rhythmMenu(task: Task, now: number): Drawn {
  const { rhythms, button: words } = texts;
  const id = shortId(task.id);
  const items = itemsOf(task, now);
  const rows = items
    .slice(0, itemsShown)
    .map(({ key, words: item }) => [button(rhythms.remove(oneLine(item, 50)), dataOf('fieldset', id, 'days', key))]);
  const runs = `${scheduleText(task.schedule, now)} (${task.schedule.timezone})`;
  return drawn(
    rhythms.menu(taskName(task), { runs: capital(runs), number: task.number, isPlain: items.length === 0 }),
    [...rows, [button(words.back, dataOf('edit', id))]],
  );
}

/** The rhythm or exception that a button of the menu takes back; null where it is gone. */
export function withoutItem(task: Task, key: string, now: number): TaskPatch | null {
  const left = isRepeating(task)
    ? itemsOf(task, now)
        .find((item) => item.key === key)
        ?.left()
    : null;
  return left === null || left === undefined ? null : { schedule: inputOf(left) };
}

const exceptLead =
  /^(?:(?:but\s+)?(?:except|excluding|not|never|without)\b|(?:no|remove|drop)\s+(?=(?:\p{L}+days?|weekends?)\b))/iu;
const alsoLead = /^(?:and\s+)?(?:also|additionally|plus)\s+/iu;

const backLead =
  /^(?:(?:no|without|remove|drop|clear|delete) (?:any |all |the |its )*exceptions?(?: (?:for|on|of))?|(?:not|no longer|remove|drop) (?:the )?except(?:ion)?)\b\s*(?<which>.*)$/iu;

/** `no exceptions`, `no exception on 7 december`: as the buttons of the menu do; null for other words, and for what is no exception of the task. */
function takenBack({ schedule }: Task, said: string, setting: Setting): Retimed | null {
  const which = backLead.exec(said)?.groups?.['which'];
  const { exceptions } = piecesOf(schedule, setting.now);
  if (which === undefined || exceptions.length === 0) return null;
  const bare = exceptions.reduce(withoutException, schedule);
  if (which === '') return { patch: { schedule: inputOf(bare) } };
  const named = timeOr(() => {
    const { schedule: other } = readTime(`every day at 9:00 except ${which}`, setting);
    return leavingOutAs(bare, other, setting.now);
  });
  const told = (exception: Exception) => exceptionWords(exception, telling(settingOf({ schedule }, setting.now)));
  const words = new Set(named === null ? [] : piecesOf(named, setting.now).exceptions.map(told));
  const gone = exceptions.filter((one) => words.has(told(one)));
  if (gone.length === 0) return null;
  return { patch: { schedule: inputOf(gone.reduce(withoutException, schedule)) } };
}

/** `except 24 december`, `not on sundays`, `also saturdays at 11`; null for other words. */
export async function pieced(task: Task, words: string, here: PlaceAndDate): Promise<Retimed | null> {
  const back = isRepeating(task) ? takenBack(task, words.trim().replaceAll(/\s+/g, ' '), readingFor(task, here)) : null;
  if (back !== null) return back;
  const isExcept = exceptLead.test(words);
  if (!(isExcept || alsoLead.test(words)) || !isRepeating(task)) return null;
  const { schedule } = task;
  const setting = readingFor(task, here);
  const phrase = isExcept
    ? `every day at 9:00 ${words.replace(/^(?:remove|drop)\b/i, 'except')}`
    : words.replace(alsoLead, '');
  const read = await triedTo(async () => {
    const { schedule: other, text } = readTime(phrase, setting);
    if (text !== '') throw new AppError('invalid_schedule', texts.rhythms.leftOver(oneLine(text, 60)));
    const all = isExcept ? withoutDaysAs(schedule, other, setting.now) : combined([schedule, other], {}, setting);
    return inputOf(all);
  });
  return asRetimed(read);
}
