import type { Target } from '../../../app/tasks/tasks.ts';
import { may, refusalText, type Deed, type Actor } from '../../../domain/access.ts';
import type { Task } from '../../../domain/task.ts';
import type { ConversationRooms, Person, Place, Answer, Pressed } from '../conversation.ts';
import { texts } from '../texts.ts';
import { alerted } from './answers.ts';
import { longId } from './press.ts';
import { oneLine } from './rich.ts';

interface Asking {
  readonly person: Person;
  readonly place: Place;
}

/** Why this person may not, as a sentence; null when they may. It is asked anew for every word and every press. */
export async function refusal(
  { person, place }: Asking,
  deed: Deed,
  { task, rooms }: { readonly task: Task | null; readonly rooms: Pick<ConversationRooms, 'store'> },
): Promise<string | null> {
  // Across chats nothing exists, not even for an owner of the bot: a button leads to the tasks of its own chat.
  if (task !== null && task.chatId !== place.chat.id) return texts.chat.noSuchTask;
  const verdict = may(person, deed, { chat: place.chat, task });
  if (verdict.ok) return null;
  const { is } = verdict.refusal;
  return refusalText(verdict.refusal, {
    ownerName: is === 'not_theirs' ? await nameOf(rooms, verdict.refusal.ownerId) : null,
    admins: is === 'admins_only' ? await adminsOf(place, rooms) : [],
  });
}

/** Nobody reads more names than that. */
const adminsNamed = 2;
const nameShownMax = 30;

/** Admins of the chat whom somebody could ask, as far as their names are known. */
export async function adminsOf(
  { chat }: Pick<Place, 'chat'>,
  { store }: Pick<ConversationRooms, 'store'>,
): Promise<readonly string[]> {
  if (chat.kind === 'private') return [];
  return (await store.adminNames(chat.id, adminsNamed)).map((name) => oneLine(name, nameShownMax));
}

export function mayManage({ person, place }: Asking): boolean {
  return may(person, 'manage', { chat: place.chat, task: null }).ok;
}

/** How a person is called; null when nobody knows. */
export async function nameOf(
  { store }: { readonly store: Pick<ConversationRooms['store'], 'readUser'> },
  actor: Actor,
): Promise<string | null> {
  if (actor === 'system:api' || actor.startsWith('api:')) return texts.chat.theApi;
  if (actor === 'system') return null;
  return (await store.readUser(actor))?.name ?? null;
}

/** An argument of the button; empty when it has none at that place. */
export function arg({ press }: Pressed, index: number): string {
  return press?.args[index] ?? '';
}

/**
 * The task that a button names, if the one who presses may do that with it. What a button carries can be made up by
 * whoever writes a client of their own, so it is checked like any other input.
 */
export async function pressedTask(
  pressed: Pressed,
  rooms: ConversationRooms,
  deed: Deed,
): Promise<{ readonly task: Task } | { readonly answer: Answer }> {
  return permitted(pressed, rooms, { deed, taskId: longId(arg(pressed, 0)) });
}

export async function permitted(
  pressed: Pick<Pressed, 'person' | 'place'>,
  rooms: ConversationRooms,
  { deed, taskId }: { readonly deed: Deed; readonly taskId: string },
): Promise<{ readonly task: Task } | { readonly answer: Answer }> {
  const task = await rooms.store.readTask(taskId);
  // What never was and what is elsewhere look alike.
  if (task === null) return { answer: alerted(texts.chat.noSuchTask) };
  const refused = await refusal(pressed, deed, { task, rooms });
  return refused === null ? { task } : { answer: alerted(refused) };
}

export function targetOf({ person, key }: Pressed, task: Task): Target {
  return { taskId: task.id, actor: person.actor, idempotencyKey: key };
}

/**
 * Before a result is changed by a press on it: a send whose answer was lost would be looked for by its first words
 * otherwise, and given those back.
 */
export async function noteArrival(
  { place, messageId, shown }: Pressed,
  rooms: ConversationRooms,
  occurrenceId: string,
) {
  if (place.topic === null || shown === null || messageId === 0) return;
  await rooms.store.foundByPress({
    address: place.chat.address,
    topic: place.topic,
    messageId,
    occurrenceId,
    text: shown.text,
    at: rooms.clock.now(),
  });
}
