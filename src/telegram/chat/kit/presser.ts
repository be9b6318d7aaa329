import type { Deed } from '../../../domain/access.ts';
import type { Task } from '../../../domain/task.ts';
import type { Target } from '../../../app/tasks/tasks.ts';
import { alerted } from './answers.ts';
import { refusal } from './rights.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { texts } from '../texts.ts';
import { longId } from './press.ts';

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
