import type { TaskInput } from '../../../app/tasks/definition.ts';
import type { TaskPatch } from '../../../app/tasks/edit.ts';
import type { AppError } from '../../../domain/errors.ts';
import { inputOf } from '../../../domain/schedule/schedule.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import { threadKeyOf } from '../../../domain/thread.ts';
import type { Answer, ConversationRooms, Place, Pressed } from '../conversation.ts';
import { alerted, redrawn, sentenceOf, templateFault, triedTo } from '../kit/answers.ts';
import { taskName, cardOf, markFor, nextSentence, undoRow } from '../kit/card.ts';
import { scheduleText } from '../kit/clock.ts';
import { draftOf, putDraft, type OpenDraft, type StepOf, titleOf } from '../kit/drafts.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { drawn, lines } from '../kit/rich.ts';
import { refusal, arg } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { proposalDrawn, topicsOff, titleOfStep } from './preview.ts';
import { turned, stepDrawn } from './steps.ts';
import { retimed, chosen, isFormer } from './wizard.ts';

/** Buttons of a task that is being made. Only the person who makes it may press them. */

export type Held = { readonly draft: OpenDraft } | { readonly answer: Answer };

async function held(pressed: Pressed, rooms: ConversationRooms): Promise<Held> {
  const { making } = texts;
  const found = await draftOf(pressed, arg(pressed, 0), rooms);
  switch (found.is) {
    case 'open':
      return found.draft.step.step === 'made'
        ? { answer: await alreadyMade(pressed, rooms, found.draft.step.taskId) }
        : { draft: found.draft };
    case 'expired':
      return { answer: redrawn(pressed, drawn(making.expired)) };
    // What the message shows may be newer than the button, so it stays as it is.
    case 'gone':
      return { answer: alerted(making.over) };
    case 'foreign':
      return { answer: alerted(making.onlyTheirs) };
  }
}

/** The second press of two finds the task that the first one made. */
async function alreadyMade(pressed: Pressed, rooms: ConversationRooms, taskId: string): Promise<Answer> {
  const task = await rooms.store.readTask(taskId);
  if (task === null) return alerted(texts.making.over);
  return redrawn(pressed, await cardOf(task, rooms, markFor(pressed)), texts.making.createdBefore(task.number));
}

export async function createPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return created(pressed, rooms, { plain: false });
}

export async function plainPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return created(pressed, rooms, { plain: true });
}

async function created(pressed: Pressed, rooms: ConversationRooms, { plain }: { plain: boolean }): Promise<Answer> {
  const refused = await refusal(pressed, 'create', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const found = await held(pressed, rooms);
  if ('answer' in found) return found.answer;
  const { row, step } = found.draft;
  if (step.step !== 'preview') return alerted(texts.making.over);
  const { chat, topic } = pressed.place;
  const tried = await triedTo(() =>
    rooms.tasks.create({
      threadKey: threadKeyOf({ provider: 'telegram', address: chat.address, topic }),
      actor: pressed.person.actor,
      // Of the draft and not of the press: however often it is pressed, one draft makes one task.
      idempotencyKey: `telegram:draft:${row.id}${plain ? ':plain' : ''}`,
      input: requestInput(step, plain),
    }),
  );
  if ('refusal' in tried) return notCreated(pressed, rooms, { draftId: row.id, step, fault: tried.refusal });
  const { task } = tried.made;
  const missing = topicsOff(pressed.place) ?? (await rightMissing(pressed.place, rooms));
  const shown = withNote(await cardOf(task, rooms, markFor(pressed)), missing);
  return {
    ...redrawn(pressed, shown, texts.making.created(task.number)),
    draft: putDraft(pressed, { step: 'made', taskId: task.id }, { id: row.id, now: rooms.clock.now() }),
  };
}

function requestInput({ text, when, kept }: StepOf<'preview'>, plain: boolean): TaskInput {
  const { media, policies } = kept;
  const sent = media === undefined ? {} : { media: { kind: media.kind, file_id: media.fileId } };
  return {
    ...(media === undefined ? {} : { title: titleOf({ text, media }) }),
    instructions: text,
    schedule: inputOf(when.schedule),
    ...(plain || media !== undefined
      ? { action: { kind: 'message', ...(plain ? { plain: true } : {}), ...sent } }
      : {}),
    ...(policies === undefined ? {} : { policies }),
  };
}

/** A task may be made where its results cannot be shown yet; then its first card says so. */
function withNote(shown: Drawn, missing: keyof typeof texts.making.topicsOff | null): Drawn {
  if (missing === null) return shown;
  return { ...shown, text: `${shown.text}\n\n${texts.making.note(texts.making.topicsOff[missing])}` };
}

/** Asked when a task was made, and not for every preview, because only the platform knows it. */
async function rightMissing(place: Place, rooms: ConversationRooms): Promise<'right' | null> {
  const setUp = await rooms.setUp(place);
  return !setUp.isPrivate && setUp.canManageTopics === false ? 'right' : null;
}

interface NotCreated {
  readonly draftId: string;
  readonly step: StepOf<'preview'>;
  readonly fault: AppError;
}

/** The preview stays, says what is wrong, and offers what can be done about it. */
async function notCreated(
  pressed: Pressed,
  rooms: ConversationRooms,
  { draftId, step, fault }: NotCreated,
): Promise<Answer> {
  const { making } = texts;
  const isTemplate = fault.code === 'invalid_template';
  const words = isTemplate
    ? making.templateFault(templateFault(fault.message))
    : making.refused(sentenceOf(fault) ?? fault.message);
  return redrawn(
    pressed,
    await proposalDrawn(pressed, rooms, { draftId, step, fault: words, offersPlain: isTemplate }),
  );
}

/** The time is asked for again; it is chosen or written. */
export async function retimePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await held(pressed, rooms);
  if ('answer' in found) return found.answer;
  const { row, step } = found.draft;
  if (step.step !== 'preview') return alerted(texts.making.over);
  return turned(pressed, rooms, { draftId: row.id, step: retimed(step) });
}

export async function cancelPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await held(pressed, rooms);
  if ('answer' in found) return found.answer;
  const { row, step } = found.draft;
  const words = step.step === 'edit' ? texts.making.editDropped : texts.making.dropped;
  return { ...redrawn(pressed, drawn(words)), draft: { is: 'drop', draftId: row.id } };
}

/** Every choice while a task is made: `wizard:<draft>:<what>[:<value>[:<more>]]`. */
export async function wizardPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'create', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const found = await held(pressed, rooms);
  if ('answer' in found) return found.answer;
  const { row, step } = found.draft;
  if (step.step === 'edit' || step.step === 'made') return alerted(texts.making.over);
  const that = thatActions.find((each) => each === arg(pressed, 1));
  if (that !== undefined && step.step === 'preview')
    return sameTitlePressed(pressed, rooms, { row, step, action: that });
  const [action, value, more] = [arg(pressed, 1), arg(pressed, 2), arg(pressed, 3)];
  const moved = await triedTo(async () => {
    const next = chosen(step, action, { speaking: pressed, value, more });
    return next === null ? null : turned(pressed, rooms, { draftId: row.id, step: next });
  });
  if ('refusal' in moved) return alerted(short(sentenceOf(moved.refusal) ?? moved.refusal.message));
  if (moved.made !== null) return moved.made;
  // The button was of an earlier step: nothing changes, and the message shows the one that is open.
  const before = isFormer(step, action, value) ? texts.wizard.inWords : null;
  return redrawn(pressed, await stepDrawn(pressed, rooms, { draftId: row.id, step, before }));
}

const thatActions = ['that', 'thattime', 'thattext'] as const;

/** Without what could be written instead, because it was pressed. */
function short(sentence: string): string {
  return sentence.replace(/ Try "[\s\S]*$/, '');
}

/** The task of the same title is changed instead of a second one being made. */

interface Found {
  readonly row: OpenDraft['row'];
  readonly step: StepOf<'preview'>;
}

/** `that` shows what could be changed about it, `thattime` and `thattext` change it. */
async function sameTitlePressed(
  pressed: Pressed,
  rooms: ConversationRooms,
  { row, step, action }: Found & { readonly action: 'that' | 'thattime' | 'thattext' },
): Promise<Answer> {
  const task = await rooms.store.taskByTitle(pressed.place.chat.id, titleOfStep(step));
  if (task === null) return alerted(texts.chat.noSuchTask);
  const refused = await refusal(pressed, 'change', { task, rooms });
  if (refused !== null) return alerted(refused);
  if (action === 'that') return redrawn(pressed, offered(task, { row, step }, rooms.clock.now()));
  const patch: TaskPatch =
    action === 'thattime' ? { schedule: inputOf(step.when.schedule) } : { instructions: step.text };
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
  const isSameTime = JSON.stringify(task.schedule) === JSON.stringify(step.when.schedule);
  const isSameText = task.instructions.trim() === step.text.trim();
  return drawn(wizard.changeThat(taskName(task), scheduleText(task.schedule, now), task.schedule.timezone), [
    [
      isSameTime ? null : button(wizard.useTime, dataOf('wizard', id, 'thattime')),
      isSameText ? null : button(wizard.useText, dataOf('wizard', id, 'thattext')),
    ],
    [button(words.edit, dataOf('edit', shortId(task.id))), button(words.back, dataOf('wizard', id, 'stay'))],
  ]);
}
