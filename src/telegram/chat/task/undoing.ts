import { undoMs } from '../../../domain/limits.ts';
import type { Task } from '../../../domain/task.ts';
import type { AuditRow } from '../../../app/ports/tasks.ts';
import { slotsTold } from '../../../app/tasks/skip.ts';
import { undoable } from '../../../app/tasks/undo.ts';
import type { Undone } from '../../../app/tasks/tasks.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { aboutMoment, pastMoment, type Setting } from '../kit/clock.ts';
import { lines, type Rich } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { answer, turnedDown } from '../kit/answers.ts';
import { nextSentence, settingFor } from '../kit/cards.ts';
import { impliedBy, namedTask } from '../kit/naming.ts';
import { nameOf, refusal } from '../kit/rights.ts';
import { leftOutWords } from './doing.ts';

/** `/undo` takes back the last change of the person here, and with a task named, its last change whoever made it. */
export async function undoCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const isBare = said.args.trim() === '';
  if (isBare && (await impliedBy(said, rooms)) === null) return undoLast(said, rooms);
  const wish = { deed: 'change', verb: 'task', isAlone: true, isAsked: true, isForDeleted: true } as const;
  const named = await namedTask(said, rooms, wish);
  return 'answer' in named ? named.answer : undone(said, rooms, { task: named.task, entryId: null });
}

async function undoLast(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const last = await rooms.store.lastChange({
    chatId: said.place.chat.id,
    actor: said.person.actor,
    verbs: [...undoable],
    since: rooms.clock.now() - undoMs,
    askedAt: said.date,
  });
  const task = last === null ? null : await rooms.store.readTask(last.taskId);
  if (last === null || task === null) return answer(texts.undo.none());
  return undone(said, rooms, { task, entryId: last.entryId });
}

interface Undoing {
  readonly task: Task;
  /** Null for the last change of the task. */
  readonly entryId: string | null;
}

async function undone(said: Said, rooms: ConversationRooms, { task, entryId }: Undoing): Promise<Answer> {
  const refused = await refusal(said, 'change', { task, rooms });
  if (refused !== null) return turnedDown(refused);
  const target = { taskId: task.id, actor: said.person.actor, idempotencyKey: said.key };
  const back = await rooms.tasks.undo(target, entryId);
  return answer(await undoneWords(back, rooms));
}

/** What was taken back, who had done it and when; and what comes next, as after every change. */
export async function undoneWords({ task, undone: entry, moot }: Undone, rooms: ConversationRooms): Promise<Rich> {
  const { undo } = texts;
  const setting = await settingFor(task, rooms);
  const by = (await nameOf(rooms, entry.actor)) ?? texts.chat.somebody;
  const told = undo.deeds[entry.verb === 'upsert' ? 'edit' : entry.verb] ?? undo.deeds['edit'];
  const deed = told?.(task.number, detailOf(entry, setting)) ?? '';
  const what = undo.deed(deed, by, pastMoment(entry.at, setting));
  return lines(undo[moot ?? 'undone'](what), await nextSentence(task, rooms));
}

function detailOf({ verb, before, after }: AuditRow, setting: Setting): string {
  const { undo } = texts;
  if (verb === 'skip' || verb === 'unskip') return leftOutWords(slotsTold(after), setting);
  const until = after?.['until'];
  if (verb === 'snooze') return typeof until === 'string' ? aboutMoment(Date.parse(until), setting) : '';
  const fields = Object.keys(before ?? {}).flatMap((field) => undo.fields[field] ?? []);
  return fields.length === 0 ? undo.anything : fields.join(' and ');
}
