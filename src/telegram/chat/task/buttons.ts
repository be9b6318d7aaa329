import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ConversationRooms, Pressed, SaidHandler } from '../conversation.ts';
import { editCommand } from '../edit/editing.ts';
import { isRepeating } from '../edit/retiming.ts';
import { editMenu } from '../edit/view.ts';
import { alerted, answerWith, redrawn } from '../kit/answers.ts';
import { card, cardButtons, taskName, cardOf, factsOf, markFor, nextSentence, settingFor } from '../kit/card.ts';
import { putDraft } from '../kit/drafts.ts';
import { unnamedIn, type Unnamed } from '../kit/naming.ts';
import { button, dataOf, longId, shortId } from '../kit/press.ts';
import { cancelRow } from '../kit/reading.ts';
import { blocks, lines, drawn } from '../kit/rich.ts';
import { refusal, arg, pressedTask, targetOf } from '../kit/rights.ts';
import { turned } from '../new-task/steps.ts';
import { resultButtons, withRows, noticeRows } from '../results/view.ts';
import { texts } from '../texts.ts';
import { isSpan } from './agenda.ts';
import { pauseCommand, snoozeCommand, leftOutWords, skipCommand, undoneWords } from './doing.ts';
import { agendaOf, historyOf, isFilter, listOf, whyWords, whyCommand } from './looking.ts';

/** Everything that a card, a list and a menu can do to a task. After each press the message shows how it stands now. */

async function onCard(
  pressed: Pressed,
  rooms: ConversationRooms,
  told: { task: Task; toast?: string },
): Promise<Answer> {
  return redrawn(pressed, await cardOf(told.task, rooms, markFor(pressed)), told.toast ?? null);
}

export async function taskPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  return 'answer' in found ? found.answer : onCard(pressed, rooms, found);
}

/** The mark of the drawing is the key: two presses of the same button start one run. */
export async function runPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  if (found.task.state === 'deleted') return onCard(pressed, rooms, found);
  const [mark, occurrence] = [arg(pressed, 1) || `m${pressed.messageId}`, arg(pressed, 2)];
  const idempotencyKey = `telegram:run:${pressed.place.chat.id}:${mark}:${occurrence}`;
  const { task } = await rooms.tasks.runNow({ ...targetOf(pressed, found.task), idempotencyKey });
  if (occurrence === '' || pressed.shown === null) {
    const facts = { ...(await factsOf(task, rooms, markFor(pressed))), startedAt: rooms.clock.now() };
    return redrawn(pressed, card(task, facts), texts.deed.startedWord);
  }
  const rows = resultButtons(task, longId(occurrence), markFor(pressed));
  return redrawn(pressed, withRows(pressed.shown, rows), texts.deed.startedWord);
}

export async function pausePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  if (found.task.state === 'deleted') return onCard(pressed, rooms, found);
  const { task } = await rooms.tasks.pause(targetOf(pressed, found.task), null);
  return stateTold(pressed, rooms, { task, toast: texts.deed.pausedWord });
}

export async function resumePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  if (found.task.state === 'deleted') return onCard(pressed, rooms, found);
  const { task } = await rooms.tasks.resume(targetOf(pressed, found.task));
  return stateTold(pressed, rooms, { task, toast: texts.deed.resumedWord });
}

interface StateTold {
  readonly task: Task;
  readonly toast: string;
}

/** A notice keeps its words, an answer to a command says the new state, everything else is the card. */
async function stateTold(pressed: Pressed, rooms: ConversationRooms, { task, toast }: StateTold): Promise<Answer> {
  const origin = arg(pressed, 1);
  if (origin === 'n' && pressed.shown !== null) {
    const run = arg(pressed, 2);
    return redrawn(pressed, withRows(pressed.shown, noticeRows(task, run === '' ? null : longId(run))), toast);
  }
  if (origin !== 'c' || task.state !== 'active') return onCard(pressed, rooms, { task, toast });
  const words = lines(texts.deed.goesOn(taskName(task)), await nextSentence(task, rooms));
  return redrawn(pressed, drawn(words), toast);
}

/** The button names the run that it skips, so that a second press skips no other. */
export async function skipPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  if (found.task.state === 'deleted') return onCard(pressed, rooms, found);
  const from = arg(pressed, 1) === '' ? null : Number.parseInt(arg(pressed, 1), 36);
  const target = targetOf(pressed, found.task);
  const idempotencyKey =
    from === null ? `telegram:skip:${pressed.place.chat.id}:${pressed.messageId}` : target.idempotencyKey;
  const { task, entryId, slots } = await rooms.tasks.skip(
    { ...target, idempotencyKey: idempotencyKey ?? null },
    { count: 1, from: Number.isFinite(from) ? from : null },
  );
  const words = leftOutWords(slots, await settingFor(task, rooms));
  const toast = entryId === null ? texts.deed.skippedBefore : texts.deed.leftOutWord(words);
  return onCard(pressed, rooms, { task, toast });
}

export async function editPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  if (found.task.state === 'deleted') return onCard(pressed, rooms, found);
  return redrawn(pressed, editMenu(found.task, await factsOf(found.task, rooms, markFor(pressed))));
}

/** The next plain message of this person here is the new time, text or title. */
export async function editWhatPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const { task } = found;
  const what = arg(pressed, 1);
  const isKnown = what === 'time' || what === 'text' || what === 'title';
  if (task.state === 'deleted' || !isKnown) return onCard(pressed, rooms, found);
  const id = rooms.ids.next();
  const { edit, making, retime } = texts;
  const name = taskName(task);
  const words = {
    time: edit.askTime(name, isRepeating(task) ? retime.tries : making.timeTries),
    text: edit.askText(name),
    title: edit.askTitle(name),
  };
  // Where the platform keeps plain messages of a group from the bot, it still gets the replies to it.
  const how = pressed.place.chat.kind === 'private' ? null : texts.field.byReply;
  return {
    ...redrawn(pressed, drawn(blocks(words[what], how), cancelRow(id))),
    draft: putDraft(pressed, { step: 'edit', taskId: task.id, what, misses: 0 }, { id, now: rooms.clock.now() }),
  };
}

export async function historyPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  if ('answer' in found) return found.answer;
  if (found.task.state === 'deleted') return onCard(pressed, rooms, found);
  const cursor = arg(pressed, 1);
  return redrawn(pressed, await historyOf(found.task, rooms, cursor === '' ? null : cursor));
}

export async function whyPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  if ('answer' in found) return found.answer;
  const back = [[button(texts.button.back, dataOf('task', shortId(found.task.id)))]];
  const slot = /^[0-9a-z]{1,9}$/.test(arg(pressed, 1)) ? Number.parseInt(arg(pressed, 1), 36) : null;
  const when = slot === null ? '' : new Date(slot).toISOString();
  return redrawn(pressed, drawn(await whyWords(found.task, when, rooms), back));
}

export async function deletePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  // The second press of two finds the work done.
  if (found.task.state !== 'deleted') await rooms.tasks.delete(targetOf(pressed, found.task));
  return redrawn(pressed, deletedDrawn(found.task), texts.deed.deletedWord);
}

function deletedDrawn(task: Task): Drawn {
  return drawn(texts.deed.deleted(taskName(task)), cardButtons({ ...task, state: 'deleted' }, { next: [], mark: '' }));
}

export async function restorePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const { task } = await rooms.tasks.restore(targetOf(pressed, found.task));
  return onCard(pressed, rooms, { task, toast: texts.deed.restoredWord });
}

export async function undoPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const entryId = longId(arg(pressed, 1));
  if (entryId === '') return alerted(texts.chat.oldButton);
  const back = await rooms.tasks.undo(targetOf(pressed, found.task), entryId);
  const { beforeWord, overWord } = texts.undo;
  const toast = { before: beforeWord, over: overWord, undone: texts.deed.undoneWord }[back.moot ?? 'undone'];
  return redrawn(pressed, drawn(await undoneWords(back, rooms)), toast);
}

export async function listPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'read', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const [filter = '', page = '', ...words] = pressed.press?.args ?? [];
  const text = words.join(':');
  const listing = {
    filter: isFilter(filter) ? filter : 'all',
    page: /^\d{1,4}$/.test(page) ? Number(page) : 0,
    text: text === '' ? null : text,
  } as const;
  return redrawn(pressed, await listOf(listing, pressed, rooms));
}

/** Making a task begins in the place of a list that has none. */
export async function makePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'create', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  return turned(pressed, rooms, { draftId: rooms.ids.next(), step: { step: 'ask', kept: {} } });
}

export async function agendaPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'read', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const span = arg(pressed, 0);
  return redrawn(pressed, await agendaOf(isSpan(span) ? span : 'day', pressed, rooms));
}

/**
 * A button that nobody knows any more, or never knew: what there is to see here now, below it. The message itself may be a
 * result, whose words are not ours to take away.
 */
export async function unknownPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'read', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const { topicTask } = pressed.place;
  const shown =
    topicTask === null
      ? await listOf({ filter: 'all', text: null, page: 0 }, pressed, rooms)
      : await cardOf(topicTask, rooms, markFor(pressed));
  return { ...answerWith(shown), toast: { text: texts.chat.oldButton, isAlert: false } };
}

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
