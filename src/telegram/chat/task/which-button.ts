import { alerted } from '../kit/answers.ts';
import { pauseCommand, snoozeCommand } from './doing.ts';
import { skipCommand } from './skipping.ts';
import { editCommand } from '../edit/editing.ts';
import { whyCommand } from './looking.ts';
import { unnamedIn, type Unnamed } from '../kit/which.ts';
import type { Answer, ConversationRooms, Pressed, SaidHandler } from '../conversation.ts';
import { texts } from '../texts.ts';
import { longId } from '../kit/press.ts';
import { pressedTask } from '../kit/presser.ts';

/** Commands whose words are more than the name of a task. */
const handlers: ReadonlyMap<string, SaidHandler> = new Map([
  ['edit', editCommand],
  ['snooze', snoozeCommand],
  ['skip', skipCommand],
  ['pause', pauseCommand],
  ['why', whyCommand],
]);

/** The task is named now, so what was typed is done, in the place of the question. */
export async function whichPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  if ('answer' in found) return found.answer;
  const typed = await typedBefore(pressed, rooms);
  if (typeof typed === 'string') return alerted(typed);
  const handle = handlers.get(typed.command);
  if (handle === undefined) return alerted(texts.chat.oldButton);
  const { updateId, key, place, person, messageId, date } = pressed;
  const said = { updateId, key, place, person, messageId, date, command: typed.command, repliedTo: null, media: null };
  const told = await handle({ ...said, args: `#${found.task.number} ${typed.words}` }, rooms);
  const replies = told.replies.map((reply) =>
    reply.is === 'message' ? ({ is: 'edit', messageId, shown: reply.shown } as const) : reply,
  );
  return { ...told, replies };
}

async function typedBefore(pressed: Pressed, rooms: ConversationRooms): Promise<Unnamed | string> {
  const [, command = '', ...words] = pressed.press?.args ?? [];
  if (!command.startsWith('@')) return { command, words: words.join(':') };
  const draft = await rooms.store.readDraft(longId(command.slice(1)));
  const unnamed = unnamedIn(draft);
  if (draft === null || unnamed === null || draft.expiresAt <= pressed.date) return texts.list.whichOver;
  return draft.userId === pressed.person.actor ? unnamed : texts.list.whichTheirs;
}
