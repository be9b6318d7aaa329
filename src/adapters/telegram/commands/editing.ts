import type { TaskPatch, Changes } from '../../../app/tasks/edit.ts';
import type { Edited } from '../../../app/tasks/tasks.ts';
import { inputOf } from '../../../app/tasks/undo.ts';
import type { Schedule } from '../../../domain/schedule/schedule.ts';
import type { Task } from '../../../domain/task.ts';
import { button, dataOf, shortId } from '../buttons/press.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { editMenu, taskName } from '../views/card.ts';
import { scheduleText } from '../views/clock.ts';
import { blocks, lines, type Rich } from '../views/rich.ts';
import { texts } from '../views/texts.ts';
import { answer, answerWith, silence } from './answers.ts';
import { factsOf, markFor, nextSentence } from './cards.ts';
import { putDraft, type DraftStep, type OpenDraft } from './drafts.ts';
import { cancelRow, isTalk, readWords, whatIsWrongWithTime } from './making.ts';
import { namedTask } from './naming.ts';
import { triedTo } from './refusals.ts';
import { refusal } from './rights.ts';
import { zoneNamed } from './zones.ts';

/** `/edit [n] <new when>`, and `/edit [n] title|text|zone <value>`; alone it shows the menu. */
export async function editCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'edit' });
  if ('answer' in named) return named.answer;
  const { task, rest } = named;
  if (rest === '') return answerWith(editMenu(task, await factsOf(task, rooms, markFor(said))));
  const field = /^(title|text|zone)(?:\s+([\s\S]*))?$/i.exec(rest);
  if (field === null) return editTime(said, rooms, { task, words: rest });
  const value = (field[2] ?? '').trim();
  const what = (field[1] ?? '').toLowerCase();
  if (value === '') return answer(texts.edit.how());
  if (what === 'zone') return editZone(said, rooms, { task, zone: value });
  return edited(said, rooms, { task, patch: what === 'title' ? { title: value } : { instructions: value } });
}

interface NewTime {
  readonly task: Task;
  readonly words: string;
}

async function editTime(said: Said, rooms: ConversationRooms, { task, words }: NewTime): Promise<Answer> {
  const read = await readTime(said, rooms, { task, words });
  if ('fault' in read) return answer(lines(read.fault, texts.edit.how()));
  return edited(said, rooms, { task, patch: { schedule: inputOf(read.schedule) } });
}

/** The new time of a task is read on the clocks of the task, whatever the chat has. */
async function readTime(
  said: Said,
  rooms: ConversationRooms,
  { task, words }: NewTime,
): Promise<{ readonly schedule: Schedule } | { readonly fault: Rich }> {
  const place = { ...said.place, timezone: task.schedule.timezone };
  const read = await triedTo(async () => readWords(words, { place, date: said.date }, rooms));
  if ('refusal' in read) {
    const { sentence, tries } = whatIsWrongWithTime(read.refusal);
    return { fault: texts.making.unreadQuick(sentence, tries) };
  }
  const rest = (read.made.preview.text ?? '').trim();
  return rest === '' ? { schedule: read.made.preview.schedule } : { fault: texts.making.leftOver(rest) };
}

async function editZone(
  said: Said,
  rooms: ConversationRooms,
  { task, zone }: { readonly task: Task; readonly zone: string },
): Promise<Answer> {
  const timezone = zoneNamed(zone);
  if (timezone === null) return answer(texts.edit.unknownZone(zone));
  const schedule = { ...inputOf(task.schedule), timezone };
  return edited(said, rooms, { task, patch: { schedule } });
}

interface Editing {
  readonly task: Task;
  readonly patch: TaskPatch;
}

/** Changes the task and shows what is different now, with the way back. */
async function edited(said: Said, rooms: ConversationRooms, { task, patch }: Editing): Promise<Answer> {
  const change = await rooms.tasks.edit({ taskId: task.id, actor: said.person.actor, idempotencyKey: said.key }, patch);
  return answer(await editedWords(change, rooms), undoRow(change.task, change.entryId));
}

/** The button that takes back what has just been done. */
export function undoRow(task: Task, entryId: string | null) {
  const data = entryId === null ? null : dataOf('undo', shortId(task.id), shortId(entryId));
  return [[button(texts.button.undo, data)]];
}

async function editedWords({ task, changes, entryId, warnings }: Edited, rooms: ConversationRooms): Promise<Rich> {
  const { edit, making } = texts;
  if (entryId === null) return edit.nothing(taskName(task));
  return blocks(
    edit.changed(taskName(task)),
    // Handled once more after a crash, it is changed already.
    Object.keys(changes).length === 0 ? null : lines(...diffs(changes, rooms.clock.now())),
    lines(await nextSentence(task, rooms), ...warnings.map(({ message }) => making.note(message))),
  );
}

function diffs(changes: Changes, now: number): readonly Rich[] {
  const { edit } = texts;
  return Object.entries(changes).map(([field, { before, after }]) => {
    const text = (value: unknown) => (field === 'schedule' ? timeText(value as Schedule, now) : valueText(value));
    return edit.diff(edit.fields[field] ?? field, text(before), text(after));
  });
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function timeText(schedule: Schedule, now: number): string {
  return `${scheduleText(schedule, now)} (${schedule.timezone})`;
}

interface EditDraft {
  readonly row: OpenDraft['row'];
  readonly step: Extract<DraftStep, { step: 'edit' }>;
}

/** The next plain message of somebody who pressed Edit. */
export async function goOnEditing(said: Said, rooms: ConversationRooms, { row, step }: EditDraft): Promise<Answer> {
  const drop = { is: 'drop', draftId: row.id } as const;
  const task = await rooms.store.readTask(step.taskId);
  if (task === null || task.state === 'deleted') return { ...answer(texts.chat.gone), draft: drop };
  const refused = await refusal(said, 'change', { task, rooms });
  if (refused !== null) return { ...answer(refused), draft: drop };
  const words = said.args.trim();
  if (step.what !== 'time') {
    const patch = step.what === 'title' ? { title: words } : { instructions: words };
    return { ...(await edited(said, rooms, { task, patch })), draft: drop };
  }
  const read = await readTime(said, rooms, { task, words });
  if ('schedule' in read) {
    return { ...(await edited(said, rooms, { task, patch: { schedule: inputOf(read.schedule) } })), draft: drop };
  }
  if (isTalk(said, step.misses)) return silence;
  const id = rooms.ids.next();
  return {
    ...answer(read.fault, cancelRow(id)),
    draft: putDraft(said, { ...step, misses: step.misses + 1 }, { id, now: rooms.clock.now() }),
  };
}
