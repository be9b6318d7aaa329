import type { Task } from '../../../domain/task.ts';
import { doneAnswer } from './buttons.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { taskName } from '../task/card.ts';
import { texts } from '../texts.ts';
import { answer } from '../kit/answers.ts';
import { impliedBy, namedTask } from '../kit/naming.ts';

/** Saying that something is done, without a button and without a reply. */

const doneWords =
  /^(?:(?:ok(?:ay)?|yes|yep|all)[,!. ]+)?(?:done|taken|did it|finished|i have taken it)$|^[✅✔☑]\uFE0F?$/iu;

export function isDoneWord(words: string): boolean {
  return doneWords.test(words.trim().replace(/[.!?\s]+$/u, ''));
}

/** In the topic of a task whose reminder is open; null where the word may mean something else. */
export async function doneHere(said: Said, rooms: ConversationRooms): Promise<Answer | null> {
  const task = said.place.topicTask;
  const isBare = said.repliedTo?.isOurs !== true && isDoneWord(said.args);
  const open = task === null || !isBare ? null : await openReminder(task, rooms);
  return task === null || open === null ? null : doneWith(said, rooms, { task, occurrenceId: open });
}

/** `/done`: what is open of the task that is named or implied. */
export async function doneCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const isNameless = said.args.trim() === '' && (await impliedBy(said, rooms)) === null;
  if (isNameless) return answer(texts.reply.doneHow);
  const named = await namedTask(said, rooms, { deed: 'read', verb: 'task', isAlone: true });
  if ('answer' in named) return named.answer;
  const { task } = named;
  const open = await openReminder(task, rooms);
  return open === null
    ? answer(texts.reply.nothingOpen(taskName(task)))
    : doneWith(said, rooms, { task, occurrenceId: open });
}

const lookedAt = 10;

/** A newer run takes the place of what was open before, so there is one at most. */
async function openReminder({ id }: Task, { tasks }: ConversationRooms): Promise<string | null> {
  const { items } = await tasks.listRuns({ taskId: id, status: 'succeeded', limit: lookedAt, cursor: null });
  return items.find(({ ack }) => ack?.status === 'open')?.id ?? null;
}

interface Doing {
  readonly task: Task;
  readonly occurrenceId: string;
}

/** It stands in the result, which is not the message of the person. */
async function doneWith(said: Said, rooms: ConversationRooms, { task, occurrenceId }: Doing): Promise<Answer> {
  const { toast, ...rest } = await doneAnswer(said, rooms, {
    taskId: task.id,
    occurrenceId,
    messageId: said.messageId,
    shown: null,
  });
  if (toast?.isAlert !== true) return { ...rest, reaction: '👍' };
  return { ...rest, replies: [...rest.replies, ...answer(toast.text).replies] };
}
