import { alerted, redrawn } from '../kit/answers.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { taskName } from '../task/card.ts';
import { drawn } from '../kit/drawing.ts';
import { texts } from '../texts.ts';
import { arg, pressedTask, targetOf } from '../kit/presser.ts';

/**
 * The topic is taken from the task first, so that nothing is sent into it any more, and then removed. The answer goes
 * elsewhere: what stands in the topic goes with it.
 */
export async function topicDeletePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const { task } = found;
  const topicId = Number(arg(pressed, 1));
  const { topic } = texts;
  if (!Number.isSafeInteger(topicId) || topicId <= 0) return alerted(texts.chat.oldButton);
  const unbound = await rooms.tasks.unbindTopic(targetOf(pressed, task), topicId);
  if (unbound === 'creating') return alerted(topic.beingMade(taskName(task)).text);
  if (unbound === 'none') return alerted(topic.goneBefore);
  const shown = drawn(topic.deleted(taskName(task), task.state === 'deleted'));
  const removal = { is: 'removeTopic', topic: topicId } as const;
  const toast = { text: topic.deletedWord, isAlert: false };
  if (pressed.place.topic !== topicId) {
    return { replies: [removal, { is: 'edit', messageId: pressed.messageId, shown }], toast };
  }
  // Whoever presses twice is told once; whether the removal was asked for the first time nobody knows.
  return { replies: unbound === 'before' ? [removal] : [removal, { is: 'message', shown, inBase: true }], toast };
}

/** Nothing happens, and the question is answered. */
export async function keepPressed(pressed: Pressed): Promise<Answer> {
  return redrawn(pressed, drawn(texts.topic.kept));
}
