import { alerted, redrawn, toasted } from '../kit/answers.ts';
import { refusal } from '../kit/rights.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { withLine, withRows } from './result.ts';
import { oneLine } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { longId } from '../kit/press.ts';
import { arg, permitted } from '../kit/presser.ts';

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
  return settled(pressed, rooms, true);
}

export async function resendPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return settled(pressed, rooms, false);
}

async function settled(pressed: Pressed, rooms: ConversationRooms, arrived: boolean): Promise<Answer> {
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
