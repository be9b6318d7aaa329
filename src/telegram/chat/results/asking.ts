import type { MissedAnswer } from '../../../app/ports/questions.ts';
import type { Approved } from '../../../app/use-cases/approvals.ts';
import { AppError } from '../../../domain/errors.ts';
import { askExpiryMs } from '../../../domain/limits.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { alerted, redrawn, toasted } from '../kit/answers.ts';
import { settingFor } from '../kit/card.ts';
import { pastMoment } from '../kit/clock.ts';
import { longId } from '../kit/press.ts';
import { oneLine } from '../kit/rich.ts';
import { nameOf, arg, permitted, pressedTask, targetOf, refusal } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { withLine, withRows } from './view.ts';

/** Buttons of questions: what becomes of missed runs, and whether a result is shown. */

const nameMax = 40;

/** The question with what became of it, and without its buttons. */
function settled(pressed: Pressed, line: string, toast: string): Answer {
  if (pressed.shown === null) return alerted(line);
  return redrawn(pressed, withRows(withLine(pressed.shown, line) ?? pressed.shown, []), toast);
}

function inWindow(answer: Answer): Answer {
  const { toast } = answer;
  return toast === null || toast === undefined ? answer : { ...answer, toast: { ...toast, isAlert: true } };
}

function isChoice(word: string): word is MissedAnswer {
  return word === 'latest' || word === 'all' || word === 'none';
}

export async function missedPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const choice = arg(pressed, 1);
  if (!isChoice(choice)) return alerted(texts.chat.oldButton);
  const { reminder } = texts;
  try {
    await rooms.tasks.answer(targetOf(pressed, found.task), choice);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'nothing_to_answer') throw error;
    return answeredBefore(pressed, rooms, found.task);
  }
  const line = reminder.missedDecided[choice](oneLine(pressed.person.name, nameMax));
  return settled(pressed, line, reminder.missedWord[choice]);
}

/** Whoever comes too late is told who came first, or that the time is over. */
async function answeredBefore(pressed: Pressed, rooms: ConversationRooms, task: Task): Promise<Answer> {
  const { reminder } = texts;
  const last = await rooms.store.lastAnswer(task.id, rooms.clock.now() - askExpiryMs);
  if (last === null) return inWindow(settled(pressed, reminder.missedOver, reminder.missedOver));
  const name = (await nameOf(rooms, last.by)) ?? texts.chat.somebody;
  const line = reminder.missedDecided[last.choice](oneLine(name, nameMax));
  return inWindow(settled(pressed, line, line));
}

export async function deliverPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return decided(pressed, rooms, true);
}

export async function discardPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return decided(pressed, rooms, false);
}

async function decided(pressed: Pressed, rooms: ConversationRooms, isGiven: boolean): Promise<Answer> {
  const runId = longId(arg(pressed, 0));
  const { taskId } = await rooms.tasks.getRun(runId);
  if (taskId === null) return alerted(texts.chat.noSuchTask);
  // In a group nobody lets their own results go: that takes an admin. To discard them takes no more than to delete the task.
  const isOfGroup = pressed.place.chat.address.startsWith('-');
  const found = await permitted(pressed, rooms, { deed: isGiven && isOfGroup ? 'manage' : 'change', taskId });
  if ('answer' in found) return found.answer;
  const approved = await rooms.approvals.decide({ runId, actor: pressed.person.actor, isGiven });
  return approvalAnswer(pressed, rooms, { task: found.task, approved });
}

interface ApprovalTold {
  readonly task: Task;
  readonly approved: Approved;
}

async function approvalAnswer(
  pressed: Pressed,
  rooms: ConversationRooms,
  { task, approved }: ApprovalTold,
): Promise<Answer> {
  const { reminder } = texts;
  if (approved.is === 'expired') return inWindow(settled(pressed, reminder.approvalExpired, reminder.approvalExpired));
  if (approved.is === 'none') return alerted(texts.chat.oldButton);
  const { by, at, isGiven, isFirst } = approved;
  const name = (await nameOf(rooms, by)) ?? texts.chat.somebody;
  const when = pastMoment(at, await settingFor(task, rooms));
  const words = isGiven ? reminder.approved : reminder.discarded;
  const line = words(oneLine(name, nameMax), when);
  if (!isFirst && by !== pressed.person.actor) return inWindow(settled(pressed, line, line));
  return settled(pressed, line, isGiven ? reminder.approvedWord : reminder.discardedWord);
}

/** Buttons of messages that wait for a person: what could not be shown, and what may have been. */

/** The cause is one of the whole chat, so everything that waits there is looked at; the named task's topic is made anew. */
export async function unblockPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const taskId = arg(pressed, 0) === '' ? null : longId(arg(pressed, 0));
  const found = taskId === null ? null : await permitted(pressed, rooms, { deed: 'change', taskId });
  if (found !== null && 'answer' in found) return found.answer;
  const { store, clock } = rooms;
  const chatId = pressed.place.chat.id;
  const now = clock.now();
  const own = taskId === null ? 0 : await store.retryBlocked({ chatId, taskId, inDoubt: true }, now);
  const others = await store.retryBlocked({ chatId, taskId: null, inDoubt: false }, now);
  return toasted(texts.deed.looking(own + others));
}

export async function arrivedPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return waitingSettled(pressed, rooms, true);
}

export async function resendPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return waitingSettled(pressed, rooms, false);
}

async function waitingSettled(pressed: Pressed, rooms: ConversationRooms, arrived: boolean): Promise<Answer> {
  const { store, clock } = rooms;
  const deliveryId = longId(arg(pressed, 0));
  const parts = await store.unknownParts(pressed.place.chat.address, '');
  const part = parts.find((one) => one.deliveryId === deliveryId);
  // What is not open in this chat is settled, or none of its business.
  if (part === undefined) return alerted(texts.deed.settledBefore);
  const refused = await mayNotSettle(pressed, rooms, part.taskId);
  if (refused !== null) return refused;
  if (!(await store.settleByHand(deliveryId, arrived, clock.now()))) return alerted(texts.deed.settledBefore);
  const toast = arrived ? texts.deed.answerArrived : texts.deed.answerResend;
  const line = texts.deed.settledLine(oneLine(pressed.person.name, 40), arrived);
  const shown = pressed.shown === null ? null : withLine(pressed.shown, line);
  return shown === null ? toasted(toast) : redrawn(pressed, withRows(shown, []), toast);
}

async function mayNotSettle(pressed: Pressed, rooms: ConversationRooms, taskId: string | null): Promise<Answer | null> {
  if (taskId !== null) {
    const found = await permitted(pressed, rooms, { deed: 'change', taskId });
    return 'answer' in found ? found.answer : null;
  }
  const refused = await refusal(pressed, 'manage', { task: null, rooms });
  return refused === null ? null : alerted(refused);
}
