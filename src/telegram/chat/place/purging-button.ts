import { alerted, redrawn, toasted } from '../kit/answers.ts';
import { allOf, purgeDrawn, threadOf } from './purging.ts';
import { refusal } from '../kit/rights.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { taskName } from '../task/card.ts';
import { drawn } from '../kit/drawing.ts';
import { texts } from '../texts.ts';
import { arg } from '../kit/presser.ts';

/** Tasks that are named in the answer, so that they can be brought back by their numbers. */
const namedMax = 20;

/** What was made or deleted since the question is asked about anew: nobody deletes what they were not told of. */
export async function purgePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'manage', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const { purge } = texts;
  const threadKey = threadOf(pressed.place);
  const counts = await rooms.threads.count(threadKey);
  const all = allOf(counts);
  // Pressed twice: the answer to the first press stays.
  if (all === 0) return toasted(purge.none);
  if (String(all) !== arg(pressed, 0)) return redrawn(pressed, purgeDrawn(counts), purge.changed);
  const query = { chatId: pressed.place.chat.id, filter: 'all', ownerId: null, text: null, offset: 0 } as const;
  const { tasks } = await rooms.store.chatTasks({ ...query, limit: namedMax });
  await rooms.threads.purge(threadKey, { actor: pressed.person.actor });
  const names = tasks.toSorted((a, b) => a.number - b.number).map(taskName);
  return redrawn(pressed, drawn(purge.done(all, names, all - names.length)), purge.doneWord(all));
}
