import { alerted, answer, answerWith, redrawn, toasted } from '../commands/answers.ts';
import { refusal } from '../commands/rights.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { taskName } from '../views/card.ts';
import { aboutMoment, clockIn, settingOf } from '../views/clock.ts';
import { drawn } from '../views/drawing.ts';
import { isSnooze, resultButtons, snoozeButtons, snoozedTo, withLine, withRows } from '../views/result.ts';
import { lines, oneLine, pre } from '../views/rich.ts';
import { texts } from '../views/texts.ts';
import { button, dataOf, longId } from './press.ts';
import { arg, permitted, pressedTask, targetOf } from './presser.ts';

/** Buttons of results and of words about failures. They stand in the chat for months. */

const nameMax = 40;

/** That a person has done it stands in the message itself. The task is as before, so everybody here may say so. */
export async function donePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  if ('answer' in found) return found.answer;
  const { timezone, now } = settingOf(found.task, rooms.clock.now());
  const line = texts.deed.doneLine(oneLine(pressed.person.name, nameMax), clockIn(timezone, now));
  if (pressed.shown === null) return { ...answer(line), toast: { text: texts.deed.done, isAlert: false } };
  const told = withLine(pressed.shown, line);
  // Where the text leaves no room, a button says it.
  const shown = told === null ? withRows(pressed.shown, [[button(line, dataOf('seen'))]]) : withRows(told, []);
  return redrawn(pressed, shown, texts.deed.done);
}

export async function seenPressed(): Promise<Answer> {
  return toasted(texts.deed.done);
}

/** For how long? The menu takes the place of the buttons; the words stay. */
export async function snoozePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const { task } = found;
  if (task.state === 'deleted') return alerted(texts.chat.gone);
  const occurrence = arg(pressed, 1) === '' ? null : longId(arg(pressed, 1));
  const rows = snoozeButtons(task, occurrence, rooms.clock.now());
  if (occurrence !== null && pressed.shown !== null) return redrawn(pressed, withRows(pressed.shown, rows));
  const menu = drawn(texts.deed.snoozeFor(taskName(task)), rows);
  return occurrence === null ? redrawn(pressed, menu) : answerWith(menu);
}

/** Back from the menu. */
export async function resultPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  if ('answer' in found) return found.answer;
  if (pressed.shown === null) return alerted(texts.chat.oldButton);
  return redrawn(pressed, withRows(pressed.shown, resultButtons(found.task, longId(arg(pressed, 1)), 'r')));
}

export async function laterPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const word = arg(pressed, 1);
  if (!isSnooze(word)) return alerted(texts.chat.oldButton);
  const setting = settingOf(found.task, rooms.clock.now());
  const until = snoozedTo(word, setting);
  if (until === null) return alerted(texts.deed.tonightIsOver);
  const { task } = await rooms.tasks.snooze(targetOf(pressed, found.task), until);
  const at = aboutMoment(typeof until === 'number' ? until : setting.now + until.forMs, setting);
  const toast = texts.deed.snoozedWord;
  const occurrence = arg(pressed, 2);
  if (occurrence === '' || pressed.shown === null) {
    return redrawn(pressed, drawn(texts.deed.snoozed(taskName(task), at, setting.timezone)), toast);
  }
  const line = texts.deed.snoozedLine(oneLine(pressed.person.name, nameMax), at, setting.timezone);
  const shown = withLine(pressed.shown, line) ?? pressed.shown;
  return redrawn(pressed, withRows(shown, resultButtons(task, longId(occurrence), 'r')), toast);
}

/** A retry that is under way is found and not made again. */
export async function retryPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const runId = longId(arg(pressed, 0));
  const run = await rooms.tasks.getRun(runId);
  if (run.taskId === null) return alerted(texts.chat.noSuchTask);
  const found = await permitted(pressed, rooms, { deed: 'change', taskId: run.taskId });
  if ('answer' in found) return found.answer;
  await rooms.tasks.repeat('retry', runId, { actor: pressed.person.actor, idempotencyKey: pressed.key });
  return toasted(texts.deed.retried);
}

export async function errorPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const run = await rooms.tasks.getRun(longId(arg(pressed, 0)));
  if (run.taskId === null) return alerted(texts.chat.noSuchTask);
  const found = await permitted(pressed, rooms, { deed: 'read', taskId: run.taskId });
  if ('answer' in found) return found.answer;
  const error = run.error ?? run.attempts.at(-1)?.error ?? null;
  return errorAnswer(pressed, rooms, { task: found.task, error });
}

export async function lastErrorPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  if ('answer' in found) return found.answer;
  return errorAnswer(pressed, rooms, { task: found.task, error: found.task.lastError });
}

async function errorAnswer(
  pressed: Pressed,
  rooms: ConversationRooms,
  { task, error }: { readonly task: Parameters<typeof taskName>[0]; readonly error: string | null },
): Promise<Answer> {
  const refused = await refusal(pressed, 'read', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  if (error === null || error.trim() === '') return alerted(texts.notice.noError);
  return answer(lines(texts.notice.errorOf(taskName(task)), pre(error.trim())));
}
