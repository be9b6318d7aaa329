import type { TaskPatch } from '../../../app/tasks/edit.ts';
import { withHours } from '../../../domain/schedule/hours.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { alerted, redrawn } from '../kit/answers.ts';
import { taskName, cardOf, factsOf, markFor, nextSentence } from '../kit/card.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import { arg, pressedTask } from '../kit/rights.ts';
import { likelyZones } from '../kit/zones.ts';
import { texts } from '../texts.ts';
import { change } from './editing.ts';
import { choicePatch } from './field-words.ts';
import { isRepeating } from './retiming.ts';
import { isSetting, moreMenu, settingMenu, zoneMenu } from './view.ts';

/** The menus of what can be changed: each takes the place of the one before, in the same message. */

export async function fieldPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const { task } = found;
  if (task.state === 'deleted') return redrawn(pressed, await cardOf(task, rooms, markFor(pressed)));
  const name = arg(pressed, 1);
  const now = rooms.clock.now();
  if (name === 'more') return redrawn(pressed, moreMenu(task, await factsOf(task, rooms, markFor(pressed))));
  if (name === 'zone') return redrawn(pressed, zoneMenu(task, likelyZones(pressed.place.timezone, now)));
  return isSetting(name) ? redrawn(pressed, settingMenu(task, name, now)) : alerted(texts.chat.oldButton);
}

/** One value of one setting. The message says what is different now, and how to take it back. */
export async function fieldSetPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const { task } = found;
  if (task.state === 'deleted') return redrawn(pressed, await cardOf(task, rooms, markFor(pressed)));
  const [, name = '', ...values] = pressed.press?.args ?? [];
  const patch = choicePatch(task, name, values.join(':'), pressed.date);
  if (patch === null) return alerted(texts.chat.oldButton);
  const { words, rows } = await change(pressed, rooms, { task, patch });
  const back = button(texts.button.back, dataOf('edit', shortId(task.id)));
  return redrawn(pressed, drawn(words, [[...rows.flat(), back]]));
}

/** The answers to what is asked about a new time: once, at other hours, or as it was. */

export async function makeOncePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return changed(pressed, rooms, ({ schedule: { timezone } }) => {
    const seconds = /^[0-9a-z]{1,8}$/.test(arg(pressed, 1)) ? Number.parseInt(arg(pressed, 1), 36) : Number.NaN;
    const at = seconds * 1000;
    if (Number.isNaN(at)) return texts.chat.oldButton;
    if (at <= rooms.clock.now()) return texts.deed.tonightIsOver;
    return { schedule: { kind: 'once', once_at: new Date(at).toISOString(), timezone } };
  });
}

export async function hoursPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return changed(pressed, rooms, (task) => {
    const times = arg(pressed, 1).split('.').map(minutesIn);
    const isRead = times.every((time) => time !== null) && isRepeating(task);
    const schedule = isRead ? withHours(task.schedule, times) : null;
    return schedule === null ? texts.chat.oldButton : { schedule };
  });
}

function minutesIn(digits: string): number | null {
  const [, hour, minute] = /^([01]\d|2[0-3])([0-5]\d)$/.exec(digits) ?? [];
  return hour === undefined || minute === undefined ? null : Number(hour) * 60 + Number(minute);
}

/** Changes the task, or says in a window why that button is over. */
async function changed(
  pressed: Pressed,
  rooms: ConversationRooms,
  patchOf: (task: Task) => TaskPatch | string,
): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const { task } = found;
  if (task.state === 'deleted') return redrawn(pressed, await cardOf(task, rooms, markFor(pressed)));
  const patch = patchOf(task);
  if (typeof patch === 'string') return alerted(patch);
  const { words, rows } = await change(pressed, rooms, { task, patch });
  return redrawn(pressed, drawn(words, rows));
}

export async function keptPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  if ('answer' in found) return found.answer;
  const { task } = found;
  if (task.state === 'deleted') return redrawn(pressed, await cardOf(task, rooms, markFor(pressed)));
  const words = texts.retime.kept(taskName(task), await nextSentence(task, rooms));
  return redrawn(pressed, drawn(words), texts.retime.keptWord);
}
