import type { ThreadCounts } from '../../../app/ports/tasks.ts';
import { threadKeyOf } from '../../../domain/thread.ts';
import type { Drawn } from '../../../domain/shown.ts';
import { button, dataOf } from '../kit/press.ts';
import type { Answer, ConversationRooms, Place, Said } from '../conversation.ts';
import { drawn } from '../kit/drawing.ts';
import { texts } from '../texts.ts';
import { answer, answerWith, turnedDown } from '../kit/answers.ts';
import { refusal } from '../kit/rights.ts';

/** `/purge`: all tasks of the chat go, once somebody has seen how many that are. */
export async function purgeCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'manage', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  if (said.args.trim() !== '') return answer(texts.purge.alone);
  return answerWith(purgeDrawn(await rooms.threads.count(threadOf(said.place))));
}

export function threadOf({ chat }: Place): string {
  return threadKeyOf({ provider: 'telegram', address: chat.address, topic: null });
}

export function allOf({ active, paused, completed }: ThreadCounts): number {
  return active + paused + completed;
}

/** The question, with the number on its button: whoever presses has read it twice. */
export function purgeDrawn(counts: ThreadCounts): Drawn {
  const { purge, topic } = texts;
  const all = allOf(counts);
  if (all === 0) return drawn(purge.none);
  return drawn(purge.confirm(counts, all), [
    [button(purge.deleteAll(all), dataOf('purge', all)), button(topic.keep, dataOf('keep'))],
  ]);
}
