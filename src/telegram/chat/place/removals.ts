import type { ThreadCounts } from '../../../app/ports/tasks.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { Thread } from '../../../domain/thread.ts';
import type { Answer, ConversationRooms, Place, Said, Pressed } from '../conversation.ts';
import { answer, answerWith, turnedDown, alerted, redrawn, toasted } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { numberIn } from '../kit/naming.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import { refusal, arg, pressedTask, targetOf } from '../kit/rights.ts';
import { texts } from '../texts.ts';

/** `/purge`: all tasks of the chat go, once somebody has seen how many that are. */
export async function purgeCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'manage', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  if (said.args.trim() !== '') return answer(texts.purge.alone);
  return answerWith(purgeDrawn(await rooms.bulk.count(threadOf(said.place))));
}

export function threadOf({ chat }: Pick<Place, 'chat'>): Thread {
  return { provider: 'telegram', address: chat.address, topic: null };
}

function allOf({ active, paused, completed }: ThreadCounts): number {
  return active + paused + completed;
}

/** The question, with the number on its button: whoever presses has read it twice. */
function purgeDrawn(counts: ThreadCounts): Drawn {
  const { purge, topic } = texts;
  const all = allOf(counts);
  if (all === 0) return drawn(purge.none);
  return drawn(purge.confirm(counts, all), [
    [button(purge.deleteAll(all), dataOf('purge', all)), button(topic.keep, dataOf('keep'))],
  ]);
}

/** Tasks that are named in the answer, so that they can be brought back by their numbers. */
const namedMax = 20;

/** What was made or deleted since the question is asked about anew: nobody deletes what they were not told of. */
export async function purgePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'manage', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const { purge } = texts;
  const thread = threadOf(pressed.place);
  const counts = await rooms.bulk.count(thread);
  const all = allOf(counts);
  // Pressed twice: the answer to the first press stays.
  if (all === 0) return toasted(purge.none);
  if (String(all) !== arg(pressed, 0)) return redrawn(pressed, purgeDrawn(counts), purge.changed);
  const query = { chatId: pressed.place.chat.id, filter: 'all', ownerId: null, text: null, offset: 0 } as const;
  const { tasks } = await rooms.store.chatTasks({ ...query, limit: namedMax });
  await rooms.bulk.purge(thread, { actor: pressed.person.actor });
  const names = tasks.toSorted((a, b) => a.number - b.number).map(taskName);
  return redrawn(pressed, drawn(purge.done(all, names, all - names.length)), purge.doneWord(all));
}

/** `/topic delete`: the topic of a task goes, with all its messages, and the task goes on. */
export async function topicCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const { topic } = texts;
  const words = /^delete(?=\s|$)\s*(.*)$/is.exec(said.args.trim());
  if (words === null) return answer(topic.how());
  const found = await meant(said, rooms, words[1] ?? '');
  if ('answer' in found) return found.answer;
  const { task } = found;
  const refused = await refusal(said, 'change', { task, rooms });
  if (refused !== null) return turnedDown(refused);
  if (task.topicState === 'creating') return answer(topic.beingMade(taskName(task)));
  if (task.topicId === null) {
    return answer(said.place.isForum ? topic.none(taskName(task)) : topic.unavailable(taskName(task)));
  }
  const isDeleted = task.state === 'deleted';
  return answer(topic.confirm(taskName(task), isDeleted), [
    [button(topic.deleteIt, dataOf('topicdelete', shortId(task.id), task.topicId)), button(topic.keep, dataOf('keep'))],
  ]);
}

/** Also a deleted task may have a topic still, which is closed then. */
async function meant(
  { place }: Said,
  { store }: ConversationRooms,
  rest: string,
): Promise<{ readonly task: Task } | { readonly answer: Answer }> {
  const { topic, list } = texts;
  const numbered = numberIn(place, rest);
  if (numbered !== null) {
    if (numbered.rest !== '') return { answer: answer(topic.how()) };
    const task = await store.taskByNumber(place.chat.id, numbered.number);
    return task === null ? { answer: answer(list.noSuchNumber(numbered.number)) } : { task };
  }
  if (rest.trim() !== '') return { answer: answer(topic.how()) };
  if (place.topicTask !== null) return { task: place.topicTask };
  return { answer: answer(place.topic === null ? topic.how() : topic.notOurs) };
}

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
