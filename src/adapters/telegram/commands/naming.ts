import type { ChatTasksQuery } from '../../../app/chat-store.ts';
import type { Deed } from '../../../domain/access.ts';
import { undoMs } from '../../../domain/limits.ts';
import type { Task } from '../../../domain/task.ts';
import { button, dataOf, shortId, type Verb } from '../buttons/press.ts';
import type { Answer, ConversationRooms, Place, Said } from '../conversation.ts';
import { choiceDrawn, pageSize } from '../views/list.ts';
import { blocks } from '../views/rich.ts';
import { taskName } from '../views/card.ts';
import { texts } from '../views/texts.ts';
import { answer, answerWith } from './answers.ts';
import { refusal } from './rights.ts';

/** What a command wants to do with a task. */
export interface Wish {
  readonly deed: Deed;
  /** What the button of a list does, when no task was named. */
  readonly verb: Verb;
  /** Tasks that the wish fits. */
  readonly fits?: ChatTasksQuery['filter'];
  /** Nothing may follow the task: words that do could name another one, and are not guessed at. */
  readonly isAlone?: boolean;
}

/** The task that is meant, and what else was said. */
export interface Named {
  readonly task: Task;
  readonly rest: string;
}

export interface Told {
  readonly answer: Answer;
}

/** `#3` names a task everywhere; a bare number does so only outside of a task's topic, as the first argument. */
export function numberIn(
  { topicTask }: Pick<Place, 'topicTask'>,
  args: string,
): { number: number; rest: string } | null {
  const pattern = topicTask === null ? /^(?:#\s?)?(\d{1,9})(?:\s+|$)/ : /^#\s?(\d{1,9})(?:\s+|$)/;
  const match = pattern.exec(args);
  return match === null ? null : { number: Number(match[1]), rest: args.slice(match[0].length).trim() };
}

/** Finds the task that somebody means; where it is not clear, a short list with buttons asks. Never a guess. */
export async function namedTask(said: Said, rooms: ConversationRooms, wish: Wish): Promise<Named | Told> {
  const { place, args } = said;
  const numbered = numberIn(place, args);
  if (numbered === null) {
    if (place.topicTask === null) return { answer: await which(said, rooms, wish) };
    return allowed(said, rooms, { wish, named: { task: place.topicTask, rest: args.trim() } });
  }
  const task = await rooms.store.taskByNumber(place.chat.id, numbered.number);
  if (task === null) return { answer: await noSuchNumber(said, rooms, { wish, number: numbered.number }) };
  return allowed(said, rooms, { wish, named: { task, rest: numbered.rest } });
}

interface Found {
  readonly wish: Wish;
  readonly named: Named;
}

async function allowed(said: Said, rooms: ConversationRooms, { wish, named }: Found): Promise<Named | Told> {
  const refused = await refusal(said, wish.deed, { task: named.task, rooms });
  if (refused !== null) return { answer: answer(refused) };
  if (wish.isAlone === true && named.rest !== '') return { answer: leftOver(said, named) };
  return named.task.state === 'deleted' ? { answer: deletedAnswer(named.task, rooms.clock.now()) } : named;
}

function leftOver({ place, command }: Said, { task, rest }: Named): Answer {
  const isImplied = place.topicTask?.id === task.id;
  return answer(texts.list.leftOver(`/${command ?? 'task'}`, rest, isImplied ? taskName(task) : null));
}

/** For a day what was deleted can be brought back; after that it does not exist. */
function deletedAnswer(task: Task, now: number): Answer {
  const isBack = task.deleted !== null && now - task.deleted.at <= undoMs;
  if (!isBack) return answer(texts.list.noSuchNumber(task.number));
  return answer(texts.deed.isDeleted(taskName(task)), [
    [button(texts.button.undo, dataOf('restore', shortId(task.id)))],
  ]);
}

async function which({ place, command }: Said, { store }: ConversationRooms, { verb, fits }: Wish): Promise<Answer> {
  const tasks = await shortList(place, store, fits ?? 'all');
  if (tasks.length === 0) return answer(texts.list.noneAtAll);
  return answerWith(choiceDrawn(texts.list.whichOne(`/${command ?? 'task'}`), tasks, verb));
}

async function noSuchNumber(
  { place }: Said,
  { store }: ConversationRooms,
  { wish, number }: { readonly wish: Wish; readonly number: number },
): Promise<Answer> {
  const { list } = texts;
  const tasks = await shortList(place, store, wish.fits ?? 'all');
  if (tasks.length === 0) return answer(blocks(list.noSuchNumber(number), list.noneAtAll));
  return answerWith(choiceDrawn(blocks(list.noSuchNumber(number), list.existing), tasks, wish.verb));
}

async function shortList(
  { chat }: Place,
  store: ConversationRooms['store'],
  fits: ChatTasksQuery['filter'],
): Promise<readonly Task[]> {
  const query = { chatId: chat.id, ownerId: null, text: null, offset: 0, limit: pageSize };
  const fitting = await store.chatTasks({ ...query, filter: fits });
  // That none fits is seen best on those that are there.
  return fitting.total > 0 || fits === 'all'
    ? fitting.tasks
    : (await store.chatTasks({ ...query, filter: 'all' })).tasks;
}
