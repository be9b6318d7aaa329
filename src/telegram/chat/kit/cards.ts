import type { Drawn } from '../../../domain/shown.ts';
import { settingsOf, type DateStyle } from '../../../domain/chat-settings.ts';
import type { Task } from '../../../domain/task.ts';
import type { ConversationRooms } from '../conversation.ts';
import { card, type CardFacts } from './card.ts';
import { moments, settingOf, type Setting } from './clock.ts';
import { texts } from '../texts.ts';
import { nameOf } from './rights.ts';
import { button, dataOf, shortId } from './press.ts';
import { leftOutAhead } from '../../../app/tasks/upcoming.ts';

export const nextShown = 3;

/** On the clocks of the task, in the words that its chat has chosen for dates. */
export async function settingFor(task: Pick<Task, 'schedule' | 'home'>, rooms: ConversationRooms): Promise<Setting> {
  return settingOf(task, rooms.clock.now(), await datesOf(task, rooms));
}

async function datesOf({ home }: Pick<Task, 'home'>, { store }: ConversationRooms): Promise<DateStyle> {
  const chat = await store.findChat(home.address);
  return settingsOf(chat?.settings ?? {}).dates;
}

/** What a card tells of the task as it stands now. The mark tells this drawing from every other one. */
export async function factsOf(task: Task, rooms: ConversationRooms, mark: string): Promise<CardFacts> {
  const isOver = task.state === 'deleted' || task.pausedReason?.startsWith('unreadable') === true;
  return {
    now: rooms.clock.now(),
    dates: await datesOf(task, rooms),
    snoozedTo: (await rooms.store.snoozesOf([task.id])).get(task.id) ?? null,
    leftOut: isOver ? [] : await leftOutAhead((query) => rooms.tasks.listRuns(query), task.id, rooms.clock.now()),
    next: isOver ? [] : await rooms.truth.upcoming(task.id, nextShown),
    ownerName: await nameOf(rooms, task.ownerId),
    pauserName: task.paused === null ? null : await nameOf(rooms, task.paused.by),
    mark,
  };
}

export async function cardOf(task: Task, rooms: ConversationRooms, mark: string): Promise<Drawn> {
  return card(task, await factsOf(task, rooms, mark));
}

/** Update ids are never given twice. */
export function markFor({ updateId }: { readonly updateId: number }): string {
  return updateId.toString(36);
}

/** `Next: ... (zone)`, or that nothing is planned: every answer about a time says both. */
export async function nextSentence(task: Task, rooms: ConversationRooms): Promise<string> {
  const next = task.state === 'active' ? await rooms.truth.upcoming(task.id, nextShown) : [];
  const setting = await settingFor(task, rooms);
  return next.length === 0 ? texts.task.noNext : `${texts.task.next(moments(next, setting))} (${setting.timezone})`;
}

/** The button that takes back what has just been done. */
export function undoRow(task: Task, entryId: string | null) {
  const data = entryId === null ? null : dataOf('undo', shortId(task.id), shortId(entryId));
  return [[button(texts.button.undo, data)]];
}
