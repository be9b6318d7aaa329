import type { ChatTasksQuery } from '../../../app/chat-store.ts';
import { isActor } from '../../../domain/actor.ts';
import { AppError } from '../../../domain/errors.ts';
import type { Task } from '../../../domain/task.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Answer, ConversationRooms, Person, Place, Said } from '../conversation.ts';
import { taskName } from '../views/card.ts';
import { aboutMoment, capital, dateIn, moment, settingOf, type Setting } from '../views/clock.ts';
import { historyDrawn } from '../views/history.ts';
import { listDrawn, pageSize, type Filter, type Listing } from '../views/list.ts';
import { blocks, lines, oneLine, type Rich } from '../views/rich.ts';
import { texts } from '../views/texts.ts';
import { answer, answerWith } from './answers.ts';
import { cardOf, markFor } from './cards.ts';
import { namedTask, numberIn } from './naming.ts';
import { nameOf, refusal } from './rights.ts';

/** Reading. Members of an approved chat may, so a refusal can only come from a chat that is none of theirs. */

const filters: readonly Filter[] = ['all', 'active', 'paused', 'failing', 'completed', 'mine'];

export function isFilter(word: string): word is Filter {
  return filters.some((filter) => filter === word);
}

export async function listCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'read', { task: null, rooms });
  if (refused !== null) return answer(refused);
  const words = said.args.trim().replace(/\s+/g, ' ');
  const word = words.toLowerCase();
  const listing: Listing = isFilter(word)
    ? { filter: word, text: null, page: 0 }
    : { filter: 'all', text: words === '' ? null : words, page: 0 };
  return answerWith(await listOf(listing, said, rooms));
}

export async function listOf(
  listing: Listing,
  { place, person }: { readonly place: Place; readonly person: Person },
  { store, clock }: ConversationRooms,
): Promise<Drawn> {
  const query: Omit<ChatTasksQuery, 'offset'> = {
    chatId: place.chat.id,
    filter: listing.filter === 'mine' ? 'all' : listing.filter,
    ownerId: listing.filter === 'mine' ? person.actor : null,
    text: listing.text,
    limit: pageSize,
  };
  let page = listing.page;
  let found = await store.chatTasks({ ...query, offset: page * pageSize });
  if (found.tasks.length === 0 && found.total > 0) {
    // Tasks have gone since the buttons were drawn, so the last page is another one by now.
    page = Math.ceil(found.total / pageSize) - 1;
    found = await store.chatTasks({ ...query, offset: page * pageSize });
  }
  return listDrawn({ ...listing, page }, { ...found, now: clock.now(), timezone: place.timezone });
}

/** Without a number it is the task of the topic; elsewhere a word of the title may do. */
export async function cardCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const isSearch = /[^\d\s]/.test(said.args) && numberIn(said.place, said.args) === null;
  if (isSearch) return listCommand(said, rooms);
  const named = await namedTask(said, rooms, { deed: 'read', verb: 'task', isAlone: true });
  if ('answer' in named) return named.answer;
  return answerWith(await cardOf(named.task, rooms, markFor(said)));
}

const historyShown = 10;

export async function historyCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'read', verb: 'history', isAlone: true });
  return 'answer' in named ? named.answer : answerWith(await historyOf(named.task, rooms));
}

export async function historyOf(task: Task, { tasks, clock }: ConversationRooms): Promise<Drawn> {
  const { items } = await tasks.listRuns({ taskId: task.id, status: null, limit: historyShown, cursor: null });
  return historyDrawn(task, items, clock.now());
}

const comingShown = 10;

export async function nextCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'read', verb: 'task', isAlone: true });
  if ('answer' in named) return named.answer;
  const { task } = named;
  const { history } = texts;
  const setting = settingOf(task, rooms.clock.now());
  const slots = await rooms.truth.upcoming(task.id, comingShown);
  const snoozed = await snoozedTo(task, rooms);
  const next = [
    ...slots.map((at) => ({ at, words: moment(at, setting) })),
    ...snoozed.map((at) => ({ at, words: history.snoozedTo(aboutMoment(at, setting)) })),
  ].toSorted((a, b) => a.at - b.at);
  return answer(
    blocks(
      history.upcoming(taskName(task)),
      next.length === 0 ? history.nothingComing : lines(...next.slice(0, comingShown).map(({ words }) => words)),
      texts.making.zone(setting.timezone),
    ),
  );
}

/** What was put off comes beside the slots of the schedule. */
async function snoozedTo(task: Task, { tasks, clock }: ConversationRooms): Promise<readonly number[]> {
  const { items } = await tasks.listRuns({ taskId: task.id, status: 'pending', limit: comingShown, cursor: null });
  const ahead = items.filter(({ source, slotAt }) => source === 'snooze' && slotAt > clock.now());
  return ahead.map(({ slotAt }) => slotAt);
}

const whyShown = 12;
const answerLengthMax = 280;

export async function whyCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'read', verb: 'why' });
  if ('answer' in named) return named.answer;
  const words = await whyWords(named.task, named.rest, rooms);
  return answer(words);
}

/** The truth about the slots of a day, of a moment, or of the last day when none is named. */
export async function whyWords(task: Task, when: string, rooms: ConversationRooms): Promise<Rich> {
  const { history } = texts;
  const question = questionOf(when, settingOf(task, rooms.clock.now()));
  if (question === null) return history.whyUnread();
  try {
    const told = await rooms.truth.why(task.id, { ...question, after: null, limit: whyShown });
    const rows: string[] = [];
    for (const { line } of told.answers) rows.push(capital(oneLine(await withNames(line, rooms), answerLengthMax)));
    return blocks(
      history.why(taskName(task)),
      ...(rows.length === 0 ? [history.whyNothing] : rows),
      told.next === null ? null : history.whyMore,
      texts.making.zone(told.timezone),
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return history.whyUnread();
    throw error;
  }
}

/** The records know people by their ids. */
async function withNames(line: string, rooms: ConversationRooms): Promise<string> {
  let text = line;
  for (const actor of new Set(line.match(/telegram:user:\d+/g) ?? [])) {
    if (isActor(actor)) text = text.replaceAll(actor, (await nameOf(rooms, actor)) ?? texts.chat.somebody);
  }
  return text;
}

type WhyQuestion = { readonly at?: string; readonly from?: string; readonly to?: string };

/** A day is everything from its first minute to its last. */
function questionOf(when: string, setting: Setting): WhyQuestion | null {
  const words = when.trim().replace(/^(?:today|yesterday)\b/i, (day) => dateIn(setting, /^y/i.test(day) ? -1 : 0));
  if (words === '') return {};
  const match = /^(\d{4}-\d\d-\d\d)(?:[ T]+(\d\d?:\d\d(?::\d\d)?))?$/.exec(words);
  if (match === null) return null;
  const [, date = '', clock] = match;
  return clock === undefined
    ? { from: `${date}T00:00`, to: `${date}T23:59:59` }
    : { at: `${date}T${clock.replace(/^\d:/, '0$&')}` };
}
