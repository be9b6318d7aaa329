import type { Task } from '../../../domain/task.ts';
import { DAY_MS } from '../../../domain/schedule/time/calendar.ts';
import { alerted, redrawn } from '../kit/answers.ts';
import { cardOf, markFor, settingFor } from '../kit/cards.ts';
import { undoRow } from '../edit/editing.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { taskName } from './card.ts';
import { aboutMoment, settingOf, type Setting } from '../kit/clock.ts';
import { dayIn, dayRows, isDay, nextMonday, startOf } from '../kit/days.ts';
import { drawn } from '../kit/drawing.ts';
import { texts } from '../texts.ts';
import { button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { arg, pressedTask, targetOf } from '../kit/presser.ts';

/** The answer to a pause, and from when on the task shall go on by itself. */

/** The buttons below it. The data names days, because tomorrow is another day when it is pressed tomorrow. */
export function pausedRows(task: Task, entryId: string | null, now: number): Rows {
  const { button: words, pick } = texts;
  const id = shortId(task.id);
  const setting = settingOf(task, now);
  const today = dayIn(setting, now);
  const monday = nextMonday(today);
  const goOn = button(words.resume, dataOf('resume', id, 'c'));
  return [
    [goOn, ...undoRow(task, entryId).flat()],
    [
      button(pick.untilTomorrow, dataOf('pauseto', id, today + 1)),
      monday === today + 1 ? null : button(pick.untilMonday, dataOf('pauseto', id, monday)),
      button(pick.pick, dataOf('pauseto', id, 'pick')),
    ],
  ];
}

export function pausedWords(task: Task, setting: Setting) {
  const end = task.resumeAt === null ? null : aboutMoment(task.resumeAt, setting);
  return texts.deed.paused(taskName(task), end, setting.timezone);
}

export function pausedBeforeWords(task: Task, by: string | null, setting: Setting) {
  return texts.deed.pausedBefore(taskName(task), {
    since: task.paused === null ? null : aboutMoment(task.paused.at, setting),
    by,
    until: task.resumeAt === null ? null : `${aboutMoment(task.resumeAt, setting)} (${setting.timezone})`,
  });
}

export async function pauseToPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const now = rooms.clock.now();
  if (found.task.state === 'deleted') return redrawn(pressed, await cardOf(found.task, rooms, markFor(pressed)));
  const setting = await settingFor(found.task, rooms);
  const day = arg(pressed, 1);
  if (day === 'pick') {
    const id = shortId(found.task.id);
    const rows = dayRows(setting, (each) => dataOf('pauseto', id, each), 1);
    const back = [button(texts.button.back, dataOf('task', id))];
    return redrawn(pressed, drawn(texts.pick.pauseDay(taskName(found.task)), [...rows, back]));
  }
  const until = /^\d{1,6}$/.test(day) ? Number(day) : Number.NaN;
  // The first instant of today is over.
  if (!isDay(until, { ...setting, now: now + DAY_MS })) return alerted(texts.pick.over);
  const { task, entryId } = await rooms.tasks.pause(targetOf(pressed, found.task), startOf(until, setting));
  if (task.state !== 'paused') return alerted(texts.deed.notPausable(taskName(task)).text);
  const words = pausedWords(task, setting);
  return redrawn(pressed, drawn(words, pausedRows(task, entryId, now)), texts.deed.pausedWord);
}
