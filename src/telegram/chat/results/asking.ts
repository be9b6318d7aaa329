import type { Approved } from '../../../app/use-cases/approvals.ts';
import type { MissedAnswer } from '../../../app/ports/questions.ts';
import { AppError } from '../../../domain/errors.ts';
import { askExpiryMs } from '../../../domain/limits.ts';
import type { Task } from '../../../domain/task.ts';
import { alerted, redrawn } from '../kit/answers.ts';
import { settingFor } from '../kit/cards.ts';
import { nameOf } from '../kit/rights.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { pastMoment } from '../kit/clock.ts';
import { withLine, withRows } from './result.ts';
import { oneLine } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { longId } from '../kit/press.ts';
import { arg, permitted, pressedTask, targetOf } from '../kit/presser.ts';

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
