import { inputOf } from '../../../app/tasks/undo.ts';
import type { TaskPatch } from '../../../app/tasks/edit.ts';
import type { Task } from '../../../domain/task.ts';
import { alerted, redrawn } from '../kit/answers.ts';
import { nextSentence } from '../kit/cards.ts';
import { putDraft, type OpenDraft, type StepOf } from '../kit/drafts.ts';
import { undoRow } from '../edit/editing.ts';
import { titleOfStep } from './making.ts';
import { refusal } from '../kit/rights.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { taskName } from '../task/card.ts';
import { scheduleText } from '../kit/clock.ts';
import { drawn } from '../kit/drawing.ts';
import { lines } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { button, dataOf, shortId } from '../kit/press.ts';

/** The task of the same title is changed instead of a second one being made. */

interface Found {
  readonly row: OpenDraft['row'];
  readonly step: StepOf<'preview'>;
}

/** `that` shows what could be changed about it, `thattime` and `thattext` change it. */
export async function sameTitlePressed(
  pressed: Pressed,
  rooms: ConversationRooms,
  { row, step, action }: Found & { readonly action: 'that' | 'thattime' | 'thattext' },
): Promise<Answer> {
  const task = await rooms.store.taskByTitle(pressed.place.chat.id, titleOfStep(step));
  if (task === null) return alerted(texts.chat.noSuchTask);
  const refused = await refusal(pressed, 'change', { task, rooms });
  if (refused !== null) return alerted(refused);
  if (action === 'that') return redrawn(pressed, offered(task, { row, step }, rooms.clock.now()));
  const patch: TaskPatch = action === 'thattime' ? { schedule: step.when.schedule } : { instructions: step.text };
  const target = { taskId: task.id, actor: pressed.person.actor, idempotencyKey: pressed.key };
  const { task: changed, entryId } = await rooms.tasks.edit(target, patch);
  const words = lines(texts.edit.changed(taskName(changed)), await nextSentence(changed, rooms));
  return {
    ...redrawn(pressed, drawn(words, undoRow(changed, entryId))),
    draft: putDraft(pressed, { step: 'made', taskId: task.id }, { id: row.id, now: rooms.clock.now() }),
  };
}

function offered(task: Task, { row, step }: Found, now: number) {
  const { wizard, button: words } = texts;
  const id = shortId(row.id);
  const isSameTime = JSON.stringify(inputOf(task.schedule)) === JSON.stringify(step.when.schedule);
  const isSameText = task.instructions.trim() === step.text.trim();
  return drawn(wizard.changeThat(taskName(task), scheduleText(task.schedule, now), task.schedule.timezone), [
    [
      isSameTime ? null : button(wizard.useTime, dataOf('wizard', id, 'thattime')),
      isSameText ? null : button(wizard.useText, dataOf('wizard', id, 'thattext')),
    ],
    [button(words.edit, dataOf('edit', shortId(task.id))), button(words.back, dataOf('wizard', id, 'stay'))],
  ]);
}
