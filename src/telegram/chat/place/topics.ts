import type { Task } from '../../../domain/task.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { taskName } from '../task/card.ts';
import { texts } from '../texts.ts';
import { answer, turnedDown } from '../kit/answers.ts';
import { numberIn } from '../kit/naming.ts';
import { refusal } from '../kit/rights.ts';

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
